"""Intervals that hold at every number of judgements at once, so that anybody may stop whenever they like.

A fixed-n 95 % interval that is looked at again and again until it is narrow or says what one hopes for holds less
often than 95 %. A confidence sequence holds at all looks together. The price is width: about half as wide again.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, gammaln, logsumexp

from audit.errors import AuditError
from audit.statistics.bounded import Interval, check_counts

CORPUS_ONLY = (
    "the interval 'sequence' is about this corpus, whose satisfied groups are judged one after the other; for the "
    "target population choose midp, or take the target corpus"
)
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
    wrong = np.flatnonzero(~((x >= least[kind]) & (x <= most[kind]) & (x == np.round(x))))
    if len(wrong):
        at = wrong[0]
        limits = f"from {least[kind[at]]:g} to {most[kind[at]]:g}"
        raise AuditError(f"difference {at} (from 0) is {x[at]:g}; of its kind it is a whole number {limits}")
    return x, kind, size


def _confidence(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise AuditError(f"confidence {confidence:g} is impossible; it lies between 0 and 1, for example 0.95")
    return confidence
