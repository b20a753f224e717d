"""Intervals against published numbers, brute force, exact coverage, and properties that hold for all counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from audit.errors import AuditError, UnknownName
from audit.statistics.intervals import METHODS, Interval, bounds, choose, get_method, hypergeometric, wilson


@st.composite
def samples(draw, most=300):
    """k false of n judged out of N."""
    population = draw(st.integers(1, most))
    n = draw(st.integers(1, population))
    return draw(st.integers(0, n)), n, population


# 81 of 263 is the example of Newcombe, Statistics in Medicine 17 (1998), table I, method 3; the others worked by hand.
@pytest.mark.parametrize(
    ("k", "n", "low", "high"), [(81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611), (20, 20, 0.8389, 1.0)]
)
def test_wilson_gives_the_published_ends(k, n, low, high):
    assert wilson(k, n).rounded(4) == (low, high)


# Exact limits on the number of false ones in the population (Buonaccorsi 1987; checked by the brute force below).
@pytest.mark.parametrize(("sample", "limits"), [((2, 10, 50), (2, 26)), ((0, 30, 1000), (0, 114))])
def test_exact_hypergeometric_gives_the_known_limits(sample, limits):
    assert hypergeometric(*sample, mid=False).of(sample[2]) == limits


@pytest.mark.parametrize("sample", [(2, 10, 50), (0, 30, 100), (17, 40, 60), (1, 2, 3), (5, 5, 9), (3, 7, 7)])
@pytest.mark.parametrize("mid", [True, False])
def test_inversion_agrees_with_trying_every_population(sample, mid):
    k, n, population = sample
    half = 0.5 if mid else 0.0
    kept = []
    for false in range(k, population - n + k + 1):
        at_k = hypergeom.pmf(k, population, false, n)
        above = hypergeom.sf(k - 1, population, false, n) - half * at_k
        below = hypergeom.cdf(k, population, false, n) - half * at_k
        if above > 0.025 and below > 0.025:
            kept.append(false / population)
    found = hypergeometric(*sample, mid=mid)
    assert (found.low, found.high) == pytest.approx((min(kept[0], k / n), max(kept[-1], k / n)))


def test_finite_correction_uses_the_effective_sample_size():
    # n (N - 1) / (N - n) = 50 * 99 / 50 = 99 judged groups of an endless population.
    low, high = wilson(20, 50, 100).rounded(9)
    z2 = 1.959963984540054**2
    centre = (0.4 + z2 / 198) / (1 + z2 / 99)
    half = (z2 * 0.4 * 0.6 / 99 + z2 * z2 / (4 * 99 * 99)) ** 0.5 / (1 + z2 / 99)
    assert (low, high) == pytest.approx((centre - half, centre + half), abs=1e-9)


@pytest.mark.parametrize("name", METHODS)
@given(sample=samples())
@settings(max_examples=60, deadline=None)
def test_an_interval_contains_its_estimate_and_stays_possible(name, sample):
    k, n, population = sample
    found = METHODS[name](k, n, population)
    assert 0 <= found.low <= k / n <= found.high <= 1
    if n == population and name not in ("clopper-pearson", "jeffreys"):  # those two ignore the finite population
        assert found.low == found.high == k / n


@pytest.mark.parametrize("name", METHODS)
@given(sample=samples(120))
@settings(max_examples=40, deadline=None)
def test_false_and_true_are_treated_alike(name, sample):
    k, n, population = sample
    one, other = METHODS[name](k, n, population), METHODS[name](n - k, n, population)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low))


@given(sample=samples(120))
@settings(max_examples=60, deadline=None)
def test_exact_holds_mid_p_and_more_confidence_is_wider(sample):
    exact, mid = hypergeometric(*sample, mid=False), hypergeometric(*sample)
    assert exact.low <= mid.low <= mid.high <= exact.high
    wider = choose(*sample, confidence=0.99)
    usual = choose(*sample)
    assert wider.low <= usual.low <= usual.high <= wider.high


@given(n=st.integers(1, 400))
@settings(max_examples=40, deadline=None)
def test_endless_population_gives_the_widest_wilson_interval(n):
    k = n // 3
    endless, finite = wilson(k, n), wilson(k, n, 2 * n)
    assert endless.low <= finite.low <= finite.high <= endless.high


def test_choose_takes_the_exact_method_where_wilson_is_weak():
    methods = {sample: choose(*sample).method for sample in [(10, 29, 90), (0, 60, 90), (60, 60, 90), (9, 60, 90)]}
    assert set(methods.values()) == {"mid-p hypergeometric"}
    assert choose(10, 60, 90).method == "wilson"


def coverage(method, n, population):
    """Probability, for every possible number of false groups, that the interval contains the true rate."""
    found = [method(k, n, population) for k in range(n + 1)]
    low, high = (np.array([getattr(each, end) for each in found]) for end in ("low", "high"))
    covered = []
    for false in range(population + 1):
        holds = (low <= false / population + 1e-12) & (high >= false / population - 1e-12)
        covered.append(float(hypergeom.pmf(np.arange(n + 1), population, false, n) @ holds))
    return np.array(covered)


@pytest.mark.parametrize(("n", "population"), [(8, 60), (20, 120), (40, 120), (60, 300)])
def test_coverage_by_enumeration(n, population):
    # Exact: at least 95 % whatever the truth is. Default: 95 % on average over all truths and never far below.
    assert coverage(METHODS["hypergeometric"], n, population).min() >= 0.95
    default = coverage(choose, n, population)
    assert default.mean() >= 0.95
    assert default.min() >= 0.90


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ((-1, 10, 20), "-1 false of 10"),
        ((11, 10, 20), "allowed are 0 to 10"),
        ((0, -3, 20), "-3 judged"),
        ((5, 21, 20), "21 judged of 20 satisfied"),
    ],
)
@pytest.mark.parametrize("name", METHODS)
def test_impossible_counts_are_named(name, counts, says):
    with pytest.raises(AuditError, match=says):
        METHODS[name](*counts)


def test_confidence_is_checked():
    with pytest.raises(AuditError, match="between 0 and 1"):
        wilson(1, 2, 3, confidence=95)


def test_nothing_judged_says_nothing():
    assert choose(0, 0, 50).rounded(3) == wilson(0, 0).rounded(3) == (0.0, 1.0)


def test_bounds_are_those_of_each_cell():
    low, high = bounds([0, 12, 0], [20, 60, 20], [400, 500, 400])
    expected = [choose(0, 20, 400), choose(12, 60, 500), choose(0, 20, 400)]
    assert low.tolist() == [each.low for each in expected]
    assert high.tolist() == [each.high for each in expected]


def test_methods_by_name():
    assert get_method("hypergeometric")(2, 10, 50) == Interval(2 / 50, 26 / 50, "exact hypergeometric")
    with pytest.raises(UnknownName, match="auto, clopper-pearson, hypergeometric, jeffreys, midp, sequence, wilson"):
        get_method("wald")
