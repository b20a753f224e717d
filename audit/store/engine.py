"""Opening a database: SQLite by default, PostgreSQL by URL."""

import json
import time
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, Engine, Table, create_engine, event, inspect, select, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, InvalidatePoolError, OperationalError, SQLAlchemyError
from sqlalchemy.schema import CreateColumn
from sqlmodel import SQLModel

from audit.errors import AuditError, BadFile, NotInstalled
from audit.store import tables

BACKENDS = ("sqlite", "postgresql")
"""Kinds of database whose SQL the bulk writes speak."""
POOL = 20
"""Connections that a process keeps open, and as many more while it needs them; a PostgreSQL server takes 100."""
FRESH = 1.0
"""Seconds since its last use in which a connection to a server is taken for good."""
_USED = "used"
_dumps = partial(json.dumps, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def open_store(where: str, create: bool = False) -> Engine:
    """The engine of a database, by path or SQLAlchemy URL; `create` makes the tables where there are none.

    Raises BadFile when there is no such database (and `create` is false), when it cannot be opened, or when it is
    something else; AuditError for a URL that is none or of another kind; NotInstalled when its driver is absent.
    """
    url, file = _url(where), file_of(where)
    name = str(file) if file else url.render_as_string()
    if file:
        _check_path(file, create)
    try:
        # Errors name the statement, never its values: hashes of passwords and texts stay out of logs.
        engine = create_engine(url, json_serializer=_dumps, hide_parameters=True, **_pool(url, file))
    except ModuleNotFoundError as missing:
        raise NotInstalled(
            f"the database driver {missing.name} is not installed; install it with `pip install 'audit[postgres]'`"
        ) from None
    except SQLAlchemyError as problem:
        raise AuditError(f"--db {name!r} cannot be used: {_one_line(problem)}") from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _pragmas)
    else:
        _try_idle_connections(engine)
    try:
        _check_schema(engine, create, name)
    except OperationalError as problem:
        engine.dispose()
        raise BadFile(f"cannot open the database {name}: {_one_line(problem.orig)}") from None
    except SQLAlchemyError as problem:
        engine.dispose()
        raise BadFile(f"{name} is not a database of audit: {_one_line(getattr(problem, 'orig', problem))}") from None
    except BadFile:
        engine.dispose()
        raise
    return engine


def _pool(url: URL, file: Path | None) -> dict[str, Any]:
    """Connections that are kept: the app has a thread for each click, and opening a connection takes longer than one.

    The one that was used last is used next, so that few are at work and those are warm.
    """
    if file is None and url.get_backend_name() == "sqlite":
        return {}  # in memory: one connection is the database
    return {"pool_size": POOL, "max_overflow": POOL, "pool_use_lifo": True}


def _try_idle_connections(engine: Engine) -> None:
    """Try a connection before it is used, where nobody used it for `FRESH`: the server may have been started again.

    SQLAlchemy's `pool_pre_ping` tries it each time: a click takes eight from the pool, and each try is a journey.
    """

    @event.listens_for(engine, "checkin")
    def used(_connection: Any, record: Any) -> None:
        record.info[_USED] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def tried(connection: Any, record: Any, _proxy: Any) -> None:
        if time.monotonic() - record.info.get(_USED, 0.0) < FRESH:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as problem:
            # Those that are older than this are taken for gone, too; the pool opens another and goes on.
            raise InvalidatePoolError from problem


def file_of(where: str) -> Path | None:
    """The file of a database, or None where it is on a server or in memory. Raises AuditError for no name at all."""
    url = _url(where)
    is_file = url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")
    return Path(str(url.database)) if is_file else None


def _url(where: str) -> URL:
    """The URL of a path or URL. A path is taken as it is: `a?b.db` is a file name, not a query."""
    if not where.strip():
        raise AuditError("--db is empty; name a path or an SQLAlchemy URL such as sqlite:///audit.db")
    if "://" not in where:
        return URL.create("sqlite", database=where)
    try:
        url = make_url(where)
    except (ArgumentError, ValueError):  # ValueError: a port that is no number
        shown = where.split("@")[-1]  # what stands before an @ may be a password
        raise AuditError(f"--db {shown!r} is neither a path nor an SQLAlchemy URL such as sqlite:///audit.db") from None
    if url.get_backend_name() not in BACKENDS:
        raise AuditError(
            f"--db {url.render_as_string()!r}: unknown kind of database; use a path, sqlite:/// or "
            "postgresql+psycopg://"
        )
    return url


