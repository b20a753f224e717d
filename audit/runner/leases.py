"""Who works on which chunk of a study: several runs share the work, and what a lost one had goes to another."""

import os
import socket
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path

from sqlalchemy import Connection, delete, or_, select
from sqlalchemy.dialects import postgresql, sqlite

import audit
from audit.store import table_of, tables

# Processes of this machine: how another Python is begun, and whether a process goes on.
#
# Leases and jobs of one that is gone are free.

_SAFE_PATH = "PYTHONSAFEPATH"


def another_python(*arguments: str) -> list[str]:
    """The command of another Python like this one.

    -P: a file of the folder where the user is, called statistics.py or queue.py, must not stand in for Python's own.

    >>> another_python("-m", "audit")[1:]
    ['-P', '-m', 'audit']
    """
    return [sys.executable, "-P", *arguments]


def its_environment() -> dict[str, str]:
    """The environment of `another_python`: it finds this package where it is not installed, as in a checkout."""
    package = str(Path(audit.__file__).resolve().parents[1])
    installed = package in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    paths = [*([] if installed else [package]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


@contextmanager
def safe_path() -> Iterator[None]:
    """Every Python that somebody else's code begins meanwhile is begun as with -P."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def began(pid: int) -> str | None:
    """When a process began, as the machine counts; empty where the machine does not say; None: it is no more.

    Another process may have its number by now, and one that was killed is there until its parent has looked.

    >>> began(os.getpid()) == began(os.getpid()) is not None
    True
    """
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


LENGTH = timedelta(seconds=90)
"""How long a lease holds without a sign of life; clocks of machines that share a database may differ by less."""
RENEW = 15.0
"""Seconds between two signs of life."""
_LEASE = table_of(tables.ChunkLease)
_NUMBERS = count(1)
_OWNERS_HERE: set[str] = set()
"""Owners of runs that go on in this process."""


class Leases:
    """The leases of one run on chunks of one study.

    Every method takes the connection of a transaction that its caller commits.
    """

    def __init__(self, study_id: int):
        # Two runs of one process, as tests make them, are two owners, in two threads, too.
        number = next(_NUMBERS)
        self._study, self.owner = study_id, f"{_host()}:{os.getpid()}:{began(os.getpid())}-{number}"
        _OWNERS_HERE.add(self.owner)

    def end(self) -> None:
        """The run is over. What it could not give back, as on a disk that is full, is free for the next one."""
        _OWNERS_HERE.discard(self.owner)

    def claim(self, connection: Connection, chunks: Sequence[int]) -> int | None:
        """The first of these chunks that nobody works on, which is ours from now on; None: others have them all.

        `chunks` are none that we work on. A lease on one that is ours all the same is of a transaction whose end we
        never heard of, since the server went away with it: it counts as free.
        """
        moment = tables.now()
        current = select(_LEASE.c.chunk, _LEASE.c.owner).where(
            _LEASE.c.study_id == self._study, _LEASE.c.until >= moment
        )
        taken = {int(row.chunk): str(row.owner) for row in connection.execute(current)}
        free = {self.owner, *(owner for owner in taken.values() if _is_gone(owner))}
        dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
        for chunk in chunks:
            if chunk in taken and taken[chunk] not in free:
                continue
            row = {"study_id": self._study, "chunk": chunk, "owner": self.owner, "until": moment + LENGTH}
            statement = dialect.insert(_LEASE).values(row)
            statement = statement.on_conflict_do_update(
                index_elements=list(_LEASE.primary_key),
                set_={"owner": statement.excluded.owner, "until": statement.excluded.until},
                # Another may have been quicker since we looked.
                where=or_(_LEASE.c.until < moment, _LEASE.c.owner.in_(free)),
            ).returning(_LEASE.c.chunk)  # of an insert, SQLAlchemy counts no rows
            if connection.execute(statement).first():
                return chunk
        return None

    def renew(self, connection: Connection, chunks: Iterable[int]) -> None:
        """Say that we still work on these."""
        connection.execute(
            _LEASE.update()
            .where(_LEASE.c.study_id == self._study, _LEASE.c.owner == self.owner, _LEASE.c.chunk.in_(list(chunks)))
            .values(until=tables.now() + LENGTH)
        )

    def release(self, connection: Connection, chunk: int | None = None) -> None:
        """Give back a chunk, or all that we have."""
        statement = delete(_LEASE).where(_LEASE.c.study_id == self._study, _LEASE.c.owner == self.owner)
        connection.execute(statement if chunk is None else statement.where(_LEASE.c.chunk == chunk))


def _host() -> str:
    return socket.gethostname().replace(":", "-")


def _is_gone(owner: str) -> bool:
    """Whether the process that has a lease ran on this machine and is no more: nobody need wait for it."""
    host, pid, since = owner.rsplit(":", 2)
    if host != _host():
        return False
    if int(pid) == os.getpid() and owner not in _OWNERS_HERE:
        return True
    start = began(int(pid))
    return start is None or (start != "" and start != since.partition("-")[0])
