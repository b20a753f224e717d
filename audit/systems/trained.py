"""Baselines of the user's own labels: `logreg:FILE.csv` and `centroid:FILE.csv`, trained on labelled texts, and
`keywords:FILE.toml`, nothing but words.

A file of texts has the columns `text` and `gold`, and `text_b` where the texts are pairs; each row has one label. A
model is trained once in each process, from the file: no model is stored.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from audit.corpora.files import FileCorpus
from audit.errors import BadFile
from audit.files import read_text, toml_of
from audit.keys import canonical, fingerprint
from audit.systems.base import Ready, missing, package_version
from audit.tasks import TASKS, Input, Output, get_task
from audit.tasks.classification import SCHEMES
from audit.user_models import refuse

_TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+(?:'[^\W\u3040-\u30ff\u3400-\u9fff]+)*"
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_HELP = 'write a line such as billing = ["invoice", "refund*"] for each label'


def tokens(text: str) -> list[str]:
    """Return the words of a text in lower case; Chinese and Japanese characters are words.

    >>> tokens("It isn’t 5 o'clock."), tokens("去 ABC")
    (['it', "isn't", '5', "o'clock"], ['去', 'abc'])
    """
    return _TOKEN.findall(text.lower().replace("’", "'"))


def _tasks_with(labels: Sequence[str], number: int) -> dict[str, dict[str, str]]:
    """Return the tasks on so many texts that have all of these labels, and how each spells them; of a single text any
    labels are a scheme of classification."""
    schemes = [f"classification/{scheme}" for scheme in SCHEMES] if number == 1 else []
    spellings: dict[str, dict[str, str]] = {}
    for name in [*(name for name in TASKS.names() if TASKS.get(name).labels), *schemes]:
        task = get_task(name)
        own = {label.casefold(): label for label in task.labels}
        is_classifier = task.question_kind == "input" and name != "similarity"
        if task.texts == number and is_classifier and all(label.casefold() in own for label in labels):
            spellings[name] = {label: own[label.casefold()] for label in labels}
    return spellings


class Labelled(NamedTuple):
    """Texts with a label each, as a file has them; `tasks` are those whose labels these are."""

    texts: tuple[tuple[str, ...], ...]
    golds: tuple[str, ...]
    tasks: tuple[str, ...]
    fingerprint: str


@lru_cache(maxsize=8)
def labelled(path: Path, _changed: int) -> Labelled:
    """Return the labelled texts of a CSV, TSV or JSONL file that changed then; a task's own spelling of labels comes
    before the file's. Raises BadFile and BadRow."""
    corpus = FileCorpus(path, "classification", "sentence")
    rows = list(corpus.rows())
    if bare := next((row.key for row in rows if row.gold is None), None):
        raise BadFile(f"{path}: row {bare} has no gold; a system is trained on rows with a label, so take it out")
    seconds = [row.attributes.get("text_b", "").strip() for row in rows]
    if any(seconds) and not all(seconds):
        raise BadFile(f"{path}: row {rows[seconds.index('')].key} has no text_b, and others do; give it one")
    golds = [str(row.gold) for row in rows]
    tasks_there = _tasks_with(tuple(dict.fromkeys(golds)), 2 if any(seconds) else 1)
    if not tasks_there and any(seconds):
        raise BadFile(f"{path}: no task on pairs, such as inference, has the labels {', '.join(sorted(set(golds)))}")
    spelling = list(tasks_there.values())[-1] if tasks_there else {gold: gold for gold in golds}
    scheme = [] if any(seconds) else [f"classification/{','.join(sorted(set(spelling.values())))}"]
    texts = tuple((row.input.text, *filter(None, [second])) for row, second in zip(rows, seconds, strict=True))
    tasks = tuple(dict.fromkeys([*tasks_there, *scheme]))
    return Labelled(texts, tuple(spelling[gold] for gold in golds), tasks, corpus.fingerprint())


