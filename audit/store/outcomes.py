"""Every check of a study at once: one row a source under a relation, one column a system, as arrays.

A database holds millions of verdicts, and a report looks at all of them: as Python objects they would take seconds and
gigabytes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, ColumnElement, Connection, Engine, Select, case, cast, func, select
from sqlmodel import SQLModel

from audit.errors import AuditError
from audit.store import tables
from audit.store.bulk import LIMIT, group_ids, insert_new, pieces, table_of
from audit.tasks import Input

UNCHECKED = -1
_MOST = 6
"""No outcome (`audit.relations.Outcome`) has a greater number."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The checks of some studies, ordered by source and relation.

    `study`, `relation` and `source` (rows,) are ids; `outcome` (rows, systems) of int8 is a number of
    `audit.relations.Outcome`, or `UNCHECKED` where the system has no verdict; `own` (rows,) tells where each system has
    a group of its own. `systems` are the ids of the columns: all that have a verdict in these studies.
    """

    systems: tuple[int, ...]
    study: np.ndarray
    relation: np.ndarray
    source: np.ndarray
    own: np.ndarray
    outcome: np.ndarray

    def of(self, study: int) -> "Checked":
        return self._rows(self.study == study)

    def _rows(self, rows: np.ndarray) -> "Checked":
        columns = ("study", "relation", "source", "own", "outcome")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})

    def from_sources(self, sources: np.ndarray, study: int) -> "Checked":
        """Without the checks of a study whose source is not one of these; other studies stay whole."""
        return self._rows((self.study != study) | np.isin(self.source, sources))

    def groups(self, rows: np.ndarray) -> np.ndarray:
        """Ids of the groups of these rows, one column a system: (rows, systems) of int64."""
        base = (self.source[rows] * LIMIT + self.relation[rows]) * LIMIT
        return np.asarray(base[:, None] + np.where(self.own[rows][:, None], np.array(self.systems, np.int64), 0))


def integers(connection: Connection, query: Select[Any]) -> np.ndarray:
    """What a query of whole numbers returns (no nulls), as an array (rows, columns) of int64. The driver's own cursor
    is read, and its rows are strung together: SQLAlchemy's row objects would take four times as long, and a row at a
    time twice."""
    cursor: Any = connection.execute(query).cursor
    columns = len(query.selected_columns)
    if cursor is None:  # what returns no rows has no cursor; a SELECT always has one
        return np.empty((0, columns), np.int64)
    return np.fromiter(chain.from_iterable(cursor), np.int64).reshape(-1, columns)


def by_system(
    connection: Connection,
    key: ColumnElement[int],
    system: ColumnElement[int],
    value: ColumnElement[int],
    most: int,
    systems: Sequence[int],
    *conditions: ColumnElement[bool],
) -> tuple[np.ndarray, np.ndarray]:
    """Keys, ascending, and of each the value that each of these systems has, (keys, systems); -1: it has none.

    Values are from 0 to `most`, one a key and system. The database puts those of a key side by side in one number: a
    row for each would take four times as long and as much memory.
    """
    bits = (most + 1).bit_length()
    size, parts, keys = 62 // bits, [np.empty((0, 0), np.int8)], np.empty(0, np.int64)
    for begin in range(0, len(systems), size):
        batch = systems[begin : begin + size]
        place = case({id: 1 << bits * at for at, id in enumerate(batch)}, value=system, else_=0)
        number = cast(func.sum((value + 1) * place), BigInteger)
        query: Any = select(key, number).where(*conditions).group_by(key).order_by(key)
        keys, numbers = integers(connection, query).T
        shifts = bits * np.arange(len(batch))
        values = (numbers[:, None] >> shifts & ((1 << bits) - 1)) - 1
        parts = [*(parts if begin else []), values.astype(np.int8 if most < 127 else np.int32)]
    return keys.copy(), np.concatenate(parts, axis=1)


def checked(connection: Connection, studies: Sequence[int]) -> Checked:
    """All verdicts of these studies. Errors are checks, too: `outcome` says what each one found."""
    source, verdict = table_of(tables.Source), table_of(tables.Verdict)
    study_of = [
        integers(connection, select(source.c.id, source.c.study_id).where(source.c.study_id.in_(piece)))
        for piece in pieces(studies)
    ]
    places = np.concatenate([np.empty((0, 2), np.int64), *study_of])
    places = places[np.argsort(places[:, 0])]
    ends = group_ids(places[0, 0], places[-1, 0]) if len(places) else (0, 0)
    inside = verdict.c.group_id.between(*ends)
    systems = sorted(connection.execute(select(verdict.c.system_id).where(inside).distinct()).scalars())
    columns = (verdict.c.group_id, verdict.c.system_id, verdict.c.outcome)
    group, outcome = by_system(connection, *columns, _MOST, systems, inside)
    keep = np.isin(group // LIMIT**2, places[:, 0])  # between them lie sources of other studies, too
    group, outcome = group[keep], outcome[keep]
    ran = (outcome >= 0).any(0)
    # Groups of one source and relation, each for one system, become one row.
    first = np.flatnonzero(np.diff(group // LIMIT, prepend=-1))
    outcome = np.maximum.reduceat(outcome[:, ran], first) if len(first) else outcome[:, ran]
    group = group[first]
    at = group // LIMIT**2
    of_study = places[np.searchsorted(places[:, 0], at), 1]
    systems_of = tuple(np.array(systems, np.int64)[ran].tolist())
    return Checked(systems_of, of_study, group // LIMIT % LIMIT, at, group % LIMIT > 0, outcome)


def need_study(connection: Connection, study: int) -> None:
    """Raises AuditError for a study that the database does not have."""
    table = table_of(tables.Study)
    study_ids = [str(row[0]) for row in connection.execute(select(table.c.id).order_by(table.c.id))]
    if str(study) not in study_ids:
        raise AuditError(f"there is no study {study}; this database has {', '.join(study_ids) or 'none'}")


# Inputs in the store: each distinct one once, found by its content.

_AT_ONCE = 900  # Keys asked for at once: SQLite's smallest limit on parameters is 999


def store_inputs(connection: Connection, wanted: Mapping[bytes, Input]) -> tuple[dict[bytes, int], set[bytes]]:
    """Store inputs, given by key; their ids by key, and the keys of those that were there before. On SQLite the
    connection must be one that writes (`audit.store.bulk`): new inputs get the next numbers."""
    ids_by_key = find_inputs(connection, list(wanted))
    before = set(ids_by_key)
    missing = [key for key in wanted if key not in ids_by_key]
    if not missing:
        return ids_by_key, before
    ids = _new_ids(connection, len(missing))
    new = [wanted[key] for key in missing]
    rows = {
        "id": ids,
        "key": missing,
        "texts": [item.texts for item in new],
        "languages": [",".join(item.languages) for item in new],
    }
    if insert_new(connection, tables.Input, rows) == len(missing):
        return ids_by_key | dict(zip(missing, ids, strict=True)), before
    # Another run stored some of them since we looked.
    return ids_by_key | find_inputs(connection, missing), set(wanted)


def input_ids(connection: Connection, inputs: Iterable[Input]) -> dict[bytes, int]:
    """Store each distinct input once; returns its id by its key."""
    return store_inputs(connection, {item.key: item for item in inputs})[0]


def _new_ids(connection: Connection, number: int) -> Sequence[int]:
    """Numbers that no input has: asking for each after the insert would take as long as the insert."""
    if connection.dialect.name == "sqlite":
        first = 1 + (connection.execute(select(func.max(table_of(tables.Input).c.id))).scalar() or 0)
        return range(first, first + number)
    sequence = func.pg_get_serial_sequence("input", "id")
    query = select(func.nextval(sequence)).select_from(func.generate_series(1, number))
    return [int(id) for id in connection.execute(query).scalars()]


def find_inputs(connection: Connection, keys: Sequence[bytes]) -> dict[bytes, int]:
    """Ids of the inputs with these keys, by key, of those that are there. Spelled for the drivers: SQLAlchemy takes
    longer to write IN than a database to answer."""
    ids: dict[bytes, int] = {}
    sqlite = connection.dialect.name == "sqlite"
    for piece in pieces(keys, _AT_ONCE):
        marks = ",".join(("?" if sqlite else "%s",) * len(piece))
        rows = connection.exec_driver_sql(f"SELECT key, id FROM input WHERE key IN ({marks})", tuple(piece))  # noqa: S608
        ids.update((bytes(key), int(id)) for key, id in rows)
    return ids


# Rows by their keys.


def id_of(connection: Connection, model: type[SQLModel], **key: object) -> int | None:
    """The id of the row with these values, which are a key; None where there is none."""
    number: int | None = connection.execute(select(table_of(model).c.id).filter_by(**key)).scalar()
    return number


def insert_one(connection: Connection, model: type[SQLModel], row: Mapping[str, Any], *key: str) -> tuple[int, bool]:
    """Insert a row unless there is one with its values of the columns `key`; its id, and whether it is new."""
    values = {name: row[name] for name in key}
    if (id := id_of(connection, model, **values)) is not None:
        return id, False
    new = insert_new(connection, model, [row])  # another process may have inserted it since we looked
    return id_of(connection, model, **values) or 0, bool(new)


def has_gold(engine: Engine) -> bool:
    study = table_of(tables.Study)
    with engine.connect() as connection:
        return connection.execute(select(study.c.id).where(study.c.has_gold).limit(1)).first() is not None
