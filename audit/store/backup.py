"""`audit backup` and `audit restore`: a whole database as one SQLite file, passwords and sessions included.

The file is a database of audit like any other, whatever kind it was made from: a backup of PostgreSQL is restored to
PostgreSQL, or opened as it is. It is made while others go on judging.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, func, select, text
from sqlmodel import SQLModel

from audit.errors import BadFile
from audit.store.copying import copy_tables, copy_to_file, filled, remove_database
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
    """By table."""


def backup(engine: Engine, file: Path) -> BackedUp:
    """Write a backup to a new file that only its owner may read, and check it.

    Raises BadFile where the file is there already or cannot be written, and where the check finds fault with it.
    """
    if file.exists():
        raise BadFile(f"{file} is there already; name a new file with --out")
    with _beside(file) as part:
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
        _put(part, file)
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
    with _beside(target if target is not None else file) as part:
        shutil.copyfile(file, part)
        copy = open_store(str(part))  # refuses what is none of audit's
        try:
            _check_shape(part, file)  # again: it has this version of the tables now
            with copy.connect() as connection:
                rows = row_counts(connection)
                if target is None or target.exists():
                    with filled(where) as into:
                        copy_tables(connection, into)
                    return rows
                connection.execute(text("PRAGMA journal_mode=DELETE"))
        finally:
            copy.dispose()
        _put(part, target)
    return rows


def row_counts(connection: Connection) -> dict[str, int]:
    """Rows by table."""
    return {
        table.name: int(connection.execute(select(func.count()).select_from(table)).scalar_one())
        for table in SQLModel.metadata.sorted_tables
    }


def _check(path: Path, name: Path) -> None:
    if found := page_faults(path):
        raise BadFile(f"{name} is no database, or a damaged one ({found[0]}); use another backup")
    if found := changed_values(path):
        raise BadFile(f"{name}: {found[0]}, so it is damaged or somebody changed it; use another backup")
    _check_shape(path, name)


def _check_shape(path: Path, name: Path) -> None:
    """Raises BadFile for what audit did not make, which may act when audit writes."""
    if found := foreign_objects(path):
        raise BadFile(f"{name} has {found[0]}, which audit did not make; take it out, or use another backup")


@contextmanager
def _beside(file: Path) -> Iterator[Path]:
    """A private file in the same folder, which goes unless it is put in the place of the one wanted."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.absolute().parent)
    except OSError as problem:
        raise BadFile(f"cannot write {file}: {problem.strerror}") from None
    os.close(handle)
    part = Path(name)
    try:
        yield part
    finally:
        remove_database(part)


def _put(part: Path, file: Path) -> None:
    """Give a finished file its name, unless another took it meanwhile."""
    try:
        os.link(part, file)
    except FileExistsError:
        raise BadFile(f"{file} is there already; name a new file") from None
    except OSError:
        os.replace(part, file)  # a file system without links
