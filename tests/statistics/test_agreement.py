"""Coefficients against published numbers and small examples worked by hand, and what holds for all ratings."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from audit.errors import AuditError
from audit.statistics.agreement import (
    COEFFICIENTS,
    LEVELS,
    Ratings,
    annotator_pairs,
    cohen_kappa,
    draws_of,
    fleiss_kappa,
    gwet_ac,
    label_pairs,
    percent_agreement,
    suite,
    weights_of,
)

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "agreement"

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
    said = [
        (str(i), f"r{j}", label) for i, row in enumerate(rows) for j, label in enumerate(map(str, row)) if label != "."
    ]
    return Ratings.of(pd.DataFrame(said, columns=["item", "annotator", "label"]))


def coefficients(ratings):
    """Those of all levels that the labels allow."""
    levels = [level for level, scales in LEVELS.items() if ratings.scale in scales]
    return {(one.name, one.level): one for level in levels for one in suite(ratings, level)}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_estimates(name):
    ratings = published(name)
    found = {
        (coefficient, level): COEFFICIENTS[coefficient](ratings, level).value for coefficient, level in PUBLISHED[name]
    }
    assert found == pytest.approx(PUBLISHED[name], abs=5.1e-4)


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
    ratings = table(*["xx"] * 4, *["yy"] * 3, *["xy"] * 2, "yx")
    found = {name: compute(ratings, None).value for name, compute in COEFFICIENTS.items()}
    # Cohen: first says x .6, second .5; chance .6 * .5 + .4 * .5 = .5; (.7 - .5) / .5 = .4.
    assert found["cohen_kappa"] == pytest.approx(0.4)
    # Fleiss: x is .55 of all; chance .3025 + .2025 = .505; .195 / .495.
    assert found["fleiss_kappa"] == pytest.approx(0.195 / 0.495)
    # Krippendorff: 20 values, 11 x and 9 y. Do = .3, De = 2 * 11 * 9 / (20 * 19).
    assert found["krippendorff_alpha"] == pytest.approx(1 - 0.3 * 380 / 198)
    # Gwet: chance .55 * .45 * 2 / (2 - 1) = .495; .205 / .505.
    assert found["gwet_ac1"] == pytest.approx(0.205 / 0.505)
    assert found["percent_agreement"] == pytest.approx(0.7)
    (pair,) = annotator_pairs(ratings).itertuples(index=False)
    assert (pair.one, pair.other, pair.items) == ("r0", "r1", 10)
    assert [pair.percent_agreement, pair.cohen_kappa, pair.gwet_ac1] == pytest.approx([0.7, 0.4, 0.205 / 0.505])


def test_missing_ratings_by_hand():
    # Items: xxx (3 of 3 pairs), xy. (0 of 1), yy. (1 of 1), and a lone x that has no pair: agreement 2 / 3.
    ratings = table("xxx", "xy.", "yy.", "..x")
    assert percent_agreement(ratings).value == pytest.approx(2 / 3)
    # Fleiss: x is 1, .5, 0 and 1 of the four items: .625; chance .625 ** 2 + .375 ** 2 = .53125.
    assert fleiss_kappa(ratings).value == pytest.approx((2 / 3 - 0.53125) / 0.46875)
    # Krippendorff: 7 values that can be paired, 4 x and 3 y. One item of size 2 disagrees: Do = 2 / 7; De = 24 / 42.
    assert COEFFICIENTS["krippendorff_alpha"](ratings, None).value == pytest.approx(1 - (2 / 7) / (24 / 42))


def test_weights_follow_the_values_of_the_labels():
    ratings = table(*["11"] * 3, "15", "52", "22")
    # Linear: 1 and 5 agree 0, 5 and 2 agree 1/4: mean (3 + 0 + 1/4 + 1) / 6.
    parts = cohen_kappa(ratings, "linear")
    assert parts.observed == pytest.approx(4.25 / 6)
    # First says 1, 2, 5: 4/6, 1/6, 1/6; second: 3/6, 2/6, 1/6; weights 1-2 3/4, 2-5 1/4, 1-5 0.
    assert parts.expected == pytest.approx((4 * (3 + 2 * 0.75) + 1 * (3 * 0.75 + 2 + 0.25) + 1 * (2 * 0.25 + 1)) / 36)
    assert weights_of(ratings, "quadratic")[0].tolist() == pytest.approx([1, 15 / 16, 0])
    # Ordinal: shares 7/12, 3/12, 2/12; from 1 to 5 lie 3.5/12 + 3/12 + 1/12 = 7.5/12, from 1 to 2 5/12.
    assert weights_of(ratings, "ordinal")[0].tolist() == pytest.approx([1, 1 - (5 / 7.5) ** 2, 0])


def test_perfect_agreement_is_one_and_its_interval_is_no_point():
    for coefficient in suite(table(*["112"[i % 3] * 3 for i in range(12)])):
        assert coefficient.estimate == pytest.approx(1)
        assert coefficient.low < 0.95
        assert coefficient.high == 1


def test_undefined_ones_say_why():
    percent, *others = suite(table("xx", "xx", "x."))
    assert percent.estimate == 1
    for coefficient in others:
        assert (coefficient.estimate, coefficient.low, coefficient.high) == (None, None, None)
        assert coefficient.note == "undefined: no variation; percent agreement 100.0 %"
    for coefficient in suite(table("x.", ".y", "x.")):
        assert (coefficient.estimate, coefficient.items) == (None, 0)
        assert coefficient.note.startswith("undefined: no item was rated by")


def test_the_paradox_is_explained_where_it_strikes_and_only_there():
    notes = {coefficient.name: coefficient.note for coefficient in suite(published("kappa_paradox"))}
    assert {name for name, note in notes.items() if note} == {"cohen_kappa", "krippendorff_alpha"}
    assert notes["cohen_kappa"].startswith("kappa paradox: 85.0 % agree, but 88 % of the ratings are '1'")
    assert "gwet_ac1 (0.808)" in notes["cohen_kappa"]
    assert not any(coefficient.note for coefficient in suite(published("cohen_1960")))


@pytest.mark.parametrize(
    ("rows", "level", "says"),
    [
        (("xy", "yy"), "ordinal", "labels such as 'x' cannot have the level ordinal; allowed are nominal"),
        (("xy", "yy"), "cubic", "level 'cubic' is not one of nominal, ordinal, interval, ratio, linear, quadratic"),
        (([-1, 1], [2, 2]), "ratio", "label -1 is negative; the level ratio allows numbers from 0"),
    ],
)
def test_levels_that_do_not_fit_are_refused(rows, level, says):
    with pytest.raises(AuditError, match=says):
        suite(table(*rows), level)


# What holds for all ratings.


@st.composite
def tables(draw, most_items=12):
    """Labels 0..3 or None, items x annotators; somewhere an item has two."""
    annotators = draw(st.integers(2, 4))
    row = st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=annotators, max_size=annotators)
    rows = draw(st.lists(row, min_size=2, max_size=most_items))
    assume(any(sum(value is not None for value in each) > 1 for each in rows))
    return rows


def frame_of(rows, label=str):
    said = [
        (i, f"r{j}", label(value)) for i, row in enumerate(rows) for j, value in enumerate(row) if value is not None
    ]
    return pd.DataFrame(said, columns=["item", "annotator", "label"])


def drawn(items, annotators, accuracy, missing, seed, labels=4):
    """Ratings of annotators who are right with a probability, else guess."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, labels, (items, 1))
    said = np.where(
        random.random((items, annotators)) < accuracy, truth, random.integers(0, labels, (items, annotators))
    )
    item, annotator = np.nonzero(random.random((items, annotators)) >= missing)
    said = said[item, annotator] + 1
    return pd.DataFrame({"item": item, "annotator": annotator, "label": said.astype(str)})


