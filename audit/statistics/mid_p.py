"""The mid-p interval for a rate of a finite or an endless population, by inversion of the two one-sided tests."""

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, gammaln

from audit.statistics.bounded import Interval, check_counts

HYPERGEOMETRIC = "mid-p hypergeometric"
BINOMIAL = "mid-p binomial"


def mid_p(k: float, n: float, population: int | None = None, *, confidence: float = 0.95) -> Interval:
    """All rates at which neither tail of k false among n judged, k itself counted half, is at most half of the risk.

    With a `population` the rate is that of its groups, of which n were drawn without replacement: the interval shrinks
    to a point when all are judged. With None it is the rate of an endless population; k and n may be fractions there,
    an effective sample size (`audit.statistics.effective`). Covers about `confidence` on average over rates and seldom
    much less at any of them (docs/report.md). Nothing judged gives 0 to 1. Raises AuditError on impossible counts.
    Source: Buonaccorsi, The American Statistician 41 (1987); mid-p: Lancaster, JASA 56 (1961); Berry and Armitage, The
    Statistician 44 (1995).

    >>> mid_p(81, 263).rounded(4), mid_p(3, 20, 90).rounded(4), mid_p(3, 10, 10).rounded(4)
    ((0.2544, 0.3658), (0.0556, 0.3222), (0.3, 0.3))
    """
    check_counts(k, n, population, confidence)
    method = BINOMIAL if population is None else HYPERGEOMETRIC
    if n == 0:
        return Interval(0.0, 1.0, method)
    if population is None:
        return Interval(*_binomial(k, n, confidence), method)
    fewest, most = _inverted(int(k), int(n), population, confidence)
    # Whole numbers of groups cannot always hit k / n (1 of 2 from 3): the interval is widened to hold its estimate.
    return Interval(min(fewest / population, k / n), max(most / population, k / n), method)


@lru_cache(maxsize=65536)
def _binomial(k: float, n: float, confidence: float) -> tuple[float, float]:
    risk = (1 - confidence) / 2
    rate = k / n

    def above(share: float) -> float:
        """P(X > k) + P(X = k) / 2: the mean of P(X > k) and P(X >= k)."""
        more = float(betainc(k + 1, n - k, share)) if k < n else 0.0
        return (more + (float(betainc(k, n - k + 1, share)) if k > 0 else 1.0)) / 2

    # Both tails hold about half of the probability at k / n, so each end lies between that and 0 or 1.
    low = min(brentq(lambda share: above(share) - risk, 0.0, 1.0), rate) if k > 0 else 0.0
    high = max(brentq(lambda share: 1 - above(share) - risk, 0.0, 1.0), rate) if k < n else 1.0
    return low, high


@lru_cache(maxsize=65536)
def _inverted(k: int, n: int, population: int, confidence: float) -> tuple[int, int]:
    """Fewest and most false groups in the population that the sample does not speak against."""
    risk = (1 - confidence) / 2
    least, most = k, population - n + k
    low, high = least, most
    while low < high:  # the upper tail grows with K: find the first K where it exceeds the risk
        middle = (low + high) // 2
        if _tail(k, n, population, middle, upper=True) > risk:
            high = middle
        else:
            low = middle + 1
    fewest = low
    low, high = least, most
    while low < high:  # the lower tail falls with K: find the last K where it exceeds the risk
        middle = (low + high + 1) // 2
        if _tail(k, n, population, middle, upper=False) > risk:
            low = middle
        else:
            high = middle - 1
    return fewest, low


def _tail(k: int, n: int, population: int, false: int, *, upper: bool) -> float:
    """P(X >= k) or P(X <= k) for X false ones among n drawn, when `false` of the population are; k itself halved."""
    seen = np.arange(k, min(n, false) + 1) if upper else np.arange(max(0, n - population + false), k + 1)
    chances = np.exp(
        _log_choose(false, seen) + _log_choose(population - false, n - seen) - _log_choose(population, np.array(n))
    )
    return float(chances.sum()) - float(chances[0] if upper else chances[-1]) / 2


def _log_choose(total: int, chosen: np.ndarray) -> np.ndarray:
    return gammaln(total + 1) - gammaln(chosen + 1) - gammaln(total - chosen + 1)
