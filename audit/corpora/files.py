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
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from statistics import median_high
from typing import TYPE_CHECKING

from audit.corpora.base import Row, Unit
from audit.errors import AuditError, BadFile
from audit.files import (
    LARGE,
    MISSING,
    as_text,
    is_table_name,
    named_columns,
    plain_frame,
    read_pieces,
    refuse_bad_rows,
    refuse_no_file,
    refuse_unknown_columns,
    unstorable,
)
from audit.keys import canonical, fingerprint, normal_text
from audit.messages import message
from audit.tasks import Input, base_of, get_task, label_reader, labels_to_write, text_columns, text_names
from audit.tasks.similarity import level_of
from audit.text import Analysis
from audit.text.languages import is_code

if TYPE_CHECKING:
    import pandas as pd

LONGEST = 1_000_000  # Bytes of UTF-8 that one text may have: a longer one is a broken quotation mark, not a review
_LOOKED_AT = 200
_KNOWN = ("id", "gold", "language", "document")
_TARGET = "target_language"
_MOST_LABELS = 100
"""Labels of a scheme that is made from the gold labels of a file: where there are more, they are no labels."""
CLUSTER = "cluster"  # Another word for the column `document`
Faults = list[tuple[int, str]]  # Lines and what is wrong with each


@dataclass(frozen=True)
class Reading:
    """How somebody's file is read: our name of a column -> the file's, and a label of the file -> ours (empty: no
    gold)."""

    columns: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    def check(self, task: str) -> None:
        """Raise AuditError for a column that files do not have, and for a label that is none of the task's."""
        definition = get_task(task)
        allowed = (*text_columns(definition.texts), *text_names(definition), *_KNOWN, CLUSTER, _TARGET, "reference")
        refuse_unknown_columns(self.columns, allowed)
        for written, label in self.labels.items():
            if label and definition.labels and label not in definition.labels:
                allowed_labels = f"one of {', '.join(definition.labels)}; leave it empty for no gold"
                raise AuditError(f"labels {written}={label}: {label!r} is not {allowed_labels}", parameter="labels")

    def label(self, gold: str) -> str:
        """Return what a gold label of the file stands for: itself, unless a label is named; empty: no gold."""
        by_word = {written.strip().casefold(): label for written, label in self.labels.items()}
        return by_word.get(gold.casefold(), gold)

    def names(self, path: Path, written: Sequence[str], task: str) -> dict[str, str]:
        """Return our names of a file's columns, by the file's; the user's own columns keep theirs. Ours may be written
        in any case; the texts of a pair may have the names that their task has for them. Raises BadFile for a column
        that is missing, with the one that may be meant, or that is there twice."""
        texts, folded = text_columns(get_task(task).texts), {name.casefold() for name in written}
        own = dict(zip(text_names(get_task(task)), texts, strict=False))
        columns = {own.get(ours, "document" if ours == CLUSTER else ours): it for ours, it in self.columns.items()}
        if not {*texts} & (folded | {*columns}):
            columns |= {text: name for name, text in own.items() if name in folded}
        places = named_columns(path, written, dict.fromkeys([*texts, *_KNOWN, _TARGET, *columns]), columns)
        if missing := [name for name in texts if name not in places]:
            hint = offered_columns(written, task)
            lacking = f"{path} has no column {missing[0]!r}; it has {', '.join(map(repr, written))}"
            raise BadFile("; ".join([lacking, *hint]), parameter="columns" if hint else "")
        ours = {written[at]: name for name, [at] in places.items()}
        for name in written:  # a column with a name of ours, which another one is read for, is the user's own
            ours.setdefault(name, f"{name} (own)" if name.casefold() in places else name)
        return ours


AS_IT_IS = Reading()  # Of a file with our names and labels


def is_file_name(name: str) -> bool:
    """Return whether a corpus name is meant as a file: it ends as a table does or is there."""
    return is_table_name(name) or os.path.isfile(name)  # Path's raises for very long names


