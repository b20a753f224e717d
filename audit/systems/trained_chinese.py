"""What the Chinese classifiers share: trained once on the rows of a corpus that never become sources, kept as arrays,
and linear, so that the same text has the same output whatever else is in its batch.

A classifier gives each label a margin. The output's label is that of the highest one, the first of the scheme among
equals; its score is that margin's part of a softmax. The score grows with the distance to the other labels, and is a
probability only where the kind of classifier makes it one.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.corpora import envtext, get_corpus, inews
from audit.corpora.cache import folder
from audit.errors import BadFile
from audit.kept_arrays import Kept, made_once, say, texts_of
from audit.keys import canonical, fingerprint
from audit.systems.installed import missing, package_version
from audit.tasks import Input, Output, get_task

if TYPE_CHECKING:
    import numpy as np

_TRAINING: Mapping[str, Callable[[], Iterator[tuple[str, str]]]] = {
    "inews": inews.training_rows,
    "climate-topics": envtext.training_rows,
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
        return (values[:, None] * self.weights[list(terms)]).sum(axis=0) + self.intercept


class Classifier(ABC):
    """A kind of classifier for one label scheme; `name` is of both."""

    kind: str
    about: str
    """What it is, for the summary."""
    training: Mapping[str, object]
    """What the model depends on beside the data; part of the version."""
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
        return missing("sklearn", "pip install scikit-learn")

    def prepare(self) -> None:
        self._model()

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        model = self._model()
        return [self._output(margins) for margins in self.margins(model, [one.text for one in inputs])]

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
        found = [self._output(one) for one in self.margins(Model(Kept(arrays, {})), [row.input.text for row in rows])]
        right = sum(output.label == row.gold for output, row in zip(found, rows, strict=True))
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
    return Model(made_once(system.name, version, cache, system.trained))
