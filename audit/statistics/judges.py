"""How a judge does against settled answers, and against itself when it is asked in another way."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audit.errors import AuditError
from audit.messages import message
from audit.statistics.agreement import Ratings, cohen_kappa, interval
from audit.statistics.annotators import too_few
from audit.statistics.intervals import effective_interval, effective_size

LEAST = 10
"""Observations from which a rate is told."""


@dataclass(frozen=True)
class Told:
    """A rate or coefficient of `whole` observations with its interval; all None where `reason` says why."""

    part: int
    whole: int
    value: float | None
    low: float | None
    high: float | None
    reason: str | None = None


@dataclass(frozen=True)
class OfLabel:
    """One label against the rest. `truth`: how often it is the only right one; `given`: how often the judge says it.

    `sensitivity` is how often the judge says it where it is the only right label, `specificity` how often it does not
    where it is none of the right ones.
    """

    label: str
    truth: int
    given: int
    sensitivity: Told
    specificity: Told


@dataclass(frozen=True)
class Against:
    """A judge against settled answers. `confusion` (labels, labels): rows are the only right label, columns the
    judge's; answers that allow several labels count for the accuracy, and are no rows."""

    accuracy: Told
    kappa: Told
    labels: tuple[OfLabel, ...]
    confusion: np.ndarray


def rate(hit: Sequence[bool] | np.ndarray, cluster: np.ndarray, confidence: float = 0.95) -> Told:
    """The share of hits with the exact interval at what observations in clusters are worth, from `LEAST` on.

    Source: Korn and Graubard, Survey Methodology 24 (1998).

    >>> told = rate(np.arange(40) < 34, np.arange(40))
    >>> told.value, round(told.low, 3), round(told.high, 3)
    (0.85, 0.702, 0.943)
    >>> rate([True], np.zeros(1)).reason
    'one observation, at least 10 are needed'
    """
    hits = np.asarray(hit, bool)
    part, whole = int(hits.sum()), len(hits)
    if whole < LEAST:
        return Told(part, whole, None, None, None, too_few(whole, LEAST))
    value = part / whole
    ends = effective_interval(value, effective_size(cluster, hits, confidence), confidence)
    return Told(part, whole, value, min(ends.low, value), max(ends.high, value))


def against(given: Sequence[str], allowed: Sequence[Set[str]], cluster: np.ndarray, labels: Sequence[str]) -> Against:
    """A judge's labels (n,) against the sets of labels that settled answers allow (n,), `cluster` (n,) codes.

    Raises AuditError where the lengths differ.

    >>> found = against(["a", "b"] * 20, [{"a"}, {"a"}, {"b"}, {"b"}] * 10, np.arange(40), ["a", "b"])
    >>> found.accuracy.value, found.labels[0].sensitivity.value, found.confusion.tolist()
    (0.5, 0.5, [[10, 10], [10, 10]])
    """
    if not len(given) == len(allowed) == len(cluster):
        raise AuditError(f"{len(given)} labels, {len(allowed)} answers and {len(cluster)} clusters do not fit")
    clusters = np.asarray(cluster)
    said = np.array(given, object)
    right = np.array([label in labels_right for label, labels_right in zip(given, allowed, strict=True)], bool)
    only = np.array([next(iter(one)) if len(one) == 1 else None for one in allowed], object)
    of_labels = []
    for label in labels:
        positive = np.array([truth == label for truth in only], bool)
        negative = np.array([label not in one for one in allowed], bool)
        says = np.array([value == label for value in said], bool)
        of_labels.append(
            OfLabel(
                label,
                int(positive.sum()),
                int(says.sum()),
                rate(says[positive], clusters[positive]),
                rate(~says[negative], clusters[negative]),
            )
        )
    confusion = np.zeros((len(labels), len(labels)), int)
    place = {label: number for number, label in enumerate(labels)}
    for truth, label in zip(only, said, strict=True):
        if truth in place and label in place:
            confusion[place[truth], place[label]] += 1
    return Against(rate(right, clusters), _kappa(said, only, clusters, labels), tuple(of_labels), confusion)


def _kappa(said: np.ndarray, only: np.ndarray, cluster: np.ndarray, labels: Sequence[str]) -> Told:
    """Cohen's kappa of the judge and the answers with a single right label."""
    rows = np.flatnonzero([truth is not None for truth in only])
    whole, part = len(rows), int(sum(said[row] == only[row] for row in rows))
    if whole < LEAST:
        return Told(part, whole, None, None, None, too_few(whole, LEAST))
    frame = pd.concat(
        pd.DataFrame({"item": rows, "annotator": who, "label": values[rows], "cluster": cluster[rows]})
        for who, values in (("judge", said), ("settled", only))
    )
    parts = cohen_kappa(Ratings.of(frame, labels))
    ends = interval(parts)
    if parts.value is None or ends is None:
        return Told(part, whole, None, None, None, message("undefined.no_variation", percent=100 * part / whole))
    return Told(part, whole, parts.value, *ends)
