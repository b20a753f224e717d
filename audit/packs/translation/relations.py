"""Relations of the task `translation`: round trips (RTT), Monte Carlo (MCMT) and three levels of granularity (MGMT).

RTT is the baseline that both studies of translation compare with (Pesu et al., "A Monte-Carlo approach to automatic
metamorphic testing of machine translation software", 2017, section II; Milam et al. as cited by the study of MGMT).
Somers ("Round-trip translation: what's it good for?", 2005) found it a poor sign of quality: the way back is a
translation of its own, which may err where the way out did not, or mend what it spoilt.
"""

import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from audit.errors import NotInstalled
from audit.packs.english.guard import article
from audit.packs.translation import perturbations
from audit.packs.translation.masked import UNSPACED, Proposer, cased_like, free_words, proposers_in
from audit.packs.translation.parsers import Parser, parsers_in
from audit.packs.translation.trees import deep_phrase, deep_word, kind_of, leaf_spans, modifiers, structure_similarity
from audit.relations.base import ANY, Fixed, Member, Outcome, Source, Steps, Verdict, Words, nothing
from audit.relations.registry import register
from audit.relations.uses import relation
from audit.tasks import Input, Output
from audit.text.languages import is_code
from audit.text.similarity import bleu, consistency, cosine, levenshtein_similarity, normalised_similarity

if TYPE_CHECKING:
    from nltk import Tree

OTHERS = (perturbations,)
"""Modules that register relations of other tasks."""
SCORES: Mapping[str, Callable[[str, str], float]] = {
    "consistency": consistency,
    "levenshtein": levenshtein_similarity,
    "normalised": normalised_similarity,
    "bleu": bleu,
    "cosine": cosine,
}
"""Scores by name, of (what was there first, what is compared with it). All are from 0 to 1, but `normalised` may be
below 0."""
THRESHOLD = 0.6
"""Of the MCMT study's 956 recorded round trips 71 % reach it, of its 2,796 pairs through a pivot 33 %. The study itself
compares mean scores and sets no bound; `audit values bounds` shows the rates at others without another run."""
PIVOTS = "en,zh,ja,ko,fr,ru,pt,es,sv,ca"
"""The study's nine languages, and Catalan, which free engines have."""
_chain = partial(relation, by="source", task="translation", unit="any", carry=nothing, languages=ANY)


def agreement(first: str, second: str, score: str, threshold: float, reason: str | None = None) -> Verdict:
    """Return satisfied where the score of two texts is at least the threshold; the score is the value.

    Equal texts have the value 1 under every score: they are what the relation asks for, though BLEU gives them less
    where they are shorter than four words (and a Chinese sentence is one word to it).

    >>> agreement("Llueve.", "Llueve.", "levenshtein", 0.6)
    Verdict(outcome=<Outcome.SATISFIED: 0>, value=1.0, reason=None)
    """
    return _at_least(1.0 if first == second else SCORES[score](first, second), threshold, reason)


def _at_least(value: float, bound: float, reason: str | None = None) -> Verdict:
    return Verdict(Outcome.SATISFIED if value >= bound else Outcome.VIOLATED, value, reason)


def _wrong(params: Mapping[str, object]) -> str | None:
    """Return what is wrong with the parameters that a relation has of score, threshold, bound and pivots."""
    if params.get("score", "bleu") not in SCORES:
        return f"score is {params['score']!r}; allowed are {', '.join(SCORES)}"
    threshold, bound = (float(str(params.get(name, 0.5))) for name in ("threshold", "bound"))
    if not 0 <= threshold <= 1:
        return f"threshold is {threshold:g}; allowed are numbers from 0 to 1"
    if not 0 < bound < float("inf"):
        return f"bound is {bound:g}; allowed are numbers above 0"
    pivots = pivots_of(str(params.get("pivots", PIVOTS)))
    if bad := [code for code in pivots if not is_code(code)] or ([] if pivots else [""]):
        return f"pivots have {bad[0][:40]!r}, which is no code of a language; expected codes as in {PIVOTS}"
    return None


def pivots_of(text: str) -> list[str]:
    """Return the languages of the parameter `pivots`, each once.

    >>> pivots_of("fr, es,fr")
    ['fr', 'es']
    """
    return list(dict.fromkeys(code for part in text.split(",") if (code := part.strip())))


def _way_back(source_input: Input, text: str) -> Input:
    """Return a translation of the input's text, to be translated back."""
    return Input.of(text, language=source_input.output_language, target=source_input.languages[0])


