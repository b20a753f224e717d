"""Nouns and their synonyms: a short list that is safe in almost every context, with the contexts in which it is not.

The list is data/lexicons/synonyms.tsv; its head says what the columns and conditions mean.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from audit.errors import AuditError
from audit.packs.english.emphasis import article
from audit.packs.english.parser import Word
from audit.packs.english.tagging import plural
from audit.packs.english.vocabulary import FUNCTION_WORDS, QUOTING
from audit.resources import data_file
from audit.text.tokens import Token, words

_FLAGS = frozenset({"singular", "plural", "compound", "modifier"})
_LISTS = frozenset({"after", "before", "not-after", "not-before", "with", "without"})
_PUNCTUATION = "PUNCT"
_DETERMINERS = words("a an the this my your his her its our their every each")
_NO_NOUNS = FUNCTION_WORDS - words("being doing having can will might must like down own same other")
_ACRONYMS = frozenset({"TV", "PC"})
"""Their capitals say nothing."""


@dataclass(frozen=True, slots=True)
class Synonym:
    """A form of a noun, its replacement and the contexts that allow it. `noun` is the singular that names the entry."""

    noun: str
    new: str
    tag: str
    flags: frozenset[str]
    lists: Mapping[str, frozenset[str]]


@cache
def lexicon() -> Mapping[str, tuple[Synonym, ...]]:
    """Lower-cased form (singular or plural) -> its synonyms. Raises AuditError naming a bad line."""
    return read(data_file("lexicons/synonyms.tsv"))


def read(path: Path) -> dict[str, tuple[Synonym, ...]]:
    """The synonyms of one file in the columns that its head explains. Raises AuditError naming file and line."""
    by_form: dict[str, list[Synonym]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = [*line.split("\t"), ""][:4]
        if len(columns) < 4 or columns[1] not in ("=", ">"):
            raise AuditError(
                f"{path.name}, line {number}: need noun, = or >, synonym and conditions, with tabs between"
            )
        flags, lists = _conditions(columns[3], path.name, number)
        pairs = [(columns[0], columns[2])] + ([(columns[2], columns[0])] if columns[1] == "=" else [])
        for noun, new in pairs:
            for tag, form, other in _forms(noun, new, flags):
                by_form.setdefault(form, []).append(Synonym(noun, other, tag, flags, lists))
    return {form: tuple(synonyms) for form, synonyms in by_form.items()}


def _takes_back(word: str, synonym: Synonym) -> bool:
    """Whether the synonym may be replaced by the word."""
    return any(other.new == word for other in lexicon().get(synonym.new, ()))


def replacements(tokens: Sequence[Token], both_ways: bool = False) -> dict[str, dict[int, str]]:
    """For each noun of the text that has a synonym here: token index -> text, a/an before it mended as well.

    `both_ways`: only synonyms that can themselves be replaced by the noun; others may be wider ("novel", "book").

    >>> from audit.text import Analysis
    >>> replacements(Analysis("I want to buy a bike.").tokens)
    {'bike': {5: 'bicycle'}}
    """
    entries = lexicon()
    lower = [token.lower for token in tokens]
    if entries.keys().isdisjoint(lower):
        return {}
    by_noun: dict[str, dict[int, str]] = {}
    quoted = False
    present = frozenset(lower)
    stems: frozenset[str] | None = None
    for index, word in enumerate(lower):
        if word in QUOTING:
            quoted = not quoted
        if word not in entries or quoted or _is_name(tokens, index):
            continue
        for synonym in entries[word]:
            if not _suits(present, synonym) or (both_ways and not _takes_back(word, synonym)):
                continue
            stems = stems or frozenset([other.rstrip("s") for other in lower])
            if synonym.new.rstrip("s") in stems or not _fits(tokens, index, synonym):
                continue
            _replace_word(by_noun.setdefault(synonym.noun, {}), tokens, index, synonym.new)
            break
    return by_noun


def _replace_word(new: dict[int, str], tokens: Sequence[Token], index: int, synonym: str) -> None:
    text = tokens[index].text
    if text.isupper() and len(text) > 2:
        synonym = synonym.upper()
    elif text[0].isupper() and text not in _ACRONYMS:
        synonym = synonym.capitalize()
    elif synonym == "tv" and text.lower() != "tv":
        synonym = "TV" if any(token.text[0].isupper() for token in tokens) else "tv"
    new[index] = synonym
    if index and tokens[index - 1].lower in ("a", "an"):
        new_article = article(tokens[index - 1].text, synonym)
        if new_article != tokens[index - 1].text:
            new[index - 1] = new_article


def _suits(present: frozenset[str], synonym: Synonym) -> bool:
    """Whether the words of the text allow the synonym: a picture is a photo where there is a camera."""
    needed, barred = synonym.lists.get("with"), synonym.lists.get("without", frozenset())
    return (needed is None or not needed.isdisjoint(present)) and barred.isdisjoint(present)


def _fits(tokens: Sequence[Token], index: int, synonym: Synonym) -> bool:
    """Whether the noun may be replaced here. Words are looked at before tags, which may have to be found first."""
    token = tokens[index]
    before = tokens[index - 1] if index else None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    left = before.lower if before is not None else _PUNCTUATION
    right = after.lower if after is not None and after.text[0].isalnum() else _PUNCTUATION
    if before is not None and not before.text[-1].isalnum() and left != "'s":
        left = _PUNCTUATION
    lists = synonym.lists
    if left in lists.get("not-after", ()) or right in lists.get("not-before", ()):
        return False
    if ("after" in lists and left not in lists["after"]) or ("before" in lists and right not in lists["before"]):
        return False
    if before is not None and (before.text[-1] in "-–—/@#" and before.end == token.start):
        return False
    if after is not None and not _may_stand_before(tokens, index, synonym):
        return False
    if left in _DETERMINERS and (right == _PUNCTUATION or right in _NO_NOUNS):
        return True  # "the film is": no tag would say otherwise
    if not token.tag.startswith("NN") or token.tag.endswith("S") != (synonym.tag == "NNS"):
        return False
    if "compound" not in synonym.flags and before is not None and _is_compound(before, index):
        return False
    if after is None or "modifier" in synonym.flags:
        return True
    return after.tag not in ("VBG", "CD") and not (after.tag.startswith("NN") and _is_compound(token, index + 1))


def _may_stand_before(tokens: Sequence[Token], index: int, synonym: Synonym) -> bool:
    """Whether what is written after the noun leaves it a noun by itself."""
    token, after = tokens[index], tokens[index + 1]
    if after.text[0] in "'’" and synonym.new.endswith("s") != token.lower.endswith("s"):
        return False  # "children's" against "kids'"
    if after.text[0] in "-–/" and after.start == token.end:
        return False
    # An address: "pic.example.com".
    return not (
        after.text == "." and index + 2 < len(tokens) and token.end == after.start == tokens[index + 2].start - 1
    )


def _is_compound(token: Token, head: int) -> bool:
    """Whether a noun is part of a compound with the noun after it, as the tree has it."""
    if not token.tag.startswith("NN"):
        return False
    return isinstance(token, Word) and token.head >= head and token.relation in ("compound", "nmod", "amod", "poss")


def _is_name(tokens: Sequence[Token], index: int) -> bool:
    """Whether a capital makes the word a part of a title or name: "Scary Movie"."""
    text = tokens[index].text
    if not text[0].isupper() or text in _ACRONYMS:
        return False
    if text.isupper() and len(text) > 2:
        return False
    return index > 0 or (len(tokens) > 1 and tokens[1].text[0].isupper())


def _forms(noun: str, new: str, flags: frozenset[str]) -> list[tuple[str, str, str]]:
    """(tag, form, synonym's form) for the numbers that the entry allows."""
    forms = [] if "plural" in flags else [("NN", noun, new)]
    if "singular" not in flags:
        many, others = _plural(noun), _plural(new)
        if many and others:
            forms.append(("NNS", many, others))
    return forms


def _plural(noun: str) -> str | None:
    """Plural of a noun or of a phrase that ends in its noun; "people" and the like stay."""
    if noun in ("people",):
        return noun
    head, space, last = noun.rpartition(" ")
    for prefix in ("grown-", "follow-"):
        if last.startswith(prefix):
            return f"{last}s"
    last_plural = plural(last) or _regular(last)
    return f"{head}{space}{last_plural}"


def _regular(noun: str) -> str:
    """The regular plural, for compounds like "moviegoer" that no dictionary has."""
    return f"{noun}es" if noun.endswith(("s", "sh", "ch", "x")) else f"{noun}s"


def _conditions(text: str, file: str, line: int) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    flags, lists = set(), {}
    for condition in text.split():
        name, equals, values = condition.partition("=")
        if equals and name in _LISTS:
            lists[name] = frozenset(values.split(","))
        elif not equals and name in _FLAGS:
            flags.add(name)
        else:
            raise AuditError(
                f"{file}, line {line}: unknown condition {condition!r}; allowed are "
                f"{', '.join(sorted(_FLAGS))} and {'=..., '.join(sorted(_LISTS))}=..."
            )
    return frozenset(flags), lists
