"""`audit agreement` and `audit annotators` end to end through `main`."""

import json
from pathlib import Path

import pytest

from audit.cli import main

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "agreement"
NAMES = ["percent_agreement", "cohen_kappa", "krippendorff_alpha", "gwet_ac1"]


@pytest.fixture
def answered(capsys):
    """Runs a command that must succeed; returns the JSON document that is all of stdout."""

    def call(*arguments):
        assert main([*map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)

    return call


def shared(name):
    path = DATA / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"the shared data ({path.name}) are not here")
    return path


def test_coefficients_of_a_file(answered, capsys):
    report = answered("agreement", "--ratings", shared("cohen_1960"), "--level", "linear")
    found = report["coefficients"]
    assert [one["name"] for one in found if one["level"] is None] == NAMES
    assert [one["name"] for one in found if one["level"] == "linear"] == [*NAMES[:2], "gwet_ac2"]
    kappa = next(one for one in found if one["name"] == "cohen_kappa")
    assert list(kappa) == ["name", "level", "estimate", "low", "high", "items", "annotators", "note"]
    assert (kappa["level"], kappa["items"], kappa["annotators"]) == (None, 200, 2)
    assert kappa["estimate"] == pytest.approx(0.492, abs=1e-3)
    assert kappa["low"] < kappa["estimate"] < kappa["high"]
    assert main(["agreement", "--ratings", str(shared("fleiss_1971")), "--by", "pair"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "fleiss_kappa – 0.430 0.316 to 0.549 30" in text
    assert "The 10 of 15 pairs that agree least" in text
