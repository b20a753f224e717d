"""Intervals for a share: of independent observations, whole or not, and of observations in clusters.

>>> mid_p(81, 263).rounded(4), wilson(81, 263).rounded(4), effective_interval(81 / 263, 263).rounded(4)
((0.2544, 0.3658), (0.2553, 0.3662), (0.2527, 0.3676))
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import betainc, betaincinv, ndtri, stdtrit

from audit.errors import UnknownName

Target = Literal["population", "corpus"]
TARGETS: tuple[Target, ...] = ("population", "corpus")
"""What a rate is about: the texts that the corpus was drawn from, the default, since people choose a system for texts
to come; or this corpus alone, whose satisfied groups are a finite population."""


def get_target(name: str | None, proxies: bool = False) -> Target:
    """The target of this name; of None the default: texts to come, or the corpus where only it can be spoken of, as
    with proxies. Raises UnknownName, which lists the known ones.

    >>> get_target(None), get_target(None, proxies=True), get_target("corpus")
    ('population', 'corpus', 'corpus')
    """
    if name is None:
        return "corpus" if proxies else TARGETS[0]
    for target in TARGETS:
        if target == name:
            return target
    raise UnknownName("target", name, list(TARGETS))


class Interval(NamedTuple):
    """Rates between which the true rate lies, both in [0, 1]."""

    low: float
    high: float

    def rounded(self, digits: int) -> tuple[float, float]:
        """Both ends, rounded, for reading."""
        return round(self.low, digits), round(self.high, digits)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rate with the ends of its interval, all in [0, 1]."""

    rate: float
    low: float
    high: float


# Of independent observations.


@lru_cache(maxsize=65536)
def mid_p(k: float, n: float, confidence: float = 0.95) -> Interval:
    """All rates at which neither tail of k hits among n observations, k itself counted half, is at most half of the
    risk. Both may be fractions, an effective size. Nothing observed gives 0 to 1.

    Covers about `confidence` on average over rates and seldom much less at any of them. Source: Berry and Armitage, The
    Statistician 44 (1995); mid-p: Lancaster, JASA 56 (1961).
    """
    if n == 0:
        return Interval(0.0, 1.0)
    risk, rate = (1 - confidence) / 2, k / n

    def above(share: float) -> float:
        """P(X > k) + P(X = k) / 2: the mean of P(X > k) and P(X >= k)."""
        more = float(betainc(k + 1, n - k, share)) if k < n else 0.0
        return (more + (float(betainc(k, n - k + 1, share)) if k > 0 else 1.0)) / 2

    from scipy.optimize import brentq  # a second to import, and hardly ever used

    # Both tails hold about half of the probability at k / n, so each end lies between that and 0 or 1.
    low = min(brentq(lambda share: above(share) - risk, 0.0, 1.0), rate) if k > 0 else 0.0
    high = max(brentq(lambda share: 1 - above(share) - risk, 0.0, 1.0), rate) if k < n else 1.0
    return Interval(low, high)


