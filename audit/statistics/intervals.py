"""Intervals for the rate of a population from which a simple random sample was judged.

A cell has `population` satisfied groups; `n` of them were judged and `k` of those are false. The rate that is asked
for is the share of false groups in the *population*, so an interval shrinks to a point when everything was judged.
With `population` None the rate is that of the endless population the corpus came from.

>>> mid_p(81, 263).rounded(4)
(0.2544, 0.3658)
>>> mid_p(2, 10, 50).of(50)
(3, 24)
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

import numpy as np
from scipy.special import betainc, betaincinv, gammaln, ndtri, stdtrit

from audit.errors import AuditError, UnknownName

# What every interval for a rate is: two ends and the method that found them; and the counts that a method refuses.


@dataclass(frozen=True, slots=True)
class Interval:
    """Rates between which the true rate lies, both in [0, 1], and the method that found them."""

    low: float
    high: float
    method: str

    def rounded(self, digits: int) -> tuple[float, float]:
        """Both ends, rounded, for reading.

        >>> Interval(0.12345, 0.5, "mid-p binomial").rounded(2)
        (0.12, 0.5)
        """
        return round(self.low, digits), round(self.high, digits)

    def of(self, population: int) -> tuple[int, int]:
        """Both ends as numbers of groups out of `population`.

        >>> Interval(0.1, 0.3, "exact").of(10)
        (1, 3)
        """
        return round(self.low * population), round(self.high * population)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rate with the ends of its interval, all in [0, 1]."""

    rate: float
    low: float
    high: float


def check_counts(k: float, n: float, population: int | None, confidence: float) -> None:
    """Raise AuditError, which says what is allowed, on counts or a confidence that cannot be.

    >>> check_counts(2, 10, 50, 0.95)
    """
    if n < 0:
        raise AuditError(f"{n:g} judged groups are impossible; a count is 0 or more")
    if not 0 <= k <= n:
        raise AuditError(f"{k:g} false of {n:g} judged groups is impossible; allowed are 0 to {n:g}")
    if population is not None and n > population:
        raise AuditError(f"{n:g} judged of {population} satisfied groups is impossible; allowed are 0 to {population}")
    check_confidence(confidence)


def check_confidence(confidence: float) -> None:
    """Raise AuditError where a confidence cannot be.

    >>> check_confidence(0.95)
    """
    if not 0 < confidence < 1:
        raise AuditError(f"confidence {confidence:g} is impossible; it lies between 0 and 1, for example 0.95")


# The mid-p interval for a rate of a finite or an endless population, by inversion of the two one-sided tests.

HYPERGEOMETRIC = "mid-p hypergeometric"
BINOMIAL = "mid-p binomial"


