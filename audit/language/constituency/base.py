"""What a constituency parser is, which ones there are, and where a tree's words stand in the text."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol

from audit.errors import UnknownName
from audit.language.penn_signs import ESCAPED
from audit.language.per_language import entries

if TYPE_CHECKING:
    from nltk import Tree

DEFAULT = ("link-grammar", "shallow")
"""What parses where nobody named a parser: programs of Debian that need no model."""
REMEMBERED = 4096
"""Trees that a parser keeps: the relations of a study parse the same texts, one after the other."""


class Parser(Protocol):
    """Finds the constituency tree of sentences. The same text has the same tree as long as `version` is the same."""

    name: str
    """As it is registered, with its model: `hanlp:DIRECTORY`."""
    shallow: bool
    """Whether its trees are flat chunks (noun phrases and the like under one node), no full parse."""

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes of the languages that it parses. May raise BadFile for a model that does not say."""
        ...

    @property
    def version(self) -> str:
        """Names everything that trees depend on: program, model, rules. Part of the signature of relations.

        Raises NotInstalled where the parser is absent."""
        ...

    def needs(self) -> str | None:
        """What is missing before it can parse, with the line that installs it; None: nothing."""
        ...

    def parse(self, texts: Sequence[str], language: str) -> list[Tree | None]:
        """One tree for each text, in order; None where there is none.

        A leaf is a word of the text; above it stands its part of speech. Trees are shared: copy one before changing
        it. Raises NotInstalled where the parser is absent and UnknownName for a language that it does not parse, but
        nothing for the sake of a single text.
        """
        ...


def get_parser(spec: str) -> Parser:
    """The parser of this name, made once in a process: `link-grammar`, `shallow`, `hanlp:DIRECTORY`, `benepar:MODEL`
    or `corenlp:URL`. It remembers the last trees that it found.

    Making it reads no model: `needs` says what is missing, and `parse` loads. Raises UnknownName.
    """
    return _made(spec.strip())


def parser_of(language: str, spec: str = "") -> Parser | None:
    """The first parser of a list such as `hanlp:models/en,shallow` that parses the language; None: none does.

    A parser of the list may be kept to one language: `en=corenlp:http://localhost:9000`. An empty list is `DEFAULT`.
    Raises UnknownName for a parser that is not known, AuditError for an entry without one.

    >>> parser_of("en").name, parser_of("xx")
    ('link-grammar', None)
    """
    for for_language, parser in _listed(spec):
        if for_language in ("", language) and language in parser.languages:
            return parser
    return None


def parsers_in(spec: str = "") -> list[Parser]:
    """The parsers of such a list, each once: whose trees something may depend on. Raises as `parser_of` does.

    >>> [parser.name for parser in parsers_in("en=link-grammar")]
    ['link-grammar']
    """
    return list({parser.name: parser for _, parser in _listed(spec)}.values())


def _listed(spec: str) -> Iterator[tuple[str, Parser]]:
    """The entries of a list of parsers: the language that one is kept to, or an empty string, and the parser."""
    for for_language, name in entries(spec or ",".join(one for one in DEFAULT if one in PARSERS), "parser"):
        yield for_language, get_parser(name)


class _Remembering:
    """A parser with the last trees that it found: a text is parsed once, however many relations ask."""

    def __init__(self, parser: Parser):
        self._parser = parser
        self._trees: OrderedDict[tuple[str, str], Tree | None] = OrderedDict()
        self.name = parser.name
        self.shallow = parser.shallow

    @property
    def languages(self) -> tuple[str, ...]:
        return self._parser.languages

    @property
    def version(self) -> str:
        return self._parser.version

    def needs(self) -> str | None:
        return self._parser.needs()

    def parse(self, texts: Sequence[str], language: str) -> list[Tree | None]:
        if language not in self.languages:
            raise UnknownName(f"language of the parser {self.name}", language, list(self.languages))
        found: dict[str, Tree | None] = {}
        for text in dict.fromkeys(texts):
            if (language, text) in self._trees:
                self._trees.move_to_end((language, text))
                found[text] = self._trees[language, text]
        asked = [text for text in dict.fromkeys(texts) if text not in found]
        # A blank text has no words; no parser is asked about it.
        spoken = [text for text in asked if text.strip()]
        found |= dict.fromkeys(asked)
        found |= zip(spoken, self._parser.parse(spoken, language) if spoken else [], strict=True)
        for text in asked:
            self._trees[language, text] = found[text]
        while len(self._trees) > REMEMBERED:
            self._trees.popitem(last=False)
        return [found[text] for text in texts]


@cache
def _made(spec: str) -> Parser:
    kind, colon, argument = spec.partition(":")
    if kind not in PARSERS or bool(colon) != (kind in _WITH_ARGUMENT) or (colon and not argument):
        known = [f"{one}:{_WITH_ARGUMENT[one]}" if one in _WITH_ARGUMENT else one for one in PARSERS]
        raise UnknownName("parser", spec, known)
    return _Remembering(PARSERS[kind](argument))


def _hanlp(model: str) -> Parser:
    from audit.language.constituency.hanlp_parser import HanlpParser

    return HanlpParser(model)


def _link_grammar(_: str) -> Parser:
    from audit.language.constituency.link_grammar import LinkGrammar

    return LinkGrammar()


def _benepar(model: str) -> Parser:
    from audit.language.constituency.benepar_parser import BeneparParser

    return BeneparParser(model)


def _corenlp(address: str) -> Parser:
    from audit.language.constituency.corenlp import CoreNlp

    return CoreNlp(address)


def _shallow(_: str) -> Parser:
    from audit.language.constituency.shallow import Shallow

    return Shallow()


PARSERS: dict[str, Callable[[str], Parser]] = {
    "hanlp": _hanlp,
    "link-grammar": _link_grammar,
    "benepar": _benepar,
    "corenlp": _corenlp,
    "shallow": _shallow,
}
"""Kind -> who makes the parser of what stands behind the colon. A new parser is one line here."""
_WITH_ARGUMENT = {"hanlp": "DIRECTORY", "benepar": "MODEL", "corenlp": "URL"}


def leaf_spans(text: str, tree: Tree) -> list[tuple[int, int]] | None:
    """Where the leaves stand in the text, (start, end) each; None where one cannot be found.

    Parsers change case and write brackets and quotation marks in their own way; a mark that no leaf stands for is
    passed over, a word never.

    >>> from nltk import Tree
    >>> leaf_spans("It (really) is.", Tree.fromstring("(S (_ it) (_ -LRB-) (_ really) (_ -RRB-) (_ is) (_ .))"))
    [(0, 2), (3, 4), (4, 10), (10, 11), (12, 14), (14, 15)]
    """
    return spans_of(text, [(leaf, ESCAPED[leaf]) if leaf in ESCAPED else (leaf,) for leaf in tree.leaves()])


def spans_of(text: str, words: Iterable[Sequence[str]]) -> list[tuple[int, int]] | None:
    """As `leaf_spans`, for words each of which is written in one of several forms; the first that fits is taken."""
    spans = []
    at = 0
    for forms in words:
        span = _found(text, at, forms)
        if span is None:
            return None
        spans.append(span)
        at = span[1]
    return None if any(one.isalnum() for one in text[at:]) else spans


def _found(text: str, at: int, forms: Sequence[str]) -> tuple[int, int] | None:
    """The first place at or after this one where a form stands, with nothing but marks and white space before it."""
    while at < len(text):
        for form in forms:
            if form and text[at : at + len(form)].casefold() == form.casefold():
                return at, at + len(form)
        if text[at].isalnum():
            return None
        at += 1
    return None
