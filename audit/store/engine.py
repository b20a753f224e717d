"""Opening a database: SQLite by default, PostgreSQL by URL."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, exc, inspect, select
from sqlalchemy.engine import URL, make_url
from sqlmodel import SQLModel

from audit.errors import AuditError, BadFile, NotInstalled
from audit.files import refuse_no_file
from audit.messages import message
from audit.store import tables
from audit.store.brought import expect_brought
from audit.store.bulk import table_of, writing

_OTHERWISE = (exc.DataError, exc.IntegrityError, exc.NotSupportedError, exc.ProgrammingError)
"""What a database says of a statement or its values: those who write are asked, not those who keep the database."""
POOL = 20  # Connections that a process keeps open, and as many more while it needs them; a PostgreSQL server takes 100
PATIENCE = 30.0  # Seconds to wait for another process that writes the same file of SQLite
_MAKING = 0x61756469  # The advisory lock of PostgreSQL under which tables are made: any number that others hardly use
_MUCH = ("cache_size=-131072", "wal_autocheckpoint=8000")
"""Kibibytes of a connection's pages (at most: it takes what it touches), and pages before they go to the file."""
_EXAMPLE = "an SQLAlchemy URL such as sqlite:///audit.db"
_dumps = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
"""One encoder for all values: `json.dumps` makes one for each, which takes longer than encoding a text."""


class DatabaseProblem(AuditError, exc.OperationalError):
    """A database cannot be read or written now: full, locked, read-only, gone, damaged. What was committed is kept. It
    is an error of SQLAlchemy's, too, for those who wait and try again (`audit.store.patient`)."""

    def __init__(self, sentence: str, statement: str | None, orig: BaseException, gone: bool = False):
        exc.OperationalError.__init__(self, statement, None, orig, hide_parameters=True, connection_invalidated=gone)
        self._sentence = sentence

    @property
    def sentence(self) -> str:
        return self._sentence

    def __str__(self) -> str:
        return self._sentence


def _explained(context: Any) -> BaseException | None:
    problem, orig = context.sqlalchemy_exception, context.original_exception
    if not isinstance(problem, exc.DatabaseError) or isinstance(problem, _OTHERWISE):
        return None
    sentence = message("database.refused", reason=one_line(orig))
    return DatabaseProblem(sentence, context.statement, orig, bool(context.is_disconnect))


def one_line(problem: object) -> str:
    return " ".join(str(problem).split())


