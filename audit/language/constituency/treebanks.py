"""The treebanks that come with NLTK's data, as parsers learn from them: English and Chinese, cleaned, in documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from audit.errors import AuditError, NotInstalled, UnknownName
from audit.keys import uniform
from audit.language.constituency.selecting import base_label
from audit.language.wordsets import words

if TYPE_CHECKING:
    from nltk import Tree

TREEBANKS = {"en": "treebank", "zh": "sinica_treebank"}
"""Language -> the corpus of NLTK: 3,914 sentences of the Penn Treebank, 10,000 clauses of the Sinica Treebank."""
PHRASES_OF_SINICA = words("S NP VP PP GP N V A DM ADV")
TOGETHER = 50
"""Clauses of the Sinica Treebank that count as a document: it does not say where one ends."""


def documents(language: str) -> tuple[tuple[Tree, ...], ...]:
    """The cleaned trees of a language, in documents and in order; each has one node under its root TOP.

    English is without traces (-NONE-) and grammatical functions (NP-SBJ). Chinese is in simplified characters, without
    marks, as the Sinica Treebank has none, and with tags as far as `simple_tag` keeps them apart. Raises UnknownName
    for a language without a treebank, NotInstalled where NLTK's data or OpenCC are absent.
    """
    if language not in TREEBANKS:
        raise UnknownName("language with a treebank", language, list(TREEBANKS))
    return _read(language)


def split(
    given: Sequence[Sequence[Tree]], held_out: float, seed: int
) -> tuple[tuple[tuple[Tree, ...], ...], tuple[tuple[Tree, ...], ...]]:
    """The documents to learn from and those to hold out, in order: at least one each way.

    `held_out` is their share. The same seed holds the same ones out. Raises AuditError for fewer than two documents.
    """
    if len(given) < 2:
        raise AuditError(f"there are {len(given)} documents, too few to hold one out; raise the limit")
    order = sorted(range(len(given)), key=lambda index: (uniform("held out", seed, str(index)), index))
    out = set(order[: min(max(round(held_out * len(given)), 1), len(given) - 1)])
    learned = tuple(tuple(one) for index, one in enumerate(given) if index not in out)
    return learned, tuple(tuple(given[index]) for index in sorted(out))


def simple_tag(tag: str) -> str:
    """A tag of the Sinica Treebank without its finest distinctions, of which 231 are too many to learn.

    >>> [simple_tag(tag) for tag in ("VH11", "Nab", "Nca", "Neqa", "Caa[P1]", "Dbaa", "DE", "P21", "V_11")]
    ['VH1', 'Na', 'Nca', 'Neqa', 'Caa', 'Db', 'DE', 'P', 'V_1']
    """
    tag = tag.partition("[")[0]
    if tag == "Nca" or tag.startswith("Ne"):
        return tag
    if tag.startswith("V"):
        return tag[:3]
    if tag.startswith("P"):
        return "P"
    return tag[:3] if tag.startswith("C") else tag[:2]


def simple_label(label: str) -> str:
    """A label of the Sinica Treebank without the particle of its phrase; what is named by the tag of its head is named
    by the first letter of it, and the few nodes named by their role are X.

    >>> [simple_label(label) for label in ("VP‧的", "得‧VP", "GP", "Nab", "VH11‧的", "DM", "Dh", "ADV‧地", "goal")]
    ['VP', 'VP', 'GP', 'N', 'V', 'DM', 'ADV', 'ADV', 'X']
    """
    label = next((part for part in label.split("‧") if part.isascii()), "X").partition("[")[0]
    if label in PHRASES_OF_SINICA:
        return label
    return {"N": "N", "V": "V", "D": "ADV", "C": "C"}.get(label[:1], "X")


@cache
def _read(language: str) -> tuple[tuple[Tree, ...], ...]:
    name = TREEBANKS[language]
    try:
        from nltk import corpus

        reader = getattr(corpus, name)
        if language == "en":
            return tuple(tuple(cleaned(tree) for tree in reader.parsed_sents(one)) for one in reader.fileids())
        trees = [_chinese(tree) for tree in reader.parsed_sents()]
    except LookupError as problem:
        raise NotInstalled(
            f"NLTK's corpus {name!r} is not installed; run: python -m nltk.downloader {name}, or name the directory "
            "that holds it in NLTK_DATA"
        ) from problem
    return tuple(tuple(trees[at : at + TOGETHER]) for at in range(0, len(trees), TOGETHER))


def cleaned(tree: Tree) -> Tree:
    """A tree of the Penn Treebank under TOP: without traces and what is empty without them, without functions, and
    with no node right under one of its own name.

    >>> from nltk import Tree
    >>> print(cleaned(Tree.fromstring("(S (NP-SBJ-1 (-NONE- *)) (VP (VB go) (NP (NP (NN home)))))")))
    (TOP (S (VP (VB go) (NP (NN home)))))
    """
    from nltk import Tree

    return Tree("TOP", list(_clean(tree)))


def _clean(node: Tree) -> Iterator[Tree]:
    from nltk import Tree

    if node.label() == "-NONE-":
        return
    if isinstance(node[0], str):
        yield Tree(node.label(), [node[0].replace("\\", "")])  # 1\/2: a slash is escaped, and nothing else has one
        return
    children = [one for child in node for one in _clean(child)]
    label = base_label(node.label())
    if len(children) == 1 and children[0].label() == label:
        yield children[0]
    elif children:
        yield Tree(label, children)


def _chinese(tree: Tree) -> Tree:
    from audit.language.chinese_characters import simplified

    for node in tree.subtrees(lambda node: not isinstance(node[0], str)):
        node.set_label(simple_label(node.label()))
    tree = cleaned(tree)
    for node in tree.subtrees(lambda node: isinstance(node[0], str)):
        node.set_label(simple_tag(node.label()))
        node[0] = simplified(node[0])
    return tree
