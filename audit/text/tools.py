"""What analyses the texts of a language: `LANGUAGES` has its tools, `TAGGERS` the taggers that can be chosen."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

from audit.errors import UnknownName
from audit.resources import Makers, attribute, made
from audit.text import sentences
from audit.text.tokens import Token

Spans = tuple[tuple[int, int], ...]  # (start, end) of each sentence of a text, in order


class Tagger(Protocol):
    """Finds the words of texts: the same ones for ever, as long as `version` is the same."""

    version: str

    def __call__(self, text: str) -> tuple[Token, ...]:
        """Tokens in order, each `text[start:end]` with a tag; together they are all but the white space of the text."""
        ...


@dataclass(frozen=True)
class LanguageTools:
    """What a language has for the analysis of its texts."""

    tag: Callable[[str], tuple[Token, ...]]  # The language's own tagger
    spans: Callable[[str], Spans] = sentences.spans
    has_taggers: bool = False  # Whether one of `TAGGERS` can be chosen instead of its own
    tag_all: Callable[[Sequence[str]], list[tuple[Token, ...]]] | None = None
    """As `tag`, for many texts at once, where that is faster."""
    cut: Callable[[str], list[str]] | None = None
    """The words of a text, with all that stands between them, fast: for showing, where blanks do not tell words."""
    version: Callable[[], str] = str  # The version of its own tagger: the program and its model
    phrases: Mapping[str, str] = field(default_factory=dict)
    """Regular expressions of what its texts say, by name, for slices: negation, question, female and male."""


LANGUAGES: dict[str, LanguageTools | str] = {
    "en": "audit.packs.english.tagging:ENGLISH",
    "zh": "audit.packs.chinese.taggers:CHINESE",
}  # By the code of the language; "module:attribute" until they are wanted. A plug-in adds its own.
TAGGERS: Makers = {
    "jieba": ("audit.packs.chinese.taggers:JiebaTagger", ""),
    "hanlp": ("audit.packs.chinese.taggers:HanlpTagger", "MODEL"),
}


def find_tools(language: str) -> LanguageTools | None:
    """Return the tools of a language; None where it has none."""
    tools = LANGUAGES.get(language)
    if isinstance(tools, str):
        tools = LANGUAGES[language] = attribute(tools)
    return tools


def tools_of(language: str) -> LanguageTools:
    """Return the tools of a language. Raises UnknownName, which lists the languages that have some."""
    if (tools := find_tools(language)) is None:
        raise UnknownName("language", language, list(LANGUAGES))
    return tools


@cache
def tagger_of(name: str) -> Tagger:
    """Return the tagger of this name, made once in a process. Raises UnknownName, NotInstalled where its package or
    model is absent, AuditError for a model that finds no words and tags."""
    tagger: Tagger = made("tagger", name, TAGGERS)
    return tagger


def version_of(tagger: str) -> str:
    """Return the version of a tagger: its package and version, and a digest of its model's files."""
    return tagger_of(tagger).version


def tag(text: str, language: str, tagger: str = "") -> tuple[Token, ...]:
    """Return the tokens of a text, in order, by the language's own tagger or the named one. Raises UnknownName for a
    language without a tagger, or a tagger that the language does not have; else as `tagger_of` does."""
    tools = tools_of(language)
    if tagger and not tools.has_taggers:
        raise UnknownName("tagger", tagger, [""])
    return (tagger_of(tagger) if tagger else tools.tag)(text)


def spans(text: str, language: str) -> Spans:
    """Return (start, end) of each sentence, without white space around it; a language without tools has Western
    marks."""
    tools = find_tools(language)
    return tools.spans(text) if tools is not None else sentences.spans(text)


@cache
def phrase_pattern(name: str, language: str) -> re.Pattern[str] | None:
    """Return what finds phrases of this name in texts of a language; None where the language has none."""
    tools = find_tools(language)
    phrases = {} if tools is None else tools.phrases
    return re.compile(phrases[name]) if name in phrases else None