class Logreg:
    """The systems `logreg:FILE`: TF-IDF of words and pairs of neighbours, and multinomial logistic regression.

    Of a pair the terms are those of the second text, and once more its words that the first has not; and `pair_traits`.
    The score is the model's probability. Raises what `labelled` raises.
    """

    kind = "logreg"
    about = "TF-IDF of words and logistic regression (scikit-learn)"
    training: Mapping[str, object] = {"terms": "1-2 words, lower case", "min_df": 1, "tf": "1 + ln", "C": 10.0}

    def __init__(self, path: str | Path, name: str = "", languages: tuple[str, ...] = ("*",)):
        self._path = Path(path)
        changed = self._path.stat().st_mtime_ns if self._path.is_file() else 0  # reading it says what is wrong
        self._file = file = labelled(self._path, changed)
        self.name, self.languages, self.tasks = name or f"{self.kind}:{self._path.name}", languages, file.tasks
        self.summary = f"{self.about}, trained on {len(file.golds):,} labelled texts"
        self.labels = sorted(set(file.golds))
        self.settings: Mapping[str, object] = {"labels": self.labels, **self.training}
        made_from = self.kind, file.fingerprint, canonical(dict(self.training))
        self.version = "absent" if self.needs() else fingerprint([*made_from, package_version("scikit-learn")])

    def needs(self) -> str | None:
        return missing("sklearn", "pip install 'audit[english]'")

    def prepare(self) -> None:
        self._model  # noqa: B018

    def trained_on(self, item: Input) -> bool:
        """Return whether these texts are among those that it was trained on, apart from capitals, marks and spaces:
        what it says of them says nothing about others."""
        return _folded(item.texts) in self._known

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        vectorizer, classifier = self._model
        texts = [item.texts for item in inputs]
        shares = self.shares(classifier, self._features(vectorizer.transform(texts), texts))
        return [Output(self.labels[row.argmax()], min(1.0, float(row.max()))) for row in shares]

    def terms(self, texts: Sequence[str]) -> list[str]:
        """Return the terms of a text or pair, each as often as it is there."""
        words = tokens(texts[-1])
        of_first = set(tokens(texts[0]))
        return [*words, *map(" ".join, pairwise(words)), *(f"{word} ∉" for word in words if word not in of_first)]

    def traits(self, texts: Sequence[str]) -> list[float]:
        """Return what else is known of a pair, as numbers of about 0 to 1; nothing of a single text."""
        return pair_traits(*texts) if len(texts) == 2 else []

    def fit(self, features: Any, golds: Sequence[str]) -> Any:
        """Return what `shares` needs, from a matrix (texts, features) and the texts' labels."""
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=float(str(self.training["C"])), max_iter=2_000).fit(features, golds)

    def shares(self, fitted: Any, features: Any) -> Any:
        """Return a matrix (texts, labels) whose rows sum to 1; a row depends on no other."""
        return fitted.predict_proba(features)

    @cached_property
    def _model(self) -> tuple[Any, Any]:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(analyzer=self.terms, sublinear_tf=True)
        try:
            matrix = vectorizer.fit_transform(self._file.texts)
        except ValueError as problem:
            no_term = f"its texts have no term in common to learn from ({problem})"
            raise BadFile(f"{self._path}: {no_term}; add rows") from None
        return vectorizer, self.fit(self._features(matrix, self._file.texts), self._file.golds)

    def _features(self, matrix: Any, texts: Sequence[Sequence[str]]) -> Any:
        from scipy.sparse import csr_matrix, hstack

        traits = [self.traits(of_input) for of_input in texts]
        return hstack([matrix, csr_matrix(traits)]).tocsr() if any(traits) else matrix

    @cached_property
    def _known(self) -> frozenset[tuple[str, ...]]:
        return frozenset(map(_folded, self._file.texts))


