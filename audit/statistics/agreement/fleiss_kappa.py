"""Fleiss' kappa, for any number of annotators and with missing ratings."""

import numpy as np

from audit.statistics.agreement.parts import Parts, observed_agreement
from audit.statistics.agreement.ratings import Ratings


def fleiss_kappa(ratings: Ratings, weights: np.ndarray | None = None) -> Parts:
    """Agreement beyond what annotators would reach who all draw labels by their prevalence.

    The annotators of one item need not be those of another, and their number may differ. Items with one rating say
    nothing about agreement but count in the prevalence. `weights` (labels x labels) counts near misses in part.
    Source: Fleiss, Psychological Bulletin 76 (1971); missing ratings and variance: Gwet (2014), chapter 2.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": list("xxyy")})
    >>> fleiss_kappa(Ratings.of(frame)).value
    1.0
    """
    weights = np.eye(len(ratings.labels)) if weights is None else weights
    observed, influence = observed_agreement(ratings, weights)
    shares = ratings.prevalence
    weighed = weights @ shares
    expected = float(shares @ weighed)
    moved = 2 * (ratings.counts @ weighed / ratings.per_item - expected)
    return Parts(observed, expected, influence, moved, int(ratings.shared.sum()), ratings.clusters)
