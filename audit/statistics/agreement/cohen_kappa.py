"""Cohen's kappa of two annotators, unweighted or weighted."""

import numpy as np

from audit.statistics.agreement.paired import paired_parts
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

    def chance(first: np.ndarray, second: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
        one, other = (np.bincount(given, minlength=len(weights)) / len(first) for given in (first, second))
        expected = float(one @ weights @ other)
        return expected, (weights @ other)[first] + (one @ weights)[second] - 2 * expected

    return paired_parts(ratings, weights, chance)
