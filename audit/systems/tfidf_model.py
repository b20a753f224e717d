"""The numbers of a trained TF-IDF + logistic regression model: how they are trained, kept, read and applied.

Applying the model needs neither scikit-learn nor a matrix: a text's margin is a sum over its known terms, which gives
the same probability whatever else is in the batch, and starts at once in every worker.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from audit.kept_arrays import Kept, as_array, texts_of

_PATTERN = r"\b\w+(?:'\w+)*\b"
_TOKEN = re.compile(_PATTERN)

TRAINING: Mapping[str, object] = {
    "token": _PATTERN,
    "terms": "1-2 words, lower-case",
    "min_df": 5,
    "max_features": 100_000,
    "tf": "1 + ln",
    "C": 10.0,
    "solver": "liblinear",
}


@dataclass(frozen=True)
class Model:
    """Terms with their inverse document frequencies and weights, an intercept, and how it was made (`about`)."""

    terms: tuple[str, ...]
    idf: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float
    about: Mapping[str, Any]

    @classmethod
    def of(cls, kept: Kept) -> "Model":
        """The model that `as_kept` was called of."""
        arrays = kept.arrays
        idf, weights = tuple(arrays["idf"].tolist()), tuple(arrays["weights"].tolist())
        return cls(texts_of(arrays["terms"]), idf, weights, float(arrays["intercept"]), kept.about)

    def as_kept(self) -> Kept:
        """The model as arrays, to be kept."""
        import numpy as np

        arrays = {"idf": np.array(self.idf), "weights": np.array(self.weights), "intercept": np.array(self.intercept)}
        return Kept({"terms": as_array(self.terms), **arrays}, self.about)

    @cached_property
    def _table(self) -> dict[str, tuple[float, float]]:
        return dict(zip(self.terms, zip(self.idf, self.weights, strict=True), strict=True))

    def positive(self, text: str) -> float:
        """The probability that the text is positive: scikit-learn's to 1e-12, but 0.5 for a text without a known term
        (scikit-learn would call an empty text what the training data have more of)."""
        words = _TOKEN.findall(text.lower().replace("’", "'"))
        table = self._table
        margin = square = 0.0
        for term, times in Counter([*words, *map(" ".join, pairwise(words))]).items():
            known = table.get(term)
            if known:
                value = (1.0 + math.log(times)) * known[0]
                margin += value * known[1]
                square += value * value
        return _logistic(margin / math.sqrt(square) + self.intercept if square else 0.0)


def _logistic(margin: float) -> float:
    if margin >= 0:
        return 1.0 / (1.0 + math.exp(-margin))
    power = math.exp(margin)
    return power / (1.0 + power)


def train(texts: Sequence[str], golds: Sequence[bool], about: Mapping[str, Any]) -> Model:
    """Fit on texts and whether each is positive. One thread, no randomness: the same texts give the same model."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = TfidfVectorizer(
        token_pattern=_PATTERN,
        preprocessor=lambda text: text.lower().replace("’", "'"),
        ngram_range=(1, 2),
        min_df=min(int(str(TRAINING["min_df"])), max(1, len(texts) // 100)),
        max_features=int(str(TRAINING["max_features"])),
        sublinear_tf=True,
    )
    matrix = vectorizer.fit_transform(texts)
    classifier = LogisticRegression(C=float(str(TRAINING["C"])), solver="liblinear", random_state=0)
    classifier.fit(matrix, golds)
    return Model(
        tuple(vectorizer.get_feature_names_out().tolist()),
        tuple(vectorizer.idf_.tolist()),
        tuple(classifier.coef_[0].tolist()),
        float(classifier.intercept_[0]),
        dict(about),
    )
