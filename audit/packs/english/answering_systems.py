"""Systems that answer questions about an English text without knowing what it means: the sentence with the words of
the question, and in it what looks like an answer, by rules (`sentence-window`) or by a regression (`span-logreg`)."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.corpora.base import folder
from audit.corpora.files import FileCorpus
from audit.keys import canonical, fingerprint
from audit.model_cache import Kept, as_array, cached_model, say, texts_of
from audit.packs.english import parser
from audit.packs.english.hand_written import training_file
from audit.packs.english.inference_systems import content_stems
from audit.systems.base import missing, package_version
from audit.systems.trained import tokens
from audit.tasks import Input, Output
from audit.tasks.question_answering import UNANSWERABLE, normalised
from audit.text import Analysis

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

# What a question asks for, and how well a sentence fits it.

_KINDS = (
    ("why", r"\bwhy\b"),
    ("number", r"\bhow (?:many|much|old|far|large|high|deep|fast|heavy|hot|cold)\b|\bwhat (?:price|age|temperature)\b"),
    ("time", r"\bwhen\b|\b(?:which|what) (?:day|year|month|time|century)\b|\bhow (?:long|often|soon)\b|\bwhat age\b"),
    ("who", r"\bwh(?:o|om|ose)\b"),
    ("where", r"\bwhere\b|\b(?:which|what) (?:city|town|country|place|gate|floor)\b"),
)
_QUESTION_WORDS = frozenset(["many", "much", "long", "often", "kind", "name", "called"])


def kind_of(question: str) -> str:
    """What a question asks for: why, number, time, who, where or thing.

    >>> kind_of("How many were there?"), kind_of("On which day was it?"), kind_of("What did she take?")
    ('number', 'time', 'thing')
    """
    return next((kind for kind, pattern in _KINDS if re.search(pattern, question.lower())), "thing")


@dataclass(frozen=True)
class Fit:
    """A sentence of a context, and the share of a question's content words that it has, each by how rare it is."""

    start: int
    text: str
    share: float


def ranked(context: str, question: str) -> list[Fit]:
    """The sentences of a context, the one that fits the question best first; of equals the earlier one.

    >>> [round(fit.share, 2) for fit in ranked("It rained. Anna ate bread.", "Who ate the bread?")]
    [1.0, 0.0]
    """
    analysis = Analysis(context)
    sentences = [(start, context[start:end]) for start, end in analysis.spans]
    stems = [set(content_stems(text)) for _, text in sentences]
    asked = [stem for stem in dict.fromkeys(content_stems(question)) if stem not in _QUESTION_WORDS]
    weights = {stem: math.log(1 + len(stems) / max(1, sum(stem in one for one in stems))) for stem in asked}
    total = sum(weights.values()) or 1.0
    fits = [
        Fit(start, text, sum(weight for stem, weight in weights.items() if stem in one) / total)
        for (start, text), one in zip(sentences, stems, strict=True)
    ]
    return sorted(fits, key=lambda fit: (-fit.share, fit.start))


# Rules: the best sentence, and the nearest span of the kind that is asked for.

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DAYS = "Mondays?|Tuesdays?|Wednesdays?|Thursdays?|Fridays?|Saturdays?|Sundays?"
_COUNT = (
    r"(?:\d+(?:[.,:]\d+)*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fifteen|sixteen|"
    r"seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|eighty|ninety|half|twice|once|dozens?)"
)
_NAME = r"[A-Z][\w'’-]+(?: (?:of |the |de |van )?[A-Z][\w'’-]+)*"
_NOUN_PHRASE = r"\b(?:a|an|the|his|her|my|our|their|its) (?:[a-z][\w'’-]+ ){0,2}[a-z][\w'’-]+"
_PATTERNS = {
    "why": [r"(?<=because of )[^,.;]+", r"(?:because|since|as|so that) ([^,.;]+)"],
    "number": [
        rf"(?:up to |about |nearly |more than )?\b{_COUNT}(?: (?:million|thousand|hundred|per cent))?(?: [a-z]+)?"
    ],
    "time": [
        rf"(?:\d{{1,2}} )?\b(?:{_MONTHS})\b(?: \d{{4}})?",
        rf"\b(?:{_DAYS})\b",
        r"\b\d{1,2}[.:]\d{2}\b|\b1\d{3}\b|\b20\d{2}\b",
        r"\b(?:in|since|at|after|until|every) (?:the )?(?:spring|summer|autumn|winter|morning|evening|night|dusk)",
        rf"(?:every |about |after |within )?\b{_COUNT} (?:minutes?|hours?|days?|weeks?|months?|years?|seconds?)\b",
        rf"\b{_COUNT}\b",
    ],
    "who": [_NAME, _NOUN_PHRASE],
    "where": [
        r"\b(?:in|at|on|near|behind|outside|below|through|to|from) (?:the |a |an |his |her |its )?[A-Za-z][\w'’-]+"
    ],
    "thing": [_NOUN_PHRASE, rf"(?<!^){_NAME}", r"\b[a-z]{4,}\b"],
}


