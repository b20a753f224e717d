"""When to look at how somebody judges: a few rules, each with a number that anybody can check.

An alarm is a reason to look and to talk, not a verdict. Alarms are watched while answers come in, so the rules
`accuracy`, `bias`, `consistency` and `drift` hold for all looks together: of forty annotators who are exactly as good
as asked, at most one on average is ever struck by each (docs/quality.md). `speed` and `apart` say nothing of chance.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from audit.statistics.annotators.drift import Drift
from audit.statistics.annotators.label_bias import Bias
from audit.statistics.annotators.share import RISK, Share, below
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

    - `accuracy`: the accuracy on hidden questions is surely (`below`) below the pass mark `mark` (0: below 0.7).
    - `bias`: a label is given too often by at least a tenth of the answers, and of the errors about it surely less than
      half miss it, with an equal part of the risk for each label.
    - `consistency`: the share of repeats answered as before is surely below 0.8.
    - `speed`: of 20 answers or more, more than a tenth was faster than the setting `fastest`.
    - `drift`: the second half is surely worse than the first (`drift`).
    - `apart`: Krippendorff's alpha is higher by at least 0.1 without this annotator.

    >>> from audit.statistics.annotators import drift, share, speed
    >>> none = share(0, 0)
    >>> [one.rule for one in alarms(share(6, 20), [], none, speed([0.2] * 30, 1.0), drift([]))]
    ['accuracy', 'speed']
    """
    found = []
    if accuracy.value is not None and below(accuracy.part, accuracy.whole, mark or ACCURACY, RISK):
        found.append(Alarm("accuracy"))
    found += [
        Alarm("bias", one.label)
        for one in bias
        if one.value is not None
        and one.value >= BIAS
        and below(math.ceil(one.missed), one.given + math.ceil(one.missed), 0.5, RISK / len(bias))
    ]
    if consistency.value is not None and below(consistency.part, consistency.whole, CONSISTENCY, RISK):
        found.append(Alarm("consistency"))
    if speed.alarm:
        found.append(Alarm("speed"))
    if drift.alarm:
        found.append(Alarm("drift"))
    if alpha is not None and alpha_without is not None and alpha_without - alpha >= APART:
        found.append(Alarm("apart"))
    return found