class FileCorpus:
    """The rows of a table of the user's: CSV, TSV, JSONL, a JSON array, Excel or Parquet (`audit.files.read_pieces`),
    or of a DataFrame; one above `LARGE` bytes is not kept in memory, but read again.

    `unit` is "document" when the median text of the first 200 has more than one sentence, unless it is given. Rows are
    keyed by their id, or by their number (from 1). `reading` says what columns and labels stand for. Classification
    without a scheme takes the file's own gold labels, sorted. `content` is what the file holds, where it was read
    already, or a DataFrame. Raises BadFile or, for a single bad row, BadRow; then no row is usable. Raises AuditError
    for a language that is no code, and for a reading that does not fit the task."""

    def __init__(
        self,
        path: str | Path,
        task: str = "sentiment",
        unit: Unit | None = None,
        language: str | None = None,
        reading: Reading = AS_IT_IS,
        content: "bytes | pd.DataFrame | None" = None,
    ):
        self.path = Path(path)
        self.name = self.path.name
        self._content = content
        if content is None:
            refuse_no_file(path)
        self._fill(task, unit, language, reading, keep=content is not None or self.path.stat().st_size <= LARGE)

    def _pieces(self, bad: Faults) -> "Iterator[pd.DataFrame]":
        """Yield the table in frames as `read_pieces` does: what a corpus of another form reads in its own way."""
        if self._content is None or isinstance(self._content, bytes):
            return read_pieces(self.path, bad, self._content)
        return iter([plain_frame(self._content, self.name)])

    def _fill(self, task: str, unit: Unit | None, language: str | None, reading: Reading, keep: bool = True) -> None:
        if language is not None and not is_code(language):
            raise AuditError(message("wrong.language", language=language))
        reading.check(task)
        self.task, self._reading, self._default = task, reading, language or "en"
        self.attributes: tuple[str, ...] = ()  # The user's own columns, which are kept and not looked at
        self._has_languages = False
        self._kept: list[Row] | None = None
        languages: Counter[str] = Counter()
        kept: list[Row] | None = [] if keep else None
        self._fingerprint = fingerprint(self._checked(languages, kept))
        self._kept, self._number = kept, languages.total()
        self.languages = tuple(code for code, _ in languages.most_common())
        self.language = language or self.languages[0]
        first = list(islice(self.rows(), _LOOKED_AT))
        if language is None and not self._has_languages:
            refuse_other_languages(self.path, [row.input.text for row in first])
        self.unit: Unit = unit or unit_of(first)
        self.has_gold = self.labelled > 0
        self.summary = f"{self._number:,} {self.unit}s of {self.path}"

    def _checked(self, languages: Counter[str], kept: list[Row] | None) -> Iterator[str]:
        """Yield what names the content: a text for each row. After the last one, raise for all rows that are wrong."""
        bad: Faults = []
        golds: dict[str, list[int]] = {}
        line_of: dict[str, int] = {}
        misfit = getattr(get_task(self.task), "misfit", None)  # of an answer that is about places in the text
        for line, row in self._raw_rows(bad):
            gold = row.gold or ""
            languages[row.input.languages[0]] += 1
            golds.setdefault(gold, []).append(line)
            if (first := line_of.setdefault(row.key, line)) != line:
                bad.append((line, message("corpus_file.id_twice", id=row.key, line=first)))
            elif misfit and (reason := misfit(gold, row.input.text)):
                bad.append((line, reason))
            if kept is not None:
                kept.append(row)
            both = row.input.languages[0], row.input.target or ""
            label = self._reading.label(gold).casefold()
            yield canonical([row.key, row.input.texts, both, label, row.cluster or "", row.attributes])
        unknown = self._read_gold(golds, bad)
        advice = offered_labels(unknown, self.task)
        number = len({line for line, _ in bad}.union(*golds.values()))
        refuse_bad_rows(self.path, [*dict(reversed(bad)).items()], number, ("labels", "task") * bool(advice), advice)
        if not number:
            raise BadFile(message("file.no_rows", file=self.path))

    def _raw_rows(self, bad: Faults) -> Iterator[tuple[int, Row]]:
        """Yield each row of the table with its line, its gold as it is written; what is wrong with others goes to
        `bad`. Raises BadFile for a column of texts that is missing."""
        names: dict[str, str] = {}
        texts = text_columns(get_task(self.task).texts)
        number = 0
        for piece in self._pieces(bad):
            if not names and len(piece.columns):
                names = self._reading.names(self.path, list(piece.columns), self.task)
                self._has_languages = "language" in names.values()
            piece = piece.rename(columns=names)
            piece = piece.loc[:, ~piece.columns.duplicated()]
            own = [name for name in piece.columns if name not in (*_KNOWN, *texts)]
            self.attributes = tuple(dict.fromkeys([*self.attributes, *own]))
            for line, cells in zip(piece.index, piece.to_dict("records"), strict=True):
                number += 1
                fields = {name: "" if cells.get(name) is None else as_text(cells[name]) for name in (*_KNOWN, _TARGET)}
                fields["id"] = fields["id"] if "id" in names.values() else str(number)
                fields["language"] = fields["language"] or self._default
                held = {name: cells[name] for name in own if cells[name] is not None}
                kept = {name: it if isinstance(it, str) else canonical(it) for name, it in held.items()}
                if reason := _fault({name: cells.get(name) for name in texts}, fields, kept):
                    bad.append((line, reason))
                    continue
                target = fields[_TARGET] if self.task == "translation" else ""
                written = [normal_text(cells[name]) for name in texts]
                subject = Input.of(*written, language=fields["language"], target=target or None)
                yield line, Row(fields["id"], subject, fields["gold"] or None, fields["document"] or None, kept)

    def _read_gold(self, golds: Mapping[str, list[int]], bad: Faults) -> set[str]:
        """Read what each gold of the file stands for, or the scheme; return those that stand for nothing, whose rows
        are bad."""
        meant = {gold: self._reading.label(gold) for gold in golds}
        if self.task == "classification":
            self.task = _with_scheme(self.path, list(filter(None, meant.values())), self._reading)
        definition, label_of, unknown = get_task(self.task), gold_of(self.task), set[str]()
        self._labels = {gold: label_of(label) if label else None for gold, label in meant.items()}
        self.labelled = sum(len(golds[gold]) for gold, label in self._labels.items() if label)  # Rows with a gold label
        allowed = [*labels_to_write(definition), *["a number from 0 to 1"] * (base_of(self.task) == "similarity")]
        for gold, label in meant.items():
            if label and definition.question_kind == "pair":
                reason = message("corpus_file.no_gold", gold=label, task=self.task)
            elif label and self._labels[gold] is None:
                reason = message("corpus_file.unknown_gold", gold=label, allowed=allowed)
                unknown.add(label)
            else:
                continue
            bad += [(line, reason) for line in golds[gold]]
        return unknown

    def needs(self) -> str | None:
        return None

    def size(self) -> int | None:
        return self._number

    def fingerprint(self) -> str:
        """Return what names the rows; neither the file's name nor its line ends count."""
        return self._fingerprint

    def rows(self) -> Iterator[Row]:
        rows = (row for _, row in self._raw_rows([])) if self._kept is None else self._kept
        return (replace(row, gold=self._labels[row.gold or ""]) for row in rows)


