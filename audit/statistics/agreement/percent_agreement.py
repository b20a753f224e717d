"""Percent agreement: how often two annotators of one item give it the same label."""

import numpy as np

from audit.statistics.agreement.parts import Parts, observed_agreement
from audit.statistics.agreement.ratings import Ratings


def percent_agreement(ratings: Ratings, weights: np.ndarray | None = None) -> Parts:
    """Share of agreeing pairs of annotators, averaged over the items that two or more rated; nothing for chance.

    A fraction, in spite of its name. `weights` (labels x labels) counts near misses in part. Source: Gwet (2014),
    chapter 2.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": list("xxxy")})
    >>> percent_agreement(Ratings.of(frame)).value
    0.5
    """
    weights = np.eye(len(ratings.labels)) if weights is None else weights
    observed, influence = observed_agreement(ratings, weights)
    nothing = np.zeros(ratings.items)
    return Parts(observed, 0.0, influence, nothing, int(ratings.shared.sum()), ratings.clusters)
