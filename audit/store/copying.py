"""Rows from one database to another: backups, private copies to read from, and new databases, filled whole or not at
all. Nothing is held in memory: rows go through in batches.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, func, select
from sqlalchemy.exc import DataError, IntegrityError
from sqlmodel import SQLModel

from audit.errors import BadFile
from audit.new_files import new_file
from audit.store.bulk import BATCH, snapshot
from audit.store.engine import file_of, one_line, open_store

_MOST = 10  # Findings of SQLite's own check that are told


def in_utc(value: datetime) -> datetime:
    """Return a time as UTC; SQLite keeps times without their zone, which is UTC.

    >>> in_utc(datetime(2026, 1, 1)).isoformat()
    '2026-01-01T00:00:00+00:00'
    """
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def tables_in_order() -> list[Table]:
    """Return the tables with content, each after those that it refers to."""
    return [table for table in SQLModel.metadata.sorted_tables if table.name != "schema_version"]


def read_rows(connection: Connection, table: Table, columns: Iterable[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table in the order of their key, as dictionaries by column; times are UTC. The same content
    gives the same rows in the same order, from SQLite and from PostgreSQL."""
    wanted = list(table.columns) if columns is None else [table.c[name] for name in columns]
    times = [column.name for column in wanted if column.type.python_type is datetime]
    query = select(*wanted).order_by(*table.primary_key.columns)
    for row in connection.execution_options(stream_results=True, yield_per=BATCH).execute(query).mappings():
        yield {**row, **{name: in_utc(row[name]) for name in times if row[name] is not None}}


def write_rows(connection: Connection, table: Table, rows: Iterable[dict[str, Any]]) -> int:
    """Insert rows; return how many. Columns that they lack take their defaults. Raises BadFile where the database
    refuses them (a key that is there twice, a reference to nothing, a value that it cannot hold)."""
    source, written = iter(rows), 0
    while batch := list(islice(source, BATCH)):
        try:
            connection.execute(table.insert(), batch)
        except (IntegrityError, DataError) as problem:
            where = f"table {table.name}, rows {written + 1:,} to {written + len(batch):,}"
            raise BadFile(f"{where}: the database refuses them: {one_line(problem.orig)}") from None
        written += len(batch)
    return written


@contextmanager
def filled(where: str) -> Iterator[Connection]:
    """Open a new or empty database, which afterwards holds all that was inserted, or is as it was before. Raises
    BadFile for a database that has rows, and what `open_store` raises."""
    file = file_of(where)
    new = file is not None and not file.exists()
    engine = open_store(where, create=True)
    try:
        with engine.begin() as connection:
            for table in tables_in_order():
                if connection.execute(select(table).limit(1)).first():
                    name = file or engine.url.render_as_string()
                    raise BadFile(f"the database {name} is not empty (it has rows in {table.name}); name a new one")
            yield connection
            if connection.dialect.name == "postgresql":
                _number_on(connection)
        new = False
    finally:
        engine.dispose()
        if new and file is not None:
            _remove(file)


def _number_on(connection: Connection) -> None:
    """Let the next row that is inserted get the number after the largest: PostgreSQL counts by itself."""
    quoted = connection.dialect.identifier_preparer.quote
    for table in tables_in_order():
        column = table.autoincrement_column
        largest = None if column is None else connection.execute(select(func.max(column))).scalar()
        if column is not None and largest is not None:
            sequence = func.pg_get_serial_sequence(quoted(table.name), column.name)
            connection.execute(select(func.setval(sequence, largest)))


@contextmanager
def private_copy(engine: Engine, folder: Path) -> Iterator[Engine]:
    """Yield a copy of a whole database at one moment, as an SQLite file in a folder; others go on writing meanwhile.
    The copy is the caller's to change. It goes when the context ends."""
    path = folder / "copy.db"
    copy_to_file(engine, path)
    copy = open_store(str(path))
    try:
        yield copy
    finally:
        copy.dispose()
        _remove(path)


def copy_to_file(engine: Engine, path: Path) -> None:
    """Write everything that a database holds at one moment, passwords and sessions too, to a new SQLite file."""
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection, closing(sqlite3.connect(path)) as target:
            source: Any = connection.connection.driver_connection
            try:
                source.backup(target)
            except sqlite3.Error as problem:
                raise BadFile(f"the database cannot be copied to {path.parent}: {problem}") from None
    else:
        copy = open_store(str(path), create=True)
        with snapshot(engine) as connection, copy.begin() as into:
            for table in tables_in_order():
                write_rows(into, table, read_rows(connection, table))
        copy.dispose()
    with closing(sqlite3.connect(path)) as target:
        target.execute("PRAGMA journal_mode=DELETE")  # one file that can be moved, without a log beside it


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


@dataclass(frozen=True)
class BackedUp:
    """A backup that was made and checked; how many rows each table has."""

    file: Path
    bytes: int
    rows: dict[str, int]


def backup(engine: Engine, file: Path) -> BackedUp:
    """Write the whole database, hashes of passwords included, to a new SQLite file that only its owner may read, and
    check it; others go on judging meanwhile. Raises BadFile where the file is there already or cannot be written, and
    where the check finds fault with it."""
    with new_file(file) as part:
        copy_to_file(engine, part)
        if faults := page_faults(part):
            raise BadFile(f"{file} is no database, or a damaged one ({faults[0]}); use another backup")
        names = [table.name for table in SQLModel.metadata.sorted_tables]
        with closing(sqlite3.connect(part)) as copy:
            rows = {name: copy.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}  # noqa: S608
        return BackedUp(file, part.stat().st_size, rows)


def page_faults(path: Path) -> list[str]:
    """Return what SQLite's own check finds in a file, in its pages and in rows that refer to nothing. Empty:
    nothing."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            faults = [one_line(row[0]) for row in connection.execute(f"PRAGMA integrity_check({_MOST})")]
            if faults != ["ok"]:
                return faults
            lost = connection.execute("PRAGMA foreign_key_check").fetchmany(_MOST)
    except (sqlite3.Error, UnicodeDecodeError) as problem:  # a file that cannot be read is a finding, too
        return [one_line(problem)]
    return [f"row {row} of {table} refers to no {parent}" for table, row, parent, _ in lost]
