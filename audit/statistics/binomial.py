"""Intervals for the rate of an endless population: Clopper-Pearson, its mid-p form, and Jeffreys.

They ignore a finite population: where a good part of it was judged they are wider than they need to be, and cover
more than they promise (docs/report.md). Each takes `population` as all methods do, but only to refuse counts.
"""

from functools import lru_cache

from scipy.optimize import brentq
from scipy.special import bdtr, bdtrc, betaincinv

from audit.statistics.bounded import Interval, check_counts


def clopper_pearson(k: int, n: int, population: int | None = None, *, confidence: float = 0.95) -> Interval:
    """The exact binomial interval: all rates at which neither tail of k of n is at most (1 - confidence) / 2.

    Covers at least `confidence` whatever the rate is. Nothing judged gives 0 to 1. Raises AuditError on impossible
    counts. Source: Clopper and Pearson, Biometrika 26 (1934).

    >>> clopper_pearson(81, 263).rounded(4)
    (0.2527, 0.3676)
    """
    check_counts(k, n, population, confidence)
    risk = (1 - confidence) / 2
    low = float(betaincinv(k, n - k + 1, risk)) if k else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - risk)) if k < n else 1.0
    return Interval(low, high, "clopper-pearson")


def jeffreys(k: int, n: int, population: int | None = None, *, confidence: float = 0.95) -> Interval:
    """The equal-tailed posterior interval under Jeffreys' prior Beta(1/2, 1/2); 0 at k = 0 and 1 at k = n.

    Covers `confidence` on average over rates, not at each. Nothing judged gives 0 to 1. Raises AuditError on impossible
    counts. Source: Brown, Cai and DasGupta, Statistical Science 16 (2001), section 4.1.2.

    >>> jeffreys(0, 20).rounded(4), jeffreys(5, 20).rounded(4)
    ((0.0, 0.1166), (0.1024, 0.4642))
    """
    check_counts(k, n, population, confidence)
    if n == 0:
        return Interval(0.0, 1.0, "jeffreys")
    risk = (1 - confidence) / 2
    # The estimate is always inside; only at a very low confidence the posterior's middle could leave it out.
    low = min(float(betaincinv(k + 0.5, n - k + 0.5, risk)), k / n) if k else 0.0
    high = max(float(betaincinv(k + 0.5, n - k + 0.5, 1 - risk)), k / n) if k < n else 1.0
    return Interval(low, high, "jeffreys")


def binomial_mid_p(k: int, n: int, population: int | None = None, *, confidence: float = 0.95) -> Interval:
    """Clopper-Pearson with the observed k counted half in its tail, which takes away most of its caution.

    Nothing judged gives 0 to 1. Raises AuditError on impossible counts. Source: Lancaster, JASA 56 (1961); Berry and
    Armitage, The Statistician 44 (1995).

    >>> binomial_mid_p(0, 20).rounded(4)
    (0.0, 0.1391)
    """
    check_counts(k, n, population, confidence)
    if n == 0:
        return Interval(0.0, 1.0, "mid-p binomial")
    low, high = _mid_p(k, n, confidence)
    return Interval(low, high, "mid-p binomial")


@lru_cache(maxsize=65536)
def _mid_p(k: int, n: int, confidence: float) -> tuple[float, float]:
    risk = (1 - confidence) / 2
    rate = k / n

    def above(share: float) -> float:
        """P(X > k) + P(X = k) / 2: the mean of P(X > k) and P(X >= k)."""
        return (float(bdtrc(k, n, share)) + (float(bdtrc(k - 1, n, share)) if k else 1.0)) / 2 - risk

    def below(share: float) -> float:
        return (float(bdtr(k, n, share)) + (float(bdtr(k - 1, n, share)) if k else 0.0)) / 2 - risk

    # Both tails hold about half of the probability at k / n, so each end lies between that and 0 or 1.
    low = min(brentq(above, 0.0, 1.0), rate) if k else 0.0
    high = max(brentq(below, 0.0, 1.0), rate) if k < n else 1.0
    return low, high
