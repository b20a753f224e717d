"""When to look at how somebody judges: a few rules, each with a number that anybody can check.

An alarm is a reason to look and to talk, not a verdict. Of many annotators some alarm by chance: the rules use whole
intervals where they can, so that one in forty of those who are as good as asked alarms on each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from audit.statistics.annotators.drift import Drift
from audit.statistics.annotators.label_bias import Bias
from audit.statistics.annotators.share import Share
from audit.statistics.annotators.speed import Speed

ACCURACY = 0.7
"""Accuracy that is asked for where there is no pass mark."""
CONSISTENCY = 0.8
"""Share of repeats answered as before that is asked for."""
BIAS = 0.1
"""Bias of a label that is left alone."""
APART = 0.1
"""Rise of alpha without somebody from which on they are said to judge otherwise."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """A rule that struck, by name, and the label that it is about (`bias` only)."""

    rule: str
    label: str | None = None


def alarms(
    accuracy: Share,
    bias: Sequence[Bias],
    consistency: Share,
    speed: Speed,
    drift: Drift,
    alpha: float | None = None,
    alpha_without: float | None = None,
    mark: float = 0.0,
) -> list[Alarm]:
    """The rules that strike, in this order.

    - `accuracy`: the interval of the accuracy on hidden questions lies below the pass mark `mark` (0: below 0.7).
    - `bias`: a label is given too often by at least a tenth of the answers, and the interval of its bias lies above 0.
    - `consistency`: the interval of the share of repeats answered as before lies below 0.8.
    - `speed`: of 20 answers or more, more than a tenth was faster than the setting `fastest`.
    - `drift`: the interval of the change from the first half to the second lies below 0.
    - `apart`: Krippendorff's alpha is higher by at least 0.1 without this annotator.

    >>> from audit.statistics.annotators import drift, share, speed
    >>> none = share(0, 0)
    >>> [one.rule for one in alarms(share(9, 20), [], none, speed([0.2] * 30, 1.0), drift([]))]
    ['accuracy', 'speed']
    """
    found = []
    if accuracy.high is not None and accuracy.high < (mark or ACCURACY):
        found.append(Alarm("accuracy"))
    found += [
        Alarm("bias", one.label)
        for one in bias
        if one.value is not None and one.low is not None and one.value >= BIAS and one.low > 0
    ]
    if consistency.high is not None and consistency.high < CONSISTENCY:
        found.append(Alarm("consistency"))
    if speed.alarm:
        found.append(Alarm("speed"))
    if drift.high is not None and drift.high < 0:
        found.append(Alarm("drift"))
    if alpha is not None and alpha_without is not None and alpha_without - alpha >= APART:
        found.append(Alarm("apart"))
    return found
