"""Scott's pi of two annotators."""

import numpy as np

from audit.statistics.agreement.paired import paired_parts
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

    def chance(first: np.ndarray, second: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
        shares = np.bincount(np.concatenate([first, second]), minlength=len(weights)) / (2 * len(first))
        weighed = weights @ shares
        expected = float(shares @ weighed)
        return expected, weighed[first] + weighed[second] - 2 * expected

    return paired_parts(ratings, weights, chance)