def _check_path(path: Path, create: bool) -> None:
    """Raises BadFile for a file that is not there, or can never be a database."""
    try:
        there = path.exists()
    except OSError as problem:
        raise BadFile(f"cannot open the database {path}: {problem.strerror}") from None
    if path.is_dir():
        raise BadFile(f"{path} is a folder; --db names the file of a database, for example {path / 'audit.db'}")
    if not there and not create:
        raise BadFile(f"there is no database {path}; make one with `audit run` or name another with --db")


def _one_line(problem: object) -> str:
    return " ".join(str(problem).split())


def _pragmas(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "busy_timeout=30000", "foreign_keys=ON", "synchronous=FULL"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _check_schema(engine: Engine, create: bool, name: str) -> None:
    known = set(inspect(engine).get_table_names())
    if "schema_version" in known:
        with engine.connect() as connection:
            found = connection.execute(select(SQLModel.metadata.tables["schema_version"].c.version)).scalar()
        if found is not None and (found < tables.SCHEMA_VERSION or (found == tables.SCHEMA_VERSION and _lacks(engine))):
            found = _upgrade(engine)
        if found != tables.SCHEMA_VERSION:
            raise BadFile(f"{name} has tables of version {found}, this audit reads version {tables.SCHEMA_VERSION}")
        return
    if known:
        raise BadFile(f"{name} is a database of something else: it has tables, but none of audit's")
    if not create:
        raise BadFile(f"{name} is an empty database; fill it with `audit run` or `audit import-run`")
    with engine.begin() as connection:
        SQLModel.metadata.create_all(connection)
        _mark(connection)


def _lacks(engine: Engine) -> bool:
    """Whether a table, column or index is not there that this version has: another checkout made the database."""
    there = inspect(engine)
    columns = {name: {one["name"] for one in found} for (_, name), found in there.get_multi_columns().items()}
    if any(
        not set(table.columns.keys()) <= columns.get(table.name, set()) for table in SQLModel.metadata.sorted_tables
    ):
        return True
    indexes = {one["name"] for found in there.get_multi_indexes().values() for one in found}
    return any(index.name not in indexes for table in SQLModel.metadata.sorted_tables for index in table.indexes)


_FILLED = """
UPDATE question SET filled = true WHERE annotators <= (
    SELECT count(*) FROM judgement JOIN annotator ON annotator.id = judgement.annotator_id
    WHERE judgement.question_id = question.id AND judgement.round = 1 AND judgement.answer <> 'withdrawn'
    AND annotator.role <> 'gold'
    AND NOT EXISTS (SELECT 1 FROM judgement AS later WHERE later.supersedes = judgement.id)
)
"""
"""The column as the judgements have it; `audit.annotation.answers.settle` keeps it afterwards."""

_REPLACED = ("ix_question_queue",)
"""Indexes of earlier versions that others stand for now."""


def _upgrade(engine: Engine) -> int:
    """From an older version to this one: tables and columns more, and what is derived from the others.

    Nothing else is touched. Doing it twice does no harm, also where two processes open the database at once.
    """
    metadata = SQLModel.metadata
    with engine.begin() as connection:
        # A write first, so that of two processes that open the database at once one waits for the other.
        connection.execute(metadata.tables["schema_version"].update().values(version=tables.SCHEMA_VERSION))
        metadata.create_all(connection)
        for table in metadata.sorted_tables:
            there = {column["name"] for column in inspect(connection).get_columns(table.name)}
            new = [column for column in table.columns if column.name not in there]
            for column in new:
                connection.execute(
                    text(f"ALTER TABLE {_quoted(connection, table)} ADD COLUMN {_ddl(connection, column)}")
                )
            if table.name == "question" and "filled" not in there:
                connection.execute(text(_FILLED))
            for index in table.indexes:
                index.create(connection, checkfirst=True)
        for name in _REPLACED:
            connection.execute(text(f"DROP INDEX IF EXISTS {name}"))
    return tables.SCHEMA_VERSION


def _quoted(connection: Connection, table: Table) -> str:
    return connection.dialect.identifier_preparer.format_table(table)


def _ddl(connection: Connection, column: Column[Any]) -> str:
    """How a column is declared; one that may not be null has a default for the rows that are there."""
    declared = str(CreateColumn(column).compile(dialect=connection.dialect))
    for foreign in column.foreign_keys:
        declared += f" REFERENCES {_quoted(connection, foreign.column.table)} ({foreign.column.name})"
    return declared


def _mark(connection: Connection) -> None:
    connection.execute(SQLModel.metadata.tables["schema_version"].insert(), {"version": tables.SCHEMA_VERSION})
