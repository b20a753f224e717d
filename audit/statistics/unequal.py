"""A rate of groups that were drawn with unequal probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from audit.errors import AuditError
from audit.statistics.effective import effective_size
from audit.statistics.intervals import Target


@dataclass(frozen=True, slots=True)
class Weighted:
    """A weighted rate with its interval, all in [0, 1], and the number of equally weighted groups that say as much."""

    rate: float
    low: float
    high: float
    effective: float


def weighted_rate(
    hits: Sequence[bool],
    pi: Sequence[float],
    confidence: float = 0.95,
    target: Target = "corpus",
    cluster: Sequence[int] | None = None,
) -> Weighted | None:
    """The rate of hits among groups of which each was drawn with its own probability; None where there are none.

    `hits` and `pi` have one value a group; `pi` is above 0 and at most 1. The estimate is Hajek's ratio
    sum(hit / pi) / sum(1 / pi). The interval is Jeffreys' with an effective sample size in the place of n (as Korn and
    Graubard, Survey Methodology 24, 1998, do with Clopper-Pearson's): for the population Kish's
    (sum 1 / pi)^2 / sum 1 / pi^2, for the corpus (sum 1 / pi)^2 / sum (1 - pi) / pi^2, in which groups that are sure
    to be drawn add nothing to the variance. All pi = 1: nothing is left to estimate in the corpus. It is cautious
    where hits are commoner among groups with a large pi (docs/corrected.md). `cluster` has a code a group: for the
    population, groups of one document are worth what the variance between documents tells (`effective_size`). Raises
    AuditError on arrays of different lengths and on probabilities that are none.

    >>> found = weighted_rate([True, False, False], [0.5, 1.0, 1.0])
    >>> found.rate, found.effective
    (0.5, 8.0)
    >>> weighted_rate([True, False], [1.0, 1.0])
    Weighted(rate=0.5, low=0.5, high=0.5, effective=inf)
    """
    hit, chance = np.asarray(hits, float), np.asarray(pi, float)
    if len(hit) != len(chance):
        raise AuditError(f"{len(hit)} groups have {len(chance)} probabilities; needed is one of each for every group")
    if not len(hit):
        return None
    if not ((chance > 0) & (chance <= 1)).all():
        raise AuditError(f"an inclusion probability is {chance.min():g}; allowed is above 0 and at most 1")
    weight = 1 / chance
    rate = float(weight @ hit / weight.sum())
    # Not from the hits' own variance: where a few groups weigh most and none of them is a hit it is far too small.
    spread = float((weight**2 * (1 - chance if target == "corpus" else 1)).sum())
    if spread == 0:
        return Weighted(rate, rate, rate, float("inf"))
    size = float(weight.sum() ** 2) / spread
    if target == "population" and cluster is not None and len(set(cluster)) < len(hit):
        size = min(size, effective_size(np.asarray(cluster), hit, confidence, weight))
    risk = (1 - confidence) / 2
    k = rate * size
    low = min(float(betaincinv(k + 0.5, size - k + 0.5, risk)), rate) if hit.any() else 0.0
    high = max(float(betaincinv(k + 0.5, size - k + 0.5, 1 - risk)), rate) if not hit.all() else 1.0
    return Weighted(rate, low, high, size)
