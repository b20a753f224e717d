"""How the rates of cells vary together, because one source, or one document, has groups in several cells.

One hard sentence is wrong for several systems under several relations, and the sentences of a document are alike. So
everything here is a sum over clusters: of the deviations of a cluster's groups from their cells' means. That is what a
cluster bootstrap tends to, without its draws (linearisation).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import stdtrit

from audit.errors import AuditError
from audit.statistics.effective import EVENTS

CHUNK = 2_000_000
"""Numbers (clusters x cells) that are worked on at once."""
EVENTS_OF_ALL = 2.0
"""Common events per cell that are taken to be seen before anything is, in the correlation of all pairs of cells."""
EVENTS_OF_TWO = 4.0
"""And in that of two cells, as correlated as all pairs are. Both by simulation (docs/benchmarks.md)."""


@dataclass(frozen=True)
class Sums:
    """Sums over clusters, for some cells; `influence` and `size` below are (clusters, cells).

    `observations` and `clusters` (cells,) count a cell's groups and the clusters that have one, `events` (cells,) the
    clusters with a group of the rarer kind, false or true. `means` (cells,) are NaN without a group. `products` =
    influence' influence, `met` = (influence^2)' [size > 0]: the squared influences of one cell's groups in the clusters
    that the other meets, `overlap` = size' size. All are (cells, cells).
    """

    observations: np.ndarray
    clusters: np.ndarray
    events: np.ndarray
    means: np.ndarray
    products: np.ndarray
    met: np.ndarray
    overlap: np.ndarray

    def correlations(self) -> np.ndarray:
        """What the groups show of the correlations of the cells' means; (cells, cells), the diagonal 1.

        A cell without variation (nothing false, everything judged false) correlates with nothing: 0.

        >>> value = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
        >>> deviations(np.tile([0, 1, 2], 2), np.repeat([0, 1], 3), value, 3).correlations().round(6).tolist()
        [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        spread = np.sqrt(np.diag(self.products))
        unit = np.divide(1.0, spread, out=np.zeros(len(spread)), where=spread > 1e-9)
        found = np.clip(self.products * np.outer(unit, unit), -1.0, 1.0)
        np.fill_diagonal(found, 1.0)
        return np.asarray(found)

    def cautious(self, places: Sequence[int]) -> np.ndarray:
        """Correlations of these cells' means for an interval of their sum; (places, places), the diagonal 1.

        Few false groups show little of how cells go together: of two cells that saw the same clean sources
        `correlations` is 0, although they say the same thing once. So the clusters that two cells share are taken to be
        false together until groups show otherwise. r is the correlation within shared clusters over all pairs, with
        `EVENTS_OF_ALL` events a cell that are wholly common beside those that were seen; each pair's own covariance has
        `EVENTS_OF_TWO` events of the correlation r times the share of their clusters that they have in common. Where
        much is false the result is `correlations`, cells that share no cluster are independent, and clusters that are
        known to be unlike each other give less than the bound. Sums need it, differences do not: there it would not be
        cautious.

        >>> clean = deviations(np.tile(np.arange(60), 2), np.repeat([0, 1], 60), np.zeros(120), 2)
        >>> float(clean.correlations()[0, 1]), round(float(clean.cautious([0, 1])[0, 1]), 6)
        (0.0, 1.0)
        """
        pick = np.ix_(list(places), list(places))
        products, met, overlap = self.products[pick], self.met[pick], self.overlap[pick]
        other = ~np.eye(len(products), dtype=bool)
        own = np.sqrt(np.diag(overlap))
        scale = np.divide(1.0, own, out=np.zeros(len(own)), where=own > 0)
        share = np.clip(overlap * np.outer(scale, scale), 0.0, 1.0)
        before = EVENTS_OF_ALL * len(products)
        common = max(float(products[other].sum()), 0.0) + before
        within = common / max(float(np.sqrt(met * met.T)[other].sum()) + before, common)
        events = np.sqrt(np.diag(products) + EVENTS_OF_TWO)
        found = (products + EVENTS_OF_TWO * within * share) / np.outer(events, events)
        np.fill_diagonal(found, 1.0)
        return np.asarray(found)

    def worth(self, confidence: float = 0.95) -> np.ndarray:
        """How many independent observations the groups of each cell are worth; (cells,), at most as many as there are.

        The variance between clusters against that of independent groups, times (t(n - 1) / t(clusters - 1))^2, since
        few clusters tell the variance badly. Where few clusters have a false group, or a true one, it is told worse
        still, and too small where the estimate is too small: `EVENTS` clusters whose groups are copies of
        each other are mixed in (Kish, Survey Sampling 1965), which are all there is where nothing varies. One group a
        cluster is worth one observation, exactly. Source: Korn and Graubard, Survey Methodology 24 (1998).

        >>> value = np.repeat([1.0, 0.0, 0.0, 1.0], 5)
        >>> one, same = np.arange(20), np.repeat(np.arange(4), 5)
        >>> [round(float(deviations(of, one * 0, value, 1).worth()[0]), 2) for of in (one, same)]
        [20.0, 1.43]
        """
        n, g, p = self.observations, self.clusters, self.means
        copied = EVENTS / (EVENTS + self.events)
        with np.errstate(divide="ignore", invalid="ignore"):
            copies = np.diag(self.overlap) / n
            seen = np.diag(self.products) * (n - 1) * g / ((g - 1) * n * n * p * (1 - p))
            effect = np.where((self.events > 0) & (g > 1), (1 - copied) * seen + copied * copies, copies)
            reach = stdtrit(np.maximum(n - 1, 1), (1 + confidence) / 2) / stdtrit(
                np.maximum(g - 1, 1), (1 + confidence) / 2
            )
            found = n / effect * np.where(self.events > 0, reach, 1.0) ** 2
        return np.asarray(np.where(g == n, n, np.minimum(found, n)))


def deviations(cluster: np.ndarray, cell: np.ndarray, value: np.ndarray, cells: int) -> Sums:
    """The sums of groups whose influence is the deviation of `value` from the cell's mean.

    `cluster` and `cell` are integer codes from 0, one a group, `value` a number per group, such as 1 for a false
    satisfaction. Raises AuditError on arrays of different lengths or codes out of range. Source: Binder, International
    Statistical Review 51 (1983); Davison and Hinkley, Bootstrap Methods and their Application (1997), section 2.7.

    >>> found = deviations(np.array([0, 0, 1, 2]), np.array([0, 1, 0, 0]), np.array([1, 0, 1, 1]), 2)
    >>> found.means.tolist(), found.observations.tolist(), found.clusters.tolist()
    ([1.0, 0.0], [3.0, 1.0], [3.0, 1.0])
    """
    size, total = _tables(cluster, cell, value, cells)
    means = _means(size, total)
    kinds = (np.bincount(one.indices[one.data > 0], minlength=cells) for one in (total, csr_array(size - total)))
    return _sums(np.minimum(*kinds), total - size * np.nan_to_num(means)[None, :], size, means)


def of_products(
    judged: tuple[np.ndarray, np.ndarray, np.ndarray], checked: tuple[np.ndarray, np.ndarray, np.ndarray], cells: int
) -> Sums:
    """The sums of SR_g = SR_o (1 - R_FS) where both are estimated: cells of texts to come.

    `judged` is (cluster, cell, false), `checked` (cluster, cell, satisfied), with the same codes of clusters. The
    influence is in false groups: that of R_FS less (1 - R_FS) judged / (SR_o groups) times that of SR_o. `size` is that
    of the judged groups, of cells without one that of the checked groups.

    >>> judged = (np.array([0, 1]), np.array([0, 0]), np.array([1, 0]))
    >>> of_products(judged, (np.arange(4), np.zeros(4, int), np.array([1, 1, 0, 0])), 1).means.tolist()
    [0.25]
    """
    clusters = 1 + max((int(one.max(initial=-1)) for one, _, _ in (judged, checked)), default=-1)
    size, total = _tables(*judged, cells, clusters)
    groups, right = _tables(*checked, cells, clusters)
    rate, observed = _means(size, total), _means(groups, right)
    n, m = (np.asarray(one.sum(axis=0)).ravel() for one in (size, groups))
    weight = np.divide((1 - np.nan_to_num(rate)) * n, observed * m, out=np.zeros(cells), where=(n > 0) & (observed > 0))
    weight = np.where(n > 0, weight, 1.0)
    false = total - size * np.nan_to_num(rate)[None, :]
    satisfied = right - groups * np.nan_to_num(observed)[None, :]
    seen = size + groups * np.where(n > 0, 0.0, 1.0)[None, :]
    return _sums(np.zeros(cells), false - satisfied * weight[None, :], seen, observed * (1 - rate))


def opposed(
    judged: tuple[np.ndarray, np.ndarray, np.ndarray], checked: tuple[np.ndarray, np.ndarray, np.ndarray], cells: int
) -> np.ndarray:
    """How far the estimates of R_FS and of SR_o of a cell go in opposite directions from cluster to cluster; (cells,).

    Their correlation, 0 where it is positive: only what widens the interval of SR_g counts, few clusters show little.
    With one group a cluster it is 0, as all judged groups are satisfied. Arguments as in `of_products`.

    >>> judged = (np.array([0, 1]), np.array([0, 0]), np.array([1, 0]))
    >>> opposed(judged, (np.arange(4), np.zeros(4, int), np.array([1, 1, 0, 0])), 1).tolist()
    [0.0]
    """
    parts = []
    clusters = 1 + max((int(one.max(initial=-1)) for one, _, _ in (judged, checked)), default=-1)
    for groups in (judged, checked):
        size, total = _tables(*groups, cells, clusters)
        parts.append(csr_array(total - size * np.nan_to_num(_means(size, total))[None, :]))
    products, first, second = (
        np.asarray((one * other).sum(axis=0), float).ravel() for one, other in (parts, parts[:1] * 2, parts[1:] * 2)
    )
    root = np.sqrt(first * second)
    found = np.divide(products, root, out=np.zeros(cells), where=root > 1e-9)
    return np.asarray(np.where(found < -1e-9, np.maximum(found, -1.0), 0.0))


def _tables(
    cluster: np.ndarray, cell: np.ndarray, value: np.ndarray, cells: int, clusters: int | None = None
) -> tuple[csr_array, csr_array]:
    """Sparse (clusters, cells): how many groups, and the sum of their values."""
    cluster, cell, value = np.asarray(cluster), np.asarray(cell), np.asarray(value, float)
    if not len(cluster) == len(cell) == len(value):
        raise AuditError(
            f"{len(cluster)} clusters, {len(cell)} cells and {len(value)} values; needed is one of each for every group"
        )
    if len(cell) and not (cell.min() >= 0 and cell.max() < cells and cluster.min() >= 0):
        raise AuditError(f"codes must lie between 0 and {cells - 1} for cells, and be 0 or more for clusters")
    shape = (1 + int(cluster.max(initial=-1)) if clusters is None else clusters, cells)
    return (
        csr_array((np.ones(len(cell)), (cluster, cell)), shape=shape),
        csr_array((value, (cluster, cell)), shape=shape),
    )


def _means(size: csr_array, total: csr_array) -> np.ndarray:
    counts = np.asarray(size.sum(axis=0), float).ravel()
    found = np.full(len(counts), np.nan)
    return np.divide(np.asarray(total.sum(axis=0), float).ravel(), counts, out=found, where=counts > 0)


def _sums(events: np.ndarray, influence: csr_array, size: csr_array, means: np.ndarray) -> Sums:
    influence, size = csr_array(influence), csr_array(size)
    clusters, cells = size.shape
    products, met, overlap = (np.zeros((cells, cells)) for _ in range(3))
    present = np.zeros(cells)
    rows = max(1, CHUNK // max(cells, 1))
    for start in range(0, clusters, rows):
        some, held = (one[start : start + rows].toarray() for one in (influence, size))
        there = (held > 0).astype(float)
        products += some.T @ some
        met += (some * some).T @ there
        overlap += held.T @ held
        present += there.sum(axis=0)
    return Sums(np.asarray(size.sum(axis=0), float).ravel(), present, events, means, products, met, overlap)
