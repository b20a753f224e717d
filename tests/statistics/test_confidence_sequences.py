"""Sequences that hold at every number of judgements at once."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from audit.errors import AuditError
from audit.statistics.confidence_sequences import (
    asymptotic,
    asymptotic_half_width,
    asymptotic_p,
    prior_posterior,
    sizes_for_prior_posterior,
    sizes_for_sequence,
)


def test_half_width_worked_by_hand():
    # Waudby-Smith et al. (2024), theorem 2.2 with t = 100, alpha = .05. At the tightest point t* = 100 appendix B.2
    # has t r^2 = -W_{-1}(-alpha^2 / e) - 1; x = t r^2 solves x = log(x + 1) - 2 log alpha: x = 8.2136...
    x = 8.0
    for _ in range(100):
        x = math.log(x + 1) - 2 * math.log(0.05)
    expected = 0.5 * math.sqrt(2 * (x + 1) / (100 * x) * math.log(math.sqrt(x + 1) / 0.05))
    assert float(asymptotic_half_width(100, 0.5, tightest_at=100)) == pytest.approx(expected, rel=1e-9)


def test_it_is_tightest_relative_to_a_fixed_interval_where_it_was_told_to_be():
    sizes = np.arange(50, 2000)
    ratio = asymptotic_half_width(sizes, 0.5, tightest_at=400) * np.sqrt(sizes)
    assert sizes[np.argmin(ratio)] == pytest.approx(400, abs=1)
    assert ratio.min() / (0.5 * 1.96) == pytest.approx(1.56, abs=0.02)  # half as wide again as at a fixed n


def test_the_sequence_closes_when_everything_is_judged():
    assert asymptotic([0.0, 1.0, 1.0, 0.0], 4) == (0.5, 0.5)
    assert asymptotic([0.0] * 10, 100) == (-math.inf, math.inf)


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
        missed += any(not one.low <= false / population <= one.high for one in intervals)
    assert missed / 200 <= 0.05


def test_a_fixed_interval_does_not_hold_at_all_looks_and_the_asymptotic_sequence_does():
    rng = np.random.default_rng(6)
    sizes = np.arange(30, 2000, 10)
    fixed = sequence = 0
    for _ in range(300):
        mean = np.cumsum(rng.random(2000) < 0.3)[sizes - 1] / sizes
        deviation = np.sqrt(mean * (1 - mean))
        fixed += (np.abs(mean - 0.3) > 1.96 * deviation / np.sqrt(sizes)).any()
        sequence += (np.abs(mean - 0.3) > asymptotic_half_width(sizes, deviation)).any()
    assert fixed / 300 > 0.2
    assert sequence / 300 <= 0.05


def test_always_valid_p_worked_by_hand():
    # 100 of 10,000 values, 30 of them 1, the others 0: v = 100 x 9999 / 9900 = 101; variance (100 x .3 x .7 + 1) / 101.
    # x = v r^2 with 400 r^2 = 8.2136... (see above); p = sqrt(x + 1) exp(-.3^2 / variance x v x / (2 (x + 1))).
    mixing = 8.0
    for _ in range(100):
        mixing = math.log(mixing + 1) - 2 * math.log(0.05)
    v, variance = 101.0, 22 / 101
    x = v * mixing / 400
    expected = math.sqrt(x + 1) * math.exp(-0.09 / variance * v * x / (2 * (x + 1)))
    assert asymptotic_p([1.0] * 30 + [0.0] * 70, 10_000) == pytest.approx(expected, rel=1e-9)
    assert asymptotic_p([1.0] * 29, 10_000) == 1.0
    assert (asymptotic_p([1.0, -1.0], 2), asymptotic_p([1.0, 1.0], 2)) == (1.0, 0.0)


@given(st.integers(0, 150), st.integers(0, 150), st.integers(0, 150), st.integers(1, 2000), st.floats(0.5, 0.99))
def test_p_is_below_alpha_exactly_where_the_sequence_leaves_out_0(plus, minus, nothing, more, confidence):
    values = np.repeat([1.0, -1.0, 0.0], [plus, minus, nothing])
    if len(values) < 30:
        return
    low, high = asymptotic(values, len(values) + more, confidence)
    p = asymptotic_p(values, len(values) + more, confidence)
    assert 0 <= p <= 1
    if abs(low) > 1e-9 and abs(high) > 1e-9:
        assert (p < 1 - confidence) == (low > 0 or high < 0)


def test_sizes_reach_their_half_width():
    n = int(sizes_for_sequence(0.5, 1000, 0.05))
    ends = [asymptotic_half_width(size * 999 / (1000 - size), 0.5) for size in (n - 1, n)]
    assert ends[0] > 0.05 >= ends[1]
    exact = int(sizes_for_prior_posterior(0.3, 1000, 0.05)[0])
    at = prior_posterior(round(0.3 * exact), exact, 1000)
    assert (at.high - at.low) / 2 <= 0.05
    assert sizes_for_prior_posterior([0.3], [0], 0.05).tolist() == [0]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: prior_posterior(3, 2, 10), "3 false of 2 judged"),
        (lambda: prior_posterior(1, 2, 10, confidence=0), "confidence 0"),
        (lambda: asymptotic([1.0, 0.0], 1), "2 values of a population of 1"),
        (lambda: asymptotic_p([1.0, 0.0], 1), "2 values of a population of 1"),
        (lambda: asymptotic_p([1.0] * 40, 100, confidence=1), "confidence 1"),
    ],
)
def test_impossible_numbers_are_named(call, says):
    with pytest.raises(AuditError, match=says):
        call()
