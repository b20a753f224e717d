"""Which way an English text leans, by words that praise or blame in any field.

A strict relation applies only where there is a sentiment to strengthen, or to turn round. Whether there is must not be
asked of a system that is audited, so this list is the project's own.
"""

from collections.abc import Mapping
from functools import cache, lru_cache

from audit.errors import AuditError
from audit.packs.english.parser import tree_of
from audit.packs.english.tagging import forms, plural
from audit.packs.english.vocabulary import NEGATIONS
from audit.resources import data_file
from audit.text.analysis import Analysis
from audit.text.tokens import words

_POLES = {"positive": 1, "negative": -1}
_TAGS = {"ADJ": ("JJ", "VBN", "VBG"), "ADV": ("RB",), "NOUN": ("NN",), "VERB": ("VB",)}
_SHARES = words("acomp attr dobj amod advmod xcomp oprd conj")
"""Relations of a word to a head whose negation is its own."""
_MOST = words("recommend praise thank love admire")
"""Negated and with "enough" they praise all the more."""


@cache
def lexicon() -> Mapping[str, Mapping[str, int]]:
    """Word form -> beginning of its tag -> 1 for praise, -1 for blame, from data/lexicons/polar.tsv.

    Raises AuditError naming a bad line.

    >>> lexicon()["enjoyed"]
    {'VB': 1, 'JJ': 1}
    """
    path = data_file("lexicons/polar.tsv")
    entries: dict[str, dict[str, int]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != 3 or columns[0] not in _POLES or columns[1] not in _TAGS:
            raise AuditError(f"{path.name}, line {number}: need pole, part of speech and words, separated by tabs")
        for base in columns[2].split():
            for form, tags in _forms(base, columns[1]):
                entries.setdefault(form, {}).update(dict.fromkeys(tags, _POLES[columns[0]]))
    return entries


def _forms(base: str, part: str) -> list[tuple[str, tuple[str, ...]]]:
    """Forms of a word, each with the beginnings of its tags: a participle may be tagged as an adjective."""
    found = [(base, _TAGS[part])]
    if part == "VERB":
        found += [(form, ("VB",)) for tag in ("VBZ", "VBD") for form in forms(base, tag)]
        found += [(form, ("VB", "JJ")) for tag in ("VBN", "VBG") for form in forms(base, tag)]
    elif part == "NOUN" and (several := plural(base)):
        found.append((several, ("NN",)))
    return found


@lru_cache(maxsize=512)
def polar_words(analysis: Analysis) -> Mapping[int, int]:
    """Index of each word that praises or blames -> 1 or -1; a negated one counts for the other pole.

    Relations ask it of the same texts, one relation after the other.

    >>> polar_words(Analysis("The sound is great, but the manual is not helpful."))
    {3: 1, 10: -1}
    """
    entries = lexicon()
    if entries.keys().isdisjoint(analysis.words):
        return {}
    found: dict[int, int] = {}
    for index, token in enumerate(analysis.tokens):
        for tag, pole in entries.get(token.lower, {}).items():
            if token.tag.startswith(tag):
                found[index] = -pole if _is_negated(analysis, index) else pole
    return found


def _is_negated(analysis: Analysis, index: int) -> bool:
    tree, low = tree_of(analysis.tokens), analysis.low
    if tree is None or (low[index] in _MOST and "enough" in low[index + 1 : index + 4]):
        return False  # "I cannot recommend it enough"
    word, heads = tree.words[index], {index}
    while word.relation in _SHARES and tree.subject(word.index) is None:
        word = tree.words[word.head]
        heads.add(word.index)
    return any(low[child.index] in NEGATIONS for head in heads for child in tree.children(head))


def leaning(analysis: Analysis) -> int:
    """1 where all polar words praise, -1 where all blame, 0 where there are none, or both.

    >>> leaning(Analysis("It is a masterpiece.")), leaning(Analysis("It is long."))
    (1, 0)
    """
    poles = set(polar_words(analysis).values())
    return poles.pop() if len(poles) == 1 else 0
