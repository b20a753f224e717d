"""Gwet's AC1, which stays near the percent agreement where one label prevails and kappa does not."""

import numpy as np

from audit.statistics.agreement.gwet_ac2 import gwet_ac2
from audit.statistics.agreement.parts import Parts
from audit.statistics.agreement.ratings import Ratings


def gwet_ac1(ratings: Ratings) -> Parts:
    """Agreement beyond chance, where only items that are hard to rate are left to chance.

    Source: Gwet, British Journal of Mathematical and Statistical Psychology 61 (2008); with missing
    ratings Gwet (2014), chapter 2.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": list("xxyy")})
    >>> gwet_ac1(Ratings.of(frame)).value
    1.0
    """
    return gwet_ac2(ratings, np.eye(len(ratings.labels)))
