"""`audit backup` and `audit restore`: a whole database as one SQLite file, passwords and sessions included.

The file is a database of audit like any other, whatever kind it was made from: a backup of PostgreSQL is restored to
PostgreSQL, or opened as it is. It is made while others go on judging.
"""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, func, select, text
from sqlmodel import SQLModel

from audit.errors import BadFile
from audit.new_files import new_file, room_beside
from audit.store.copying import copy_tables, copy_to_file, filled
from audit.store.engine import file_of, open_store
from audit.store.soundness import changed_values, foreign_objects, page_faults

_PIECE = 1 << 20


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
        _check(part, file)
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


def restore(file: Path, where: str) -> dict[str, int]:
    """Make the database of a backup, in a new or empty one, whole or not at all; returns its rows by table.

    Raises BadFile for a file that is no backup or damaged, and for a database that is not empty. The backup stays as it
    is: a copy is brought up to this version of the tables.
    """
    if not file.is_file():
        raise BadFile(f"{file}: there is no such file; name one that `audit backup` wrote")
    target = file_of(where)
    _check(file, file)
    if target is not None and not target.exists():
        with new_file(target, private=True, new=True) as part, _open_copy(file, part) as connection:
            rows = row_counts(connection)
            connection.execute(text("PRAGMA journal_mode=DELETE"))
            return rows
    with room_beside(target or file) as part, _open_copy(file, part) as connection, filled(where) as into:
        copy_tables(connection, into)
        return row_counts(connection)


@contextmanager
def _open_copy(file: Path, part: Path) -> Iterator[Connection]:
    """A connection to a copy of a backup, with this version's tables. Raises BadFile for what is none of audit's."""
    shutil.copyfile(file, part)
    copy = open_store(str(part))
    try:
        _check_shape(part, file)  # again: it has this version of the tables now
        with copy.connect() as connection:
            yield connection
    finally:
        copy.dispose()


def row_counts(connection: Connection) -> dict[str, int]:
    """Rows by table."""
    return {
        table.name: int(connection.execute(select(func.count()).select_from(table)).scalar_one())
        for table in SQLModel.metadata.sorted_tables
    }


def _check(path: Path, name: Path) -> None:
    if faults := page_faults(path):
        raise BadFile(f"{name} is no database, or a damaged one ({faults[0]}); use another backup")
    if faults := changed_values(path):
        raise BadFile(f"{name}: {faults[0]}, so it is damaged or somebody changed it; use another backup")
    _check_shape(path, name)


def _check_shape(path: Path, name: Path) -> None:
    """Raises BadFile for what audit did not make, which may act when audit writes."""
    if objects := foreign_objects(path):
        raise BadFile(f"{name} has {objects[0]}, which audit did not make; take it out, or use another backup")
