"""The numbers of a trained TF-IDF + logistic regression model: how they are trained, kept, read and applied.

Applying the model needs neither scikit-learn nor a matrix: a text's margin is a sum over its known terms, which gives
the same probability whatever else is in the batch, and starts at once in every worker.
"""

import io
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

from audit.corpora.cache import write_whole

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


def write(model: Model, folder: Path, name: str) -> None:
    """Keep a model as `name.npz` and `name.json`; the JSON comes last and holds the other's hash. Raises OSError."""
    import numpy as np

    buffer = io.BytesIO()
    np.savez(
        buffer,
        terms=np.frombuffer("\n".join(model.terms).encode("utf-8"), dtype=np.uint8),
        idf=np.array(model.idf),
        weights=np.array(model.weights),
        intercept=np.array(model.intercept),
    )
    content = buffer.getvalue()
    about = {**model.about, "blake2b": blake2b(content, digest_size=16).hexdigest()}
    write_whole(folder / f"{name}.npz", content)
    write_whole(folder / f"{name}.json", json.dumps(about, indent=2, sort_keys=True).encode("utf-8"))


def read(folder: Path, name: str) -> Model | None:
    """The kept model, None where there is none. Raises ValueError when its files are damaged."""
    import numpy as np

    try:
        about = json.loads((folder / f"{name}.json").read_text("utf-8"))
        content = (folder / f"{name}.npz").read_bytes()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        raise ValueError(f"unreadable: {problem}") from problem
    if not isinstance(about, dict) or about.get("blake2b") != blake2b(content, digest_size=16).hexdigest():
        raise ValueError("its content is not what was written")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        terms = tuple(arrays["terms"].tobytes().decode("utf-8").split("\n"))
        idf, weights = tuple(arrays["idf"].tolist()), tuple(arrays["weights"].tolist())
        return Model(terms, idf, weights, float(arrays["intercept"]), about)
