"""R_FS of groups whose sources were divided at random between two protocols, and the difference that these make."""

import math
from dataclasses import dataclass

import numpy as np

from audit.errors import AuditError
from audit.statistics.effective import effective_interval, effective_size


@dataclass(frozen=True, slots=True)
class ArmRate:
    """One arm: its judged groups, how many are false, their different sources, and the rate with its interval.

    Rate and ends are fractions, None where the arm has no judged group.
    """

    groups: int
    false: int
    sources: int
    rate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Between:
    """Both arms, and the rate of the second less that of the first with its ends, -1 to 1; None where one is empty."""

    first: ArmRate
    second: ArmRate
    difference: float | None
    low: float | None
    high: float | None


def between_arms(source: np.ndarray, false: np.ndarray, second: np.ndarray, confidence: float = 0.95) -> Between:
    """The plain means of two arms of judged groups, and their difference.

    For each of n groups `source` has a code, `false` 0 or 1, `second` whether its source is in the second arm. All
    groups of a source are in one arm, so an arm's interval is the exact one at the effective size of a sample of
    sources (`effective_interval`, Korn and Graubard, Survey Methodology 24, 1998). The arms share no source and are
    independent: the ends of the difference are recovered from theirs (MOVER: Zou and Donner, Statistics in Medicine 27,
    2008). Sources count as drawn from endlessly many; for the very sources that were divided that is cautious (Neyman,
    1923). Raises AuditError on arrays of different lengths, on values other than 0 and 1, and on a source in both arms.

    >>> found = between_arms(np.arange(80), np.arange(80) % 8 < 2, np.arange(80) >= 40)
    >>> found.difference, round(found.low, 3), round(found.high, 3)
    (0.0, -0.203, 0.203)
    """
    if not len(source) == len(false) == len(second):
        raise AuditError(
            f"{len(source)} sources, {len(false)} values and {len(second)} arms; needed is one of each for every group"
        )
    source, hit, later = np.asarray(source), np.asarray(false, float), np.asarray(second, bool)
    if not np.isin(hit, (0, 1)).all():
        raise AuditError("a group is false (1) or not (0); other values were given")
    both = np.intersect1d(source[later], source[~later])
    if len(both):
        raise AuditError(f"source {both[0]} is in both arms; all groups of a source belong to one")
    one, other = (_arm(source[arm], hit[arm], confidence) for arm in (~later, later))
    if None in (one.rate, other.rate):
        return Between(one, other, None, None, None)
    (rate, low, high), (other_rate, other_low, other_high) = (
        np.array([arm.rate, arm.low, arm.high], float).tolist() for arm in (one, other)
    )
    difference = other_rate - rate
    below = math.hypot(other_rate - other_low, high - rate)
    above = math.hypot(other_high - other_rate, rate - low)
    return Between(one, other, difference, max(difference - below, -1.0), min(difference + above, 1.0))


def _arm(source: np.ndarray, hit: np.ndarray, confidence: float) -> ArmRate:
    if not len(hit):
        return ArmRate(0, 0, 0, None, None, None)
    rate = float(hit.mean())
    ends = effective_interval(rate, effective_size(source, hit, confidence), confidence)
    return ArmRate(len(hit), int(hit.sum()), len(np.unique(source)), rate, ends.low, ends.high)
