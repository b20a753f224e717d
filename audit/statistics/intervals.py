"""Intervals for the rate of a finite population from which a simple random sample was judged.

A cell has `population` satisfied groups; `n` of them were judged and `k` of those are false. The rate that is asked
for is the share of false groups in the *population*, so an interval shrinks to a point when everything was judged.

>>> wilson(81, 263).rounded(4)
(0.2553, 0.3662)
>>> hypergeometric(2, 10, 50, mid=False).of(50)
(2, 26)
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Protocol

import numpy as np
from scipy.special import gammaln, ndtri

from audit.errors import AuditError, UnknownName

MID_P_BELOW = 30
"""Samples smaller than this get the exact method in `choose`."""
FEW = 10
"""So do samples with fewer false or fewer true groups than this. With Wilson there, 60 of 300 judged, coverage falls
to 80 % where few are false (exact enumeration); mid-p stays above 91 % and is no wider (docs/report.md)."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Rates between which the population's rate lies, both in [0, 1], and the method that found them."""

    low: float
    high: float
    method: str

    def rounded(self, digits: int) -> tuple[float, float]:
        """Both ends, rounded, for reading.

        >>> Interval(0.12345, 0.5, "wilson").rounded(2)
        (0.12, 0.5)
        """
        return round(self.low, digits), round(self.high, digits)

    def of(self, population: int) -> tuple[int, int]:
        """Both ends as numbers of groups out of `population`.

        >>> Interval(0.1, 0.3, "exact").of(10)
        (1, 3)
        """
        return round(self.low * population), round(self.high * population)


class Estimator(Protocol):
    """What every method looks like: k false of n judged out of `population` -> interval."""

    def __call__(self, k: int, n: int, population: int, *, confidence: float = 0.95) -> Interval: ...


def wilson(k: int, n: int, population: int | None = None, confidence: float = 0.95) -> Interval:
    """Wilson's score interval, with the finite population correction where a population is given.

    The correction replaces n by the effective size n (N - 1) / (N - n), which is infinite, and the interval a point,
    when all N were judged. The ends never leave what is still possible: k false ones were seen and n - k true ones.
    Nothing judged gives 0 to 1. Raises AuditError on impossible counts. Source: Wilson, JASA 22 (1927); effective
    size after Cochran, Sampling Techniques (1977), section 3.

    >>> wilson(0, 20).rounded(4)
    (0.0, 0.1611)
    >>> wilson(3, 10, 10)
    Interval(low=0.3, high=0.3, method='wilson')
    """
    _check(k, n, population, confidence)
    if n == 0:
        return Interval(0.0, 1.0, "wilson")
    rate = k / n
    if population == n:
        return Interval(rate, rate, "wilson")
    size = float(n) if population is None else n * (population - 1) / (population - n)
    z = float(ndtri((1 + confidence) / 2))
    shrink = 1 + z * z / size
    centre = (rate + z * z / (2 * size)) / shrink
    half = z * math.sqrt(rate * (1 - rate) / size + z * z / (4 * size * size)) / shrink
    least, most = (0.0, 1.0) if population is None else (k / population, (population - n + k) / population)
    # The estimate itself is always inside; at k = 0 and k = n only rounding could put it outside.
    low = min(max(centre - half, least), rate) if k else 0.0
    high = max(min(centre + half, most), rate) if k < n else 1.0
    return Interval(low, high, "wilson")


def hypergeometric(k: int, n: int, population: int, mid: bool = True, confidence: float = 0.95) -> Interval:
    """Inversion of the two one-sided tests on the number of false groups in the population, as rates.

    All K are kept for which neither tail, P(X >= k | K) nor P(X <= k | K), is at most (1 - confidence) / 2. With
    `mid` (the default) the observed k counts half in its tail, which takes away most of the exact method's caution;
    without it the interval covers at least `confidence` whatever K is. Nothing judged gives 0 to 1. Raises AuditError
    on impossible counts. Source: Buonaccorsi, The American Statistician 41 (1987); mid-p: Lancaster, JASA 56 (1961).

    >>> hypergeometric(0, 30, 1000, mid=False).of(1000)
    (0, 114)
    """
    _check(k, n, population, confidence)
    method = "mid-p hypergeometric" if mid else "exact hypergeometric"
    if n == 0:
        return Interval(0.0, 1.0, method)
    fewest, most = _inverted(k, n, population, mid, confidence)
    # Whole numbers of groups cannot always hit k / n (1 of 2 from 3): the interval is widened to hold its estimate.
    return Interval(min(fewest / population, k / n), max(most / population, k / n), method)


def choose(k: int, n: int, population: int, *, confidence: float = 0.95) -> Interval:
    """The default: mid-p hypergeometric for n < 30 or fewer than 10 false or true groups, else Wilson with correction.

    >>> choose(2, 60, 500).method, choose(12, 60, 500).method
    ('mid-p hypergeometric', 'wilson')
    """
    if n < MID_P_BELOW or min(k, n - k) < FEW:
        return hypergeometric(k, n, population, confidence=confidence)
    return wilson(k, n, population, confidence=confidence)


METHODS: dict[str, Estimator] = {
    "auto": choose,
    "wilson": wilson,
    "midp": hypergeometric,
    "hypergeometric": partial(hypergeometric, mid=False),
}
"""Methods by the name that commands and signatures use."""


def get_method(name: str) -> Estimator:
    """The method of this name. Raises UnknownName, which lists the known ones."""
    if name not in METHODS:
        raise UnknownName("interval method", name, list(METHODS))
    return METHODS[name]


def bounds(
    k: Iterable[int],
    n: Iterable[int],
    population: Iterable[int],
    method: Estimator = choose,
    confidence: float = 0.95,
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper rates of many cells: three sequences of one length -> two float arrays of that length.

    Equal cells are computed once, so a benchmark over thousands of redraws is cheap.

    >>> low, high = bounds([0, 12], [20, 60], [400, 500])
    >>> low.shape == high.shape == (2,)
    True
    """
    known: dict[tuple[int, int, int], Interval] = {}
    found = []
    for cell in zip(k, n, population, strict=True):
        if cell not in known:
            known[cell] = method(*cell, confidence=confidence)
        found.append(known[cell])
    return np.array([each.low for each in found], float), np.array([each.high for each in found], float)


def _check(k: int, n: int, population: int | None, confidence: float) -> None:
    if n < 0:
        raise AuditError(f"{n} judged groups are impossible; a count is 0 or more")
    if not 0 <= k <= n:
        raise AuditError(f"{k} false of {n} judged groups is impossible; allowed are 0 to {n}")
    if population is not None and n > population:
        raise AuditError(f"{n} judged of {population} satisfied groups is impossible; allowed are 0 to {population}")
    if not 0 < confidence < 1:
        raise AuditError(f"confidence {confidence} is impossible; it lies between 0 and 1, for example 0.95")


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
