"""Exact and mid-p intervals for a rate of a finite population, by inversion of the hypergeometric test."""

from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from audit.statistics.binomial import binomial_mid_p, clopper_pearson
from audit.statistics.bounded import Interval, check_counts


def hypergeometric(k: int, n: int, population: int | None, mid: bool = True, confidence: float = 0.95) -> Interval:
    """Inversion of the two one-sided tests on the number of false groups in the population, as rates.

    All K are kept for which neither tail, P(X >= k | K) nor P(X <= k | K), is at most (1 - confidence) / 2. With
    `mid` (the default) the observed k counts half in its tail, which takes away most of the exact method's caution;
    without it the interval covers at least `confidence` whatever K is. With `population` None it is what the method
    becomes in an endless population: Clopper-Pearson, or its mid-p form. Nothing judged gives 0 to 1. Raises AuditError
    on impossible counts. Source: Buonaccorsi, The American Statistician 41 (1987); mid-p: Lancaster, JASA 56 (1961).

    >>> hypergeometric(0, 30, 1000, mid=False).of(1000)
    (0, 114)
    """
    check_counts(k, n, population, confidence)
    method = "mid-p hypergeometric" if mid else "exact hypergeometric"
    if n == 0:
        return Interval(0.0, 1.0, method)
    if population is None:
        return binomial_mid_p(k, n, confidence=confidence) if mid else clopper_pearson(k, n, confidence=confidence)
    fewest, most = _inverted(k, n, population, mid, confidence)
    # Whole numbers of groups cannot always hit k / n (1 of 2 from 3): the interval is widened to hold its estimate.
    return Interval(min(fewest / population, k / n), max(most / population, k / n), method)


@lru_cache(maxsize=65536)
def _inverted(k: int, n: int, population: int, mid: bool, confidence: float) -> tuple[int, int]:
    """Fewest and most false groups in the population that the sample does not speak against."""
    risk = (1 - confidence) / 2
    least, most = k, population - n + k
    low, high = least, most
    while low < high:  # the upper tail grows with K: find the first K where it exceeds the risk
        middle = (low + high) // 2
        if _tail(k, n, population, middle, mid, upper=True) > risk:
            high = middle
        else:
            low = middle + 1
    fewest = low
    low, high = least, most
    while low < high:  # the lower tail falls with K: find the last K where it exceeds the risk
        middle = (low + high + 1) // 2
        if _tail(k, n, population, middle, mid, upper=False) > risk:
            low = middle
        else:
            high = middle - 1
    return fewest, low


def _tail(k: int, n: int, population: int, false: int, mid: bool, *, upper: bool) -> float:
    """P(X >= k) or P(X <= k) for X false ones among n drawn, when `false` of the population are; k itself halved."""
    seen = np.arange(k, min(n, false) + 1) if upper else np.arange(max(0, n - population + false), k + 1)
    chances = np.exp(
        _log_choose(false, seen) + _log_choose(population - false, n - seen) - _log_choose(population, np.array(n))
    )
    at_k = float(chances[0] if upper else chances[-1])
    return float(chances.sum()) - (at_k / 2 if mid else 0.0)


def _log_choose(total: int, chosen: np.ndarray) -> np.ndarray:
    return gammaln(total + 1) - gammaln(chosen + 1) - gammaln(total - chosen + 1)
