"""Shares, bias, speed, drift, and leave-one-out: known answers, and what holds for any input."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.agreement import Ratings, krippendorff_alpha
from audit.statistics.annotators import (
    confusion,
    difference,
    drift,
    label_bias,
    leave_one_out,
    share,
    speed,
)

LABELS = ("a", "b", "c")
answers = st.lists(st.tuples(st.sets(st.sampled_from(LABELS), min_size=1), st.sampled_from(LABELS)))


def test_a_share_has_wilsons_interval_or_a_reason():
    # Wilson (1927) for 81 of 263: 0.2553 to 0.3662 (Newcombe, Statistics in Medicine 17, 1998, table I).
    fraction = share(81, 263)
    assert (round(fraction.low, 4), round(fraction.high, 4), fraction.reason) == (0.2553, 0.3662, None)
    few = share(1, 1)
    assert (few.value, few.low, few.high, few.reason) == (None, None, None, "one observation, at least 10 are needed")
    assert share(0, 0).reason == "0 observations, at least 10 are needed"
    with pytest.raises(AuditError, match="2 false of 1"):
        share(2, 1)


def test_bias_by_hand():
    # Ten x and ten y; five y were called x: (5 - 0) / 20. Bonett and Price: p = 6/22 and 1/22, their difference 5/22,
    # variance (7/22 - (5/22)^2) / 22 = 0.01211495, half 1.959964 * 0.1100679 = 0.215729.
    x, y = label_bias([{"x"}] * 10 + [{"y"}] * 10, ["x"] * 15 + ["y"] * 5, ["x", "y"])
    assert (x.given, x.missed, x.value) == (5, 0.0, 0.25)
    assert x.low == pytest.approx(5 / 22 - 0.215729, abs=1e-6)
    assert x.high == pytest.approx(5 / 22 + 0.215729, abs=1e-6)
    assert (y.given, y.missed, y.value, y.low, y.high) == (0, 5.0, -0.25, -x.high, -x.low)


def test_of_several_right_labels_each_is_missed_in_part():
    a, b, c = label_bias([{"a", "b"}] * 10, ["c"] * 10, LABELS)
    assert (a.missed, b.missed, c.given) == (5.0, 5.0, 10)
    assert (a.value, b.value, c.value) == (-0.5, -0.5, 1.0)
    assert [bias.value for bias in label_bias([{"a", "b"}] * 10, ["a", "b"] * 5, LABELS)] == [0.0, 0.0, 0.0]


def test_few_answers_have_no_bias_but_counts():
    first = label_bias([{"a"}], ["b"], LABELS)[0]
    assert (first.missed, first.value, first.reason) == (1.0, None, "one observation, at least 10 are needed")


@pytest.mark.parametrize(
    ("right_answers", "answers", "message"),
    [
        ([{"a"}], [], "1 known answers for 0"),
        ([{"a"}], ["x"], "label 'x' is not one of a, b, c"),
        ([set()], ["a"], "a known answer has no label"),
    ],
)
def test_answers_that_cannot_be_are_refused(right_answers, answers, message):
    with pytest.raises(AuditError, match=message):
        label_bias(right_answers, answers, LABELS)


@given(answers)
def test_biases_sum_to_nothing_and_lie_in_their_intervals(rows):
    right_answers, given_labels = [row[0] for row in rows], [row[1] for row in rows]
    biases = label_bias(right_answers, given_labels, LABELS, least=1)
    if rows:
        assert sum(bias.value for bias in biases) == pytest.approx(0, abs=1e-9)
        assert all(-1 <= bias.low <= bias.value <= bias.high <= 1 for bias in biases)
    table = confusion(right_answers, given_labels, LABELS)
    assert sum(map(sum, (row.values() for row in table.values()))) == pytest.approx(len(rows))
    for label in LABELS:
        said = sum(row[label] for row in table.values())
        assert said == pytest.approx(given_labels.count(label))


@pytest.mark.parametrize(("more", "less"), [(0.0, 0.0), (0.05, 0.05), (0.2, 0.05), (0.3, 0.0)])
def test_the_intervals_of_bias_cover(more, less):
    # Every outcome of 20 answers with its multinomial probability: at least 93 % of the mass is covered.
    covered = 0.0
    for wrongly, missed in product(range(21), repeat=2):
        if wrongly + missed > 20:
            continue
        rest = 20 - wrongly - missed
        ways = math.factorial(20) // (math.factorial(wrongly) * math.factorial(missed) * math.factorial(rest))
        chance = ways * more**wrongly * less**missed * (1 - more - less) ** rest
        right_answers = [{"a"}] * missed + [{"b"}] * (wrongly + rest)
        answers = ["b"] * missed + ["a"] * wrongly + ["b"] * rest
        bias = label_bias(right_answers, answers, ("a", "b"))[0]
        covered += chance * (bias.low <= more - less <= bias.high)
    assert covered >= 0.93


def test_newcombes_differences():
    # Newcombe, Statistics in Medicine 17 (1998), p. 873, table II, method 10.
    published = {
        ((56, 70), (48, 80)): (0.0524, 0.3339),
        ((9, 10), (3, 10)): (0.1705, 0.8090),
        ((10, 10), (0, 20)): (0.6791, 1.0),
        ((0, 10), (0, 10)): (-0.2775, 0.2775),
    }
    for counts, ends in published.items():
        assert difference(*counts) == pytest.approx(ends, abs=5e-5)


def test_drift_compares_halves_in_their_order():
    halves = drift([True] * 10 + [False] * 11)
    assert (halves.first.whole, halves.second.whole) == (10, 11)
    assert halves.change == -1.0
    assert halves.high < 0
    assert drift([True] * 19).change is None
    assert drift([]).first.reason is not None


@given(st.lists(st.booleans(), min_size=20, max_size=60))
def test_a_row_told_backwards_drifts_the_other_way(right):
    right = right[: len(right) // 2 * 2]
    there, back = drift(right), drift(right[::-1])
    assert there.change == pytest.approx(-back.change)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
    assert there.low - 1e-9 <= there.change <= there.high + 1e-9


def test_the_share_of_too_fast_answers():
    assert speed([0.5] * 3 + [2.0] * 17, 1.0).fast.value == 0.15
    assert speed([0.5] * 19, 1.0).fast.value is None  # 19 are too few
    assert speed([], 1.0).seconds is None
    with pytest.raises(AuditError, match="are impossible"):
        speed([-1.0], 1.0)


def frame(rows):
    return pd.DataFrame(rows, columns=["item", "annotator", "label"])


def test_leave_one_out_by_hand():
    # Twenty items; a and b say x and y in turn, c always x. Of a's ten y neither... b agrees in all, c in half:
    # a's mean share is (1 + 1) / 2 for x and (1 + 0) / 2 for y, 0.75; c's is 1 for x and 0 for y, 0.5.
    rows = [(item, who, "x" if item % 2 or who == "c" else "y") for item in range(20) for who in "abc"]
    alpha, (a, _, c) = leave_one_out(Ratings.of(frame(rows)))
    # Observed disagreement 20/60, expected 2 * 40 * 20 / (60 * 59).
    assert alpha == pytest.approx(1 - (20 / 60) / (2 * 40 * 20 / (60 * 59)))
    assert (a.items, a.percent, c.percent, c.alpha_without) == (20, 0.75, 0.5, 1.0)
    assert a.low < 0.75 < a.high


def test_who_shares_no_item_has_a_reason():
    rows = [(item, "a", "x" if item % 2 else "y") for item in range(12)]
    rows += [(100 + item, who, "x" if item % 2 else "y") for item in range(12) for who in "bc"]
    alpha, (a, _, c) = leave_one_out(Ratings.of(frame(rows)))
    assert alpha == 1.0
    assert (a.items, a.percent, a.reason) == (0, None, "0 observations, at least 10 are needed")
    assert a.alpha_without == 1.0
    assert c.alpha_without is None  # a and b share nothing


ratings = st.lists(
    st.tuples(st.integers(0, 8), st.sampled_from("pqr"), st.sampled_from(LABELS)),
    min_size=1,
    unique_by=lambda row: row[:2],
)


@pytest.mark.slow
@settings(max_examples=40)
@given(ratings)
def test_leaving_one_out_is_alpha_of_the_rest(rows):
    data = frame(rows)
    _, rates = leave_one_out(Ratings.of(data, LABELS), least=1)
    for annotator in rates:
        rest = data[data["annotator"] != annotator.annotator]
        expected = None
        if len(rest):
            left = Ratings.of(rest, LABELS)
            shared = left.label[left.shared[left.item]]
            if len(shared) and (shared != shared[0]).any():
                expected = krippendorff_alpha(left).value
        assert annotator.alpha_without == (None if expected is None else pytest.approx(expected))
        own_labels = data[data["annotator"] == annotator.annotator].set_index("item")["label"]
        shares = [
            (others["label"] == own_labels[item]).mean()
            for item, others in rest.groupby("item")
            if item in own_labels.index
        ]
        assert annotator.items == len(shares)
        assert annotator.percent == (pytest.approx(np.mean(shares)) if shares else None)
