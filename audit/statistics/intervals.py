"""Intervals for the rate of a population from which a simple random sample was judged: the two methods by name.

A cell has `population` satisfied groups; `n` of them were judged and `k` of those are false. The rate that is asked
for is the share of false groups in the *population*, so an interval shrinks to a point when everything was judged.
With `population` None the rate is that of the endless population the corpus came from.

>>> mid_p(81, 263).rounded(4)
(0.2544, 0.3658)
>>> mid_p(2, 10, 50).of(50)
(3, 24)
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import betainc, betaincinv, betaln, gammaln, logsumexp, ndtri, stdtrit

from audit import registry
from audit.errors import AuditError, UnknownName
from audit.messages import message
from audit.registry import Registry

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


class Estimator(Protocol):
    """What every method looks like: k false of n judged out of `population` -> interval.

    `population` is the number of satisfied groups of this corpus, or None where the interval is for the endless
    population that the corpus came from: then there is no finite population correction, and k and n may be fractions.
    """

    def __call__(self, k: float, n: float, population: int | None, *, confidence: float = 0.95) -> Interval: ...


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
    if not 0 < confidence < 1:
        raise AuditError(f"confidence {confidence} is impossible; it lies between 0 and 1, for example 0.95")


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
    logarithms: np.ndarray = gammaln(total + 1) - gammaln(chosen + 1) - gammaln(total - chosen + 1)
    return logarithms


# Intervals that hold at every number of judgements at once, so that anybody may stop whenever they like.
#
# A fixed-n 95 % interval that is looked at again and again until it is narrow or says what one hopes for holds less
# often than 95 %. A confidence sequence holds at all looks together. The price is width: about half as wide again.

CORPUS_ONLY = message("report_setting.sequence_corpus")
PRIOR_POSTERIOR = "prior-posterior sequence"
"""The method of a cell's interval by `prior_posterior`."""
HOLDS = "sequence: holds whenever judging stops"
"""What signatures and reports say of intervals that are confidence sequences."""


def prior_posterior(k: float, n: float, population: int | None, *, confidence: float = 0.95) -> Interval:
    """Exact confidence sequence for the share of false groups: k false of n judged out of `population`.

    All K are kept whose posterior is more than alpha times their prior, which is uniform on 0..population. By Ville's
    inequality the true K is kept at every n at once with probability `confidence` at least; no approximation. Use it
    for a cell's rate when its judging may stop at any time. It needs a finite population: this corpus. Source:
    Waudby-Smith, Ramdas, "Confidence sequences for sampling without replacement" (NeurIPS 2020), theorem 2.1. Raises
    AuditError on impossible counts, and where `population` is None.

    >>> prior_posterior(100, 400, 20_000).rounded(3)
    (0.182, 0.328)
    >>> prior_posterior(3, 10, 10).rounded(3)
    (0.3, 0.3)
    """
    if population is None:
        raise AuditError(CORPUS_ONLY)
    check_counts(k, n, population, confidence)
    if n == 0:
        return Interval(0.0, 1.0, PRIOR_POSTERIOR)
    fewest, most = _kept(int(k), int(n), population, 1 - confidence)
    return Interval(min(fewest / population, k / n), max(most / population, k / n), PRIOR_POSTERIOR)


def sizes_for_prior_posterior(
    rate: ArrayLike, population: ArrayLike, half_width: float, confidence: float = 0.95
) -> np.ndarray:
    """Groups to judge of each cell until `prior_posterior` has `half_width` if `rate` is what comes out.

    Arrays with one entry a cell (broadcast) -> whole numbers, at most the population.

    >>> sizes_for_prior_posterior([0.5, 0.5], [100_000, 300], 0.05).tolist()
    [1247, 241]
    """
    p, total = np.broadcast_arrays(np.asarray(rate, float), np.asarray(population, int))
    return np.array([_size(float(r), int(n), half_width, confidence) for r, n in zip(p.flat, total.flat, strict=True)])


@lru_cache(maxsize=65536)
def _size(rate: float, population: int, half_width: float, confidence: float) -> int:
    low, high = 0, population
    while low < high:
        middle = (low + high) // 2
        at = prior_posterior(round(rate * middle), middle, population, confidence=confidence)
        if (at.high - at.low) / 2 <= half_width:
            high = middle
        else:
            low = middle + 1
    return low


