"""How alike the structures of two sentences are: by the paths of labels from the root of a tree to its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk import Tree

Path = tuple[str, ...]


def label_paths(tree: Tree) -> frozenset[Path]:
    """The labels from the root down to the part of speech of each word, without the words: a path that several words
    share is there once. A tree without words has none.

    >>> from nltk import Tree
    >>> tree = Tree.fromstring("(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN dog))))")
    >>> for path in sorted(label_paths(tree)): print(*path)
    S NP DT
    S NP NN
    S VP NP DT
    S VP NP NN
    S VP VBZ
    """
    paths: set[Path] = set()
    waiting: list[tuple[Tree, Path]] = [(tree, (tree.label(),))]
    while waiting:
        node, path = waiting.pop()
        for child in node:
            if hasattr(child, "label"):
                waiting.append((child, (*path, child.label())))
            else:
                paths.add(path)
    return frozenset(paths)


def structure_similarity(one: Tree, other: Tree) -> float:
    """From 0 (no path in common) to 1 (the same paths), whichever tree comes first (MGMT, formulas 5 to 7).

    1 - (lost + added) / 2, where `lost` is the share of the paths of `one` that `other` has not, and `added` the share
    of the paths of `other` that `one` has not. Two trees without words are alike; one with and one without are not.

    >>> from nltk import Tree
    >>> one = Tree.fromstring("(S (NP (NN fish)) (VP (VBP swim)))")
    >>> other = Tree.fromstring("(S (NP (JJ big) (NN fish)) (VP (VBP swim) (ADVP (RB fast))))")
    >>> structure_similarity(one, other)    # nothing of 2 is lost, 2 of 4 are added
    0.75
    """
    first, second = label_paths(one), label_paths(other)
    if not first or not second:
        return float(first == second)
    lost = len(first - second) / len(first)
    added = len(second - first) / len(second)
    return 1 - (lost + added) / 2