def _folded(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple("".join(filter(str.isalnum, text.casefold())) for text in texts)


def pair_traits(first: str, second: str) -> list[float]:
    """Return the share of the second text's words that are in the first, the share of all words that both have, the
    length of the second for that of the first (at most 2), and whether the second has a number that the first has not.

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


class Centroid(Logreg):
    """The systems `centroid:FILE`: the label whose texts' mean vector is nearest, by the cosine of TF-IDF of runs of
    two to four characters; it hardly minds typing errors. Of a pair the runs of both texts count, apart. The score is a
    softmax of ten times the cosines, and no probability."""

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

    def traits(self, texts: Sequence[str]) -> list[float]:
        return []

    def fit(self, features: Any, golds: Sequence[str]) -> Any:
        import numpy as np

        places = np.array([self.labels.index(gold) for gold in golds])
        means = np.vstack([np.asarray(features[places == place].mean(axis=0)) for place in range(len(self.labels))])
        return 10 * (means / np.linalg.norm(means, axis=1, keepdims=True)).T

    def shares(self, fitted: Any, features: Any) -> Any:
        from scipy.special import softmax

        return softmax(features @ fitted, axis=1)


class Keywords(Ready):
    """The system `keywords:FILE.toml`: the label with the most of its words in the text; `name` is another one for it.

    The file has a list of words or phrases for each label, `billing = ["invoice", "refund*", "charged twice"]`; a `*`
    at the end stands for any letters, and a label without words is that of a text with none of the others'. Capitals do
    not matter; words with letters of an alphabet stand alone in the text. Of labels with equally many the first of the
    file is the output. The score is the label's share of all that were found; where none was, 1 / (number of labels).
    """

    def __init__(self, path: str | Path, name: str = "", languages: tuple[str, ...] = ("*",)):
        path = Path(path)
        words = toml_of(path, read_text(path), _HELP)
        for label, of_label in words.items():
            is_list = isinstance(of_label, list) and all(
                isinstance(word, str) and word.strip(" *") for word in of_label
            )
            if not is_list or not label.strip() or "," in label:
                refuse(path, [(label, f"must be a list of words in quotes, of a label without commas; {_HELP}")])
        if len({label.casefold() for label in words}) < max(2, len(words)) or not any(words.values()):
            raise BadFile(f"{path}: must have two labels or more, each written once, and a word; {_HELP}")
        self.name, self.languages = name or f"keywords:{path.name}", languages
        exact = [task for task, own in _tasks_with(tuple(words), 1).items() if list(own.values()) == list(words)]
        self.tasks = (*exact, f"classification/{','.join(sorted(words))}")
        self.summary = f"the label with the most of {sum(map(len, words.values()))} words in the text"
        self.settings: Mapping[str, object] = {"labels": list(words)}
        # The number counts up whenever the same words give another output.
        self.version = fingerprint(["1", canonical(list(map(list, words.items())))])
        # Of the words of a label the longest first: what a phrase has counts once.
        self._patterns = {
            label: re.compile("|".join(map(_spelled, sorted(of_label, key=len, reverse=True))))
            for label, of_label in words.items()
            if of_label
        }
        otherwise = next((label for label, of_label in words.items() if not of_label), next(iter(words)))
        self._otherwise = Output(otherwise, 1 / len(words))

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [self._output(item.text) for item in inputs]

    def _output(self, text: str) -> Output:
        plain = " ".join(text.casefold().replace("’", "'").split())
        hits = {label: len(pattern.findall(plain)) for label, pattern in self._patterns.items()}
        best, total = max(hits, key=hits.__getitem__), sum(hits.values())
        return Output(best, hits[best] / total) if total else self._otherwise


def _spelled(word: str) -> str:
    stem = " ".join(word.casefold().replace("’", "'").rstrip("* ").split())
    begin, end = (r"\b" if letter.isascii() and re.match(r"\w", letter) else "" for letter in (stem[0], stem[-1]))
    return f"{begin}{re.escape(stem)}{'' if word.rstrip().endswith('*') else end}"
