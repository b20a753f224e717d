"""The user's own texts: a table, checked as a whole before anything is used.

Columns: `text`, and for pairs of texts `text_b`, or what the task calls them (`premise` and `hypothesis`); optionally
`id`, `gold`, `language`, `document` (the id of the document a text was cut from), and for translation
`target_language`. Every other column is kept as an attribute, such as the `reference` of a text to summarize. A file
with other names or labels is read by a `Reading`, which is offered where one can be guessed and never taken unasked.
"""

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from audit.corpora.base import Row, Unit
from audit.corpora.foreign import refuse_other_languages
from audit.errors import AuditError, BadFile, BadRow
from audit.files import (
    LARGE,
    MISSING,
    as_text,
    is_table_name,
    plain_frame,
    read_pieces,
    refuse_bad_rows,
    refuse_no_file,
    unstorable,
)
from audit.keys import canonical, fingerprint, normal_text
from audit.messages import joined, message
from audit.tasks import (
    TASKS,
    Input,
    base_of,
    get_task,
    label_reader,
    labels_to_write,
    text_columns,
    text_names,
)
from audit.tasks.classification import MOST_TOGETHER, NONE_OF_THEM, SCHEMES
from audit.tasks.similarity import level_of
from audit.text import Analysis
from audit.text.languages import is_code

if TYPE_CHECKING:
    import pandas as pd


LONGEST = 1_000_000
"""Bytes of UTF-8 that one text may have: a longer one is a broken quotation mark, not a review."""
_LOOKED_AT = 200
_KNOWN = ("id", "gold", "language", "document")
_TARGET = "target_language"
_MOST_LABELS = 100
"""Labels of a scheme that is made from the gold labels of a file: where there are more, they are no labels."""


Gold = Callable[[str], "str | None"]
"""What a file says in its column `gold` -> the label it stands for, or None where it stands for none."""


CLUSTER = "cluster"
"""Another word for the column `document`."""
_TEXT_WORDS = (
    "text",
    "review",
    "sentence",
    "content",
    "body",
    "comment",
    "message",
    "tweet",
    "post",
    "premise",
    "context",
)
_GOLD_WORDS = ("gold", "label", "sentiment", "class", "category", "target", "topic", "rating", "stars", "answer", "y")
"""What columns of texts and of gold labels are often called: for guesses, which are offered and never taken."""
_LABEL_WORDS = {
    "positive": ("pos", "good", "正面", "积极"),
    "negative": ("neg", "bad", "负面", "消极"),
    "neutral": ("neu", "mixed", "中性"),
    "entailment": ("entail", "entails", "entailed", "e", "yes", "true"),
    "contradiction": ("contradict", "contradicts", "contradictory", "c", "no", "false"),
}
"""How labels of ours are often written, in small letters: for guesses as well."""
_NUMBERED: tuple[Mapping[float, str], ...] = (
    {0: "negative", 1: "positive"},
    {-1: "negative", 0: "neutral", 1: "positive"},
    {1: "negative", 2: "negative", 3: "neutral", 4: "positive", 5: "positive"},
)
"""What numbers stand for where a file has both ends of a scale, and no others."""


@dataclass(frozen=True)
class Reading:
    """How a file of somebody's is read: `columns` has our name -> the file's name of a column, `labels` has a label as
    the file writes it -> ours (empty: no gold).

    >>> Reading({"text": "review"}, {"pos": "positive"}).label("Pos")
    'positive'
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    def check(self, task: str) -> None:
        """Raise AuditError for a column that files do not have, and for a label that is none of the task's."""
        texts = text_columns(get_task(task).texts)
        allowed = (*texts, *text_names(get_task(task)), *_KNOWN, CLUSTER, _TARGET, "reference")
        for name in self.columns:
            if name not in allowed:
                raise AuditError(
                    message("corpus_file.unknown_column", column=name, allowed=allowed), parameter="columns"
                )
        if CLUSTER in self.columns and "document" in self.columns:
            raise AuditError(message("corpus_file.cluster_twice"), parameter="columns")
        taken = list(self.columns.values())
        if twice := next((name for name in taken if taken.count(name) > 1), None):
            raise AuditError(message("corpus_file.column_for_two", column=twice), parameter="columns")
        scheme = get_task(task).labels
        for written, label in self.labels.items():
            if label and scheme and label not in scheme:
                raise AuditError(
                    message("corpus_file.unknown_label", written=written, label=label, allowed=scheme),
                    parameter="labels",
                )

    def label(self, gold: str) -> str:
        """What a gold label of the file stands for: itself, where nothing else is said; empty: no gold."""
        by_word = {written.strip().casefold(): label for written, label in self.labels.items()}
        return by_word.get(gold.casefold(), gold)

    def refuse_unused_labels(self, path: Path, golds: Collection[str]) -> None:
        """Raise BadFile where no gold label of the file is one that was named."""
        present = {gold.casefold() for gold in golds}
        if absent := [name for name in self.labels if name.strip().casefold() not in present]:
            found = sorted(golds)[:_LOOKED_AT] or message("list.none")
            raise BadFile(
                message("corpus_file.no_such_label", file=path, label=absent[0], labels=found), parameter="labels"
            )

    def refuse_unused(self, path: Path, names: Sequence[str]) -> None:
        """Raise BadFile where the file has not the columns that were named."""
        present = {name.casefold() for name in names}
        if absent := [name for name in self.columns.values() if name.casefold() not in present]:
            raise BadFile(
                message("file.no_such_column", file=path, column=absent[0], columns=list(map(repr, names))),
                parameter="columns",
            )


