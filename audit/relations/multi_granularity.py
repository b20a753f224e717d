"""MGMT, the multi-granularity relations of translation, at the levels of phrases and of words.

Another adjective before a noun, or another noun in the place of one, leaves a sentence's structure as it is, so it
should leave that of the translation too. In the source all modifiers of one phrase, or one word, are replaced by the
most probable other words there; the structures of the two *translations* are then compared.

Source: "Multi-granularity metamorphic testing for neural machine translation systems" (MGMT, seeds/002...), definitions
2 and 3 (MR_p, MR_w), algorithm 1 (DeepSelect), section 3.3.2 (words by a masked language model) and formulas 5 to 7
(similarity of structures). Its third relation, at the level of sentences, is a round trip.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

from audit.errors import AuditError, NotInstalled
from audit.language.constituency import (
    Parser,
    deep_phrase,
    deep_select,
    leaf_spans,
    modifiers,
    parser_of,
    parsers_in,
    structure_similarity,
    tags_of,
)
from audit.language.constituency.selecting import PHRASES
from audit.language.emphasis import article
from audit.language.masked import Masked, Proposer, proposer_of, proposers_in
from audit.language.masked.fitting import cased_like, replaceable
from audit.relations.base import ANY, Fixed, Outcome, Source, Verdict, Words
from audit.relations.carry import nothing
from audit.relations.registry import register
from audit.tasks import Input, Output

if TYPE_CHECKING:
    import random

    from nltk import Tree

_KINDS = ("noun", "name", "verb", "adjective", "adverb")
"""Parts of speech of the words that are replaced alone."""
_SLACK = 1e-9
"""A similarity is a sum of fractions: this much below the bound is the bound."""


@dataclass
class _Draft:
    """A sentence on its way to a follow-up: its words as they stand in it, and the places to be filled anew."""

    number: int
    source: Source
    spans: Sequence[tuple[int, int]]
    words: list[str]
    places: Sequence[int]
    proposer: Proposer
    replaced: dict[int, str] = field(default_factory=dict)
    """Place -> the word that stood there."""


@dataclass(frozen=True, kw_only=True)
class MultiGranularity(Fixed):
    """Words of the source are replaced; the translations of both must have the same structure, up to `bound`.

    Parameters: `parser`, a list as `audit.language.constituency.parser_of` takes it; `proposer`, one as
    `audit.language.masked.proposer_of` takes it; `k`, of how many deepest words or phrases one is drawn; `bound`, the
    similarity from 0 to 1 that satisfies the relation. A verdict's value is the similarity, so that another bound needs
    no other run.

    A source whose language has no parser or no proposer makes no group, nor does one that cannot be parsed or for which
    nothing is proposed. A group whose target language has no parser, or with a translation that cannot be parsed, is
    inapplicable. Raises AuditError for parameters that are out of range.
    """

    level: Literal["phrase", "word"]

    def __post_init__(self) -> None:
        k, bound = self._number("k"), self._number("bound")
        if k < 1:
            raise AuditError(f"parameter k of relation {self.name} is {k}; at least 1 candidate is needed")
        if not 0 <= bound <= 1:
            raise AuditError(f"parameter bound of relation {self.name} is {bound}; a similarity is between 0 and 1")

    def asks(self) -> Sequence[str]:
        """The versions of its parsers and its proposers. Of parsers that nobody named, those that are there.

        Raises NotInstalled for what was named and is absent, UnknownName for what nobody knows.
        """
        parsers = [one for one in parsers_in(self._text("parser")) if self._text("parser") or not one.needs()]
        proposers = proposers_in(self._text("proposer"))
        return [*(parser.version for parser in parsers), *(proposer.version for proposer in proposers)]

    def made(self, source: Source) -> tuple[list[Input], Words]:
        return self.made_all([source])[0]

    def verdict(self, outputs: Sequence[Output], note: Words) -> Verdict:
        return self.verdicts([(outputs, note)])[0]

    def made_all(self, sources: Sequence[Source]) -> list[tuple[list[Input], Words]]:
        """Each parser is asked once for all sources, the proposer once for each word of the longest phrase: a word is
        proposed when those before it have been replaced.

        The note is the target language and the words that were replaced: (("to", "es"), ("old", "new")).
        """
        drafts = list(self._drafts(sources))
        for turn in range(max((len(draft.places) for draft in drafts), default=0)):
            self._fill([(draft, draft.places[turn]) for draft in drafts if turn < len(draft.places)])
        made: list[tuple[list[Input], Words]] = [([], ()) for _ in sources]
        for draft in drafts:
            given = draft.source.input
            text = _written(draft)
            if text != given.text:
                words = tuple((old, draft.words[place]) for place, old in sorted(draft.replaced.items()))
                note = (("to", str(given.target)), *words)
                made[draft.number] = [Input((text,), given.languages)], note
        return made

    def verdicts(self, groups: Sequence[tuple[Sequence[Output], Words]]) -> list[Verdict]:
        """Each parser is asked once for all translations into its language."""
        texts: dict[str, dict[str, None]] = {}
        for outputs, note in groups:
            texts.setdefault(note[0][1], {}).update((str(output.text), None) for output in outputs)
        trees = {target: self._trees(list(some), target) for target, some in texts.items()}
        return [self._compared(outputs, trees[note[0][1]], note[0][1]) for outputs, note in groups]

    def _compared(self, outputs: Sequence[Output], trees: "dict[str, Tree | None] | None", target: str) -> Verdict:
        if trees is None:
            return Verdict(Outcome.INAPPLICABLE, reason=f"there is no parser for {target}")
        one, other = (trees[str(output.text)] for output in outputs)
        if one is None or other is None:
            return Verdict(Outcome.INAPPLICABLE, reason="a translation cannot be parsed")
        value = structure_similarity(one, other)
        satisfied = value >= self._number("bound") - _SLACK
        return Verdict(Outcome.SATISFIED if satisfied else Outcome.VIOLATED, value)

    def _drafts(self, sources: Sequence[Source]) -> Iterator[_Draft]:
        """The sources that can make a group, parsed, with the places of the words to be replaced."""
        texts: dict[str, list[str]] = {}
        usable: list[tuple[int, Source, Proposer]] = []
        for number, source in enumerate(sources):
            target, language = source.input.target, source.input.languages[0]
            if target is None or not self.reads(source) or (proposer := self._proposer(language)) is None:
                continue
            self._parser(target)  # what is not installed is said before anything is translated
            texts.setdefault(language, []).append(source.input.text)
            usable.append((number, source, proposer))
        trees = {language: self._trees(some, language) or {} for language, some in texts.items()}
        for number, source, proposer in usable:
            text, language = source.input.text, source.input.languages[0]
            tree = trees[language].get(text)
            spans = leaf_spans(text, tree) if tree is not None else None
            if tree is None or spans is None:
                continue
            words = [text[start:end] for start, end in spans]
            places = self._places(tree, words, language, source.choices(self.name))
            if places:
                yield _Draft(number, source, spans, words, places, proposer)

    def _places(self, tree: "Tree", words: Sequence[str], language: str, choices: "random.Random") -> Sequence[int]:
        """The places of the words to be replaced, in order."""
        k = int(self._number("k"))
        if self.level == "phrase":
            having = partial(_modifiers, tree, words, language)
            found = deep_phrase(tree, PHRASES, k, choices, having=having)
            return having(found[1]) if found else ()
        marked = tree.copy(deep=True)
        for word, place in zip(words, tree.treepositions("leaves"), strict=True):
            if not replaceable(word, language) and len(place) > 1:
                marked[place[:-1]].set_label("-")
        chosen = deep_select(marked, tags_of(marked, _KINDS, language), k, choices)
        return () if chosen is None else (chosen,)

    def _fill(self, asked: Sequence[tuple[_Draft, int]]) -> None:
        """Put the proposed words into their places; where nothing is proposed, the word stays."""
        by_language: dict[str, list[tuple[_Draft, int]]] = {}
        for draft, place in asked:
            by_language.setdefault(draft.source.input.languages[0], []).append((draft, place))
        for language, some in by_language.items():
            masked: list[Masked] = [(tuple(draft.words), place) for draft, place in some]
            proposer = some[0][0].proposer  # one for all drafts of a language
            for (draft, place), word in zip(some, proposer.propose(masked, language), strict=True):
                if word is not None:
                    draft.replaced[place] = draft.words[place]
                    draft.words[place] = cased_like(word, draft.words[place])

    def _trees(self, texts: Iterable[str], language: str) -> "dict[str, Tree | None] | None":
        """Each text with its tree; None where there is no parser for the language."""
        parser = self._parser(language)
        distinct = list(dict.fromkeys(texts))
        return None if parser is None else dict(zip(distinct, parser.parse(distinct, language), strict=True))

    def lacks(self, language: str) -> str | None:
        """What parses sources in the language, where nobody named a parser and it is not installed; or a proposer."""
        if self._parser(language) is None:
            absent = parser_of(language, self._text("parser"))
            if absent is None:
                return None
            return f"sources in {language} are parsed with {absent.name}, which is absent; {absent.needs()}"
        if self._proposer(language) is None:
            setting = f"--set {self.name}.proposer={language}=ngram:FILE"
            return f"nothing proposes words in {language}; count a text of yours: {setting}"
        return None

    def _parser(self, language: str) -> Parser | None:
        """The parser of a language; None where there is none, or nobody named one and none is installed.

        Raises NotInstalled for one that was named and is absent.
        """
        spec = self._text("parser")
        if not spec:
            return next((one for one in parsers_in() if language in one.languages and not one.needs()), None)
        parser = parser_of(language, spec)
        if parser is not None and (needs := parser.needs()):
            raise NotInstalled(f"relation {self.name} parses {language} with {parser.name}, which is absent; {needs}")
        return parser

    def _proposer(self, language: str) -> Proposer | None:
        return proposer_of(language, self._text("proposer"))

    def _text(self, name: str) -> str:
        return str(self.params[name])

    def _number(self, name: str) -> float:
        value = self.params[name]
        if not isinstance(value, (int, float)):
            raise AuditError(f"parameter {name} of relation {self.name} is {value!r}; it must be a number")
        return value


def _modifiers(tree: "Tree", words: Sequence[str], language: str, leaves: Sequence[int]) -> tuple[int, ...]:
    """The modifiers among these leaves that may be replaced: of letters only, no number, no "well-known"."""
    return tuple(place for place in modifiers(tree, leaves, language) if replaceable(words[place], language))


def _written(draft: _Draft) -> str:
    """The sentence with its new words; everything else stays as it was, but for a/an before a new English word."""
    words, text = list(draft.words), draft.source.input.text
    new = {place: words[place] for place in draft.replaced}
    if draft.source.input.languages[0] == "en":
        for place in draft.replaced:
            if place:
                new[place - 1] = article(words[place - 1], words[place])
    parts, at = [], 0
    for place in sorted(new):
        start, end = draft.spans[place]
        parts += [text[at:start], new[place]]
        at = end
    return "".join(parts) + text[at:]


def _register(level: Literal["phrase", "word"], summary: str) -> None:
    register(
        MultiGranularity(
            task="translation",
            name=f"MGMT-{level}",
            family="multi-granularity",
            summary=summary,
            unit="sentence",
            carry=nothing,
            languages=ANY,
            params={"parser": "", "proposer": "ngram", "k": 5, "bound": 1.0},
            level=level,
        )
    )


_register("phrase", "All modifiers of one phrase are replaced; the translation keeps its structure.")
_register("word", "One noun, verb, adjective or adverb is replaced; the translation keeps its structure.")
