"""`audit backup`: a whole database as one SQLite file, hashes of passwords included, made while others go on judging.

The file is a database of audit like any other: to go back to it, put it in the place of the other one.
"""

import hashlib
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, func, select, text
from sqlmodel import SQLModel

from audit.errors import BadFile
from audit.new_files import new_file
from audit.store.copying import copy_to_file
from audit.store.engine import one_line, open_store

_PIECE = 1 << 20
_MOST = 10
"""Findings of SQLite's own check that are told."""


@dataclass(frozen=True)
class BackedUp:
    """A backup that was made and checked."""

    file: Path
    bytes: int
    sha256: str
    rows: dict[str, int]
    """How many rows each table has."""


def backup(engine: Engine, file: Path) -> BackedUp:
    """Write a backup to a new file that only its owner may read, and check it.

    Raises BadFile where the file is there already or cannot be written, and where the check finds fault with it.
    """
    with new_file(file, private=True, new=True) as part:
        copy_to_file(engine, part)
        _refuse_damaged(part, file)
        copy = open_store(str(part))
        try:
            with copy.connect() as connection:
                rows = row_counts(connection)
                connection.execute(text("PRAGMA journal_mode=DELETE"))
        finally:
            copy.dispose()
        state = hashlib.sha256()
        with part.open("rb") as content:
            while piece := content.read(_PIECE):
                state.update(piece)
        size = part.stat().st_size
    return BackedUp(file, size, state.hexdigest(), rows)


def row_counts(connection: Connection) -> dict[str, int]:
    """Rows by table."""
    return {
        table.name: int(connection.execute(select(func.count()).select_from(table)).scalar_one())
        for table in SQLModel.metadata.sorted_tables
    }


def page_faults(path: Path) -> list[str]:
    """What SQLite's own check finds in a file, in its pages and in rows that refer to nothing. Empty: nothing."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            faults = [one_line(row[0]) for row in connection.execute(f"PRAGMA integrity_check({_MOST})")]
            if faults != ["ok"]:
                return faults
            lost = connection.execute("PRAGMA foreign_key_check").fetchmany(_MOST)
    except (sqlite3.Error, UnicodeDecodeError) as problem:  # a file that cannot be read is a finding, too
        return [one_line(problem)]
    return [f"row {row} of {table} refers to no {parent}" for table, row, parent, _ in lost]


def _refuse_damaged(path: Path, name: Path) -> None:
    if faults := page_faults(path):
        raise BadFile(f"{name} is no database, or a damaged one ({faults[0]}); use another backup")