@_chain(
    "RTT",
    family="round trip",
    params={"score": "consistency", "threshold": THRESHOLD},
    check_params=_wrong,
    more=1,
)
def round_trip(
    source: Source, choices: random.Random, *, score: str = "consistency", threshold: float = THRESHOLD
) -> Steps:
    """Translate into the target language and back; the text that comes back resembles the source.

    The value is the score of source and what came back (`SCORES`). The translation back
    is a link: where it is wrong, a satisfaction is false. No group where the source says no target language.
    """
    if source.input.target is None:
        return None
    (there,) = yield [Member("source", source.input)]
    (back,) = yield [Member("link", _way_back(source.input, str(there.text)))]
    return agreement(source.input.text, str(back.text), score, threshold)


@_chain(
    "MCMT",
    family="Monte-Carlo pivots",
    params={"pivots": PIVOTS, "score": "consistency", "threshold": THRESHOLD},
    check_params=_wrong,
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
    # Algorithm 1 of the study; its third line translates the intermediate text "to l", but the text around it, and its
    # figure 1, into the target language, as here.
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
    return Verdict(Outcome.INAPPLICABLE, reason="the system has no way through any of the pivots")


@_chain("MGMT-sentence", family="multi-granularity", params={"bound": 1.0}, check_params=_wrong)
def there_and_back(source: Source, choices: random.Random, *, bound: float = 1.0) -> Steps:
    """There, back and there again; the two translations are at least as near as the texts they are made from.

    S becomes T, T becomes S', S' becomes T'; the value is similarity(T, T') / similarity(S, S'), with the normalised
    Levenshtein similarity 1 - 2 edit / (length + length). It may be above 1. That similarity is 0 or less where texts
    have next to nothing in common; a quotient by such a one says nothing, and the group is inapplicable.
    """
    # The study's formula (definition 1) is hard to read in our copy: a quotient of these two, compared with 1. Its text
    # says what for: a bad way back makes the round trip unlike its source (the divisor is small), and must not be
    # counted against the way out, whose similarity it makes smaller, too. So we read "at least 1".
    text, target = source.input.text, source.input.target
    if target is None:
        return None
    (there,) = yield [Member("source", source.input)]
    (back,) = yield [Member("link", _way_back(source.input, str(there.text)))]
    (again,) = yield [Member("link", Input.of(str(back.text), language=source.input.languages[0], target=target))]
    below = normalised_similarity(text, str(back.text))
    if below <= 0:
        return Verdict(Outcome.INAPPLICABLE, reason="the round trip is not similar to its source: nothing to divide by")
    return _at_least(normalised_similarity(str(there.text), str(again.text)) / below, bound)


# MGMT at the levels of phrases and of words.
#
# Another adjective before a noun, or another noun in the place of one, leaves a sentence's structure as it is, so it
# should leave that of the translation too. In the source all modifiers of one phrase, or one word, are replaced by the
# most probable other words there; the structures of the two *translations* are then compared. Source: seeds/002...,
# definitions 2 and 3 (MR_p, MR_w), algorithm 1 and formulas 5 to 7 (trees.py), section 3.3.2 (masked.py).

_BEFORE, _AFTER = re.compile(r"(?:^|[\s(\[{\"'“‘«¿¡—–’])$"), re.compile(r"[.,;:!?)\]}\"'”’»…—–]*(?:\s|$)|['’—–]")
_TOLERANCE = 1e-9
"""A similarity is a sum of fractions: this much below the bound is the bound."""


@dataclass
class _Draft:
    """A sentence on its way to a follow-up: its words as they stand in it, and the places to be filled anew."""

    number: int
    input: Input
    spans: Sequence[tuple[int, int]]
    words: list[str]
    places: Sequence[int]
    replaced: dict[int, str] = field(default_factory=dict)
    """Place -> the word that stood there."""


@dataclass(frozen=True, kw_only=True)
class MultiGranularity(Fixed):
    """Words of the source are replaced; the translations of both must have the same structure, up to `bound`.

    Parameters: `parser` and `proposer`, lists as `parsers_in` and `proposers_in` take them; `k`, of how many deepest
    words or phrases one is drawn; `bound`, the similarity from 0 to 1 that satisfies the relation. A verdict's value is
    the similarity, so that another bound needs no other run.

    A source whose language has no parser or no proposer makes no group, nor does one that cannot be parsed or for which
    nothing is proposed. A group whose target language has no parser, or with a translation that cannot be parsed, is
    inapplicable.
    """

    level: str
    """`phrase` or `word`."""

    def asks(self) -> Sequence[str]:
        """Return the versions of its parsers and proposers. Of parsers that nobody named, those that are there.

        Raises NotInstalled for what was named and is absent, UnknownName for what nobody knows.
        """
        spec = str(self.params["parser"])
        parsers = [parser for parser in parsers_in(spec) if spec or not parser.needs()]
        proposers = proposers_in(str(self.params["proposer"]))
        return [*(parser.version for parser in parsers), *(proposer.version for proposer in proposers)]

    def make_group(self, source: Source) -> tuple[list[Input], Words]:
        return self.make_groups([source])[0]

    def verdict(self, outputs: Sequence[Output], note: Words) -> Verdict:
        return self.verdicts([(outputs, note)])[0]

    def make_groups(self, sources: Sequence[Source]) -> list[tuple[list[Input], Words]]:
        """Ask each parser once for all sources, the proposer once for each word of the longest phrase: a word is
        proposed when those before it have been replaced.

        The note is the target language and the words that were replaced: (("to", "es"), ("old", "new")).
        """
        drafts = list(self._drafts(sources))
        for turn in range(max((len(draft.places) for draft in drafts), default=0)):
            self._fill([(draft, draft.places[turn]) for draft in drafts if turn < len(draft.places)])
        groups: list[tuple[list[Input], Words]] = [([], ()) for _ in sources]
        for draft in drafts:
            text = _rewritten_text(draft)
            if text != draft.input.text:
                words = tuple((old, draft.words[place]) for place, old in sorted(draft.replaced.items()))
                groups[draft.number] = (
                    [Input((text,), draft.input.languages)],
                    (("to", str(draft.input.target)), *words),
                )
        return groups

    def verdicts(self, groups: Sequence[tuple[Sequence[Output], Words]]) -> list[Verdict]:
        """Ask each parser once for all translations into its language."""
        texts: dict[str, list[str]] = {}
        for outputs, note in groups:
            texts.setdefault(note[0][1], []).extend(str(output.text) for output in outputs)
        trees = {target: self._trees(said, target) for target, said in texts.items()}
        return [self._compare(outputs, trees[note[0][1]], note[0][1]) for outputs, note in groups]

    def _compare(self, outputs: Sequence[Output], trees: "dict[str, Tree | None] | None", target: str) -> Verdict:
        if trees is None:
            return Verdict(Outcome.INAPPLICABLE, reason=f"there is no parser for {target}")
        source_tree, follow_up_tree = (trees[str(output.text)] for output in outputs)
        if source_tree is None or follow_up_tree is None:
            return Verdict(Outcome.INAPPLICABLE, reason="a translation cannot be parsed")
        value = structure_similarity(source_tree, follow_up_tree)
        satisfied = value >= float(str(self.params["bound"])) - _TOLERANCE
        return Verdict(Outcome.SATISFIED if satisfied else Outcome.VIOLATED, value)

    def _drafts(self, sources: Sequence[Source]) -> Iterator[_Draft]:
        """Yield the sources that can make a group, parsed, with the places of the words to be replaced."""
        usable = []
        for number, source in enumerate(sources):
            if source.input.target is not None and self.reads(source) and self._proposer(source.input.languages[0]):
                self._parser(source.input.target)  # what is not installed is said before anything is translated
                usable.append((number, source))
        texts: dict[str, list[str]] = {}
        for _, source in usable:
            texts.setdefault(source.input.languages[0], []).append(source.input.text)
        trees = {language: self._trees(said, language) or {} for language, said in texts.items()}
        for number, source in usable:
            text, language = source.input.text, source.input.languages[0]
            tree = trees[language].get(text)
            spans = leaf_spans(text, tree.leaves()) if tree is not None else None
            if tree is None or spans is None:
                continue
            words = [text[start:end] for start, end in spans]
            tags = [tag for _, tag in tree.pos()]
            free = [
                place
                for place, tag in free_words(words, language).items()
                if (language != "en" or tags[place] == tag)
                and (language in UNSPACED or _stands_apart(text, *spans[place]))
            ]
            if places := self._places(tree, free, language, source.choices(self.name)):
                yield _Draft(number, source.input, spans, words, places)

    def _places(self, tree: "Tree", free: Collection[int], language: str, choices: "random.Random") -> Sequence[int]:
        """Return the places of the words to be replaced, in order."""
        k = int(str(self.params["k"]))
        if self.level == "word":
            open_words = [place for place in free if kind_of(tree.pos()[place][1]) not in ("name", "other")]
            chosen = deep_word(tree, open_words, k, choices)
            return () if chosen is None else (chosen,)

        def having(leaves: Sequence[int]) -> Sequence[int]:
            return [place for place in modifiers(tree, leaves, language) if place in free]

        return having(deep_phrase(tree, k, choices, having))

    def _fill(self, blanks: Sequence[tuple[_Draft, int]]) -> None:
        """Put the proposed words into their places; where nothing is proposed, the word stays."""
        by_language: dict[str, list[tuple[_Draft, int]]] = {}
        for draft, place in blanks:
            by_language.setdefault(draft.input.languages[0], []).append((draft, place))
        for language, batch in by_language.items():
            proposer = self._proposer(language)
            words = (
                proposer.propose([(tuple(draft.words), place) for draft, place in batch], language) if proposer else []
            )
            for (draft, place), word in zip(batch, words, strict=True):
                if word is not None:
                    draft.replaced[place] = draft.words[place]
                    draft.words[place] = cased_like(word, draft.words[place])

    def _trees(self, texts: Sequence[str], language: str) -> "dict[str, Tree | None] | None":
        """Return each text with its tree; None where there is no parser for the language."""
        parser = self._parser(language)
        return None if parser is None else dict(zip(texts, parser.parse(texts, language), strict=True))

    def lacks(self, language: str) -> str | None:
        """Return what is missing for sources in a language: a parser that is not installed, or a proposer."""
        spec = str(self.params["parser"])
        if self._parser(language) is None and (absent := parsers_in(spec, language)):
            return f"sources in {language} are parsed with {absent[0].name}, which is absent; {absent[0].needs()}"
        if self._parser(language) is not None and self._proposer(language) is None:
            setting = f"{self.name}.proposer={language}=ngram:FILE"
            return f"nothing proposes words in {language}; count a text of yours, and set {setting}"
        return None

    def _parser(self, language: str) -> Parser | None:
        """Return the parser of a language; None: there is none, or nobody named one and none is installed.

        Raises NotInstalled for one that was named and is absent.
        """
        spec = str(self.params["parser"])
        parsers = parsers_in(spec, language)
        if spec and parsers and (needs := parsers[0].needs()):
            raise NotInstalled(
                f"relation {self.name} parses {language} with {parsers[0].name}, which is absent; {needs}"
            )
        return next((parser for parser in parsers if not parser.needs()), None)

    def _proposer(self, language: str) -> Proposer | None:
        return next(iter(proposers_in(str(self.params["proposer"]), language)), None)


def _wrong_depth(params: Mapping[str, object]) -> str | None:
    k, bound = float(str(params["k"])), float(str(params["bound"]))
    if k < 1 or not 0 <= bound <= 1:
        return f"k is {k:g} and bound {bound:g}; allowed are 1 candidate or more, and a similarity from 0 to 1"
    return None


def _stands_apart(text: str, start: int, end: int) -> bool:
    """Whether a word has white space or marks of a sentence around it: not the *rules* of debian/rules.

    >>> [_stands_apart("See debian/rules, or end-user.txt (rules).", *span) for span in ((11, 16), (21, 24), (35, 40))]
    [False, False, True]
    """
    return bool(_BEFORE.search(text, 0, start) and _AFTER.match(text, end))


def _rewritten_text(draft: _Draft) -> str:
    """Return the sentence with its new words; everything else stays, but for a/an before a new English word."""
    new = {place: draft.words[place] for place in draft.replaced}
    if draft.input.languages[0] == "en":
        new |= {place - 1: article(draft.words[place - 1], draft.words[place]) for place in draft.replaced if place}
    text = draft.input.text
    for place in sorted(new, reverse=True):
        start, end = draft.spans[place]
        text = text[:start] + new[place] + text[end:]
    return text


for _level, _summary in (
    ("phrase", "All modifiers of one phrase are replaced; the translation keeps its structure."),
    ("word", "One noun, verb, adjective or adverb is replaced; the translation keeps its structure."),
):
    register(
        MultiGranularity(
            task="translation",
            name=f"MGMT-{_level}",
            family="multi-granularity",
            summary=_summary,
            unit="sentence",
            carry=nothing,
            languages=ANY,
            params={"parser": "", "proposer": "ngram", "k": 5, "bound": 1.0},
            check_params=_wrong_depth,
            version="3",
            level=_level,
        )
    )