def mid_p(k: float, n: float, population: int | None = None, *, confidence: float = 0.95) -> Interval:
    """All rates at which neither tail of k false among n judged, k itself counted half, is at most half of the risk.

    With a `population` the rate is that of its groups, of which n were drawn without replacement: the interval shrinks
    to a point when all are judged. With None it is the rate of an endless population; k and n may be fractions there,
    an effective sample size (`audit.statistics.intervals`). Covers about `confidence` on average over rates and seldom
    much less at any of them (docs/reference/statistics.md). Nothing judged gives 0 to 1. Raises AuditError on
    impossible counts.
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
    return _holding(_inverted(int(k), int(n), population, confidence), k, n, population, method)


def _holding(ends: tuple[int, int], k: float, n: float, population: int, method: str) -> Interval:
    """Ends in groups as rates, made to hold the estimate: whole numbers cannot always hit k / n (1 of 2 from 3)."""
    return Interval(min(ends[0] / population, k / n), max(ends[1] / population, k / n), method)


@lru_cache(maxsize=65536)
def _binomial(k: float, n: float, confidence: float) -> tuple[float, float]:
    risk = (1 - confidence) / 2
    rate = k / n

    def above(share: float) -> float:
        """P(X > k) + P(X = k) / 2: the mean of P(X > k) and P(X >= k)."""
        more = float(betainc(k + 1, n - k, share)) if k < n else 0.0
        return (more + (float(betainc(k, n - k + 1, share)) if k > 0 else 1.0)) / 2

    from scipy.optimize import brentq  # a second to import, and hardly ever used

    # Both tails hold about half of the probability at k / n, so each end lies between that and 0 or 1.
    low = min(brentq(lambda share: above(share) - risk, 0.0, 1.0), rate) if k > 0 else 0.0
    high = max(brentq(lambda share: 1 - above(share) - risk, 0.0, 1.0), rate) if k < n else 1.0
    return low, high


@lru_cache(maxsize=65536)
def _inverted(k: int, n: int, population: int, confidence: float) -> tuple[int, int]:
    """Fewest and most false groups in the population that the sample does not speak against."""
    risk, end = (1 - confidence) / 2, population - n + k + 1
    # The upper tail grows with K, the lower one falls: the first and the last K where they exceed the risk.
    fewest = first_of(range(k, end), lambda false: _tail(k, n, population, false, upper=True) > risk)
    return fewest, first_of(range(k + 1, end), lambda false: _tail(k, n, population, false, upper=False) <= risk) - 1


def first_of(numbers: range, holds: Callable[[int], bool]) -> int:
    """The first of these numbers that `holds`, as do all after it; the one behind the last where none does."""
    return numbers.start + bisect_left(numbers, True, key=holds)


def _tail(k: int, n: int, population: int, false: int, *, upper: bool) -> float:
    """P(X >= k) or P(X <= k) for X false ones among n drawn, when `false` of the population are; k itself halved."""
    seen = np.arange(k, min(n, false) + 1) if upper else np.arange(max(0, n - population + false), k + 1)
    chances = np.exp(
        _log_choose(false, seen) + _log_choose(population - false, n - seen) - _log_choose(population, np.array(n))
    )
    return float(chances.sum()) - float(chances[0] if upper else chances[-1]) / 2


def _log_choose(total: int, chosen: np.ndarray) -> np.ndarray:
    logarithms: np.ndarray = gammaln(total + 1) - gammaln(chosen + 1) - gammaln(total - chosen + 1)
    return logarithms


Target = Literal["population", "corpus"]
TARGETS: tuple[Target, ...] = ("population", "corpus")
"""What a rate is about: the texts that the corpus was drawn from, the default, since people choose a system for texts
to come; or this corpus alone, whose satisfied groups are a finite population."""
MIDP = "midp"
"""The name of `mid_p` in signatures."""


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


def intervals(
    k: Iterable[float],
    n: Iterable[float],
    population: Iterable[int | None],
    confidence: float | Iterable[float] = 0.95,
) -> list[Interval]:
    """The `mid_p` intervals of many cells: three sequences of one length -> a list of that length.

    `confidence` is one for all, or one a cell. Equal cells are computed once, so a benchmark over thousands of redraws
    is cheap.

    >>> [interval.method for interval in intervals([0, 12], [20, 60], [400, None])]
    ['mid-p hypergeometric', 'mid-p binomial']
    """
    counts = list(zip(k, n, population, strict=True))
    levels = [confidence] * len(counts) if isinstance(confidence, float) else confidence
    compute = cache(lambda cell, level: mid_p(*cell, confidence=level))
    return [compute(cell, level) for cell, level in zip(counts, levels, strict=True)]


# Wilson's score interval for a share of independent observations, such as a person's answers.


def wilson(k: int, n: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval. Nothing observed gives 0 to 1.

    Raises AuditError on impossible counts. Source: Wilson, JASA 22 (1927).

    >>> wilson(0, 20).rounded(4), wilson(81, 263).rounded(4)
    ((0.0, 0.1611), (0.2553, 0.3662))
    """
    check_counts(k, n, None, confidence)
    if n == 0:
        return Interval(0.0, 1.0, "wilson")
    return Interval(*wilson_ends(k / n, n, confidence), "wilson")