class SentenceWindow:
    """The system `sentence-window`: of the sentence with most of the question's words (rare ones count more), the
    shortest span of the kind that is asked for, nearest to those words.

    Kinds are told by words of the question, spans by patterns: dates, numbers with their noun, names, places behind a
    preposition. A question is unanswerable where no sentence has `least` of its words, or none of the best two has such
    a span. The score is the sentence's share.

    >>> SentenceWindow().run([Input.of("It rained. Anna Berg ate the bread.", "Who ate the bread?")])[0].text
    'Anna Berg'
    """

    name = "sentence-window"
    tasks: tuple[str, ...] = ("question-answering",)
    languages: tuple[str, ...] = ("en",)
    summary = "the best matching sentence, and in it a span of the kind that is asked for, by patterns"
    version = "1"

    def __init__(self, least: float = 0.35):
        self.settings: Mapping[str, object] = {"least": least}
        self._least = least

    def needs(self) -> str | None:
        return None

    def prepare(self) -> None:
        """There is nothing to load."""

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [self._answer(*item.texts) for item in inputs]

    def _answer(self, context: str, question: str) -> Output:
        for fit in ranked(context, question)[:2]:
            if fit.share >= self._least and (answer := nearest(fit.text, question)):
                return Output(text=answer, score=fit.share)
        return Output(text=UNANSWERABLE, score=0.0)


def nearest(sentence: str, question: str) -> str | None:
    """The span of the kind that the question asks for, nearest to the question's words; None where there is none.

    >>> nearest("In 1931 the hall was opened, and in 2004 the roof was replaced.", "When was the roof replaced?")
    '2004'
    """
    asked = set(content_stems(question))
    known = set(tokens(question))
    places = [found.start() for found in re.finditer(r"\w+", sentence) if set(content_stems(found.group())) & asked]
    for pattern in _PATTERNS[kind_of(question)]:
        fresh = []
        for found in re.finditer(pattern, sentence):
            group = found.lastindex or 0
            span = _without_known_end(found.group(group), known)
            stems = set(content_stems(span))
            if set(tokens(span)) - known and stems and not stems & asked:
                fresh.append((_distance(found.start(group), len(span), places), found.start(group), span))
        if fresh:
            return min(fresh)[2]
    return None


def _without_known_end(span: str, known: Set[str]) -> str:
    """A span without the last words that the question says itself: "eighty" of "eighty firefighters"."""
    words = span.split()
    while words and words[-1].lower() in known:
        words.pop()
    return " ".join(words)


def _distance(start: int, length: int, places: Sequence[int]) -> int:
    return min((max(place - start - length, start - place, 0) for place in places), default=0)


# A regression on spans that spaCy finds.


@dataclass(frozen=True)
class Candidate:
    """A span that may be the answer, and what is known of it and its question."""

    text: str
    traits: Mapping[str, float]


def candidates(context: str, question: str) -> list[Candidate]:
    """Noun phrases, entities, numbers and whatever hangs on a preposition or verb, of ten words at most, but for what
    the question says itself. There must be a model of spaCy."""
    kind, asked = kind_of(question), set(content_stems(question))
    fits = {fit.start: fit.share for fit in ranked(context, question)}
    best = max(fits.values(), default=0.0)
    focus = set(content_stems(" ".join(question.split()[:4])))
    result: dict[str, Candidate] = {}
    doc = _doc(context)
    for span in _spans(doc):
        stems = set(content_stems(span.text))
        key = normalised(span.text)
        if not key or key in result or (stems and stems <= asked):
            continue
        share = _share_at(fits, span.start_char)
        result[key] = Candidate(span.text, _traits(doc, span, kind, asked, share, best, focus))
    return list(result.values())


def _share_at(fits: Mapping[int, float], place: int) -> float:
    """The share of the sentence that a place is in."""
    return fits[max((start for start in fits if start <= place), default=min(fits))]


