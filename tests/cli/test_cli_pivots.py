"""`audit pivots` from the command line."""

import json

import pytest

from audit.cli import main

HEAD = "system,source,pivot,target,direct,alternate"
ROWS = [
    f"{system},Sentence {n}.,{pivot},{target},eins zwei drei {n},eins zwei {'drei' if n % 3 else 'vier'} {n}"
    for system in ("a", "b")
    for target in ("de", "nl", "en")
    for n, pivot in enumerate(("fr", "es", "fr", "es"))
]


@pytest.fixture
def chains(tmp_path):
    path = tmp_path / "chains.csv"
    path.write_text("\n".join([HEAD, *ROWS, ROWS[0]]), encoding="utf-8")
    return str(path)


def document(capsys, *arguments):
    assert main(["pivots", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_text(chains, capsys):
    assert main(["pivots", chains]) == 0
    shown = capsys.readouterr().out
    assert "25 rows, 25 of them usable, 25 of these chosen: 17 over a pivot, 8 round trips." in shown
    assert "Rows that repeat another row in every column: 1, used (first: line 26)" in shown
    assert "errors that go together in each of" in shown
    assert ">= 0.8, %" in shown


def test_the_options_arrive(chains, capsys):
    found = document(capsys, chains, "--targets", "de,nl", "--systems", "a", "--distinct", "--threshold", "0.5")
    assert found["analysed"] == 8
    assert found["pivots"]["cells"][0]["satisfied"] == 4
    found = document(capsys, chains, "--exclude-target", "en", "--additive", "--errors", "independent", "--by", "pivot")
    assert (found["pivots"]["by"], found["round_trips"]["pairs"]) == ("pivot", 0)
    assert found["pivots"]["model"]["interaction"] is False
    assert found["pivots"]["model"]["clusters"] is None
    found = document(capsys, chains, "--source-language", "de", "--score", "levenshtein")
    assert found["round_trips"]["pairs"] == 9
    assert found["pivots"]["model"]["score"] == "levenshtein"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["absent.csv"], "absent.csv: there is no such file"),
        (["FILE", "--targets", "zh"], "chains.csv has no target 'zh'; it has: de, en, nl"),
        (["FILE", "--threshold", "8"], "the threshold 8 is impossible"),
    ],
)
def test_mistakes_are_one_sentence(chains, arguments, says, capsys):
    assert main(["pivots", *(chains if one == "FILE" else one for one in arguments)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert says in shown.err
    assert "Traceback" not in shown.err
