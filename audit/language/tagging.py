"""Tokens with tags: one function per language, registered in `TAGGERS`. English has Penn Treebank tags."""

import re
from collections.abc import Callable

from audit.errors import UnknownName
from audit.language.chinese import chinese
from audit.language.corrections import correct
from audit.language.inflection import known_as, singular
from audit.language.text import Token

_ENGLISH = re.compile(
    r"""
      \.\.+ | --+ | [$£€]?\d+(?:[.,:]\d+)*(?:'?s\b|th\b|st\b|nd\b|rd\b)?%?      # ellipsis, dashes, numbers
    | (?:[A-Za-z]\.){2,}                                                        # U.S.
    | (?:mr|mrs|ms|dr|jr|sr|st|vs|etc)\.(?=\s|$)                                # titles
    | \w+?(?=n['’]t\b) | n['’]t\b                                               # is + n't
    | ['’](?:s|re|ve|ll|d|m|em|til|tis|cause)\b                                 # it + 's
    | \w+(?:[-&]\w+)*(?:(?<=o)['’](?=\w)\w+)?                                   # words, hyphens, o'brien
    | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _english(text: str) -> tuple[Token, ...]:
    found = [(match.group(), *match.span()) for match in _ENGLISH.finditer(text)]
    tags = tag_words([word for word, _, _ in found])
    return tuple(Token(word, mark, start, end) for (word, start, end), mark in zip(found, tags, strict=True))


def split_words(text: str) -> list[str]:
    """The English words of a text as `tag` finds them, without their tags.

    >>> split_words("It isn't 3 o'clock.")
    ['It', 'is', "n't", '3', "o'clock", '.']
    """
    return _ENGLISH.findall(text)


def tag_words(words: list[str]) -> list[str]:
    """Penn tags of English words that are already split (none holds white space): same length, same order."""
    from textblob.en import tag as pattern_tag

    if not words:
        return []
    lower = [word.lower() for word in words]
    seen = [_unshouted(word, first) for word, first in zip(words, _openings(words), strict=True)]
    return correct(lower, [mark for _, mark in pattern_tag(" ".join(seen), tokenize=False)])


def _openings(words: list[str]) -> list[bool]:
    """Which words open a sentence, where a capital says nothing."""
    return [index == 0 or words[index - 1] in (".", "!", "?", "...", '"', "“") for index in range(len(words))]


def _unshouted(word: str, first: bool) -> str:
    """The word without capitals that do not make it a name: the tagger takes "BAD" and "Love it" for names."""
    if len(word) > 1 and word != "US" and word.isupper() and word.replace("'", "").isalpha():
        return word.lower()
    if first and word[:1].isupper() and word[1:].islower():
        lower = word.lower()
        common = singular(lower) is not None or any(known_as(lower, part) for part in ("VERB", "ADJ", "ADV"))
        if common and lower not in _NAMES:
            return lower
    return word


_NAMES = frozenset({"will", "rose", "mark", "grant", "bill", "drew", "frank", "sue", "jack", "rob", "pat", "bob"})


TAGGERS: dict[str, Callable[[str], tuple[Token, ...]]] = {"en": _english, "zh": chinese}


def tag(text: str, language: str, tagger: str = "") -> tuple[Token, ...]:
    """Tokens of a text, in order, by the language's own tagger or the named one (`audit.language.chinese`).

    Raises UnknownName for a language without a tagger, or a tagger that the language does not have.
    """
    if language not in TAGGERS:
        raise UnknownName("language", language, list(TAGGERS))
    if not tagger:
        return TAGGERS[language](text)
    if language != "zh":
        raise UnknownName("tagger", tagger, ["" if language == "en" else language])
    return chinese(text, tagger)
