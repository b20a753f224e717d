"""What a database says when it cannot do what it was asked for, in one sentence of ours: full, locked, damaged."""

import sqlite3
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import (
    DatabaseError,
    DataError,
    IntegrityError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
)

from audit.errors import AuditError

_OTHERWISE = (DataError, IntegrityError, NotSupportedError, ProgrammingError)
"""What a database says of a statement or its values: those who write are asked, not those who keep the database."""
_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_SHORT_READ")
_DAMAGE_SAID = ("no such ", "could not decode", "malformed", "user-defined function raised")
"""Parts of what SQLite and its driver say of tables that are gone and texts that are none, which have no code."""


class DatabaseProblem(AuditError, OperationalError):
    """A database cannot be read or written now: full, locked, read-only, gone, damaged. What was committed is kept.

    It is an error of SQLAlchemy's, too, for those who wait and try again (`audit.runner.patience`).
    """

    def __init__(self, sentence: str, statement: str | None, orig: BaseException, gone: bool = False):
        OperationalError.__init__(self, statement, None, orig, hide_parameters=True, connection_invalidated=gone)
        self.sentence = sentence

    def __str__(self) -> str:
        return self.sentence


def damaged(name: object, reason: object) -> str:
    """The sentence of a damaged database.

    >>> damaged("a.db", "file is not a database")
    'the database a.db is damaged (file is not a database); look with `audit doctor --db a.db` and bring a backup back with `audit restore`'
    """  # noqa: E501
    return (
        f"the database {name} is damaged ({one_line(reason)}); look with `audit doctor --db {name}` and bring a backup "
        "back with `audit restore`"
    )


def unreadable(name: object, problem: BaseException) -> str:
    """The sentence of a file that cannot even be opened, which may never have been a database."""
    reason = one_line(problem)
    if "malformed" in reason:
        return damaged(name, reason)
    return (
        f"{name} is not a database of audit: {reason}; if it was one, look with `audit doctor --db {name}` and bring a "
        "backup back with `audit restore`"
    )


def is_damage(problem: BaseException) -> bool:
    """Whether a driver's error says that a file is damaged.

    >>> is_damage(sqlite3.DatabaseError("no such table: study")), is_damage(sqlite3.OperationalError("disk I/O error"))
    (True, False)
    """
    if not isinstance(problem, sqlite3.Error):
        return False
    code = getattr(problem, "sqlite_errorname", None) or ""
    return code.startswith(_DAMAGE) or any(words in str(problem).lower() for words in _DAMAGE_SAID)


def explain(engine: Engine, name: str) -> None:
    """Let whatever goes wrong with this database be raised as DatabaseProblem."""

    @event.listens_for(engine, "handle_error")
    def explained(context: Any) -> DatabaseProblem | None:
        problem, orig = context.sqlalchemy_exception, context.original_exception
        if not isinstance(problem, DatabaseError) or isinstance(problem, _OTHERWISE):
            return None
        said = f"the database refused: {one_line(orig)}; what was stored before is kept"
        sentence = damaged(name, orig) if is_damage(orig) else said
        return DatabaseProblem(sentence, context.statement, orig, bool(context.is_disconnect))


def one_line(problem: object) -> str:
    """What an error says, on one line."""
    return " ".join(str(problem).split())