def _spans(doc: "Doc") -> Iterator["Span"]:
    """Spans of a text that may be an answer, some of them twice."""
    yield from doc.ents
    yield from doc.noun_chunks
    for token in doc:
        if token.dep_ in ("prep", "npadvmod", "pobj", "dobj", "attr", "acomp", "nsubj", "nsubjpass", "advcl", "ccomp"):
            first, last = token.left_edge.i, token.right_edge.i
            while last > first and doc[last].is_punct:
                last -= 1
            if last - first < 10:
                yield doc[first : last + 1]
        if token.like_num:
            yield doc[token.i : token.i + 1]
            if token.head.i > token.i and token.head.i - token.i <= 3:
                yield doc[token.i : token.head.i + 1]


def _traits(
    doc: "Doc", span: "Span", kind: str, asked: set[str], share: float, best: float, focus: set[str]
) -> dict[str, float]:
    """Names of traits and their values, about 0 to 1."""
    sentence = span.root.sent
    matched = [token.i for token in sentence if set(content_stems(token.text)) & asked]
    inside = sum(span.start <= place < span.end for place in matched)
    away = [
        min(abs(place - span.start), abs(place - span.end + 1))
        for place in matched
        if not span.start <= place < span.end
    ]
    stems = content_stems(span.text)
    return {
        "share": share,
        "best": float(share == best),
        "near": 1 / (1 + min(away, default=20)),
        "linked": float(any(token.i in matched for token in (span.root.head, span.root.head.head))),
        "asked words": inside / max(1, len(span)),
        "focus": float(bool(focus & set(stems)) and inside > 0),
        "length": math.log(len(span)),
        f"{kind} length": math.log(len(span)),
        f"{kind} entity {span.root.ent_type_}": 1.0,
        f"{kind} role {span.root.dep_}": 1.0,
        f"{kind} tag {span.root.tag_}": 1.0,
        f"{kind} number": float(any(token.like_num for token in span)),
        f"{kind} preposition": float(span[0].dep_ == "prep"),
        f"{kind} whole": float(span.text[:1].isupper() and span[0].tag_.startswith("NNP")),
    }


@lru_cache(maxsize=1)
def _model() -> Any:
    import spacy

    return spacy.load(str(parser.model_name()), exclude=["senter", "lemmatizer"])


@lru_cache(maxsize=2_000)
def _doc(text: str) -> "Doc":
    doc: Doc = _model()(text)
    return doc


def agreement(answer: str, reference: str) -> float:
    """F1 of the words of two answers, without articles: 1 where they are the same, 0 where they share no word.

    Source: Rajpurkar et al. (EMNLP 2016), section 6.1.

    >>> agreement("in the park", "the park"), agreement("a park", "The park.")
    (0.6666666666666666, 1.0)
    """
    words, others = normalised(answer).split(), normalised(reference).split()
    both = sum((Counter(words) & Counter(others)).values())
    return 2 * both / (len(words) + len(others)) if both else 0.0


class SpanLogreg:
    """The system `span-logreg`: the candidate with the highest probability under a logistic regression, which learnt
    from the reserved questions which candidates agree with the reference.

    A question is unanswerable where that probability is below a threshold, the one that was right most often on
    reserved documents that trained nothing (five folds). The score is the probability.
    """

    name = "span-logreg"
    tasks: tuple[str, ...] = ("question-answering",)
    languages: tuple[str, ...] = ("en",)
    summary = "spans by spaCy, ranked by a logistic regression on 100 reserved questions (scikit-learn)"
    training: Mapping[str, object] = {"traits": "1", "C": 1.0, "agreement": 0.75, "folds": 5}

    def __init__(self, path: str | Path = ""):
        self._path = Path(path) if path else training_file("question-pairs")
        self.settings: Mapping[str, object] = dict(self.training)
        self.version = self._version()

    def needs(self) -> str | None:
        install = "pip install 'audit[english]'"
        return missing("sklearn", install) or (None if parser.model_name() else install)

    def prepare(self) -> None:
        self._learnt()
        _model()

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        model = self._learnt()
        return [model.answer(*item.texts) for item in inputs]

    def trained_on(self, item: Input) -> bool:
        """Whether the question, or another one about its context, trained it."""
        return normalised(item.text) in _contexts(self._path)

    def _version(self) -> str:
        if self.needs():
            return "absent"
        content = [part for one in _questions(self._path) for part in (one.context, one.question, one.reference)]
        return fingerprint(
            [*content, canonical(dict(self.training)), package_version("scikit-learn"), parser.version()]
        )

    def _learnt(self) -> "Learnt":
        return _learnt(self._path, self.version, folder())


