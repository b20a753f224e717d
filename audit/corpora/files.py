"""The user's own texts: a CSV or JSONL file, checked as a whole before anything is used.

Columns: `text`, and for pairs of texts `text_b`, or what the task calls them (`premise` and `hypothesis`); optionally
`id`, `gold`, `language`, `document` (the id of the document a text was cut from), and for translation
`target_language`. Every other column is kept as an attribute, such as the `reference` of a text to summarize. A file
with other names or labels is read by a `Reading`, which is offered where one can be guessed and never taken unasked.
"""

import csv
import io
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from audit.corpora.base import Row, Unit
from audit.errors import AuditError, BadFile, BadRow
from audit.files import Excessive, parse_json, read_text, refuse_bad_rows, unstorable
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
_SUFFIXES = {".csv": ",", ".tsv": "\t", ".jsonl": None, ".ndjson": None}


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
_NUMBERED = (
    {"0": "negative", "1": "positive"},
    {"-1": "negative", "0": "neutral", "1": "positive"},
    {"1": "negative", "2": "negative", "3": "neutral", "4": "positive", "5": "positive"},
)
"""What numbers stand for where a file has at least two of them, and no others."""


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
        if absent := [name for name in self.columns.values() if name not in names]:
            raise BadFile(
                message("corpus_file.no_such_column", file=path, column=absent[0], columns=list(map(repr, names))),
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
            theirs: own.get(name, "document" if name == CLUSTER else name) for name, theirs in reading.columns.items()
        }
        plain = [name.lower() for name in written if name not in ours]
        aliases = own if not any(text in plain or text in ours.values() for text in self.texts) else {}
        self._ours = ours
        self._aliases = aliases

    def of(self, column: str) -> str:
        """Our name of a column; the user's own keep theirs. One that has a name of ours, which another column is read
        for, is an attribute."""
        if column in self._ours:
            return self._ours[column]
        name = column.lower()
        name = self._aliases.get(name, name)
        if name in self._ours.values():
            return f"{column} (own)"
        return name if name in (*_KNOWN, *self.texts) else column


class _Record(NamedTuple):
    """A line as read: its number in the file, its columns, and what is wrong with it, if it could not be read."""

    line: int
    columns: dict[str, str]
    reason: str | None = None


def is_file_name(name: str) -> bool:
    """Whether a corpus name is meant as a file: it has one of our suffixes or is there."""
    return Path(name).suffix.lower() in _SUFFIXES or os.path.isfile(name)  # Path's raises for very long names


class FileCorpus:
    """The rows of a CSV or JSONL file of the user's.

    `unit` is "document" when the median text of the first 200 has more than one sentence, unless it is given. Rows are
    keyed by their id, or by their number (from 1) in a file without ids. `reading` says what its columns and labels
    stand for. Classification without a scheme takes the file's own gold labels, sorted, for the scheme. Raises BadFile
    or, for a single bad row, BadRow; then no row is usable. Raises AuditError for a language that is no code, and for a
    reading that does not fit the task.

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
    ):
        _check_language(language)
        reading.check(task)
        self.path = Path(path)
        self.name = self.path.name
        self._fill(_read(self.path, task, reading), task, unit, language, reading)

    def _fill(
        self, records: "list[_Record]", task: str, unit: Unit | None, language: str | None, reading: Reading
    ) -> None:
        written = {gold for record in records if (gold := record.columns.get("gold", "").strip())}
        reading.refuse_unused_labels(self.path, written)
        for record in records:
            if gold := record.columns.get("gold", "").strip():
                record.columns["gold"] = reading.label(gold)
        self.task = _with_scheme(self.path, records) if task == "classification" else task
        self._rows = _checked_rows(self.path, records, text_columns(get_task(task).texts), self.task, language or "en")
        counted = Counter(row.input.languages[0] for row in self._rows)
        self.languages = tuple(code for code, _ in counted.most_common())
        self.language = language or self.languages[0]
        self.unit: Unit = unit or unit_of(self._rows)
        self.has_gold = any(row.gold is not None for row in self._rows)
        self.summary = f"{len(self._rows):,} {self.unit}s of {self.path}"

    def needs(self) -> str | None:
        return None

    def size(self) -> int | None:
        return len(self._rows)

    def fingerprint(self) -> str:
        """Names what the rows say; neither the file's name nor its line ends count."""
        parts = (
            [row.key, *row.input.texts, *row.input.languages, row.gold, row.cluster, dict(row.attributes)]
            for row in self._rows
        )
        return fingerprint(canonical(part) for part in parts)

    def rows(self) -> Iterator[Row]:
        return iter(self._rows)


