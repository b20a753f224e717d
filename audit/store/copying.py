"""Rows from one database to another: private copies to read from, and new databases, filled whole or not at all.

Nothing here is held in memory: rows go through in batches.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, select, text
from sqlalchemy.exc import DataError, IntegrityError
from sqlmodel import SQLModel

from audit.errors import BadFile
from audit.store import tables
from audit.store.bulk import BATCH
from audit.store.engine import file_of, open_store


def in_utc(value: datetime) -> datetime:
    """A time as UTC; SQLite keeps times without their zone, which is UTC.

    >>> in_utc(datetime(2026, 1, 1)).isoformat()
    '2026-01-01T00:00:00+00:00'
    """
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def read_rows(connection: Connection, table: Table, columns: Iterable[str] | None = None) -> Iterator[dict[str, Any]]:
    """The rows of a table in the order of their key, as dictionaries by column; times are UTC.

    The same content gives the same rows in the same order, from SQLite and from PostgreSQL.
    """
    wanted = [table.c[name] for name in columns] if columns is not None else list(table.columns)
    names = [column.name for column in wanted]
    times = [place for place, column in enumerate(wanted) if column.type.python_type is datetime]
    query = select(*wanted).order_by(*table.primary_key.columns)
    for row in connection.execution_options(stream_results=True, yield_per=BATCH).execute(query):
        values = list(row)
        for place in times:
            if values[place] is not None:
                values[place] = in_utc(values[place])
        yield dict(zip(names, values, strict=True))


def write_rows(connection: Connection, table: Table, rows: Iterable[dict[str, Any]]) -> int:
    """Insert rows that are not there yet; returns how many. Columns that they lack take their defaults.

    Raises BadFile where the database refuses them (a key that is there twice, a reference to nothing, a value that it
    cannot hold).
    """
    source, written = iter(rows), 0
    while batch := list(islice(source, BATCH)):
        try:
            connection.execute(table.insert(), batch)
        except (IntegrityError, DataError) as problem:
            reason = " ".join(str(problem.orig).split())
            where = f"table {table.name}, rows {written + 1:,} to {written + len(batch):,}"
            raise BadFile(f"{where}: the database refuses them: {reason}") from None
        written += len(batch)
    return written


@contextmanager
def private_copy(engine: Engine, folder: Path) -> Iterator[Engine]:
    """A copy of a whole database at one moment, as an SQLite file in a folder; others go on writing meanwhile.

    The copy is the caller's to change. It goes when the context ends.
    """
    path = folder / "copy.db"
    copy_to_file(engine, path)
    copy = open_store(str(path))
    try:
        yield copy
    finally:
        copy.dispose()
        remove_database(path)


def copy_to_file(engine: Engine, path: Path) -> None:
    """Write everything that a database holds at one moment, passwords and sessions too, to a new SQLite file."""
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection, closing(sqlite3.connect(path)) as target:
            source = connection.connection.driver_connection
            if not isinstance(source, sqlite3.Connection):
                raise BadFile(f"the driver {engine.driver} of this database cannot copy it; open it by its path")
            try:
                source.backup(target)
                # Without a write-ahead log beside it, the copy is one file that can be moved.
                target.execute("PRAGMA journal_mode=DELETE")
            except sqlite3.Error as problem:
                raise BadFile(f"the database cannot be copied to {path.parent}: {problem}") from None
        return
    target_engine = open_store(str(path), create=True)
    try:
        # One snapshot for all tables.
        snapshot = engine.connect().execution_options(isolation_level="REPEATABLE READ")
        with snapshot as connection, target_engine.begin() as into:
            copy_tables(connection, into)
        with target_engine.connect() as connection:
            connection.execute(text("PRAGMA journal_mode=DELETE"))
    finally:
        target_engine.dispose()


def copy_tables(source: Connection, target: Connection) -> None:
    """Insert every table's rows into a database that has none."""
    for table in SQLModel.metadata.sorted_tables:
        if table.name != tables.SchemaVersion.__tablename__:
            write_rows(target, table, read_rows(source, table))


@contextmanager
def filled(where: str) -> Iterator[Connection]:
    """A connection into a new or empty database, which afterwards holds all that was inserted, or is as it was before.

    Raises BadFile for a database that has rows, and what `open_store` raises.
    """
    file = file_of(where)
    new = file is not None and not file.exists()
    engine = open_store(where, create=True)
    done = False
    try:
        with engine.begin() as connection:
            table = occupied(connection)
            if table is not None:
                raise BadFile(
                    f"the database {file or engine.url.render_as_string()} is not empty (it has rows in {table}); "
                    "name a new one"
                )
            yield connection
            _number_on(connection)
        done = True
    finally:
        engine.dispose()
        if new and not done and file is not None:
            remove_database(file)


def occupied(connection: Connection) -> str | None:
    """The first table that has rows, if any."""
    for table in SQLModel.metadata.sorted_tables:
        if table.name != tables.SchemaVersion.__tablename__ and connection.execute(select(table).limit(1)).first():
            return str(table.name)
    return None


def remove_database(path: Path) -> None:
    """Delete an SQLite file and what stands beside it while it is open."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _number_on(connection: Connection) -> None:
    """Let the next row that is inserted get the number after the largest: PostgreSQL counts by itself."""
    if connection.dialect.name != "postgresql":
        return
    quoted = connection.dialect.identifier_preparer.quote
    for table in SQLModel.metadata.sorted_tables:
        column = table.autoincrement_column
        if column is None:
            continue
        largest = connection.execute(select(column).order_by(column.desc()).limit(1)).scalar()
        sequence = connection.execute(
            text("SELECT pg_get_serial_sequence(:of, :column)"), {"of": quoted(table.name), "column": column.name}
        ).scalar()
        if sequence is not None and largest is not None:
            connection.execute(text("SELECT setval(:sequence, :largest)"), {"sequence": sequence, "largest": largest})
