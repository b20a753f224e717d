"""How fast somebody answers, and whether that is too fast to have read what was asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from audit.errors import AuditError
from audit.statistics.annotators.share import Share, share

LEAST_TIMED = 20
"""Timed answers below which there is no alarm."""
MOST_FAST = 0.1
"""Share of too fast answers above which there is one."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Median seconds (None: nothing was timed), the share of answers faster than `fastest`, and whether that alarms."""

    seconds: float | None
    fast: Share
    fastest: float
    alarm: bool


def speed(seconds: Sequence[float], fastest: float) -> Speed:
    """The speed of one annotator: seconds from question to answer, any number of them; `fastest` in seconds.

    The rule: an alarm where there are at least 20 timed answers and more than a tenth of them took less than
    `fastest`. One quick answer is a habit of the hand, a tenth of them is a habit of the head. Raises AuditError for
    negative seconds.

    >>> speed([0.4, 0.5, 0.4] + [3.0] * 22, fastest=1.0).alarm, speed([0.4] * 19, fastest=1.0).alarm
    (True, False)
    >>> speed([2.0, 4.0], 1.0).seconds
    3.0
    """
    if any(one < 0 for one in seconds):
        raise AuditError(f"{min(seconds)} seconds are impossible; an answer comes after its question")
    fast = sum(one < fastest for one in seconds)
    found = share(fast, len(seconds), LEAST_TIMED)
    alarm = found.value is not None and found.value > MOST_FAST
    return Speed(float(median(seconds)) if len(seconds) else None, found, fastest, alarm)
