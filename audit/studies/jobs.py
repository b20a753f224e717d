"""Work that the app begins and that goes on without it: carrying out a plan in a process of its own.

A job is a row that its process keeps up to date (`audit.studies.jobs`). Whoever looks at it sees how far it is, from
any server and in any tab; closing the tab or the app changes nothing. A process that is gone, or has not been heard of
for a minute, is taken for dead: the plan can be carried out again, and goes on where it was.
"""

import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, select, text, true
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from audit.errors import AuditError
from audit.false_satisfaction.questions import queue_length
from audit.false_satisfaction.rounds import Asked
from audit.judging.accounts import note, require_manager
from audit.judging.labels import GoldAnswers, answer_with_gold
from audit.judging.samples import ask_next
from audit.judging.settings import change_settings, settings_of
from audit.judging.words import set_words
from audit.messages import from_stored, message, stored
from audit.runner.executors import Executor
from audit.runner.progress import Watcher
from audit.runner.run import RunResult, run
from audit.runner.underway import another_python, began, its_environment
from audit.store import table_of, tables
from audit.store.copying import in_utc
from audit.store.core import annotator
from audit.studies.own_systems import offer_stored_systems
from audit.studies.plan import SETTINGS, Plan, corpus_planned, need_registered, read_plan, relations_planned
from audit.studies.uploads import uploaded_here
from audit.studies.versions import latest

DATABASE = "AUDIT_DB"
"""The variable by which a job's process learns its database: an argument would show a password to the whole machine."""
LIVE = ("waiting", "running", "stopping")
LOST = "lost"
"""Not a state of the row: what `LIVE` means once the process is dead."""
SILENT = timedelta(seconds=60)
"""Without a sign of life for so long a process is taken for dead."""
_JOB = table_of(tables.Job)
_SAME = ("task", "corpus", "fingerprint", "seed", "limit")  # keys of plans that carry out the same study


@dataclass(frozen=True)
class Job:
    """A job as managers see it: `state` is that of the row, or `LOST`; `done` are the sources of this run that are
    finished, of `total` that were left when it began."""

    id: int
    plan: str
    state: str
    step: str
    done: int
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


def begin_job(engine: Engine, name: str, database: str, *, by: int) -> int:
    """Begin to carry out the last version of a plan in a process of its own; returns the job's id.

    `database` is the path or URL of the database, `by` the account of a manager. Raises NotAllowed for another role,
    UnknownName for a plan; BadFile for one that names files or code of somebody's own, which only the command line
    may run; AuditError where the same study is being run already, or where no process can be begun.
    """
    offer_stored_systems(engine)
    uploaded = uploaded_here(engine)
    with engine.begin() as connection:
        require_manager(connection, by)
        plan = latest(connection, name).plan()
        need_registered(plan, uploaded)
        row = {"plan": name, "state": "waiting", "annotator_id": by, "host": socket.gethostname(), "step": ""}
        row |= {"done": 0, "total": 0} | dict.fromkeys(("started_at", "seen_at"), tables.now())
        if connection.dialect.name == "postgresql":  # SQLite has one writer at a time anyway
            connection.execute(text("LOCK TABLE job IN SHARE ROW EXCLUSIVE MODE"))
        id = int(connection.execute(_JOB.insert(), row).inserted_primary_key[0])  # type: ignore[index]
        _refuse_second(connection, id, plan.study)
        note(connection, by, "run begun", plan=name)
    try:
        pid = _begin_process(name, id, database)
    except OSError as problem:
        with engine.begin() as connection:
            reason = stored(message("work.not_begun", reason=problem.strerror))
            _set(connection, id, state="failed", message=reason, ended_at=tables.now())
        raise AuditError(message("work.cannot_begin", reason=problem.strerror)) from None
    with engine.begin() as connection:
        connection.execute(_JOB.update().where(_JOB.c.id == id, _JOB.c.pid.is_(None)).values(pid=pid))
    return id


