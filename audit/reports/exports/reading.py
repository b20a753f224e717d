"""`audit import`: a new database from an export, after a check of every file against the manifest."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

from sqlalchemy import Connection, Engine, Table, func, select, tuple_
from sqlmodel import SQLModel

from audit.annotation.accounts import GOLD, MODEL, ROLES
from audit.annotation.answers import SCALES, UNSURE, WITHDRAWN
from audit.annotation.causes import CAUSES, REASONS
from audit.annotation.control_questions import PURPOSES
from audit.annotation.deferral import BACK, FLAG, SKIP, UNFLAG
from audit.annotation.questions import ABOUT_OUTPUTS, labels_of, question_key
from audit.errors import BadFile, BadRow
from audit.files import read_json
from audit.keys import digest, uniform
from audit.relations import Outcome
from audit.relations.base import Role
from audit.reports.exports.writing import DOCUMENTS, FORMAT, MANIFEST
from audit.sampling.samples import QUORUMS
from audit.store import group_id, open_store, table_of, tables
from audit.store.copying import filled
from audit.store.dump import FOLDER, check, load_tables, seal
from audit.tasks import Input, get_task

# Whether the rows of an export mean something: an export that was sealed anew may hold anything that a table can.
#
# A row that breaks a rule here would end a report, a page or a replay later, far from the line that it came from.

NAME = 1_000
"""Characters of a name at most: a report that repeats a longer one in every line never ends."""
EARLIEST, LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
_ORIGINS = ("adjudicated", "people", GOLD)
_NAMES = {
    "study": ("task", "corpus", "fingerprint", "unit"),
    "source": ("row", "cluster"),
    "relation": ("task", "name", "version"),
    "system": ("name", "version"),
    "annotator": ("name", "role", "languages"),
    "input": ("languages",),
    "plan": ("name",),
    "setting": ("name",),
    "log": ("action",),
    "judgement": ("answer", "client"),
}
_WORDS: dict[str, dict[str, Collection[Any]]] = {
    "annotator": {"role": (*ROLES, GOLD, MODEL)},
    "study": {"unit": ("sentence", "document")},
    "member": {"role": get_args(Role)},
    "verdict": {"outcome": [int(outcome) for outcome in Outcome]},
    "sample": {"quorum": QUORUMS},
    "question": {"kind": (*ABOUT_OUTPUTS, "group", *SCALES)},
    "validity_study": {"asks": ("texts", "groups", "both")},
    "judgement": {"round": range(4)},
    "adjudication": {"code": (*REASONS, None)},
    "answer": {"origin": _ORIGINS},
    "aside": {"kind": (SKIP, FLAG, BACK, UNFLAG)},
    "cause": {"code": tuple(CAUSES)},
    "known": {"purpose": PURPOSES},
}
_RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "study": {"chunk": (1, 1e6), "limit": (1, 1e18)},
    "source": {"u": (0, 1)},
    "sample": {"annotators": (1, 1e6)},
    "question": {"annotators": (1, 1e6), "waits": (0, 1e18), "priority": (-1e18, 1e18)},
    "draw": {"rank": (1, 1e18), "pi": (1e-300, 1)},
    "validity_study": {"annotators": (1, 1e6)},
    "validity_draw": {"rank": (1, 1e18), "step": (0, 1e4)},
    "audit": {"groups": (0, 1e18), "follow_ups": (0, 1), "answers": (0, 1)},
    "output": {"attempt": (1, 1e4)},
    "repeat": {"number": (1, 1e4)},
    "member": {"step": (0, 1e4)},
    "progress": {"chunk": (0, 1e18)},
    "plan": {"version": (1, 1e9)},
}
_OBJECTS = {"source": ("attributes",), "log": ("detail",), "plan": ("content",)}
_JSON = {"relation": "params", "system": "settings"}
_ANSWERED = ("judgement", "adjudication", "answer", "known")


class Meaning:
    """The rules of rows, each of which may ask for rows that came before it."""

    def __init__(self, connection: Connection):
        self._connection = connection
        self._question = cache(self._read(tables.Question, "task", "kind"))
        self._study = cache(self._read(tables.Study, "seed", "task"))
        self._labels = cache(labels_of)

    def check(self, table: str, row: Mapping[str, Any]) -> None:
        """Raises ValueError that says what of a row cannot be, as a part of a sentence; AuditError for a name."""
        for name in _NAMES.get(table, ()):
            if len(row.get(name) or "") > NAME:
                raise ValueError(f"column {name} has {len(row[name]):,} characters, at most {NAME:,} are allowed")
        for name, words in _WORDS.get(table, {}).items():
            if name in row and row[name] not in words:
                allowed = ", ".join("nothing" if word is None else str(word) for word in words)
                raise ValueError(f"column {name} is {str(row[name])[:40]!r}; allowed are {allowed}")
        for name, (least, most) in _RANGES.get(table, {}).items():
            value = row.get(name)
            if value is not None and not least <= value <= most:
                raise ValueError(f"column {name} is {value}; allowed is {least:g} to {most:g}")
        for name, value in row.items():
            if isinstance(value, datetime) and not EARLIEST <= value < LATEST:
                raise ValueError(f"column {name} is {value.isoformat()}; allowed are the years 1990 to 2199")
        for name in _OBJECTS.get(table, ()):
            if name in row and not isinstance(row[name], dict):
                raise ValueError(f"column {name} is no object in JSON")
        if json_column := _JSON.get(table):
            try:
                value = json.loads(row.get(json_column, "{}"))
            except (ValueError, RecursionError):
                value = None
            if not isinstance(value, dict):
                raise ValueError(f"column {json_column} is no object in JSON")
        if "task" in row:
            get_task(row["task"])
        if table in _ANSWERED:
            self._check_labels(table, row)
        rules = {
            "input": self._check_input,
            "study": self._check_study_key,
            "source": self._check_random_number,
            "group": self._check_group_id,
            "question": self._check_question_key,
        }
        if rule := rules.get(table):
            rule(row)

    def _check_input(self, row: Mapping[str, Any]) -> None:
        texts = row["texts"]
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise ValueError("column texts is no list of texts")
        _require_match("key", row["key"], Input.stored(texts, row["languages"]).key)

    def _check_study_key(self, row: Mapping[str, Any]) -> None:
        if not row.get("imported"):
            parts = (row["task"], row["corpus"], row["fingerprint"], row["unit"], str(row["seed"]), str(row["limit"]))
            _require_match("key", row["key"], digest(*parts))

    def _check_random_number(self, row: Mapping[str, Any]) -> None:
        study = self._study(row["study_id"])
        if study is not None:  # else the database refuses it
            _require_match("u", row["u"], uniform(study[0], row["row"]))

    def _check_group_id(self, row: Mapping[str, Any]) -> None:
        _require_match("id", row["id"], group_id(row["source_id"], row["relation_id"], row["system_id"]))

    def _check_question_key(self, row: Mapping[str, Any]) -> None:
        if row["kind"] != "group":
            stored = self._read(tables.Input, "key")(row["input_id"])
            if stored is not None:
                _require_match(
                    "key", row["key"], question_key(row["task"], row["kind"], bytes(stored[0]), row["output"])
                )

    def _check_labels(self, table: str, row: Mapping[str, Any]) -> None:
        question = self._question(row["question_id"])
        if question is None:
            return  # the database refuses it
        allowed = self._labels(*question)
        if table == "judgement":
            labels = [row["answer"]]
            allowed = (*allowed, UNSURE, WITHDRAWN)
        else:
            labels = row["allowed"]
            if not isinstance(labels, list):
                raise ValueError("column allowed is no list of labels")
        for label in labels:
            if label not in allowed:
                raise ValueError(f"the label {str(label)[:40]!r} is not one of {', '.join(allowed)}")

    def _read(self, model: type[SQLModel], *columns: str) -> Callable[[int], Any]:
        table = table_of(model)
        query = select(*(table.c[name] for name in columns))
        return lambda id: self._connection.execute(query.where(table.c.id == id)).first()


def lost_group(connection: Connection) -> tuple[str, int] | None:
    """A table with a row whose group is not there, which no database refuses by itself, and that row's place in the
    order of the key, from 1; None where there is none."""
    group = table_of(tables.Group)
    for table in SQLModel.metadata.sorted_tables:
        column = table.columns.get("group_id")
        if column is None or column.foreign_keys:
            continue
        keys = tuple_(*table.primary_key.columns)
        present = select(group.c.id).where(group.c.id == column).exists()
        query = select(*table.primary_key.columns).where(column.is_not(None), ~present)
        row = connection.execute(query.order_by(*table.primary_key.columns).limit(1)).first()
        if row is not None:
            return table.name, _position(connection, table, keys <= tuple_(*row))
    return None


def _position(connection: Connection, table: Table, until: Any) -> int:
    return int(connection.execute(select(func.count()).select_from(table).where(until)).scalar_one())


def _require_match(column: str, value: Any, content: Any) -> None:
    if value != content:
        raise ValueError(f"column {column} does not fit the content of the row")


_NEEDED = {"schema": int, "pseudonymised": bool, "free_text": bool, "tables": dict, "documents": list, "files": dict}

_LONGEST = 200
"""Characters in the name of a file: ours are shorter."""


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of an export whose files are all as they were written.

    Raises BadFile: no export, an export of a later audit, or a file that is missing, cut short or changed (file, line).
    """
    path = folder / MANIFEST
    if not folder.is_dir():
        raise BadFile(f"{folder}: there is no such folder; name one that `audit export` wrote")
    if not path.exists():
        raise BadFile(f"{folder}: this is no export, it has no {MANIFEST}; name a folder that `audit export` wrote")
    manifest = read_json(path, "export again")
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise BadFile(f"{path}: not a manifest of format {FORMAT}, the one this audit reads")
    if manifest.get("seal") != seal(manifest):
        raise BadFile(f"{path}: changed since the export was made (its seal does not fit); export again")
    for name, kind in _NEEDED.items():
        if not isinstance(manifest.get(name), kind):
            raise BadFile(f"{path}: {name!r} is missing or not what it should be; export again")
    if manifest["schema"] != tables.SCHEMA_VERSION:
        raise BadFile(
            f"{path}: the export has tables of version {manifest['schema']}, this audit reads version "
            f"{tables.SCHEMA_VERSION}; install audit {manifest.get('audit')}"
        )
    unknown = sorted(set(map(str, manifest["documents"])) - set(DOCUMENTS))
    if unknown:
        raise BadFile(f"{path}: the document {unknown[0]!r} is unknown; this audit computes {', '.join(DOCUMENTS)}")
    expected = {*manifest["documents"], *(f"{FOLDER}/{table}.jsonl" for table in manifest["tables"])}
    unsealed = sorted(expected - set(manifest["files"]))
    if unsealed:
        raise BadFile(f"{path}: the file {unsealed[0]!r} is not among the files; export again")
    root = folder.resolve()
    for name, sealed in manifest["files"].items():
        if len(name) > _LONGEST or not name.isprintable():
            raise BadFile(f"{path}: {name[:40]!r} is no name of a file of an export; export again")
        if not (root / name).resolve().is_relative_to(root):
            raise BadFile(f"{path}: the file {name!r} is not in the export's folder")
        check(folder, name, sealed)
    return manifest


def import_export(folder: Path, where: str) -> dict[str, Any]:
    """Make the database of an export, in a new or empty one, whole or not at all; returns the manifest.

    Raises BadFile or BadRow as `read_manifest` and `load_tables` do, and for a database that is not empty.
    """
    manifest = read_manifest(folder)
    with filled(where) as connection:
        load_tables(connection, folder, manifest["tables"], Meaning(connection).check)
        if orphan := lost_group(connection):
            table, place = orphan
            raise BadRow(folder / FOLDER / f"{table}.jsonl", place, "column group_id names a group that is not there")
    return manifest


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Engine, dict[str, Any]]]:
    """A temporary database of an export, and the manifest. Raises what `import_export` raises."""
    with TemporaryDirectory(prefix="audit-") as place:
        where = str(Path(place) / "export.db")
        manifest = import_export(folder, where)
        engine = open_store(where)
        try:
            yield engine, manifest
        finally:
            engine.dispose()
