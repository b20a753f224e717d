"""Reading and writing while people wait for it: as few journeys to the database, and as little waiting, as will do.

SQLite has one writer at a time. Who comes while another writes polls its lock and sleeps up to 100 ms between two
looks, and whoever looks first gets it: fifty threads of the app would wait for nothing, and some of them for long. So
threads queue before the database for a lock of their own, which wakes the next one at once. Writers of other processes
still meet at SQLite's lock.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine

_LOCKS: "WeakKeyDictionary[Engine, threading.Lock]" = WeakKeyDictionary()
_GUARD = threading.Lock()


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that is going to write: committed at the end, rolled back where something is raised.

    On SQLite it holds the database's write lock from its first statement, so that nothing that it reads can change
    before it writes. PostgreSQL locks rows: ask for them `with_for_update`. Not to be nested: a thread would wait for
    itself.

    >>> from sqlalchemy import create_engine, text
    >>> with writing(create_engine("sqlite://")) as connection:
    ...     connection.execute(text("SELECT 1")).scalar()
    1
    """
    alone = engine.dialect.name == "sqlite"
    with _lock_of(engine) if alone else nullcontext(), engine.begin() as connection:
        if alone:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection that only reads, each statement by itself.

    Without a transaction that is begun and ended: each would be a journey to a PostgreSQL server. Where several
    statements must see the same state, use `engine.connect()`.

    >>> from sqlalchemy import create_engine, text
    >>> with reading(create_engine("sqlite://")) as connection:
    ...     connection.execute(text("SELECT 1")).scalar()
    1
    """
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        yield connection


def _lock_of(engine: Engine) -> threading.Lock:
    with _GUARD:
        return _LOCKS.setdefault(engine, threading.Lock())
