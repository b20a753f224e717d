"""`audit agreement` and `audit annotators` end to end through `main`."""

import json
from pathlib import Path

import pytest

from audit.cli import main

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "agreement"

# The keys and names of issue 3, section "Commands", letter for letter: other tools read them.
COEFFICIENT = ["name", "level", "estimate", "low", "high", "items", "annotators", "note"]
NAMES = ["percent_agreement", "cohen_kappa", "krippendorff_alpha", "gwet_ac1"]


@pytest.fixture
def answered(capsys):
    """Runs a command that must succeed; returns the JSON document that is all of stdout."""

    def call(*arguments):
        assert main([*map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)

    return call


@pytest.fixture
def mistake(capsys):
    """Runs a command that must fail; returns what it says."""

    def call(*arguments):
        status = main([str(one) for one in arguments])
        shown = capsys.readouterr()
        assert (status, shown.out) == (2, "")
        assert shown.err.startswith("audit: ")
        return shown.err

    return call


@pytest.fixture
def written(tmp_path, monkeypatch):
    """`written(rows)` -> name of a CSV in the current directory with these `item,annotator,label` rows."""
    monkeypatch.chdir(tmp_path)

    def make(rows, header="item,annotator,label"):
        (tmp_path / "ratings.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
        return "ratings.csv"

    return make


def shared(name):
    path = DATA / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"the shared data ({path.name}) are not here")
    return path


def test_the_json_is_that_of_the_issue(answered):
    report = answered("agreement", "--ratings", shared("cohen_1960"), "--level", "linear")
    found = report["coefficients"]
    assert all(list(one) == COEFFICIENT for one in found)
    assert [one["name"] for one in found if one["level"] is None] == NAMES
    assert [one["name"] for one in found if one["level"] == "linear"] == [*NAMES[:2], "gwet_ac2"]
    kappa = next(one for one in found if one["name"] == "cohen_kappa")
    assert (kappa["level"], kappa["items"], kappa["annotators"]) == (None, 200, 2)
    assert kappa["estimate"] == pytest.approx(0.492, abs=1e-3)
    assert kappa["low"] < kappa["estimate"] < kappa["high"]


def test_parts_by_a_column_of_the_file(answered, written):
    rows = ["1,a,x,MR1.10", "1,b,x,MR1.10", "2,a,y,MR1.2", "2,b,x,MR1.2", "3,a,y,MR1.2", "3,b,y,MR1.2"]
    path = written(rows, "item,annotator,label,relation")
    report = answered("agreement", "--ratings", path, "--by", "relation")
    assert [(part["by"], part["value"], part["items"]) for part in report["groups"]] == [
        ("relation", "MR1.2", 2),
        ("relation", "MR1.10", 1),
    ]
    assert report["groups"][0]["coefficients"][0]["estimate"] == 0.5


def test_dawid_skene_takes_repeats_as_they_are(answered):
    report = answered("annotators", "--ratings", shared("dawid_skene_1979"), "--draws", "20")
    # Dawid and Skene (1979), table 2, but for the prior.
    assert report["marginals"] == pytest.approx({"1": 0.400, "2": 0.422, "3": 0.112, "4": 0.067}, abs=0.05)
    first = report["annotators"][0]
    assert (first["annotator"], first["ratings"]) == ("o1", 135)
    assert first["confusion"]["1"] == pytest.approx({"1": 0.89, "2": 0.11, "3": 0, "4": 0}, abs=0.03)
    assert first["accuracy_low"] < first["accuracy"] < first["accuracy_high"]
    assert len(report["items"]) == 45
    assert report["items"][0] == {"item": "1", "label": "1", "probability": pytest.approx(1, abs=1e-3)}
    assert report["converged"] is True


def test_a_database_without_judgements_says_what_comes_first(tmp_path, monkeypatch, mistake):
    from audit.store import open_store

    monkeypatch.chdir(tmp_path)
    open_store("audit.db", create=True).dispose()
    for command in (["agreement"], ["agreement", "--about", "false"], ["annotators"]):
        assert "people have judged no question yet" in mistake(*command)
