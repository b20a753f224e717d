"""Writing to a database that is away for a while: locked by another process, or a server that starts again.

What a run writes is the same however often it is written, so a transaction that failed is done again.
"""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from audit.store import writing

PATIENCE = 300.0
"""Seconds that a run waits for its database before it gives up."""
_FIRST, _LONGEST = 0.1, 5.0
"""Seconds between two tries: the first, and the most."""
_BACK_SOON = ("57P01", "57P02", "57P03", "40001", "40P01", "53300")
"""What PostgreSQL says when it shuts down or starts, when transactions met, and when it has no connection left."""

Result = TypeVar("Result")


def patiently(do: Callable[[], Result], say: Callable[[str], None]) -> Result:
    """Do something with a database, again and again while it is away; it must be the same however often it is done.

    `say` is told in one sentence that the run waits. Raises what the database raised once it was away for `PATIENCE`
    seconds, and at once for anything else, such as a full disk.
    """
    until, pause = time.monotonic() + PATIENCE, _FIRST
    while True:
        try:
            return do()
        except DBAPIError as problem:
            if not is_away(problem) or time.monotonic() > until:
                raise
            say(f"the database does not answer ({' '.join(str(problem.orig).split())}); trying again")
        time.sleep(pause * random.uniform(0.5, 1))  # several runs that wait for one database do not come back at once
        pause = min(2 * pause, _LONGEST)


def written(engine: Engine, work: Callable[[Connection], Result], say: Callable[[str], None]) -> Result:
    """As `patiently`, for work that writes, in a transaction of its own."""

    def once() -> Result:
        with writing(engine) as connection:
            return work(connection)

    return patiently(once, say)


def is_away(problem: DBAPIError) -> bool:
    """Whether a database is likely to answer if it is asked again: busy, locked, or its connection broke off."""
    if problem.connection_invalidated:
        return True
    if (code := getattr(problem.orig, "sqlstate", None)) is not None:
        return code in _BACK_SOON or str(code).startswith("08")
    name = getattr(problem.orig, "sqlite_errorname", None)
    if name is not None:
        return str(name).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
    # psycopg's OperationalError without a code: it could not connect, or the server went away in the middle.
    return type(problem.orig).__module__.startswith("psycopg") and type(problem.orig).__name__ == "OperationalError"