def _check_language(language: str | None) -> None:
    if language is not None and not is_code(language):
        raise AuditError(message("wrong.language", language=language))


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
        _check_language(language)
        reading.check(task)
        self.path = Path(name)
        self.name = name
        written = [str(column) for column in frame.columns]
        names = _Names(self.path, written, task, reading)
        columns = [names.of(column) for column in written]
        if len(frame) and (missing := [column for column in names.texts if column not in columns]):
            lacking = message(
                "corpus_file.no_column",
                name=name,
                column=missing[0],
                columns=list(map(repr, columns)) or message("list.none"),
            )
            lines = [[str(value) for value in row] for row in frame.head(_LOOKED_AT).itertuples(index=False)]
            raise AuditError(
                joined("list.also", [lacking, *offered_columns(written, lines, task)]), parameter="columns"
            )
        if doubled := [column for column in columns if columns.count(column) > 1]:
            raise AuditError(message("corpus_file.column_twice", name=name, column=doubled[0]))
        fields = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
        records = [
            _Record(
                row,
                {
                    column: value if isinstance(value, str) else _value(_plain(value))
                    for column, value in zip(columns, values, strict=True)
                    if value is not None
                },
            )
            for row, values in enumerate(fields, start=1)
        ]
        self._fill(records, task, unit, language, reading)


def _plain(value: object) -> object:
    """A number of NumPy's as Python's; what JSON has no word for as text."""
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, str | int | float | bool | list | dict) else str(value)


