"""Rates of groups that were asked with known inclusion probabilities: cells, roll-ups and slices by one function.

A source has one random number u and is asked when u is at most its threshold q, so q is its inclusion probability given
the numbers of the others (rank conditioning: Cohen and Kaplan, SIGMETRICS 2009). Every answered group counts with 1/q,
in whichever cell and round its source was asked.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, stdtrit

EVENTS, FEW = 2.0, 10
"""Clusters of copies that are mixed into a variance beside the clusters seen with a hit, or a miss, since few tell it
badly; and below how many of them the ends are Clopper and Pearson's. Both from simulations of rare false satisfactions."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate with the ends of its interval, and the number of independent observations that say as much."""

    value: float
    low: float
    high: float
    size: float


def bottom_k(u: np.ndarray, lists: list[np.ndarray], n: int) -> np.ndarray:
    """Return the inclusion probability (sources,) of every source when the first `n` of each list are asked.

    `u` (sources,) are random numbers, `lists` arrays of sources (places in `u`). Of a source among the first n of a
    list the threshold is the n-th number of the others, which is the (n + 1)-th of all; of the rest it is the n-th.
    The largest over the lists counts. A list of n sources or fewer is asked whole.

    >>> bottom_k(np.array([0.1, 0.5, 0.3, 0.9]), [np.array([0, 1, 2, 3])], 2).tolist()
    [0.5, 0.3, 0.5, 0.3]
    """
    q = np.zeros(len(u))
    for members in lists:
        if len(members) <= n:
            q[members] = 1.0
        else:
            nth, following = np.partition(u[members], [n - 1, n])[[n - 1, n]]
            q[members] = np.maximum(q[members], np.where(u[members] <= nth, following, nth))
    return q


def weighted_rate(
    value: np.ndarray,
    q: np.ndarray,
    stratum: np.ndarray,
    sizes: np.ndarray,
    cluster: np.ndarray,
    *,
    finite: bool,
    confidence: float = 0.95,
) -> Rate | None:
    """Return the share of hits among the groups of some strata, from those that were answered; None where a stratum
    has groups and no answer.

    `value` (0 or 1), `q`, `stratum` (codes) and `cluster` (codes of sources, or of documents) have a value for each
    answered group; `sizes` (strata,) are all groups of each stratum. The estimate is Hajek's in each stratum, weighted
    by its size. With `finite` the rate is that of these groups, whose sources' (1 - q) is the finite correction, else
    of the texts that they come from. The interval is a beta interval at an effective size: that of as many independent
    observations as have the linearised variance between clusters (Korn and Graubard, Survey Methodology 24, 1998). As
    few clusters with a hit, or a miss, tell the variance badly, `EVENTS` clusters of copies are mixed in: all groups of
    a cluster alike, which weights alone tell.
    """
    share = np.asarray(sizes, float) / np.sum(sizes)
    value, w, left = np.asarray(value, float), 1 / q, (1 - q if finite else np.ones(len(q)))
    total = np.bincount(stratum, w, len(share))
    if (total[share > 0] == 0).any():
        return None
    a = (share / np.where(total > 0, total, 1))[stratum] * w
    means = np.bincount(stratum, w * value, len(share)) / np.where(total > 0, total, 1)
    p = float(share @ means)
    code = np.unique(cluster, return_inverse=True)[1]
    hits, misses = (len(np.unique(code[(value == kind) & (a > 0)])) for kind in (1, 0))
    root = np.sqrt(left) * a
    copies, alone = float((np.bincount(code, root) ** 2).sum()), float((root**2).sum())
    if copies <= 0:  # all were asked
        return Rate(p, p, p, np.inf)
    number = int(code.max()) + 1
    size, seen = 1 / copies, min(hits, misses)
    if seen and number > 1:
        v = float((np.bincount(code, root * (value - means[stratum])) ** 2).sum()) * number / (number - 1)
        mixed = seen / (seen + EVENTS) * v / max(p * (1 - p), 1e-12) + EVENTS / (seen + EVENTS) * copies
        size = min(1 / mixed, 1 / alone)
    if number > 1 and number < len(value):
        tail = (1 + confidence) / 2
        size *= float((stdtrit(np.inf, tail) / stdtrit(number - 1, tail)) ** 2)
    low, high = ends(p, size, seen, confidence)
    if finite:
        known = [np.bincount(stratum, value == kind, len(share)) for kind in (1, 0)]
        of = np.where(share > 0, share / np.maximum(sizes, 1), 0)
        low, high = max(low, float(of @ known[0])), min(high, 1 - float(of @ known[1]))
    return Rate(p, low, high, size)


def ends(p: float, size: float, events: int, confidence: float) -> tuple[float, float]:
    """The ends of a beta interval for a rate seen in `size` observations: Jeffreys', or with fewer than `FEW` `events` (the
    fewer of hits and misses) Clopper and Pearson's."""
    k, tail, more = p * size, (1 - confidence) / 2, 0.0 if events < FEW else 0.5
    low = 0.0 if p <= 0 else float(betaincinv(k + more, size - k + 1 - more, tail))
    high = 1.0 if p >= 1 else float(betaincinv(k + 1 - more, size - k + more, 1 - tail))
    return min(low, p), max(high, p)
