"""Who gave which item which label: the one representation that every coefficient reads."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from audit.errors import AuditError

Scale = Literal["names", "order", "numbers"]
MOST_LABELS = 1_000
"""Weights are a matrix of labels x labels: more labels than this are measurements, or free text."""
_CELLS = 4_000_000
"""Cells of items x labels that are worked on at once, so that memory stays small however many items there are."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """m ratings of n items by annotators with q labels; missing ratings are just not there.

    `item`, `annotator` and `label` have the shape (m,) and hold indices; every item has at least one rating, and no
    annotator rates an item twice. `values` (q,) are the labels as numbers where `scale` is `numbers`, their ranks
    where it is `order`, else None. `clusters` (n,) says which items belong together (groups of one source), None:
    every item stands for itself.
    """

    item: np.ndarray
    annotator: np.ndarray
    label: np.ndarray
    items: int
    annotators: tuple[str, ...]
    labels: tuple[str, ...]
    scale: Scale = "names"
    values: np.ndarray | None = None
    clusters: np.ndarray | None = None

    @classmethod
    def of(cls, frame: pd.DataFrame, labels: Sequence[str] | None = None, order: bool = False) -> "Ratings":
        """The ratings of a frame with the columns item, annotator, label, one row a rating; optionally cluster.

        `labels` are the labels that were allowed (default: those that occur); with `order` they stand in their order.
        Where all labels are numbers, the scale is `numbers`, and spellings of one number ("1", "1.0") are one label.
        Raises AuditError: no rows, an annotator who rates an item twice, a label that was not allowed, more than
        1,000 labels.

        >>> frame = pd.DataFrame({"item": [1, 1, 2], "annotator": ["a", "b", "a"], "label": ["3", "10", "3.0"]})
        >>> Ratings.of(frame).labels, Ratings.of(frame).counts.toarray().tolist()
        (('3', '10'), [[1.0, 1.0], [1.0, 0.0]])
        """
        if frame.empty:
            raise AuditError("there are no ratings; one row an item, annotator and label is needed")
        item, _ = pd.factorize(frame["item"])
        annotator, annotators = pd.factorize(frame["annotator"], sort=True)
        again = pd.DataFrame({"item": item, "annotator": annotator}).duplicated().to_numpy()
        if again.any():
            first = frame[again].iloc[0]
            raise AuditError(
                f"annotator {first['annotator']} rates item {first['item']} twice; keep one rating of each item"
            )
        codes, given = pd.factorize(frame["label"])
        given = [str(label) for label in given]
        names, place, values = _scaled(given if labels is None else [str(label) for label in labels], order)
        unknown = [label for label in given if label not in place]
        if unknown:
            raise AuditError(f"label {unknown[0]!r} is not one of {', '.join(names)}")
        clusters = None
        if "cluster" in frame:
            # One cluster an item: that of its first rating.
            clusters = pd.factorize(frame["cluster"].to_numpy()[np.unique(item, return_index=True)[1]])[0]
        return cls(
            item,
            annotator,
            np.array([place[label] for label in given])[codes],
            int(item.max()) + 1,
            tuple(map(str, annotators)),
            names,
            "order" if order else "names" if values is None else "numbers",
            np.arange(len(names), dtype=float) if order else values,
            clusters,
        )

    @cached_property
    def counts(self) -> csr_array:
        """How often each item got each label: sparse, items x labels."""
        shape = (self.items, len(self.labels))
        return csr_array((np.ones(len(self.item)), (self.item, self.label)), shape=shape)

    @cached_property
    def per_item(self) -> np.ndarray:
        """Ratings per item, shape (items,), all at least 1."""
        return np.bincount(self.item, minlength=self.items).astype(float)

    @cached_property
    def shared(self) -> np.ndarray:
        """Which items were rated by two annotators or more: booleans of shape (items,)."""
        return self.per_item >= 2

    @cached_property
    def prevalence(self) -> np.ndarray:
        """Share of each label, shape (labels,), each item weighing the same. Items with one rating count here."""
        weights = 1 / self.per_item[self.item] / self.items
        return np.bincount(self.label, weights, minlength=len(self.labels))

    @cached_property
    def both(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For exactly two annotators: the items that both rated, and the labels of the first and of the second.

        Raises AuditError for another number of annotators.
        """
        if len(self.annotators) != 2:
            raise AuditError(f"there are {len(self.annotators)} annotators; this coefficient is for exactly 2")
        given = np.full((2, self.items), -1)
        given[self.annotator, self.item] = self.label
        items = np.flatnonzero((given >= 0).all(axis=0))
        return items, given[0, items], given[1, items]

    def forms(self, weights: np.ndarray) -> np.ndarray:
        """r' W r of each item, r its counts and W the weights (labels x labels): shape (items,).

        >>> frame = pd.DataFrame({"item": [1, 1, 1], "annotator": ["a", "b", "c"], "label": ["x", "x", "y"]})
        >>> Ratings.of(frame).forms(np.eye(2)).tolist()
        [5.0]
        """
        found = np.empty(self.items)
        step = max(1, _CELLS // len(self.labels))
        for start in range(0, self.items, step):
            block = self.counts[start : start + step].toarray()
            found[start : start + step] = ((block @ weights) * block).sum(axis=1)
        return found


def number_of(label: str) -> float | None:
    """The number that a label is, or None.

    >>> number_of("1.5"), number_of("nan"), number_of("1_0"), number_of("good")
    (1.5, None, None, None)
    """
    try:
        number = float(label)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in label else None


def _scaled(labels: Sequence[str], order: bool) -> tuple[tuple[str, ...], dict[str, int], np.ndarray | None]:
    """Labels in their order, the place of every spelling, and the values where all labels are numbers."""
    distinct = list(dict.fromkeys(labels))
    numbers = {label: number_of(label) for label in distinct}
    values: list[float] = sorted({number for number in numbers.values() if number is not None})
    if not order and all(number is not None for number in numbers.values()):
        spelled = {numbers[label]: label for label in sorted(distinct, reverse=True)}
        names = tuple(spelled[value] for value in values)
        place = {label: values.index(number) for label, number in numbers.items() if number is not None}
        found: np.ndarray | None = np.array(values)
    else:
        names = tuple(distinct) if order else tuple(sorted(distinct))
        place = {label: position for position, label in enumerate(names)}
        found = None
    if len(names) > MOST_LABELS:
        raise AuditError(
            f"there are {len(names):,} different labels, at most {MOST_LABELS:,} are allowed; round numbers, or sort "
            "free text into categories"
        )
    return names, place, found
