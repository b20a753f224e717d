"""Work that the app begins and that goes on without it: carrying out a plan in a process of its own.

A job is a row that its process keeps up to date (`audit.studies.working`). Whoever looks at it sees how far it is, from
any server and in any tab; closing the tab or the app changes nothing. A process that is gone, or has not been heard of
for a minute, is taken for dead: the plan can be carried out again, and goes on where it was.
"""

import os
import signal
import socket
import subprocess
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, select, text

from audit.annotation.accounts import require_manager
from audit.errors import AuditError
from audit.runner.living import another_python, began, its_environment
from audit.store import table_of, tables
from audit.store.copying import in_utc
from audit.studies.plan import need_registered
from audit.studies.versions import latest

DATABASE = "AUDIT_DB"
"""The variable by which a job's process learns its database: an argument would show a password to the whole machine."""
LIVE = ("waiting", "running", "stopping")
LOST = "lost"
"""Not a state of the row: what `LIVE` means once the process is dead."""
SILENT = timedelta(seconds=60)
"""Without a sign of life for so long a process is taken for dead."""
GONE = "its process ended without a word (killed, or the machine was restarted)"


@dataclass(frozen=True)
class Work:
    """A job as managers see it. `state` is that of the row, or `LOST`."""

    id: int
    plan: str
    state: str
    step: str
    done: int
    """Sources of this run that are finished, of `total` that were left when it began."""
    total: int
    message: str | None
    log: str
    by: str | None
    host: str
    started_at: datetime
    ended_at: datetime | None

    @property
    def live(self) -> bool:
        """Whether it is being worked at."""
        return self.state in LIVE


def begin_job(engine: Engine, name: str, where: str, *, by: int) -> int:
    """Begin to carry out the last version of a plan in a process of its own; returns the job's id.

    `where` is the path or URL of the database, `by` the account of a manager. Raises NotAllowed for another role,
    UnknownName for a plan; BadFile for one that names files or code of somebody's own, which only the command line
    may run; AuditError where the same study is being run already, or where no process can be begun.
    """
    table = table_of(tables.Job)
    with engine.begin() as connection:
        require_manager(connection, by)
        plan = latest(connection, name).plan()
        need_registered(plan)
        moment = tables.now()
        row = {
            "plan": name,
            "state": "waiting",
            "annotator_id": by,
            "host": socket.gethostname(),
            "step": "",
            "done": 0,
            "total": 0,
            "started_at": moment,
            "seen_at": moment,
        }
        if connection.dialect.name == "postgresql":  # SQLite has one writer at a time anyway
            connection.execute(text("LOCK TABLE job IN SHARE ROW EXCLUSIVE MODE"))
        made = connection.execute(table.insert(), row).inserted_primary_key
        id = int(made[0]) if made else 0
        _refuse_second(connection, id, plan.study)
    try:
        pid = _begin_process(name, id, where)
    except OSError as problem:
        _end(engine, id, f"no process can be begun ({problem.strerror})")
        raise AuditError(f"no process can be begun on this machine ({problem.strerror}); run the plan there") from None
    with engine.begin() as connection:
        connection.execute(table.update().where(table.c.id == id, table.c.pid.is_(None)).values(pid=pid))
    return id


def stop_job(engine: Engine, id: int, *, by: int) -> None:
    """Ask a job to stop; what it has finished stays, and beginning it again goes on from there.

    Its process is sent SIGTERM where it is on this machine, and elsewhere reads the wish within a second. Raises
    NotAllowed for anyone but a manager, AuditError where it is not at work.
    """
    table = table_of(tables.Job)
    with engine.begin() as connection:
        require_manager(connection, by)
        row = connection.execute(select(table).where(table.c.id == id)).mappings().first()
        if row is None or _state(row) not in LIVE:
            raise AuditError("this run is not at work any more; there is nothing to stop")
        connection.execute(table.update().where(table.c.id == id).values(state="stopping"))
    if row["host"] == socket.gethostname() and row["pid"] and _is_job(row["pid"], id):
        os.kill(row["pid"], signal.SIGTERM)


def jobs(engine: Engine, name: str | None = None, *, by: int | None = None) -> list[Work]:
    """The jobs of a plan, or all, the last one first. Raises NotAllowed for anyone but a manager."""
    table, annotator = table_of(tables.Job), table_of(tables.Annotator)
    query = (
        select(table, annotator.c.name.label("by"))
        .outerjoin(annotator, annotator.c.id == table.c.annotator_id)
        .order_by(table.c.id.desc())
    )
    if name is not None:
        query = query.where(table.c.plan == name)
    with engine.connect() as connection:
        require_manager(connection, by)
        return [
            Work(
                row["id"],
                row["plan"],
                _state(row),
                row["step"],
                row["done"],
                row["total"],
                GONE if _state(row) == LOST else row["message"],
                row["log"] or "",
                row["by"],
                row["host"],
                in_utc(row["started_at"]),
                in_utc(row["ended_at"]) if row["ended_at"] else None,
            )
            for row in connection.execute(query).mappings()
        ]


def _refuse_second(connection: Connection, id: int, study: dict[str, Any]) -> None:
    """Raise AuditError where another live job runs the same study; note those that are dead."""
    table = table_of(tables.Job)
    rows = connection.execute(select(table).where(table.c.state.in_(LIVE), table.c.id != id)).mappings().all()
    for row in rows:
        if _state(row) == LOST:
            ended = {"state": "failed", "message": GONE, "ended_at": tables.now()}
            connection.execute(table.update().where(table.c.id == row["id"]).values(**ended))
        elif _same(latest(connection, row["plan"]).content["study"], study):
            raise AuditError(f"this study is being run already, by the plan {row['plan']!r}; wait for it, or stop it")


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(one[key] == other[key] for key in ("task", "corpus", "fingerprint", "seed", "limit"))


def _state(row: RowMapping) -> str:
    if row["state"] not in LIVE:
        return str(row["state"])
    if tables.now() - in_utc(row["seen_at"]) > SILENT:
        return LOST
    if row["host"] == socket.gethostname() and row["pid"] is not None and began(row["pid"]) is None:
        return LOST
    return str(row["state"])


def _begin_process(name: str, id: int, where: str) -> int:
    """Begin the process, in a session of its own: what ends the app does not end it. Returns its pid."""
    process = subprocess.Popen(
        another_python("-m", "audit", "study", "run", name, "--job", str(id)),
        env={**its_environment(), DATABASE: where},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    # Somebody must ask how it ended, or it stays as a zombie that looks alive for as long as this server runs.
    threading.Thread(target=process.wait, daemon=True).start()
    return process.pid


def _end(engine: Engine, id: int, message: str) -> None:
    table = table_of(tables.Job)
    with engine.begin() as connection:
        ended = {"state": "failed", "message": message, "ended_at": tables.now()}
        connection.execute(table.update().where(table.c.id == id).values(**ended))


def _is_job(pid: int, id: int) -> bool:
    """Whether the process is this job's, as far as the machine tells: a number may be another process's by now."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[-3:-1] == [b"--job", str(id).encode()]
    except OSError:
        return not Path("/proc/self/stat").exists() and began(pid) is not None
