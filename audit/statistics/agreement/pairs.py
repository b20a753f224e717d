"""How every two annotators agree: a matrix of pairs, all at once."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from audit.statistics.agreement.parts import TINY
from audit.statistics.agreement.ratings import Ratings


@dataclass(frozen=True, eq=False)
class Pairs:
    """Symmetric matrices of annotators x annotators, in the order of `Ratings.annotators`.

    `items` counts the items that both rated. `percent`, `kappa` (Cohen's) and `ac1` (Gwet's) are made from these; NaN
    where there are none, and `kappa` and `ac1` also where these items have one label only: undefined, no variation.
    On the diagonal are each annotator's own items, and NaN.
    """

    items: np.ndarray
    percent: np.ndarray
    kappa: np.ndarray
    ac1: np.ndarray


def agreement_of_pairs(ratings: Ratings) -> Pairs:
    """Percent agreement, Cohen's kappa and AC1 of all pairs of annotators.

    For each label k, M_k[a, b] counts the items that a gave the label k and b rated at all: these are the marginals of
    all pairs' tables, and no pair is looked at on its own. AC1 counts the labels of all ratings, not of the pair's.

    >>> import pandas as pd
    >>> rows = [(1, "a", "x"), (1, "b", "x"), (2, "a", "y"), (2, "b", "x"), (3, "a", "y"), (3, "b", "y")]
    >>> found = agreement_of_pairs(Ratings.of(pd.DataFrame(rows, columns=["item", "annotator", "label"])))
    >>> int(found.items[0, 1]), round(float(found.kappa[0, 1]), 3)
    (3, 0.4)
    """
    people, labels = len(ratings.annotators), len(ratings.labels)
    shape = (ratings.items, people)
    rated = csr_array((np.ones(len(ratings.item)), (ratings.item, ratings.annotator)), shape=shape)
    items = (rated.T @ rated).toarray()
    agreed, by_own, by_common = (np.zeros((people, people)) for _ in range(3))
    uniform = np.zeros((people, people), dtype=bool)
    with np.errstate(invalid="ignore", divide="ignore"):
        for label in range(labels):
            mine = ratings.label == label
            given = csr_array((np.ones(mine.sum()), (ratings.item[mine], ratings.annotator[mine])), shape=shape)
            marginal = (given.T @ rated).toarray() / items
            common = (marginal + marginal.T) / 2
            agreed += (given.T @ given).toarray()
            by_own += marginal * marginal.T
            by_common += common * (1 - common)
            uniform |= common >= 1 - TINY
        percent = agreed / items
        kappa = np.where(uniform, np.nan, (percent - by_own) / (1 - by_own))
        guessed = by_common / max(labels - 1, 1)
        ac1 = np.where(uniform, np.nan, (percent - guessed) / (1 - guessed))
    for matrix in (percent, kappa, ac1):
        np.fill_diagonal(matrix, np.nan)
    return Pairs(items.astype(int), percent, kappa, ac1)