def wilson_ends(rate: float, n: float, confidence: float) -> tuple[float, float]:
    """The ends of Wilson's interval for a rate seen in `n` observations, which need not be whole.

    >>> [round(end, 4) for end in wilson_ends(0.25, 40.5, 0.95)]
    [0.1424, 0.4009]
    """
    z = float(ndtri((1 + confidence) / 2))
    shrink = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / shrink
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / shrink
    # At rates of 0 and 1 only rounding could put the estimate outside.
    return max(min(centre - half, rate), 0.0), min(max(centre + half, rate), 1.0)


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


# An interval for a rate whose observations are not independent: the exact one, at the size that they are worth.

EVENTS = 0.5
"""Clusters of copies that are mixed in beside those seen with a hit, or a miss, since few tell the variance badly."""


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
    sizes = np.bincount(code, weights=share)
    hits = np.bincount(code, weights=share * np.asarray(hit, float))
    most = float(n) if weight is None else 1 / float((share**2).sum())
    return _worth(sizes, hits, n, most, confidence)


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
    ends = effective_interval(rate, effective_size(cluster, hit, confidence), confidence)
    return rate, ends.low, ends.high


def effective_size_of_sums(hits: np.ndarray, size: np.ndarray, confidence: float = 0.95) -> float:
    """`effective_size` from counts by cluster: `size` observations in each, `hits` of them hits.

    Clusters without an observation are none. Raises AuditError on arrays of different lengths and on impossible counts.

    >>> round(effective_size_of_sums(np.array([2, 0, 1]), np.array([2, 2, 2])), 4)
    1.2355
    >>> round(effective_size(np.array([0, 0, 1, 1, 2, 2]), np.array([1, 1, 0, 0, 1, 0])), 4)
    1.2355
    """
    hit_counts, counts = np.asarray(hits, float), np.asarray(size, float)
    if hit_counts.shape != counts.shape:
        raise AuditError(f"{len(hit_counts)} hits and {len(counts)} sizes; needed is one of each for every cluster")
    if (hit_counts < 0).any() or (hit_counts > counts).any():
        raise AuditError("a cluster has fewer than 0 hits, or more than observations; allowed are 0 to its size")
    occupied = counts > 0
    n = float(counts.sum())
    return _worth(counts[occupied] / n, hit_counts[occupied] / n, n, n, confidence) if n else 0.0


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


# A rate over clusters of observations, such as the groups of sources, with an interval that knows of the clusters.


@dataclass(frozen=True, slots=True)
class ClusteredRate:
    """`hits` of `size` observations in `clusters` clusters; the rate and its ends are fractions, None of nothing."""

    hits: int
    size: int
    clusters: int
    rate: float | None
    low: float | None
    high: float | None


def clustered_rate(hits: np.ndarray, size: np.ndarray, confidence: float = 0.95) -> ClusteredRate:
    """The share of hits among all observations of clusters, and an interval for clusters drawn from endlessly many.

    `hits` and `size` (clusters,) count each cluster's hits and observations; clusters without an observation are left
    out. The rate is hits / observations (a ratio: large clusters weigh more), the interval the exact one at the
    effective size, which the variance between clusters tells. One observation a cluster gives the Clopper-Pearson
    interval. Raises AuditError on arrays of different lengths and on impossible counts. Source: Korn and Graubard,
    Survey Methodology 24 (1998).

    >>> clustered = clustered_rate(np.array([0, 1, 2, 0]), np.array([2, 2, 2, 0]))
    >>> clustered.hits, clustered.size, clustered.clusters, clustered.rate
    (3, 6, 3, 0.5)
    """
    worth = effective_size_of_sums(hits, size, confidence)
    hit_count, counts = int(np.sum(hits)), int(np.sum(size))
    if not counts:
        return ClusteredRate(0, 0, 0, None, None, None)
    ends = effective_interval(hit_count / counts, worth, confidence)
    return ClusteredRate(hit_count, counts, int(np.count_nonzero(size)), hit_count / counts, ends.low, ends.high)
