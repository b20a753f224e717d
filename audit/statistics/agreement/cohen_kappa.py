"""Cohen's kappa of two annotators, unweighted or weighted."""

import numpy as np

from audit.statistics.agreement.parts import Parts
from audit.statistics.agreement.ratings import Ratings


def cohen_kappa(ratings: Ratings, weights: np.ndarray | None = None) -> Parts:
    """Agreement beyond that of two annotators who draw labels each by the own prevalence.

    Made from the items that both rated. `weights` (labels x labels) counts near misses in part (Cohen, Psychological
    Bulletin 70, 1968). Raises AuditError unless there are exactly two annotators. Source: Cohen, Educational and
    Psychological Measurement 20 (1960); variance: Gwet (2014), chapter 2.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2, 3, 3], "annotator": list("ababab"), "label": list("xxyxyy")})
    >>> round(cohen_kappa(Ratings.of(frame)).value, 12)
    0.4
    """
    weights = np.eye(len(ratings.labels)) if weights is None else weights
    items, first, second = ratings.both
    clusters = None if ratings.clusters is None else np.unique(ratings.clusters[items], return_inverse=True)[1]
    if not len(items):
        empty = np.empty(0)
        return Parts(float("nan"), float("nan"), empty, empty, 0, clusters)
    agreed = weights[first, second]
    one, other = (np.bincount(given, minlength=len(ratings.labels)) / len(items) for given in (first, second))
    expected = float(one @ weights @ other)
    moved = (weights @ other)[first] + (one @ weights)[second] - 2 * expected
    return Parts(float(agreed.mean()), expected, agreed - agreed.mean(), moved, len(items), clusters)
