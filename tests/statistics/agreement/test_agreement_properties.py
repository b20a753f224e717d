"""What holds for all ratings: names and orders do not matter, posteriors spread as the jackknife."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics import agreement
from audit.statistics.agreement import LEVELS, Ratings, agreement_of_pairs, draws_of, measures, number_of, suite


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


def coefficients(ratings):
    """Those of all levels that the labels allow."""
    levels = [level for level, scales in LEVELS.items() if ratings.scale in scales]
    return {
        (coefficient.name, coefficient.level): coefficient for level in levels for coefficient in suite(ratings, level)
    }


def estimates(ratings):
    """Coefficients of all levels without their intervals, which take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreement, "interval", lambda parts, confidence: None)
        return {key: coefficient.estimate for key, coefficient in coefficients(ratings).items()}


def same(first, second):
    """Draws are dealt to the kinds of items in their order, so that ends are the same but for what draws leave open."""
    first, second = (coefficients(Ratings.of(frame)) for frame in (first, second))
    assert {key[0] for key in first} == {key[0] for key in second}
    for key in first.keys() & second.keys():
        for name, error in (("items", 0), ("estimate", 1e-9), ("low", 0.15), ("high", 0.15)):
            left, right = getattr(first[key], name), getattr(second[key], name)
            assert (left is None) == (right is None), (key, name)
            assert left is None or left == pytest.approx(right, abs=error), (key, name)


