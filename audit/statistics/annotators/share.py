"""A share with its interval, or the reason why there is none: few observations say too little about a person."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaln, xlogy

from audit.statistics.wilson import wilson

RISK = 0.025
"""Probability that an alarm ever strikes somebody who is exactly as good as asked."""
LEAST = 10
"""Observations below which no share is given."""


@dataclass(frozen=True, slots=True)
class Share:
    """`part` of `whole` as a fraction with its interval; all three are None where `reason` says why."""

    part: int
    whole: int
    value: float | None
    low: float | None
    high: float | None
    reason: str | None = None


def share(part: int, whole: int, least: int = LEAST, confidence: float = 0.95) -> Share:
    """A binomial share with Wilson's interval, from `least` observations on.

    Raises AuditError on impossible counts. Source of the interval: `audit.statistics.wilson`.

    >>> share(18, 20).value, round(share(18, 20).low, 3), round(share(18, 20).high, 3)
    (0.9, 0.699, 0.972)
    >>> share(2, 3).value, share(2, 3).reason
    (None, '3 observations, at least 10 are needed')
    """
    ends = wilson(part, whole, confidence=confidence)
    if whole < max(least, 1):
        return Share(part, whole, None, None, None, too_few(whole, least))
    return Share(part, whole, part / whole, ends.low, ends.high)


def below(part: int, whole: int, mark: float, risk: float) -> bool:
    """Whether `part` of `whole` says that a share is below `mark`, however often one looks while observations come in.

    The likelihood of shares from 0 to `mark`, all weighed alike, over that of `mark` itself is a martingale where the
    share is `mark`, and falls on average where it is higher: by Ville's inequality it ever reaches 1 / `risk` with a
    probability of at most `risk`. Source: Robbins, "Statistical methods related to the law of the iterated logarithm",
    Annals of Mathematical Statistics 41 (1970).

    >>> [below(part, 20, 0.9, 0.025) for part in (12, 13)]
    [True, False]
    """
    with np.errstate(divide="ignore"):  # a share far above the mark: the logarithm of nothing
        mixed = betaln(part + 1, whole - part + 1) + np.log(betainc(part + 1, whole - part + 1, mark)) - np.log(mark)
    return bool(mixed - xlogy(part, mark) - xlogy(whole - part, 1 - mark) >= -math.log(risk))


def too_few(number: int, least: int) -> str:
    """Why there is no number.

    >>> too_few(3, 10)
    '3 observations, at least 10 are needed'
    """
    if number == 1:
        return f"one observation, at least {least} are needed"
    return f"{number} observations, at least {least} are needed"
