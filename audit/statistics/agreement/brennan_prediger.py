"""Brennan and Prediger's coefficient: chance takes every label equally often."""

import numpy as np

from audit.statistics.agreement.parts import Parts, observed_agreement
from audit.statistics.agreement.ratings import Ratings


def brennan_prediger(ratings: Ratings, weights: np.ndarray | None = None) -> Parts:
    """Agreement beyond that of annotators who draw each of the q labels with probability 1 / q.

    Expected agreement is the mean of all `weights` (labels x labels). Source: Brennan and Prediger, Educational and
    Psychological Measurement 41 (1981); weighted, with missing ratings: Gwet (2014), chapter 3.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": list("xxxy")})
    >>> brennan_prediger(Ratings.of(frame)).value
    0.0
    """
    weights = np.eye(len(ratings.labels)) if weights is None else weights
    observed, influence = observed_agreement(ratings, weights)
    expected = float(weights.mean())
    return Parts(observed, expected, influence, np.zeros(ratings.items), int(ratings.shared.sum()), ratings.clusters)