@pytest.mark.slow
@given(tables())
@settings(max_examples=40)
def test_everything_is_a_number_with_its_interval_or_says_why(rows):
    for coefficient in coefficients(Ratings.of(frame_of(rows))).values():
        if coefficient.estimate is None:
            assert coefficient.note.startswith("undefined: ")
        elif coefficient.low is None:
            assert coefficient.note.startswith("no interval: ")
        else:
            assert math.isfinite(coefficient.low)
            assert coefficient.low - 1e-9 <= coefficient.estimate <= coefficient.high + 1e-9
            assert coefficient.high <= 1 + 1e-9


@pytest.mark.parametrize(("annotators", "missing"), [(2, 0.2), (4, 0.4)])
def test_the_posterior_spreads_as_the_jackknife(annotators, missing):
    """Leaving out one item after the other tells the standard error, up to terms of order 1 / n."""
    frame = drawn(150, annotators, 0.6, missing, seed=3)
    ratings = Ratings.of(frame)
    without = [Ratings.of(frame[frame["item"] != item], ratings.labels) for item in frame["item"].unique()]
    kappa = "cohen_kappa" if annotators == 2 else "fleiss_kappa"
    for name, level in ((kappa, None), (kappa, "quadratic"), ("krippendorff_alpha", "ratio"), ("gwet_ac1", None)):
        others = [COEFFICIENTS[name](left_out, level).value for left_out in without]
        jackknife = np.sqrt((len(without) - 1) * np.var(others))
        spread = draws_of(COEFFICIENTS[name](ratings, level), 4_000).std()
        assert spread == pytest.approx(jackknife, rel=0.08), (name, level)


