"""Differences of ratings in pairs, and what violations are worth: by hand, at the ends, and against simulated truth."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.statistics.validity import OutcomePairs, is_valid, paired_difference, violations_worth

NONE = np.zeros(0)


def test_a_follow_up_is_valid_where_it_is_good_or_little_worse_than_its_source():
    source = np.array([[5, 5], [2, 2], [5, 5], [14 / 3, 5], [5, 5]])
    follow_up = np.array([[4, 4], [1, 1], [3.9, 5], [11 / 3, 5], [5, 1]])
    assert is_valid(source, follow_up).tolist() == [True, True, False, True, False]


def test_the_interval_by_hand():
    # Sum of squares 2 and 2 * 2.5^2 imagined: sqrt((4 + 2) / (4 + 1) * 14.5) / 6 = 0.6952; t(3) = 3.1824.
    estimate = paired_difference(np.array([-1, 0, 0, 1]), np.arange(4))
    assert estimate.rate == 0
    assert (estimate.low, estimate.high) == pytest.approx((-2.2125, 2.2125), abs=1e-4)


def test_no_interval_without_two_clusters_and_none_beyond_the_scale():
    assert paired_difference(NONE, NONE) is None
    assert paired_difference(np.array([-1, -2]), np.zeros(2)) is None
    assert paired_difference(np.array([-4, -4]), np.arange(2)).low == -4


def pairs(groups, invalid, first=0):
    return OutcomePairs(groups, np.array(invalid, bool), np.arange(first, first + len(invalid)))


def test_points_need_ten_pairs_of_either_outcome():
    unsound, _ = violations_worth(pairs(500, [False] * 40), pairs(100, [True] * 4 + [False] * 5, 100))
    assert math.isnan(unsound.rate)
    assert unsound.low < 4 / 9 < unsound.high
    unsound, rate = violations_worth(pairs(500, [False] * 40), pairs(100, [True] * 4 + [False] * 6, 100))
    assert (unsound.rate, rate.rate) == (0.4, pytest.approx(60 / 560))


def test_few_violations_are_bounded_by_the_share_of_all_groups():
    # Of 1,000 groups 500 are violated; none of 99 satisfied and the one violated pair is invalid.
    unsound, _ = violations_worth(pairs(500, [False] * 99), pairs(500, [False], 100))
    assert unsound.high < 0.15  # one pair alone would say up to 0.99


@settings(max_examples=40)
@given(
    st.integers(0, 40), st.integers(0, 40), st.lists(st.booleans(), max_size=12), st.lists(st.booleans(), max_size=12)
)
def test_every_estimate_lies_in_its_interval(satisfied, violated, of_satisfied, of_violated):
    parts = pairs(satisfied + len(of_satisfied), of_satisfied), pairs(violated + len(of_violated), of_violated, 50)
    for estimate in violations_worth(*parts):
        assert 0 <= estimate.low <= estimate.high <= 1
        assert math.isnan(estimate.rate) or estimate.low - 1e-9 <= estimate.rate <= estimate.high + 1e-9


@pytest.mark.parametrize("shares", [(0.05, 0.5), (0.5, 0.0)])
def test_the_rate_without_invalid_groups_is_covered_whatever_validity_has_to_do_with_outcomes(shares):
    random = np.random.default_rng(2)
    violated = np.arange(400) < 80
    invalid = np.where(violated, np.arange(400) < 80 * shares[1], np.arange(400) < 80 + 320 * shares[0])
    truth = (violated & ~invalid).sum() / (~invalid).sum()
    covered = 0
    for _ in range(100):
        drawn = random.choice(400, 40, replace=False)
        parts = [OutcomePairs(number, invalid[rows], rows) for number, rows in (
            (320, drawn[~violated[drawn]]), (80, drawn[violated[drawn]])
        )]  # fmt: skip
        _, rate = violations_worth(*parts)
        covered += rate.low <= truth <= rate.high
    assert covered >= 95
