"""Whether the sources of a slice break relations more often than the rest: rates of domains that know of clusters, one
test each, and the false discovery rate of many.

A slice is a domain of the study: how many of its groups are judged is left to chance, and given that number they are a
simple random sample of its satisfied groups (Cochran, Sampling Techniques, 1977, section 2.13).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincc, betaincinv, ndtri, stdtrit
from scipy.stats import false_discovery_control

from audit.statistics.intervals import (
    Estimate,
    difference_of_rates,
    effective_interval,
    effective_size_of_sums,
)

LEAST_CLUSTERS = 30
"""Sources, or documents, that a slice and the rest each need for a test, and of which as many have a judged group for
one of genuine rates: fewer tell too little of how groups go together (docs/evidence/slices.md)."""


@dataclass(frozen=True, slots=True)
class DomainRate:
    """A violation rate of a domain that is worth `worth` independent observations, told by so many `clusters`."""

    rate: float
    worth: float
    groups: int
    clusters: int
    judged: int | None = None

    def estimate(self, confidence: float = 0.95) -> Estimate:
        """The rate with the exact ends at what it is worth."""
        ends = effective_interval(self.rate, self.worth, confidence)
        return Estimate(self.rate, ends.low, ends.high)


@dataclass(frozen=True, slots=True)
class Excess:
    """The rate of a slice less that of the rest, with its interval; `p` tests, one-sided, that it is not above 0."""

    difference: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class JudgedGroups:
    """The judged groups of one system in a domain, all (judged,): codes of cluster and relation, and 0 or 1."""

    cluster: np.ndarray
    relation: np.ndarray
    false: np.ndarray


def observed_rate(violated: np.ndarray, groups: np.ndarray, confidence: float = 0.95) -> DomainRate | None:
    """VR_o of a domain from the violated groups and the groups of each cluster, (clusters,); None without a group.

    >>> observed_rate(np.array([0, 2, 1]), np.array([2, 2, 2])).rate
    0.5
    """
    total = int(groups.sum())
    if not total:
        return None
    worth = effective_size_of_sums(violated, groups, confidence)
    return DomainRate(float(violated.sum() / total), worth, total, int(np.count_nonzero(groups)))


def genuine_rate(
    cluster: np.ndarray,
    relation: np.ndarray,
    violated: np.ndarray,
    judged: JudgedGroups,
    observed: DomainRate,
    confidence: float = 0.95,
) -> DomainRate | None:
    """VR_g of one system in a domain: (violated + sum over relations of satisfied x R_FS) / groups.

    `cluster`, `relation` (codes from 0) and `violated` (bool) are of all its groups in a rate, `observed` is VR_o. The
    variance is that of both phases, linearised over clusters (Saerndal, Swensson and Wretman, Model Assisted Survey
    Sampling, 1992, chapter 9), and at least what so many judged clusters tell of a rate to which one false and one true
    group were added: where none of a few is false, nothing varies. None where a relation with satisfied groups has no
    judged one.
    """
    relations = 1 + int(relation.max(initial=-1))
    satisfied = np.bincount(relation[~violated], minlength=relations)
    number = np.bincount(judged.relation, minlength=relations)
    if not len(cluster) or ((satisfied > 0) & (number == 0)).any() or not len(judged.false):
        return None
    false = np.bincount(judged.relation, weights=judged.false, minlength=relations)
    share = np.divide(false, number, out=np.zeros(relations), where=number > 0)
    value = np.where(violated, 1.0, share[relation])
    rate, groups = float(value.mean()), len(cluster)
    weight = np.divide(satisfied, number, out=np.zeros(relations), where=number > 0)[judged.relation]
    clusters = 1 + max(int(cluster.max()), int(judged.cluster.max()))
    influence = np.bincount(cluster, weights=value - rate, minlength=clusters)
    influence += np.bincount(
        judged.cluster, weights=weight * (judged.false - share[judged.relation]), minlength=clusters
    )
    judged_clusters = len(np.unique(judged.cluster))
    variance = observed.clusters / max(observed.clusters - 1, 1) * float((influence**2).sum()) / groups**2
    size = min(float(weight.sum() ** 2 / (weight**2).sum()) if weight.any() else 0.0, judged_clusters)
    held = float((weight * judged.false).sum() / weight.sum()) if weight.any() else 0.0
    added = (held * size + 1) / (size + 2)
    sr = 1 - observed.rate
    of_held = sr**2 * added * (1 - added) / max(size, 1.0)
    of_observed = (1 - added) ** 2 * sr * observed.rate / max(observed.worth, 1.0)
    variance = max(variance, of_held + of_observed)
    smooth = (rate * size + 1) / (size + 2)
    level = (1 + confidence) / 2
    few = float((ndtri(level) / stdtrit(max(judged_clusters - 1, 1), level)) ** 2)
    worth = min(smooth * (1 - smooth) / variance * few, float(groups))
    return DomainRate(rate, worth, groups, judged_clusters, len(judged.false))


def enough(first: DomainRate | None, rest: DomainRate | None) -> bool:
    """Whether a p-value of the two can be right."""
    return first is not None and rest is not None and min(first.clusters, rest.clusters) >= LEAST_CLUSTERS


def excess(first: DomainRate, rest: DomainRate, confidence: float = 0.95) -> Excess:
    """By how much the first rate is above that of the rest.

    Slice and rest count as independent, which is cautious where documents have groups in both.

    >>> found = excess(DomainRate(0.4, 50, 50, 50), DomainRate(0.2, 200, 200, 200))
    >>> round(found.difference, 6), found.low > 0, found.p < 0.01
    (0.2, True, True)
    """
    difference, low, high = difference_of_rates(first.estimate(confidence), rest.estimate(confidence))
    return Excess(difference, low, high, exact_p(first.rate, first.worth, rest.rate, rest.worth))


def exact_p(rate: float, size: float, rest: float, rest_size: float) -> float:
    """Fisher's exact test, one-sided, that `rate` is not above `rest`; sizes need not be whole.

    It is the chance that a Beta(hits, misses + 1) is not above a Beta(hits + 1, misses) of the rest. Source: Altham,
    JRSS B 31 (1969); effective sizes in exact methods: Korn and Graubard, Survey Methodology 24 (1998).

    >>> round(exact_p(8 / 10, 10, 5 / 20, 20), 5)  # Fisher's own: 0.00624
    0.00625
    """
    hits, rest_hits = rate * size, rest * rest_size
    if hits <= 0 or rest_hits >= rest_size:
        return 1.0
    first, second = (hits, size - hits + 1), (rest_hits + 1, rest_size - rest_hits)
    tails = np.logspace(-14, np.log10(0.5), 200)
    steps = np.unique(np.concatenate([betaincinv(*ends, at) for ends in (first, second) for at in (tails, 1 - tails)]))
    # The chance of the first between two places, times that the second is above them.
    below = 1 - betaincc(*first, steps)
    above = betaincc(*second, steps)
    inside = float((np.diff(below) * (above[1:] + above[:-1]) / 2).sum())
    return float(min(max(below[0] + inside, 1e-14), 1.0))


def discovery_rates(p_values: Sequence[float]) -> list[float]:
    """The least false discovery rate at which each hypothesis is among the found (q-values), however tests depend.

    Slices overlap, and a slice is above the rest where another is below. Source: Benjamini and Yekutieli, Annals of
    Statistics 29 (2001).

    >>> [round(q, 4) for q in discovery_rates([0.001, 0.5])], discovery_rates([])
    ([0.003, 0.75], [])
    """
    return [] if not len(p_values) else [float(q) for q in false_discovery_control(list(p_values), method="by")]