def test_clusters_of_copies_count_once():
    frame = drawn(80, 3, 0.7, 0.2, seed=1)
    copies = pd.concat([frame.assign(item=frame["item"] + 1000 * copy, cluster=frame["item"]) for copy in range(5)])
    for single, copied in zip(suite(Ratings.of(frame)), suite(Ratings.of(copies)), strict=True):
        if single.name != "krippendorff_alpha":  # its estimate depends on the number of values, a little
            assert single.estimate == pytest.approx(copied.estimate)
            assert (single.low, single.high) == pytest.approx((copied.low, copied.high), abs=0.02)


def test_labels_that_are_taken_for_each_other_by_hand():
    # Item 1: x, x, y gives xx once, xy twice; item 2: y, z gives yz; item 3 has one rating. Each in both directions.
    rows = [(1, "a", "x"), (1, "b", "x"), (1, "c", "y"), (2, "a", "y"), (2, "b", "z"), (3, "a", "z")]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    assert label_pairs(Ratings.of(frame, ["x", "y", "z"])).tolist() == [[2, 2, 0], [2, 0, 1], [0, 1, 0]]


def test_spellings_of_a_number_are_one_label():
    frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": ["1", "1.0", "02", "3"]})
    ratings = Ratings.of(frame)
    assert (ratings.scale, ratings.labels, ratings.values.tolist()) == ("numbers", ("1", "02", "3"), [1, 2, 3])
    assert suite(ratings)[0].estimate == 0.5
    assert Ratings.of(frame.assign(label=["1", "1.0", "x", "3"])).scale == "names"


@pytest.mark.parametrize(
    ("rows", "labels", "says"),
    [
        ([], None, "there are no ratings"),
        ([(1, "a", "x"), (1, "a", "y")], None, "annotator a rates item 1"),
        ([(1, "a", "z")], ["x", "y"], "label 'z' is not one of x, y"),
        ([(n, "a", str(n)) for n in range(1001)], None, "1,001 different labels, at most 1,000"),
    ],
)
def test_ratings_that_cannot_be_used_are_named(rows, labels, says):
    with pytest.raises(AuditError, match=says):
        Ratings.of(pd.DataFrame(rows, columns=["item", "annotator", "label"]), labels)
