"""Coefficients against published numbers, and against small examples worked by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from audit.errors import AuditError
from audit.statistics.agreement import (
    Ratings,
    cohen_kappa,
    draws_of,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    linear,
    ordinal,
    percent_agreement,
    quadratic,
    suite,
)

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "agreement"

PUBLISHED = {
    # Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): 12 units, 4 observers, 41 values.
    # The others for the same data: Gwet, Handbook of Inter-Rater Reliability (4th edition, 2014), chapter 2.
    "krippendorff_2011": {
        ("krippendorff_alpha", None): 0.743,
        ("krippendorff_alpha", "ordinal"): 0.815,
        ("krippendorff_alpha", "interval"): 0.849,
        ("krippendorff_alpha", "ratio"): 0.797,
        ("fleiss_kappa", None): 0.761,
        ("gwet_ac1", None): 0.775,
        ("percent_agreement", None): 0.818,
    },
    # Fleiss, Psychological Bulletin 76 (1971), table 1: 30 patients, 6 psychiatrists each, 5 diagnoses.
    "fleiss_1971": {
        ("fleiss_kappa", None): 0.430,
        ("gwet_ac1", None): 0.448,
        ("krippendorff_alpha", None): 0.433,
    },
    # Cohen, Educational and Psychological Measurement 20 (1960), table 1: 200 patients, 2 judges, 3 diagnoses.
    "cohen_1960": {
        ("cohen_kappa", None): 0.492,
        ("gwet_ac1", None): 0.576,
        ("krippendorff_alpha", None): 0.488,
    },
    # Made after Feinstein and Cicchetti (1990): 80 + 5 of 100 agree. kappa = (.85 - .78) / .22, p = .875 for AC1.
    "kappa_paradox": {
        ("percent_agreement", None): 0.850,
        ("cohen_kappa", None): 0.318,
        ("gwet_ac1", None): 0.808,
    },
}

# Standard errors by irrCAC 0.4.4 (Gwet's own formulas), where no rating is missing.
ERRORS = {
    "fleiss_1971": {fleiss_kappa: 0.054199, gwet_ac: 0.055662},
    "cohen_1960": {cohen_kappa: 0.051130, gwet_ac: 0.048121},
}


def published(name):
    path = DATA / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"the shared data ({path.name}) are not here")
    return Ratings.of(pd.read_csv(path, dtype=str))


def table(*rows):
    """Ratings from strings, one an item, a letter an annotator; `.` is missing."""
    said = [(str(i), f"r{j}", label) for i, row in enumerate(rows) for j, label in enumerate(row) if label != "."]
    return Ratings.of(pd.DataFrame(said, columns=["item", "annotator", "label"]))


def estimates(ratings):
    coefficients = [*suite(ratings)]
    for level in ("ordinal", "interval", "ratio") if ratings.scale == "numbers" else ():
        coefficients += suite(ratings, level)
    return {(coefficient.name, coefficient.level): coefficient.estimate for coefficient in coefficients} | {
        ("fleiss_kappa", None): fleiss_kappa(ratings).value
    }


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_estimates(name):
    by_name = estimates(published(name))
    assert {key: by_name[key] for key in PUBLISHED[name]} == pytest.approx(PUBLISHED[name], abs=5.1e-4)


@pytest.mark.parametrize("name", ERRORS)
def test_the_posterior_spreads_as_published_standard_errors(name):
    """Few items and a prior make it wider: of 30 items by a tenth."""
    ratings = published(name)
    for compute, error in ERRORS[name].items():
        assert draws_of(compute(ratings), 4_000).std() == pytest.approx(error, rel=0.12), compute.__name__


def test_the_posterior_of_two_shares_is_beta():
    # 7 of 10 agree, one and a half imagined: Beta(7 c + 1, 3 c + 1/2), c = (9 (1.96 / 2.262) ** 2 - 1) / 10 = .5757.
    draws = draws_of(percent_agreement(table(*["xx"] * 4, *["yy"] * 3, *["xy"] * 3)), 20_000)
    assert np.quantile(draws, [0.025, 0.5, 0.975]) == pytest.approx(
        stats.beta.ppf([0.025, 0.5, 0.975], 7 * 0.5757 + 1, 3 * 0.5757 + 0.5), abs=0.015
    )


def test_two_annotators_by_hand():
    # Labels x, y; both x: 4, both y: 3, first x and second y: 2, the other way: 1. Agreement .7.
    by_name = estimates(table(*["xx"] * 4, *["yy"] * 3, *["xy"] * 2, "yx"))
    # Cohen: first says x .6, second .5; chance .6 * .5 + .4 * .5 = .5; (.7 - .5) / .5 = .4.
    assert by_name["cohen_kappa", None] == pytest.approx(0.4)
    # Fleiss: x is .55 of all; chance .3025 + .2025 = .505; .195 / .495.
    assert by_name["fleiss_kappa", None] == pytest.approx(0.195 / 0.495)
    # Krippendorff: 20 values, 11 x and 9 y. Do = .3, De = 2 * 11 * 9 / (20 * 19).
    assert by_name["krippendorff_alpha", None] == pytest.approx(1 - 0.3 * 380 / 198)
    # Gwet: chance .55 * .45 * 2 / (2 - 1) = .495; .205 / .505.
    assert by_name["gwet_ac1", None] == pytest.approx(0.205 / 0.505)
    assert by_name["percent_agreement", None] == pytest.approx(0.7)


def test_missing_ratings_by_hand():
    # Items: xxx (3 of 3 pairs), xy. (0 of 1), yy. (1 of 1), and a lone x that has no pair: agreement 2 / 3.
    by_name = estimates(table("xxx", "xy.", "yy.", "..x"))
    assert by_name["percent_agreement", None] == pytest.approx(2 / 3)
    # Fleiss: x is 1, .5, 0 and 1 of the four items: .625; chance .625 ** 2 + .375 ** 2 = .53125.
    assert by_name["fleiss_kappa", None] == pytest.approx((2 / 3 - 0.53125) / 0.46875)
    # Krippendorff: 7 values that can be paired, 4 x and 3 y. One item of size 2 disagrees: Do = 2 / 7; De = 24 / 42.
    assert by_name["krippendorff_alpha", None] == pytest.approx(1 - (2 / 7) / (24 / 42))


def test_ordinal_distance_counts_what_lies_between():
    # Shares .2, .5, .3: from the first to the last .1 + .5 + .15 = .75.
    assert ordinal(np.arange(3), np.array([0.2, 0.5, 0.3])) == pytest.approx(
        np.array([[0, 0.35**2, 0.75**2], [0.35**2, 0, 0.4**2], [0.75**2, 0.4**2, 0]])
    )


def test_weights_follow_the_values_of_the_labels():
    ratings = table(*["11"] * 3, "15", "52", "22")
    # Linear: 1 and 5 agree 0, 5 and 2 agree 1/4: mean (3 + 0 + 1/4 + 1) / 6.
    parts = cohen_kappa(ratings, linear(ratings.values))
    assert parts.observed == pytest.approx(4.25 / 6)
    # First says 1, 2, 5: 4/6, 1/6, 1/6; second: 3/6, 2/6, 1/6; weights 1-2 3/4, 2-5 1/4, 1-5 0.
    expected = (4 * (3 + 2 * 0.75) + 1 * (3 * 0.75 + 2 + 0.25) + 1 * (2 * 0.25 + 1)) / 36
    assert parts.expected == pytest.approx(expected)
    assert quadratic(ratings.values)[0].tolist() == pytest.approx([1, 15 / 16, 0])


def test_perfect_agreement_is_one_and_its_interval_is_not_a_point():
    for coefficient in suite(table(*["112"[i % 3] * 3 for i in range(12)])):
        assert coefficient.estimate == pytest.approx(1)
        assert coefficient.low < 0.95
        assert coefficient.high == 1


def test_a_rare_label_leaves_much_open():
    """Of 50 items one has the rare label from one of two: kappa is -.01, and may well be .6."""
    kappa = suite(table(*["xx"] * 49, "xy"))[1]
    assert (kappa.name, round(kappa.estimate, 2)) == ("cohen_kappa", 0.0)
    assert kappa.high > 0.6


def test_no_variation_is_undefined_and_says_the_percent():
    for coefficient in suite(table("xx", "xx", "x.")):
        if coefficient.name == "percent_agreement":
            assert coefficient.estimate == 1
        else:
            assert (coefficient.estimate, coefficient.low, coefficient.high) == (None, None, None)
            assert coefficient.note == "undefined: no variation; percent agreement 100.0 %"


def test_nothing_in_common_is_undefined():
    for coefficient in suite(table("x.", ".y", "x.")):
        assert coefficient.estimate is None
        assert coefficient.note.startswith("undefined: no item was rated by")
        assert coefficient.items == 0


def test_the_paradox_is_explained_where_it_strikes_and_only_there():
    notes = {coefficient.name: coefficient.note for coefficient in suite(published("kappa_paradox"))}
    assert {name for name, note in notes.items() if note} == {"cohen_kappa", "krippendorff_alpha"}
    assert notes["cohen_kappa"].startswith("kappa paradox: 85.0 % agree, but 88 % of the ratings are '1'")
    assert "gwet_ac1 (0.808)" in notes["cohen_kappa"]
    assert not any(coefficient.note for coefficient in suite(published("cohen_1960")))


@pytest.mark.parametrize(
    ("level", "says"),
    [
        ("ordinal", "labels that are not numbers cannot have the level ordinal; allowed are nominal"),
        ("cubic", "level 'cubic' is not one of nominal, ordinal, interval, ratio, linear, quadratic"),
    ],
)
def test_levels_that_do_not_fit_are_refused(level, says):
    with pytest.raises(AuditError, match=says):
        suite(table("xy", "yy"), level)


def test_negative_numbers_have_no_ratio():
    frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": ["-1", "1", "2", "2"]})
    ratio = suite(Ratings.of(frame), "ratio")[-1]
    assert ratio.estimate is None
    assert ratio.note == "undefined: label -1 is negative; the level ratio allows numbers from 0"
    with pytest.raises(AuditError, match="level 'cubic' is not one of nominal, ordinal, interval, ratio"):
        krippendorff_alpha(Ratings.of(frame), "cubic")
