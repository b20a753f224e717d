"""Which labels annotators take for each other: a matrix of pairs of ratings."""

import numpy as np

from audit.statistics.agreement.ratings import Ratings


def label_pairs(ratings: Ratings) -> np.ndarray:
    """How often one annotator gave the row's label where another gave the column's; (labels, labels), symmetric.

    Every item adds each of its pairs of annotators once in either direction, so the diagonal holds twice the pairs that
    agree. An item with one rating adds nothing. Source: the coincidences of Krippendorff (2011), Computing
    Krippendorff's Alpha-Reliability, without the weight 1 / (m - 1) of items with m ratings.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 1, 2], "annotator": list("abca"), "label": list("xxyx")})
    >>> label_pairs(Ratings.of(frame)).tolist()
    [[2, 2], [2, 0]]
    """
    counts = ratings.counts
    pairs = (counts.T @ counts).toarray() - np.diag(np.asarray(counts.sum(axis=0)).ravel())
    return np.rint(pairs).astype(int)
