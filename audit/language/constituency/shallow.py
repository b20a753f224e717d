"""Shallow trees for languages without a parser here: chunks of the words that Apertium has tagged."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from audit.errors import AuditError, NotInstalled, UnknownName
from audit.keys import fingerprint
from audit.language import apertium
from audit.language.constituency.base import spans_of
from audit.language.constituency.shallow_grammars import GRAMMARS
from audit.language.constituency.shallow_words import Word, words_of

if TYPE_CHECKING:
    from nltk import Tree

RULES = "1"
"""Which treatment of the tagger's words this is; part of the version, as the grammars are."""
_NAMES = {"GROUP": "VP", "OFP": "PP", "RELP": "PP"}
_PREFERRED = ("spa-cat", "cat-spa", "fra-cat", "eng-cat")
"""Modes whose taggers are taken before all others: they have constraint grammars, too, and know the most words."""


class Shallow:
    """The parser `shallow`: noun, verb, prepositional, adverb and adjective phrases under one node `S`, no full parse.

    Words and their tags (`n`, `vblex.inf`: Apertium's) are those of Apertium's analyser and tagger for the language: of
    the modes with the language on their left one that we know to be good at it (`spa-cat`, `cat-spa`, `fra-cat`,
    `eng-cat`), else the first by name; `version` says which. Phrases are found by our own grammars of chunks
    (`shallow_grammars`) with NLTK's chunker (Bird, Klein and Loper, Natural Language Processing with Python, 2009,
    section 7.2). All sentences of a text are under its one `S`.
    """

    name = "shallow"
    shallow = True
    languages: tuple[str, ...] = tuple(sorted(GRAMMARS))

    @property
    def version(self) -> str:
        """Engine, data and grammars; of the languages that can be parsed here."""
        if needed := self.needs():
            raise NotInstalled(f"the parser shallow cannot run here; {needed}")
        modes = _modes()
        grammars = fingerprint([RULES, *(grammar for _, grammar in sorted(GRAMMARS.items()))])
        names = " ".join(mode.name for mode in modes.values())
        return f"apertium {apertium.engine_version()} {names} data {apertium.fingerprint(modes.values())}, {grammars}"

    def needs(self) -> str | None:
        return apertium.needs() or (
            None if _modes() else f"no mode of Apertium tags {', '.join(self.languages)}; install apertium-spa-cat"
        )

    def parse(self, texts: Sequence[str], language: str) -> list[Tree | None]:
        """One tree for each text, in order; None for a text without words, or that Apertium does not return whole.

        Raises NotInstalled where Apertium is absent or tags no texts of the language, UnknownName for a language
        without a grammar.
        """
        if language not in GRAMMARS:
            raise UnknownName("language of the parser shallow", language, list(GRAMMARS))
        if needed := apertium.needs():
            raise NotInstalled(f"the parser shallow cannot run here; {needed}")
        if language not in _modes():
            raise NotInstalled(f"no installed mode of Apertium tags texts in {language!r}; install a pair that has it")
        chunker = _chunker(language)
        tagged = apertium.tagged(_modes()[language], texts)
        return [_tree(chunker, one, text) for one, text in zip(tagged, texts, strict=True)]


def _modes() -> dict[str, apertium.Mode]:
    """Language -> the mode whose tagger is taken."""
    found: dict[str, apertium.Mode] = {}
    modes = apertium.taken(apertium.installed()).values()
    for mode in sorted(modes, key=lambda mode: (mode.name not in _PREFERRED, mode.name)):
        if mode.source in GRAMMARS and mode.source not in found and apertium.has_tagger(mode):
            found[mode.source] = mode
    return dict(sorted(found.items()))


@cache
def _chunker(language: str) -> Any:
    from nltk import RegexpParser

    return RegexpParser(GRAMMARS[language], root_label="S", loop=2)


def _tree(chunker: Any, tagged: str | AuditError, text: str) -> Tree | None:
    if isinstance(tagged, AuditError):
        return None
    words = words_of(tagged)
    spans = spans_of(text, [(word.text,) for word in words])
    if not words or spans is None:
        return None
    words = [word._replace(text=text[start:end]) for word, (start, end) in zip(words, spans, strict=True)]
    return _plain(chunker.parse([(place, word.kind) for place, word in enumerate(words)]), words)


def _plain(chunk: Any, words: Sequence[Word], top: bool = True) -> Tree:
    """The chunker's tree with the words and their tags, and only phrases: verbs that belong together are of the phrase
    around them, and a phrase that is all of another of its name is that one."""
    from nltk import Tree

    children: list[Tree] = []
    for child in chunk:
        if isinstance(child, tuple):
            word = words[child[0]]
            children.append(Tree(word.tag, [word.text]))
            continue
        made = _plain(child, words, top=False)
        if not top and made.label() == _name(chunk) and (child.label() == "GROUP" or len(chunk) == 1):
            children += list(made)
        else:
            children.append(made)
    return Tree(_name(chunk), children)


def _name(chunk: Any) -> str:
    return _NAMES.get(chunk.label(), chunk.label())
