"""Bringing a database of an older version to this one's tables, with Alembic.

`schema_version` is the one record of what a database has: an older audit reads it, too, and refuses what is newer than
itself. Alembic finds the scripts of `versions/`, puts them in order and speaks the DDL. The tables of version 1 are
where the scripts begin, and a new database is made whole from the tables themselves, so there is no script for either.

A new version of the tables is: the change in `audit/store/tables.py`, `SCHEMA_VERSION` one higher, a script
`versions/vN.py` that imports nothing that may change later, and `tests/store/schemas/` with the tables as they were.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, select, update
from sqlalchemy.exc import OperationalError
from sqlmodel import SQLModel

from audit.store import row_sums, tables

LOG = logging.getLogger(__name__)
FIRST = 1
"""The version that the scripts begin from."""
PATIENCE = 600_000
"""Milliseconds to wait for another process that migrates the same SQLite file; seconds per million groups are usual."""
_KEY = 0x61756469
"""The advisory lock of PostgreSQL under which tables are made and changed: any number that others hardly use."""


def recorded(connection: Connection) -> int | None:
    """The version that a database says it has; None where it says nothing."""
    version = connection.execute(select(SQLModel.metadata.tables["schema_version"].c.version)).scalar()
    return None if version is None else int(version)


@contextmanager
def alone(engine: Engine) -> Iterator[Connection]:
    """A transaction in which tables are made or changed, wholly or not at all, by one process at a time.

    On SQLite references are not checked in it: a table that others refer to could not be made anew otherwise
    (https://www.sqlite.org/lang_altertable.html, section 7).
    """
    with engine.connect() as connection:
        if connection.dialect.name == "postgresql":
            with connection.begin():
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_KEY,))
                yield connection
            return
        before = connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one()
        connection.exec_driver_sql(f"PRAGMA busy_timeout={PATIENCE}")
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        connection.commit()  # what SQLAlchemy began; the driver begins nothing before the first write
        try:
            with connection.begin():
                # The driver would begin a transaction before rows are written, but not before tables are.
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                yield connection
        finally:
            connection.exec_driver_sql("PRAGMA foreign_keys=ON")
            connection.exec_driver_sql(f"PRAGMA busy_timeout={int(before)}")
            connection.commit()


def migrate(engine: Engine, name: str) -> None:
    """Bring a database's tables to the newest version: all steps in one transaction, so that it has either all or none.

    Where another process did it meanwhile, nothing is left to do. `name` is what the log calls the database.
    """
    # Both take a while to import, and databases are old only once.
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    from alembic.script import ScriptDirectory

    with alone(engine) as connection:
        version = recorded(connection)
        if version is None or not FIRST <= version < tables.SCHEMA_VERSION:
            return
        if engine.dialect.name == "sqlite":
            row_sums.unwatch(connection)
        LOG.info("bringing the tables of %s from version %d to version %d", name, version, tables.SCHEMA_VERSION)
        scripts = ScriptDirectory(str(Path(__file__).parent))
        steps = scripts.iterate_revisions("head", str(version) if version > FIRST else "base")
        with Operations.context(MigrationContext.configure(connection)):
            for step in reversed(list(steps)):
                step.module.upgrade()
        if engine.dialect.name == "sqlite":
            row_sums.fill(connection)
        connection.execute(update(SQLModel.metadata.tables["schema_version"]).values(version=tables.SCHEMA_VERSION))
    if engine.dialect.name == "sqlite":
        _give_back_space(engine)


def _give_back_space(engine: Engine) -> None:
    """Shorten the file by what the old tables took. Without the space or the time for it, later rows will use that."""
    with engine.connect() as connection:
        try:
            connection.exec_driver_sql("VACUUM")
        except OperationalError as problem:
            LOG.info("the file keeps its size: %s", problem.orig)
