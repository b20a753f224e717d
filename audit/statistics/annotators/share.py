"""A share with its interval, or the reason why there is none: few observations say too little about a person."""

from dataclasses import dataclass

from audit.statistics.wilson import wilson

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


def too_few(number: int, least: int) -> str:
    """Why there is no number.

    >>> too_few(3, 10)
    '3 observations, at least 10 are needed'
    """
    if number == 1:
        return f"one observation, at least {least} are needed"
    return f"{number} observations, at least {least} are needed"
