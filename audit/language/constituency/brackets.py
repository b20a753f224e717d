"""How many brackets of a tree a parser finds: what evalb counts, with its usual parameters (COLLINS.prm)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from audit.language.peoples_daily import Score
from audit.language.wordsets import words

if TYPE_CHECKING:
    from nltk import Tree

MARKS = words(", : `` '' . PU")
"""Tags of the words that are left out of both trees: Penn's, and the Chinese Treebank's one for all marks."""
_ROOTS = frozenset({"TOP", "ROOT", "S1", ""})
_EQUAL = {"PRT": "ADVP"}


def brackets(tree: Tree, tags: Iterable[str]) -> Counter[tuple[str, int, int]]:
    """(label, first word, word behind the last) of each node above the tags, with how often it is there.

    `tags`: of the words in the gold tree, which say what is a mark; marks have no place. The root does not count, and
    a PRT is an ADVP.

    >>> from nltk import Tree
    >>> tree = Tree.fromstring("(TOP (S (NP (PRP She)) (VP (VBZ knits) (NP (NN lace))) (. .)))")
    >>> sorted(brackets(tree, ["PRP", "VBZ", "NN", "."]))
    [('NP', 0, 1), ('NP', 2, 3), ('S', 0, 3), ('VP', 1, 3)]
    """
    kept = [tag not in MARKS for tag in tags]
    found: Counter[tuple[str, int, int]] = Counter()
    leaf = 0

    def walk(node: Tree, at: int) -> int:
        nonlocal leaf
        end = at
        for child in node:
            if isinstance(child, str):
                end += kept[leaf]
                leaf += 1
            else:
                end = walk(child, end)
        if end > at and node.label() not in _ROOTS and not isinstance(node[0], str):
            found[_EQUAL.get(node.label(), node.label()), at, end] += 1
        return end

    walk(tree, 0)
    return found


def bracket_score(gold: Iterable[Tree], found: Iterable[Tree | None]) -> Score:
    """Brackets that are right, that are there and that were found, of all trees together (evalb's recall, precision
    and F1 are the score's). A tree that is missing has no brackets.

    Each pair of trees has the same words. Raises ValueError where the numbers of trees or of words differ.
    """
    return of_label("", gold, found)


def of_label(label: str, gold: Iterable[Tree], found: Iterable[Tree | None]) -> Score:
    """As `bracket_score`, for the brackets of one label; empty: all."""
    right = there = all_found = 0
    for one, other in zip(gold, found, strict=True):
        tags = [tag for _, tag in one.pos()]
        wanted = _labelled(brackets(one, tags), label)
        there += wanted.total()
        if other is None:
            continue
        if len(other.leaves()) != len(tags):
            raise ValueError(f"trees of {len(tags)} and {len(other.leaves())} words cannot be compared: {one.leaves()}")
        got = _labelled(brackets(other, tags), label)
        all_found += got.total()
        right += (wanted & got).total()
    return Score(right, there, all_found)


def _labelled(given: Counter[tuple[str, int, int]], label: str) -> Counter[tuple[str, int, int]]:
    return Counter({one: times for one, times in given.items() if one[0] == label}) if label else given
