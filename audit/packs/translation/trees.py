"""Constituency trees: where their words stand, how alike two are, and which word or phrase is replaced.

Source: the study of MGMT (seeds/002...), formulas 5 to 7 (similarity of structures) and algorithm 1 (DeepSelect).
"""

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from audit.packs.english.vocabulary import ESCAPED
from audit.packs.translation.proposers import is_negation

if TYPE_CHECKING:
    from nltk import Tree

PHRASES = ("NP", "VP", "PP", "ADVP")
"""Noun, verb, prepositional and adverb phrases: those of MGMT's relation at the level of phrases."""
_KINDS = {
    "noun": "NOUN NN NNS n NT Ng t Tg s vn an",
    "name": "PROPN NNP NNPS np NR nr ns nt nz nx",
    "verb": "VERB VB VBD VBG VBN VBP VBZ vblex VV v vd Vg",
    "adjective": "ADJ JJ JJR JJS adj VA a ad Ag b z",
    "adverb": "ADV RB RBR RBS adv preadv AD d Dg",
}
"""Part of speech -> universal, Penn's, Apertium's, the Chinese Treebank's and the People's Daily's tags for it."""
_KIND_OF = {tag: kind for kind, tags in _KINDS.items() for tag in tags.split()}


def kind_of(tag: str) -> str:
    """Return noun, name, verb, adjective, adverb, or other (all closed classes).

    >>> kind_of("NNS"), kind_of("DT"), kind_of("adj.f.sg"), kind_of("VA")
    ('noun', 'other', 'adjective', 'adjective')
    """
    return _KIND_OF.get(tag.partition(".")[0], "other")


def leaf_spans(text: str, leaves: Iterable[str]) -> list[tuple[int, int]] | None:
    """Return where the leaves of a tree stand in its text, (start, end) each; None where one cannot be found.

    Parsers change case and write brackets and quotation marks in their own way; a mark that no leaf stands for is
    passed over, a word never.

    >>> leaf_spans("It (really) is.", ["it", "-LRB-", "really", "-RRB-", "is", "."])
    [(0, 2), (3, 4), (4, 10), (10, 11), (12, 14), (14, 15)]
    """
    spans: list[tuple[int, int]] = []
    at = 0
    for leaf in leaves:
        forms = (leaf, ESCAPED.get(leaf, leaf))
        while not (sizes := [len(form) for form in forms if text[at : at + len(form)].casefold() == form.casefold()]):
            if at >= len(text) or text[at].isalnum():
                return None
            at += 1
        spans.append((at, at + sizes[0]))
        at += sizes[0]
    return None if any(sign.isalnum() for sign in text[at:]) else spans


def label_paths(tree: "Tree") -> frozenset[tuple[str, ...]]:
    """Return the labels from the root to each word's part of speech, without the words."""
    leaves = tree.treepositions("leaves")
    return frozenset(tuple(tree[place[:depth]].label() for depth in range(len(place))) for place in leaves)


def structure_similarity(tree: "Tree", other: "Tree") -> float:
    """Return from 0 (no path in common) to 1 (the same paths) how alike two trees are, whichever comes first.

    1 - (lost + added) / 2, where `lost` is the share of the paths of `tree` that `other` has not, and `added` the share
    of the paths of `other` that `tree` has not. Two trees without words are alike; one with and one without are not.
    """
    first, second = label_paths(tree), label_paths(other)
    if not first or not second:
        return float(first == second)
    return 1 - (len(first - second) / len(first) + len(second - first) / len(second)) / 2


# DeepSelect: what stands deep in a tree belongs to little else, so another word there should change no other structure.


def deep_word(tree: "Tree", free: Collection[int], k: int, choices: random.Random) -> int | None:
    """Return the index of one of the `k` deepest of these leaves, at random; of equally deep ones the first come."""
    places = tree.treepositions("leaves")
    candidates = sorted(sorted(free), key=lambda index: -len(places[index]))[:k]
    return choices.choice(candidates) if candidates else None


def deep_phrase(
    tree: "Tree", k: int, choices: random.Random, having: Callable[[Sequence[int]], object]
) -> tuple[int, ...]:
    """Return the leaves (by index) of one of the `k` deepest of `PHRASES` for which `having` is true, at random.

    Empty where there is none; of phrases at one depth the first in the text come first.
    """
    leaves = tree.treepositions("leaves")
    inner = (place for place in tree.treepositions() if not isinstance(tree[place], str) and tree[place].height() > 2)
    candidates: list[tuple[int, ...]] = []
    for place in sorted((place for place in inner if _base(tree[place]) in PHRASES), key=lambda place: -len(place)):
        below = tuple(index for index, leaf in enumerate(leaves) if leaf[: len(place)] == place)
        if len(candidates) < k and having(below):
            candidates.append(below)
    return choices.choice(candidates) if candidates else ()


def modifiers(tree: "Tree", leaves: Iterable[int], language: str) -> tuple[int, ...]:
    """Return those leaves (by index) that modify a word: adjectives and adverbs, English participles before a noun.

    None are determiners, numerals and nouns before nouns; adverbs that negate; an adjective that is itself what a noun
    phrase is about (the *rich*). Chinese has no adjectives of its own: verbs of state (VA) are taken for such.
    """
    texts, places = tree.leaves(), tree.treepositions("leaves")

    def modifies(index: int) -> bool:
        place = places[index][:-1]
        tag, phrase = tree[place].label(), tree[place[:-1]]
        if is_negation(texts[index], language) or not any(map(str.isalpha, texts[index])):
            return False
        if kind_of(tag) == "adjective":
            others = [child for at, child in enumerate(phrase) if place and at != place[-1]]
            return _base(phrase) != "NP" or _has_noun(others)
        return kind_of(tag) == "adverb" or (language == "en" and tag in ("VBN", "VBG") and _before_noun(tree, place))

    return tuple(filter(modifies, leaves))


def _before_noun(tree: "Tree", place: tuple[int, ...]) -> bool:
    """Return whether a noun follows the word in its own noun phrase; of an adjective phrase, in the one around it."""
    if len(place) > 1 and _base(tree[place[:-1]]) == "ADJP":
        place = place[:-1]
    if not place or _base(tree[place[:-1]]) not in ("NP", "NX", "NAC"):
        return False
    return any(_has_noun([child]) for child in tree[place[:-1]][place[-1] + 1 :])


def _has_noun(trees: Iterable["Tree"]) -> bool:
    return any(kind_of(tag) in ("noun", "name") for tree in trees if not isinstance(tree, str) for _, tag in tree.pos())


def _base(tree: "Tree") -> str:
    """Return a label without what a treebank adds to it: grammatical function, number of a trace."""
    label: str = tree.label()
    return label if label.startswith("-") else label.replace("=", "-").replace("|", "-").partition("-")[0]