def unit_of(rows: Sequence[Row]) -> Unit:
    """Return "document" where the median text of the first 200 rows has more than one sentence."""
    sentences = [len(Analysis(row.input.text, row.input.languages[0]).spans) for row in rows[:_LOOKED_AT]]
    return "document" if median_high(sentences) > 1 else "sentence"


def _fault(texts: Mapping[str, object], fields: Mapping[str, str], own: Mapping[str, str]) -> str | None:
    """Return why a row cannot be a source; None where it can."""
    for name, text in texts.items():
        if not isinstance(text, str):
            return message("corpus_file.no_string", column=name, example=canonical(text)[:40])
        if not text:
            return message("file.empty_column", column=name)
        if len(text) > LONGEST // 4 and (size := len(text.encode("utf-8", "surrogatepass"))) > LONGEST:
            return message("corpus_file.long_text", column=name, size=size, most=LONGEST)
    for name, value in {**fields, **texts, **own}.items():
        if what := unstorable(str(value)):
            return message("corpus_file.unstorable", column=name, what=what)
    if not is_code(fields["language"]):
        return message("wrong.language", language=fields["language"])
    return None if fields["id"] else message("file.empty_column", column="id")


# Gold labels.


def gold_of(task: str) -> Callable[[str], str | None]:
    """Return what reads gold of a file for a task: a label in any case; for similarity a number from 0 to 1, too."""
    spelled = label_reader(get_task(task))
    scored = base_of(task) == "similarity"

    def read(gold: str) -> str | None:
        score = _number(gold) if scored else math.nan
        return level_of(score) if 0 <= score <= 1 else spelled(gold)

    return read


