"""Sequences that hold at every number of judgements at once."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from audit.errors import AuditError
from audit.statistics.intervals import (
    evidence_above,
    pair_p,
    pair_sequence,
    prior_posterior,
    sizes_for_prior_posterior,
    sum_sequence,
)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 60))
def test_prior_posterior_keeps_exactly_the_numbers_that_its_definition_keeps(k, n, population):
    n = min(n, population)
    k = min(k, n)
    interval = prior_posterior(k, n, population)
    if n == 0:
        assert (interval.low, interval.high) == (0, 1)
        return
    # Waudby-Smith and Ramdas (2020), theorem 2.1: prior / posterior < 1 / alpha; uniform prior, by enumeration.
    every = np.arange(population + 1)
    likelihood = hypergeom.pmf(k, population, every, n)
    kept = every[likelihood / likelihood.mean() > 0.05] / population
    assert interval.low == pytest.approx(min(kept.min(), k / n))
    assert interval.high == pytest.approx(max(kept.max(), k / n))


def test_prior_posterior_holds_at_all_looks_together():
    rng = np.random.default_rng(5)
    population, false, missed = 400, 120, 0
    for _ in range(200):
        order = np.zeros(population, int)
        order[rng.permutation(population)[:false]] = 1
        seen = np.cumsum(order)
        looks = range(5, population, 5)
        intervals = [prior_posterior(int(seen[n - 1]), n, population) for n in looks]
        missed += any(not interval.low <= false / population <= interval.high for interval in intervals)
    assert missed / 200 <= 0.05


def test_sizes_reach_their_half_width():
    exact = int(sizes_for_prior_posterior(0.3, 1000, 0.05)[0])
    at = prior_posterior(round(0.3 * exact), exact, 1000)
    assert (at.high - at.low) / 2 <= 0.05
    assert sizes_for_prior_posterior([0.3], [0], 0.05).tolist() == [0]


KINDS = ((0, 1), (-1, 0), (-1, 1))


@pytest.mark.parametrize(
    ("values", "kinds", "ranges"),
    [
        ([1, 1, 0, -1, 0, 0], [0] * 6, ((-1, 1),)),
        ([1, 0, -1, 0, 1, -1], [0, 0, 1, 1, 2, 2], KINDS),
    ],
)
def test_betting_against_the_truth_is_fair_in_every_order(values, kinds, ranges):
    # By enumeration of all orders: at the true sum the capital is 1 on average after any number of values.
    sizes = np.bincount(kinds, minlength=len(ranges))
    rows = [np.array(order) for order in permutations(zip(values, kinds, strict=True))]
    paths = [evidence_above(row[:, 0], sum(values), row[:, 1], sizes, ranges) for row in rows]
    assert np.exp(paths).mean(axis=0) == pytest.approx(np.ones(6))
    # Against a larger sum the same bets lose, and against a smaller one they win.
    for total, more in ((sum(values) + 1, False), (sum(values) - 1, True)):
        paths = [evidence_above(row[:4, 0], total, row[:4, 1], sizes, ranges) for row in rows]
        assert ((np.exp(paths)[:, :2].mean(axis=0) > 1) == more).all()


def test_evidence_worked_by_hand():
    # Ten values of -1 to 1 of which the first two are 1. Against a sum of 0: first 0 is allowed on average, the largest
    # loss is 1 and the gain 1, so that a part f of the capital becomes 1 + f. Then -1/9 is allowed, the loss is 8/9 and
    # the gain 10/9: 1 + f 10/8.
    parts = 0.02 * 2.0 ** np.arange(6)
    expected = np.log([(1 + parts).mean(), ((1 + parts) * (1 + parts * 10 / 8)).mean()])
    assert evidence_above([1, 1], 0, [0, 0], [10]) == pytest.approx(expected)
    assert evidence_above([1] * 6, 0, [0] * 6, [10])[-1] == math.inf  # four values cannot take six away


@pytest.mark.parametrize(
    "shares",
    [(0.02, 0), (0.05, 0), (0.1, 0), (0.9, 0.02), (0.03, 0.01), (0.3, 0.3), (0.05, 0.05)],
)
def test_pair_sequences_hold_at_every_look_together(shares):
    # Few groups differ, or in one direction: there sequences of normal approximations miss in up to .16 of runs.
    rng = np.random.default_rng(8)
    plus, minus = (round(1000 * share) for share in shares)
    population = np.repeat([1, -1, 0], [plus, minus, 1000 - plus - minus])
    missed, kinds = 0, np.zeros(1000, int)
    for _ in range(250):
        values = rng.permutation(population)
        against = [evidence_above(sign * values, sign * (plus - minus), kinds, [1000]) for sign in (1, -1)]
        missed += max(path.max() for path in against) >= math.log(2 / 0.05)
    assert missed / 250 <= 0.05


@settings(max_examples=40)
@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=30), st.integers(0, 30))
def test_the_ends_of_a_pair_are_what_evidence_leaves(values, more):
    population = len(values) + more
    low, high = pair_sequence(values, population)
    mean, kinds = sum(values) / len(values), [0] * len(values)
    kept = []
    for total in range(-population, population + 1):
        possible = abs(total - sum(values)) <= more
        against = max(
            evidence_above(np.multiply(sign, values), sign * total, kinds, [population]).max() for sign in (1, -1)
        )
        kept += [total / population] if possible and against < math.log(40) else []
    assert (low, high) == pytest.approx((min([*kept, mean]), max([*kept, mean])))
    if more:
        assert (pair_p(values, population) <= 0.05) == (0 not in kept)
    else:
        assert low == high == mean
        assert pair_p(values, population) == float(mean == 0)


def test_kinds_make_the_sum_of_a_list_surer():
    rng = np.random.default_rng(9)
    kinds = rng.permutation(np.repeat([0, 1], 500))
    values = np.where(kinds == 0, rng.random(1000) < 0.7, -(rng.random(1000) < 0.7).astype(int))
    apart = sum_sequence(values[:200], kinds[:200], [500, 500, 0], KINDS)
    together = sum_sequence(values[:200], np.zeros(200, int), [1000])
    assert apart[1] - apart[0] < 0.7 * (together[1] - together[0])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: prior_posterior(3, 2, 10), "3 false of 2 judged"),
        (lambda: prior_posterior(1, 2, 10, confidence=0), "confidence 0"),
        (lambda: pair_sequence([1, 0], 1), "2 judged of 1 informative"),
        (lambda: pair_sequence([1, 0.5], 10), "difference 1 .from 0. is 0.5"),
        (lambda: pair_sequence([1], 10, confidence=1), "confidence 1"),
    ],
)
def test_impossible_numbers_are_named(call, says):
    with pytest.raises(AuditError, match=says):
        call()