@pytest.mark.slow
@given(tables(), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_order_of_rows_items_and_annotators_does_not_matter(rows, random):
    frame = frame_of(rows)
    names = [f"r{j}" for j in range(4)]
    random.shuffle(names)
    items = list(range(len(rows)))
    random.shuffle(items)
    other = frame.assign(
        annotator=[names[int(name[1])] for name in frame["annotator"]], item=[items[i] for i in frame["item"]]
    )
    same(frame, other.sample(frac=1, random_state=random.randint(0, 99)))


@pytest.mark.slow
@given(tables(), st.permutations("abcd"), st.permutations("abcd"))
@settings(max_examples=25)
def test_names_of_labels_do_not_matter(rows, letters, others):
    same(frame_of(rows, lambda label: letters[label]), frame_of(rows, lambda label: others[label]))


@pytest.mark.slow
@given(tables())
@settings(max_examples=60)
def test_numbers_may_be_moved_and_stretched(rows):
    ratios = ("krippendorff_alpha", "ratio")
    plain, moved = (
        estimates(Ratings.of(frame_of(rows, label))) for label in (str, lambda number: str(3.5 * number + 2))
    )
    plain.pop(ratios)
    moved.pop(ratios)
    assert plain == pytest.approx(moved, abs=1e-9)


@pytest.mark.slow
@given(tables())
@settings(max_examples=40)
def test_everything_is_a_number_with_its_interval_or_says_why(rows):
    for coefficient in coefficients(Ratings.of(frame_of(rows))).values():
        if coefficient.estimate is None:
            assert coefficient.note.startswith("undefined: ")
            assert coefficient.low is coefficient.high is None
            continue
        assert math.isfinite(coefficient.estimate)
        assert coefficient.estimate <= 1 + 1e-9
        if coefficient.low is None:
            assert coefficient.note.startswith("no interval: ")
        else:
            assert coefficient.low - 1e-9 <= coefficient.estimate <= coefficient.high + 1e-9
            assert coefficient.high <= 1 + 1e-9


@pytest.mark.slow
@given(tables())
@settings(max_examples=40)
def test_agreeing_everywhere_is_one(rows):
    agreed = [[None if rating is None else i % 2 for rating in row] for i, row in enumerate(rows)]
    for estimate in estimates(Ratings.of(frame_of(agreed))).values():
        assert estimate is None or estimate == pytest.approx(1)


@pytest.mark.slow
@given(tables())
@settings(max_examples=40)
def test_the_matrix_has_what_each_pair_alone_has(rows):
    frame = frame_of(rows)
    ratings = Ratings.of(frame)
    matrices = agreement_of_pairs(ratings)
    for first in range(len(ratings.annotators)):
        for other in range(first + 1, len(ratings.annotators)):
            names = [ratings.annotators[first], ratings.annotators[other]]
            shared_items = frame[frame["annotator"].isin(names)]
            shared_items = shared_items[shared_items.groupby("item")["item"].transform("size") == 2]
            assert matrices.items[first, other] == matrices.items[other, first] == shared_items["item"].nunique()
            if shared_items.empty:
                assert np.isnan(matrices.percent[first, other])
                continue
            alone = {each.name: each.estimate for each in suite(Ratings.of(shared_items, labels=ratings.labels))}
            for matrix, name in (
                (matrices.percent, "percent_agreement"),
                (matrices.kappa, "cohen_kappa"),
                (matrices.ac1, "gwet_ac1"),
            ):
                value = matrix[first, other]
                assert (None if np.isnan(value) else pytest.approx(value)) == alone[name]


def drawn(items, annotators, accuracy, missing, seed, labels=3):
    random = np.random.default_rng(seed)
    truth = random.integers(0, labels, size=(items, 1))
    said = np.where(
        random.random((items, annotators)) < accuracy, truth, random.integers(0, labels, (items, annotators))
    )
    item, annotator = np.nonzero(random.random((items, annotators)) >= missing)
    said = said[item, annotator] + 1
    return pd.DataFrame({"item": item, "annotator": annotator, "label": said.astype(str)})


@pytest.mark.parametrize(("annotators", "missing"), [(2, 0.2), (4, 0.4), pytest.param(2, 0.0, marks=pytest.mark.slow)])
def test_the_posterior_spreads_as_the_jackknife(annotators, missing):
    """Leaving out one item after the other tells the standard error, up to terms of order 1 / n."""
    frame = drawn(150, annotators, 0.6, missing, seed=3)
    ratings = Ratings.of(frame)
    without = [Ratings.of(frame[frame["item"] != item], ratings.labels) for item in frame["item"].unique()]
    for level in (None, "ordinal", "ratio", "quadratic"):
        for name, compute in measures(ratings, level).items():
            others = [measures(left_out, level)[name](left_out).value for left_out in without]
            jackknife = np.sqrt((len(without) - 1) * np.var(others))
            assert draws_of(compute(ratings), 4_000).std() == pytest.approx(jackknife, rel=0.08), (name, level)


@pytest.mark.slow
def test_intervals_cover():
    """300 samples of 60 items by 3 annotators, 30 % missing; truth from 200,000 items. Seeded, so never by chance."""
    truth = estimates(Ratings.of(drawn(200_000, 3, 0.8, 0.3, seed=0)))
    hits = dict.fromkeys(truth, 0)
    for seed in range(1, 301):
        for key, coefficient in coefficients(Ratings.of(drawn(60, 3, 0.8, 0.3, seed))).items():
            hits[key] += coefficient.low <= truth[key] <= coefficient.high
    assert {key: hit for key, hit in hits.items() if not 0.925 <= hit / 300 <= 0.99} == {}


def test_clusters_of_copies_count_once():
    frame = drawn(80, 3, 0.7, 0.2, seed=1)
    copies = pd.concat([frame.assign(item=frame["item"] + 1000 * copy, cluster=frame["item"]) for copy in range(5)])
    for single, copied in zip(suite(Ratings.of(frame)), suite(Ratings.of(copies)), strict=True):
        if single.name == "krippendorff_alpha":  # its estimate depends on the number of values, a little
            continue
        assert single.estimate == pytest.approx(copied.estimate)
        assert (single.low, single.high) == pytest.approx((copied.low, copied.high), abs=0.02)


def test_spellings_of_a_number_are_one_label():
    frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": ["1", "1.0", "02", "3"]})
    ratings = Ratings.of(frame)
    assert ratings.scale == "numbers"
    assert ratings.values.tolist() == [1, 2, 3]
    assert suite(ratings)[0].estimate == 0.5
    assert Ratings.of(frame.assign(label=["1", "1.0", "x", "3"])).scale == "names"


@given(st.text(max_size=6))
def test_number_of_never_fails(text):
    number = number_of(text)
    assert number is None or math.isfinite(number)


@pytest.mark.parametrize(
    ("frame", "labels", "says"),
    [
        (pd.DataFrame(columns=["item", "annotator", "label"]), None, "there are no ratings"),
        (
            pd.DataFrame({"item": [1, 1], "annotator": ["a", "a"], "label": ["x", "y"]}),
            None,
            "annotator a rates item 1",
        ),
        (pd.DataFrame({"item": [1], "annotator": ["a"], "label": ["z"]}), ["x", "y"], "label 'z' is not one of x, y"),
        (
            pd.DataFrame({"item": range(1001), "annotator": "a", "label": map(str, range(1001))}),
            None,
            "1,001 different labels, at most 1,000",
        ),
    ],
)
def test_ratings_that_cannot_be_used_are_named(frame, labels, says):
    with pytest.raises(AuditError, match=says):
        Ratings.of(frame, labels)