def unit_of(rows: Sequence[Row]) -> Unit:
    """ "document" where the median text of the first 200 rows has more than one sentence."""
    sentences = sorted(len(Analysis(row.input.text, row.input.languages[0]).spans) for row in rows[:_LOOKED_AT])
    # Every text has one sentence at least, so a median above 1 is an upper middle above 1.
    return "document" if sentences[len(sentences) // 2] > 1 else "sentence"


def _with_scheme(path: Path, records: list[_Record]) -> str:
    """The task with the labels that the column gold has, each as it is written first. Raises BadFile."""
    labels: dict[str, str] = {}
    for record in records:
        if gold := record.columns.get("gold", "").strip():
            labels.setdefault(gold.casefold(), gold)
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


def _checked_rows(path: Path, records: list[_Record], texts: tuple[str, ...], task: str, language: str) -> list[Row]:
    """Every record as a row. Raises BadRow for one wrong record, BadFile for several or for none at all."""
    label_of = gold_of(task)
    first: dict[str, int] = {}
    rows: list[Row] = []
    bad: list[tuple[int, str]] = []
    with_ids = any("id" in record.columns for record in records)
    for number, (line, columns, unreadable) in enumerate(records, start=1):
        key = columns.get("id", "").strip() if with_ids else str(number)
        gold = columns.get("gold", "").strip()
        label = label_of(gold) if gold else None
        reason = unreadable or _reason(columns, texts, key)
        if reason is None and gold:
            reason = _gold_reason(gold, label, task)
        if reason is None and key in first:
            reason = message("corpus_file.id_twice", id=key, line=first[key])
        if reason is not None:
            bad.append((line, reason))
            continue
        first[key] = line
        rows.append(
            Row(
                key,
                Input.of(
                    *(normal_text(columns[name]) for name in texts),
                    language=columns.get("language", "").strip() or language,
                    target=columns.get(_TARGET, "").strip() or None if task == "translation" else None,
                ),
                label,
                columns.get("document", "").strip() or None,
                {name: value for name, value in columns.items() if name not in (*_KNOWN, *texts)},
            )
        )
    if unknown := {gold for record in records if (gold := _unknown(record, label_of))}:
        _refuse_gold(path, bad, len(records), unknown, task)
    refuse_bad_rows(path, bad, len(records))
    if not rows:
        raise BadFile(message("corpus_file.no_rows", file=path))
    return rows


def _unknown(record: _Record, label_of: Gold) -> str:
    """The gold of a record where it stands for no label, else nothing."""
    gold = record.columns.get("gold", "").strip()
    return gold if gold and label_of(gold) is None else ""


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
    numbered = next((scale for scale in _NUMBERED if len(unknown) > 1 and set(unknown) <= scale.keys()), {})
    numbered = numbered if set(numbered.values()) <= set(labels) else {}
    guess = {gold: numbered.get(gold) or _label_meant(gold, labels) for gold in sorted(unknown)}
    if all(guess.values()):
        pairs = ",".join(f"{gold}={label}" for gold, label in guess.items())
        return [message("corpus_file.offer_labels", labels=pairs, task=base_of(task))]
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


def _label_meant(gold: str, labels: Sequence[str]) -> str:
    """The only label of these that is often written so; empty where there is none, or are several."""
    word = gold.casefold()
    near = [label for label in labels if word == label.casefold() or word in _LABEL_WORDS.get(label, ())]
    return near[0] if len(near) == 1 else ""


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


def _reason(columns: dict[str, str], texts: tuple[str, ...], key: str) -> str | None:
    """What is wrong with a record that could be read, but for its gold, or None."""
    for name in texts:
        if name not in columns:
            return message("corpus_file.no_text", column=name)
    for name, value in columns.items():
        if fault := unstorable(value):
            return message("corpus_file.unstorable", column=name, what=fault)
    for name in texts:
        if not columns[name].strip():
            return message("corpus_file.empty_text", column=name)
        size = len(columns[name].encode("utf-8"))
        if size > LONGEST:
            return message("corpus_file.long_text", column=name, size=size, most=LONGEST)
    if (language := columns.get("language", "").strip()) and not is_code(language):
        return message("wrong.language", language=language)
    if not key:
        return message("corpus_file.empty_id")
    return None


def _read(path: Path, task: str, reading: Reading, content: str | None = None) -> list[_Record]:
    """The records of a file, or of `content`, which has been read already and has the file's name."""
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise BadFile(message("corpus_file.bad_suffix", file=path, suffixes=_SUFFIXES))
    text = read_text(path) if content is None else content
    separator = _SUFFIXES[suffix]
    if separator is None:
        return _jsonl(path, text, task, reading)
    return _csv(path, text, separator, task, reading)


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


def header_of(name: str, content: str, task: str) -> Header:
    r"""What the first lines of a file say, to be confirmed by whoever brings it; `content` is its text.

    Raises BadFile for a name without one of our suffixes, and for content that has no rows.

    >>> header_of("a.csv", "nr,review,label\n1,It is good.,pos\n2,It is bad.,neg\n", "sentiment").meant
    {'text': 'review', 'gold': 'label'}
    """
    suffix = Path(name).suffix.lower()
    if suffix not in _SUFFIXES:
        raise BadFile(message("corpus_file.bad_suffix", file=name, suffixes=_SUFFIXES))
    separator = _SUFFIXES[suffix]
    if separator is None:
        columns, lines = _json_fields(content)
    else:
        rows = _first_rows(content, separator)
        columns, lines = [field.strip() for field in (rows or [[]])[0]], rows[1:]
    if not columns or not lines:
        raise BadFile(message("corpus_file.no_rows", file=name))
    meant = _meant(columns, lines, task)
    return Header(columns, lines, meant, _labels_meant(columns, lines, meant.get("gold"), task))


def _first_rows(content: str, separator: str) -> list[list[str]]:
    limit = csv.field_size_limit(len(content) + 1)
    try:
        rows: list[list[str]] = []
        with suppress(csv.Error):  # reading the file as a whole says where
            reader = csv.reader(io.StringIO(content, newline=None), delimiter=separator)
            rows.extend(row for row in islice(reader, _LOOKED_AT) if row)
        return rows
    finally:
        csv.field_size_limit(limit)


def _json_fields(content: str) -> tuple[list[str], list[list[str]]]:
    objects = [_json_object(line) for line in islice(content.split("\n"), _LOOKED_AT) if line.strip()]
    usable = [value for value in objects if isinstance(value, dict)]
    columns = list(dict.fromkeys(name for value in usable for name in value))
    return columns, [[_value(value.get(name, "")) for name in columns] for value in usable]


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
    written = {line[at].strip() for line in lines if at < len(line) and line[at].strip()}
    label_of = gold_of(task)
    unknown = sorted(label for label in written if label_of(label) is None)
    scale = next((scale for scale in _NUMBERED if len(unknown) > 1 and set(unknown) <= scale.keys()), {})
    meant = {label: scale.get(label) or _label_meant(label, labels) for label in unknown}
    return {label: ours for label, ours in meant.items() if ours in labels}


class TextCorpus(FileCorpus):
    r"""The rows of a file whose text is at hand: `content` of the file `file`, which says by its suffix how to read it.

    `name` is the name of the corpus, and stands for the file in messages. Raises as `FileCorpus` does.

    >>> TextCorpus("text,gold\nIt is good.,positive\n", "mine", "mine.csv").summary
    '1 sentences of mine.csv'
    """

    def __init__(
        self,
        content: str,
        name: str,
        file: str,
        task: str = "sentiment",
        unit: Unit | None = None,
        language: str | None = None,
        reading: Reading = AS_IT_IS,
    ):
        _check_language(language)
        reading.check(task)
        self.path = Path(file)
        self.name = name
        self._fill(_read(self.path, task, reading, content), task, unit, language, reading)


def _csv(path: Path, text: str, separator: str, task: str, reading: Reading) -> list[_Record]:
    limit = csv.field_size_limit(len(text) + 1)
    started = 1
    try:
        reader = csv.reader(io.StringIO(text, newline=None), delimiter=separator, strict=True)
        written = [name.strip() for name in next(reader)]
        names = _header(path, written, separator, _Names(path, written, task, reading), text, task)
        records: list[_Record] = []
        started = reader.line_num + 1
        for values in reader:
            line, started = started, reader.line_num + 1
            if not values:
                continue
            if len(values) == len(names):
                records.append(_Record(line, dict(zip(names, values, strict=True))))
            else:
                reason = message(
                    "corpus_file.columns", count=len(values), expected=len(names), names=names, mark=separator
                )
                records.append(_Record(line, {}, reason))
        return records
    except csv.Error as problem:
        # From here on nobody can tell rows apart, so this is the only row to report.
        raise BadRow(path, started, message("corpus_file.quotation", reason=problem)) from problem
    finally:
        csv.field_size_limit(limit)


def _header(path: Path, written: list[str], separator: str, names: _Names, content: str, task: str) -> list[str]:
    columns = [names.of(name) for name in written]
    if missing := [name for name in names.texts if name not in columns]:
        hint: list[str] = []
        for other in ",;\t|":
            if other != separator and any(other in name for name in written):
                hint = [message("corpus_file.separator", mark=other, needed=separator)]
        if not hint:
            lines = islice(csv.reader(io.StringIO(content, newline=None), delimiter=separator), 1, _LOOKED_AT)
            hint = offered_columns(written, list(lines), task)
        lacking = message("corpus_file.header", file=path, column=missing[0], columns=map(repr, written))
        raise BadFile(joined("list.also", [lacking, *hint]), parameter="columns" if hint else "")
    doubled = sorted({name for name in columns if columns.count(name) > 1})
    if doubled:
        raise BadFile(message("corpus_file.header_twice", file=path, column=doubled[0]))
    return columns


def _jsonl(path: Path, text: str, task: str, reading: Reading) -> list[_Record]:
    lines = [(number, _json_object(line)) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    objects = [value for _, value in lines if isinstance(value, dict)]
    written = list(dict.fromkeys(name for value in objects for name in value))
    names = _Names(path, written, task, reading)
    columns = [names.of(name) for name in written]
    if missing := [name for name in names.texts if name not in columns]:
        fields = [[str(value.get(name, "")) for name in written] for value in objects[:_LOOKED_AT]]
        if offer := offered_columns(written, fields, task):  # else every row says what it lacks
            lacking = message("corpus_file.no_column", name=path, column=missing[0], columns=list(map(repr, written)))
            raise BadFile(joined("list.also", [lacking, *offer]), parameter="columns")
    return [
        _Record(number, {}, value) if isinstance(value, str) else _json_record(number, value, names)
        for number, value in lines
    ]


def _json_object(line: str) -> dict[str, Any] | str:
    """The object of a line, or what is wrong with it."""
    try:
        value = parse_json(line)
    except Excessive as problem:
        return str(problem.args[0])
    except ValueError as problem:
        return message("corpus_file.line_not_json", reason=problem)
    return value if isinstance(value, dict) else message("corpus_file.line_no_object", type=type(value).__name__)


def _json_record(number: int, value: Mapping[str, Any], names: _Names) -> _Record:
    columns = {names.of(name): field for name, field in value.items() if field is not None}
    if not_texts := [name for name in names.texts if not isinstance(columns.get(name, ""), str)]:
        example = canonical(columns[not_texts[0]])[:40]
        return _Record(number, {}, message("corpus_file.no_string", column=not_texts[0], example=example))
    return _Record(number, {name: _value(field) for name, field in columns.items()})


def _value(value: object) -> str:
    return value if isinstance(value, str) else canonical(value)