def _begin_process(name: str, id: int, database: str) -> int:
    """Begin the process, in a session of its own: what ends the app does not end it. Returns its pid."""
    process = subprocess.Popen(
        another_python("-m", "audit", "study", "run", name, "--job", str(id)),
        env={**its_environment(), DATABASE: database},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    # Somebody must ask how it ended, or it stays as a zombie that looks alive for as long as this server runs.
    threading.Thread(target=process.wait, daemon=True).start()
    return process.pid


def stop_job(engine: Engine, id: int, *, by: int) -> None:
    """Ask a job to stop, which its process reads within a second, on any machine; what it has finished stays, and
    beginning it again goes on from there. Raises NotAllowed for anyone but a manager, AuditError where it is not at
    work."""
    with engine.begin() as connection:
        require_manager(connection, by)
        row = connection.execute(select(_JOB).where(_JOB.c.id == id)).mappings().first()
        if row is None or _state(row) not in LIVE:
            raise AuditError(message("work.not_at_work"))
        _set(connection, id, state="stopping")
        note(connection, by, "run stopped", plan=row["plan"])


def jobs(engine: Engine, name: str | None = None, *, by: int | None = None) -> list[Job]:
    """The jobs of a plan, or all, the last one first. Raises NotAllowed for anyone but a manager."""
    query = (
        select(_JOB, annotator.c.name.label("by"))
        .outerjoin(annotator, annotator.c.id == _JOB.c.annotator_id)
        .where(true() if name is None else _JOB.c.plan == name)
        .order_by(_JOB.c.id.desc())
    )
    with engine.connect() as connection:
        require_manager(connection, by)
        return [_job(row) for row in connection.execute(query).mappings()]


def _job(row: RowMapping) -> Job:
    state, ended_at = _state(row), row["ended_at"]
    own = {name: row[name] for name in ("id", "plan", "step", "done", "total", "by", "host")}
    reason = message("work.gone") if state == LOST else from_stored(row["message"] or "") or None
    own |= {"state": state, "message": reason, "log": row["log"] or ""}
    return Job(**own, started_at=in_utc(row["started_at"]), ended_at=in_utc(ended_at) if ended_at else None)


def _set(connection: Connection, id: int, **values: Any) -> None:
    connection.execute(_JOB.update().where(_JOB.c.id == id).values(**values))


def _refuse_second(connection: Connection, id: int, study: dict[str, Any]) -> None:
    """Raise AuditError where another live job runs the same study; note those that are dead."""
    rows = connection.execute(select(_JOB).where(_JOB.c.state.in_(LIVE), _JOB.c.id != id)).mappings().all()
    for row in rows:
        if _state(row) == LOST:
            _set(connection, row["id"], state="failed", message=stored(message("work.gone")), ended_at=tables.now())
        elif all(latest(connection, row["plan"]).content["study"][key] == study[key] for key in _SAME):
            raise AuditError(message("work.run_already", plan=row["plan"]))


def _state(row: RowMapping) -> str:
    if row["state"] not in LIVE:
        return str(row["state"])
    if tables.now() - in_utc(row["seen_at"]) > SILENT:
        return LOST
    if row["host"] == socket.gethostname() and row["pid"] is not None and began(row["pid"]) is None:
        return LOST
    return str(row["state"])


# The process of a job: it says how far it is, hears that it should stop, and leaves a last word.

BEAT = 1.0
"""Seconds between two looks at the row."""
SIGN = 5.0
"""Seconds after which a sign of life is written although nothing changed."""
TAIL = 8_000
"""Bytes of what was printed that the row keeps."""
_MESSAGE = 500
_LOGIN = re.compile(r"://[^\s/@]+@")


class Worker(Watcher):
    """Keeps the row of a job up to date, from a thread: training a system takes minutes in which nothing is counted."""

    def __init__(self, engine: Engine, id: int, printed: int, secrets: list[str]):
        self._engine, self._id, self._printed, self._secrets = engine, id, printed, secrets
        self._now: dict[str, Any] = {"step": "", "done": 0, "total": 0, "log": ""}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def step(self, name: str) -> None:
        """Another step begins."""
        self._now |= {"step": name, "done": 0, "total": 0}

    def begin(self, sources: int) -> None:
        self._now["total"] = sources

    def finished(self, sources: int) -> None:
        self._now["done"] += sources

    def end(self, state: str, reason: str | None = None) -> None:
        """The last word; a `reason` that is long is cut, and then said in English only."""
        self._over.set()
        self._thread.join()
        if reason is not None:
            cut = reason if len(reason) <= _MESSAGE else reason[:_MESSAGE]
            reason = stored(cut, lambda text: redacted(" ".join(text.split()), self._secrets))
        moment = tables.now()
        self._write(self._seen() | {"state": state, "message": reason, "seen_at": moment, "ended_at": moment})

    def _beat(self) -> None:
        written, last, signalled = dict[str, Any](), monotonic(), False
        while not self._over.wait(BEAT):
            try:
                now = self._seen()
                if now != written or monotonic() - last > SIGN:
                    self._write(now | {"seen_at": tables.now()})
                    written, last = now, monotonic()
                with self._engine.connect() as connection:
                    state = connection.execute(select(_JOB.c.state).where(_JOB.c.id == self._id)).scalar()
            except (SQLAlchemyError, sqlite3.Error, OSError):
                continue  # locked or gone for a moment: the next beat says it, and without beats the run looks dead
            if state == "stopping" and not signalled:
                signalled = True
                # To the main thread, which may be waiting for a worker: nothing but a signal wakes it.
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)

    def _seen(self) -> dict[str, Any]:
        # By its place: the position in the file is shared with whoever prints.
        tail = os.pread(self._printed, TAIL, max(0, os.fstat(self._printed).st_size - TAIL))
        printed = tail.decode("utf-8", "replace").replace("\0", "")
        return self._now | {"log": redacted(printed, self._secrets)}

    def _write(self, values: dict[str, Any]) -> None:
        with self._engine.begin() as connection:
            _set(connection, self._id, **values)


