"""Whether a follow-up is still fair to its source, as far as a program can tell: measures, and limits on them.

A measure says in one number how far a follow-up is from its source; a limit is what a relation, or a user, allows of
one: `replaced<=0.4`. A group that breaks one is kept, with `Outcome.REJECTED` for every system, and nobody is asked
about it. Measures are in `MEASURES`: one decorated function each."""

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal

from audit.errors import EXTRAS, AuditError, UnknownName, install_line
from audit.resources import attribute
from audit.tasks import Input
from audit.text.ngram_model import HeldOut, model_words

if TYPE_CHECKING:
    from audit.relations.base import Relation

VALID = "valid"
"""The parameter of a relation that holds its limits: other limits are another relation, with groups of its own."""
_LIMIT = re.compile(r"(?:(?P<relation>.+):)?\s*(?P<measure>[^:<>=]+?)\s*(?P<sign><=|>=|<|>)\s*(?P<bound>[^<>=]+)")
_SIGNS = {
    "<=": (operator.le, "at most"),
    ">=": (operator.ge, "at least"),
    "<": (operator.lt, "below"),
    ">": (operator.gt, "above"),
}

Fitted = Mapping[str, Any]  # Name of a measure that learns from a corpus -> what it has learnt


@dataclass(frozen=True)
class Measure:
    """How far a follow-up is from its source, as one number."""

    name: str
    summary: str
    function: Callable[..., float]  # (source, follow-up) -> the number; a third argument is what `fit` returned
    better: Literal["low", "high"]  # Which end the follow-up has that is the same as its source
    least: float = 0.0
    most: float = 1.0
    version: str = "1"
    fit: Callable[[Sequence[Input]], Any] | None = None  # Learns from the inputs of a study's sources
    needs: tuple[str, ...] = ()  # Modules without which it cannot be computed
    slow: bool = False  # Takes milliseconds a text

    def of(self, source: Input, follow_up: Input, fitted: object = None) -> float:
        """Return the number, NaN where it cannot be known. Raises AuditError where it is out of its range."""
        value = float(self.function(source, follow_up, *([] if self.fit is None else [fitted])))
        if not (math.isnan(value) or self.least <= value <= self.most):
            raise AuditError(f"measure {self.name} returned {value:g}; it must be from {self.least:g} to {self.most:g}")
        return value

    def lacks(self) -> str | None:
        """Return the line that installs what it needs; None where all is there."""
        absent = next((module for module in self.needs if find_spec(module) is None), None)
        return absent and (install_line(EXTRAS[absent]) if absent in EXTRAS else f"pip install {absent}")


def measure(name: str, *, better: Literal["low", "high"], **fields: Any) -> Callable[[Callable[..., float]], Measure]:
    """Register the decorated function of a source and a follow-up as a measure; the first line of its docstring says
    what it is, and `fields` are the others of `Measure`. A name has no blanks and no signs of `< > = :`."""

    def keep(function: Callable[..., float]) -> Measure:
        summary = ((function.__doc__ or "").strip() or name).splitlines()[0]
        registered = MEASURES[name] = Measure(name, summary, function, better, **fields)
        return registered

    return keep


MEASURES: dict[str, Measure | str] = {"embedding": "audit.packs.chinese.systems:embedding"}
"""By name; "module:attribute" until one is wanted."""


def measure_named(name: str) -> Measure:
    """Return the measure of this name. Raises UnknownName, which lists them."""
    if name not in MEASURES:
        raise UnknownName("measure", name, list(MEASURES))
    registered = MEASURES[name]
    return attribute(registered) if isinstance(registered, str) else registered


@dataclass(frozen=True, order=True)
class Limit:
    """What is allowed of a measure."""

    measure: str
    sign: str
    bound: float

    def allows(self, value: float) -> bool:
        """Return whether a value keeps the limit; what is not known (NaN) keeps none."""
        return bool(_SIGNS[self.sign][0](value, self.bound))

    def __str__(self) -> str:
        return f"{self.measure}{self.sign}{self.bound:.15g}"

    def reason(self, value: float) -> str:
        """Return why a group is rejected: replaced 0.5217, at most 0.4."""
        number = "cannot be known" if math.isnan(value) else f"{value:.4g}"
        return f"{self.measure} {number}, {_SIGNS[self.sign][1]} {self.bound:.15g}"


def limit_of(text: str) -> tuple[str, Limit]:
    """Return the relation (empty: all) and the limit that `[RELATION:]MEASURE<=NUMBER` names. Raises AuditError for
    another form, a measure that is none, and a bound that is outside the measure's range."""
    parts = _LIMIT.fullmatch(text.strip())
    if parts is None:
        form = "a limit is MEASURE<=NUMBER, also with >=, < or >, of one relation RELATION:MEASURE<=NUMBER"
        raise AuditError(f"valid {text[:80]!r}: {form}; for example replaced<=0.4", parameter=VALID)
    try:
        of = measure_named(parts["measure"])
        bound = float(parts["bound"])
    except UnknownName as problem:
        raise AuditError(problem.sentence, parameter=VALID) from None
    except ValueError:
        bound = math.nan
    if not of.least <= bound <= of.most:
        bounds = f"the limit must be a number from {of.least:g} to {of.most:g}, which {of.name} can be"
        raise AuditError(f"valid {text[:80]!r}: {bounds}", parameter=VALID)
    return (parts["relation"] or "").strip(), Limit(of.name, parts["sign"], bound)


