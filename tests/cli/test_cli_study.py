"""`audit study` on the command line: what it says, what it refuses, and that a refusal changes nothing."""

import json
from pathlib import Path

import pytest

from audit.cli import main

PLAN = """name = "films"
[study]
corpus = "rotten-tomatoes"
systems = ["vader", "textblob"]
relations = ["MR1.4"]
limit = 10
[sample]
base = 3
[judging]
gold = true
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films.toml").write_text(PLAN, encoding="utf-8")
    return "films.toml"


def said(capsys, *command):
    assert main(["study", *command]) == 0
    return capsys.readouterr().out


def refused(capsys, *command):
    assert main(["study", *command]) == 2
    return capsys.readouterr().err


@pytest.mark.slow
def test_from_the_example_to_a_frozen_plan_that_is_carried_out(file, capsys):
    Path("example.toml").write_text(said(capsys, "example"), encoding="utf-8")
    assert json.loads(said(capsys, "show", "example.toml", "--json"))["content"]["study"]["limit"] == 500
    assert said(capsys, "set", file).splitlines()[:3] == ["name: films", "version: 1", "new: yes"]
    assert said(capsys, "set", file).splitlines()[1:3] == ["version: 1", "new: no"]
    assert "version: 2\n" in said(capsys, "freeze", "films")
    assert "is frozen already" in refused(capsys, "freeze", "films")
    done = json.loads(said(capsys, "run", "films", "--workers", "0", "--json"))
    # Gold answers for all texts before the first round, so nobody is asked.
    assert (done["gold"]["answered"] > 0, done["sample"]["rounds"], done["sample"]["asked"]) == (True, [], 0)
    Path(file).write_text(PLAN.replace("base = 3", "base = 5"), encoding="utf-8")
    said(capsys, "run", file, "--workers", "0")
    said(capsys, "run", file, "--db", "new.db", "--workers", "0")
    assert Path("new.db").exists()
    versions = json.loads(said(capsys, "show", "films", "--json"))["versions"]
    assert [(one["version"], one["frozen"]) for one in versions] == [(1, False), (2, True), (3, False)]
    assert " sample.base 3 -> 5\n" in said(capsys, "show", "films")
    assert said(capsys, "show").splitlines()[1].split()[:2] == ["films", "3"]
    Path("again.toml").write_text(said(capsys, "show", "films", "--toml"), encoding="utf-8")
    assert "version: 3\nnew: no\n" in said(capsys, "set", "again.toml")
    assert main(["report", "--full"]) == 0
    assert "Changed after it was frozen: sample.base 3 -> 5 (" in capsys.readouterr().out
