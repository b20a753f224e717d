"""What the coefficients of two annotators share: the items that both rated, and how they agree there."""

from collections.abc import Callable

import numpy as np

from audit.statistics.agreement.parts import Parts
from audit.statistics.agreement.ratings import Ratings

Chance = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[float, np.ndarray]]
"""(labels by the first, labels by the second, weights) -> agreement by chance, and how much each item moves it."""


def paired_parts(ratings: Ratings, weights: np.ndarray | None, chance: Chance) -> Parts:
    """The parts of a coefficient of two annotators; `weights` is labels x labels, unweighted where None.

    Raises AuditError unless there are exactly two annotators.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": list("xxxy")})
    >>> paired_parts(Ratings.of(frame), None, lambda first, second, weights: (0.0, np.zeros(2))).value
    0.5
    """
    weights = np.eye(len(ratings.labels)) if weights is None else weights
    items, first, second = ratings.both
    clusters = None if ratings.clusters is None else np.unique(ratings.clusters[items], return_inverse=True)[1]
    if not len(items):
        empty = np.empty(0)
        return Parts(float("nan"), float("nan"), empty, empty, 0, clusters)
    agreed = weights[first, second]
    expected, moved = chance(first, second, weights)
    return Parts(float(agreed.mean()), expected, agreed - agreed.mean(), moved, len(items), clusters)
