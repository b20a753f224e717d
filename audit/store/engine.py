"""Opening a database: SQLite by default, PostgreSQL by URL."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError, SQLAlchemyError
from sqlmodel import SQLModel

from audit.errors import AuditError, BadFile, NotInstalled
from audit.store import tables

_dumps = partial(json.dumps, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def open_store(where: str, create: bool = False) -> Engine:
    """The engine of a database, by path or SQLAlchemy URL; `create` makes the tables where there are none.

    Raises BadFile when there is no such database (and `create` is false), or when the file is something else;
    NotInstalled when the URL's driver is absent.
    """
    url = where if "://" in where else f"sqlite:///{where}"
    try:
        parsed = make_url(url)
        is_file = parsed.get_backend_name() == "sqlite" and parsed.database not in (None, "", ":memory:")
        if is_file and not create and not Path(str(parsed.database)).exists():
            raise BadFile(
                f"there is no database {parsed.database}; make one with `audit run` or name another with --db"
            )
        engine = create_engine(parsed, json_serializer=_dumps, pool_pre_ping=not is_file)
    except NoSuchModuleError:
        raise AuditError(
            f"--db {where!r}: unknown kind of database; use a path, sqlite:/// or postgresql+psycopg://"
        ) from None
    except ModuleNotFoundError as missing:
        raise NotInstalled(
            f"the database driver {missing.name} is not installed; install it with `pip install 'audit[postgres]'`"
        ) from None
    except ArgumentError:
        raise AuditError(f"--db {where!r} is neither a path nor an SQLAlchemy URL such as sqlite:///audit.db") from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _pragmas)
    try:
        _check_schema(engine, create, str(parsed.database))
    except OperationalError as problem:
        raise BadFile(f"cannot open the database {parsed.render_as_string()}: {problem.orig}") from None
    except SQLAlchemyError as problem:
        raise BadFile(f"{parsed.database} is not a database of audit: {getattr(problem, 'orig', problem)}") from None
    return engine


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


def _mark(connection: Connection) -> None:
    connection.execute(SQLModel.metadata.tables["schema_version"].insert(), {"version": tables.SCHEMA_VERSION})
