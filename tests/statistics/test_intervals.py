"""Intervals against published numbers, brute force, exact coverage, and properties that hold for all counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from audit.errors import AuditError
from audit.statistics.intervals import mid_p


@st.composite
def samples(draw, most=300):
    """k false of n judged out of N."""
    population = draw(st.integers(1, most))
    n = draw(st.integers(1, population))
    return draw(st.integers(0, n)), n, population


# Newcombe, Statistics in Medicine 17 (1998), table I, method 6 (mid-p): 81 of 263, 15 of 148, 0 of 20.
@pytest.mark.parametrize(
    ("k", "n", "ends"), [(81, 263, (0.2544, 0.3658)), (15, 148, (0.0601, 0.1581)), (0, 20, (0.0, 0.1391))]
)
def test_mid_p_gives_the_published_ends(k, n, ends):
    assert mid_p(k, n).rounded(4) == ends


def test_mid_p_ends_are_where_the_tail_is_the_risk():
    low, high = mid_p(7, 40).low, mid_p(7, 40).high
    assert binom.sf(7, 40, low) + binom.pmf(7, 40, low) / 2 == pytest.approx(0.025)
    assert binom.cdf(6, 40, high) + binom.pmf(7, 40, high) / 2 == pytest.approx(0.025)


def test_the_finite_interval_tends_to_the_endless_one_which_takes_fractions():
    finite, endless = mid_p(9, 60, 10**6), mid_p(9, 60, None)
    assert (finite.low, finite.high) == pytest.approx((endless.low, endless.high), abs=1e-4)
    between = mid_p(9.3, 62.0)
    assert mid_p(9, 62).high < between.high < mid_p(10, 62).high


@pytest.mark.parametrize("sample", [(2, 10, 50), (0, 30, 100), (17, 40, 60), (1, 2, 3), (5, 5, 9), (3, 7, 7)])
def test_inversion_agrees_with_trying_every_population(sample):
    k, n, population = sample
    kept = []
    for false in range(k, population - n + k + 1):
        at_k = hypergeom.pmf(k, population, false, n)
        above = hypergeom.sf(k - 1, population, false, n) - at_k / 2
        below = hypergeom.cdf(k, population, false, n) - at_k / 2
        if above > 0.025 and below > 0.025:
            kept.append(false / population)
    interval = mid_p(*sample)
    assert (interval.low, interval.high) == pytest.approx((min(kept[0], k / n), max(kept[-1], k / n)))


@given(sample=samples())
@settings(max_examples=60, deadline=None)
def test_an_interval_contains_its_estimate_and_stays_possible(sample):
    k, n, population = sample
    interval = mid_p(k, n, population)
    assert 0 <= interval.low <= k / n <= interval.high <= 1
    if n == population:
        assert interval.low == interval.high == k / n


@given(sample=samples(120))
@settings(max_examples=40, deadline=None)
def test_false_and_true_are_treated_alike(sample):
    k, n, population = sample
    interval, mirrored = mid_p(k, n, population), mid_p(n - k, n, population)
    assert (interval.low, interval.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))


@given(sample=samples(120))
@settings(max_examples=60, deadline=None)
def test_more_confidence_is_wider(sample):
    wider, usual = mid_p(*sample, confidence=0.99), mid_p(*sample)
    assert wider.low <= usual.low <= usual.high <= wider.high


def coverage(method, n, population):
    """Probability, for every possible number of false groups, that the interval contains the true rate."""
    intervals = [method(k, n, population) for k in range(n + 1)]
    low, high = (np.array([getattr(each, end) for each in intervals]) for end in ("low", "high"))
    covered = []
    for false in range(population + 1):
        holds = (low <= false / population + 1e-12) & (high >= false / population - 1e-12)
        covered.append(float(hypergeom.pmf(np.arange(n + 1), population, false, n) @ holds))
    return np.array(covered)


# The last seven are near a census, where Wilson's interval with a finite population correction held in .80 to .90 only.
NEAR = [(60, 61), (60, 62), (60, 63), (59, 60), (99, 100), (990, 1000), (3, 5)]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "population"), [(8, 60), (20, 120), (40, 120), (60, 300), *NEAR])
def test_coverage_by_enumeration(n, population):
    held = coverage(mid_p, n, population)
    assert held.mean() >= 0.95
    assert held.min() >= 0.91


@pytest.mark.slow
def test_coverage_of_every_small_sample_of_every_small_cell():
    coverages = {(n, of): coverage(mid_p, n, of) for of in range(1, 71) for n in range(1, of + 1)}
    assert min(of_cell.min() for of_cell in coverages.values()) >= 0.9 - 1e-9
    assert sum(of_cell.min() < 0.91 for of_cell in coverages.values()) == 27
    assert min(of_cell.mean() for of_cell in coverages.values()) >= 0.95


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ((-1, 10, 20), "-1 false of 10"),
        ((11, 10, 20), "allowed are 0 to 10"),
        ((0, -3, 20), "-3 judged"),
        ((5, 21, 20), "21 judged of 20 satisfied"),
    ],
)
def test_impossible_counts_are_named(counts, says):
    with pytest.raises(AuditError, match=says):
        mid_p(*counts)


def test_confidence_is_checked():
    with pytest.raises(AuditError, match="between 0 and 1"):
        mid_p(1, 2, 3, confidence=95)


def test_nothing_judged_says_nothing():
    assert mid_p(0, 0, 50).rounded(3) == mid_p(0, 0).rounded(3) == (0.0, 1.0)
