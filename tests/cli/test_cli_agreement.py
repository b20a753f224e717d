"""`audit agreement` and `audit annotators` end to end through `main`."""

import json
import re
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


def test_items_with_one_judgement_are_left_out_and_counted(answered):
    report = answered("agreement", "--ratings", shared("krippendorff_2011"), "--by", "pair")
    assert (report["items"], report["left_out"], report["ratings"]) == (11, 1, 41)
    assert report["notes"][0].startswith("1 of 12 items has one judgement only")
    assert [part["value"] for part in report["groups"]] == ["a, b", "a, c", "a, d", "b, c", "b, d", "c, d"]
    alone = {part["value"]: part["coefficients"][1] for part in report["groups"]}
    for pair in report["pairs"]:
        same = alone[f"{pair['one']}, {pair['other']}"]
        assert (same["name"], same["items"]) == ("cohen_kappa", pair["items"])
        assert same["estimate"] == pytest.approx(pair["cohen_kappa"])


def test_no_variation_is_null_with_the_percent(answered, written):
    report = answered("agreement", "--ratings", written(["1,a,x", "1,b,x", "2,a,x", "2,b,x"]))
    for one in report["coefficients"][1:]:
        assert (one["estimate"], one["low"], one["high"]) == (None, None, None)
        assert one["note"] == "undefined: no variation; percent agreement 100.0 %"
    assert report["coefficients"][0]["estimate"] == 1
    assert report["pairs"][0]["note"] == "undefined: no variation; percent agreement 100.0 %"


def test_an_order_allows_the_levels_of_an_order(answered, written):
    path = written(["1,a,bad", "1,b,so", "2,a,so", "2,b,so", "3,a,good", "3,b,good"])
    report = answered("agreement", "--ratings", path, "--order", "bad,so,good", "--level", "ordinal")
    assert report["labels"] == ["bad", "so", "good"]
    last = report["coefficients"][-1]
    assert (last["name"], last["level"]) == ("krippendorff_alpha", "ordinal")
    # 6 values: 1 bad, 3 so, 2 good. Distances: bad-so 2 ** 2, so-good 2.5 ** 2, bad-good 4.5 ** 2.
    assert last["estimate"] == pytest.approx(1 - (2 * 4 / 6) / (2 * (3 * 4 + 6 * 6.25 + 2 * 20.25) / 30))


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


def test_two_ratings_an_item_are_too_few_to_be_sure(answered, written):
    path = written([f"{item},{name},{label}" for item, label in enumerate("xxyy") for name in "ab"])
    report = answered("annotators", "--ratings", path, "--draws", "0")
    assert report["notes"][0].startswith("No item has three ratings.")
    assert report["marginals_low"] is report["annotators"][0]["accuracy_low"] is None


@pytest.mark.parametrize("command", ["agreement", "annotators"])
def test_the_text_is_readable(command, capsys):
    name = "kappa_paradox" if command == "agreement" else "dawid_skene_1979"
    assert main([command, "--ratings", str(shared(name))]) == 0
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert lines[-1].startswith("signature audit:")
    assert max(map(len, lines[:-1])) <= 100
    assert not re.search(r"\bnan\b", shown)
    assert shown.count("kappa paradox") == (command == "agreement")


def test_many_annotators_are_listed_not_drawn(written, capsys):
    path = written(
        [f"{item},p{person:02},{'xy'[(item + person // 11) % 2]}" for item in range(4) for person in range(12)]
    )
    assert main(["agreement", "--ratings", path, "--by", "pair"]) == 0
    assert "Cohen's kappa of the 10 pairs that agree least" in capsys.readouterr().out


GOOD = ["1,a,x", "1,b,y"]


@pytest.mark.parametrize(
    ("rows", "options", "says"),
    [
        (
            ["1,a,x", "2,a,y"],
            [],
            "ratings.csv, lines 2 to 3: column annotator has only 'a'; two annotators or more are needed",
        ),
        (
            ["1,a,x", "2,b,y"],
            [],
            "lines 2 to 3: no value of column item was judged by two annotators (item '1' by 'a' alone)",
        ),
        (
            ["1,a,1", "1,b,good"],
            ["--level", "ordinal"],
            "ratings.csv, line 3: column label is 'good', which is not a number",
        ),
        (GOOD, ["--level", "cubic"], "--level: 'cubic' is not one of 'nominal', 'ordinal'"),
        (GOOD, ["--order", "x,z"], "label 'y' is not in the order x, z; name every label once"),
        (GOOD, ["--order", "x,y,x"], "the order x, y, x has a label twice"),
        (
            GOOD,
            ["--order", "x,y", "--level", "ratio"],
            "an order of labels without numbers cannot have the level ratio",
        ),
        (GOOD, ["--by", "system"], "column(s) system missing; needed are item, annotator, label, system"),
        (GOOD, ["--by", "moon"], "--by: 'moon' is not one of 'relation', 'system'"),
        (GOOD, ["--about", "false"], "--about false needs the drawn groups of a database"),
        (GOOD, ["--task", "sentiment"], "--task is for a database"),
        (GOOD, ["--db", "a.db"], "--db and --ratings exclude each other; give one of them"),
        (["1,a,x", "1,a,y", "1,b,x"], [], "line 3: column annotator: a rates item 1 again, first on line 2"),
        (
            ["1,a,x", "1,a,y", "1,b,x"],
            ["--repeats", "best"],
            "--repeats: 'best' is not one of 'first', 'last', 'majority'",
        ),
        ([], [], "the file has no rows"),
    ],
)
def test_mistakes_of_agreement(rows, options, says, written, mistake):
    assert says in mistake("agreement", "--ratings", written(rows), *options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "there is no database audit.db"),
        (["--repeats", "first"], "--repeats is for --ratings"),
        (["--ratings", "absent.csv"], "there is no such file"),
    ],
)
def test_mistakes_about_where_ratings_are(options, says, written, mistake):
    written(GOOD)
    assert says in mistake("agreement", *options)


@pytest.mark.parametrize(
    ("rows", "options", "says"),
    [
        (["1,a,x", "1,a,y"], [], "column annotator has only 'a'"),
        (["1,a,x", "2,b,y"], [], "no value of column item was judged by two annotators"),
        (GOOD, ["--draws", "-1"], "--draws -1: must be from 0"),
        (GOOD, ["--draws", "many"], "'many' is not a whole number"),
        (GOOD, ["--seed", "-1"], "--seed -1: must be at least 0"),
        (GOOD, ["--task", "sentiment"], "--task is for a database"),
    ],
)
def test_mistakes_of_annotators(rows, options, says, written, mistake):
    assert says in mistake("annotators", "--ratings", written(rows), *options)


def test_a_database_without_judgements_says_what_comes_first(tmp_path, monkeypatch, mistake):
    from audit.store import open_store

    monkeypatch.chdir(tmp_path)
    open_store("audit.db", create=True).dispose()
    for command in (["agreement"], ["agreement", "--about", "false"], ["annotators"]):
        assert "people have judged no question yet" in mistake(*command)
