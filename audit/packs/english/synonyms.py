"""Nouns and their synonyms: a short list that is safe in almost every context, with the contexts in which it is not.

The list is data/lexicons/synonyms.tsv; its head says what the columns and conditions mean.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from audit.packs.english.emphasis import article
from audit.packs.english.parser import Word
from audit.packs.english.tagging import plural
from audit.packs.english.vocabulary import FUNCTION_WORDS, QUOTING
from audit.resources import data_rows
from audit.text.tokens import Token, words

_PUNCTUATION = "PUNCT"
_DETERMINERS = words("a an the this my your his her its our their every each")
_NO_NOUNS = FUNCTION_WORDS - words("being doing having can will might must like down own same other")
_ACRONYMS = ("TV", "PC")
"""Their capitals say nothing."""


@dataclass(frozen=True, slots=True)
class Synonym:
    """A form of a noun, its replacement and the contexts that allow it. `noun` is the singular that names the entry."""

    noun: str
    new: str
    tag: str
    contexts: Mapping[str, frozenset[str]]
    """Conditions of the list: name -> words; none where a name says all."""

    def suits(self, present: frozenset[str]) -> bool:
        """Whether the words of a text allow it: a picture is a photo where there is a camera."""
        needed, barred = self.contexts.get("with"), self.contexts.get("without", frozenset())
        return (needed is None or not needed.isdisjoint(present)) and barred.isdisjoint(present)


@cache
def lexicon() -> Mapping[str, tuple[Synonym, ...]]:
    """Lower-cased form (singular or plural) -> its synonyms."""
    by_form: dict[str, list[Synonym]] = {}
    for noun, direction, synonym, *conditions in data_rows("lexicons/synonyms.tsv"):
        parts = [condition.partition("=") for condition in " ".join(conditions).split()]
        contexts = {name: frozenset(filter(None, values.split(","))) for name, _, values in parts}
        for old, new in [(noun, synonym), (synonym, noun)][: 1 + (direction == "=")]:
            if "plural" not in contexts:
                by_form.setdefault(old, []).append(Synonym(old, new, "NN", contexts))
            if "singular" not in contexts:
                by_form.setdefault(_plural(old), []).append(Synonym(old, _plural(new), "NNS", contexts))
    return {form: tuple(synonyms) for form, synonyms in by_form.items()}


def _plural(noun: str) -> str:
    """The plural of a noun or of a phrase that ends in its noun; "people" stays."""
    head, space, last = noun.rpartition(" ")
    if last == "people" or last.startswith(("grown-", "follow-")):
        return noun if last == "people" else f"{noun}s"
    regular = f"{last}es" if last.endswith(("s", "sh", "ch", "x")) else f"{last}s"
    return f"{head}{space}{plural(last) or regular}"


def replacements(tokens: Sequence[Token], both_ways: bool = False) -> dict[str, dict[int, str]]:
    """For each noun of the text that has a synonym here: token index -> text, a/an before it mended as well.

    `both_ways`: only synonyms that can themselves be replaced by the noun; others may be wider ("novel", "book").

    >>> from audit.text import Analysis
    >>> replacements(Analysis("I want to buy a bike.").tokens)
    {'bike': {5: 'bicycle'}}
    """
    entries, present = lexicon(), frozenset([token.lower for token in tokens])
    by_noun: dict[str, dict[int, str]] = {}
    if entries.keys().isdisjoint(present):
        return by_noun
    stems = {word.rstrip("s") for word in present}
    quoted = False
    for index, token in enumerate(tokens):
        quoted ^= token.lower in QUOTING
        if token.lower not in entries or quoted or _is_name(tokens, index):
            continue
        for synonym in entries[token.lower]:
            back = not both_ways or any(other.new == token.lower for other in entries.get(synonym.new, ()))
            said = synonym.new.rstrip("s") in stems
            if back and not said and synonym.suits(present) and _fits(tokens, index, synonym):
                by_noun.setdefault(synonym.noun, {}).update(_replaced(tokens, index, synonym.new))
                break
    return by_noun


def _replaced(tokens: Sequence[Token], index: int, synonym: str) -> dict[int, str]:
    text = tokens[index].text
    if text.isupper() and len(text) > 2:
        synonym = synonym.upper()
    elif text[0].isupper() and text not in _ACRONYMS:
        synonym = synonym.capitalize()
    elif synonym == "tv" and any(token.text[0].isupper() for token in tokens):
        synonym = "TV"
    before = tokens[index - 1].text if index else ""
    other = article(before, synonym)
    return {index: synonym} | ({index - 1: other} if other != before else {})


def _fits(tokens: Sequence[Token], index: int, synonym: Synonym) -> bool:
    """Whether the noun may be replaced here. Words are looked at before tags, which may have to be found first."""
    token, lists = tokens[index], synonym.contexts
    before = tokens[index - 1] if index else None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    left = before.lower if before is not None and (before.text[-1].isalnum() or before.lower == "'s") else _PUNCTUATION
    right = after.lower if after is not None and after.text[0].isalnum() else _PUNCTUATION
    if left in lists.get("not-after", ()) or right in lists.get("not-before", ()):
        return False
    if ("after" in lists and left not in lists["after"]) or ("before" in lists and right not in lists["before"]):
        return False
    if before is not None and before.text[-1] in "-–—/@#" and before.end == token.start:
        return False
    if after is not None and after.start == token.end and _is_bound(tokens, index, synonym.new):
        return False
    if left in _DETERMINERS and (right == _PUNCTUATION or right in _NO_NOUNS):
        return True  # "the film is": no tag would say otherwise
    if token.tag not in (synonym.tag, f"{synonym.tag[:2]}P{synonym.tag[2:]}"):
        return False
    if "compound" not in lists and before is not None and _is_compound(before, index):
        return False
    if after is None or "modifier" in lists:
        return True
    return after.tag not in ("VBG", "CD") and not (after.tag.startswith("NN") and _is_compound(token, index + 1))


def _is_bound(tokens: Sequence[Token], index: int, synonym: str) -> bool:
    """Whether what is glued to the noun makes it a part of something: "film-maker", "pic.example.com"."""
    after = tokens[index + 1]
    if after.text[0] in "'’":
        return synonym.endswith("s") != tokens[index].lower.endswith("s")  # "children's" against "kids'"
    address = after.text == "." and index + 2 < len(tokens) and after.end == tokens[index + 2].start
    return after.text[0] in "-–/" or address


def _is_compound(token: Token, head: int) -> bool:
    """Whether a noun is part of a compound with the noun after it, as the tree has it."""
    inside = isinstance(token, Word) and token.head >= head and token.relation in ("compound", "nmod", "amod", "poss")
    return inside and token.tag.startswith("NN")


def _is_name(tokens: Sequence[Token], index: int) -> bool:
    """Whether a capital makes the word a part of a title or name: "Scary Movie"."""
    text = tokens[index].text
    if not text[0].isupper() or text in _ACRONYMS or (text.isupper() and len(text) > 2):
        return False
    return index > 0 or (len(tokens) > 1 and tokens[1].text[0].isupper())
