"""An interval for a rate whose observations are not independent: the exact one, at the size that they are worth."""

import numpy as np
from scipy.special import betaincinv
from scipy.stats import t

from audit.errors import AuditError
from audit.statistics.bounded import Interval


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


def effective_size(cluster: np.ndarray, hit: np.ndarray, confidence: float = 0.95) -> float:
    """How many independent observations these are worth: `cluster` has a code, `hit` 0 or 1 for each of n.

    n over the design effect of the mean, which compares its variance between clusters with that of n independent
    observations, and times (t(n - 1) / t(clusters - 1))^2, since few clusters tell the variance badly; at most n. Where
    all are hits or none is, the design effect is not seen: then n^2 / sum of squared cluster sizes, which takes the
    members of a cluster for copies of each other (Kish, Survey Sampling 1965). Source: Korn and Graubard, Survey
    Methodology 24 (1998).

    >>> effective_size(np.arange(20), np.arange(20) < 5)
    20.0
    >>> effective_size(np.arange(20) // 2, np.arange(20) < 0)
    10.0
    """
    n = len(hit)
    if n != len(cluster):
        raise AuditError(f"{len(cluster)} clusters and {n} observations; needed is one cluster for each observation")
    if not n:
        return 0.0
    _, code = np.unique(np.asarray(cluster), return_inverse=True)
    sizes = np.bincount(code).astype(float)
    number, rate = len(sizes), float(np.mean(hit))
    if rate in (0.0, 1.0) or number == 1:
        return float(n * n / (sizes**2).sum())
    totals = np.bincount(code, weights=np.asarray(hit, float) - rate)
    variance = number / (number - 1) * float((totals**2).sum()) / n**2
    worth = n * rate * (1 - rate) / (n - 1) / variance if variance > 0 else float(n)
    if number < n:
        risk = (1 + confidence) / 2
        worth *= float((t.ppf(risk, n - 1) / t.ppf(risk, number - 1)) ** 2)
    return min(float(n), worth)