def wilson(k: int, n: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval, JASA 22 (1927). Nothing observed gives 0 to 1.

    >>> wilson(0, 20).rounded(4)
    (0.0, 0.1611)
    """
    if n == 0:
        return Interval(0.0, 1.0)
    rate, z = k / n, float(ndtri((1 + confidence) / 2))
    shrink = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / shrink
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / shrink
    # At rates of 0 and 1 only rounding could put the estimate outside.
    return Interval(max(min(centre - half, rate), 0.0), min(max(centre + half, rate), 1.0))


def difference_of_rates(first: Estimate, second: Estimate) -> tuple[float, float, float]:
    """The first rate less the second, independent of it, and the ends of an interval recovered from theirs.

    Source: Newcombe, Statistics in Medicine 17 (1998), method 10; MOVER: Zou and Donner, ibid. 27 (2008).

    >>> [round(end, 3) for end in difference_of_rates(Estimate(0.8, 0.7, 0.9), Estimate(0.6, 0.5, 0.7))]
    [0.2, 0.059, 0.341]
    """
    difference = first.rate - second.rate
    below = math.hypot(first.rate - first.low, second.high - second.rate)
    above = math.hypot(first.high - first.rate, second.rate - second.low)
    return difference, max(difference - below, -1.0), min(difference + above, 1.0)


# Of observations in clusters: the exact interval, at the size that they are worth.

EVENTS = 0.5
"""Clusters of copies that are mixed in beside those seen with a hit, or a miss, since few tell the variance badly."""


def effective_interval(rate: float, size: float, confidence: float = 0.95) -> Interval:
    """Clopper and Pearson's interval for `rate` seen in `size` independent observations, which need not be whole.

    A size of 0 gives 0 to 1. Source: Korn and Graubard, Survey Methodology 24 (1998), who put an effective sample size
    into the exact interval.
    """
    risk, hits = (1 - confidence) / 2, rate * size
    low = float(betaincinv(hits, size - hits + 1, risk)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, size - hits, 1 - risk)) if hits < size else 1.0
    return Interval(low, high)


def effective_size(
    cluster: np.ndarray, hit: np.ndarray, confidence: float = 0.95, weight: np.ndarray | None = None
) -> float:
    """How many independent observations these are worth: `cluster` has a code, `hit` 0 or 1 for each of n.

    The rate's variance between clusters (linearised, with `weight` one that is weighed so) is compared with that of
    independent observations, times (t(n - 1) / t(clusters - 1))^2, since few clusters tell the variance badly; at most
    n, or with weights (sum w)^2 / sum w^2. Where few clusters have a hit, or few a miss, it is told worse still, and
    too small where the rate is: `EVENTS` clusters whose members are copies of each other are mixed in (Kish, Survey
    Sampling 1965: n^2 / sum of squared cluster sizes), which are all there is where all are hits or none is. Source:
    Korn and Graubard, Survey Methodology 24 (1998).

    >>> round(effective_size(np.arange(20), np.arange(20) < 5), 6)
    20.0
    >>> round(effective_size(np.arange(20) // 2, np.arange(20) < 0), 6)
    10.0
    """
    if not (n := len(hit)):
        return 0.0
    code = np.unique(cluster, return_inverse=True)[1]
    share = np.full(n, 1 / n) if weight is None else np.asarray(weight, float) / np.sum(weight)
    hits = np.bincount(code, share * np.asarray(hit, float))
    return _worth(np.bincount(code, share), hits, n, n if weight is None else 1 / float((share**2).sum()), confidence)


def effective_size_of_sums(hits: np.ndarray, size: np.ndarray, confidence: float = 0.95) -> float:
    """`effective_size` from counts by cluster: `size` observations in each, 1 or more, `hits` of them hits.

    >>> round(effective_size_of_sums(np.array([2, 0, 1]), np.array([2, 2, 2])), 4)
    1.2355
    >>> round(effective_size(np.array([0, 0, 1, 1, 2, 2]), np.array([1, 1, 0, 0, 1, 0])), 4)
    1.2355
    """
    n = float(np.sum(size))
    return _worth(size / n, hits / n, n, n, confidence) if n else 0.0


def _worth(sizes: np.ndarray, hits: np.ndarray, n: float, most: float, confidence: float) -> float:
    """The effective size of `n` observations from the shares of all that clusters hold, and of these the hits."""
    number, rate = len(sizes), float(hits.sum())
    variance = float(((hits - rate * sizes) ** 2).sum()) * number / max(number - 1, 1)
    copies = 1 / float((sizes**2).sum())
    if min(rate, 1 - rate) < 1e-12 or number == 1:
        return min(most, copies)
    worth = most if variance <= 0 or most <= 1 else most / (most - 1) * rate * (1 - rate) / variance
    seen = min(int((hits > 1e-12).sum()), int((sizes - hits > 1e-12).sum()))
    worth = 1 / (seen / (seen + EVENTS) / worth + EVENTS / (seen + EVENTS) / copies)
    if number < n:
        risk = (1 + confidence) / 2
        worth *= float((stdtrit(n - 1, risk) / stdtrit(number - 1, risk)) ** 2)
    return min(most, worth)


def rate_of_clusters(
    cluster: np.ndarray, hit: np.ndarray, confidence: float = 0.95
) -> tuple[float | None, float | None, float | None]:
    """The share of hits and the exact interval at its `effective_size`; None of no observation.

    >>> rate, low, high = rate_of_clusters(np.arange(20), np.zeros(20))
    >>> rate, low, round(high, 4)
    (0.0, 0.0, 0.1684)
    """
    if not len(hit):
        return None, None, None
    rate = float(np.mean(hit))
    return rate, *effective_interval(rate, effective_size(cluster, hit, confidence), confidence)