AS_IT_IS = Reading()
"""Of a file with our names and labels."""


class _Names:
    """What the columns of a file stand for: ours may be written in any case, and those that a reading names; the texts
    of a pair may have the names that their task has for them."""

    def __init__(self, path: Path, written: Sequence[str], task: str, reading: Reading):
        self.texts = text_columns(get_task(task).texts)
        reading.refuse_unused(path, written)
        own = dict(zip(text_names(get_task(task)), self.texts, strict=False))
        ours = {
            theirs.casefold(): own.get(name, "document" if name == CLUSTER else name)
            for name, theirs in reading.columns.items()
        }
        plain = [name.casefold() for name in written if name.casefold() not in ours]
        aliases = own if not any(text in plain or text in ours.values() for text in self.texts) else {}
        self._ours = ours
        self._aliases = aliases

    def of(self, column: str) -> str:
        """Our name of a column; the user's own keep theirs. One that has a name of ours, which another column is read
        for, is an attribute."""
        name = column.casefold()
        if name in self._ours:
            return self._ours[name]
        name = self._aliases.get(name, name)
        if name in self._ours.values():
            return f"{column} (own)"
        return name if name in (*_KNOWN, _TARGET, *self.texts) else column


def is_file_name(name: str) -> bool:
    """Whether a corpus name is meant as a file: it ends as a table does or is there."""
    return is_table_name(name) or os.path.isfile(name)  # Path's raises for very long names


