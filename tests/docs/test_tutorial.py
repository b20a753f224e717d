"""The tutorial works as it is written: its files, its commands, and the lines that they print."""

import re
import runpy
import sys
from pathlib import Path

from audit.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "index.md"


def test_the_tutorial_runs_and_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    printed: list[str] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    for language, block in re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        if language == "python":
            Path(block.split("\n")[0].removeprefix("# ")).write_text(block, encoding="utf-8")
        elif language == "sh":
            for line in block.splitlines():
                program, *words = line.split()
                if program == "python":
                    runpy.run_path(words[0], run_name="__main__")
                else:
                    assert (program, main(words)) == ("audit", 0), capsys.readouterr().err
                printed += capsys.readouterr().out.splitlines()
        else:
            assert [line for line in block.splitlines() if line not in printed] == []
    assert any("52.4" in line and "of the passed tests are false" in line for line in printed)
    assert Path("report.html").stat().st_size > 10_000
