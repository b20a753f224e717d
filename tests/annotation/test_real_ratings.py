"""Published ratings go in as they are, and the figures that are known of them come out."""

from math import comb
from pathlib import Path

import pytest

from audit.annotation.ratings import read_ratings
from audit.files import read_table
from audit.reports.agreement import agreement_report

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not (DATA / "xstest").exists(), reason="the shared data sets are not here")


def percent(rated):
    (row,) = [row for row in agreement_report(rated)["coefficients"] if row["name"] == "percent_agreement"]
    return row["estimate"], row["items"]


def test_hatecheck_has_five_ratings_an_item():
    rated = read_ratings(DATA / "hatecheck" / "ratings.csv")
    assert percent(rated) == (pytest.approx(0.9691, abs=5e-5), 3901)
    gold = read_table(DATA / "hatecheck" / "gold.csv", ["item", "gold"]).set_index("item")["gold"]
    wrong = (rated.frame["label"] != rated.frame["item"].map(gold)).groupby(rated.frame["item"]).sum()
    two = wrong.map(lambda number: comb(number, 2) / comb(5, 2)).mean()
    three = wrong.map(lambda number: (comb(number, 2) * (5 - number) + comb(number, 3)) / comb(5, 3)).mean()
    assert (round(two, 4), round(three, 4)) == (0.0008, 0.0022)


def test_xstest_has_a_column_for_each_person_and_two_for_an_item():
    columns = {"item": "model+item", "label": "person_1+person_2"}
    assert percent(read_ratings(DATA / "xstest" / "labels.csv", columns=columns)) == (pytest.approx(0.964), 2250)
