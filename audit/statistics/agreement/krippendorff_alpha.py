"""Krippendorff's alpha for nominal, ordinal, interval and ratio labels."""

from collections.abc import Callable

import numpy as np

from audit.errors import AuditError
from audit.statistics.agreement.parts import Parts
from audit.statistics.agreement.ratings import Ratings


def krippendorff_alpha(ratings: Ratings, level: str = "nominal") -> Parts:
    """1 - observed / expected disagreement, over the items that two annotators or more rated.

    `level` is a key of `DISTANCES`: it says how far two labels are apart. The parts hold agreement, 1 less disagreement
    in units of the largest distance, so that alpha is their coefficient as for the others. Any number of annotators,
    any missing ratings. Raises AuditError for an unknown level, or labels that the level does not allow. Source:
    Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), its form for missing data and all metrics. The
    variance is linearised, and follows the ordinal distances too, which depend on the labels' frequencies.

    >>> import pandas as pd
    >>> rows = [(1, "a", 1), (1, "b", 1), (2, "a", 2), (2, "b", 3), (3, "a", 3), (3, "b", 3)]
    >>> ratings = Ratings.of(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
    >>> round(krippendorff_alpha(ratings).value, 3), round(krippendorff_alpha(ratings, "interval").value, 3)
    (0.545, 0.828)
    """
    if level not in DISTANCES:
        raise AuditError(f"level {level!r} is not one of {', '.join(DISTANCES)}")
    counts, size = ratings.counts[ratings.shared], ratings.per_item[ratings.shared]
    clusters = None
    if ratings.clusters is not None:
        clusters = np.unique(ratings.clusters[ratings.shared], return_inverse=True)[1]
    if not len(size):
        empty = np.empty(0)
        return Parts(float("nan"), float("nan"), empty, empty, 0, clusters)
    mean, total = size.mean(), size.sum()
    shares = np.asarray(counts.sum(axis=0)).ravel() / total
    distances = DISTANCES[level](ratings.values if ratings.values is not None else shares, shares)
    unit = distances.max() or 1.0
    distances = distances / unit
    # Pairs of different labels within items, and those expected when the same ratings are dealt anew to the items.
    coincidences = (counts.T @ counts.multiply(1 / (size - 1)[:, None])).toarray() / total
    expectations = np.outer(shares, shares) * total / (total - 1)
    observed = float((coincidences * distances).sum())
    expected = float((expectations * distances).sum())

    within = ratings.forms(distances)[ratings.shared] / (size - 1)
    observed_moved = (within - observed * size) / mean
    towards = distances @ shares * (total / (total - 1))
    expected_moved = 2 * (counts @ towards - expected * size) / mean
    if level == "ordinal":
        for moved, pairs in ((observed_moved, coincidences), (expected_moved, expectations)):
            slope = _ordinal_slope(shares, pairs) / unit
            moved += (counts @ slope - float(shares @ slope) * size) / mean
    return Parts(1 - observed, 1 - expected, -observed_moved, -expected_moved, len(size), clusters)


def nominal(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Different labels are all equally far apart: (q,), (q,) -> (q, q).

    >>> nominal(np.zeros(2), np.zeros(2)).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return 1 - np.eye(len(shares))


def ordinal(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Squared share of the ratings that lie between two labels, half of each of the two included.

    >>> ordinal(np.arange(3), np.array([0.25, 0.25, 0.5]))[0].tolist()
    [0.0, 0.0625, 0.390625]
    """
    return _between(shares) ** 2


def interval(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Squared difference of the values.

    >>> interval(np.array([1.0, 4.0]), np.zeros(2))[0].tolist()
    [0.0, 9.0]
    """
    return (values[:, None] - values[None, :]) ** 2


def ratio(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Squared difference of the values in units of their sum. Raises AuditError for negative values.

    >>> ratio(np.array([0.0, 1.0, 3.0]), np.zeros(3))[1].tolist()
    [1.0, 0.0, 0.25]
    """
    if (values < 0).any():
        raise AuditError(f"label {values[values < 0][0]:g} is negative; the level ratio allows numbers from 0")
    sums = values[:, None] + values[None, :]
    return ((values[:, None] - values[None, :]) / np.where(sums > 0, sums, 1.0)) ** 2


DISTANCES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "nominal": nominal,
    "ordinal": ordinal,
    "interval": interval,
    "ratio": ratio,
}
"""How far labels are apart, by level: values (q,) and shares of the ratings (q,) -> distances (q, q)."""


def _between(shares: np.ndarray) -> np.ndarray:
    middle = np.cumsum(shares) - shares / 2
    return np.abs(middle[:, None] - middle[None, :])


def _ordinal_slope(shares: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """What sum(pairs x distances) gains for each label's share, (q,), as the ordinal distances grow with it.

    The distance of c < k is the square of half of c, all between, and half of k.
    """
    gains = np.triu(2 * _between(shares) * (pairs + pairs.T), 1)
    edges = (gains.sum(axis=0) + gains.sum(axis=1)) / 2
    # A label g lies strictly between c and k for all c < g < k.
    above = gains.sum(axis=1, keepdims=True) - np.cumsum(gains, axis=1)
    inside = np.array([above[:g, g].sum() for g in range(len(shares))])
    return edges + inside
