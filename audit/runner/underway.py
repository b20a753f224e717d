"""What is under way: other Pythons that this one begins, whether a process goes on, and the one run of a study."""

import os
import socket
import sys
import sysconfig
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, delete, select

import audit
from audit.errors import AuditError, UnderWay
from audit.store import insert_new, table_of, tables
from audit.store.copying import in_utc


def another_python(*arguments: str) -> list[str]:
    """Return the command of another Python like this one.

    -P: a file of the folder where the user is, called statistics.py or queue.py, must not stand in for Python's own.

    >>> another_python("-m", "audit")[1:]
    ['-P', '-m', 'audit']
    """
    return [sys.executable, "-P", *arguments]


def its_environment() -> dict[str, str]:
    """Return the environment of `another_python`: it finds this package where it is not installed, as in a checkout."""
    package = str(Path(audit.__file__).resolve().parents[1])
    installed = package in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    paths = [*([] if installed else [package]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def began(pid: int) -> str | None:
    """Return when a process began, as the machine counts; empty where the machine does not say; None: it is no more.

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


SILENCE = timedelta(minutes=5)
"""How long a run on another machine may give no sign of life; clocks of machines that share a database may differ by
less."""
RENEW = 15.0  # Seconds between two signs of life
_RUN = table_of(tables.StudyRun)
_HERE: set[str] = set()  # Tokens of the runs that go on in this process


class OnlyRun:
    """The place of the one run of a study: while one has it, another is refused.

    Every method takes the connection of a transaction that its caller commits.
    """

    def __init__(self, study_id: int):
        self._study, self._token = study_id, uuid4().hex
        self._own = (_RUN.c.study_id == study_id, _RUN.c.token == self._token)

    def take(self, connection: Connection) -> None:
        """Take the place. Raises UnderWay, which says who has it, where another run of the study goes on."""
        before = _row(connection, self._study)
        _refuse(before, self._token)
        if before is not None:
            connection.execute(delete(_RUN).where(_RUN.c.study_id == self._study, _RUN.c.token == before.token))
        moment = tables.now()
        row = {"study_id": self._study, "token": self._token, "host": socket.gethostname(), "pid": os.getpid()}
        row |= {"process": began(os.getpid()) or "", "started_at": moment, "seen_at": moment}
        if not insert_new(connection, tables.StudyRun, [row]):  # another was quicker since we looked
            _refuse(_row(connection, self._study), self._token)
        _HERE.add(self._token)

    def renew(self, connection: Connection) -> None:
        """Say that the run goes on. Raises AuditError where another has taken the place meanwhile."""
        if not connection.execute(_RUN.update().where(*self._own).values(seen_at=tables.now())).rowcount:
            raise AuditError("another run of this study has taken over, since this one gave no sign of life")

    def release(self, connection: Connection) -> None:
        """Give the place back."""
        connection.execute(delete(_RUN).where(*self._own))

    def end(self) -> None:
        """The run is over. A place that it could not give back, as on a full disk, is free for the next one."""
        _HERE.discard(self._token)


def refuse_second(connection: Connection, study_key: bytes) -> None:
    """Raise UnderWay where a run of the study with this key goes on."""
    study = table_of(tables.Study)
    id = connection.execute(select(study.c.id).where(study.c.key == study_key)).scalar()
    if id is not None:
        _refuse(_row(connection, id))


def _refuse(row: Any, token: str = "") -> None:
    """Raise UnderWay where the run of this row, not that of the token, goes on."""
    if row is None or row.token == token or _is_over(row):
        return
    free = ""
    if row.host != socket.gethostname():
        free = f"; if that machine is gone, the study is free at {in_utc(row.seen_at) + SILENCE:%H:%M} UTC"
    raise UnderWay(
        f"a run of this study is under way: process {row.pid} on {row.host}, since "
        f"{in_utc(row.started_at):%Y-%m-%d %H:%M} UTC; wait for its end, or stop it and run again{free}"
    )


def _row(connection: Connection, study_id: int) -> Any:
    return connection.execute(select(_RUN).where(_RUN.c.study_id == study_id)).first()


def _is_over(row: Any) -> bool:
    if row.host == socket.gethostname():
        if row.pid == os.getpid():
            return row.token not in _HERE
        start = began(row.pid)
        if start is None or (start and row.process):
            return bool(start != row.process)
    return bool(in_utc(row.seen_at) < tables.now() - SILENCE)