@dataclass(frozen=True)
class _Question:
    context: str
    question: str
    reference: str


@lru_cache(maxsize=2)
def _questions(path: Path) -> tuple[_Question, ...]:
    rows = FileCorpus(path, "question-answering", "document", "en").rows()
    return tuple(_Question(row.input.texts[0], row.input.texts[1], row.attributes["reference"]) for row in rows)


@lru_cache(maxsize=2)
def _contexts(path: Path) -> frozenset[str]:
    return frozenset(normalised(one.context) for one in _questions(path))


@dataclass(frozen=True)
class Learnt:
    """Weights of traits by name, an intercept, and the least probability of an answer."""

    weights: Mapping[str, float]
    intercept: float
    least: float

    def best(self, context: str, question: str) -> tuple[float, str]:
        """The highest probability and its candidate; (0, "") where there is none."""
        rated = [(self._probability(one), -place, one.text) for place, one in enumerate(candidates(context, question))]
        probability, _, text = max(rated, default=(0.0, 0, ""))
        return probability, text

    def answer(self, context: str, question: str) -> Output:
        probability, text = self.best(context, question)
        if probability < self.least or not text:
            return Output(text=UNANSWERABLE, score=1 - probability)
        return Output(text=text, score=probability)

    def _probability(self, one: Candidate) -> float:
        margin = math.fsum(self.weights.get(name, 0.0) * value for name, value in one.traits.items()) + self.intercept
        return 1 / (1 + math.exp(-margin))


@lru_cache(maxsize=2)
def _learnt(path: Path, version: str, cache: Path) -> Learnt:
    """The model from the cache, trained and kept there when it is absent or damaged."""
    kept = cached_model(SpanLogreg.name, version, cache, lambda: _train(_questions(path)))
    names, arrays = texts_of(kept.arrays["names"]), kept.arrays
    weights = dict(zip(names, arrays["weights"].tolist(), strict=True))
    return Learnt(weights, float(arrays["intercept"]), float(arrays["least"]))


def _train(questions: Sequence[_Question]) -> Kept:
    """A model of all questions, with the threshold that was best where each fifth of the documents was left out."""
    import numpy as np

    say(f"training {SpanLogreg.name} on {len(questions):,} questions, some seconds, once")
    folds = int(str(SpanLogreg.training["folds"]))
    documents = list(dict.fromkeys(one.context for one in questions))
    rated: list[tuple[float, bool, bool]] = []
    for fold in range(folds):
        out = set(documents[fold::folds])
        model = _fitted([one for one in questions if one.context not in out])
        for one in questions:
            if one.context in out:
                probability, text = model.best(one.context, one.question)
                open_ended = one.reference == UNANSWERABLE
                rated.append((probability, not open_ended and agreement(text, one.reference) >= 0.5, open_ended))
    least = max(sorted({probability for probability, _, _ in rated}), key=lambda bound: _right(rated, bound))
    model = _fitted(questions)
    return Kept(
        {
            "names": as_array(tuple(model.weights)),
            "weights": np.array(list(model.weights.values())),
            "intercept": np.array(model.intercept),
            "least": np.array(least),
        },
        {"questions": len(questions), "training": dict(SpanLogreg.training)},
    )


def _right(rated: Sequence[tuple[float, bool, bool]], least: float) -> int:
    """How many outputs are right with this threshold."""
    return sum(agrees if probability >= least else open_ended for probability, agrees, open_ended in rated)


def _fitted(questions: Sequence[_Question]) -> Learnt:
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    enough = float(str(SpanLogreg.training["agreement"]))
    rows = [(candidate, one) for one in questions for candidate in candidates(one.context, one.question)]
    right = [agreement(candidate.text, one.reference) >= enough for candidate, one in rows]
    vectorizer = DictVectorizer()
    matrix = vectorizer.fit_transform([dict(candidate.traits) for candidate, _ in rows])
    regression = LogisticRegression(C=float(str(SpanLogreg.training["C"])), max_iter=2_000).fit(matrix, right)
    names = vectorizer.get_feature_names_out().tolist()
    return Learnt(dict(zip(names, regression.coef_[0].tolist(), strict=True)), float(regression.intercept_[0]), 0.0)
