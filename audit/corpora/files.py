"""The user's own texts: a CSV or JSONL file, checked as a whole before anything is used.

Columns: `text`, and for similarity `text_b`; optionally `id`, `gold`, `language`, `document` (the id of the document
a text was cut from), and for translation `target_language`. Every other column is kept as an attribute, such as the
`reference` of a text to summarize.
"""

import csv
import io
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from audit.corpora.base import Row, Unit
from audit.errors import AuditError, BadFile, BadRow
from audit.files import Excessive, parse_json, read_text, refuse_bad_rows, unstorable
from audit.keys import canonical, fingerprint
from audit.messages import joined, message
from audit.tasks import Input, base_of, get_task, label_reader, labels_to_write, text_columns
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
    keyed by their id, or by their number (from 1) in a file without ids. Classification without a scheme takes the
    file's own gold labels, sorted, for the scheme. Raises BadFile or, for a single bad row, BadRow; then no row is
    usable. Raises AuditError for a language that is no code.

    >>> FileCorpus("absent.csv")
    Traceback (most recent call last):
    audit.errors.BadFile: absent.csv: there is no such file
    """

    def __init__(
        self, path: str | Path, task: str = "sentiment", unit: Unit | None = None, language: str | None = None
    ):
        _check_language(language)
        self.path = Path(path)
        self.name = self.path.name
        texts = text_columns(get_task(task).texts)
        self._fill(_read(self.path, texts), texts, task, unit, language)

    def _fill(
        self, records: "list[_Record]", texts: tuple[str, ...], task: str, unit: Unit | None, language: str | None
    ) -> None:
        self.task = _with_scheme(self.path, records) if task == "classification" else task
        self._rows = _checked_rows(self.path, records, texts, self.task, language or "en")
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
    ):
        _check_language(language)
        self.path = Path(name)
        self.name = name
        texts = text_columns(get_task(task).texts)
        columns = [_name(str(column), texts) for column in frame.columns]
        if len(frame) and (missing := [column for column in texts if column not in columns]):
            raise AuditError(
                message(
                    "corpus_file.no_column",
                    name=name,
                    column=missing[0],
                    columns=list(map(repr, columns)) or message("list.none"),
                )
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
        self._fill(records, texts, task, unit, language)


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
                    *(columns[name].strip() for name in texts),
                    language=columns.get("language", "").strip() or language,
                    target=columns.get(_TARGET, "").strip() or None if task == "translation" else None,
                ),
                label,
                columns.get("document", "").strip() or None,
                {name: value for name, value in columns.items() if name not in (*_KNOWN, *texts)},
            )
        )
    refuse_bad_rows(path, bad, len(records))
    if not rows:
        raise BadFile(message("corpus_file.no_rows", file=path))
    return rows


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


def _read(path: Path, texts: tuple[str, ...]) -> list[_Record]:
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise BadFile(message("corpus_file.bad_suffix", file=path, suffixes=_SUFFIXES))
    text = read_text(path)
    separator = _SUFFIXES[suffix]
    return _jsonl(text, texts) if separator is None else _csv(path, text, separator, texts)


def _csv(path: Path, text: str, separator: str, texts: tuple[str, ...]) -> list[_Record]:
    limit = csv.field_size_limit(len(text) + 1)
    started = 1
    try:
        reader = csv.reader(io.StringIO(text, newline=None), delimiter=separator, strict=True)
        names = _header(path, next(reader), separator, texts)
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


def _header(path: Path, names: list[str], separator: str, texts: tuple[str, ...]) -> list[str]:
    cleaned = [name.strip() for name in names]
    columns = [_name(name, texts) for name in cleaned]
    if missing := [name for name in texts if name not in columns]:
        hint = []
        for other in ",;\t|":
            if other != separator and any(other in name for name in cleaned):
                hint = [message("corpus_file.separator", mark=other, needed=separator)]
        lacking = message("corpus_file.header", file=path, column=missing[0], columns=map(repr, cleaned))
        raise BadFile(joined("list.also", [lacking, *hint]))
    doubled = sorted({name for name in columns if columns.count(name) > 1})
    if doubled:
        raise BadFile(message("corpus_file.header_twice", file=path, column=doubled[0]))
    return columns


def _jsonl(text: str, texts: tuple[str, ...]) -> list[_Record]:
    records: list[_Record] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except Excessive as problem:
            records.append(_Record(number, {}, problem.args[0]))
            continue
        except ValueError as problem:
            records.append(_Record(number, {}, message("corpus_file.line_not_json", reason=problem)))
            continue
        if not isinstance(value, dict):
            records.append(_Record(number, {}, message("corpus_file.line_no_object", type=type(value).__name__)))
            continue
        columns = {_name(name, texts): field for name, field in value.items() if field is not None}
        if not_texts := [name for name in texts if not isinstance(columns.get(name, ""), str)]:
            example = canonical(columns[not_texts[0]])[:40]
            records.append(_Record(number, {}, message("corpus_file.no_string", column=not_texts[0], example=example)))
        else:
            records.append(_Record(number, {name: _value(field) for name, field in columns.items()}))
    return records


def _name(column: str, texts: tuple[str, ...]) -> str:
    """Our own columns may be written in any case; the user's keep theirs."""
    return column.lower() if column.lower() in (*_KNOWN, *texts) else column


def _value(value: object) -> str:
    return value if isinstance(value, str) else canonical(value)
