"""The coefficients: how much annotators agree, beyond what each of them expects by chance."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array, diags_array, hstack

from audit.errors import AuditError
from audit.statistics.agreement.parts import AGREED, APART, Parts, no_chance
from audit.statistics.agreement.ratings import Ratings


def percent_agreement(ratings: Ratings, weights: np.ndarray | None = None) -> Parts:
    """Share of agreeing pairs of annotators, averaged over the items that two or more rated; nothing for chance.

    A fraction, in spite of its name. `weights` (labels x labels) counts near misses in part. Source: Gwet, Handbook of
    Inter-Rater Reliability (4th edition, 2014), chapter 2.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": list("xxxy")})
    >>> percent_agreement(Ratings.of(frame)).value
    0.5
    """
    return _of_items(ratings, weights, no_chance)


def cohen_kappa(ratings: Ratings, weights: np.ndarray | None = None) -> Parts:
    """Agreement beyond that of two annotators who draw labels each by the own prevalence.

    Made from the items that both rated. `weights` (labels x labels) counts near misses in part (Cohen, Psychological
    Bulletin 70, 1968). Raises AuditError unless there are exactly two annotators. Source: Cohen, Educational and
    Psychological Measurement 20 (1960).

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2, 3, 3], "annotator": list("ababab"), "label": list("xxyxyy")})
    >>> round(cohen_kappa(Ratings.of(frame)).value, 12)
    0.4
    """
    weights = np.eye(len(ratings.labels)) if weights is None else weights
    items, first, second = ratings.both
    labels, there = len(weights), np.ones(len(items))
    agreement = csr_array(np.column_stack([there, weights[first, second]]))
    said = [csr_array((there, (np.arange(len(items)), one)), shape=(len(items), labels)) for one in (first, second)]

    def chance(sums: np.ndarray) -> np.ndarray:
        shares = sums[:, 2:] / sums[:, :1]
        return np.asarray(((shares[:, :labels] @ weights) * shares[:, labels:]).sum(axis=1))

    prior, mass = _prior(weights)
    clusters = None if ratings.clusters is None else ratings.clusters[items]
    rows = csr_array(hstack([agreement, *said]))
    return Parts(rows, chance, np.hstack([prior, prior[:, 2:]]), mass, clusters)


def fleiss_kappa(ratings: Ratings, weights: np.ndarray | None = None) -> Parts:
    """Agreement beyond what annotators would reach who all draw labels by their prevalence.

    The annotators of one item need not be those of another, and their number may differ. Items with one rating say
    nothing about agreement but count in the prevalence. `weights` (labels x labels) counts near misses in part.
    Source: Fleiss, Psychological Bulletin 76 (1971); missing ratings: Gwet (2014), chapter 2.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": list("xxyy")})
    >>> fleiss_kappa(Ratings.of(frame)).value
    1.0
    """
    weights = np.eye(len(ratings.labels)) if weights is None else weights
    return _of_items(ratings, weights, lambda sums: _pairs(_shares(sums), weights))


def gwet_ac(ratings: Ratings, weights: np.ndarray | None = None) -> Parts:
    """Gwet's AC1, or with `weights` (labels x labels) for near misses his AC2: only what is hard to rate is guessed.

    It stays near the percent agreement where one label prevails and kappa does not. Expected agreement is
    T / (q (q - 1)) x sum of p (1 - p) over the q labels, p their prevalence and T the sum of all weights. With one
    label it is 1: undefined. Source: Gwet, British Journal of Mathematical and Statistical Psychology 61 (2008); with
    missing ratings and weights Gwet (2014), chapters 2 and 3.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": ["1", "1", "2", "3"]})
    >>> round(gwet_ac(Ratings.of(frame)).value, 3)
    0.273
    """
    weights = np.eye(len(ratings.labels)) if weights is None else weights
    labels = len(weights)
    factor = float(weights.sum()) / (labels * (labels - 1)) if labels > 1 else np.nan

    def chance(sums: np.ndarray) -> np.ndarray:
        shares = _shares(sums)
        guessed = np.asarray((shares * (1 - shares)).sum(axis=1))
        return factor * guessed if labels > 1 else np.ones(len(sums))

    return _of_items(ratings, weights, chance)


def krippendorff_alpha(ratings: Ratings, level: str = "nominal") -> Parts:
    """1 - observed / expected disagreement, over the items that two annotators or more rated.

    `level` is a key of `DISTANCES`: it says how far two labels are apart; ordinal distances are those of the sample.
    The parts hold agreement, 1 less disagreement in units of the largest distance, so that alpha is their coefficient
    as for the others. Any number of annotators, any missing ratings. Raises AuditError for an unknown level, or labels
    that the level does not allow. Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), its form
    for missing data and all metrics.

    >>> import pandas as pd
    >>> rows = [(1, "a", 1), (1, "b", 1), (2, "a", 2), (2, "b", 3), (3, "a", 3), (3, "b", 3)]
    >>> ratings = Ratings.of(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
    >>> round(krippendorff_alpha(ratings).value, 3), round(krippendorff_alpha(ratings, "interval").value, 3)
    (0.545, 0.828)
    """
    if level not in DISTANCES:
        raise AuditError(f"level {level!r} is not one of {', '.join(DISTANCES)}")
    shares = ratings.counts[ratings.shared].sum(axis=0) / max(ratings.per_item[ratings.shared].sum(), 1.0)
    distances = DISTANCES[level](shares if ratings.values is None else ratings.values, shares)
    weights = 1 - distances / (distances.max() or 1.0)

    def chance(sums: np.ndarray) -> np.ndarray:
        # The same ratings, dealt anew to the items: nobody meets a rating of one's own.
        total = sums[:, 0]
        return 1 - (1 - _pairs(_shares(sums), weights)) * total / (total - 1)

    return _of_items(ratings, weights, chance, by_rating=True)


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
    return interval_level(np.cumsum(shares) - shares / 2, shares)


def interval_level(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Squared difference of the values.

    >>> interval_level(np.array([1.0, 4.0]), np.zeros(2))[0].tolist()
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
    "interval": interval_level,
    "ratio": ratio,
}
"""How far labels are apart, by level: values (q,) and shares of the ratings (q,) -> distances (q, q)."""


def linear(values: np.ndarray) -> np.ndarray:
    """Weights that fall with the distance of the values (q,): 1 - |x - y| / (max - min).

    With the values of the labels in place of their positions (Cohen 1968), a label that nobody used changes nothing.

    >>> linear(np.array([1.0, 2.0, 5.0]))[0].tolist()
    [1.0, 0.75, 0.0]
    """
    return 1 - np.abs(values[:, None] - values[None, :]) / (np.ptp(values) or 1.0)


def quadratic(values: np.ndarray) -> np.ndarray:
    """Weights that fall with the square of the distance of the values (q,).

    >>> quadratic(np.array([1.0, 2.0, 5.0]))[0].tolist()
    [1.0, 0.9375, 0.0]
    """
    return 1 - (1 - linear(values)) ** 2


WEIGHTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"linear": linear, "quadratic": quadratic}
"""Weights by the name that the suite calls a level: matrices of labels x labels, 1 on the diagonal."""


def _of_items(
    ratings: Ratings,
    weights: np.ndarray | None,
    chance: Callable[[np.ndarray], np.ndarray],
    by_rating: bool = False,
) -> Parts:
    """A coefficient whose rows are weight, agreement and the shares of labels of each item; `chance` reads their sums.

    Items weigh the same, and those with one rating count for the shares; `by_rating`: each weighs as many as it has
    ratings, and those with one do not count.
    """
    weights = np.eye(len(ratings.labels)) if weights is None else weights
    size, shared = ratings.per_item, ratings.shared
    agreed = np.where(shared, (ratings.forms(weights) - size) / np.where(shared, size * (size - 1), 1), 0.0)
    shares = diags_array(1 / size).tocsr() @ ratings.counts
    rows = csr_array(hstack([csr_array(np.column_stack([shared, agreed])), shares]))
    prior, mass = _prior(weights)
    clusters = ratings.clusters
    if by_rating:
        rows = diags_array(size[shared]).tocsr() @ rows[shared]
        clusters = None if clusters is None else clusters[shared]
        prior = prior * (size[shared].mean() if shared.any() else 1.0)
    return Parts(csr_array(rows), chance, prior, mass, clusters)


def _prior(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of imagined items (q + 1, 2 + q): all agree on a label, for each of q labels, and nobody agrees; masses."""
    labels = len(weights)
    apart = (weights.sum() - labels) / max(labels * (labels - 1), 1)
    rows = np.vstack([np.eye(labels), np.full(labels, 1 / labels)])
    agreement = np.r_[np.ones(labels), apart]
    mass = np.r_[np.full(labels, AGREED / labels), APART]
    return np.column_stack([np.ones(labels + 1), agreement, rows]), mass


def _shares(sums: np.ndarray) -> np.ndarray:
    """Shares of labels (d, q) from sums (d, 2 + q)."""
    return sums[:, 2:] / sums[:, 2:].sum(axis=1, keepdims=True)


def _pairs(shares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Agreement of two labels that are drawn by their shares (d, q): (d,)."""
    return np.asarray(((shares @ weights) * shares).sum(axis=1))
