"""Conger's kappa: Cohen's for any number of annotators."""

import numpy as np

from audit.statistics.agreement.parts import Parts, observed_agreement
from audit.statistics.agreement.ratings import Ratings


def conger_kappa(ratings: Ratings, weights: np.ndarray | None = None) -> Parts:
    """Agreement beyond that of annotators who draw labels each by the own prevalence, averaged over pairs of them.

    With two annotators who rated everything it is Cohen's kappa. Each annotator's prevalence is that of all items he
    or she rated. `weights` (labels x labels) counts near misses in part. Source: Conger, Psychological Bulletin 88
    (1980); missing ratings and variance: Gwet (2014), chapter 2. One annotator alone: expected is 1, undefined.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2, 3, 3], "annotator": list("ababab"), "label": list("xxyxyy")})
    >>> round(conger_kappa(Ratings.of(frame)).value, 12)
    0.4
    """
    weights = np.eye(len(ratings.labels)) if weights is None else weights
    observed, influence = observed_agreement(ratings, weights)
    people, labels = len(ratings.annotators), len(ratings.labels)
    items = int(ratings.shared.sum())
    if people < 2:
        return Parts(observed, 1.0, influence, np.zeros(ratings.items), items, ratings.clusters)
    cells = ratings.annotator * labels + ratings.label
    given = np.bincount(cells, minlength=people * labels).reshape(people, labels).astype(float)
    rated = given.sum(axis=1)
    shares = given / rated[:, None]
    # Sum over ordered pairs of different annotators = everybody with everybody, less each with himself.
    others = (shares.sum(axis=0) - shares) @ weights
    pairs = people * (people - 1)
    expected = float((others * shares).sum()) / pairs
    # A rating moves its annotator's prevalence, by n over the annotator's ratings, towards its own label.
    centred = others - (others * shares).sum(axis=1, keepdims=True)
    moves = 2 * centred * (ratings.items / rated)[:, None] / pairs
    moved = np.bincount(ratings.item, moves[ratings.annotator, ratings.label], minlength=ratings.items)
    return Parts(observed, expected, influence, moved, items, ratings.clusters)
