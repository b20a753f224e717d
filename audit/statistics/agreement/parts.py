"""What all coefficients are made of: observed and expected agreement, and what each item does to them.

Every coefficient is (observed - expected) / (1 - expected). Its variance comes from linearisation: the influence of an
item is how far the value moves when the item counts a little more. Influences sum to 0, and the variance of the mean
over n independent items is the sum of their squares over n (n - 1). Where no rating is missing these are the variances
of Gwet, Handbook of Inter-Rater Reliability (4th edition, 2014), chapters 2 and 3. Where items have one rating only,
his formula also counts how many have; ours does not, since leaving such an item out changes no observed agreement.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, stdtrit

from audit.statistics.agreement.ratings import Ratings

TINY = 1e-12
"""Sums of shares closer than this are equal: what is left are the last bits."""


@dataclass(frozen=True, eq=False)
class Parts:
    """Observed and expected agreement, both fractions, and the influence of each item on them, shape (n,)."""

    observed: float
    expected: float
    observed_influence: np.ndarray
    expected_influence: np.ndarray
    items: int
    """Items that two annotators or more rated: the others say nothing about agreement."""
    clusters: np.ndarray | None = None
    """Which of the n items belong together, shape (n,); None: each stands for itself."""

    @property
    def value(self) -> float | None:
        """The coefficient; None where chance alone would make everybody agree.

        >>> Parts(0.8, 0.5, np.zeros(2), np.zeros(2), 2).value
        0.6000000000000001
        """
        if 1 - self.expected <= TINY:
            return None
        return (self.observed - self.expected) / (1 - self.expected)


def observed_agreement(ratings: Ratings, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean over items of the share of agreeing pairs of annotators, and each item's influence (items,).

    An item with one rating has no pair and no share. `weights` (labels x labels) says how much two labels agree.
    Source: Fleiss (1971); with missing ratings Gwet (2014), chapter 2. NaN where no item has a pair.
    """
    size, shared = ratings.per_item, ratings.shared
    pairs = np.where(shared, size * (size - 1), 1)
    shares = np.where(shared, (ratings.forms(weights) - size) / pairs, 0.0)
    known = int(shared.sum())
    if not known:
        return float("nan"), np.full(ratings.items, np.nan)
    mean = float(shares[shared].mean())
    return mean, np.where(shared, (shares - mean) * (ratings.items / known), 0.0)


def interval(parts: Parts, confidence: float = 0.95) -> tuple[float, float] | None:
    """Lower and upper end of a coefficient: a logit interval with its linearised variance.

    With the expected agreement as estimated, a coefficient is a straight line of the observed agreement p, from no
    agreement at all to 1. On that scale the interval is logit(p) +- t s / (p (1 - p)), s the standard error that the
    coefficient has there (so what the expected agreement varies is in it) and t with (clusters - 1) degrees of freedom.
    Its ends are always possible, and it covers better than estimate +- t s where nearly all agree (docs/agreement.md).
    Where all pairs agree, or none does, the sample shows no variance although the population may have some: there the
    share of such items is taken as binomial and the exact end of Clopper and Pearson (1934) is used,
    (risk / 2) ** (1 / n).

    None with fewer than two items or clusters, or where all items show the same agreement, neither full nor none.

    >>> everybody = Parts(1.0, 0.5, np.zeros(36), np.zeros(36), 36)
    >>> low, high = interval(everybody)
    >>> round(low, 2), high
    (0.81, 1.0)
    """
    value = parts.value
    influence: np.ndarray = parts.observed_influence - (1 - (value or 0.0)) * parts.expected_influence
    if parts.clusters is not None:
        # Items of one cluster err together, so their influences are added before they are squared.
        influence = np.bincount(parts.clusters, influence)
    clusters = len(influence)
    if value is None or clusters < 2 or parts.items < 2:
        return None
    error = np.sqrt((influence**2).sum() * clusters / (clusters - 1)) / len(parts.observed_influence)
    reach = float(stdtrit(clusters - 1, (1 + confidence) / 2) * error)
    share = parts.observed
    odd = ((1 - confidence) / 2) ** (1 / min(parts.items, clusters))
    if share >= 1 - TINY:
        low, high = odd, 1.0
    elif share <= TINY:
        low, high = 0.0, max(1 - odd, min(reach, 1.0))
    elif error <= TINY:
        return None
    else:
        middle, width = logit(share), reach / (share * (1 - share))
        low, high = float(expit(middle - width)), float(expit(middle + width))
    scale = 1 - parts.expected
    return (low - parts.expected) / scale, (high - parts.expected) / scale
