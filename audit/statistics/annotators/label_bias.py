"""Which label an annotator gives more often than it is right, or less."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from scipy.special import ndtri

from audit.errors import AuditError
from audit.statistics.annotators.share import LEAST, too_few


@dataclass(frozen=True, slots=True)
class Bias:
    """One label: how often it was given wrongly, how often it was missed, and the difference as a share of all.

    `value` is positive where the label is given too often; None with its interval where `reason` says why. `missed`
    is a fraction where several labels were right and none was given: each of them was missed in part.
    """

    label: str
    given: int
    missed: float
    value: float | None
    low: float | None
    high: float | None
    reason: str | None = None


def label_bias(
    known: Sequence[Collection[str]],
    given: Sequence[str],
    labels: Sequence[str],
    least: int = LEAST,
    confidence: float = 0.95,
) -> list[Bias]:
    """The bias of each label, over n questions whose right answers are known: (n,) sets and (n,) answers.

    An answer that is right says nothing of bias. A wrong one gives its label once too often and misses the right one.
    The bias of a label is (wrongly given - missed) / n, a difference of two shares of the same n questions; its
    interval is the adjusted Wald one of Bonett and Price (2012), which adds one to both counts and two to n: it covers
    well in small samples and where nothing was wrong. From `least` questions on.

    Raises AuditError for answers that are no label, sets without any, and sequences of different lengths. Source:
    Bonett and Price, "Adjusted Wald Confidence Interval for a Difference of Binomial Proportions Based on Paired Data",
    Journal of Educational and Behavioral Statistics 37 (2012).

    >>> known = [{"x"}] * 10 + [{"y"}] * 10
    >>> x, y = label_bias(known, ["x"] * 15 + ["y"] * 5, ["x", "y"])
    >>> x.value, round(x.low, 3), round(x.high, 3), y.value
    (0.25, 0.012, 0.443, -0.25)
    """
    if len(known) != len(given):
        raise AuditError(f"{len(known)} known answers for {len(given)} given ones; give one for each")
    wrongly, missed = dict.fromkeys(labels, 0), dict.fromkeys(labels, 0.0)
    for right, answer in zip(known, given, strict=True):
        if strange := sorted({answer, *right} - set(labels)):
            raise AuditError(f"label {strange[0]!r} is not one of {', '.join(labels)}")
        if not right:
            raise AuditError("a known answer has no label; give at least one")
        if answer not in right:
            wrongly[answer] += 1
            for label in right:
                missed[label] += 1 / len(right)
    number = len(given)
    if number < max(least, 1):
        reason = too_few(number, least)
        return [Bias(label, wrongly[label], missed[label], None, None, None, reason) for label in labels]
    z = float(ndtri((1 + confidence) / 2))
    found = []
    for label in labels:
        more, less = (wrongly[label] + 1) / (number + 2), (missed[label] + 1) / (number + 2)
        half = z * math.sqrt((more + less - (more - less) ** 2) / (number + 2))
        value = (wrongly[label] - missed[label]) / number
        # The estimate is pulled towards 0, so that at the very end it may lie outside by a little.
        low, high = min(max(more - less - half, -1.0), value), max(min(more - less + half, 1.0), value)
        found.append(Bias(label, wrongly[label], missed[label], value, low, high))
    return found


def confusion(
    known: Sequence[Collection[str]], given: Sequence[str], labels: Sequence[str]
) -> dict[str, dict[str, float]]:
    """How often each label was given, by the known one: known -> given -> count.

    Where several labels are right and one of them was given, that one is the known one; where another was given, each
    counts in part. Raises AuditError as `label_bias` does.

    >>> confusion([{"x"}, {"x", "y"}, {"x", "y"}], ["y", "y", "z"], ["x", "y", "z"])["x"]
    {'x': 0.0, 'y': 1.0, 'z': 0.5}
    """
    label_bias(known, given, labels)
    table = {one: dict.fromkeys(labels, 0.0) for one in labels}
    for right, answer in zip(known, given, strict=True):
        for label in [answer] if answer in right else right:
            table[label][answer] += 1.0 if answer in right else 1 / len(right)
    return table
