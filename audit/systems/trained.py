"""Baselines that are trained on the user's own labelled texts: `logreg:FILE.csv` and `centroid:FILE.csv`.

The file has the columns `text` and `gold`, and `text_b` where the texts are pairs; each row has one label. What is
trained does every task whose labels these are. Both kinds are linear in terms of the texts, and a text's margins are
added up term after term: the same text has the same output whatever else is in its batch. A model is trained once and
kept in the cache, by the content of the file, the settings and scikit-learn's version.
"""

import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.corpora.base import folder
from audit.corpora.files import FileCorpus
from audit.errors import BadFile, BadOutput
from audit.keys import canonical, fingerprint
from audit.model_cache import Kept, as_array, cached_model, texts_of
from audit.systems.base import missing, package_version
from audit.tasks import TASKS, Input, Output, Task, get_task
from audit.tasks.classification import SCHEMES

if TYPE_CHECKING:
    import numpy as np

_TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+(?:'[^\W\u3040-\u30ff\u3400-\u9fff]+)*"
)
"""A word with its apostrophes; in Chinese and Japanese a character."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_SECOND = "text_b"


def tokens(text: str) -> list[str]:
    """The words of a text in lower case; Chinese and Japanese characters are words.

    >>> tokens("It isn’t 5 o'clock."), tokens("去 ABC")
    (['it', "isn't", '5', "o'clock"], ['去', 'abc'])
    """
    return _TOKEN.findall(text.lower().replace("’", "'"))


# The user's file: which texts, which labels, and which tasks have these labels.


@dataclass(frozen=True)
class Labelled:
    """Texts with a label each, as a file has them; `tasks` are those whose labels these are."""

    texts: tuple[tuple[str, ...], ...]
    golds: tuple[str, ...]
    tasks: tuple[str, ...]
    fingerprint: str

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, sorted."""
        return tuple(sorted(set(self.golds)))


@lru_cache(maxsize=8)
def labelled(path: Path, _changed: int) -> Labelled:
    """The labelled texts of a CSV, TSV or JSONL file; `_changed` is when it was, so that it is read again after that.

    Raises BadFile and BadRow as `FileCorpus` does, and BadFile for rows without a label or for labels that no task on
    pairs has.
    """
    corpus = FileCorpus(path, "classification", "sentence")
    rows = list(corpus.rows())
    bare = [row.key for row in rows if row.gold is None]
    if bare:
        raise BadFile(f"{path}: row {bare[0]} has no gold; a system is trained on rows with a label, so take it out")
    seconds = [row.attributes.get(_SECOND, "").strip() for row in rows]
    if any(seconds) and not all(seconds):
        raise BadFile(f"{path}: row {rows[seconds.index('')].key} has no {_SECOND}, and others do; give it one")
    pairs = any(seconds)
    golds = [str(row.gold) for row in rows]
    spelling, tasks = _tasks_of(path, tuple(dict.fromkeys(golds)), 2 if pairs else 1)
    return Labelled(
        tuple(
            (row.input.text, second) if pairs else (row.input.text,) for row, second in zip(rows, seconds, strict=True)
        ),
        tuple(spelling[gold] for gold in golds),
        tasks,
        corpus.fingerprint(),
    )


def _tasks_of(path: Path, golds: Sequence[str], number: int) -> tuple[dict[str, str], tuple[str, ...]]:
    """How each label is spelled, and the tasks on so many texts that have all of them. A task's own spelling comes
    before the file's."""
    schemes = [f"classification/{scheme}" for scheme in SCHEMES] if number == 1 else []
    names = [name for name in TASKS.names() if TASKS.get(name).labels] + schemes
    tasks, spelling = [], {gold: gold for gold in golds}
    for name in names:
        task = get_task(name)
        own = {label.casefold(): label for label in task.labels}
        if task.texts == number and says_labels(task) and all(gold.casefold() in own for gold in golds):
            tasks.append(name)
            spelling = {gold: own[gold.casefold()] for gold in golds}
    if number == 1:
        tasks.append(f"classification/{','.join(sorted(set(spelling.values())))}")
    if not tasks:
        known = [f"{name} ({', '.join(get_task(name).labels)})" for name in names if get_task(name).texts == number]
        raise BadFile(
            f"{path}: no task on pairs has the labels {', '.join(sorted(golds))}; there are {'; '.join(known)}"
        )
    return spelling, tuple(dict.fromkeys(tasks))


