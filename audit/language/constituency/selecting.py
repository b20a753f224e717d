"""DeepSelect (MGMT, algorithm 1): the word or phrase of a sentence that is replaced, one of the deepest in its tree.

What stands deep in a tree belongs to little else, so that another word there should change the structure of nothing
else.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from audit.errors import AuditError
from audit.language.constituency.tags import kind_of
from audit.language.wordsets import words

if TYPE_CHECKING:
    from nltk import Tree

PHRASES = ("NP", "VP", "PP", "ADVP")
"""Noun, verb, prepositional and adverb phrases: those of MGMT's relation at the level of phrases."""
_NOT = {
    "en": words("not n't n’t"),
    "es": words("no"),
    "ca": words("no"),
    "fr": words("ne n' n’ pas"),
    "zh": words("不 没 没有 未 别 沒 沒有 別"),
}
"""Adverbs that negate: nothing else can stand for them."""
_PARTICIPLES = words("VBN VBG")


def deep_select(tree: Tree, wanted: Collection[str], k: int, choices: random.Random) -> int | None:
    """The index of a leaf: one at random of the `k` deepest whose part of speech is wanted; None: there is none.

    `wanted`: tags (`tags_of` makes them of nouns, verbs and so on). Of leaves at one depth the first in the text come
    first. Raises AuditError for k below 1.

    >>> from nltk import Tree
    >>> tree = Tree.fromstring("(S (NP (NNS dogs)) (VP (VBP like) (NP (NP (NNS bones)) (PP (IN of) (NP (NNS cows))))))")
    >>> tree.leaves()[deep_select(tree, {"NNS"}, 1, random.Random(0))]
    'cows'
    """
    _check(k)
    places = tree.treepositions("leaves")
    fitting = [index for index, place in enumerate(places) if _label(tree, place[:-1]) in wanted]
    candidates = sorted(fitting, key=lambda index: -len(places[index]))[:k]
    return choices.choice(candidates) if candidates else None


def deep_phrase(
    tree: Tree,
    labels: Collection[str],
    k: int,
    choices: random.Random,
    having: Callable[[Sequence[int]], object] | None = None,
) -> tuple[str, tuple[int, ...]] | None:
    """A phrase with one of these labels, one at random of the `k` deepest: its label and the indices of its leaves.

    `labels`: as `PHRASES`; what a treebank adds to a label (NP-SBJ, VP‧的) is not looked at. `having`: phrases count
    only where this is true of the indices of their leaves, as where there are modifiers in them. Of phrases at one
    depth the first in the text come first. None: there is no such phrase. Raises AuditError for k below 1.

    >>> from nltk import Tree
    >>> tree = Tree.fromstring("(S (NP (DT the) (NN sea)) (VP (VBZ is) (ADJP (RB very) (JJ deep))))")
    >>> deep_phrase(tree, PHRASES, 2, random.Random(0), having=lambda leaves: modifiers(tree, leaves, "en"))
    ('VP', (2, 3, 4))
    """
    _check(k)
    found: list[tuple[int, str, tuple[int, ...]]] = []
    leaves = 0
    for place in tree.treepositions("preorder"):
        if not hasattr(tree[place], "label"):
            leaves += 1
            continue
        label = base_label(tree[place].label())
        size = len(tree[place].leaves())
        # A tag may be written as a phrase is: what stands over a single word alone is that word's tag.
        if label in labels and size and tree[place].height() > 2:
            found.append((len(place), label, tuple(range(leaves, leaves + size))))
    deepest = sorted(found, key=lambda one: -one[0])
    candidates = [one for one in deepest if having is None or having(one[2])][:k]
    if not candidates:
        return None
    _, label, indices = choices.choice(candidates)
    return label, indices


def modifiers(tree: Tree, leaves: Sequence[int], language: str) -> tuple[int, ...]:
    """Those of the leaves (by index) that modify another word: adjectives and adverbs by their tag (`kind_of`), and in
    English participles before a noun in a noun phrase (the *broken* window).

    None are determiners, numerals and nouns before nouns; adverbs that negate; an adjective that is itself what a noun
    phrase is about (the *rich*). Chinese has no adjectives of its own: verbs of state (VA, VH) are taken for such.

    >>> from nltk import Tree
    >>> tree = Tree.fromstring("(NP (NP (DT the) (RB very) (JJ old) (NN man)) (PP (IN of) (NP (DT the) (NN sea))))")
    >>> modifiers(tree, range(7), "en")
    (1, 2)
    """
    found = []
    texts, places = tree.leaves(), tree.treepositions("leaves")
    for index in leaves:
        place = places[index]
        tag = _label(tree, place[:-1])
        kind = kind_of(tag, language)
        if texts[index].lower() in _NOT.get(language, ()) or not any(one.isalpha() for one in texts[index]):
            continue
        if (
            kind == "adverb"
            or (kind == "adjective" and not _is_head(tree, place, language))
            or (language == "en" and tag in _PARTICIPLES and _before_noun(tree, place))
        ):
            found.append(index)
    return tuple(found)


def base_label(label: str) -> str:
    """A label without what a treebank adds to it: grammatical function, number of a trace, particle.

    >>> [base_label(label) for label in ("NP-SBJ-1", "NP=2", "VP‧的", "-LRB-", "PRP$")]
    ['NP', 'NP', 'VP', '-LRB-', 'PRP$']
    """
    if label.startswith("-"):
        return label
    for sign in "-=|‧":
        label = label.partition(sign)[0]
    return label


def _is_head(tree: Tree, place: tuple[int, ...], language: str) -> bool:
    """Whether the word stands in a noun phrase that has no noun of its own."""
    phrase, within = _phrase(tree, place)
    if base_label(phrase.label()) != "NP":
        return False
    others = [child for at, child in enumerate(phrase) if at != within]
    return not any(kind_of(tag, language) in ("noun", "name") for child in others for tag in _tags(child))


def _before_noun(tree: Tree, place: tuple[int, ...]) -> bool:
    """Whether a noun follows the word in its own noun phrase; of an adjective phrase, in the phrase around it."""
    phrase, within = _phrase(tree, place)
    if base_label(phrase.label()) == "ADJP" and len(place) > 2:
        place = place[:-1]
        phrase, within = _phrase(tree, place)
    if base_label(phrase.label()) not in ("NP", "NX", "NAC"):
        return False
    return any(kind_of(tag, "en") in ("noun", "name") for child in phrase[within + 1 :] for tag in _tags(child)[:1])


def _phrase(tree: Tree, place: tuple[int, ...]) -> tuple[Tree, int]:
    """The node above a word's tag, and which of its children the tag is; above the root is the root."""
    return (tree[place[:-2]], place[-2]) if len(place) > 1 else (tree, 0)


def _tags(node: Tree | str) -> list[str]:
    return [] if isinstance(node, str) else [tag for _, tag in node.pos()]


def _label(tree: Tree, place: tuple[int, ...]) -> str:
    return str(tree[place].label())


def _check(k: int) -> None:
    if k < 1:
        raise AuditError(f"k is {k}; at least 1 candidate is needed")
