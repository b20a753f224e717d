"""Is a file of SQLite what audit wrote: its pages, what it holds, and the values in it. Looks, and changes nothing."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from audit.errors import AuditError, BadFile
from audit.store.engine import damaged, file_of, one_line, unexpected_objects
from audit.store.row_sums import is_current, know, wrong_sums
from audit.tasks import Input

MOST = 10
"""Findings of SQLite's own check that are told."""


def page_faults(path: Path) -> list[str]:
    """What SQLite's own check of a file finds, in its pages and in rows that refer to nothing; empty: nothing."""
    return _findings(path, _pages)


def foreign_objects(path: Path) -> list[str]:
    """Triggers, tables, columns and the like that audit did not make; of a file of an older version, what may act."""
    return _findings(path, lambda there: unexpected_objects(there.execute, acting=not is_current(there)))


def changed_values(path: Path) -> list[str]:
    """Tables whose rows are not those that audit wrote, in a file of this version."""
    return _findings(path, lambda there: [*_inputs(there), *wrong_sums(there.execute)] if is_current(there) else [])


@contextmanager
def explained(where: str) -> Iterator[None]:
    """An error that nobody expected becomes a sentence where the damage of a database explains it.

    What is read from a file whose bytes have changed may be anything, and end in any error: no list would be long
    enough. So the file is looked at, once something has gone wrong. Raises BadFile then, and else what was raised.

    >>> with explained(":memory:"):
    ...     int("1")
    1
    """
    try:
        yield
    except AuditError:
        raise
    except Exception as problem:  # see above
        fault = _first_fault(where)
        if fault is None:
            raise
        raise BadFile(damaged(file_of(where), fault)) from problem


def _first_fault(where: str) -> str | None:
    """The first thing that is wrong with a database's file; None where nothing is, or there is none."""
    try:
        file = file_of(where)
        if file is None or not file.is_file():
            return None
    except (AuditError, OSError):
        return None
    return next((fault for look in (page_faults, foreign_objects, changed_values) for fault in look(file)), None)


def _findings(path: Path, look: Callable[[sqlite3.Connection], list[str]]) -> list[str]:
    """What a look at a file finds; that it cannot be read is a finding, too."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            know(connection)
            connection.text_factory = lambda content: content.decode("utf-8", "replace")
            connection.execute("BEGIN")
            return look(connection)
    except Exception as problem:  # whatever it is, it comes from what was read
        return [one_line(problem) or type(problem).__name__]


def _pages(connection: sqlite3.Connection) -> list[str]:
    faults = [one_line(row[0]) for row in connection.execute(f"PRAGMA integrity_check({MOST})")]
    if faults != ["ok"]:
        return faults
    lost = connection.execute("PRAGMA foreign_key_check").fetchmany(MOST)
    return [f"row {row} of {table} refers to no {parent}" for table, row, parent, _ in lost]


def _inputs(connection: sqlite3.Connection) -> list[str]:
    """Inputs have no sum: each is named by its content."""
    number = 0
    for texts, languages, key in connection.execute("SELECT texts, languages, key FROM input"):
        try:
            number += Input.stored(json.loads(texts), languages).key != bytes(key)
        except (AttributeError, TypeError, ValueError):
            number += 1
    return [f"{number:,} rows of input do not fit their keys"] if number else []
