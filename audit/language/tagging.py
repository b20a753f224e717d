"""Tokens with Penn Treebank tags: one function per language, registered in `TAGGERS`."""

import re
from collections.abc import Callable

from audit.errors import UnknownName
from audit.language.corrections import correct
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


def tag_words(words: list[str]) -> list[str]:
    """Penn tags of English words that are already split (none holds white space): same length, same order."""
    from textblob.en import tag as pattern_tag

    if not words:
        return []
    return correct([word.lower() for word in words], [mark for _, mark in pattern_tag(" ".join(words), tokenize=False)])


TAGGERS: dict[str, Callable[[str], tuple[Token, ...]]] = {"en": _english}


def tag(text: str, language: str) -> tuple[Token, ...]:
    """Tokens of a text, in order. Raises UnknownName for a language without a tagger."""
    if language not in TAGGERS:
        raise UnknownName("language", language, list(TAGGERS))
    return TAGGERS[language](text)
