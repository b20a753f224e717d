"""Which way an English text leans, by words that praise or blame in any field.

A strict relation applies only where there is a sentiment to strengthen, or to turn round. Whether there is must not be
asked of a system that is audited, so this list is the project's own.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.tagging import base, forms, plural, singular
from audit.packs.english.vocabulary import NEGATIONS, Lists
from audit.resources import data_rows
from audit.text.analysis import Analysis

_TAGS = {"ADJ": ("JJ", "VBN", "VBG"), "ADV": ("RB",), "NOUN": ("NN",), "VERB": ("VB",)}
_LISTS = Lists("polarity")


@cache
def lexicon() -> Mapping[str, Mapping[str, int]]:
    """Return word form -> beginning of its tag -> 1 for praise, -1 for blame, from data/lexicons/polar.tsv."""
    entries: dict[str, dict[str, int]] = {}
    for pole, part, line in data_rows("lexicons/polar.tsv"):
        for word in line.split():
            inflected = [(word, _TAGS[part])]
            if part == "VERB":  # a participle may be tagged as an adjective
                inflected += [(form, ("VB",)) for tag in ("VBZ", "VBD") for form in forms(word, tag)]
                inflected += [(form, ("VB", "JJ")) for tag in ("VBN", "VBG") for form in forms(word, tag)]
            elif part == "NOUN" and (several := plural(word)):
                inflected.append((several, ("NN",)))
            for form, tags in inflected:
                entries.setdefault(form, {}).update(dict.fromkeys(tags, 1 if pole == "positive" else -1))
    return entries


@lru_cache(maxsize=512)
def polar_words(analysis: Analysis) -> Mapping[int, int]:
    """Return the index of each word that praises or blames -> 1 or -1; a negated one counts for the other pole."""
    entries, polar = lexicon(), dict[int, int]()
    if entries.keys().isdisjoint(analysis.words):
        return polar
    tree = tree_of(analysis.tokens)
    for index, token in enumerate(analysis.tokens):
        for tag, pole in entries.get(token.lower, {}).items():
            if token.tag.startswith(tag):
                polar[index] = -pole if tree is not None and _is_negated(tree, tree[index]) else pole
    return polar


def _is_negated(tree: Parse, word: Word) -> bool:
    if word.low in _LISTS.most and "enough" in [after.low for after in tree[word.index + 1 : word.index + 4]]:
        return False  # "I cannot recommend it enough"
    heads = {word.index}
    while word.relation in _LISTS.shares and tree.subject(word.index) is None:  # a head's negation is its own
        word = tree[word.head]
        heads.add(word.index)
    return any(child.low in NEGATIONS for head in heads for child in tree.children(head))


def feelings(analysis: Analysis) -> Mapping[int, int]:
    """Return the polar words that tell what the writer thinks; not those that name what a text is about, and not what
    others say.

    Where the writer speaks of himself, all count. Else a topic of law, news and tickets does only where something is
    said to be it ("it is a failure", not "an error is raised"); and in a text with figures, names or somebody's words a
    word does that is said of something ("the plan is unfair", not "despite harsh exchanges").
    """
    tree, told = tree_of(analysis.tokens), polar_words(analysis)
    if tree is None or not told or not _LISTS.personal.isdisjoint(analysis.words):
        return told
    formal = any(word.tag in ("NNP", "NNPS", "CD") for word in tree[1:]) or any(map(_reports, tree))
    return {
        at: pole for at, pole in told.items() if not _is_topic(tree, tree[at]) and (not formal or _is_own(tree, at))
    }


def _reports(word: Word) -> bool:
    return word.tag.startswith("VB") and base(word.lower) in _LISTS.reporting


def _is_topic(tree: Parse, word: Word) -> bool:
    lemma = (singular(word.lower) if word.tag.startswith("NN") else base(word.lower)) or word.lower
    said = word.relation in ("attr", "ROOT", "oprd", "acomp") or word.tag == "RB"
    said = said or (word.relation == "nsubj" and tree.child(word.head, "ccomp") is not None)  # "its problem is that"
    return lemma in _LISTS.topics and not said


def _is_own(tree: Parse, index: int) -> bool:
    """Return whether the writer says a word of something: as the predicate, or of "it", "they" in any place."""
    word = tree[index]
    while word.relation in ("amod", "conj", "advmod", "compound"):
        word = tree[word.head]
    told, root = word.relation in ("attr", "ROOT", "oprd", "acomp", "appos"), word
    while root.relation != "ROOT":
        if root.relation == "ccomp" and _reports(tree[root.head]):
            return False
        root = tree[root.head]
    subject = tree.subject(root.index)
    return told or root.tag[:2] not in ("VB", "MD") or (subject is not None and subject.lower in _LISTS.plain_subjects)


def leaning(analysis: Analysis) -> int:
    """Return 1 where all polar words praise, -1 where all blame, 0 where there are none, or both."""
    poles = set(polar_words(analysis).values())
    return poles.pop() if len(poles) == 1 else 0


def tells_a_view(text: str) -> bool:
    """Return whether a text may be a review, by words alone: the writer speaks of himself, or praises or blames, or
    has no figures, names and legal terms, as records have them."""
    told = {*re.findall(r"[^\W\d_]+", text.lower())}
    record = re.search(r"\d|\b(?:shall|hereby|herein|pursuant)\b|[a-z,;] [A-Z][a-z]", text) is not None
    return not record or not told.isdisjoint(_LISTS.personal | (lexicon().keys() - _LISTS.topics))