@lru_cache(maxsize=65536)
def _kept(k: int, n: int, population: int, alpha: float) -> tuple[int, int]:
    """Fewest and most false groups whose likelihood exceeds alpha times its mean over the prior.

    posterior / prior is likelihood over marginal likelihood; under the uniform prior the marginal is 1 / (n + 1) in
    the scale of hypergeometric probabilities. The likelihood has one top, at K near k N / n.
    """
    floor = math.log(alpha) - math.log(n + 1)
    top = min(max(round(k * (population + 1) / n), k), population - n + k)
    return _edge(k, n, population, floor, k, top, -1), _edge(k, n, population, floor, population - n + k, top, 1)


def _edge(k: int, n: int, population: int, floor: float, end: int, top: int, side: int) -> int:
    inside, outside = top, end + side
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        if _log_likelihood(k, n, population, middle) > floor:
            inside = middle
        else:
            outside = middle
    return inside


def _log_likelihood(k: int, n: int, population: int, false: int) -> float:
    parts = ((false, k), (population - false, n - k))
    chosen = sum(float(gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1)) for a, b in parts)
    return chosen + float(betaln(n + 1, population - n + 1) + math.log(population + 1))


FRACTIONS = 0.02 * 2.0 ** np.arange(6)
"""Parts of the largest bet that are staked side by side: small ones win slowly in long lists, large ones early."""
UNSURE = 2
"""Values in the middle of its range that each kind's mean begins with."""


def kind_means(counts: ArrayLike, sums: ArrayLike, ranges: Sequence[tuple[int, int]] = ((-1, 1),)) -> np.ndarray:
    """What is expected of the next value of each kind: arrays (..., kinds) -> (..., kinds).

    The mean of the `counts` values seen, which add up to `sums`, and of `UNSURE` in the middle of the kind's range.

    >>> kind_means([0, 8], [0, 6], [(0, 1), (0, 1)]).tolist()
    [0.5, 0.7]
    """
    middle = np.mean(ranges, axis=1)
    return np.asarray((np.asarray(sums, float) + UNSURE * middle) / (np.asarray(counts, float) + UNSURE))


def evidence_above(
    values: ArrayLike,
    total: int,
    kinds: ArrayLike,
    sizes: ArrayLike,
    ranges: Sequence[tuple[int, int]] = ((-1, 1),),
) -> np.ndarray:
    """Log of the evidence that a whole list adds up to more than `total`, after each of its first values: (n,) -> (n,).

    The list is drawn at random without replacement. Each value is a whole number of a kind known before: `kinds` (n,)
    are those of the values, `sizes` how many of each kind the list has, `ranges` the least and most that one can be.
    The evidence is the capital of a gambler who begins with 1 and bets that the next value is above what is left of
    `total` allows on average; what kind it has is taken out, so that nothing is lost by how kinds happen to come. Where
    the sum is `total` or less the bets are unfair, so that P(capital >= 1 / alpha at any number of values) <= alpha
    (Ville): an exact bound, whoever stops whenever. It is infinite where the values left cannot bring the sum down to
    `total`, and falls in `total`. Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by
    betting" (JRSS B 86, 2024), section 5 (without replacement), with a mixture of constant fractions instead of their
    predictable one. Raises AuditError where a value cannot be, or there are more than the list has.

    >>> evidence_above([1, 1, 1, -1, 1], 0, [0] * 5, [40]).round(2).tolist()
    [0.19, 0.42, 0.71, 0.28, 0.53]
    """
    x, kind, size = _drawn(values, kinds, sizes, ranges)
    least, n = np.array(ranges, float)[:, 0], len(x)
    own = np.zeros((n, len(size)))
    own[np.arange(n), kind] = 1
    count, added = np.cumsum(own, axis=0), np.cumsum(own * x[:, None], axis=0)
    left = size - (count - own)
    means = kind_means(count - own, added - own * x[:, None], ranges)
    allowed = (total - (np.cumsum(x) - x) - (left * means).sum(axis=1)) / (size.sum() - np.arange(n))
    gain = x - means[np.arange(n), kind] - allowed
    loss = allowed - np.where(left > 0, least - means, np.inf).min(axis=1, initial=np.inf)
    fair = loss > 1e-12
    odds = np.where(fair, gain / np.where(fair, loss, 1.0), np.where(gain > 1e-9, 1e300, 0.0))
    staked = np.cumsum(np.log1p(FRACTIONS[:, None] * odds), axis=1)
    sure = np.cumsum(x) + ((size - count) * least).sum(axis=1) > total
    return np.where(sure, np.inf, logsumexp(staked, axis=0) - math.log(len(FRACTIONS)))


