"""`audit judge`: asking and measuring. All judges here are simulated."""

import json
import sys

import pytest
from conftest_rows import row

from audit.cli import main
from audit.judging.labels import answer_with_gold
from audit.judging.samples import ask_next
from audit.runner.imported import import_run
from audit.sampling.samples import SampleOptions
from audit.store import open_store

JUDGE = """
def judge(asked):
    return "negative" if int(asked.text[5:-1]) % 4 == 0 else "positive"
judge.name = "referee"
judge.settings = {"model": "simulated"}
"""


@pytest.fixture
def where(tmp_path, monkeypatch):
    """A drawn study of 80 films of a simulated run, answered by gold, and judges in a file beside it."""
    groups = [
        row(f"Film {n}.", f"Film {n}!", ["positive"] * 2, id=str(n), gold="positive" if n % 4 else "negative")
        for n in range(80)
    ]
    (tmp_path / "run.jsonl").write_text("\n".join(map(json.dumps, groups)), encoding="utf-8")
    path = str(tmp_path / "audit.db")
    engine = open_store(path, create=True)
    import_run(engine, tmp_path / "run.jsonl")
    ask_next(engine, SampleOptions(40))
    answer_with_gold(engine)
    (tmp_path / "referees.py").write_text(JUDGE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield path
    sys.modules.pop("referees", None)


def out(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_a_judge_is_asked_measured_and_used(where, tmp_path, capsys):
    asked = out(
        capsys, "judge", "ask", "--with", "referees:judge", "--variants", "labels", "--everything", "--db", where
    )
    assert (asked["answered"], asked["errors"], asked["own"], asked["questions_made"]) == (120, 0, [], 0)
    (entry,) = out(capsys, "judge", "agreement", "--db", where)["judges"]
    (task,) = entry["tasks"]
    assert (entry["name"], entry["settings"]) == ("referee", {"model": "simulated"})
    assert (task["people"], task["gold"]["accuracy"]["value"]) == (None, 1.0)
    (positive, *_), neutral, (*_, negative) = task["gold"]["confusion"]
    assert (positive + negative, neutral) == (80, [0, 0, 0])
    (labels,) = task["consistency"]
    assert (labels["variant"], labels["same"]["part"], labels["same"]["whole"]) == ("labels", 40, 40)
    assert main(["judge", "agreement", "--db", where]) == 0
    shown = capsys.readouterr().out
    assert "Against gold on 80 questions: accuracy 100.0 %" in shown
    assert "A judge’s answers are no votes" in shown
    report = out(capsys, "report", "--db", where, "--proxy", "judge:referee")
    (cell,) = report["cells"]
    assert cell["fs_rate"]["value"] == pytest.approx(0.25)
    html = tmp_path / "report.html"
    for language, words in (("en", "Judges that are models"), ("zh", "评判模型")):
        assert main(["report", "--db", where, "--html", str(html), "--language", language]) == 0
        assert words in html.read_text(encoding="utf-8")
        assert "referee@" in html.read_text(encoding="utf-8")