def says_labels(task: Task) -> bool:
    """Whether an output of the task is a label with a confidence, as a classifier gives it (a similarity is a number).

    >>> says_labels(get_task("sentiment")), says_labels(get_task("similarity")), says_labels(get_task("translation"))
    (True, False, False)
    """
    if task.question_kind != "input":
        return False
    try:
        return all(task.checked(Output(label, 1.0)).label == label for label in task.labels)
    except BadOutput:
        return False


# What both kinds share.


@dataclass(frozen=True, eq=False)
class Model:
    """Arrays of a linear model: `terms`, their `idf` (terms,), `weights` (features, labels) and `intercept` (labels,).
    Features are the terms and, behind them, the traits of a pair."""

    kept: Kept

    @cached_property
    def rows(self) -> dict[str, int]:
        """term -> its row of `weights`."""
        return {term: row for row, term in enumerate(texts_of(self.kept.arrays["terms"]))}

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return texts_of(self.kept.arrays["labels"])

    def margins(self, terms: Sequence[str], traits: Sequence[float]) -> "np.ndarray":
        """Margin of each label. Terms count 1 + ln(times), times their idf, with length 1 together."""
        import numpy as np

        arrays, rows = self.kept.arrays, self.rows
        counts = {rows[term]: times for term, times in Counter(terms).items() if term in rows}
        values = {row: (1 + math.log(times)) * float(arrays["idf"][row]) for row, times in counts.items()}
        length = math.sqrt(math.fsum(value * value for value in values.values())) or 1.0
        features = {row: value / length for row, value in values.items()}
        features |= {len(rows) + place: trait for place, trait in enumerate(traits)}
        weights = arrays["weights"][list(features)]
        margins: np.ndarray = (np.fromiter(features.values(), float, len(features))[:, None] * weights).sum(axis=0)
        total: np.ndarray = margins + arrays["intercept"]
        return total


class Trained(ABC):
    """A kind of baseline, trained on a file: `kind(FILE)`. Raises what `labelled` raises."""

    kind: str
    about: str
    training: Mapping[str, object]
    """Settings of the training; part of the version."""
    languages: tuple[str, ...] = ("*",)

    def __init__(self, path: str | Path, name: str = "", languages: tuple[str, ...] = ("*",)):
        self._path = Path(path)
        self._file = labelled(self._path, _changed_at(self._path))
        self.name = name or f"{self.kind}:{self._path.name}"
        self.languages = languages
        self.tasks = self._file.tasks
        self.summary = f"{self.about}, trained on {len(self._file.golds):,} labelled texts"
        self.settings: Mapping[str, object] = {"labels": list(self._file.labels), **self.training}
        made_from = self.kind, self._file.fingerprint, canonical(dict(self.training))
        self.version = "absent" if self.needs() else fingerprint([*made_from, package_version("scikit-learn")])

    def needs(self) -> str | None:
        return missing("sklearn", "pip install 'audit[english]'")

    def prepare(self) -> None:
        self._model()

    def trained_on(self, item: Input) -> bool:
        """Whether these texts are among those that it was trained on, apart from capitals, marks and spaces: what it
        says of them says nothing about others."""
        return tuple(map(_folded, item.texts)) in self._known

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        model = self._model()
        return [self._output(model, item.texts) for item in inputs]

    @abstractmethod
    def terms(self, texts: Sequence[str]) -> list[str]:
        """The terms of a text or pair, each as often as it is there."""

    @abstractmethod
    def fit(self, features: Any, places: "np.ndarray") -> tuple["np.ndarray", "np.ndarray"]:
        """(weights, intercept) from a matrix (texts, features) and the place of each text's label."""

    def traits(self, texts: Sequence[str]) -> list[float]:
        """What else is known of a pair, as numbers of about 0 to 1; nothing of a single text."""
        return []

    def train(self) -> Kept:
        """A new model. The same file gives the same one."""
        import numpy as np
        from scipy.sparse import csr_matrix, hstack
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(analyzer=self.terms, sublinear_tf=True, min_df=int(str(self.training["min_df"])))
        try:
            matrix = vectorizer.fit_transform(self._file.texts)
        except ValueError as problem:
            raise BadFile(
                f"{self._path}: its texts have no term in common to learn from ({problem}); add rows"
            ) from None
        traits = np.array([self.traits(texts) for texts in self._file.texts])
        labels = self._file.labels
        places = np.array([labels.index(gold) for gold in self._file.golds])
        weights, intercept = self.fit(hstack([matrix, csr_matrix(traits)]).tocsr() if traits.size else matrix, places)
        arrays = {
            "terms": as_array(tuple(vectorizer.get_feature_names_out().tolist())),
            "labels": as_array(labels),
            "idf": vectorizer.idf_,
            "weights": np.ascontiguousarray(weights),
            "intercept": intercept,
        }
        return Kept(arrays, {"texts": len(places), "training": dict(self.training)})

    @cached_property
    def _known(self) -> frozenset[tuple[str, ...]]:
        return frozenset(tuple(map(_folded, texts)) for texts in self._file.texts)

    def _model(self) -> Model:
        return _models(type(self), self._path, self.version, folder())

    def _output(self, model: Model, texts: Sequence[str]) -> Output:
        import numpy as np

        margins = model.margins(self.terms(texts), self.traits(texts))
        powers = np.exp(margins - margins.max())
        place = int(margins.argmax())
        return Output(model.labels[place], float(powers[place] / powers.sum()))


