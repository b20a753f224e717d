"""Texts that a manager uploaded: a corpus that lives in the database, so that a plan may name it as any other.

What is stored is the file's rows as JSONL and how they are read, as rows of `setting`: `corpus/NAME` says what it is,
and `corpus-text/NAME` has the rows, read only when they are wanted. A corpus never changes: other texts are another
corpus, with another name. So the study that a plan describes is the same wherever its database is.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, select

from audit.corpora import Corpus, Reading, Row, Unit, all_corpora
from audit.corpora.files import AS_IT_IS, FileCorpus, is_file_name
from audit.corpora.recordings import check_targets
from audit.errors import AuditError, Refused
from audit.files import read_pieces
from audit.judging.accounts import note, require_manager
from audit.keys import canonical
from audit.messages import message
from audit.store import reading, writing
from audit.store.core import setting

PREFIX = "corpus/"
"""Begins the name of the row of `setting` that describes a corpus."""
TEXT_PREFIX = "corpus-text/"
"""Begins the name of the row that holds its text."""
LONGEST_NAME = 60
LARGEST = 5 << 20
"""Bytes of a file. Larger ones are for the command line, where the file is."""


@dataclass
class UploadedCorpus:
    """A corpus in the database, as `Corpus` says; its text is read when its rows are wanted. `content` is its
    fingerprint."""

    engine: Engine
    name: str
    file: str
    task: str
    language: str
    languages: tuple[str, ...]
    unit: Unit
    has_gold: bool
    rows_in_it: int
    content: str
    columns: Mapping[str, str]
    labels: Mapping[str, str]

    def __post_init__(self) -> None:
        self.languages = tuple(self.languages)  # JSON has lists
        self.summary = f"{self.rows_in_it:,} {self.unit}s of {self.file}"

    def size(self) -> int:
        return self.rows_in_it

    def needs(self) -> None:
        """Nothing: it is here."""

    def fingerprint(self) -> str:
        return self.content

    def rows(self) -> Iterator[Row]:
        with reading(self.engine) as connection:
            query = select(setting.c.value).where(setting.c.name == f"{TEXT_PREFIX}{self.name}")
            text = str(connection.execute(query).scalar_one())
        own = Reading(self.columns, self.labels)
        return FileCorpus("stored.jsonl", self.task, self.unit, self.language, own, text.encode()).rows()


@dataclass(frozen=True)
class File:
    """A file that somebody sends, and what it is said to hold."""

    name: str
    content: bytes
    task: str = "sentiment"
    reading: Reading = AS_IT_IS
    language: str | None = None
    unit: Unit | None = None

    def lines(self) -> str:
        """Return its rows as JSONL."""
        rows = (row for piece in read_pieces(self.name, [], self.content) for row in piece.to_dict("records"))
        present = ({name: value for name, value in row.items() if value is not None} for row in rows)
        return "".join(f"{canonical(row)}\n" for row in present)

    def corpus(self) -> FileCorpus:
        """Return its texts as a corpus, not stored. Raises as `FileCorpus` does, and AuditError for what is too
        large."""
        refuse_large(self.name, self.content)
        corpus = FileCorpus(self.name, self.task, self.unit, self.language, self.reading, self.content)
        if self.task == "translation":
            check_targets(self.name, corpus.rows())
        return corpus


def refuse_large(name: str, content: bytes) -> None:
    """Raise AuditError for a file that is larger than `LARGEST`."""
    if len(content) > LARGEST:
        raise AuditError(message("upload.large", name=name[:80], most=LARGEST))


def store_corpus(engine: Engine, name: str, file: File, *, by: int) -> UploadedCorpus:
    """Store the texts of a file under a name, with a line in the log; return the corpus. The same texts again change
    nothing.

    `by` is the account of a manager. Raises NotAllowed for another role; AuditError for a name that cannot be one;
    BadFile and BadRow, which name the line, for a file that is not right; and Refused where other texts have the name.
    """
    name = name.strip()
    if not re.fullmatch(rf"[^\W_][\w -]{{0,{LONGEST_NAME - 1}}}", name) or is_file_name(name):
        raise AuditError(message("upload.bad_name", name=name[:80], most=LONGEST_NAME))
    if name in (corpus.name for corpus in all_corpora()):
        raise AuditError(message("upload.name_of_audit", name=name))
    corpus = file.corpus()
    row: dict[str, Any] = {"file": file.name, "rows_in_it": corpus.size(), "content": corpus.fingerprint()}
    row |= {name: getattr(corpus, name) for name in ("task", "language", "languages", "unit", "has_gold")}
    row |= {"columns": dict(file.reading.columns), "labels": dict(file.reading.labels)}
    with writing(engine) as connection:
        require_manager(connection, by)
        present = _by_name(engine, connection).get(name)
        if present is not None and (present.content != row["content"] or present.task != row["task"]):
            raise Refused(message("upload.name_taken", name=name))
        if present is None:
            rows = [(f"{PREFIX}{name}", row), (f"{TEXT_PREFIX}{name}", file.lines())]
            connection.execute(setting.insert(), [{"name": key, "value": value} for key, value in rows])
            note(connection, by, "texts uploaded", rows=corpus.size(), task=corpus.task)
    return UploadedCorpus(engine, name, **row)


def uploaded_here(engine: Engine) -> dict[str, Corpus]:
    """Return the corpora that plans of this database may name beside the registered ones, by name."""
    with reading(engine) as connection:
        return {**_by_name(engine, connection)}


def _by_name(engine: Engine, connection: Connection) -> dict[str, UploadedCorpus]:
    query = select(setting.c.name, setting.c.value).where(setting.c.name.startswith(PREFIX, autoescape=True))
    rows = ((key.removeprefix(PREFIX), row) for key, row in connection.execute(query.order_by(setting.c.name)))
    return {name: UploadedCorpus(engine, name, **row) for name, row in rows}
