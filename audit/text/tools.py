"""What analyses the texts of a language. Each language registers its tools in `audit.registry.languages`."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

from audit import registry
from audit.errors import UnknownName
from audit.registry import Registry
from audit.text import sentences
from audit.text.tokens import Token

Spans = tuple[tuple[int, int], ...]
"""(start, end) of each sentence of a text, in order."""


class Tagger(Protocol):
    """Finds the words of texts. The same text has the same words for ever, as long as `version` is the same."""

    version: str
    """Names everything that words and tags depend on, in a few words."""

    def __call__(self, text: str) -> tuple[Token, ...]:
        """Tokens in order, each with `text[start:end]` and a tag; together they are everything but the white space of
        the text."""
        ...


@dataclass(frozen=True)
class LanguageTools:
    """What a language has for the analysis of its texts."""

    tag: Callable[[str], tuple[Token, ...]]
    """The language's own tagger."""
    spans: Callable[[str], Spans] = sentences.spans
    has_taggers: bool = False
    """Whether one of `audit.registry.taggers` can be chosen instead of its own."""
    tag_all: Callable[[Sequence[str]], list[tuple[Token, ...]]] | None = None
    """As `tag`, for many texts at once, where that is faster."""
    version: Callable[[], str] = str
    """The version of its own tagger: the program and its model."""
    phrases: Mapping[str, str] = field(default_factory=dict)
    """Regular expressions of what its texts say, by name: negation, question, female and male, for slices
    (`audit.corpora.slices`); and `usual`, what words are that every longer text of it has many of."""


_TELLING = 18
"""Letters of different words from which on texts tell their language."""
_WORDS = re.compile(r"[^\W\d_]+")
LANGUAGES: Registry[LanguageTools] = registry.languages
TAGGERS: Registry[Callable[..., Tagger]] = registry.taggers
"""Makers of taggers, given what stands behind the colon."""


@cache
def tagger_of(name: str) -> Tagger:
    """The tagger of this name, made once in a process.

    Raises UnknownName for a tagger that is not known, NotInstalled where its package or its model is absent,
    AuditError for a model that finds no words and tags.
    """
    tagger: Tagger = TAGGERS.make(name)
    return tagger


def version_of(tagger: str) -> str:
    """The version of a tagger: its package and version and, for a model in a directory, a digest of its files.

    Raises as `tagger_of` does.

    >>> version_of("jieba").startswith("jieba 0.42")
    True
    """
    return tagger_of(tagger).version


def tag(text: str, language: str, tagger: str = "") -> tuple[Token, ...]:
    """Tokens of a text, in order, by the language's own tagger or the named one.

    Raises UnknownName for a language without a tagger, or a tagger that the language does not have; else as
    `tagger_of` does.

    >>> [token.tag for token in tag("It is good.", "en")]
    ['PRP', 'VBZ', 'JJ', '.']
    """
    tools = LANGUAGES.get(language)
    if not tagger:
        return tools.tag(text)
    if not tools.has_taggers:
        raise UnknownName("tagger", tagger, [""])
    return tagger_of(tagger)(text)


def spans(text: str, language: str) -> Spans:
    """(start, end) of each sentence, without the white space around it; a language without tools has Western marks.

    >>> spans("Mr. Smith is good. I like him!", "en")
    ((0, 18), (19, 30))
    >>> spans("他来了。她说：“走吧！”", "zh")
    ((0, 4), (4, 12))
    """
    tools = LANGUAGES.find(language)
    return LANGUAGES.get(language).spans(text) if tools is not None else sentences.spans(text)


@cache
def phrase_pattern(name: str, language: str) -> re.Pattern[str] | None:
    """What finds phrases of this name in texts of a language; None where the language has none.

    >>> bool(phrase_pattern("negation", "en").search("It isn't good.")), phrase_pattern("negation", "xx")
    (True, None)
    """
    entry = LANGUAGES.find(language)
    phrases = {} if entry is None else LANGUAGES.get(language).phrases
    return re.compile(phrases[name]) if name in phrases else None


def usual_words(texts: Iterable[str], language: str) -> float | None:
    """The share of words that are usual ones of a language: next to none where texts are in another. None where the
    language does not say which are, or there are too few of them to tell.

    >>> usual_words(["Der Film ist sehr lang, und die Schauspieler sind nicht gut, sagt man überall."], "en")
    0.0
    """
    pattern = phrase_pattern("usual", language)
    words = [word for text in texts for word in _WORDS.findall(text)]
    if pattern is None or sum(map(len, {word.casefold() for word in words})) < _TELLING:
        return None
    return sum(pattern.fullmatch(word) is not None for word in words) / len(words)
