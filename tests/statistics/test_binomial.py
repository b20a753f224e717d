"""Intervals for an endless population: published ends, limits of the finite ones, and coverage of every method."""

import sys
from pathlib import Path

import pytest
from scipy.stats import beta, binom

from audit.errors import AuditError, UnknownName
from audit.statistics.binomial import binomial_mid_p, clopper_pearson, jeffreys
from audit.statistics.intervals import METHODS, SEQUENCE, get_method, get_target, hypergeometric

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from interval_coverage import DESIGNS, coverage


# Newcombe, Statistics in Medicine 17 (1998), table I, method 5; 0 of 20: 1 - (alpha / 2)^(1/20).
@pytest.mark.parametrize(("k", "n", "ends"), [(81, 263, (0.2527, 0.3676)), (0, 20, (0.0, 0.1684)), (0, 0, (0.0, 1.0))])
def test_clopper_pearson_gives_the_published_ends(k, n, ends):
    assert clopper_pearson(k, n).rounded(4) == ends


# Newcombe 1998, table I, method 6 (mid-p): 81 of 263, 15 of 148, 0 of 20.
@pytest.mark.parametrize(
    ("k", "n", "ends"), [(81, 263, (0.2544, 0.3658)), (15, 148, (0.0601, 0.1581)), (0, 20, (0.0, 0.1391))]
)
def test_mid_p_gives_the_published_ends(k, n, ends):
    assert binomial_mid_p(k, n).rounded(4) == ends


# The definition: quantiles of Beta(k + 1/2, n - k + 1/2), with 0 at k = 0 and 1 at k = n (Brown, Cai, DasGupta 2001).
@pytest.mark.parametrize("k", [0, 1, 10, 20])
def test_jeffreys_is_the_posteriors_middle(k):
    found = jeffreys(k, 20)
    ends = [float(beta.ppf(share, k + 0.5, 20.5 - k)) for share in (0.025, 0.975)]
    assert found.low == pytest.approx(ends[0] if k else 0.0)
    assert found.high == pytest.approx(ends[1] if k < 20 else 1.0)


def test_mid_p_ends_are_where_the_tail_is_the_risk():
    low, high = binomial_mid_p(7, 40).low, binomial_mid_p(7, 40).high
    assert binom.sf(7, 40, low) + binom.pmf(7, 40, low) / 2 == pytest.approx(0.025)
    assert binom.cdf(6, 40, high) + binom.pmf(7, 40, high) / 2 == pytest.approx(0.025)


@pytest.mark.parametrize("mid", [True, False])
def test_the_finite_interval_tends_to_the_endless_one(mid):
    finite, endless = hypergeometric(9, 60, 10**6, mid=mid), hypergeometric(9, 60, None, mid=mid)
    assert (finite.low, finite.high) == pytest.approx((endless.low, endless.high), abs=1e-4)


@pytest.mark.parametrize("name", [name for name in METHODS if name != SEQUENCE])
def test_every_method_has_an_interval_for_an_endless_population(name):
    found = METHODS[name](40, 40, None)
    assert 0.85 < found.low < found.high == 1.0


def test_a_sequence_needs_a_finite_population():
    for call in (lambda: METHODS[SEQUENCE](1, 2, None), lambda: get_method(SEQUENCE, "population")):
        with pytest.raises(AuditError, match=r"'sequence' is about this corpus.* choose auto"):
            call()
    assert get_method("wilson", "population") is METHODS["wilson"]


# The issue asks for .93 to .98 on average over R_FS = 0..60 %; the two that ignore the finite population may exceed it.
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("population", "n"), DESIGNS)
def test_coverage_of_95_percent_intervals_by_enumeration(name, population, n):
    _, mean, _ = coverage(name, population, n)
    assert mean >= 0.93
    # A sequence covers more at any one number, because it covers at all of them together.
    assert mean <= 0.98 or name == SEQUENCE or (name in ("clopper-pearson", "jeffreys") and population == 100)


def test_targets_by_name():
    assert get_target("population") == "population"
    with pytest.raises(UnknownName, match="corpus, population"):
        get_target("world")