def _number(gold: str) -> float:
    try:
        return float(gold)
    except ValueError:
        return math.nan


def _with_scheme(path: Path, golds: Sequence[str], reading: Reading) -> str:
    """Return the task with the labels that the column gold has, each as it is written first. Raises BadFile."""
    labels: dict[str, str] = {}
    for gold in golds:
        labels.setdefault(gold.casefold(), gold)
    if missing := sorted(MISSING.intersection(golds) - set(reading.labels.values())):
        pairs = ",".join(f"{name}=" for name in missing)
        what = f"{', '.join(missing)} in the column gold stand for no label in R, pandas and SQL"
        raise BadFile(f"{path}: {what}; labels={pairs} reads them so", parameter="labels")
    if len(labels) < 2:
        raise BadFile(message("corpus_file.no_labels", file=path))
    if len(labels) > _MOST_LABELS:
        raise BadFile(message("corpus_file.many_labels", file=path, count=len(labels), most=_MOST_LABELS))
    if with_comma := [label for label in labels.values() if "," in label]:
        advice = "write it without, or with + between several labels of a text and the task classification/a+b"
        raise BadFile(f"{path}: the gold label {with_comma[0]!r} has a comma, which separates labels; {advice}")
    return f"classification/{','.join(sorted(labels.values()))}"


# Guesses at what columns and labels stand for: offered, and never taken unasked.

_TEXT_WORDS = (
    "text", "review", "sentence", "content", "body", "comment", "message", "tweet", "post", "premise", "context"
)  # fmt: skip
_GOLD_WORDS = ("gold", "label", "sentiment", "class", "category", "target", "topic", "rating", "stars", "answer", "y")
_LABEL_WORDS = {
    "positive": ("pos", "good", "正面", "积极"),
    "negative": ("neg", "bad", "负面", "消极"),
    "neutral": ("neu", "mixed", "中性"),
    "entailment": ("entail", "entails", "entailed", "e", "yes", "true"),
    "contradiction": ("contradict", "contradicts", "contradictory", "c", "no", "false"),
}
_NUMBERED: tuple[Mapping[float, str], ...] = (
    {0: "negative", 1: "positive"},
    {-1: "negative", 0: "neutral", 1: "positive"},
    {1: "negative", 2: "negative", 3: "neutral", 4: "positive", 5: "positive"},
)  # What numbers stand for where a file has both ends of a scale, and no others


_OWN_SCHEME = (
    "with labels of its own the task is classification, or classification/a,b to name them; labels=THEIRS=OURS reads "
    "them as ours"
)


def offered_columns(head: Sequence[str], task: str) -> list[str]:
    """Return the columns that may be meant for the texts of a task and for gold; nothing where that is not clear."""
    definition, free, meant = get_task(task), list(head), dict[str, str]()
    texts = text_columns(definition.texts)
    for ours, own in [*zip(texts, text_names(definition) or texts, strict=True), ("gold", "gold")]:
        words = _GOLD_WORDS if ours == "gold" else (ours, own, *_TEXT_WORDS)
        if near := next((name for word in words for name in free if name.lower() == word), None):
            meant[ours] = near
            free.remove(near)
    offered = [f"{ours}={name}" for ours, name in meant.items() if name.lower() != ours]
    is_plain = offered and {*texts} <= meant.keys()
    return [f"columns={','.join(offered)} reads these"] if is_plain else []


