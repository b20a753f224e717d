"""Writing many rows: as few steps per row as will do, and nothing happens twice.

SQLite gets plain values through its driver's `executemany`, converted column by column as SQLAlchemy does for the same
types; PostgreSQL gets SQLAlchemy's own.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from itertools import chain, islice
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.schema import ScalarElementColumnDefault
from sqlmodel import SQLModel

from audit.errors import AuditError

BATCH = 10_000
AT_ONCE = 40  # Rows that one statement gives to SQLite: twice the rows per second of one row each; more are no sooner
_PARAMETERS = 900  # SQLite's smallest limit on bound parameters is 999
_STATEMENTS = 1_000
_COUNTED = {"preserve_rowcount": True}  # SQLAlchemy forgets how many rows were new where PostgreSQL returns their ids
_IN = 500  # Values in one IN (...)

Rows = Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]]
"""Rows as dictionaries with the same keys, or, written sooner, as columns: name -> a value for each row."""


def table_of(model: type[SQLModel]) -> Table:
    return SQLModel.metadata.tables[str(model.__tablename__)]


def columns(names: str, rows: Iterable[tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    """Rows as columns.

    >>> columns("a b", [(1, 2), (3, 4)])
    {'a': (1, 3), 'b': (2, 4)}
    """
    return dict(zip(names.split(), zip(*rows, strict=True), strict=False))


def insert_new(connection: Connection, model: type[SQLModel], rows: Rows) -> int:
    """Insert rows; those whose key is there already are left as they are. Returns how many were new. Columns that are
    left out get the table's default."""
    return _write(connection, table_of(model), rows, replace=False)


def upsert(connection: Connection, model: type[SQLModel], rows: Rows) -> None:
    """Insert rows; those whose primary key is there already get the new values, the last ones where they come twice."""
    _write(connection, table_of(model), rows, replace=True)


def _write(connection: Connection, table: Table, rows: Rows, replace: bool) -> int:
    if not isinstance(rows, Mapping):
        rows = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    count = len(next(iter(rows.values()), ()))
    columns_given: dict[str, Any] = {}
    for field in table.columns if count else ():
        if field.name in rows:
            values: Any = rows[field.name]
            columns_given[field.name] = (
                values.tolist() if hasattr(values, "tolist") else values
            )  # drivers do not know NumPy's
        elif isinstance(field.default, ScalarElementColumnDefault):
            columns_given[field.name] = [field.default.arg] * count
    if not columns_given:
        return 0
    names = tuple(columns_given)
    if connection.dialect.name == "sqlite":
        return _write_to_sqlite(connection, table, columns_given, count, replace)
    statement = _with_conflict_clause(postgresql.insert(table), table, names, replace)
    by_row, new = (dict(zip(names, row, strict=True)) for row in zip(*columns_given.values(), strict=True)), 0
    while batch := list(islice(by_row, BATCH)):
        new += connection.execute(statement, batch, execution_options=_COUNTED).rowcount
    return new


def _write_to_sqlite(
    connection: Connection, table: Table, columns_given: Mapping[str, Any], count: int, replace: bool
) -> int:
    """Several rows a statement, and the last few one by one; JSON is text, times are as SQLite keeps them."""
    converted = []
    for name, values in columns_given.items():
        process = table.c[name].type.dialect_impl(connection.dialect).bind_processor(connection.dialect)
        converted.append(values if process is None else map(process, values))
    names, rows, new = tuple(columns_given), zip(*converted, strict=True), 0
    at_once = min(AT_ONCE, _PARAMETERS // len(names))
    values = chain.from_iterable(islice(rows, count - count % at_once))
    for several, parameters in ((at_once, zip(*[values] * (at_once * len(names)), strict=True)), (1, rows)):
        statement = _sqlite_statement(table, names, replace, several)
        while batch := list(islice(parameters, _STATEMENTS)):
            new += connection.exec_driver_sql(statement, batch).rowcount
    return new


@lru_cache(maxsize=256)
def _sqlite_statement(table: Table, names: tuple[str, ...], replace: bool, rows: int) -> str:
    statement = _with_conflict_clause(sqlite.insert(table), table, names, replace)
    placeholders = f"({', '.join('?' * len(names))})"
    sql = str(statement.compile(dialect=sqlite.dialect(), column_keys=list(names)))
    return sql.replace(f"VALUES {placeholders}", f"VALUES {', '.join([placeholders] * rows)}")


def _with_conflict_clause(statement: Any, table: Table, names: Sequence[str], replace: bool) -> Any:
    changed = {name: statement.excluded[name] for name in names if not table.c[name].primary_key}
    if not (replace and changed):
        return statement.on_conflict_do_nothing()
    return statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=changed)


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


def rows_among(
    connection: Connection, query: Select[Any], column: ColumnElement[Any], values: Iterable[Any]
) -> Iterator[Row[*tuple[Any, ...]]]:
    """The rows of a query whose `column` is one of these values, however many they are."""
    for piece in pieces(values):
        yield from connection.execute(query.where(column.in_(piece)))


# Numbers computed from keys, so that writers need not ask the database for them.

_BITS = 10
LIMIT = 1 << _BITS


def group_id(source_id: int, relation_id: int, system_id: int | None) -> int:
    """The id of a group: source, relation and system (0 for every system) side by side in 63 bits. Raises AuditError
    past 1,023 relations or systems in one database.

    >>> group_id(3, 2, None) == (3 << 20) + (2 << 10)
    True
    """
    if relation_id >= LIMIT or (system_id or 0) >= LIMIT:
        raise AuditError(f"a database holds at most {LIMIT - 1} relations and systems; begin another")
    return (source_id << 2 * _BITS) | (relation_id << _BITS) | (system_id or 0)


def group_ids(least: int, most: int) -> tuple[int, int]:
    """The least and the greatest id that a group of the sources from `least` to `most` can have, for SQL's BETWEEN.
    Between them lie groups of every source in between, of other studies, too."""
    return int(least) * LIMIT**2, (int(most) + 1) * LIMIT**2 - 1


# SQLite has one writer at a time. Who comes while another writes polls its lock and sleeps up to 100 ms between two
# looks: fifty threads of the app would wait for nothing, and some of them for long. So threads queue for a lock of
# their own, which wakes the next one at once. Writers of other processes still meet at SQLite's lock.

_LOCKS: "WeakKeyDictionary[Engine, threading.Lock]" = WeakKeyDictionary()
_GUARD = threading.Lock()


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that is going to write: committed at the end, rolled back where something is raised.

    On SQLite it holds the database's write lock from its first statement, so that nothing that it reads can change
    before it writes. PostgreSQL locks rows: ask for them `with_for_update`. Not to be nested.
    """
    alone = engine.dialect.name == "sqlite"
    with _GUARD:
        lock = _LOCKS.setdefault(engine, threading.Lock())
    with lock if alone else nullcontext(), engine.begin() as connection:
        if alone:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection that only reads, each statement by itself: beginning and ending a transaction would be journeys to a
    PostgreSQL server. Where several statements must see the same state, use `engine.connect()`."""
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        yield connection


@contextmanager
def snapshot(database: Engine | Connection) -> Iterator[Connection]:
    """A connection whose statements all see the database as it is when the first one reads, whatever is written later.
    A connection, as part of a larger snapshot, is handed on as it is."""
    if isinstance(database, Connection):
        yield database
        return
    with database.connect() as connection:
        if database.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        else:  # Python's driver begins a transaction before a write only
            connection.exec_driver_sql("BEGIN")
        yield connection
