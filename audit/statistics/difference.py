"""The difference estimator: R_FS as the protocol found it, corrected by what a checked subset shows of its errors."""

import math
from dataclasses import dataclass

import numpy as np

from audit.errors import AuditError
from audit.statistics.effective import effective_interval, effective_size
from audit.statistics.intervals import Estimator, mid_p


@dataclass(frozen=True, slots=True)
class Corrected:
    """R_FS with the protocol's bias taken out, and its interval, fractions; `bias` is what was taken out."""

    rate: float
    low: float
    high: float
    bias: float
    """Mean of (protocol - checked) over the checked groups: above 0, the protocol calls too many groups false."""
    checked: int


def difference(
    k: int,
    n: int,
    population: int | None,
    added: int,
    removed: int,
    checked: int,
    *,
    interval: Estimator = mid_p,
    confidence: float = 0.95,
    worth: float | None = None,
) -> Corrected:
    """R_FS of a cell in which the protocol calls k of n judged groups false, and `checked` of the n were checked.

    Checking made `added` groups false that the protocol calls true, and `removed` the other way round. The estimate is
    k / n + (added - removed) / checked, unbiased whatever errors the protocol makes, as the n groups are a simple
    random sample of the `population` and the checked ones a simple random sample of the n (two-phase sampling). It is
    then cut to 0..1, which takes it upward on average where the truth is near 0, and downward near 1: by .015 where
    nothing is false and the protocol calls one group in ten so.
    Its variance has two parts (Cochran, Sampling Techniques 1977, chapter 12, double sampling with a coefficient fixed
    at 1; Särndal, Swensson and Wretman, Model Assisted Survey Sampling 1992, chapter 9):

        (1 / n - 1 / N) S^2(checked answer) + (1 / m - 1 / n) S^2(checked - protocol).

    A variance estimated from few differences is often 0, and an interval made from it a lie. So each part has an
    interval of its own and they are put together by their squared distances (MOVER: Zou and Donner, Statistics in
    Medicine 27, 2008): `interval` at the corrected rate of n from N, and for the difference of the two kinds of errors
    the intervals of `added` and `removed` of m from n, with their multinomial correlation. No differences among few
    checked groups leave the second part wide; all groups checked leave it 0, and the first is then the interval of the
    corrected counts. For texts to come (`population` None) that come in documents, `worth` is what the n groups are as
    independent ones; the second part is about these n alone. Raises AuditError on impossible counts.

    >>> found = difference(18, 60, 400, added=1, removed=4, checked=30)
    >>> round(found.rate, 3), round(found.low, 3), round(found.high, 3), round(found.bias, 3)
    (0.2, 0.07, 0.352, 0.1)
    """
    if not 0 < checked <= n:
        raise AuditError(f"{checked} checked of {n} judged groups is impossible; allowed are 1 to {n}")
    if not 0 <= k <= n or not 0 <= added <= min(n - k, checked) or not 0 <= removed <= min(k, checked - added):
        raise AuditError(
            f"{added} groups added and {removed} removed by {checked} checks of {n} judged groups with {k} false is "
            f"impossible; allowed are 0 to {n - k} added, 0 to {k} removed, together at most {checked}"
        )
    rate = _cut(k / n + (added - removed) / checked)
    whole = round(rate * n)
    if worth is None or worth >= n:
        first = interval(whole, n, population, confidence=confidence)
    else:
        first = interval(whole / n * worth, worth, population, confidence=confidence)
    more, less = (interval(one, checked, n, confidence=confidence) for one in (added, removed))
    # No more can be added than the protocol calls true, none removed that it does not call false.
    up, down = min(more.high, (n - k) / n), min(less.high, k / n)
    gain, loss = added / checked, removed / checked
    chance = (1 - gain) * (1 - loss)
    together = -math.sqrt(min(gain * loss / chance, 1.0)) if chance > 0 else 0.0
    below, above = _apart((gain, more.low, up), (loss, less.low, down), together)
    low = rate - math.hypot(whole / n - first.low, below)
    high = rate + math.hypot(first.high - whole / n, above)
    return Corrected(rate, _cut(low), _cut(high), (removed - added) / checked, checked)


def difference_of_cells(
    rate: float,
    low: float,
    high: float,
    weight: np.ndarray,
    change: np.ndarray,
    source: np.ndarray,
    *,
    confidence: float = 0.95,
) -> Corrected:
    """R_FS over several cells, corrected by the groups that were checked in them.

    `rate`, `low` and `high` are the protocol's stratified rate and its interval. For each checked group `change` is the
    checked answer minus the protocol's (-1, 0 or 1), `source` a code, and `weight` the cell's share of all satisfied
    groups over the number of groups checked in it; weights add up to 1. One answer settles groups of many cells, so
    that groups of a source change together: the shares of groups added and removed have the exact interval at the
    effective size of a sample of sources (`effective_size`), and the correlation of these shares over sources. The
    parts are put together as in `difference`. Raises AuditError on arrays of different lengths, without checked groups,
    and on weights that do not add up to 1.

    >>> found = difference_of_cells(0.3, 0.25, 0.35, np.full(40, 1 / 40), np.r_[-1, -1, np.zeros(38)], np.arange(40))
    >>> round(found.rate, 3), round(found.low, 3), round(found.high, 3)
    (0.25, 0.121, 0.36)
    """
    weight, change = np.asarray(weight, float), np.asarray(change, float)
    if not len(weight) == len(change) == len(source) or not len(weight):
        raise AuditError("weights, changes and sources must be given for each of one or more checked groups")
    if (weight < 0).any() or abs(weight.sum() - 1) > 1e-6:
        raise AuditError(f"the weights add up to {weight.sum():g}; they are 0 or more and must add up to 1")
    kinds = [np.asarray(change == sign, float) for sign in (1, -1)]
    added, removed = (min(float(weight @ kind), 1.0) for kind in kinds)
    more, less = (
        effective_interval(share, effective_size(source, kind, confidence, weight), confidence)
        for share, kind in zip((added, removed), kinds, strict=True)
    )
    up, down = min(more.high, max(1 - rate, added)), min(less.high, max(rate, removed))
    together = _correlation(source, weight, *kinds)
    below, above = _apart((added, more.low, up), (removed, less.low, down), together)
    found = _cut(rate + added - removed)
    ends = found - math.hypot(rate - low, below), found + math.hypot(high - rate, above)
    return Corrected(found, _cut(ends[0]), _cut(ends[1]), removed - added, len(weight))


def _apart(more: tuple[float, float, float], less: tuple[float, float, float], together: float) -> tuple[float, float]:
    """Distances from the difference of two shares (share, low, high), correlated by `together`, to its ends."""
    down, up = (more[0] - more[1], less[2] - less[0]), (more[2] - more[0], less[0] - less[1])
    below, above = (math.sqrt(max(a * a + b * b - 2 * together * a * b, 0.0)) for a, b in (down, up))
    return below, above


def _correlation(source: np.ndarray, weight: np.ndarray, *kinds: np.ndarray) -> float:
    """Correlation between the sources' totals of two kinds of groups, each less its share of the source's weight."""
    _, code = np.unique(np.asarray(source), return_inverse=True)
    held = np.bincount(code, weights=weight)
    one, other = (np.bincount(code, weights=weight * kind) - float(weight @ kind) * held for kind in kinds)
    spread = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / spread if spread > 1e-15 else 0.0


def _cut(rate: float) -> float:
    return min(max(rate, 0.0), 1.0)
