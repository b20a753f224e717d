"""How a judge does against settled answers, and against itself when it is asked in another way."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audit.messages import message
from audit.statistics.agreement import Ratings, cohen_kappa, interval
from audit.statistics.annotators import LEAST, Share, too_few
from audit.statistics.intervals import rate_of_clusters


@dataclass(frozen=True)
class OfLabel:
    """One label against the rest. `truth`: how often it is the only right one; `given`: how often the judge says it.

    `sensitivity` is how often the judge says it where it is the only right label, `specificity` how often it does not
    where it is none of the right ones.
    """

    label: str
    truth: int
    given: int
    sensitivity: Share
    specificity: Share


@dataclass(frozen=True)
class Against:
    """A judge against settled answers. `confusion` (labels, labels): rows are the only right label, columns the
    judge's; answers that allow several labels count for the accuracy, and are no rows."""

    accuracy: Share
    kappa: Share
    labels: list[OfLabel]
    confusion: list[list[int]]


def rate(hit: Sequence[bool] | np.ndarray, cluster: np.ndarray) -> Share:
    """Return the share of hits with the exact interval at what observations in clusters are worth, from `LEAST` on.

    Source: Korn and Graubard, Survey Methodology 24 (1998).

    >>> found = rate(np.arange(40) < 34, np.arange(40))
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.85, 0.702, 0.943)
    >>> rate([True], np.zeros(1)).reason
    'one observation, at least 10 are needed'
    """
    part, whole = int(np.sum(hit)), len(hit)
    if whole < LEAST:
        return Share(part, whole, reason=too_few(whole))
    value, low, high = rate_of_clusters(cluster, np.asarray(hit, bool))
    return Share(part, whole, value, low, high)


def against(answers: Sequence[str], allowed: Sequence[Set[str]], cluster: np.ndarray, labels: Sequence[str]) -> Against:
    """Compare a judge's labels (n,) with the sets of labels that settled answers allow (n,), in clusters (n,).

    >>> found = against(["a", "b"] * 20, [{"a"}, {"a"}, {"b"}, {"b"}] * 10, np.arange(40), ["a", "b"])
    >>> found.accuracy.value, found.labels[0].sensitivity.value, found.confusion
    (0.5, 0.5, [[10, 10], [10, 10]])
    """
    said = np.array(answers, object)
    only = np.array([next(iter(right)) if len(right) == 1 else None for right in allowed], object)
    right = np.array([label in right for label, right in zip(answers, allowed, strict=True)], bool)
    of_labels = []
    for label in labels:
        says, true = said == label, only == label
        false = np.array([label not in right for right in allowed], bool)
        sensitivity, specificity = rate(says[true], cluster[true]), rate(~says[false], cluster[false])
        of_labels.append(OfLabel(label, int(true.sum()), int(says.sum()), sensitivity, specificity))
    confusion = [[int(((only == row) & (said == column)).sum()) for column in labels] for row in labels]
    return Against(rate(right, cluster), _kappa(said, only, cluster, labels), of_labels, confusion)


def _kappa(said: np.ndarray, only: np.ndarray, cluster: np.ndarray, labels: Sequence[str]) -> Share:
    """Return Cohen's kappa of the judge and the answers with a single right label."""
    rows = np.flatnonzero(only != None)  # noqa: E711
    whole, part = len(rows), int((said[rows] == only[rows]).sum())
    if whole < LEAST:
        return Share(part, whole, reason=too_few(whole))
    frame = pd.concat(
        pd.DataFrame({"item": rows, "annotator": who, "label": values[rows], "cluster": cluster[rows]})
        for who, values in (("judge", said), ("settled", only))
    )
    parts = cohen_kappa(Ratings.of(frame, labels))
    ends = interval(parts)
    if parts.value is None or ends is None:
        return Share(part, whole, reason=message("undefined.no_variation", percent=100 * part / whole))
    return Share(part, whole, parts.value, *ends)