@contextmanager
def running_job(engine: Engine, id: int, database: str) -> Iterator[tuple[Worker, int | None]]:
    """Work on job `id` in this process: yields its watcher, and the account that asked for it.

    SIGTERM and Ctrl-C stop the work; however it ends, the row says so. What the process prints is kept for the row, as
    far as it holds no password of `database` (path or URL). Raises AuditError where the job does not wait to be begun.
    """
    claimed = {"state": "running", "pid": os.getpid(), "host": socket.gethostname(), "seen_at": tables.now()}
    with engine.begin() as connection:
        claim = connection.execute(_JOB.update().where(_JOB.c.id == id, _JOB.c.state == "waiting").values(**claimed))
        row = connection.execute(select(_JOB.c.annotator_id, _JOB.c.state).where(_JOB.c.id == id)).first()
        if claim.rowcount != 1 and row is not None and row.state == "stopping":
            _set(connection, id, state="stopped", ended_at=tables.now())
    if claim.rowcount != 1 or row is None:
        raise AuditError(
            f"job {id} does not wait to be begun; begin another in the app, or leave job out", parameter="job"
        )
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    with _captured_prints() as printed:
        password = make_url(database).password if "://" in database else None
        worker = Worker(engine, id, printed, [str(password)] if password else [])
        try:
            yield worker, row.annotator_id
        except KeyboardInterrupt:
            worker.end("stopped")
            raise
        except AuditError as problem:
            worker.end("failed", problem.sentence)
            raise
        except Exception as problem:
            traceback.print_exc()
            worker.end("failed", f"{type(problem).__name__}: {problem}")
            raise
        else:
            worker.end("done")
        finally:
            signal.signal(signal.SIGTERM, before)