def _changed_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0  # reading it says what is wrong


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


@lru_cache(maxsize=8)
def _models(kind: type[Trained], path: Path, version: str, cache: Path) -> Model:
    """The model from the cache, trained and kept there when it is absent or damaged."""
    return Model(cached_model(kind.kind, version, cache, lambda: kind(path).train()))


# The two kinds.


class Logreg(Trained):
    """The systems `logreg:FILE`: TF-IDF of words and pairs of neighbours, and multinomial logistic regression.

    Of a pair the terms are those of the second text, and once more its words that the first has not; and traits: which
    share of the second's words the first has, how alike the two are in words and length, whether the second has numbers
    that the first has not. The score is the model's probability.
    """

    kind = "logreg"
    about = "TF-IDF of words and logistic regression (scikit-learn)"
    training: Mapping[str, object] = {"terms": "1-2 words, lower case", "min_df": 1, "tf": "1 + ln", "C": 10.0}

    def terms(self, texts: Sequence[str]) -> list[str]:
        words = tokens(texts[-1])
        both = [*words, *map(" ".join, pairwise(words))]
        if len(texts) == 1:
            return both
        known = set(tokens(texts[0]))
        return [*both, *(f"{word} ∉" for word in words if word not in known)]

    def traits(self, texts: Sequence[str]) -> list[float]:
        return pair_traits(*texts) if len(texts) == 2 else []

    def fit(self, features: Any, places: "np.ndarray") -> tuple["np.ndarray", "np.ndarray"]:
        import numpy as np
        from sklearn.linear_model import LogisticRegression

        regression = LogisticRegression(C=float(str(self.training["C"])), max_iter=2_000)
        regression.fit(features, places)
        weights, intercept = regression.coef_, regression.intercept_
        if len(regression.classes_) == 2:  # the logarithm of the odds of the second label
            weights, intercept = np.vstack([0 * weights, weights]), np.concatenate([0 * intercept, intercept])
        return weights.T, intercept


def pair_traits(first: str, second: str) -> list[float]:
    """Share of the second text's words that are in the first, share of all words that both have, length of the second
    for that of the first (at most 2), and whether the second has a number that the first has not.

    >>> pair_traits("It cost 5 euros.", "It cost 6 euros.")
    [0.75, 0.6, 1.0, 1.0]
    """
    words, others = set(tokens(first)), set(tokens(second))
    return [
        len(words & others) / max(1, len(others)),
        len(words & others) / max(1, len(words | others)),
        min(2.0, len(tokens(second)) / max(1, len(tokens(first)))),
        float(bool(set(_NUMBER.findall(second)) - set(_NUMBER.findall(first)))),
    ]


class Centroid(Trained):
    """The systems `centroid:FILE`: the label whose texts' mean vector is nearest, by the cosine of TF-IDF of runs of
    two to four characters.

    It knows no words, and so hardly minds typing errors. Of a pair the runs of both texts count, apart. The score is a
    softmax of ten times the cosines, and no probability.
    """

    kind = "centroid"
    about = "nearest mean of TF-IDF of 2-4 characters (scikit-learn)"
    training: Mapping[str, object] = {"terms": "2-4 characters, lower case, single spaces", "min_df": 1, "tf": "1 + ln"}

    def terms(self, texts: Sequence[str]) -> list[str]:
        runs = []
        for place, text in enumerate(texts):
            line = f" {' '.join(text.lower().split())} "
            mark = f"{place}:" if len(texts) > 1 else ""
            runs += [mark + line[at : at + size] for size in (2, 3, 4) for at in range(len(line) - size + 1)]
        return runs

    def fit(self, features: Any, places: "np.ndarray") -> tuple["np.ndarray", "np.ndarray"]:
        import numpy as np

        means = np.vstack([np.asarray(features[places == place].mean(axis=0)) for place in range(places.max() + 1)])
        return 10 * (means / np.linalg.norm(means, axis=1, keepdims=True)).T, np.zeros(len(means))
