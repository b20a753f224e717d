"""TF-IDF and logistic regression, trained once on the IMDB documents that never become sources."""

import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from audit.corpora import movie_reviews
from audit.corpora.cache import folder
from audit.kept_arrays import made_once, say
from audit.keys import canonical, fingerprint
from audit.systems import tfidf_model
from audit.systems.installed import missing, package_version
from audit.tasks import Input, Output


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
        return movie_reviews.needs() or missing("sklearn", "pip install scikit-learn")

    def prepare(self) -> None:
        _model(self.version, folder())

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        model = _model(self.version, folder())
        return [self._output(model.positive(one.text)) for one in inputs]

    def _output(self, positive: float) -> Output:
        margin = abs(2 * positive - 1)
        if margin < self._neutral:
            return Output("neutral", 1 - margin)
        return Output("positive", positive) if positive > 0.5 else Output("negative", 1 - positive)


@lru_cache(maxsize=1)
def _version() -> str:
    """Names what the model is made from (0.1 s: it hashes the training data), or "absent"."""
    if movie_reviews.needs():
        return "absent"
    rule = f"reserved {movie_reviews.RESERVED_SHARE} {movie_reviews.MovieReviews.version}"
    made_from = movie_reviews.content_fingerprint(), rule, canonical(dict(tfidf_model.TRAINING))
    return fingerprint([*made_from, package_version("scikit-learn")])


@lru_cache(maxsize=2)
def _model(version: str, cache: Path) -> tfidf_model.Model:
    """The model from the cache (0.3 s), trained and kept there when it is absent or damaged (about a minute)."""
    return tfidf_model.Model.of(made_once("tfidf-logreg", version, cache, lambda: _trained().as_kept()))


def _trained() -> tfidf_model.Model:
    started = time.monotonic()
    texts, golds = zip(*movie_reviews.training_documents(), strict=True)
    say(f"training tfidf-logreg on {len(texts):,} documents, about a minute, once")
    settings = dict(tfidf_model.TRAINING)
    about = {"documents": len(texts), "training": settings, "scikit-learn": package_version("scikit-learn")}
    model = tfidf_model.train(texts, [gold == "positive" for gold in golds], about)
    right = total = 0
    for row in movie_reviews.Imdb().rows():
        # Every fifth document that trained nothing: 2,000 are enough for two digits.
        if int(row.key) % 5 == 0:
            total += 1
            right += (model.positive(row.input.text) > 0.5) == (row.gold == "positive")
    seconds = time.monotonic() - started
    say(f"trained tfidf-logreg in {seconds:.0f} s; right on {right / total:.1%} of {total:,} documents it never saw")
    return tfidf_model.Model(
        model.terms,
        model.idf,
        model.weights,
        model.intercept,
        {**about, "held_out": total, "held_out_accuracy": round(right / total, 4), "seconds": round(seconds, 1)},
    )
