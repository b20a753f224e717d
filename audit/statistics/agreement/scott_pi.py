"""Scott's pi of two annotators."""

import numpy as np

from audit.statistics.agreement.parts import Parts
from audit.statistics.agreement.ratings import Ratings


def scott_pi(ratings: Ratings, weights: np.ndarray | None = None) -> Parts:
    """Agreement beyond that of two annotators who draw labels both by their common prevalence.

    Made from the items that both rated; there it equals Fleiss' kappa. `weights` (labels x labels) counts near misses
    in part. Raises AuditError unless there are exactly two annotators. Source: Scott, Public Opinion Quarterly 19
    (1955); variance: Gwet (2014), chapter 2.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2, 3, 3], "annotator": list("ababab"), "label": list("xxyxyy")})
    >>> round(scott_pi(Ratings.of(frame)).value, 3)
    0.333
    """
    weights = np.eye(len(ratings.labels)) if weights is None else weights
    items, first, second = ratings.both
    clusters = None if ratings.clusters is None else np.unique(ratings.clusters[items], return_inverse=True)[1]
    if not len(items):
        empty = np.empty(0)
        return Parts(float("nan"), float("nan"), empty, empty, 0, clusters)
    agreed = weights[first, second]
    shares = np.bincount(np.concatenate([first, second]), minlength=len(ratings.labels)) / (2 * len(items))
    weighed = weights @ shares
    expected = float(shares @ weighed)
    moved = weighed[first] + weighed[second] - 2 * expected
    return Parts(float(agreed.mean()), expected, agreed - agreed.mean(), moved, len(items), clusters)
