"""The validity study: how ratings of follow-ups differ from those of their sources, and what violations are worth.

A group is *unsound* where its follow-up is invalid, or where its relation does not hold. Ratings are from 1 to 5; a
text's score on a scale is the mean of its raters' ratings. A follow-up is *valid* where its score on both scales is at
least `GOOD`, or at most `DROP` below its source's: a source that is odd itself is no fault of the relation.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from audit.statistics.intervals import Estimate, rate_of_clusters

GOOD, DROP = 4.0, 1.0
LOWEST, HIGHEST = 1, 5
LOW_SHARE = 0.8
"""A share of valid follow-ups whose upper end is below this is warned of."""
LEAST = 10
"""Judged pairs of an outcome below which its share of unsound ones is bounds, and no point."""
_IMAGINED = 2.5
"""Two imagined pairs differ by so many points, one in each direction: few pairs tell the variance badly."""
_CLOSE = 1e-9


def is_valid(source: np.ndarray, follow_up: np.ndarray) -> np.ndarray:
    """Return which follow-ups are valid (pairs,), from the scores of sources and follow-ups (pairs, scales).

    >>> is_valid(np.array([[5, 5], [3, 4], [5, 5]]), np.array([[4, 5], [2, 4], [5, 3.5]])).tolist()
    [True, True, False]
    """
    good = (follow_up >= GOOD - _CLOSE) | (follow_up >= source - DROP - _CLOSE)
    return np.asarray(good.all(axis=1))


def paired_difference(difference: np.ndarray, cluster: np.ndarray) -> Estimate | None:
    """Return the mean difference of pairs (follow-up less source) with its interval; None below two clusters.

    Student's t over clusters of pairs with one source or document, by the linearised variance of a mean; two imagined
    pairs that lie 2.5 points above and below the mean are added to the variance, since most follow-ups are rated as
    their source and a few far lower: of 25 pairs none of which differs the interval is -0.28 to 0.28.

    >>> estimate = paired_difference(np.zeros(25), np.arange(25))
    >>> estimate.rate, round(estimate.low, 2), round(estimate.high, 2)
    (0.0, -0.28, 0.28)
    """
    codes, place = np.unique(cluster, return_inverse=True)
    groups = len(codes)
    if groups < 2:
        return None
    mean = float(np.mean(difference))
    sums = np.bincount(place, weights=difference - mean)
    spread = float((sums**2).sum()) + 2 * _IMAGINED**2
    error = math.sqrt((groups + 2) / (groups + 1) * spread) / (len(difference) + 2)
    reach = float(stdtrit(groups - 1, 0.975)) * error
    most = float(HIGHEST - LOWEST)
    return Estimate(mean, max(mean - reach, -most), min(mean + reach, most))


@dataclass(frozen=True)
class OutcomePairs:
    """The judged pairs of one cell's groups of one outcome: which are unsound, and their clusters; `groups` is how many
    groups of this outcome the cell has."""

    groups: int
    unsound: np.ndarray
    cluster: np.ndarray


def violations_worth(satisfied: OutcomePairs, violated: OutcomePairs) -> tuple[Estimate, Estimate]:
    """Return the share of a cell's violated groups that are unsound, and the violation rate of its sound groups.

    Below `LEAST` pairs of an outcome only bounds are known, and rates are NaN. Nothing is assumed of how soundness and
    outcome go together: a system may well fail on broken texts above all. With S satisfied and V violated groups, and q
    the share of each that is unsound, VR_sound = V (1 - q_v) / (V (1 - q_v) + S (1 - q_s)).

    The pairs of one outcome are a simple random sample of its groups, so each q has the exact interval at the pairs'
    effective size; the share of all groups has one, too, and V q_v + S q_s = (V + S) q bounds each q once more where
    few pairs of it were drawn. All three hold at once (Bonferroni), and VR_sound lies between its values at the worst
    corners: cautious, and never narrower than what was drawn can tell.

    >>> rows = np.arange(40)
    >>> satisfied, violated = OutcomePairs(300, rows[:30] < 0, rows[:30]), OutcomePairs(100, rows[30:] < 35, rows[30:])
    >>> unsound, rate = violations_worth(satisfied, violated)
    >>> unsound.rate, round(rate.rate, 3), round(rate.low, 3), round(rate.high, 3)
    (0.5, 0.143, 0.046, 0.251)
    """
    total, each = satisfied.groups + violated.groups, 1 - (1 - 0.95) / 3
    parts = (satisfied, violated)
    ends = [_ends(part.unsound, part.cluster, each) for part in parts]
    unsound, cluster = ([getattr(part, name) for part in parts] for name in ("unsound", "cluster"))
    both = _ends(np.concatenate(unsound), np.concatenate(cluster), each)
    shares = []
    for part, other, (low, high) in zip(parts, parts[::-1], ends, strict=True):
        if part.groups:
            low = max(low, (both[0] * total - other.groups) / part.groups)
            high = max(min(high, both[1] * total / part.groups), low)
        shares.append((low, high))
    point = [float(np.mean(part.unsound)) if len(part.unsound) >= LEAST else math.nan for part in parts]
    (s_low, s_high), (v_low, v_high) = shares
    rate, low, high = (
        _rate(satisfied.groups, violated.groups, *corner) for corner in (point, (s_low, v_high), (s_high, v_low))
    )
    sound = Estimate(rate, 0.0 if math.isnan(low) else low, 1.0 if math.isnan(high) else high)
    return Estimate(point[1], v_low, v_high), sound


def _ends(invalid: np.ndarray, cluster: np.ndarray, confidence: float) -> tuple[float, float]:
    _, low, high = rate_of_clusters(cluster, np.asarray(invalid, int), confidence)
    return (0.0, 1.0) if low is None or high is None else (low, high)


def _rate(satisfied: int, violated: int, of_satisfied: float, of_violated: float) -> float:
    """Return VR_sound at these shares of unsound groups; NaN where no group is sound, or a share is unknown."""
    # A share of no groups counts for nothing, whatever it is.
    good = satisfied * (1 - of_satisfied) if satisfied else 0.0
    bad = violated * (1 - of_violated) if violated else 0.0
    return bad / (good + bad) if good + bad != 0 else math.nan
