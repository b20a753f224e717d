"""A baseline of nothing but words, for any scheme of labels: `keywords:FILE.toml`.

The file has a list of words or phrases for each label:

    billing = ["invoice", "refund*", "charged twice"]
    delivery = ["parcel", "courier"]
    other = []

The label with the most of its words in the text is the output. A `*` at the end stands for any letters. A label without
words is that of a text with none of the others'.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from audit.errors import BadFile
from audit.files import read_text, toml_of
from audit.keys import canonical, fingerprint
from audit.systems.trained import says_labels
from audit.tasks import TASKS, Input, Output, get_task
from audit.tasks.classification import SCHEMES

_HELP = 'write a line such as billing = ["invoice", "refund*"] for each label'
_VERSION = "1"
"""Counts up whenever the same words give another output."""


class Keywords:
    """The system `keywords:FILE.toml`; `name` is another one for it.

    Capitals do not matter; words with letters of an alphabet stand alone in the text. Each place in the text counts
    once for a label. Of labels with equally many the first of the file is the output. The score is the label's share of
    all that were found; where none was, 1 / (number of labels). Raises BadFile.
    """

    def __init__(self, path: str | Path, name: str = "", languages: tuple[str, ...] = ("*",)):
        self._path = Path(path)
        self._words = read_words(self._path)
        self.name = name or f"keywords:{self._path.name}"
        self.languages = languages
        self.tasks = _tasks(tuple(self._words))
        self.summary = f"the label with the most of {sum(map(len, self._words.values()))} words in the text"
        self.settings: Mapping[str, object] = {"labels": list(self._words)}
        self.version = fingerprint([_VERSION, canonical(list(map(list, self._words.items())))])

    def needs(self) -> str | None:
        return None

    def prepare(self) -> None:
        """There is nothing to load."""

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        return [self._output(item.text) for item in inputs]

    @cached_property
    def _patterns(self) -> dict[str, re.Pattern[str]]:
        return {label: _pattern(words) for label, words in self._words.items() if words}

    def _output(self, text: str) -> Output:
        plain = " ".join(text.casefold().replace("’", "'").split())
        hits = {label: sum(1 for _ in pattern.finditer(plain)) for label, pattern in self._patterns.items()}
        total = sum(hits.values())
        if not total:
            otherwise = next((label for label, words in self._words.items() if not words), next(iter(self._words)))
            return Output(otherwise, 1 / len(self._words))
        best = max(hits, key=hits.__getitem__)
        return Output(best, hits[best] / total)


def read_words(path: Path) -> dict[str, tuple[str, ...]]:
    """The words of each label, in the order of the file. Raises BadFile, which names the label."""
    content = toml_of(path, read_text(path), _HELP)
    for label, words in content.items():
        if not isinstance(words, list) or not all(isinstance(word, str) and word.strip(" *") for word in words):
            raise BadFile(f"{path}: {label}: must be a list of words in quotes; {_HELP}")
        if not label.strip() or "," in label:
            raise BadFile(f"{path}: {label!r} is no label; a label has a letter and no comma")
    spelled: dict[str, str] = {}
    for label in content:
        if (other := spelled.setdefault(label.casefold(), label)) != label:
            raise BadFile(f"{path}: {other} and {label} are one label, written in two ways; write it once")
    if len(content) < 2:
        raise BadFile(f"{path}: has {len(content)} of the two labels or more that it needs; {_HELP}")
    if not any(content.values()):
        raise BadFile(f"{path}: no label has a word; {_HELP}")
    return {label: tuple(words) for label, words in content.items()}


@lru_cache(maxsize=8)
def _tasks(labels: tuple[str, ...]) -> tuple[str, ...]:
    """The tasks on one text that have all of these labels."""
    names = [
        *(name for name in TASKS.names() if TASKS.get(name).labels),
        *(f"classification/{name}" for name in SCHEMES),
    ]
    known = [name for name in names if (task := get_task(name)).texts == 1 and says_labels(task)]
    fit = [name for name in known if set(labels) <= set(get_task(name).labels)]
    return (*fit, f"classification/{','.join(sorted(labels))}")


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    """Any of the words, the longest first: what a phrase has counts once."""
    return re.compile("|".join(map(_spelled, sorted(words, key=len, reverse=True))))


def _spelled(word: str) -> str:
    stem = " ".join(word.casefold().replace("’", "'").rstrip("* ").split())
    begin = r"\b" if stem[0].isascii() else ""
    end = "" if word.rstrip().endswith("*") or not stem[-1].isascii() else r"\b"
    if not re.match(r"\w", stem[0]):
        begin = ""
    if not re.match(r"\w", stem[-1]):
        end = ""
    return f"{begin}{re.escape(stem)}{end}"
