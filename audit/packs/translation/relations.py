"""Relations of the task `translation`: round trips (RTT), Monte Carlo (MCMT) and three levels of granularity (MGMT).

RTT is the baseline that both studies of translation compare with (Pesu et al., "A Monte-Carlo approach to automatic
metamorphic testing of machine translation software", 2017, section II). Somers ("Round-trip translation: what's it good
for?", 2005) found it a poor sign of quality: the way back is a translation of its own, which may err where the way out
did not, or mend what it spoilt.
"""

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from audit.errors import NotInstalled
from audit.packs.english.guard import article
from audit.packs.translation import perturbations
from audit.packs.translation.proposers import cased_like, free_words
from audit.packs.translation.tools import tools_in
from audit.packs.translation.trees import deep_phrase, deep_word, kind_of, leaf_spans, modifiers, structure_similarity
from audit.relations.base import ANY, Fixed, Member, Outcome, Source, Steps, Verdict, Words, nothing
from audit.relations.registry import register
from audit.relations.uses import relation
from audit.tasks import Input, Output
from audit.text.languages import is_code
from audit.text.similarity import (
    UNSPACED,
    bleu,
    consistency,
    cosine,
    levenshtein_similarity,
    normalised_similarity,
)

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
"""Scores by name, of (what was there first, what is compared with it), from 0 to 1; `normalised` may be below 0."""
THRESHOLD = 0.6
"""Of the MCMT study's 956 recorded round trips 71 % reach it, of its 2,796 pairs through a pivot 33 %. The study itself
compares mean scores and sets no bound; `audit values bounds` shows the rates at others without another run."""
PIVOTS = "en,zh,ja,ko,fr,ru,pt,es,sv,ca"
"""The study's nine languages, and Catalan, which free engines have."""
_TOLERANCE = 1e-9
"""A similarity is a sum of fractions: this much below the bound is the bound."""


def agreement(first: str, second: str, score: str, threshold: float, reason: str | None = None) -> Verdict:
    """Return satisfied where the score of two texts is at least the threshold; the score is the value.

    Equal texts have the value 1 under every score: they are what the relation asks for, though BLEU gives them less
    where they are shorter than four words (and a Chinese sentence is one word to it).
    """
    return _at_least(1.0 if first == second else SCORES[score](first, second), threshold, reason)


def _at_least(value: float, bound: float, reason: str | None = None) -> Verdict:
    return Verdict(Outcome.SATISFIED if value >= bound else Outcome.VIOLATED, value, reason)


