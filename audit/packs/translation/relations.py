"""Relations of the task `translation`: round trips (RTT), Monte Carlo (MCMT) and two levels of granularity (MGMT).

Source of RTT: the baseline that both studies of translation compare with (Pesu et al., "A Monte-Carlo approach to
automatic metamorphic testing of machine translation software", 2017, section II; Milam et al. as cited by the study of
MGMT). Somers ("Round-trip translation: what's it good for?", 2005) found it a poor sign of quality: the way back is a
translation of its own, which may err where the way out did not, or mend what it spoilt.
"""

import math
import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from audit.errors import AuditError, NotInstalled
from audit.packs.english.emphasis import article
from audit.packs.translation import perturbations
from audit.packs.translation.constituency import (
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
from audit.packs.translation.constituency.base import PHRASES
from audit.packs.translation.masked import UNSPACED, Masked, Proposer, cased_like, free_words, proposer_of, proposers_in
from audit.relations.base import ANY, Fixed, Member, Outcome, Source, Steps, Verdict, Words, nothing
from audit.relations.registry import register
from audit.relations.uses import relation
from audit.tasks import Input, Output
from audit.text import similarity as text_similarity
from audit.text.languages import is_code
from audit.text.similarity import normalised_similarity

if TYPE_CHECKING:
    import random

    from nltk import Tree


# How far two texts agree, as relations of translations check it: a score by name, and a bound that it must reach.

OTHERS = (perturbations,)
"""Modules that register relations of other tasks."""
Score = Callable[[str, str], float]

SCORES: Mapping[str, Score] = {
    "consistency": text_similarity.consistency,
    "levenshtein": text_similarity.levenshtein_similarity,
    "normalised": text_similarity.normalised_similarity,
    "bleu": text_similarity.bleu,
    "cosine": text_similarity.cosine,
}
"""Scores by name, of (what was there first, what is compared with it). All are from 0 to 1, but `normalised` may be
below 0."""

THRESHOLD = 0.6
"""Of the MCMT study's 956 recorded round trips 71 % reach it, of its 2,796 pairs through a pivot 33 %. The study itself
compares mean scores and sets no bound; `audit values bounds` shows the rates at others without another run."""


def agreement(first: str, second: str, score: str, threshold: float, reason: str | None = None) -> Verdict:
    """Satisfied where the score of two texts is at least the threshold; the score is the value.

    Equal texts have the value 1 under every score: they are what the relation asks for, though BLEU gives them less
    where they are shorter than four words (and a Chinese sentence is one word to it).

    >>> agreement("Llueve.", "Llueve.", "levenshtein", 0.6)
    Verdict(outcome=<Outcome.SATISFIED: 0>, value=1.0, reason=None)
    """
    return at_least(1.0 if first == second else SCORES[score](first, second), threshold, reason)


def at_least(value: float, bound: float, reason: str | None = None) -> Verdict:
    """Satisfied where the value is at least the bound.

    >>> at_least(0.5, 0.6).outcome.name
    'VIOLATED'
    """
    return Verdict(Outcome.SATISFIED if value >= bound else Outcome.VIOLATED, value, reason)


def wrong_score(params: Mapping[str, object]) -> str | None:
    """What is wrong with the parameters `score` and `threshold`; None: nothing.

    >>> wrong_score({"score": "bleu", "threshold": 1.5})
    'threshold is 1.5; allowed are numbers from 0 to 1'
    """
    if params["score"] not in SCORES:
        return f"score is {params['score']!r}; allowed are {', '.join(SCORES)}"
    threshold = float(str(params["threshold"]))
    if math.isfinite(threshold) and 0 <= threshold <= 1:
        return None
    return f"threshold is {threshold:g}; allowed are numbers from 0 to 1"


@relation(
    "RTT",
    by="source",
    task="translation",
    family="round trip",
    unit="any",
    carry=nothing,
    languages=ANY,
    params={"score": "consistency", "threshold": THRESHOLD},
    check_params=wrong_score,
    more=1,
)
def round_trip(
    source: Source, choices: random.Random, *, score: str = "consistency", threshold: float = THRESHOLD
) -> Steps:
    """Translate into the target language and back; the text that comes back resembles the source.

    The value is the score of source and what came back (`SCORES`). The translation back
    is a link: where it is wrong, a satisfaction is false. No group where the source says no target language.
    """
    source_input = source.input
    if source_input.target is None:
        return None
    (there,) = yield [Member("source", source_input)]
    (back,) = yield [Member("link", way_back(source_input, str(there.text)))]
    return agreement(source_input.text, str(back.text), score, threshold)


def way_back(source_input: Input, text: str) -> Input:
    """A translation of the input's text, to be translated back.

    >>> way_back(Input.of("It rains.", target="es"), "Llueve.").languages
    ('es', 'en')
    """
    return Input.of(text, language=source_input.output_language, target=source_input.languages[0])


# MCMT of the task `translation`: directly, and through a third language drawn at random.
#
# Source: Pesu, MacRae, Barnes, Wang, Yan, "A Monte-Carlo approach to automatic metamorphic testing of machine
# translation software" (2017), algorithm 1 (its third line translates the intermediate text "to l"; the text around it,
# and its figure 1, translate it into the target language, as here).

PIVOTS = "en,zh,ja,ko,fr,ru,pt,es,sv,ca"
"""The study's nine languages, and Catalan, which free engines have."""

_NONE = Verdict(Outcome.INAPPLICABLE, reason="the system has no way through any of the pivots")


def _wrong_pivots(params: Mapping[str, object]) -> str | None:
    named = pivots_of(str(params["pivots"]))
    if bad := next((code for code in named if not is_code(code)), None):
        return f"pivots have {bad[:40]!r}, which is no code of a language; expected codes with commas, as in {PIVOTS}"
    return wrong_score(params) if named else f"pivots are empty; expected codes of languages, as in {PIVOTS}"


def pivots_of(text: str) -> list[str]:
    """The languages of the parameter `pivots`, each once.

    >>> pivots_of("fr, es,fr")
    ['fr', 'es']
    """
    return list(dict.fromkeys(code for part in text.split(",") if (code := part.strip())))


@relation(
    "MCMT",
    by="source",
    task="translation",
    family="Monte-Carlo pivots",
    unit="any",
    carry=nothing,
    languages=ANY,
    params={"pivots": PIVOTS, "score": "consistency", "threshold": THRESHOLD},
    check_params=_wrong_pivots,
)
def monte_carlo(
    source: Source,
    choices: random.Random,
    *,
    pivots: str = PIVOTS,
    score: str = "consistency",
    threshold: float = THRESHOLD,
) -> Steps:
    """Translate directly, and through a third language drawn at random; the two translations agree.

    The pivot is none of source and target language. A system seldom has every pair of languages, and of recorded
    outputs there is one way or a few: so pivots are tried in a random order, each as probes, and the first whose two
    translations are there is the group's. They are its links then, which costs nothing: outputs are stored. So a pivot
    is drawn evenly among those that the system has. The reason of the verdict says which it was.
    """
    source_input, target = source.input, source.input.target
    if target is None:
        return None
    (direct,) = yield [Member("source", source_input)]
    through = [code for code in pivots_of(pivots) if code not in (source_input.languages[0], target)]
    for pivot in choices.sample(through, len(through)):
        first = Input.of(source_input.text, language=source_input.languages[0], target=pivot)
        (between,) = yield [Member("probe", first)]
        if between.absent:
            continue
        second = Input.of(str(between.text), language=pivot, target=target)
        (indirect,) = yield [Member("probe", second)]
        if indirect.absent:
            continue
        yield [Member("link", first), Member("link", second)]
        return agreement(str(direct.text), str(indirect.text), score, threshold, f"through {pivot}")
    return _NONE


# MGMT, the multi-granularity relations of translation, at the levels of phrases and of words.
#
# Another adjective before a noun, or another noun in the place of one, leaves a sentence's structure as it is, so it
# should leave that of the translation too. In the source all modifiers of one phrase, or one word, are replaced by the
# most probable other words there; the structures of the two *translations* are then compared.
#
# Source: "Multi-granularity metamorphic testing for neural machine translation systems" (MGMT, seeds/002...),
# definitions
# 2 and 3 (MR_p, MR_w), algorithm 1 (DeepSelect), section 3.3.2 (words by a masked language model) and formulas 5 to 7
# (similarity of structures). Its third relation, at the level of sentences, is a round trip.

_KINDS = ("noun", "verb", "adjective", "adverb")
"""Parts of speech of the words that are replaced alone."""
_UNIVERSAL = {"NN": "NOUN", "VB": "VERB", "JJ": "ADJ", "RB": "ADV"}
"""By the beginning of Penn's tags the universal ones."""
_BEFORE, _AFTER = re.compile(r"(?:^|[\s(\[{\"'“‘«¿¡—–’])$"), re.compile(r"[.,;:!?)\]}\"'”’»…—–]*(?:\s|$)|['’—–]")
_TOLERANCE = 1e-9
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

    Parameters: `parser`, a list as `audit.packs.translation.constituency.parser_of` takes it; `proposer`, one as
    `masked.proposer_of` takes it; `k`, of how many deepest words or phrases one is drawn; `bound`, the
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
        parsers = [parser for parser in parsers_in(self._text("parser")) if self._text("parser") or not parser.needs()]
        proposers = proposers_in(self._text("proposer"))
        return [*(parser.version for parser in parsers), *(proposer.version for proposer in proposers)]

    def make_group(self, source: Source) -> tuple[list[Input], Words]:
        return self.make_groups([source])[0]

    def verdict(self, outputs: Sequence[Output], note: Words) -> Verdict:
        return self.verdicts([(outputs, note)])[0]

    def make_groups(self, sources: Sequence[Source]) -> list[tuple[list[Input], Words]]:
        """Each parser is asked once for all sources, the proposer once for each word of the longest phrase: a word is
        proposed when those before it have been replaced.

        The note is the target language and the words that were replaced: (("to", "es"), ("old", "new")).
        """
        drafts = list(self._drafts(sources))
        for turn in range(max((len(draft.places) for draft in drafts), default=0)):
            self._fill([(draft, draft.places[turn]) for draft in drafts if turn < len(draft.places)])
        groups: list[tuple[list[Input], Words]] = [([], ()) for _ in sources]
        for draft in drafts:
            source_input = draft.source.input
            text = _rewritten_text(draft)
            if text != source_input.text:
                words = tuple((old, draft.words[place]) for place, old in sorted(draft.replaced.items()))
                note = (("to", str(source_input.target)), *words)
                groups[draft.number] = [Input((text,), source_input.languages)], note
        return groups

    def verdicts(self, groups: Sequence[tuple[Sequence[Output], Words]]) -> list[Verdict]:
        """Each parser is asked once for all translations into its language."""
        texts: dict[str, dict[str, None]] = {}
        for outputs, note in groups:
            texts.setdefault(note[0][1], {}).update((str(output.text), None) for output in outputs)
        trees = {target: self._trees(list(distinct), target) for target, distinct in texts.items()}
        return [self._compare(outputs, trees[note[0][1]], note[0][1]) for outputs, note in groups]

    def _compare(self, outputs: Sequence[Output], trees: "dict[str, Tree | None] | None", target: str) -> Verdict:
        if trees is None:
            return Verdict(Outcome.INAPPLICABLE, reason=f"there is no parser for {target}")
        source_tree, follow_up_tree = (trees[str(output.text)] for output in outputs)
        if source_tree is None or follow_up_tree is None:
            return Verdict(Outcome.INAPPLICABLE, reason="a translation cannot be parsed")
        value = structure_similarity(source_tree, follow_up_tree)
        satisfied = value >= self._number("bound") - _TOLERANCE
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
        trees = {language: self._trees(language_texts, language) or {} for language, language_texts in texts.items()}
        for number, source, proposer in usable:
            text, language = source.input.text, source.input.languages[0]
            tree = trees[language].get(text)
            spans = leaf_spans(text, tree) if tree is not None else None
            if tree is None or spans is None:
                continue
            words = [text[start:end] for start, end in spans]
            free = _free_places(tree, text, spans, language)
            places = self._places(tree, free, language, source.choices(self.name))
            if places:
                yield _Draft(number, source, spans, words, places, proposer)

    def _places(self, tree: "Tree", free: Collection[int], language: str, choices: "random.Random") -> Sequence[int]:
        """The places of the words to be replaced, in order."""
        k = int(self._number("k"))
        if self.level == "phrase":

            def having(leaves: Sequence[int]) -> Sequence[int]:
                return [place for place in modifiers(tree, leaves, language) if place in free]

            phrase = deep_phrase(tree, PHRASES, k, choices, having=having)
            return having(phrase[1]) if phrase else ()
        marked = tree.copy(deep=True)
        for place, leaf in enumerate(tree.treepositions("leaves")):
            if place not in free and len(leaf) > 1:
                marked[leaf[:-1]].set_label("-")
        chosen = deep_select(marked, tags_of(marked, _KINDS, language), k, choices)
        return () if chosen is None else (chosen,)

    def _fill(self, blanks: Sequence[tuple[_Draft, int]]) -> None:
        """Put the proposed words into their places; where nothing is proposed, the word stays."""
        by_language: dict[str, list[tuple[_Draft, int]]] = {}
        for draft, place in blanks:
            by_language.setdefault(draft.source.input.languages[0], []).append((draft, place))
        for language, batch in by_language.items():
            masked: list[Masked] = [(tuple(draft.words), place) for draft, place in batch]
            proposer = batch[0][0].proposer  # one for all drafts of a language
            for (draft, place), word in zip(batch, proposer.propose(masked, language), strict=True):
                if word is not None:
                    draft.replaced[place] = draft.words[place]
                    draft.words[place] = cased_like(word, draft.words[place])

    def _trees(self, texts: Iterable[str], language: str) -> "dict[str, Tree | None] | None":
        """Each text with its tree; None where there is no parser for the language."""
        parser = self._parser(language)
        distinct = list(dict.fromkeys(texts))
        return None if parser is None else dict(zip(distinct, parser.parse(distinct, language), strict=True))

    def lacks(self, language: str) -> str | None:
        """The default parser of the language where it is not installed, or the proposer that is missing."""
        if self._parser(language) is None:
            absent = parser_of(language, self._text("parser"))
            if absent is None:
                return None
            return f"sources in {language} are parsed with {absent.name}, which is absent; {absent.needs()}"
        if self._proposer(language) is None:
            setting = f"{self.name}.proposer={language}=ngram:FILE"
            return f"nothing proposes words in {language}; count a text of yours, and set {setting}"
        return None

    def _parser(self, language: str) -> Parser | None:
        """The parser of a language; None where there is none, or nobody named one and none is installed.

        Raises NotInstalled for one that was named and is absent.
        """
        spec = self._text("parser")
        if not spec:
            return next(
                (parser for parser in parsers_in() if language in parser.languages and not parser.needs()), None
            )
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


def _free_places(tree: "Tree", text: str, spans: Sequence[tuple[int, int]], language: str) -> frozenset[int]:
    """The places of words that may be replaced (`free_words`): they stand apart, in no address or name of a file, and
    in English the tree gives them the tagger's tag, or one of another set of tags for the same part of speech."""
    tags = [tag for _, tag in tree.pos()]
    free = free_words([text[start:end] for start, end in spans], language)
    return frozenset(
        place
        for place, tag in free.items()
        if (language != "en" or tags[place] == tag or tags[place] == _UNIVERSAL.get(tag[:2]))
        and (language in UNSPACED or _stands_apart(text, *spans[place]))
    )


def _stands_apart(text: str, start: int, end: int) -> bool:
    """Whether a word has white space or marks of a sentence around it: not the *rules* of debian/rules.

    >>> [_stands_apart("See debian/rules, or end-user.txt (rules).", *span) for span in ((11, 16), (21, 24), (35, 40))]
    [False, False, True]
    """
    return bool(_BEFORE.search(text, 0, start) and _AFTER.match(text, end))


def _rewritten_text(draft: _Draft) -> str:
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
            version="2",
            level=level,
        )
    )


