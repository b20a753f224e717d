"""How much somebody agrees with the others, and how much the others agree without them."""

from dataclasses import dataclass

import numpy as np

from audit.statistics.agreement.coefficients import krippendorff_alpha
from audit.statistics.agreement.parts import interval, mean_of
from audit.statistics.agreement.ratings import Ratings
from audit.statistics.annotators.share import LEAST, too_few


@dataclass(frozen=True, slots=True)
class WithOthers:
    """One annotator among the others.

    `percent` is the mean, over the items that others rated too, of the share of those others who gave the same label;
    with its interval, None where `reason` says why. `alpha_without` is Krippendorff's alpha (nominal) of the ratings
    without this annotator's; None where nothing is left to agree on.
    """

    annotator: str
    items: int
    percent: float | None
    low: float | None
    high: float | None
    alpha_without: float | None
    reason: str | None = None


def leave_one_out(ratings: Ratings, least: int = LEAST) -> tuple[float | None, list[WithOthers]]:
    """Alpha of all ratings, and each annotator among the others in the order of `ratings.annotators`.

    An alpha that rises when somebody is left out says that they judge otherwise than the rest; whether they are wrong
    it cannot say. Source of alpha: `audit.statistics.agreement.krippendorff_alpha`.

    >>> import pandas as pd
    >>> rows = [(item, who, "x" if item % 2 or who == "c" else "y") for item in range(20) for who in "abc"]
    >>> alpha, (a, b, c) = leave_one_out(Ratings.of(pd.DataFrame(rows, columns=["item", "annotator", "label"])))
    >>> round(alpha, 2), a.percent, c.percent, round(a.alpha_without, 2), c.alpha_without
    (0.26, 0.75, 0.5, -0.3, 1.0)
    """
    same = np.asarray(ratings.counts[ratings.item, ratings.label]).ravel() - 1
    others = ratings.per_item[ratings.item] - 1
    found = []
    for place, name in enumerate(ratings.annotators):
        mine = (ratings.annotator == place) & (others > 0)
        shares = same[mine] / others[mine]
        without = _alpha(_kept(ratings, ratings.annotator != place))
        if len(shares) < max(least, 1):
            reason = too_few(len(shares), least)
            found.append(WithOthers(name, len(shares), None, None, None, without, reason))
            continue
        low, high = interval(mean_of(shares)) or (None, None)
        found.append(WithOthers(name, len(shares), float(shares.mean()), low, high, without))
    return _alpha(ratings), found


def _alpha(ratings: Ratings | None) -> float | None:
    if ratings is None or not ratings.shared.any():
        return None
    labels = ratings.label[ratings.shared[ratings.item]]
    return None if (labels == labels[0]).all() else krippendorff_alpha(ratings).value


def _kept(ratings: Ratings, kept: np.ndarray) -> Ratings | None:
    """Some of the ratings, with the same annotators and labels; items without any are gone. None: nothing is left."""
    if not kept.any():
        return None
    _, item = np.unique(ratings.item[kept], return_inverse=True)
    return Ratings(
        item, ratings.annotator[kept], ratings.label[kept], int(item.max()) + 1, ratings.annotators, ratings.labels
    )