class FileCorpus:
    """The rows of a table of the user's: CSV, TSV, JSONL, a JSON array, Excel or Parquet (`audit.files.read_pieces`).

    `unit` is "document" when the median text of the first 200 has more than one sentence, unless it is given. Rows are
    keyed by their id, or by their number (from 1) in a file without ids. `reading` says what its columns and labels
    stand for. Classification without a scheme takes the file's own gold labels, sorted, for the scheme. `content` is
    what the file holds, where it was read already. Raises BadFile or, for a single bad row, BadRow; then no row is
    usable. Raises AuditError for a language that is no code, and for a reading that does not fit the task.

    A file above `LARGE` bytes is not kept in memory: its rows are read again when they are wanted.

    >>> FileCorpus("absent.csv")
    Traceback (most recent call last):
    audit.errors.BadFile: absent.csv: there is no such file
    """

    def __init__(
        self,
        path: str | Path,
        task: str = "sentiment",
        unit: Unit | None = None,
        language: str | None = None,
        reading: Reading = AS_IT_IS,
        content: bytes | None = None,
    ):
        self.path = Path(path)
        self.name = self.path.name
        self._content = content
        if content is None:
            refuse_no_file(path)
        self._fill(task, unit, language, reading, keep=content is not None or self.path.stat().st_size <= LARGE)

    def _pieces(self, bad: list[tuple[int, str]]) -> "Iterator[pd.DataFrame]":
        return read_pieces(self.path, bad, self._content, self._reading.columns.values())

    def _fill(self, task: str, unit: Unit | None, language: str | None, reading: Reading, keep: bool = True) -> None:
        if language is not None and not is_code(language):
            raise AuditError(message("wrong.language", language=language))
        reading.check(task)
        self.task, self._reading, self._default = task, reading, language or "en"
        self.attributes: tuple[str, ...] = ()
        """The user's own columns, which are kept and not looked at."""
        self.labelled = 0
        """Rows with a gold label."""
        self._number, self._has_languages = 0, False
        self._kept: list[pd.DataFrame] | None = None
        counted: Counter[str] = Counter()
        pieces: list[pd.DataFrame] = []
        self._fingerprint = fingerprint(self._checked(counted, pieces if keep else None))
        self._kept = pieces if keep else None
        self.languages = tuple(code for code, _ in counted.most_common())
        self.language = language or self.languages[0]
        first = list(islice(self.rows(), _LOOKED_AT))
        if language is None and not self._has_languages:
            refuse_other_languages(self.path, [row.input.text for row in first])
        self.unit: Unit = unit or unit_of(first)
        self.has_gold = self.labelled > 0
        self.summary = f"{self._number:,} {self.unit}s of {self.path}"

    def _checked(self, counted: Counter[str], kept: "list[pd.DataFrame] | None") -> Iterator[str]:
        """What names the content: a text for each row, after which all rows are checked and counted.

        Raises what the class does, at the end.
        """
        bad: list[tuple[int, str]] = []
        golds: dict[str, list[int]] = {}
        ids: list[pd.Series] = []
        for piece in self._named(bad):
            self._number += len(piece)
            bad += _wrong(piece, self._texts)
            for gold, lines in piece.groupby("gold", sort=False).groups.items():
                golds.setdefault(str(gold), []).extend(lines)
            ids += [piece["id"]] if self._has_ids else []
            counted.update(piece["language"])
            self.attributes = tuple(dict.fromkeys([*self.attributes, *self._own(piece)]))
            if kept is not None:
                kept.append(piece)
            meant = {gold: self._reading.label(gold).casefold() for gold in piece["gold"].unique()}
            for key, texts, languages, gold, cluster, own in self._fields(piece):
                yield canonical([key, texts, languages, meant[gold], cluster, own])
        number = self._number + len(bad)
        self._labels, wrong = self._read_gold(golds)
        bad += wrong + _repeated(ids)
        bad = list(dict(reversed(bad)).items())  # the first reason of each row
        if wrong:
            unknown = {gold for gold, label in self._labels.items() if gold and label is None}
            _refuse_gold(self.path, bad, number, {self._reading.label(gold) for gold in unknown} - {""}, self.task)
        refuse_bad_rows(self.path, bad, number)
        if not self._number:
            raise BadFile(message("file.no_rows", file=self.path))

    def _named(self, bad: list[tuple[int, str]]) -> "Iterator[pd.DataFrame]":
        """The pieces of the table with our names of its columns; those that every corpus may have are there, as text.
        Raises BadFile for a column of ours that is missing or there twice."""
        import pandas as pd

        names: _Names | None = None
        number = 1
        for piece in self._pieces(bad):
            if names is None:
                names = _Names(self.path, list(piece.columns), self.task, self._reading)
                self._texts = names.texts
                self._need_texts(piece, names)
                self._has_ids, self._has_languages = (key in map(names.of, piece.columns) for key in ("id", "language"))
            piece = piece.loc[:, ~piece.columns.duplicated()].rename(columns=names.of)
            for name in (*_KNOWN, *self._texts):
                piece[name] = piece.get(name)
            for name in _KNOWN:
                texts = ["" if value is None else as_text(value) for value in piece[name]]
                piece[name] = pd.Series(texts, piece.index, dtype=object)
            if not self._has_ids:
                ids = [str(row) for row in range(number, number + len(piece))]
                piece["id"] = pd.Series(ids, piece.index, dtype=object)
            number += len(piece)
            piece["language"] = piece["language"].where(piece["language"] != "", self._default)
            yield piece

    def _need_texts(self, piece: "pd.DataFrame", names: "_Names") -> None:
        """Raise BadFile where a column of texts is missing, with the one that may be meant, or a column of ours is
        there twice."""
        written = list(map(str, piece.columns))
        ours = [names.of(name) for name in written]
        for name in (*names.texts, *_KNOWN, _TARGET):
            if ours.count(name) > 1:
                raise BadFile(message("file.column_twice", file=self.path, column=name))
        # JSONL of which no line could be read has no columns, and a better reason.
        if written and (missing := [name for name in names.texts if name not in ours]):
            hint = offered_columns(written, _lines(piece), self.task)
            lacking = message("corpus_file.no_column", name=self.path, column=missing[0], columns=map(repr, written))
            raise BadFile(joined("list.also", [lacking, *hint]), parameter="columns" if hint else "")

    def _read_gold(self, golds: Mapping[str, list[int]]) -> tuple[dict[str, str | None], list[tuple[int, str]]]:
        """The label that each gold of the file stands for, and the rows whose gold stands for none. Takes the scheme
        from them where there is none. Raises BadFile for a reading of labels that are not there."""
        written = [gold for gold in golds if gold]
        self._reading.refuse_unused_labels(self.path, written)
        meant = {gold: self._reading.label(gold) for gold in golds}
        if self.task == "classification":
            self.task = _with_scheme(self.path, [label for label in meant.values() if label], self._reading)
        label_of, bad = gold_of(self.task), list[tuple[int, str]]()
        labels = {gold: label_of(label) if label else None for gold, label in meant.items()}
        for gold, label in meant.items():
            self.labelled += len(golds[gold]) if label else 0
            if label and (reason := _gold_reason(label, labels[gold], self.task)):
                bad += zip(golds[gold], repeat(reason))
        return labels, bad

    def _own(self, piece: "pd.DataFrame") -> list[str]:
        return [name for name in piece.columns if name not in (*_KNOWN, *self._texts)]

    def _fields(
        self, piece: "pd.DataFrame"
    ) -> Iterator[tuple[str, tuple[str, ...], tuple[str, str], str, str, dict[str, str]]]:
        """Of each row: its key, texts, language and target language, gold, cluster and attributes."""
        names = self._own(piece)
        targets = piece[_TARGET].fillna("") if _TARGET in piece and self.task == "translation" else repeat("")
        own = zip(*(piece[name] for name in names), strict=True) if names else repeat(())
        texts = zip(*(piece[name] for name in self._texts), strict=True)
        columns = (
            piece["id"],
            texts,
            zip(piece["language"], targets, strict=False),
            piece["gold"],
            piece["document"],
            own,
        )
        for key, text, languages, gold, cluster, values in zip(*columns, strict=False):
            yield (
                key,
                text,
                languages,
                gold,
                cluster,
                {name: _value(value) for name, value in zip(names, values, strict=True) if value is not None},
            )

    def needs(self) -> str | None:
        return None

    def size(self) -> int | None:
        return self._number

    def fingerprint(self) -> str:
        """Names what the rows say; neither the file's name nor its line ends count."""
        return self._fingerprint

    def rows(self) -> Iterator[Row]:
        for piece in self._named([]) if self._kept is None else self._kept:
            for key, texts, (language, target), gold, cluster, own in self._fields(piece):
                subject = Input.of(*map(normal_text, texts), language=language, target=target or None)
                yield Row(key, subject, self._labels[gold], cluster or None, own)