def open_store(where: str, create: bool = False) -> Engine:
    """Return the engine of a database, by path or SQLAlchemy URL; `create` makes the tables where there are none.

    Raises BadFile when there is no such database (and `create` is false), when it cannot be opened, has tables of
    another version, or is something else; AuditError for a URL that is none; NotInstalled when its driver is absent.
    """
    url, file = _url(where), file_of(where)
    name = str(file) if file else url.render_as_string()
    if file:
        _check_path(file, create)
        if create and "uri" not in url.query:
            # Made for its owner alone: SQLite gives its logs the same permissions. If it cannot be, SQLite says why.
            with suppress(OSError):
                os.close(os.open(os.path.realpath(file), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    # Connections are kept: the app has a thread for each click. A server may have been started again meanwhile.
    in_memory = file is None and url.get_backend_name() == "sqlite"  # one connection is the database
    pool: dict[str, Any] = {"pool_size": POOL, "max_overflow": POOL, "pool_use_lifo": True}
    pool["pool_pre_ping"] = url.get_backend_name() != "sqlite"
    try:
        # Errors name the statement, never its values: hashes of passwords and texts stay out of logs.
        engine = create_engine(url, json_serializer=_dumps, hide_parameters=True, **({} if in_memory else pool))
    except ModuleNotFoundError as missing:
        raise NotInstalled(
            f"the database driver {missing.name} is not installed; install it with `pip install 'audit[postgres]'`"
        ) from None
    except exc.SQLAlchemyError as problem:
        raise AuditError(f"the database {name!r} cannot be used: {one_line(problem)}") from None
    event.listen(engine, "handle_error", _explained)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _pragmas)
    with _opening(engine, name):
        _check_schema(engine, create, name)
        with engine.connect() as connection:
            expect_brought(connection)
    return engine


@contextmanager
def _opening(engine: Engine, name: str) -> Iterator[None]:
    try:
        yield
    except exc.SQLAlchemyError as problem:
        engine.dispose()
        reason = one_line(getattr(problem, "orig", None) or problem)
        raise BadFile(
            f"cannot open the database {name}: {reason}; if it was one of audit, look with `audit doctor` and put a "
            "backup in its place"
        ) from None
    except BadFile:
        engine.dispose()
        raise


def file_of(where: str) -> Path | None:
    """Return the file of a database; None where it is on a server or in memory. Raises AuditError for no name."""
    url = _url(where)
    is_file = url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")
    return Path(str(url.database)) if is_file else None


def _url(where: str) -> URL:
    if not where.strip():
        raise AuditError(f"the name of the database is empty; name a path or {_EXAMPLE}")
    if "://" not in where:
        return URL.create("sqlite", database=where)
    try:
        url = make_url(where)
    except (exc.ArgumentError, ValueError):  # ValueError: a port that is no number
        without_password = where.split("@")[-1]  # what stands before an @ may be a password
        raise AuditError(f"the database {without_password!r} is neither a path nor {_EXAMPLE}") from None
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise AuditError(
            f"{url.render_as_string()!r}: unknown kind of database; use a path, sqlite:/// or postgresql+psycopg://"
        )
    return url


def _check_path(path: Path, create: bool) -> None:
    """Raise BadFile for a file that is not there, or can never be a database."""
    if path.is_dir():
        raise BadFile(f"{path} is a folder; name the file of a database, for example {path / 'audit.db'}")
    if os.path.exists(path):
        refuse_no_file(path)
    elif not create:
        raise BadFile(f"there is no database {path}; make one with `audit run` or name another")


def _pragmas(connection: Any, _record: Any) -> None:
    for pragma in (f"busy_timeout={PATIENCE * 1000:.0f}", "foreign_keys=ON", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}")


def readable(where: str) -> Engine | None:
    """Return the engine of a database that is only read; None where there is none yet. Raises what `open_store`
    raises."""
    file = file_of(where)
    return None if file is not None and not file.exists() else open_store(where)


def write_much(engine: Engine) -> None:
    """Give connections to a file of SQLite more memory than the app's many need, as one that writes millions of rows.
    Keys of contents are random: without it each new input would read and write pages that were there a moment ago."""
    in_memory = engine.url.database in (None, "", ":memory:")
    if engine.dialect.name == "sqlite" and not in_memory and not event.contains(engine, "connect", _more_memory):
        event.listen(engine, "connect", _more_memory)
        engine.dispose()  # those that are open would not have it


def _more_memory(connection: Any, _record: Any) -> None:
    for pragma in _MUCH:
        connection.execute(f"PRAGMA {pragma}")


def _check_schema(engine: Engine, create: bool, name: str) -> None:
    table_names = inspect(engine).get_table_names()
    has_tables = "schema_version" in table_names
    if table_names and not has_tables:
        raise BadFile(f"{name} is a database of something else: it has tables, but none of audit's")
    if not (has_tables or create):
        raise BadFile(f"{name} is an empty database; fill it with `audit run` or `audit import-run`")
    if has_tables:
        _check_version(engine, name)
    if engine.dialect.name == "sqlite":
        # Readers and a writer of a file work at once; the file keeps it. Locked: who writes has done it, or will.
        with suppress(exc.OperationalError), engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
    if has_tables:
        return
    with writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
        if not inspect(connection).has_table("schema_version"):  # another process may have made them meanwhile
            SQLModel.metadata.create_all(connection, checkfirst=False)
            connection.execute(table_of(tables.SchemaVersion).insert(), {"version": tables.SCHEMA_VERSION})
    _check_version(engine, name)


def _check_version(engine: Engine, name: str) -> None:
    with engine.connect() as connection:
        version = connection.execute(select(table_of(tables.SchemaVersion).c.version)).scalar()
    if version != tables.SCHEMA_VERSION:
        raise BadFile(
            f"{name} has tables of version {version}, this audit reads version {tables.SCHEMA_VERSION}; make it anew, "
            "or install the audit that made it"
        )