def redacted(text: str, secrets: list[str]) -> str:
    """The text without these secrets, and without what stands before the @ of an address.

    >>> redacted("postgresql://ann:pa55word@host/db: no such pa55word", ["pa55word"])
    'postgresql://***@host/db: no such ***'
    """
    for secret in secrets:
        text = text.replace(secret, "***")
    return _LOGIN.sub("://***@", text)


@contextmanager
def _captured_prints() -> Iterator[int]:
    """Redirect what this process and its workers print to an unnamed file; yields its descriptor."""
    with tempfile.TemporaryFile() as file:
        saved = {stream: os.dup(stream) for stream in (1, 2)}
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            for stream in saved:
                os.dup2(file.fileno(), stream)
            yield file.fileno()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for stream, old in saved.items():
                os.dup2(old, stream)
                os.close(old)


# Carrying out a plan: run, set up judging, draw, let gold answer. The same as the single commands would do.
#
# Every step can be repeated: a run goes on where it stopped, a draw keeps what was drawn, gold answers nothing twice.
# So a plan that was interrupted anywhere is carried out again from its beginning, and ends as if it had not been.

STEPS = ("run", "gold", "sample")
"""What is done, in this order; `gold` only where the plan asks for it."""


@dataclass(frozen=True)
class CarriedOut:
    """The results of carrying out a plan; of all samples, questions that wait for an answer, and those that only audit
    what relations carry."""

    plan: str
    ran: RunResult
    asked: Asked
    gold: GoldAnswers | None
    waiting: int
    audits: int

    def as_json(self) -> dict[str, Any]:
        """Return it as `audit study run` has it in JSON: the parts are those of `run`, `sample` and `gold`."""
        parts: dict[str, Any] = {"plan": self.plan, "run": self.ran.as_json(), "sample": self.asked.as_json()}
        parts |= {"gold": None if self.gold is None else asdict(self.gold)}
        return parts | {"waiting": self.waiting, "audits": self.audits}


def carry_out(
    engine: Engine,
    plan: Plan,
    executor: Executor,
    *,
    watcher: Watcher | None = None,
    begin: Callable[[str], None] = lambda step: None,
    by: int | None = None,
    change_words: bool = False,
) -> CarriedOut:
    """Carry out a plan, or go on with it. `begin` hears each step of `STEPS`, `watcher` how far the run is.

    `by` is the account of the manager who asked for it, in whose name settings change and gold answers; with one, the
    plan may name registered corpora and systems only. `change_words` as in `audit.judging.words.set_words`.
    Raises BadFile where the plan does not hold any more (its corpus has other content, a system is not there),
    NotAllowed, and what the steps raise.
    """
    offer_stored_systems(engine)
    document, uploaded = {"name": plan.name, **plan.content()}, uploaded_here(engine)
    plan = read_plan(document, f"the plan {plan.name!r}", registered_only=by is not None, uploaded=uploaded)
    with engine.connect() as connection:
        now = asdict(settings_of(connection))
    differing = {name: plan.judging[name] for name in SETTINGS if plan.judging[name] != now[name]}
    change_settings(engine, by, differing)  # asks for the role before anything is done
    study, corpus = plan.study, corpus_planned(plan.study, uploaded)
    relations = relations_planned(corpus, study)
    if written := {key: value for key, value in plan.words.items() if value}:
        set_words(engine, study["task"], corpus.name, written, by=by, change=change_words)
    begin("run")
    ran = run(engine, corpus, study["systems"], relations, executor, plan.options(), watcher)
    gold = None
    if plan.judging["gold"]:
        begin("gold")
        gold = answer_with_gold(engine, ran.study.id, by=by)
    begin("sample")
    (asked,) = ask_next(engine, plan.sampling(), ran.study.id, by=by)
    return CarriedOut(plan.name, ran, asked, gold, *queue_length(engine))
