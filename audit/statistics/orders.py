"""Which system looks best for one relation, and which is (Jiang et al. 2022, section 6.2)."""

from collections.abc import Mapping, Sequence
from string import ascii_letters
from typing import TypeVar

import numpy as np

from audit.errors import AuditError

TIED = 1e-12
"""Rates closer than this are equal: what is left are the last bits of a product."""

Name = TypeVar("Name", str, int)


def best_of(rates: Mapping[Name, float]) -> list[Name]:
    """Whoever has the highest rate, in order; all that are tied.

    >>> best_of({"b": 0.5, "a": 0.5, "c": 0.4})
    ['a', 'b']
    """
    top = max(rates.values(), default=0.0)
    return sorted(name for name, rate in rates.items() if top - rate <= TIED)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: each p value times the number of hypotheses still open, never falling.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, highest = [0.0] * len(p_values), 0.0
    for step, at in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[at]))
        adjusted[at] = highest
    return adjusted


def discovery_rates(p_values: Sequence[float]) -> list[float]:
    """The least false discovery rate at which each hypothesis is among the found (q-values), however tests depend.

    Slices overlap, and a slice is above the rest where another is below. Source: Benjamini and Yekutieli, Annals of
    Statistics 29 (2001).

    >>> [round(q, 4) for q in discovery_rates([0.001, 0.5])], discovery_rates([])
    ([0.003, 0.75], [])
    """
    from scipy.stats import false_discovery_control  # a second to import

    return [] if not len(p_values) else [float(q) for q in false_discovery_control(list(p_values), method="by")]


# Homogeneous subsets: systems that share a letter are not told apart (compact letter display).


def compact_letters(differ: np.ndarray) -> list[str]:
    """A string of letters per item: two items share a letter exactly where `differ` is false for them.

    `differ` is a symmetric boolean array (items, items), items in the order in which letters are given out, the best
    first. As few letters as insert-and-absorb finds, no item with a letter that says nothing new. After z come A to Z,
    then (53), (54) and so on. Source: Piepho, Journal of Computational and Graphical Statistics 13 (2004).

    >>> compact_letters(np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]], bool))
    ['ab', 'a', 'b']
    """
    items = len(differ)
    subsets: list[frozenset[int]] = [frozenset(range(items))] if items else []
    for first, second in zip(*np.nonzero(np.triu(differ)), strict=True):
        insertions = [subset for subset in subsets if first in subset and second in subset]
        subsets = [subset for subset in subsets if subset not in insertions]
        for subset in insertions:
            subsets += [subset - {int(second)}, subset - {int(first)}]
        # Absorb: a subset inside another says nothing that the other does not say.
        unique = list(dict.fromkeys(subsets))
        subsets = [subset for subset in unique if not any(subset < larger for larger in unique)]
    subsets = _without_idle(sorted(subsets, key=sorted))
    letters = [ascii_letters[at] if at < len(ascii_letters) else f"({at + 1})" for at in range(len(subsets))]
    return ["".join(letters[at] for at, subset in enumerate(subsets) if item in subset) for item in range(items)]


def _without_idle(subsets: list[frozenset[int]]) -> list[frozenset[int]]:
    """Leave out subsets all of whose pairs (or whose only item) are together in other subsets too."""
    needed = list(subsets)
    for subset in reversed(subsets):
        others = [other for other in needed if other != subset]
        if all(any({first, second} <= other for other in others) for first in subset for second in subset):
            needed = others
    return needed


def letters_of(order: Sequence[str], apart: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Letters of systems, given best first: two share a letter exactly where they are not told `apart`.

    >>> letters_of(["x", "y", "z"], [("x", "z")])
    {'x': 'a', 'y': 'ab', 'z': 'b'}
    """
    place = {system: at for at, system in enumerate(order)}
    differ = np.zeros((len(order), len(order)), bool)
    for first, second in apart:
        differ[place[first], place[second]] = differ[place[second], place[first]] = True
    return dict(zip(order, compact_letters(differ), strict=True))


def normalised(weights: Sequence[float]) -> np.ndarray:
    """Weights that sum to 1. Raises AuditError where one is negative or not finite, or all are 0.

    >>> normalised([1, 3]).tolist()
    [0.25, 0.75]
    """
    values = np.asarray(weights, float)
    if not np.isfinite(values).all() or (values < 0).any():
        raise AuditError("a weight is negative or not a number; a weight is 0 or more")
    if not values.sum() > 0:
        raise AuditError("all weights are 0; give at least one relation a weight above 0")
    return np.asarray(values / values.sum())
