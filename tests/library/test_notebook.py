"""The notebooks of the docs and of the README run as they stand."""

import re
from pathlib import Path

import pytest

import audit
from audit.relations import registry
from audit.systems import SYSTEMS

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "notebook.md"


@pytest.mark.slow
def test_the_notebook_of_the_docs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    cells = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert len(cells) == 6
    names: dict = {}
    with registry.RELATIONS.restored(), SYSTEMS.restored():
        for cell in cells:
            exec(compile(cell, str(PAGE), "exec"), names)
    assert (tmp_path / "report.html").is_file()
    report = names["report"]
    assert isinstance(report, audit.Report)
    assert len(report.cells) == 4
    assert 0 < report.fs.low < report.fs.value < report.fs.high < 1


@pytest.mark.slow
def test_the_notebook_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reviews.csv").write_text(
        "text,gold\nIt is good.,positive\nIt isn't good.,negative\nIt's bad.,negative\n"
    )
    (cell,) = re.findall(r"```python\n(.*?)```", (PAGE.parents[2] / "README.md").read_text(encoding="utf-8"), re.S)
    assert cell.count("\n") <= 15
    with SYSTEMS.restored():
        exec(compile(cell, "README.md", "exec"), {})
    assert "of the passed tests are false" in capsys.readouterr().out
