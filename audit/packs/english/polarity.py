"""Which way an English text leans, by words that praise or blame in any field.

A strict relation applies only where there is a sentiment to strengthen, or to turn round. Whether there is must not be
asked of a system that is audited, so this list is the project's own.
"""

from collections.abc import Mapping
from functools import cache, lru_cache

from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.tagging import base, forms, plural, singular
from audit.packs.english.vocabulary import NEGATIONS
from audit.resources import data_rows
from audit.text.analysis import Analysis
from audit.text.tokens import words

_POLES = {"positive": 1, "negative": -1}
_TAGS = {"ADJ": ("JJ", "VBN", "VBG"), "ADV": ("RB",), "NOUN": ("NN",), "VERB": ("VB",)}
_SHARES = words("acomp attr dobj amod advmod xcomp oprd conj")
"""Relations of a word to a head whose negation is its own."""
_TOPICS = words(
    "error problem trouble complaint failure fault defect mistake fraud abuse cruelty injustice corruption misery pain "
    "suffering torture fear danger harm damage threat crisis terror horror grief outrage scandal tragedy disaster "
    "catastrophe junk strength success bonus hero virtue weakness drawback fail break crash malfunction destroy "
    "hurt threaten condemn denounce blame criticize suffer lament worry cheat succeed complain treasure betray deceive "
    "mislead"
)
_PERSONAL = words("i me my mine we our us")
_MOST = words("recommend praise thank love admire")
"""Negated and with "enough" they praise all the more."""


@cache
def lexicon() -> Mapping[str, Mapping[str, int]]:
    """Word form -> beginning of its tag -> 1 for praise, -1 for blame, from data/lexicons/polar.tsv.

    >>> lexicon()["enjoyed"]
    {'VB': 1, 'JJ': 1}
    """
    entries: dict[str, dict[str, int]] = {}
    for pole, part, line in data_rows("lexicons/polar.tsv"):
        for word in line.split():
            for form, tags in _forms(word, part):
                entries.setdefault(form, {}).update(dict.fromkeys(tags, _POLES[pole]))
    return entries


def _forms(word: str, part: str) -> list[tuple[str, tuple[str, ...]]]:
    """Forms of a word, each with the beginnings of its tags: a participle may be tagged as an adjective."""
    found = [(word, _TAGS[part])]
    if part == "VERB":
        found += [(form, ("VB",)) for tag in ("VBZ", "VBD") for form in forms(word, tag)]
        found += [(form, ("VB", "JJ")) for tag in ("VBN", "VBG") for form in forms(word, tag)]
    elif part == "NOUN" and (several := plural(word)):
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
    word, heads = tree[index], {index}
    while word.relation in _SHARES and tree.subject(word.index) is None:
        word = tree[word.head]
        heads.add(word.index)
    return any(low[child.index] in NEGATIONS for head in heads for child in tree.children(head))


def feelings(analysis: Analysis) -> Mapping[int, int]:
    """The polar words that tell what the writer thinks; not those that name what a text is about.

    In the language of law, news and tickets some name a topic ("an error is raised", "the risk of damage"): they count
    where something is said to be it ("it is a failure"), and where the writer speaks of himself.

    >>> feelings(Analysis("The error handler logs each failure.")), feelings(Analysis("It is a failure."))
    ({}, {3: -1})
    """
    tree = tree_of(analysis.tokens)
    personal = not _PERSONAL.isdisjoint(analysis.words)
    told = polar_words(analysis)
    return {index: pole for index, pole in told.items() if tree is None or personal or not _is_topic(tree, tree[index])}


def _is_topic(tree: Parse, word: Word) -> bool:
    lemma = (singular(word.lower) if word.tag.startswith("NN") else base(word.lower)) or word.lower
    said = word.relation in ("attr", "ROOT", "oprd", "acomp") or word.tag == "RB"
    said = said or (word.relation == "nsubj" and tree.child(word.head, "ccomp") is not None)  # "its problem is that"
    return lemma in _TOPICS and not said


def leaning(analysis: Analysis) -> int:
    """1 where all polar words praise, -1 where all blame, 0 where there are none, or both.

    >>> leaning(Analysis("It is a masterpiece.")), leaning(Analysis("It is long."))
    (1, 0)
    """
    poles = set(polar_words(analysis).values())
    return poles.pop() if len(poles) == 1 else 0