def _wrong(params: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the parameters that a relation has of score, threshold, bound, k and pivots."""
    if params.get("score", "bleu") not in SCORES:
        return f"score is {params['score']!r}; allowed are {', '.join(SCORES)}"
    if not 0 <= params.get("threshold", 0) <= 1:
        return f"threshold is {params['threshold']:g}; allowed are numbers from 0 to 1"
    if not 0 <= params.get("bound", 0) <= (1 if "k" in params else 1e9) or params.get("k", 1) < 1:
        return f"bound is {params['bound']:g}; allowed are numbers from 0, for structures to 1, and k from 1"
    pivots = pivots_of(params.get("pivots", PIVOTS))
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
    return Input.of(text, language=source_input.output_language, target=source_input.languages[0])


_chain = partial(
    relation, by="source", task="translation", unit="any", carry=nothing, languages=ANY, check_params=_wrong
)


@_chain("RTT", family="round trip", params={"score": "consistency", "threshold": THRESHOLD})
def round_trip(
    source: Source, choices: random.Random, *, score: str = "consistency", threshold: float = THRESHOLD
) -> Steps:
    """Translate into the target language and back; the text that comes back resembles the source.

    The value is the score of source and what came back (`SCORES`). The translation back is a link: where it is wrong,
    a satisfaction is false. No group where the source says no target language.
    """
    if source.input.target is None:
        return None
    (there,) = yield [Member("source", source.input)]
    (back,) = yield [Member("link", _way_back(source.input, str(there.text)))]
    return agreement(source.input.text, str(back.text), score, threshold)


@_chain("MCMT", family="Monte-Carlo pivots", params={"pivots": PIVOTS, "score": "consistency", "threshold": THRESHOLD})
def monte_carlo(
    source: Source,
    choices: random.Random,
    *,
    pivots: str = PIVOTS,
    score: str = "consistency",
    threshold: float = THRESHOLD,
) -> Steps:
    """Translate directly, and through a third language drawn at random; the two translations agree.

    A system seldom has every pair of languages: pivots are tried in a random order, each as probes, and the first whose
    two translations are there is the group's. They are its links then, which costs nothing, since outputs are stored.
    So a pivot is drawn evenly among those that the system has. The reason of the verdict says which it was.
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


@_chain("MGMT-sentence", family="multi-granularity", params={"bound": 1.0})
def there_and_back(source: Source, choices: random.Random, *, bound: float = 1.0) -> Steps:
    """There, back and there again; the two translations are at least as near as the texts they are made from.

    S becomes T, T becomes S', S' becomes T'; the value is similarity(T, T') / similarity(S, S'), with the normalised
    Levenshtein similarity 1 - 2 edit / (length + length). It may be above 1. That similarity is 0 or less where texts
    have next to nothing in common; a quotient by such a one says nothing, and the group is inapplicable.
    """
    # The study's formula (definition 1) is hard to read in our copy: a quotient of these two, compared with 1. A bad
    # way back makes the round trip unlike its source (the divisor is small), and must not be counted against the way
    # out, whose similarity it makes smaller, too. So we read "at least 1".
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
# definitions 2 and 3 (MR_p, MR_w), algorithm 1 and formulas 5 to 7 (trees.py), section 3.3.2 (proposers.py).

Trees = Mapping[tuple[str, str], "Tree | None"]
"""(language, text) -> its tree; a language without a parser has none."""


@dataclass(frozen=True, kw_only=True)
class MultiGranularity(Fixed):
    """Words of the source are replaced; the translations of both must have the same structure, up to `bound`.

    Parameters: `parser` and `proposer`, lists as `tools_in` takes them; `k`, of how many deepest words or phrases one
    is drawn; `bound`, the similarity from 0 to 1 that satisfies the relation. A verdict's value is the similarity.

    A source whose language has no parser or no proposer makes no group, nor does one that cannot be parsed or for which
    nothing is proposed. A group whose target language has no parser, or with a translation that cannot be parsed, is
    inapplicable.
    """

    level: str
    """`phrase` or `word`."""

    def asks(self) -> Sequence[str]:
        """Return the versions of its parsers and proposers. Of parsers that nobody named, those that are there."""
        spec = str(self.params["parser"])
        parsers = [parser for parser in tools_in("parser", spec) if spec or not parser.needs()]
        return [tool.version for tool in (*parsers, *tools_in("proposer", str(self.params["proposer"])))]

    def lacks(self, language: str) -> str | None:
        """Return what is missing for sources in a language: a parser that is not installed, or a proposer."""
        if self._parser(language) is None:
            absent = tools_in("parser", str(self.params["parser"]), language)[:1]
            return (
                "".join(
                    f"parsing {language} needs {parser.name}, which is absent; {parser.needs()}" for parser in absent
                )
                or None
            )
        if self._proposer(language) is None:
            setting = f"{self.name}.proposer={language}=ngram:FILE"
            return f"nothing proposes words in {language}; count a text of yours, and set {setting}"
        return None

    def make_group(self, source: Source) -> tuple[list[Input], Words]:
        return self.make_groups([source])[0]

    def verdict(self, outputs: Sequence[Output], note: Words) -> Verdict:
        return self.verdicts([(outputs, note)])[0]

    def make_groups(self, sources: Sequence[Source]) -> list[tuple[list[Input], Words]]:
        """Ask each parser once for all sources. The note is the target language and the words that were replaced:
        (("to", "es"), ("old", "new"))."""
        keys: list[tuple[str, str]] = []
        for source in sources:
            language, target = source.input.languages[0], source.input.target
            usable = target is not None and self.reads(source) and self._proposer(language) is not None
            if usable:
                self._parser(str(target))  # what is not installed is said before anything is translated
            keys.append((language if usable else "", source.input.text))
        trees = self._trees(key for key in keys if key[0])
        pairs = [(source, trees.get(key)) for source, key in zip(sources, keys, strict=True)]
        return [([], ()) if tree is None else self._rewritten(source, tree) for source, tree in pairs]

    def verdicts(self, groups: Sequence[tuple[Sequence[Output], Words]]) -> list[Verdict]:
        """Ask each parser once for all translations into its language."""
        texts = [[(note[0][1], str(output.text)) for output in outputs] for outputs, note in groups]
        trees = self._trees(text for pair in texts for text in pair)
        return [self._compared(pair[0][0], [trees.get(text) for text in pair]) for pair in texts]

    def _compared(self, target: str, trees: "Sequence[Tree | None]") -> Verdict:
        first, two = trees
        if first is None or two is None:
            no_parser = self._parser(target) is None
            reason = f"there is no parser for {target}" if no_parser else "a translation cannot be parsed"
            return Verdict(Outcome.INAPPLICABLE, reason=reason)
        value = structure_similarity(first, two)
        satisfied = value >= float(str(self.params["bound"])) - _TOLERANCE
        return Verdict(Outcome.SATISFIED if satisfied else Outcome.VIOLATED, value)

    def _rewritten(self, source: Source, tree: "Tree") -> tuple[list[Input], Words]:
        """Return the follow-up: a word is proposed when those before it have been replaced, and stays where none is."""
        text, language = source.input.text, source.input.languages[0]
        spans = leaf_spans(text, tree.leaves())
        if spans is None:
            return [], ()
        words, tags = [text[start:end] for start, end in spans], [tag for _, tag in tree.pos()]
        free = [
            place
            for place, tag in free_words(tuple(words), language).items()
            if (language != "en" or tags[place] == tag) and (language in UNSPACED or _stands_apart(text, *spans[place]))
        ]
        replaced: list[tuple[int, str]] = []
        for place in self._places(tree, free, language, source.choices(self.name)):
            (word,) = self._proposer(language).propose([(tuple(words), place)], language)
            if word is not None:
                replaced.append((place, words[place]))
                words[place] = cased_like(word, words[place])
        new = {place: words[place] for place, _ in replaced}
        if language == "en":
            new |= {place - 1: article(words[place - 1], words[place]) for place in new if place}
        for place in sorted(new, reverse=True):
            start, end = spans[place]
            text = text[:start] + new[place] + text[end:]
        if text == source.input.text:
            return [], ()
        note = (("to", str(source.input.target)), *((old, words[place]) for place, old in replaced))
        return [Input((text,), source.input.languages)], note

    def _places(self, tree: "Tree", free: Sequence[int], language: str, choices: random.Random) -> Sequence[int]:
        """Return the places of the words to be replaced, in order."""
        k = int(str(self.params["k"]))
        if self.level == "word":
            open_words = [place for place in free if kind_of(tree.pos()[place][1]) not in ("name", "other")]
            chosen = deep_word(tree, open_words, k, choices)
            return () if chosen is None else (chosen,)

        def having(leaves: Sequence[int]) -> Sequence[int]:
            return [place for place in modifiers(tree, leaves, language) if place in free]

        return having(deep_phrase(tree, k, choices, having))

    def _trees(self, texts: Iterable[tuple[str, str]]) -> Trees:
        by_language: dict[str, list[str]] = {}
        for language, text in texts:
            by_language.setdefault(language, []).append(text)
        trees: dict[tuple[str, str], Tree | None] = {}
        for language, said in by_language.items():
            if parser := self._parser(language):
                trees |= {(language, text): tree for text, tree in zip(said, parser.parse(said, language), strict=True)}
        return trees

    def _parser(self, language: str) -> Any:
        """Return the parser of a language; None: there is none, or nobody named one and none is installed.

        Raises NotInstalled for one that was named and is absent.
        """
        spec = str(self.params["parser"])
        for parser in tools_in("parser", spec, language):
            if not (needs := parser.needs()):
                return parser
            if spec:
                raise NotInstalled(
                    f"relation {self.name} parses {language} with {parser.name}, which is absent; {needs}"
                )
        return None

    def _proposer(self, language: str) -> Any:
        return next(iter(tools_in("proposer", str(self.params["proposer"]), language)), None)


def _stands_apart(text: str, start: int, end: int) -> bool:
    """Return whether a word has white space or marks of a sentence around it: not the *rules* of debian/rules.

    >>> [_stands_apart("See debian/rules, or end-user.txt (rules).", *span) for span in ((11, 16), (21, 24), (35, 40))]
    [False, False, True]
    """
    before, after = r"(?:^|[\s(\[{\"'“‘«¿¡—–’])$", r"[.,;:!?)\]}\"'”’»…—–]*(?:\s|$)|['’—–]"
    return bool(re.search(before, text[:start]) and re.match(after, text[end:]))


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
            check_params=_wrong,
            version="3",
            level=_level,
        )
    )
