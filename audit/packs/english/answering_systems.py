"""A system that answers questions about an English text without knowing what it means: the sentence with the words of
the question, and in it what looks like an answer."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from audit.packs.english.inference_systems import content_stems
from audit.systems.trained import tokens
from audit.tasks import Input, Output
from audit.tasks.question_answering import UNANSWERABLE
from audit.text import Analysis

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


class Fit(NamedTuple):
    """A sentence of a context, and the share of a question's content words that it has, each by how rare it is."""

    start: int
    text: str
    share: float


def ranked(context: str, question: str) -> list[Fit]:
    """The sentences of a context, the one that fits the question best first; of equals the earlier one.

    >>> [round(fit.share, 2) for fit in ranked("It rained. Anna ate bread.", "Who ate the bread?")]
    [1.0, 0.0]
    """
    sentences = [(start, context[start:end]) for start, end in Analysis(context).spans]
    stems = [set(content_stems(text)) for _, text in sentences]
    asked = [stem for stem in dict.fromkeys(content_stems(question)) if stem not in _QUESTION_WORDS]
    weights = {stem: math.log(1 + len(stems) / max(1, sum(stem in one for one in stems))) for stem in asked}
    total = sum(weights.values()) or 1.0
    shares = [sum(weight for stem, weight in weights.items() if stem in own) / total for own in stems]
    fits = [Fit(*sentence, share) for sentence, share in zip(sentences, shares, strict=True)]
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
    asked, known = set(content_stems(question)), set(tokens(question))
    places = [found.start() for found in re.finditer(r"\w+", sentence) if set(content_stems(found.group())) & asked]
    for pattern in _PATTERNS[kind_of(question)]:
        fresh = []
        for found in re.finditer(pattern, sentence):
            start, words = found.start(found.lastindex or 0), found.group(found.lastindex or 0).split()
            while words and words[-1].lower() in known:  # "eighty" of "eighty firefighters"
                words.pop()
            span = " ".join(words)
            stems = set(content_stems(span))
            if set(tokens(span)) - known and stems and not stems & asked:
                apart = [max(place - start - len(span), start - place, 0) for place in places]
                fresh.append((min(apart, default=0), start, span))
        if fresh:
            return min(fresh)[2]
    return None
