"""Homogeneous subsets: systems that share a letter are not told apart (compact letter display)."""

from string import ascii_letters

import numpy as np

from audit.errors import AuditError


def compact_letters(differ: np.ndarray) -> list[str]:
    """A string of letters per item: two items share a letter exactly where `differ` is false for them.

    `differ` is a symmetric boolean array (items, items), items in the order in which letters are given out, the best
    first. As few letters as insert-and-absorb finds, no item with a letter that says nothing new. After z come A to Z,
    then (53), (54) and so on. Raises AuditError where `differ` is not square and symmetric. Source: Piepho, Journal of
    Computational and Graphical Statistics 13 (2004).

    >>> compact_letters(np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]], bool))
    ['ab', 'a', 'b']
    """
    differ = np.asarray(differ, bool)
    if differ.ndim != 2 or differ.shape[0] != differ.shape[1] or (differ != differ.T).any() or differ.diagonal().any():
        raise AuditError(f"differences of shape {differ.shape} must be square, symmetric and false on the diagonal")
    items = len(differ)
    subsets: list[frozenset[int]] = [frozenset(range(items))] if items else []
    for one, other in zip(*np.nonzero(np.triu(differ)), strict=True):
        insertions = [subset for subset in subsets if one in subset and other in subset]
        subsets = [subset for subset in subsets if subset not in insertions]
        for subset in insertions:
            subsets += [subset - {int(other)}, subset - {int(one)}]
        # Absorb: a subset inside another says nothing that the other does not say.
        unique = list(dict.fromkeys(subsets))
        subsets = [subset for subset in unique if not any(subset < larger for larger in unique)]
    subsets = _without_idle(sorted(subsets, key=sorted))
    return [
        "".join(_letter(number) for number, subset in enumerate(subsets) if item in subset) for item in range(items)
    ]


def _without_idle(subsets: list[frozenset[int]]) -> list[frozenset[int]]:
    """Leave out subsets all of whose pairs (or whose only item) are together in other subsets too."""
    kept = list(subsets)
    for subset in reversed(subsets):
        others = [other for other in kept if other != subset]
        if all(any({one, two} <= other for other in others) for one in subset for two in subset):
            kept = others
    return kept


def _letter(number: int) -> str:
    return ascii_letters[number] if number < len(ascii_letters) else f"({number + 1})"
