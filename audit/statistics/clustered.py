"""A rate over clusters of observations, such as the groups of sources, with an interval that knows of the clusters."""

from dataclasses import dataclass

import numpy as np

from audit.statistics.effective import effective_interval, effective_size_of_sums


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

    >>> found = clustered_rate(np.array([0, 1, 2, 0]), np.array([2, 2, 2, 0]))
    >>> found.hits, found.size, found.clusters, found.rate
    (3, 6, 3, 0.5)
    """
    worth = effective_size_of_sums(hits, size, confidence)
    found, counts = int(np.sum(hits)), int(np.sum(size))
    if not counts:
        return ClusteredRate(0, 0, 0, None, None, None)
    ends = effective_interval(found / counts, worth, confidence)
    return ClusteredRate(found, counts, int(np.count_nonzero(size)), found / counts, ends.low, ends.high)
