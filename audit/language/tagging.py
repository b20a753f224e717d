"""Tokens with Penn Treebank tags: one function per language, registered in `TAGGERS`."""

import re
from collections.abc import Callable

from audit.errors import UnknownName
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
    from textblob.en import tag as pattern_tag

    found = [(match.group(), *match.span()) for match in _ENGLISH.finditer(text)]
    tags = [mark for _, mark in pattern_tag(" ".join(word for word, _, _ in found), tokenize=False)] if found else []
    return tuple(Token(word, mark, start, end) for (word, start, end), mark in zip(found, tags, strict=True))


TAGGERS: dict[str, Callable[[str], tuple[Token, ...]]] = {"en": _english}


def tag(text: str, language: str) -> tuple[Token, ...]:
    """Tokens of a text, in order. Raises UnknownName for a language without a tagger."""
    if language not in TAGGERS:
        raise UnknownName("language", language, list(TAGGERS))
    return TAGGERS[language](text)
