"""A database that may be away for a while: locked by another process, or a server that starts again."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from audit.store.bulk import writing

PATIENCE = 300.0  # Seconds that a run waits for its database before it gives up
_BACK_SOON = ("57P01", "57P02", "57P03", "40001", "40P01", "53300")
"""What PostgreSQL says when it shuts down or starts, when transactions met, and when it has no connection left."""
Result = TypeVar("Result")


@dataclass(frozen=True)
class Patient:
    """Works with a database in transactions that are done again while it is away, for `PATIENCE` seconds at most. What
    a run writes is the same however often it is written. `say` is told that it waits. Anything else that the database
    raises, such as a full disk, is raised at once."""

    engine: Engine
    say: Callable[[str], None]

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """Return what work does in a transaction of its own, which writes."""
        return self._again(writing, work)

    def read(self, work: Callable[[Connection], Result]) -> Result:
        return self._again(Engine.connect, work)

    def _again(self, begin: Callable[[Engine], object], work: Callable[[Connection], Result]) -> Result:
        until, pause = time.monotonic() + PATIENCE, 0.1
        while True:
            try:
                with begin(self.engine) as connection:  # type: ignore[attr-defined]
                    return work(connection)
            except DBAPIError as problem:
                if not is_away(problem) or time.monotonic() > until:
                    raise
                self.say(f"the database does not answer ({' '.join(str(problem.orig).split())}); trying again")
            time.sleep(pause * random.uniform(0.5, 1))  # several that wait for one database do not come back at once
            pause = min(2 * pause, 5.0)


def is_away(problem: DBAPIError) -> bool:
    """Whether a database is likely to answer if it is asked again: busy, locked, or its connection broke off."""
    if problem.connection_invalidated:
        return True
    if (code := getattr(problem.orig, "sqlstate", None)) is not None:
        return code in _BACK_SOON or str(code).startswith("08")
    if (name := getattr(problem.orig, "sqlite_errorname", None)) is not None:
        return str(name).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
    # psycopg's OperationalError without a code: it could not connect, or the server went away in the middle.
    return type(problem.orig).__module__.startswith("psycopg") and type(problem.orig).__name__ == "OperationalError"