def sum_sequence(
    values: ArrayLike,
    kinds: ArrayLike,
    sizes: ArrayLike,
    ranges: Sequence[tuple[int, int]] = ((-1, 1),),
    confidence: float = 0.95,
) -> tuple[int, int]:
    """Lower and upper end for the sum of a list, of which `values` came first: a confidence sequence.

    Arguments are those of `evidence_above`; each side has half the risk. Every sum is left out against which the
    evidence was ever strong enough, or that the values left make impossible; so it is exact when all are known.

    >>> sum_sequence([1, 1, 0, 1, 0, 1, 1, 1], [0] * 8, [10], [(0, 1)])
    (6, 8)
    """
    x, kind, size = _drawn(values, kinds, sizes, ranges)
    _confidence(confidence)
    needed = math.log(2 / (1 - confidence))
    ends = []
    for sign in (1, -1):
        limits = ranges if sign == 1 else [(-most, -least) for least, most in ranges]
        left = size - np.bincount(kind, minlength=len(size))
        low, high = (int(sign * x.sum() + (left * np.array(side)).sum()) for side in zip(*limits, strict=True))
        while low < high and len(x):  # evidence falls in the total: find the least one that is not refuted
            middle = (low + high) // 2
            if evidence_above(sign * x, middle, kind, sizes, limits).max() >= needed:
                low = middle + 1
            else:
                high = middle
        ends.append(sign * low)
    return min(ends), max(ends)


def pair_sequence(values: ArrayLike, population: int, confidence: float = 0.95) -> tuple[float, float]:
    """Lower and upper end for the mean of `population` values of -1, 0 and 1, of which `values` were drawn first.

    For the difference of two systems over their informative groups: 1 where only the first is right, -1 where only the
    second is. `values` are in the drawn order. It holds at `confidence` at all numbers of values together, exactly, and
    is a point when all are known (`sum_sequence`). Raises AuditError on other values, or more than there are.

    >>> pair_sequence([1, 0, 0, -1, 1] * 20, 1000)
    (-0.038, 0.411)
    """
    seen = np.asarray(values, float)
    if not population:
        return 0.0, 0.0
    low, high = sum_sequence(seen, np.zeros(len(seen), int), [population], confidence=confidence)
    mean = float(seen.mean()) if len(seen) else 0.0
    return min(low / population, mean), max(high / population, mean)


def pair_p(values: ArrayLike, population: int) -> float:
    """Always-valid p value for a mean of 0; at most 1 - confidence exactly where `pair_sequence` leaves out 0.

    P(p <= alpha at any number of values) <= alpha. Where all are known it is 1 or 0. Source: Ramdas, Grunwald, Vovk,
    Shafer, "Game-theoretic statistics and safe anytime-valid inference" (Statistical Science 38, 2023), section 2.

    >>> round(pair_p([1, 0, 0, -1, 1] * 20, 1000), 3), pair_p([1, -1], 2), pair_p([1, 0], 2)
    (0.17, 1.0, 0.0)
    """
    seen = np.asarray(values, float)
    if len(seen) == population:
        return float(seen.sum() == 0)
    kinds = np.zeros(len(seen), int)
    strongest = max(evidence_above(sign * seen, 0, kinds, [population]).max(initial=0.0) for sign in (1, -1))
    return min(1.0, 2 * math.exp(-strongest))