def offered_labels(unknown: Collection[str], task: str) -> list[str]:
    """Return what may be meant by gold labels that a task does not have."""
    guess = guessed_labels(unknown, get_task(task).labels)
    if guess and all(label is not None for label in guess.values()):
        pairs = ",".join(f"{gold}={label}" for gold, label in guess.items())
        return [f"labels={pairs} reads them as those of {base_of(task)}"]
    return [_OWN_SCHEME] if guess and get_task(task).texts == 1 else []


def guessed_labels(unknown: Collection[str], labels: Sequence[str]) -> dict[str, str | None]:
    """Return for each label of a file, sorted, the task's that it seems to mean; "": no gold, None: nothing is
    clear."""
    numbers = {gold: number for gold in unknown if not math.isnan(number := _number(gold))}
    values = set(numbers.values())
    fits = (scale for scale in _NUMBERED if {min(scale), max(scale)} <= values <= scale.keys())
    scale = next((scale for scale in fits if set(scale.values()) <= set(labels)), {})
    guesses: dict[str, str | None] = {}
    for gold in sorted(unknown):
        words = [label for label in labels if gold.casefold() in (label.casefold(), *_LABEL_WORDS.get(label, ()))]
        word = words[0] if len(words) == 1 else None
        guesses[gold] = "" if gold in MISSING else scale.get(numbers.get(gold, math.nan)) or word
    return guesses


# Texts that are in another language than a file is taken to be in.

_SCRIPTS = {
    "Arabic": "\u0600-\u06ff", "Russian": "\u0400-\u04ff", "Greek": "\u0370-\u03ff", "Hebrew": "\u0590-\u05ff",
    "Hindi": "\u0900-\u097f", "Thai": "\u0e00-\u0e7f", "Korean": "\uac00-\ud7af", "Japanese": "\u3040-\u30ff",
    "Chinese": "\u4e00-\u9fff",
}  # Language -> the letters that are its alone, or of few others  # fmt: skip
# Japanese stands before Chinese, whose signs it has, too.
_OF_LATIN = {"Spanish": "es", "French": "fr", "German": "de", "Italian": "it", "Portuguese": "pt", "Dutch": "nl"}
_SHARE = 0.1  # Share of texts in other languages above which a file is refused: a few among many are told, and run
_LEAST = 4  # Usual words of a language from which on a text is in it


@cache
def _usual_words() -> Mapping[str, set[str]]:
    """Return the usual words of English ("") and of other languages, of spaCy; none where it is not installed."""
    try:
        codes = {"": "en", **_OF_LATIN}
        return {name: import_module(f"spacy.lang.{code}.stop_words").STOP_WORDS for name, code in codes.items()}
    except ImportError:
        return {}


def other_language(text: str) -> str:
    """Return which language a text is in that cannot be English; empty where it may be."""
    letters = re.findall(r"[^\W\d_]", text)
    for language, script in _SCRIPTS.items():
        if 2 * len(re.findall(f"[{script}]", text)) > max(len(letters), _LEAST):
            return language
    words = re.findall(r"[^\W\d_]+", text.lower())
    counts = {language: sum(word in usual for word in words) for language, usual in _usual_words().items()}
    best = max(counts, key=lambda language: counts[language], default="")
    return best if best and counts[best] >= max(_LEAST, 3 * counts[""], len(words) / 5) else ""


def refuse_other_languages(file: object, texts: Sequence[str]) -> None:
    """Raise BadFile where more than a tenth of the texts of a file that says no language cannot be in English."""
    counts = Counter(filter(None, map(other_language, texts)))
    if counts.total() > _SHARE * len(texts):
        named = (
            f"{counts.total()} of {len(texts)} texts look {', '.join(language for language, _ in counts.most_common())}"
        )
        advice = "say the language of each in a column `language`, or of all with language=CODE"
        raise BadFile(f"{file}: {named}; {advice}", parameter="language")
