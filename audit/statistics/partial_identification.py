"""Bounds for a rate where some of a sample has no answer, and may never have one."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from audit.errors import AuditError
from audit.statistics.bounded import Estimator

FEW = 30
"""Below so many groups both ends keep the level of a two-sided interval: one-sided mid-p ends cover 92 % of 6."""


@dataclass(frozen=True, slots=True)
class IdentifiedSet:
    """What answers leave possible of a rate, all in [0, 1]: `least` to `most`, and an interval from `low` to `high`."""

    least: float
    most: float
    low: float
    high: float


def identified_set(
    false: int, unanswered: int, n: int, population: int | None, interval: Estimator, confidence: float = 0.95
) -> IdentifiedSet:
    """Bounds of a rate from a sample of `n`, of which `false` are known to be false and `unanswered` may be or not.

    `least` counts all unanswered ones as true, `most` as false; nothing is assumed of why they have no answer. The true
    rate lies between `low` and `high` with at least the confidence: the ends are those of `interval` for either count,
    at a level between that of a one-sided bound, where the bounds lie far apart, and that of the interval itself, where
    nothing is unanswered. `population` as for `interval`. Raises AuditError on impossible counts and where n is 0.
    Source: Imbens and Manski, Confidence intervals for partially identified parameters, Econometrica 72 (2004).

    >>> from audit.statistics.mid_p import mid_p
    >>> found = identified_set(6, 20, 60, 500, mid_p)
    >>> round(found.least, 3), round(found.most, 3), found.low < 0.1 < 0.43 < found.high
    (0.1, 0.433, True)
    """
    if n < 1 or min(false, unanswered) < 0 or false + unanswered > n:
        raise AuditError(
            f"{false} false and {unanswered} unanswered of {n} groups are impossible; allowed are 1 group or more, and "
            "together at most as many as there are"
        )
    least, most = false / n, (false + unanswered) / n
    sides = 2 * _level(least, most, n, population, confidence) - 1
    low = interval(false, n, population, confidence=sides).low
    high = interval(false + unanswered, n, population, confidence=sides).high
    return IdentifiedSet(least, most, min(low, least), max(high, most))


def _level(least: float, most: float, n: int, population: int | None, confidence: float) -> float:
    """The one-sided level of both ends: between `confidence` and 1 - (1 - confidence) / 2."""
    left = 1.0 if population is None else max(population - n, 0) / max(population - 1, 1)
    # A rate of 0 or 1 in the sample varies all the same: as if half a group more were of either kind.
    rates = ((rate * n + 0.5) / (n + 1) for rate in (least, most))
    spread = max(float(np.sqrt(rate * (1 - rate) * left / n)) for rate in rates)
    two_sided = 1 - (1 - confidence) / 2
    if spread == 0 or most == least or n < FEW:
        return two_sided
    apart = (most - least) / spread
    first, last = float(ndtri(confidence)), float(ndtri(two_sided))
    return float(ndtr(brentq(lambda c: ndtr(c + apart) - ndtr(-c) - confidence, first - 1e-9, last + 1e-9)))
