"""Writing many rows: Core executemany, and nothing happens twice."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import SQLModel

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