class FrameCorpus(FileCorpus):
    """The rows of a pandas DataFrame, with the columns of a file; a field that is missing (NaN, None) is empty.

    In messages the frame has its `name`, and its rows are counted from 1. Raises as `FileCorpus` does.

    >>> import pandas as pd
    >>> FrameCorpus(pd.DataFrame({"text": ["It is good."], "gold": ["positive"]})).summary
    '1 sentences of frame'
    """

    def __init__(
        self,
        frame: "pd.DataFrame",
        name: str = "frame",
        task: str = "sentiment",
        unit: Unit | None = None,
        language: str | None = None,
        reading: Reading = AS_IT_IS,
    ):
        self.path = Path(name)
        self.name = name
        self._frame = plain_frame(frame, name)
        self._fill(task, unit, language, reading)

    def _pieces(self, bad: list[tuple[int, str]]) -> "Iterator[pd.DataFrame]":
        return iter([self._frame])


def _value(value: object) -> str:
    return value if isinstance(value, str) else canonical(value)


def unit_of(rows: Sequence[Row]) -> Unit:
    """ "document" where the median text of the first 200 rows has more than one sentence."""
    sentences = sorted(len(Analysis(row.input.text, row.input.languages[0]).spans) for row in rows[:_LOOKED_AT])
    # Every text has one sentence at least, so a median above 1 is an upper middle above 1.
    return "document" if sentences[len(sentences) // 2] > 1 else "sentence"


def _with_scheme(path: Path, golds: Sequence[str], reading: Reading) -> str:
    """The task with the labels that the column gold has, each as it is written first. Raises BadFile."""
    labels: dict[str, str] = {}
    for gold in golds:
        labels.setdefault(gold.casefold(), gold)
    if missing := sorted(MISSING.intersection(golds) - set(reading.labels.values())):
        pairs = ",".join(f"{name}=" for name in missing)
        raise BadFile(message("corpus_file.missing_labels", file=path, labels=missing, pairs=pairs), parameter="labels")
    if labels and len(labels) < 2:
        raise BadFile(message("corpus_file.one_label", file=path, label=next(iter(labels.values()))))
    if not labels:
        raise BadFile(message("corpus_file.no_labels", file=path))
    if len(labels) > _MOST_LABELS:
        raise BadFile(message("corpus_file.many_labels", file=path, count=len(labels), most=_MOST_LABELS))
    if with_comma := [label for label in labels.values() if "," in label]:
        raise BadFile(message("corpus_file.comma", file=path, label=with_comma[0]))
    return f"classification/{','.join(sorted(labels.values()))}"


def gold_of(task: str) -> Gold:
    """How gold is written in files for a task: a label in any case; for similarity a number from 0 to 1, too.

    >>> gold_of("sentiment")("Positive"), gold_of("similarity")("0.75"), gold_of("similarity")("2")
    ('positive', 'strong', None)
    """
    spelled = label_reader(get_task(task))

    def read(gold: str) -> str | None:
        label = spelled(gold)
        if label is None and base_of(task) == "similarity":
            try:
                score = float(gold)
            except ValueError:
                return None
            return level_of(score) if math.isfinite(score) and 0 <= score <= 1 else None
        return label

    return read


def _repeated(ids: "Sequence[pd.Series]") -> list[tuple[int, str]]:
    """The rows whose id an earlier one has, with the reason."""
    import pandas as pd

    if not ids:
        return []
    every = pd.concat(ids)
    first = every.drop_duplicates()
    line_of = dict(zip(first, first.index, strict=True))
    again = every[every.duplicated() & (every != "")]
    return [(line, message("corpus_file.id_twice", id=id, line=line_of[id])) for line, id in again.items()]


def _wrong(piece: "pd.DataFrame", texts: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The rows of a piece that cannot be used, with each reason but those of gold."""
    for name in texts:
        kinds = piece[name].map(type)
        for line in piece.index[piece[name].isna()]:
            yield line, message("corpus_file.no_text", column=name)
        for line, value in piece[name][kinds.isin([list, dict])].items():
            yield line, message("corpus_file.no_string", column=name, example=canonical(value)[:40])
    for name in piece.columns:
        column = piece[name].dropna()
        if unstorable("".join(map(_value, column))):
            faults = ((line, unstorable(_value(value))) for line, value in column.items())
            yield from (
                (line, message("corpus_file.unstorable", column=name, what=fault)) for line, fault in faults if fault
            )
    for name in texts:
        column = piece[name][piece[name].map(lambda value: isinstance(value, str))]
        for line in column.index[column == ""]:
            yield line, message("corpus_file.empty_text", column=name)
        for line, text in column[column.map(len) > LONGEST // 4].items():
            if (size := len(text.encode("utf-8", "surrogatepass"))) > LONGEST:
                yield line, message("corpus_file.long_text", column=name, size=size, most=LONGEST)
    for language in piece["language"].unique():
        if not is_code(language):
            reason = message("wrong.language", language=language)
            yield from ((line, reason) for line in piece.index[piece["language"] == language])
    for line in piece.index[piece["id"] == ""]:
        yield line, message("corpus_file.empty_id")


def _refuse_gold(path: Path, bad: Sequence[tuple[int, str]], number: int, unknown: set[str], task: str) -> None:
    """As `refuse_bad_rows`, with what may be meant by gold labels that the task does not have."""
    advice = [] if get_task(task).question_kind == "pair" else offered_labels(unknown, task)
    if advice and len(bad) == 1:
        ((line, reason),) = bad
        raise BadRow(path, line, joined("list.also", [reason, *advice]), parameter=("labels", "task"))
    try:
        refuse_bad_rows(path, bad, number)
    except BadFile as problem:
        raise BadFile(joined("list.also", [problem.sentence, *advice]), parameter=("labels", "task")) from None


def offered_labels(unknown: Collection[str], task: str) -> list[str]:
    """What may be meant by gold labels that a task does not have: a map to its labels, or another task.

    >>> print(*offered_labels({"pos", "neg"}, "sentiment"))
    labels=neg=negative,pos=positive reads them as those of sentiment
    >>> print(*offered_labels({"billing", "delivery"}, "sentiment"))
    the task that fits is task=classification/billing,delivery
    """
    labels = get_task(task).labels
    if get_task(task).texts == 1 and (
        several := _several(unknown, labels if base_of(task) == "classification" else ())
    ):
        return [message("corpus_file.offer_task", task=f"classification/{several}")]
    guess = _guessed(unknown, labels)
    if all(label is not None for label in guess.values()):
        pairs = ",".join(f"{gold}={label}" for gold, label in guess.items())
        return [message("corpus_file.offer_labels", labels=pairs, task=base_of(task))]
    numbers = [gold for gold in guess if _number(gold) is not None]
    if labels and numbers and len(numbers) == sum(gold not in MISSING for gold in guess):
        pairs = ",".join(f"{gold}={'LABEL' if gold in numbers else ''}" for gold in guess)
        return [message("corpus_file.offer_to_fill", labels=pairs)] if len(guess) > 1 else []
    lowered = {gold.casefold() for gold in unknown}
    others = (entry for entry in (*TASKS.values(), *map(get_task, map("classification/{}".format, SCHEMES))))
    for other in others:
        fits = other.question_kind == "input" and other.texts == get_task(task).texts and other.name != task
        if fits and lowered and lowered <= {label.casefold() for label in other.labels}:
            return [message("corpus_file.offer_task", task=other.name)]
    known = [label for label in labels if label not in unknown] if base_of(task) == "classification" else []
    scheme = [*known, *sorted(unknown)]
    if get_task(task).texts == 1 and 2 <= len(scheme) <= _MOST_LABELS and not any("," in label for label in scheme):
        return [message("corpus_file.offer_task", task=f"classification/{','.join(scheme)}")]
    return []


def _several(unknown: Collection[str], labels: Sequence[str]) -> str:
    """The scheme of several labels to a text that gold with plus signs or commas is written for; else nothing.

    >>> _several({"late+rude", "refund"}, ()), _several({"late", "refund"}, ())
    ('late+refund+rude', '')
    """
    if not any(mark in gold for gold in unknown for mark in "+,"):
        return ""
    parts = {part.strip() for gold in (*unknown, *labels) for part in re.split("[+,]", gold)} - {"", NONE_OF_THEM}
    return "+".join(sorted(parts)) if 2 <= len(parts) <= MOST_TOGETHER else ""


def _guessed(unknown: Collection[str], labels: Sequence[str]) -> dict[str, str | None]:
    """Each label of a file, sorted, and the task's that it seems to stand for: "" where it says that there is none,
    None where nothing is clear.

    >>> _guessed({"5", "1", "NA"}, ["positive", "neutral", "negative"])
    {'1': 'negative', '5': 'positive', 'NA': ''}
    """
    numbers = {gold: number for gold in unknown if (number := _number(gold)) is not None}
    values = set(numbers.values())
    fits = (scale for scale in _NUMBERED if {min(scale), max(scale)} <= values <= scale.keys())
    scale: Mapping[float, str] = next((scale for scale in fits if set(scale.values()) <= set(labels)), {})
    return {
        gold: "" if gold in MISSING else scale.get(numbers.get(gold, math.nan)) or _label_meant(gold, labels)
        for gold in sorted(unknown)
    }


def _number(gold: str) -> float | None:
    try:
        number = float(gold)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _label_meant(gold: str, labels: Sequence[str]) -> str | None:
    """The only label of these that is often written so; None where there is none, or are several."""
    word = gold.casefold()
    near = [label for label in labels if word == label.casefold() or word in _LABEL_WORDS.get(label, ())]
    return near[0] if len(near) == 1 else None


def offered_columns(names: Sequence[str], lines: Sequence[Sequence[str]], task: str) -> list[str]:
    """The columns that may be meant for the texts of a task and for gold, by their names and what stands in the first
    lines; nothing where that is not clear.

    >>> print(*offered_columns(["nr", "review", "label"], [["1", "It is good.", "pos"]], "sentiment"))
    columns=text=review,gold=label reads these
    """
    definition = get_task(task)
    texts = text_columns(definition.texts)
    free = list(names)
    meant: dict[str, str] = {}
    for text in texts:
        if text in free:
            free.remove(text)
            continue
        if (column := _text_meant(free, names, lines)) is None:
            return []
        meant[text] = column
        free.remove(column)
    if definition.question_kind == "input" and "gold" not in [name.lower() for name in names]:
        near = [name for word in _GOLD_WORDS for name in free if name.lower() == word]
        meant |= {"gold": near[0]} if near else {}
    pairs = ",".join(f"{ours}={theirs}" for ours, theirs in meant.items())
    return [message("corpus_file.offer_columns", columns=pairs)] if pairs else []


def _text_meant(free: Sequence[str], names: Sequence[str], lines: Sequence[Sequence[str]]) -> str | None:
    """The column that is called as texts are, or the one with by far the longest fields."""
    for word in _TEXT_WORDS:
        if near := [name for name in free if name.lower() == word]:
            return near[0]
    widths = {
        name: sum(len(line[at]) for line in lines if at < len(line)) for at, name in enumerate(names) if name in free
    }
    longest = sorted(widths, key=lambda name: -widths[name])
    if not longest or not widths[longest[0]] or (len(longest) > 1 and widths[longest[0]] < 3 * widths[longest[1]]):
        return None
    return longest[0]


def _gold_reason(gold: str, label: str | None, task: str) -> str | None:
    """What is wrong with a gold that reads as this label, or None."""
    definition = get_task(task)
    if definition.question_kind == "pair":
        return message("corpus_file.no_gold", gold=gold, task=task)
    if label is None:
        numbers = [message("corpus_file.number")] if base_of(task) == "similarity" else []
        return message("corpus_file.unknown_gold", gold=gold, allowed=[*labels_to_write(definition), *numbers])
    return None


def _lines(piece: "pd.DataFrame") -> list[list[str]]:
    """The first rows of a piece, as text."""
    return [[as_text("" if value is None else value) for value in row] for row in piece.head(_LOOKED_AT).to_numpy()]


class Header(NamedTuple):
    """The first lines of a file, and what its columns seem to stand for."""

    columns: list[str]
    """Its columns, as they are written."""
    lines: list[list[str]]
    """The fields of the first rows."""
    meant: dict[str, str]
    """Our name of a column -> the file's, as far as names and contents tell; those that have our names, too."""
    labels: dict[str, str]
    """A gold label of the file -> the task's, where these are written in another way and it is clear which is meant."""


def header_of(name: str, content: bytes, task: str) -> Header:
    r"""What the first lines of a file say, to be confirmed by whoever brings it; `content` is what it holds.

    Raises BadFile for a name that does not end as a table's, and for content that has no rows.

    >>> header_of("a.csv", b"nr,review,label\n1,It is good.,pos\n2,It is bad.,neg\n", "sentiment").meant
    {'text': 'review', 'gold': 'label'}
    """
    piece = next(read_pieces(name, [], content))
    columns, lines = list(piece.columns), _lines(piece)
    if not columns or not lines:
        raise BadFile(message("file.no_rows", file=name))
    meant = _meant(columns, lines, task)
    return Header(columns, lines, meant, _labels_meant(columns, lines, meant.get("gold"), task))


def _meant(columns: Sequence[str], lines: Sequence[Sequence[str]], task: str) -> dict[str, str]:
    definition = get_task(task)
    free, meant = list(columns), dict[str, str]()
    own_names = text_names(definition) or text_columns(definition.texts)
    for text, own in zip(text_columns(definition.texts), own_names, strict=True):
        near = next((name for word in (text, own) for name in free if name.lower() == word), None)
        column = near or _text_meant(free, columns, lines)
        if column is None:
            continue
        meant[text] = column
        free.remove(column)
    words: dict[str, tuple[str, ...]] = {name: (name,) for name in (*_KNOWN, _TARGET)}
    words["document"] = ("document", CLUSTER)
    if definition.question_kind == "input":
        words["gold"] = _GOLD_WORDS
    for ours, names in words.items():
        if near := next((name for word in names for name in free if name.lower() == word), None):
            meant[ours] = near
            free.remove(near)
    return meant


def _labels_meant(
    columns: Sequence[str], lines: Sequence[Sequence[str]], gold: str | None, task: str
) -> dict[str, str]:
    labels = get_task(task).labels
    if gold is None or not labels:
        return {}
    at = columns.index(gold)
    label_of = gold_of(task)
    unknown = {line[at] for line in lines if line[at] and label_of(line[at]) is None}
    return {label: ours for label, ours in _guessed(unknown, labels).items() if ours}
