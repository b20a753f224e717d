"""Gwet's AC2: AC1 with weights for near misses."""

import numpy as np

from audit.statistics.agreement.parts import Parts, observed_agreement
from audit.statistics.agreement.ratings import Ratings


def gwet_ac2(ratings: Ratings, weights: np.ndarray) -> Parts:
    """Agreement beyond that of annotators who guess, and guess only where an item is hard to rate.

    Expected agreement is T / (q (q - 1)) x sum of p (1 - p) over the q labels, p their prevalence and T the sum of
    all `weights` (labels x labels). With one label it is 1: undefined. Source: Gwet (2014), chapter 3.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": ["1", "1", "2", "3"]})
    >>> round(gwet_ac2(Ratings.of(frame), np.eye(3)).value, 3)
    0.273
    """
    observed, influence = observed_agreement(ratings, weights)
    labels, shares = len(ratings.labels), ratings.prevalence
    items = int(ratings.shared.sum())
    if labels < 2:
        return Parts(observed, 1.0, influence, np.zeros(ratings.items), items, ratings.clusters)
    factor = float(weights.sum()) / (labels * (labels - 1))
    expected = factor * float(shares @ (1 - shares))
    # d p (1 - p) = (1 - 2 p) dp, and dp is the item's own shares less p.
    slope = factor * (1 - 2 * shares)
    moved = ratings.counts @ slope / ratings.per_item - float(shares @ slope)
    return Parts(observed, expected, influence, moved, items, ratings.clusters)
