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
    assert "films: rotten-tomatoes (sentiment), 500 sources, 3 relations" in said(capsys, "check", "example.toml")
    assert "Plan films: version 1 stored." in said(capsys, "set", file)
    assert "nothing changed since version 1" in said(capsys, "set", file)
    assert "frozen as version 2" in said(capsys, "freeze", "films")
    assert "is frozen already" in refused(capsys, "freeze", "films")
    done = json.loads(said(capsys, "run", "films", "--workers", "0", "--json"))
    assert done["sample"]["rounds"] == [1]
    assert done["gold"]["answered"] > 0
    Path(file).write_text(PLAN.replace("base = 3", "base = 5"), encoding="utf-8")
    again = said(capsys, "run", file, "--workers", "0")
    assert "version 3 stored" in again
    assert "It was frozen on" in again
    shown = said(capsys, "show", "films")
    assert "version 2, " in shown
    assert ": frozen\n" in shown
    assert ": sample.base 3 -> 5\n" in shown
    assert said(capsys, "list").splitlines()[1].startswith("films  3 ")
    Path("again.toml").write_text(said(capsys, "show", "films", "--toml"), encoding="utf-8")
    assert "nothing changed since version 3" in said(capsys, "set", "again.toml")
    assert main(["report", "--full"]) == 0
    assert "Changed after it was frozen: sample.base 3 -> 5 (" in capsys.readouterr().out


@pytest.mark.slow
def test_a_plan_from_its_file_alone_makes_the_database(file, capsys):
    said(capsys, "run", file, "--db", "new.db", "--workers", "0")
    assert Path("new.db").exists()
