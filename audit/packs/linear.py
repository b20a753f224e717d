"""Linear classifiers of one text, trained once on rows that never become sources, and kept as arrays in the cache.

Applying one needs no scikit-learn: a text's margins are sums over its known terms, so they are the same whatever else
is in its batch, and a worker starts at once.
"""

import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.corpora.base import Row
from audit.keys import canonical, fingerprint
from audit.model_cache import Kept, as_array, cached_model, say, texts_of
from audit.resources import cache_folder
from audit.systems.base import missing, package_version
from audit.tasks import Input, Output

if TYPE_CHECKING:
    import numpy as np


class Model:
    """What was kept: `weights` (features, labels) and `intercept` (labels); `terms` where features are counts of terms,
    and `idf` where counts are weighted (1 + ln) and rows have length 1."""

    def __init__(self, kept: Kept):
        arrays = kept.arrays
        self.weights, self.intercept, self.idf = arrays["weights"], arrays["intercept"], arrays.get("idf")
        self.places = {term: place for place, term in enumerate(texts_of(arrays["terms"]))} if "terms" in arrays else {}

    def margins(self, features: "Iterable[str] | np.ndarray") -> "np.ndarray | None":
        """Return one number a label, of a text's terms or of its vector; None where it has no known term."""
        import numpy as np

        if isinstance(features, np.ndarray):
            whole: np.ndarray = features @ self.weights + self.intercept
            return whole
        times = Counter(term for term in features if term in self.places)
        if not times:
            return None
        at, values = [self.places[term] for term in times], np.array(list(times.values()), dtype=float)
        if self.idf is not None:
            values = (1.0 + np.log(values)) * self.idf[at]
            values /= np.sqrt(values @ values)
        margins: np.ndarray = values @ self.weights[at] + self.intercept
        return margins


class Linear:
    """Base of such systems. A subclass says what it is trained on and how, and what the terms of a text are.

    The output's label is that of the highest margin, the first among equals; its score is that margin's part of a
    softmax. The version names the training data, the settings and the packages' versions.
    """

    name: str
    tasks: tuple[str, ...]
    languages: tuple[str, ...]
    labels: Sequence[str]
    training: Mapping[str, Any]
    """Settings of the training, part of the version."""
    packages: tuple[str, ...] = ("scikit-learn",)
    modules: tuple[str, ...] = ("sklearn",)
    install: str
    pace = "about a minute"
    prior = True
    """Whether a text without a known term gets the label that is more frequent; else all are equally likely."""

    def __init__(self) -> None:
        self.version = "absent"
        if not self.needs():
            made_from = self.made_from(), canonical(dict(self.training)), *map(package_version, self.packages)
            self.version = fingerprint([self.name, *made_from])

    @abstractmethod
    def made_from(self) -> str:
        """Return what names the training data."""

    @abstractmethod
    def features(self, text: str) -> "Iterable[str] | np.ndarray":
        """Return the terms of a text, each as often as it is there, or its vector."""

    @abstractmethod
    def training_rows(self) -> Iterable[tuple[str, str]]:
        """Yield (text, gold)."""

    @abstractmethod
    def held_out(self) -> Sequence[Row]:
        """Return rows with gold that trained nothing, on which a new model is tried."""

    @abstractmethod
    def classifier(self) -> Any:
        """Return scikit-learn's classifier, not yet fitted."""

    def needs(self) -> str | None:
        return next((line for module in self.modules if (line := missing(module, self.install))), None)

    def prepare(self) -> None:
        self.run([Input.of("")])

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        kind: Any = type(self)
        return self.outputs(_model(kind, self.name, self.version, cache_folder()), [item.text for item in inputs])

    def outputs(self, model: Model, texts: Sequence[str]) -> list[Output]:
        """Return the label of each text, and its score."""
        import numpy as np

        labelled = []
        for text in texts:
            margins = model.margins(self.features(text))
            if margins is None:
                margins = model.intercept * self.prior
            powers = np.exp(margins - margins.max())
            labelled.append(Output(self.labels[int(powers.argmax())], float(powers.max() / powers.sum())))
        return labelled

    def train(self, texts: Sequence[str], golds: Sequence[str]) -> Kept:
        """Return a model. One thread, no randomness: the same texts give the same arrays."""
        import numpy as np
        from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

        arrays: dict[str, np.ndarray] = {}
        settings, matrix = self.training, None
        if "min_df" in settings:
            least = min(settings["min_df"], max(1, len(texts) // 100))  # fewer where there are hardly any texts
            if "tf" in settings:
                most = settings["max_features"]
                vectorizer = TfidfVectorizer(analyzer=self.features, min_df=least, max_features=most, sublinear_tf=True)
            else:
                vectorizer = CountVectorizer(analyzer=self.features, min_df=least)
            matrix = vectorizer.fit_transform(texts)
            arrays["terms"] = as_array(tuple(vectorizer.get_feature_names_out().tolist()))
            arrays |= {"idf": np.array(vectorizer.idf_)} if "tf" in settings else {}
        places = [self.labels.index(gold) for gold in golds]
        fitted = self.classifier().fit(np.array(list(map(self.features, texts))) if matrix is None else matrix, places)
        weights = (fitted.coef_ if hasattr(fitted, "coef_") else fitted.feature_log_prob_).T
        intercept = np.array(getattr(fitted, "intercept_", np.zeros(weights.shape[1])))
        if len(self.labels) == 2:  # one margin, of the second label: softmax of (0, m) is its logistic function
            weights, intercept = (np.hstack([np.zeros_like(part), part]) for part in (weights, intercept))
        return Kept({**arrays, "weights": np.ascontiguousarray(weights), "intercept": intercept}, {})

    def trained(self) -> Kept:
        """Return a new model, tried on rows that it never saw. Takes `pace`, and says so on stderr."""
        started = time.monotonic()
        texts, golds = zip(*self.training_rows(), strict=True)
        say(f"training {self.name} on {len(texts):,} texts, {self.pace}, once")
        kept, rows = self.train(texts, golds), self.held_out()
        outputs = self.outputs(Model(kept), [row.input.text for row in rows])
        accuracy = sum(output.label == row.gold for output, row in zip(outputs, rows, strict=True)) / len(rows)
        seconds = time.monotonic() - started
        say(f"trained {self.name} in {seconds:.0f} s; right on {accuracy:.1%} of {len(rows):,} texts it never saw")
        about = {"texts": len(texts), "held_out": len(rows), "held_out_accuracy": round(accuracy, 4)}
        return Kept(kept.arrays, about | {"training": dict(self.training), "seconds": round(seconds, 1)})


@lru_cache(maxsize=4)
def _model(kind: Any, name: str, version: str, cache: Path) -> Model:
    """Return the model from the cache, trained and kept there when it is absent or damaged."""
    return Model(cached_model(name, version, cache, kind().trained))