def limits_by_relation(texts: Iterable[str]) -> dict[str, list[Limit]]:
    """Return the limits of each relation, and under "" those of all. Raises what `limit_of` raises."""
    limits: dict[str, list[Limit]] = {}
    for text in texts:
        relation, limit = limit_of(text)
        limits.setdefault(relation, []).append(limit)
    return limits


def limited(relation: "Relation", limits: Iterable[Limit]) -> "Relation":
    """Return the relation with these limits; one on the same measure, in the same direction, replaces an earlier one.
    They are a parameter of the relation, so that other limits are another relation with groups of its own."""
    chosen = {(limit.measure, limit.sign[0]): limit for limit in (*relation.limits, *limits)}
    if not chosen:
        return relation
    # Dear measures are asked last: of the groups that are left.
    ordered = sorted(chosen.values(), key=lambda limit: (measure_named(limit.measure).slow, learns(limit), limit))
    params = {**relation.params, VALID: sorted(map(str, ordered))}
    return replace(relation, limits=tuple(ordered), params=params)


def learns(limit: Limit) -> bool:
    """Return whether the measure of a limit learns from the corpus: the run looks at such limits where it is driven."""
    return measure_named(limit.measure).fit is not None


def broken(
    limits: Sequence[Limit], source: Input, follow_ups: Sequence[Input], fitted: Fitted | None = None
) -> tuple[float, str] | None:
    """Return the value and the reason of the first limit that a follow-up does not keep; None: they keep all."""
    for limit in limits:
        of = measure_named(limit.measure)
        for follow_up in follow_ups:
            value = of.of(source, follow_up, (fitted or {}).get(limit.measure))
            if not limit.allows(value):
                return value, limit.reason(value)
    return None


def fitted_for(names: Iterable[str], inputs: Callable[[], Iterable[Input]]) -> dict[str, Any]:
    """Return what those of these measures that learn from a corpus have learnt from a study's inputs."""
    learning = [of for name in sorted(set(names)) if (of := measure_named(name)).fit is not None]
    corpus = list(inputs()) if learning else []
    return {of.name: of.fit(corpus) for of in learning if of.fit is not None}


# What is compared: of an input of several texts those that changed, so that a long passage hides no changed question.


def changed(source: Input, follow_up: Input) -> list[tuple[str, str, str]]:
    """Return texts of the source and of the follow-up that differ, with their language; nothing where none does."""
    pairs = zip_longest(source.texts, follow_up.texts, fillvalue="")
    languages = follow_up.languages if len(follow_up.texts) >= len(source.texts) else source.languages
    return [(a, b, language) for (a, b), language in zip(pairs, languages, strict=False) if a != b]


def _words(source: Input, follow_up: Input, marks: bool = False) -> tuple[list[str], list[str]]:
    both: tuple[list[str], list[str]] = [], []
    for *texts, language in changed(source, follow_up):
        for words, text in zip(both, texts, strict=True):
            words += [word for word in model_words(text, language) if marks or word[0].isalnum()]
    return both


@measure("edit-distance", better="low")
def edit_distance(source: Input, follow_up: Input) -> float:
    """Characters inserted, deleted or replaced, of those of the longer text."""
    from rapidfuzz.distance import Levenshtein

    texts = changed(source, follow_up)
    a, b = ("\n".join(pair[place] for pair in texts) for place in (0, 1))
    return Levenshtein.normalized_distance(a, b)


@measure("replaced", better="low")
def replaced(source: Input, follow_up: Input) -> float:
    """Words (characters where there are no blanks) inserted, deleted or replaced, of those of the longer text; neither
    capitals nor punctuation count."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_distance(*_words(source, follow_up))


@measure("bleu", better="high", needs=("nltk",))
def bleu(source: Input, follow_up: Input) -> float:
    """Sentence BLEU against the source: shared runs of one to four words and marks, in lower case, smoothed.

    NLTK's `method2` (1 added above single words). Texts of fewer than four words are compared by the runs they have."""
    reference, hypothesis = _words(source, follow_up, marks=True)
    if reference == hypothesis:
        return 1.0
    if not reference or not hypothesis:
        return 0.0
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    longest = min(4, len(reference), len(hypothesis))
    weights = (1 / longest,) * longest
    return min(1.0, float(sentence_bleu([reference], hypothesis, weights, SmoothingFunction().method2)))


def _fit_halves(inputs: Sequence[Input]) -> dict[str, HeldOut]:
    by_language: dict[str, list[str]] = {}
    for item in inputs:
        for text, language in zip(item.texts, item.languages, strict=False):
            by_language.setdefault(language, []).append(text)
    return {language: HeldOut(texts, language) for language, texts in by_language.items()}


@measure("perplexity-ratio", better="low", most=math.inf, fit=_fit_halves)
def perplexity_ratio(source: Input, follow_up: Input, models: Mapping[str, HeldOut]) -> float:
    """Perplexity of the follow-up, divided by that of the source, under trigrams of the study's other sources.

    Of several texts that changed, the geometric mean. Not known in a language that no source has."""
    logs = []
    for before, after, language in changed(source, follow_up):
        if (model := models.get(language)) is None:
            return math.nan
        logs.append(math.log(model.perplexity(after, like=before)) - math.log(model.perplexity(before)))
    return math.exp(math.fsum(logs) / len(logs)) if logs else 1.0
