"""An interval for a rate whose observations are not independent: the exact one, at the size that they are worth."""

import numpy as np
from scipy.special import betaincinv, stdtrit

from audit.errors import AuditError
from audit.statistics.bounded import Interval

EVENTS = 0.5
"""Clusters of copies that are mixed in beside those seen with a hit, or a miss; by simulation (docs/benchmarks.md)."""


def effective_interval(rate: float, size: float, confidence: float = 0.95) -> Interval:
    """Clopper and Pearson's interval for `rate` seen in `size` independent observations, which need not be whole.

    A size of 0 gives 0 to 1. Raises AuditError on a rate outside 0 to 1 and on a negative size. Source: Korn and
    Graubard, Survey Methodology 24 (1998), who put an effective sample size into the exact interval.

    >>> effective_interval(81 / 263, 263).rounded(4), effective_interval(81 / 263, 131.5).rounded(4)
    ((0.2527, 0.3676), (0.2305, 0.3944))
    """
    if not 0 <= rate <= 1:
        raise AuditError(f"rate {rate:g} is impossible; it lies between 0 and 1")
    if size < 0:
        raise AuditError(f"an effective size of {size:g} is impossible; it is 0 or more")
    risk, hits = (1 - confidence) / 2, rate * size
    low = float(betaincinv(hits, size - hits + 1, risk)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, size - hits, 1 - risk)) if hits < size else 1.0
    return Interval(low, high, "effective size")


def effective_size(
    cluster: np.ndarray, hit: np.ndarray, confidence: float = 0.95, weight: np.ndarray | None = None
) -> float:
    """How many independent observations these are worth: `cluster` has a code, `hit` 0 or 1 for each of n.

    The rate's variance between clusters (linearised, with `weight` one that is weighed so) is compared with that of
    independent observations, times (t(n - 1) / t(clusters - 1))^2, since few clusters tell the variance badly; at most
    n, or with weights (sum w)^2 / sum w^2. Where few clusters have a hit, or few a miss, it is told worse still, and
    too small where the rate is: `EVENTS` clusters whose members are copies of each other are mixed in (Kish, Survey
    Sampling 1965: n^2 / sum of squared cluster sizes), which are all there is where all are hits or none is. Raises
    AuditError on arrays of different lengths. Source: Korn and Graubard, Survey Methodology 24 (1998).

    >>> round(effective_size(np.arange(20), np.arange(20) < 5), 6)
    20.0
    >>> round(effective_size(np.arange(20) // 2, np.arange(20) < 0), 6)
    10.0
    """
    n = len(hit)
    if n != len(cluster):
        raise AuditError(f"{len(cluster)} clusters and {n} observations; needed is one cluster for each observation")
    if not n:
        return 0.0
    _, code = np.unique(np.asarray(cluster), return_inverse=True)
    share = np.full(n, 1 / n) if weight is None else np.asarray(weight, float) / np.sum(weight)
    held = np.bincount(code, weights=share)
    hits = np.bincount(code, weights=share * np.asarray(hit, float))
    most = float(n) if weight is None else 1 / float((share**2).sum())
    return _worth(held, hits, n, most, confidence)


def effective_size_of_sums(hits: np.ndarray, size: np.ndarray, confidence: float = 0.95) -> float:
    """As `effective_size`, of clusters that are counted already: `size` observations each, `hits` of them hits.

    Clusters without an observation are none. Raises AuditError on arrays of different lengths and on impossible counts.

    >>> round(effective_size_of_sums(np.array([2, 0, 1]), np.array([2, 2, 2])), 4)
    1.2355
    >>> round(effective_size(np.array([0, 0, 1, 1, 2, 2]), np.array([1, 1, 0, 0, 1, 0])), 4)
    1.2355
    """
    found, counts = np.asarray(hits, float), np.asarray(size, float)
    if found.shape != counts.shape:
        raise AuditError(f"{len(found)} hits and {len(counts)} sizes; needed is one of each for every cluster")
    if (found < 0).any() or (found > counts).any():
        raise AuditError("a cluster has fewer than 0 hits, or more than observations; allowed are 0 to its size")
    there = counts > 0
    n = float(counts.sum())
    return _worth(counts[there] / n, found[there] / n, n, n, confidence) if n else 0.0


def _worth(held: np.ndarray, hits: np.ndarray, n: float, most: float, confidence: float) -> float:
    """The effective size of `n` observations from the shares of all that clusters hold, and of these the hits."""
    number, rate = len(held), float(hits.sum())
    variance = float(((hits - rate * held) ** 2).sum()) * number / max(number - 1, 1)
    copies = 1 / float((held**2).sum())
    if min(rate, 1 - rate) < 1e-12 or number == 1:
        return min(most, copies)
    worth = most if variance <= 0 or most <= 1 else most / (most - 1) * rate * (1 - rate) / variance
    seen = min(int((hits > 1e-12).sum()), int((held - hits > 1e-12).sum()))
    worth = 1 / (seen / (seen + EVENTS) / worth + EVENTS / (seen + EVENTS) / copies)
    if number < n:
        risk = (1 + confidence) / 2
        worth *= float((stdtrit(n - 1, risk) / stdtrit(number - 1, risk)) ** 2)
    return min(most, worth)
