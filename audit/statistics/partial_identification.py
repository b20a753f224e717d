"""Bounds for a rate where some of a sample has no answer, and may never have one."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

Rates = np.ndarray | tuple[np.ndarray, np.ndarray, np.ndarray]
"""(rate, low, high) of n rates, each (n,)."""
FEW = 30
"""Below so many groups both ends keep the level of a two-sided interval: one-sided mid-p ends cover 92 % of 6."""


def ends_confidence(
    least: Rates,
    most: Rates,
    size: np.ndarray,
    confidence: float = 0.95,
) -> np.ndarray:
    """The confidence of the two intervals whose outer ends, put together, hold the true rates with `confidence`; (n,).

    `least` and `most` are (rate, low, high) of n rates, each (n,): what answers leave possible at the least and at the
    most, with intervals of `confidence`. `size` (n,) is how many independent observations tell them. The true rates lie
    between `least` and `most`, nothing is assumed of where. So an interval from the lower end of the one to the upper
    end of the other may be made of one-sided ends where the bounds lie far apart (2 confidence - 1), and of two-sided
    ones where they are one (`confidence`); between, by how many standard errors apart they are, for which the longest
    distance to an end stands. Of fewer than `FEW` observations the ends are two-sided. Source: Imbens and Manski,
    Confidence intervals for partially identified parameters, Econometrica 72 (2004).

    >>> one, other = ((np.array([rate]), np.array([rate - 0.1]), np.array([rate + 0.1])) for rate in (0.1, 0.8))
    >>> ends_confidence(one, other, np.array([60.0])).round(6).tolist()
    [0.9]
    >>> ends_confidence(one, one, np.array([60.0])).round(6).tolist()
    [0.95]
    """
    two_sided = float(ndtri((1 + confidence) / 2))
    distances = [one for rate, low, high in (least, most) for one in (rate - low, high - rate)]
    spread = np.max(distances, axis=0) / two_sided
    apart = np.divide(most[0] - least[0], spread, out=np.zeros(len(spread)), where=spread > 0)
    apart = np.where(np.asarray(size, float) < FEW, 0.0, apart)
    return np.array([2 * ndtr(_critical(one, two_sided, confidence)) - 1 for one in apart])


def _critical(apart: float, two_sided: float, confidence: float) -> float:
    """Imbens and Manski's c: from z of a one-sided end, of bounds far apart, to that of a two-sided one."""
    first = float(ndtri(confidence))
    if not apart > 0:  # or not known
        return two_sided
    return float(brentq(lambda c: ndtr(c + apart) - ndtr(-c) - confidence, first - 1e-9, two_sided + 1e-9))
