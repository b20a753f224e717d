"""Writing many rows: Core executemany, and nothing happens twice."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import SQLModel

from audit.store import tables
from audit.tasks import Input

BATCH = 10_000
_IN = 500
"""Values in one IN (...): SQLite's smallest limit on bound parameters is 999."""


def table_of(model: type[SQLModel]) -> Table:
    """The Core table of a model."""
    return SQLModel.metadata.tables[str(model.__tablename__)]


def insert_new(connection: Connection, model: type[SQLModel], rows: Sequence[Mapping[str, Any]]) -> int:
    """Insert rows; those whose key is there already are left as they are. Returns how many were new."""
    new = 0
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table_of(model)).on_conflict_do_nothing()
    for start in range(0, len(rows), BATCH):
        new += connection.execute(statement, list(rows[start : start + BATCH])).rowcount
    return new


def insert_columns(connection: Connection, model: type[SQLModel], columns: Mapping[str, Any]) -> int:
    """As `insert_new`, from arrays or series of equal length by column; rows are made of them a batch at a time."""
    new = 0
    for start in range(0, len(next(iter(columns.values()), ())), BATCH):
        batch = (columns[name][start : start + BATCH].tolist() for name in columns)
        new += insert_new(connection, model, [dict(zip(columns, row, strict=True)) for row in zip(*batch, strict=True)])
    return new


def upsert(connection: Connection, model: type[SQLModel], rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows; those whose primary key is there already get the new values."""
    if not rows:
        return
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    table = table_of(model)
    statement = dialect.insert(table)
    changed = {name: statement.excluded[name] for name in rows[0] if not table.c[name].primary_key}
    statement = statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=changed)
    for start in range(0, len(rows), BATCH):
        connection.execute(statement, list(rows[start : start + BATCH]))


def pieces(values: Iterable[Any], size: int = _IN) -> Iterable[list[Any]]:
    """Cut values into lists that fit into one IN (...).

    >>> list(pieces([1, 2, 3], 2))
    [[1, 2], [3]]
    """
    piece: list[Any] = []
    for value in values:
        piece.append(value)
        if len(piece) == size:
            yield piece
            piece = []
    if piece:
        yield piece


def input_ids(connection: Connection, inputs: Iterable[Input]) -> dict[bytes, int]:
    """Store each distinct input once; returns its id by its key."""
    distinct = {one.key: one for one in inputs}
    found = _find(connection, distinct)
    missing: list[dict[str, Any]] = [
        {"key": key, "texts": list(one.texts), "languages": ",".join(one.languages)}
        for key, one in distinct.items()
        if key not in found
    ]
    if missing:
        insert_new(connection, tables.Input, missing)
        found |= _find(connection, [bytes(row["key"]) for row in missing])
    return found


def _find(connection: Connection, keys: Iterable[bytes]) -> dict[bytes, int]:
    table = table_of(tables.Input)
    found: dict[bytes, int] = {}
    for piece in pieces(keys):
        rows = connection.execute(select(table.c.key, table.c.id).where(table.c.key.in_(piece)))
        found.update({bytes(row[0]): int(row[1]) for row in rows})
    return found
