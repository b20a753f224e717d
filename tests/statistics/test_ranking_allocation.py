"""Contests of systems: which groups inform, when it is decided, what to judge next."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from audit.errors import AuditError
from audit.statistics.planning import contest, expected_deviation, first_groups, needed_to_decide, pairs_of, standing


def random_contest(seed, size=400, systems=3):
    rng = np.random.default_rng(seed)
    satisfied = rng.random((size, systems)) < 0.8
    label = rng.integers(0, 2, (size, systems))
    right = label == 0  # equal outputs are right or wrong together
    return contest(satisfied, label), (satisfied & right).astype(float)


def values_of(comparison, y, n=None):
    return [
        y[groups[:n], i] - y[groups[:n], j] for (i, j), groups in zip(comparison.pairs, comparison.groups, strict=True)
    ]


@given(st.integers(0, 50))
def test_groups_that_are_left_out_add_exactly_nothing(seed):
    comparison, y = random_contest(seed, 60)
    for (i, j), groups in zip(comparison.pairs, comparison.groups, strict=True):
        others = np.setdiff1d(np.arange(60), groups)
        assert (y[others, i] == y[others, j]).all()


@given(st.integers(0, 50))
def test_everything_judged_gives_the_true_differences_and_no_doubt(seed):
    comparison, y = random_contest(seed, 60)
    at = standing(comparison, values_of(comparison, y), "order", delta=0)
    mean = y.mean(axis=0)
    assert at.difference == pytest.approx(mean[:, None] - mean[None, :])
    assert at.decided
    assert at.risk == 0
    assert at.low == pytest.approx(at.high)
    assert (np.diff(mean[list(at.order)]) <= 1e-12).all()


def test_a_difference_worked_by_hand():
    # 60 groups satisfy only the first system, 40 only the second, 100 neither. Judged are 20 of each kind in turn; the
    # first is right in 10 of 20, the second in 5. With two values in the middle of the range (1/2, -1/2) the means of
    # the kinds are 11 / 22 = 1/2 and -6 / 22, so that the sum of the informative 100 is 60 / 2 - 40 x 6 / 22 plus 100
    # times what these means leave on average: (0 x 20 + (-5 / 20 + 6 / 22) x 20) / 40.
    satisfied = np.array([[1, 0], [0, 1]] * 20 + [[1, 0]] * 40 + [[0, 1]] * 20 + [[0, 0]] * 100)
    comparison = contest(satisfied, np.zeros((200, 2)))
    seen = np.ravel(np.column_stack([[1, 0] * 10, [-1, 0, 0, 0] * 5]))
    at = standing(comparison, [seen])
    expected = 30 - 240 / 22 + 100 * (-5 / 20 + 6 / 22) / 2
    assert at.difference[0, 1] == pytest.approx(expected / 200)
    # Deviations from the means: 20 x 1/4 of the first kind, 5 (16/22)^2 + 15 (6/22)^2 of the second, and half a unit.
    squares = 5 + 5 * (16 / 22) ** 2 + 15 * (6 / 22) ** 2 + 0.5
    assert at.deviation[0] == pytest.approx(0.5 * math.sqrt(squares / 40.5))


def test_nothing_judged_is_undecided_with_all_that_is_possible():
    comparison, _ = random_contest(1)
    at = standing(comparison, [[]] * 3)
    assert not at.decided
    assert at.risk == 1
    for (i, j), kinds in zip(comparison.pairs, comparison.kinds, strict=True):
        # A group that only i satisfies adds 0 or 1, one that only j satisfies -1 or 0, one that both do -1 to 1.
        first, second, both = np.bincount(kinds, minlength=3) / comparison.common
        assert (at.low[i, j], at.high[i, j]) == pytest.approx((-second - both, first + both))


def test_no_system_wins_that_is_known_to_be_worse():
    # The pair 0-1 is judged entirely and 0 leads by .075; of 0-2 twenty are judged, all against 0; of 1-2 twenty, all
    # for 1. That 1 leads in most pairs does not make it the winner.
    n = 400
    satisfied = np.ones((n, 3), bool)
    comparison = contest(satisfied, np.tile([0, 1, 2], (n, 1)))
    first = np.zeros(n)
    first[:30] = 1
    for goal in ("winner", "order"):
        at = standing(comparison, [first, [-1] * 20, [1] * 20], goal)
        assert not at.decided
        assert at.risk == 1
        assert at.p[1, 0] == 1
    # What is known of 0-2 by as many groups as refute 0 as well: 2 is left, and it may win.
    at = standing(comparison, [first, [-1] * n, [-1] * 200])
    assert (at.order[0], at.decided) == (2, True)


@given(st.integers(0, 200), st.sampled_from([0.0, 0.02, 0.1]), st.sampled_from(["winner", "order"]))
def test_what_is_decided_has_its_risk_and_its_intervals_behind_it(seed, delta, goal):
    comparison, y = random_contest(seed, 120)
    n = np.random.default_rng(seed).integers(0, 120, 3)
    values = [values_of_pair[:k] for values_of_pair, k in zip(values_of(comparison, y), n, strict=True)]
    at = standing(comparison, values, goal, delta)
    rests = [(a, b) for k, a in enumerate(at.order) for b in at.order[k + 1 :] if goal == "order" or not k]
    assert at.decided == all(at.p[pair] <= 0.05 / len(rests) for pair in rests)
    assert at.risk == pytest.approx(min(sum(at.p[pair] for pair in rests), 1))
    assert at.decided != at.open_pairs.any()
    assert (at.low <= at.difference + 1e-12).all()
    assert (at.difference <= at.high + 1e-12).all()
    # A pair is known to be right at the joint level of the intervals only where the decision's evidence is as strong.
    for pair in rests:
        if at.low[pair] >= -delta:
            assert at.p[pair] <= 0.05 / len(rests)


def test_what_needs_no_judgement_is_decided_without():
    # The first satisfies all, the second one of 100 with another output: it can lead by one group at most.
    satisfied = np.array([[1, 0]] * 99 + [[1, 1]])
    at = standing(contest(satisfied, np.tile([0, 1], (100, 1))), [[]])
    assert (at.decided, at.risk, at.order) == (True, 0, (0, 1))


def test_identical_systems_are_equal_without_any_judgement():
    comparison = contest(np.ones((50, 2)), np.ones((50, 2)))
    at = standing(comparison, [[]])
    assert at.decided
    assert at.difference.tolist() == [[0, 0], [0, 0]]


def test_only_pairs_of_the_leader_matter_for_the_winner():
    rng = np.random.default_rng(0)
    satisfied = np.ones((2000, 3), bool)
    label = np.tile([0, 1, 2], (2000, 1))
    y = rng.random((2000, 3)) < [0.9, 0.3, 0.3]
    comparison = contest(satisfied, label)
    values = values_of(comparison, y.astype(float), 60)
    winner, order = (standing(comparison, values, goal) for goal in ("winner", "order"))
    assert winner.decided
    assert winner.order[0] == 0
    assert not order.decided
    assert order.open_pairs.tolist() == [False, False, True]  # systems 1 and 2 are alike


def test_needed_worked_by_hand():
    # Bechhofer: n = (z sd / delta)^2 with one comparison at 95 %: z = 1.6449; (1.6449 x .5 / .02)^2 = 1691.
    assert float(needed_to_decide(0.0, 0.5, 1, stops=False)) == pytest.approx((norm.ppf(0.95) * 25) ** 2)
    # log(20) = 2.996 and 2 for the mixture, at (.1 / .5)^2 / 2 = 1/50 a group.
    assert float(needed_to_decide(0.08, 0.5, 1)) == pytest.approx(50 * (math.log(20) + 2))


def test_the_first_groups_of_pairs_as_groups_of_the_relation():
    # Groups 0, 2, 3 tell 0 and 1 apart, group 1 does not; pair (1, 2) has only group 3.
    comparison = contest([[1, 0, 0], [0, 0, 1], [1, 0, 1], [0, 1, 0]], [[1, 1, 1]] * 4)
    assert [positions.tolist() for positions in comparison.groups] == [[0, 2, 3], [0, 1], [1, 2, 3]]
    assert first_groups(comparison, [2, 0, 0]) == 3
    assert first_groups(comparison, [0, 2, 1]) == 2
    assert first_groups(comparison, [0, 0, 0]) == 0


def test_the_expected_spread_is_less_than_the_worst():
    comparison, _ = random_contest(3)
    assert (expected_deviation(comparison, 0.3) < expected_deviation(comparison)).all()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda comparison: standing(comparison, [[]]), "1 lists of differences for 3 pairs"),
        (lambda comparison: standing(comparison, [[float("nan")], [], []]), "difference 0 "),
        (lambda comparison: standing(comparison, [[0.5], [], []]), "whole number from"),
        (lambda comparison: standing(comparison, [[0.0] * 500, [], []]), "500 judged of"),
        (lambda comparison: standing(comparison, [[]] * 3, delta=1), "delta of 1"),
        (lambda comparison: standing(comparison, [[]] * 3, confidence=1), "confidence 1"),
        (lambda comparison: standing(comparison, [[]] * 3, "best"), "'best' is not known"),
        (lambda _: contest([[1], [0]], [[1], [1]]), "2 or more"),
        (lambda _: needed_to_decide(0.1, 0.5, 1, delta=0), "delta of 0"),
        (lambda _: needed_to_decide(-0.1, 0.5, 1), "0 or more"),
        (lambda _: pairs_of("loser", 3), "'loser' is not known"),
    ],
)
def test_impossible_input_is_named(call, says):
    with pytest.raises(AuditError, match=says):
        call(random_contest(0)[0])
