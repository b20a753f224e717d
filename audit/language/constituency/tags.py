"""What part of speech a tag names, whatever set of tags a parser has."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from audit.language.wordsets import words

if TYPE_CHECKING:
    from nltk import Tree

KINDS = ("noun", "name", "verb", "adjective", "adverb", "other")
"""What a tag may name. Pronouns, numerals, auxiliaries and all closed classes are `other`."""

_UNIVERSAL = {
    "noun": words("NOUN"),
    "name": words("PROPN"),
    "verb": words("VERB"),
    "adjective": words("ADJ"),
    "adverb": words("ADV"),
}
_PENN = {
    "noun": words("NN NNS"),
    "name": words("NNP NNPS"),
    "verb": words("VB VBD VBG VBN VBP VBZ"),
    "adjective": words("JJ JJR JJS"),
    "adverb": words("RB RBR RBS"),
}
_APERTIUM = {
    "noun": words("n"),
    "name": words("np"),
    "verb": words("vblex"),
    "adjective": words("adj"),
    "adverb": words("adv preadv"),
}
_CHINESE_TREEBANK = {
    "noun": words("NN NT"),
    "name": words("NR"),
    "verb": words("VV"),
    "adjective": words("JJ VA"),
    "adverb": words("AD"),
}
# The People's Daily's tags: audit.language.chinese_tags.
_PEOPLES_DAILY = {
    "noun": words("n Ng t Tg s vn an"),
    "name": words("nr ns nt nz nx"),
    "verb": words("v vd Vg"),
    "adjective": words("a ad Ag b z"),
    "adverb": words("d Dg"),
}
# Sinica (CKIP technical report 93-05): Na to Nd are nouns, of which Nb and Nca are names, Nv nouns made of verbs; VH
# and VI are states, what other tag sets call adjectives; of adverbs Dc negates and Di (aspect) belongs to the verb.
_SINICA = (
    ("name", re.compile(r"Nb.*|Nca")),
    ("noun", re.compile(r"N[acdv].*")),
    ("adjective", re.compile(r"A|V[HI]\d*")),
    ("verb", re.compile(r"V[A-GJ-L]\d+")),
    ("adverb", re.compile(r"D[abdfghk][a-z]*")),
)


def _by_tag(*sets: dict[str, frozenset[str]]) -> dict[str, str]:
    return {tag: kind for one in sets for kind, tags in one.items() for tag in tags}


_OTHERS = _by_tag(_UNIVERSAL, _PENN, _APERTIUM)
_CHINESE = _by_tag(_UNIVERSAL, _CHINESE_TREEBANK, _PEOPLES_DAILY)


def kind_of(tag: str, language: str) -> str:
    """One of `KINDS`. Read are Penn's and universal tags, Apertium's (the first part of `adj.f.sg`), and for Chinese
    those of the Chinese Treebank, the Sinica Treebank and the People's Daily.

    >>> kind_of("NNS", "en"), kind_of("DT", "en"), kind_of("adj.f.sg", "es"), kind_of("Nab", "zh")
    ('noun', 'other', 'adjective', 'noun')
    """
    if language != "zh":
        return _OTHERS.get(tag.partition(".")[0], "other")
    if tag in _CHINESE:
        return _CHINESE[tag]
    return next((kind for kind, pattern in _SINICA if pattern.fullmatch(tag.partition("[")[0])), "other")


def tags_of(tree: Tree, kinds: Collection[str], language: str) -> frozenset[str]:
    """The tags of a tree's words that name one of these kinds.

    >>> from nltk import Tree
    >>> sorted(tags_of(Tree.fromstring("(S (NP (NNS dogs)) (VP (VBP bark)))"), ("noun", "verb"), "en"))
    ['NNS', 'VBP']
    """
    return frozenset(tag for _, tag in tree.pos() if kind_of(tag, language) in kinds)