def _drawn(
    values: ArrayLike, kinds: ArrayLike, sizes: ArrayLike, ranges: Sequence[tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first values of a list, their kinds and the sizes of all kinds as arrays, if they can be."""
    x, kind, size = np.asarray(values, float), np.asarray(kinds, int), np.asarray(sizes, int)
    if len(x) != len(kind) or (np.bincount(kind, minlength=len(size)) > size).any():
        raise AuditError(
            f"{len(x)} judged of {size.sum()} informative groups is impossible; allowed are 0 to {size.sum()}"
        )
    least, most = np.array(ranges, float).T
    impossible = np.flatnonzero(~((x >= least[kind]) & (x <= most[kind]) & (x == np.round(x))))
    if len(impossible):
        at = impossible[0]
        limits = f"from {least[kind[at]]:g} to {most[kind[at]]:g}"
        raise AuditError(f"difference {at} (from 0) is {x[at]:g}; of its kind it is a whole number {limits}")
    return x, kind, size


def _confidence(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise AuditError(f"confidence {confidence:g} is impossible; it lies between 0 and 1, for example 0.95")
    return confidence


Target = Literal["corpus", "population"]
TARGETS: tuple[Target, ...] = ("population", "corpus")
"""What a rate is about: the texts that the corpus was drawn from, the default, since people choose a system for texts
to come; or this corpus alone, whose satisfied groups are a finite population."""
MIDP, SEQUENCE = "midp", "sequence"
METHODS: Registry[Estimator] = registry.intervals
METHODS.register(MIDP, mid_p)
METHODS.register(SEQUENCE, prior_posterior)
"""Methods by the name that commands and signatures use. `midp` is a fixed-n interval: it holds where the number of
judgements was not chosen by looking at the results. `sequence` holds at every number at once, so that one may look and
stop at will."""
RENAMED = {"auto": MIDP}
"""Names that plans and exports of earlier versions may have."""


def method_name(name: str) -> str:
    """The name that this method has now. Raises UnknownName, which lists the known ones.

    >>> method_name("auto"), method_name("sequence")
    ('midp', 'sequence')
    """
    name = RENAMED.get(name, name)
    if name not in METHODS:
        raise METHODS.unknown(name)
    return name


def get_method(name: str, target: Target = "corpus") -> Estimator:
    """The method of this name. Raises UnknownName, which lists the known ones, and AuditError where it cannot be about
    the target."""
    name = method_name(name)
    if name == SEQUENCE and target == "population":
        raise AuditError(CORPUS_ONLY)
    return METHODS[name]


def get_target(name: str | None, interval: str = MIDP, proxies: bool = False) -> Target:
    """The target of this name; of None the default: texts to come, or the corpus where only it can be spoken of, as
    with sequences and proxies. Raises UnknownName, which lists the known ones.

    >>> get_target(None), get_target(None, "sequence"), get_target("corpus")
    ('population', 'corpus', 'corpus')
    """
    if name is None:
        return "corpus" if interval == SEQUENCE or proxies else TARGETS[0]
    for target in TARGETS:
        if target == name:
            return target
    raise UnknownName("target", name, list(TARGETS))


def intervals(
    k: Iterable[float],
    n: Iterable[float],
    population: Iterable[int | None],
    method: Estimator = mid_p,
    confidence: float | Iterable[float] = 0.95,
) -> list[Interval]:
    """The intervals of many cells: three sequences of one length -> a list of that length.

    `confidence` is one for all, or one a cell. Equal cells are computed once, so a benchmark over thousands of redraws
    is cheap.

    >>> [interval.method for interval in intervals([0, 12], [20, 60], [400, None])]
    ['mid-p hypergeometric', 'mid-p binomial']
    """
    computed: dict[tuple[float, float, int | None, float], Interval] = {}
    result = []
    counts = list(zip(k, n, population, strict=True))
    levels = [float(confidence)] * len(counts) if isinstance(confidence, float) else confidence
    for cell, level in zip(counts, levels, strict=True):
        if (*cell, level) not in computed:
            computed[*cell, level] = method(*cell, confidence=level)
        result.append(computed[*cell, level])
    return result


def bounds(
    k: Iterable[float],
    n: Iterable[float],
    population: Iterable[int | None],
    method: Estimator = mid_p,
    confidence: float = 0.95,
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper rates of many cells: as `intervals`, but two float arrays.

    >>> low, high = bounds([0, 12], [20, 60], [400, 500])
    >>> low.shape == high.shape == (2,)
    True
    """
    ends = intervals(k, n, population, method, confidence)
    return np.array([interval.low for interval in ends], float), np.array([interval.high for interval in ends], float)


__all__ = [
    "METHODS",
    "MIDP",
    "RENAMED",
    "SEQUENCE",
    "TARGETS",
    "Estimator",
    "Interval",
    "Target",
    "bounds",
    "get_method",
    "get_target",
    "intervals",
    "method_name",
    "mid_p",
]


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
    rate = k / n
    z = float(ndtri((1 + confidence) / 2))
    shrink = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / shrink
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / shrink
    # At k = 0 and k = n only rounding could put the estimate outside.
    return Interval(max(min(centre - half, rate), 0.0), min(max(centre + half, rate), 1.0), "wilson")


# An interval for a rate whose observations are not independent: the exact one, at the size that they are worth.

EVENTS = 0.5
"""Clusters of copies that are mixed in beside those seen with a hit, or a miss; simulated
(docs/evidence/benchmarks.md)."""


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