_register("phrase", "All modifiers of one phrase are replaced; the translation keeps its structure.")
_register("word", "One noun, verb, adjective or adverb is replaced; the translation keeps its structure.")


# MGMT-sentence of the task `translation`: there, back, and there again.
#
# Source: the study of MGMT (multi-granularity metamorphic testing of neural machine translation), section 3.2.1,
# definition 1. Its formula is hard to read in the copy we have: a quotient of two similarities, that of the two
# translations over that of source and round trip, compared with 1. The text around it says what the quotient is for: a
# bad way back makes the round trip unlike its source (the lower similarity is small), and must not be counted against
# the way out, whose similarity (the upper one) it makes smaller, too. So we read "at least 1".

_UNLIKE = Verdict(Outcome.INAPPLICABLE, reason="the round trip is not similar to its source: nothing to divide by")


def _wrong_bound(params: Mapping[str, object]) -> str | None:
    bound = float(str(params["bound"]))
    return None if math.isfinite(bound) and bound > 0 else f"bound is {bound:g}; allowed are numbers above 0"


@relation(
    "MGMT-sentence",
    by="source",
    task="translation",
    family="multi-granularity",
    unit="any",
    carry=nothing,
    languages=ANY,
    params={"bound": 1.0},
    check_params=_wrong_bound,
)
def there_and_back(source: Source, choices: random.Random, *, bound: float = 1.0) -> Steps:
    """There, back and there again; the two translations are at least as near as the texts they are made from.

    S becomes T, T becomes S', S' becomes T'; the value is similarity(T, T') / similarity(S, S'), with the normalised
    Levenshtein similarity 1 - 2 edit / (length + length). It may be above 1. That similarity is 0 or less where texts
    have next to nothing in common; a quotient by such a one says nothing, and the group is inapplicable.
    """
    source_input = source.input
    if source_input.target is None:
        return None
    (there,) = yield [Member("source", source_input)]
    (back,) = yield [Member("link", way_back(source_input, str(there.text)))]
    again_input = Input.of(str(back.text), language=source_input.languages[0], target=source_input.target)
    (again,) = yield [Member("link", again_input)]
    below = normalised_similarity(source_input.text, str(back.text))
    if below <= 0:
        return _UNLIKE
    return at_least(normalised_similarity(str(there.text), str(again.text)) / below, bound)
