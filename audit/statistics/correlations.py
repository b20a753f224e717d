"""How two scores of the same things go together: Pearson's and Spearman's correlation, or why there is none."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy import stats

from audit.errors import AuditError

Numbers = Sequence[float] | np.ndarray
_FEWEST = 3
_EXACT = 8
"""Pairs up to which Spearman's p counts all orders of the ranks: 8! = 40,320."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """One coefficient of `n` pairs, -1 to 1, the p of "there is none" (two-sided), and the ends of an interval.

    What cannot be told is None, and `reason` says why.
    """

    name: str
    n: int
    value: float | None
    p: float | None
    low: float | None
    high: float | None
    reason: str | None = None


def pearson(one: Numbers, other: Numbers, confidence: float = 0.95) -> Correlation:
    """Pearson's r of pairs of numbers; its p by Student's t, its interval by Fisher's z (Biometrika 10, 1915).

    None, with a reason, for fewer than three pairs and where one side is constant; no interval for three pairs or where
    the pairs lie on a line. Raises AuditError for sides of different lengths and numbers that are not finite.

    >>> found = pearson([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    >>> round(found.value, 3), round(found.p, 3), round(found.low, 3), round(found.high, 3)
    (0.8, 0.104, -0.28, 0.986)
    """
    return _correlation("pearson", one, other, confidence)


def spearman(one: Numbers, other: Numbers, confidence: float = 0.95) -> Correlation:
    """Spearman's rho: Pearson's r of ranks, ties with their mean rank.

    p is exact up to eight pairs (all orders of the ranks count alike), by Student's t beyond. The interval is Fisher's
    z with the variance (1 + rho^2 / 2) / (n - 3) (Bonett and Wright, Psychometrika 65, 2000). None as in `pearson`.

    >>> found = spearman([1, 2, 3, 4, 5], [2, 1, 4, 3, 50])
    >>> round(found.value, 3), round(found.p, 3)  # 16 of 120 orders are as far from 0
    (0.8, 0.133)
    """
    return _correlation("spearman", one, other, confidence)


def _correlation(name: str, one: Numbers, other: Numbers, confidence: float) -> Correlation:
    x, y = np.asarray(one, float), np.asarray(other, float)
    if x.shape != y.shape or x.ndim != 1:
        raise AuditError(f"a correlation needs pairs of numbers; {x.size} and {y.size} were given")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise AuditError("a correlation needs finite numbers; leave out pairs in which one is unknown")
    n = len(x)
    if n < _FEWEST:
        return Correlation(name, n, None, None, None, None, f"{n} pairs; a correlation needs {_FEWEST} or more")
    for side in (x, y):
        if np.ptp(side) <= 1e-12 * np.abs(side).max():
            return Correlation(name, n, None, None, None, None, "one side is constant")
    if name == "spearman":
        x, y = stats.rankdata(x), stats.rankdata(y)
    found = stats.pearsonr(x, y)
    value = float(found.statistic)
    on_a_line = 1 - abs(value) < 1e-12
    p = _exact(x, y) if name == "spearman" and n <= _EXACT else 0.0 if on_a_line else float(found.pvalue)
    if n == _FEWEST or on_a_line:
        why = "no interval: all pairs lie on a line" if on_a_line else "no interval: three pairs are too few"
        return Correlation(name, n, round(value) if on_a_line else value, p, None, None, why)
    spread = (1 + value**2 / 2 if name == "spearman" else 1.0) / (n - 3)
    wide = float(stats.norm.isf((1 - confidence) / 2)) * math.sqrt(spread)
    return Correlation(name, n, value, p, math.tanh(math.atanh(value) - wide), math.tanh(math.atanh(value) + wide))


def _exact(x: np.ndarray, y: np.ndarray) -> float:
    """Share of all orders of `y` whose correlation with `x` is as far from 0 as the one seen."""
    x, y = x - x.mean(), y - y.mean()
    all_orders = y[np.array(list(permutations(range(len(y)))))] @ x
    return float(np.mean(np.abs(all_orders) >= abs(x @ y) * (1 - 1e-9)))
