"""Whether somebody judges worse, or better, as time goes on: the first half of their answers against the second."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats

from audit.statistics.annotators.share import LEAST, RISK, Share, share
from audit.statistics.wilson import wilson


@dataclass(frozen=True, slots=True)
class Drift:
    """Shares of right answers in the two halves, and the second less the first with its interval; None: too few.

    `alarm`: the second half is surely worse, however often one looks while answers come in.
    """

    first: Share
    second: Share
    change: float | None
    low: float | None
    high: float | None
    alarm: bool


def drift(right: Sequence[bool], least: int = LEAST) -> Drift:
    """The halves of a row of answers, in the order in which they were given; of an odd number the middle one is second.

    The interval of the difference of two independent shares is Newcombe's, from the Wilson intervals of both (his
    method 10). From `least` answers in each half on. The alarm is looked for when there are twice `least` answers, and
    whenever their number has doubled since, in all answers until then, each time by Fisher's exact test with less of
    the risk of 2.5 %: with 1 / 2, 1 / 6, 1 / 12, ... of it, which add up to 1. Source: Newcombe, "Interval estimation
    for the difference between independent proportions", Statistics in Medicine 17 (1998).

    >>> found = drift([True] * 18 + [False] * 2 + [True] * 10 + [False] * 10)
    >>> found.first.value, found.second.value, round(found.change, 2), round(found.low, 2), round(found.high, 2)
    (0.9, 0.5, -0.4, -0.61, -0.12)
    """
    middle = len(right) // 2
    halves = [(sum(map(bool, half)), len(half)) for half in (right[:middle], right[middle:])]
    first, second = (share(part, whole, least) for part, whole in halves)
    if first.value is None or second.value is None:
        return Drift(first, second, None, None, None, False)
    low, high = difference(halves[1], halves[0])
    return Drift(first, second, second.value - first.value, low, high, _falls(right, max(least, 1)))


def _falls(right: Sequence[bool], least: int) -> bool:
    looks = int(math.log2(len(right) // least))
    half = least * 2 ** (looks - 1)
    before, after = (sum(map(bool, part)) for part in (right[:half], right[half : 2 * half]))
    chance = stats.hypergeom.cdf(after, 2 * half, before + after, half)
    return bool(chance <= RISK / (looks * (looks + 1)))


def difference(one: tuple[int, int], other: tuple[int, int], confidence: float = 0.95) -> tuple[float, float]:
    """Newcombe's interval for the first share less the second, each (part, whole) with a whole from 1.

    >>> [round(end, 4) for end in difference((56, 70), (48, 80))]
    [0.0524, 0.3339]
    """
    p, q = one[0] / one[1], other[0] / other[1]
    a, b = wilson(*one, confidence=confidence), wilson(*other, confidence=confidence)
    low = p - q - math.hypot(p - a.low, b.high - q)
    high = p - q + math.hypot(a.high - p, q - b.low)
    return max(low, -1.0), min(high, 1.0)
