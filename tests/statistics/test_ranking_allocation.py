"""Contests of systems: which groups inform, when it is decided, what to judge next."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from audit.errors import AuditError
from audit.statistics.ranking_allocation import (
    LEAST,
    contest,
    expected_deviation,
    needed_to_decide,
    pairs_of,
    standing,
)


def random_contest(seed, size=400, systems=3):
    rng = np.random.default_rng(seed)
    satisfied = rng.random((size, systems)) < 0.8
    label = rng.integers(0, 2, (size, systems))
    right = label == 0  # equal outputs are right or wrong together
    return contest(satisfied, label), (satisfied & right).astype(float)


def values_of(made, y, n=None):
    return [y[groups[:n], i] - y[groups[:n], j] for (i, j), groups in zip(made.pairs, made.groups, strict=True)]


@given(st.integers(0, 50))
def test_groups_that_are_left_out_add_exactly_nothing(seed):
    made, y = random_contest(seed, 60)
    for (i, j), groups in zip(made.pairs, made.groups, strict=True):
        others = np.setdiff1d(np.arange(60), groups)
        assert (y[others, i] == y[others, j]).all()


@given(st.integers(0, 50))
def test_everything_judged_gives_the_true_differences_and_no_doubt(seed):
    made, y = random_contest(seed, 60)
    at = standing(made, values_of(made, y), "order", delta=0)
    mean = y.mean(axis=0)
    assert at.difference == pytest.approx(mean[:, None] - mean[None, :])
    assert at.decided
    assert at.risk == 0
    assert at.low == pytest.approx(at.high)
    assert (np.diff(mean[list(at.order)]) <= 1e-12).all()


def test_a_stratified_difference_worked_by_hand():
    # 60 groups satisfy only the first system, 40 only the second, 100 neither. Judged are 20 of each kind in turn; the
    # first is right in 10 of 20, the second in 5: .3 x .5 - .2 x .25 = .1 (the plain mean would give .0625).
    satisfied = np.array([[1, 0], [0, 1]] * 20 + [[1, 0]] * 40 + [[0, 1]] * 20 + [[0, 0]] * 100)
    made = contest(satisfied, np.zeros((200, 2)))
    first, second = ([1, 0] * 10, [-1, 0, 0, 0] * 5)
    seen = np.ravel(np.column_stack([first, second]))
    at = standing(made, [seen])
    assert at.difference[0, 1] == pytest.approx(0.1)
    # Variances of the kinds with half a unit more: (10 - 20/4 + .5) / 20.5 and (5 - 20/16 + .5) / 20.5, weights .6
    # and .4 of the 100 informative groups, effective size 40 x 99 / 60, half of all groups informative.
    variance = 0.36 * (5.5 / 20.5) / 20 + 0.16 * (4.25 / 20.5) / 20
    assert at.error[0, 1] == pytest.approx(0.5 * math.sqrt(variance * 40 / 66))


def test_nothing_judged_is_undecided_and_wants_a_beginning_of_every_pair():
    made, _ = random_contest(1)
    at = standing(made, [[]] * 3)
    assert not at.decided
    assert at.wanted.tolist() == [LEAST] * 3


def test_identical_systems_are_equal_without_any_judgement():
    made = contest(np.ones((50, 2)), np.ones((50, 2)))
    at = standing(made, [[]])
    assert at.decided
    assert at.difference.tolist() == [[0, 0], [0, 0]]


def test_only_pairs_of_the_leader_matter_for_the_winner():
    rng = np.random.default_rng(0)
    satisfied = np.ones((2000, 3), bool)
    label = np.tile([0, 1, 2], (2000, 1))
    y = rng.random((2000, 3)) < [0.9, 0.3, 0.3]
    made = contest(satisfied, label)
    values = values_of(made, y.astype(float), 60)
    winner, order = (standing(made, values, goal) for goal in ("winner", "order"))
    assert winner.decided
    assert winner.order[0] == 0
    assert not order.decided
    assert order.wanted.tolist() == [0, 0, 75]  # systems 1 and 2 are alike: a quarter more for this pair alone


def test_the_sequence_is_more_careful_than_the_posterior():
    # y is 1 in 12 of 24 groups for the first system and never for the second, but only 24 are judged.
    made = contest(np.ones((4000, 2)), np.tile([0, 1], (4000, 1)))
    seen = [[1.0, 0.0] * 12]
    assert standing(made, seen).decided
    assert not standing(made, seen, always_valid=True).decided


def test_needed_worked_by_hand():
    # Bechhofer: n = (z sd / delta)^2 with one comparison at 95 %: z = 1.6449; (1.6449 x .5 / .02)^2 = 1691.
    assert float(needed_to_decide(0.0, 0.5, 1, stops=False)) == pytest.approx((norm.ppf(0.95) * 25) ** 2)
    assert float(needed_to_decide(0.08, 0.5, 1)) == pytest.approx((norm.ppf(0.95) * 5) ** 2)


def test_the_expected_spread_is_less_than_the_worst():
    made, _ = random_contest(3)
    assert (expected_deviation(made, 0.3) < expected_deviation(made)).all()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda made: standing(made, [[]]), "1 lists of differences for 3 pairs"),
        (lambda made: standing(made, [[float("nan")], [], []]), "difference 0 "),
        (lambda made: standing(made, [[0.0] * 500, [], []]), "500 judged of"),
        (lambda made: standing(made, [[]] * 3, delta=1), "delta of 1"),
        (lambda made: standing(made, [[]] * 3, confidence=1), "confidence 1"),
        (lambda made: standing(made, [[]] * 3, "best"), "'best' is not known"),
        (lambda made: contest([[1], [0]], [[1], [1]]), "2 or more"),
        (lambda made: needed_to_decide(0.1, 0.5, 1, delta=0), "delta of 0"),
        (lambda made: needed_to_decide(-0.1, 0.5, 1), "0 or more"),
        (lambda made: pairs_of("loser", 3), "'loser' is not known"),
    ],
)
def test_impossible_input_is_named(call, says):
    with pytest.raises(AuditError, match=says):
        call(random_contest(0)[0])
