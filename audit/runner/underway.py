"""What is under way: other Pythons that this one begins, whether a process goes on, and the one run of a study."""

import os
import socket
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy import Engine, delete, func, select
from sqlalchemy.exc import SQLAlchemyError

import audit
from audit.errors import UnderWay
from audit.store import table_of, tables, upsert
from audit.store.copying import in_utc
from audit.store.patient import Patient


def another_python(*arguments: str) -> list[str]:
    """Return the command of another Python like this one; with -P no file of the user's, called queue.py, stands in for
    Python's own."""
    return [sys.executable, "-P", *arguments]


def its_environment() -> dict[str, str]:
    """Return the environment of `another_python`: it finds this package where it is not installed, as in a checkout."""
    package = str(Path(audit.__file__).resolve().parents[1])
    installed = package in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    paths = [*([] if installed else [package]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def began(pid: int) -> str | None:
    """Return when a process began, as the machine counts; empty where the machine does not say; None: it is no more.
    Another process may have its number by now, and one that was killed is there until its parent has looked."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass  # somebody else's
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    state, *others = status.rpartition(")")[2].split()
    return None if state == "Z" else others[18]


_DYING = 1.0  # Seconds that workers of a run that was killed take to follow it


@contextmanager
def only_run(database: Patient, study_id: int) -> Iterator[None]:
    """Have a study for one run. Raises UnderWay, which says who has it, where another run of it goes on."""
    run = table_of(tables.StudyRun)
    own = {"study_id": study_id, "host": socket.gethostname(), "pid": os.getpid(), "started_at": tables.now()}
    with _locked(database.engine, study_id) as is_free:
        if not is_free:
            with database.engine.connect() as connection:
                row = connection.execute(select(run).filter_by(study_id=study_id)).first()
            who = f": process {row.pid} on {row.host}, since {in_utc(row.started_at):%Y-%m-%d %H:%M} UTC" if row else ""
            raise UnderWay(f"a run of this study is under way{who}; wait for its end, or stop it and run again")
        database.write(lambda connection: upsert(connection, tables.StudyRun, [own]))
        try:
            yield
        finally:
            # The run may end for another reason, which is the one to be told: a full disk.
            with suppress(SQLAlchemyError), database.engine.begin() as connection:
                connection.execute(delete(run).filter_by(study_id=study_id))


@contextmanager
def _locked(engine: Engine, study_id: int) -> Iterator[bool]:
    """Hold a lock that the system takes back when this process ends, however it ends; whether it was free."""
    file = engine.url.database
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            try:
                yield bool(connection.execute(select(func.pg_try_advisory_lock(study_id))).scalar())
            finally:
                connection.invalidate()  # and with its session the lock
    elif file in (None, "", ":memory:"):
        yield True
    else:
        lock = FileLock(f"{file}-run-{study_id}")
        try:
            lock.acquire(timeout=_DYING)
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            Path(lock.lock_file).unlink(missing_ok=True)
            lock.release()
