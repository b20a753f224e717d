"""Agreement among annotators: coefficients with intervals, and `suite`, which gives all that fit the data.

>>> import pandas as pd
>>> rows = [(1, "a", "x"), (1, "b", "x"), (2, "a", "y"), (2, "b", "x"), (3, "a", "y"), (3, "b", "y")]
>>> ratings = Ratings.of(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
>>> {one.name: round(one.estimate, 3) for one in suite(ratings)}
{'percent_agreement': 0.667, 'cohen_kappa': 0.4, 'krippendorff_alpha': 0.444, 'gwet_ac1': 0.333}
"""

from audit.statistics.agreement.ratings import Ratings
from audit.statistics.agreement.suite import Coefficient, suite

__all__ = ["Coefficient", "Ratings", "suite"]
