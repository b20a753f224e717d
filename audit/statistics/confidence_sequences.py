"""Intervals that hold at every number of judgements at once, so that anybody may stop whenever they like.

A fixed-n 95 % interval that is looked at again and again until it is narrow or says what one hopes for holds less
often than 95 %. A confidence sequence holds at all looks together. The price is width: about half as wide again.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, gammaln, lambertw

from audit.errors import AuditError
from audit.statistics.allocation import effective_size, judged_size
from audit.statistics.bounded import Interval, check_counts

ASYMPTOTIC_FROM = 30
"""Fewer observations than this get the whole range: the asymptotic sequence promises nothing at small n."""
TIGHTEST_AT = 400.0
"""Effective size at which the asymptotic sequence is tightest: the number of informative groups that differences of a
few points need."""
CORPUS_ONLY = (
    "the interval 'sequence' is about this corpus, whose satisfied groups are judged one after the other; for the "
    "target population choose midp, or take the target corpus"
)
PRIOR_POSTERIOR = "prior-posterior sequence"
"""The method of a cell's interval by `prior_posterior`."""
HOLDS = "sequence: holds whenever judging stops"
"""What signatures and reports say of intervals that are confidence sequences."""


def asymptotic_half_width(
    effective: ArrayLike, deviation: ArrayLike, confidence: float = 0.95, tightest_at: float = TIGHTEST_AT
) -> np.ndarray:
    """Half-width of the asymptotic confidence sequence of a mean: arrays broadcast, in the unit of `deviation`.

    deviation x sqrt(2 (v r^2 + 1) / (v^2 r^2) x log(sqrt(v r^2 + 1) / alpha)) with v the effective size; r makes it
    tightest at v = `tightest_at`, which must be chosen before looking. Sampling without replacement: v (mean - mu) is
    a martingale with variance v sigma^2 for v = n (N - 1) / (N - n), so time runs in v and the sequence closes when
    all are judged. Source: Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas, "Time-uniform central limit theory and
    asymptotic confidence sequences" (Annals of Statistics 52, 2024), theorem 2.2 and, for r, appendix B.2.

    >>> asymptotic_half_width([100, 400, np.inf], 0.5).round(3).tolist()
    [0.163, 0.076, 0.0]
    """
    v, sigma = np.broadcast_arrays(np.asarray(effective, float), np.asarray(deviation, float))
    r2 = _mixing(1 - _confidence(confidence)) / tightest_at
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = 2 * (v * r2 + 1) / (v * v * r2) * np.log(np.sqrt(v * r2 + 1) / (1 - confidence))
        return np.where(np.isinf(v), 0.0, np.where(v > 0, sigma * np.sqrt(inside), np.inf))


def asymptotic(
    values: ArrayLike, population: int, confidence: float = 0.95, tightest_at: float = TIGHTEST_AT
) -> tuple[float, float]:
    """Lower and upper end for the mean of `population` values, of which `values` (one dimension) were drawn at random.

    Not cut to the range of the values; infinite below `ASYMPTOTIC_FROM` values unless those are all. The standard
    deviation counts one unit of spread more than was seen, so that values that happen to be equal at first prove
    nothing. Raises AuditError where there are more values than the population has.

    >>> low, high = asymptotic(np.tile([0.0, 1.0], 200), 100_000)
    >>> round(low, 3), round(high, 3)
    (0.424, 0.576)
    """
    seen = np.asarray(values, float)
    n = len(seen)
    if n > population:
        raise AuditError(f"{n} values of a population of {population} are impossible; allowed are 0 to {population}")
    if n and n == population:
        return float(seen.mean()), float(seen.mean())
    if n < ASYMPTOTIC_FROM:
        return -math.inf, math.inf
    half = float(asymptotic_half_width(effective_size(n, population), _deviation(seen), confidence, tightest_at))
    return float(seen.mean()) - half, float(seen.mean()) + half


def asymptotic_p(
    values: ArrayLike, population: int, confidence: float = 0.95, tightest_at: float = TIGHTEST_AT
) -> float:
    """Always-valid p value for a mean of 0 of `population` values, of which `values` were drawn at random.

    The dual of `asymptotic`: the least alpha at which that sequence, its r kept as `confidence` chose it, leaves out 0;
    so it is at most 1 - confidence exactly where that sequence does. In the limit P(p <= alpha at any number of values)
    <= alpha: one may look as often as one likes. 1 below `ASYMPTOTIC_FROM` values; where all are drawn the mean is
    known and p is 1 or 0. Source: Johari, Koomen, Pekelis, Walsh, "Always valid inference" (Operations Research 70,
    2022), section 3, with the mixture of `asymptotic_half_width`. Raises AuditError as `asymptotic` does.

    >>> asymptotic_p(np.tile([-1.0, 1.0], 200), 100_000), round(asymptotic_p(np.tile([0, 0, 0, 1], 20), 1000), 4)
    (1.0, 0.0003)
    """
    seen = np.asarray(values, float)
    n = len(seen)
    if n > population:
        raise AuditError(f"{n} values of a population of {population} are impossible; allowed are 0 to {population}")
    if n and n == population:
        return float(seen.mean() == 0)
    if n < ASYMPTOTIC_FROM:
        return 1.0
    v = float(effective_size(n, population))
    x = v * _mixing(1 - _confidence(confidence)) / tightest_at
    distance = float(np.square(seen.mean())) / _deviation(seen) ** 2
    return min(1.0, math.exp(0.5 * math.log(x + 1) - distance * v * x / (2 * (x + 1))))


def _deviation(seen: np.ndarray) -> float:
    return math.sqrt((np.square(seen - seen.mean()).sum() + 1) / (len(seen) + 1))


def sizes_for_sequence(
    deviation: ArrayLike,
    population: ArrayLike,
    half_width: ArrayLike,
    confidence: float = 0.95,
    tightest_at: float = TIGHTEST_AT,
) -> np.ndarray:
    """Values to draw until the asymptotic sequence has `half_width`: arrays broadcast -> whole numbers.

    >>> sizes_for_sequence(0.5, [100_000, 300], 0.05, tightest_at=1000).tolist()
    [914, 227]
    """
    sigma, total, half = np.broadcast_arrays(*(np.asarray(x, float) for x in (deviation, population, half_width)))
    low, high = np.ones(sigma.shape), np.full(sigma.shape, 1e9)
    for _ in range(80):  # the width falls with the size: bisection on a logarithmic scale
        middle = np.sqrt(low * high)
        enough = asymptotic_half_width(middle, sigma, confidence, tightest_at) <= half
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.minimum(np.maximum(judged_size(high, total), np.minimum(ASYMPTOTIC_FROM, total)), total).astype(int)


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


def _mixing(alpha: float) -> float:
    """r^2 v at which the sequence is tightest: -W(-alpha^2 / e) - 1 on the lower branch."""
    return float(-lambertw(-(alpha**2) / math.e, k=-1).real - 1)


def _confidence(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise AuditError(f"confidence {confidence:g} is impossible; it lies between 0 and 1, for example 0.95")
    return confidence
