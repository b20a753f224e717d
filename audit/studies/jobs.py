"""Work that the app begins and that goes on without it: carrying out a plan in a process of its own.

A job is a row that its process keeps up to date. Every server and tab sees from it how far the work is; closing the tab
or the app changes nothing. A process that is gone, or has given no sign of life for a minute, is taken for dead: the
plan can be carried out again, and resumes where it was.
"""

import os
import signal
import socket
import sqlite3
import subprocess
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, select, true
from sqlalchemy.exc import SQLAlchemyError

from audit.errors import AuditError
from audit.false_satisfaction.questions import queue_length
from audit.false_satisfaction.rounds import Asked
from audit.judging.accounts import note, require_manager, writing_as_manager
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
from audit.studies.plan import SETTINGS, Plan, corpus_planned, read_plan, relations_planned
from audit.studies.uploads import uploaded_here
from audit.studies.versions import latest

DATABASE = "AUDIT_DB"
"""The variable by which a job's process learns its database: an argument would show a password to the whole machine."""
LIVE = ("waiting", "running", "stopping")
LOST = "lost"
"""Not a state of the row: what `LIVE` means once the process is dead."""
SILENT = timedelta(seconds=60)
"""Without a sign of life for so long a process is taken for dead."""
BEAT = 1.0
"""Seconds between two signs of life."""
_JOB = table_of(tables.Job)


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
    by: str | None
    started_at: datetime
    ended_at: datetime | None

    @property
    def live(self) -> bool:
        """Whether it is being worked at."""
        return self.state in LIVE


def begin_job(engine: Engine, name: str, database: str, *, by: int) -> int:
    """Begin to carry out the last version of a plan in a process of its own; return the job's id.

    `database` is the path or URL of the database, `by` the account of a manager. Raises NotAllowed for another role,
    UnknownName for a plan, and AuditError where the plan is being carried out already.
    """
    now = tables.now()
    with writing_as_manager(engine, by) as connection:
        latest(connection, name)
        if any(job.live for job in _jobs(connection, name)):
            raise AuditError(message("work.run_already", plan=name))
        row = {"plan": name, "state": "waiting", "annotator_id": by, "started_at": now, "seen_at": now}
        id = int(connection.execute(_JOB.insert(), row).inserted_primary_key[0])  # type: ignore[index]
        note(connection, by, "run begun", plan=name)
    _begin_process(name, id, database)
    return id


def _begin_process(name: str, id: int, database: str) -> None:
    """Begin the process, in a session of its own: what ends the app does not end it."""
    process = subprocess.Popen(
        another_python("-m", "audit", "study", "run", name, "--job", str(id)),
        env={**its_environment(), DATABASE: database},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    # Its end must be waited for, or it stays as a zombie that looks alive for as long as this server runs.
    threading.Thread(target=process.wait, daemon=True).start()


def stop_job(engine: Engine, id: int, *, by: int) -> None:
    """Ask a job to stop, which its process reads within a second, on any machine. What it has finished stays.

    Raises NotAllowed for anyone but a manager, AuditError where it is not at work.
    """
    with writing_as_manager(engine, by) as connection:
        job = next((job for job in _jobs(connection) if job.id == id), None)
        if job is None or not job.live:
            raise AuditError(message("work.not_at_work"))
        connection.execute(_JOB.update().where(_JOB.c.id == id).values(state="stopping"))
        note(connection, by, "run stopped", plan=job.plan)


def jobs(engine: Engine, name: str | None = None, *, by: int | None = None) -> list[Job]:
    """Return the jobs of a plan, or all, the last one first. Raises NotAllowed for anyone but a manager."""
    with engine.connect() as connection:
        require_manager(connection, by)
        return _jobs(connection, name)


def _jobs(connection: Connection, name: str | None = None) -> list[Job]:
    query = (
        select(_JOB, annotator.c.name.label("by"))
        .outerjoin(annotator, annotator.c.id == _JOB.c.annotator_id)
        .where(true() if name is None else _JOB.c.plan == name)
        .order_by(_JOB.c.id.desc())
    )
    jobs = []
    for row in connection.execute(query).mappings():
        state, ended_at = _state(row), row["ended_at"]
        reason = message("work.gone") if state == LOST else from_stored(row["message"] or "") or None
        own = {name: row[name] for name in ("id", "plan", "step", "done", "total", "by")}
        own |= {"state": state, "message": reason, "started_at": in_utc(row["started_at"])}
        jobs.append(Job(**own, ended_at=in_utc(ended_at) if ended_at else None))
    return jobs


def _state(row: RowMapping) -> str:
    gone = row["host"] == socket.gethostname() and row["pid"] is not None and began(row["pid"]) is None
    dead = gone or tables.now() - in_utc(row["seen_at"]) > SILENT
    return LOST if row["state"] in LIVE and dead else str(row["state"])


# The process of a job: it says how far it is, hears that it should stop, and leaves a last word.


class Worker(Watcher):
    """Keeps the row of a job up to date, from a thread: training a system takes minutes in which nothing is counted."""

    def __init__(self, engine: Engine, id: int):
        self._engine, self._id = engine, id
        self._now: dict[str, Any] = {"step": "", "done": 0, "total": 0}
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
        """Write the last word, and why."""
        self._over.set()
        self._thread.join()
        self._write(state=state, message=reason and stored(reason), ended_at=tables.now())

    def _beat(self) -> None:
        signalled = False
        while not self._over.wait(BEAT):
            # Locked or gone for a moment: the next beat says it, and without beats the run looks dead.
            with suppress(SQLAlchemyError, sqlite3.Error, OSError):
                if self._write() == "stopping" and not signalled:
                    signalled = True
                    # To the main thread, which may be waiting for a worker: nothing but a signal wakes it.
                    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)

    def _write(self, **values: Any) -> str:
        """Write how far the job is; return its state."""
        update = _JOB.update().where(_JOB.c.id == self._id).values(self._now | {"seen_at": tables.now()} | values)
        with self._engine.begin() as connection:
            return str(connection.execute(update.returning(_JOB.c.state)).scalar())


@contextmanager
def running_job(engine: Engine, id: int) -> Iterator[tuple[Worker, int | None]]:
    """Work on job `id` in this process: yield its watcher, and the account that asked for it.

    SIGTERM and Ctrl-C stop the work; however it ends, the row says so. Raises AuditError where the job does not wait to
    be begun.
    """
    here = {"state": "running", "pid": os.getpid(), "host": socket.gethostname(), "seen_at": tables.now()}
    waiting, unwanted = (_JOB.update().where(_JOB.c.id == id, _JOB.c.state == of) for of in ("waiting", "stopping"))
    with engine.begin() as connection:
        claimed = connection.execute(waiting.values(here).returning(_JOB.c.annotator_id)).first()
        connection.execute(unwanted.values(state="stopped", ended_at=tables.now()))
    if claimed is None:
        raise AuditError(
            f"job {id} does not wait to be begun; begin another in the app, or leave job out", parameter="job"
        )
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    worker = Worker(engine, id)
    try:
        yield worker, claimed.annotator_id
    except KeyboardInterrupt:
        worker.end("stopped")
        raise
    except AuditError as problem:
        worker.end("failed", problem.sentence)
        raise
    except Exception as problem:
        traceback.print_exc()  # for the server's log
        worker.end("failed", f"{type(problem).__name__}: {problem}")
        raise
    else:
        worker.end("done")
    finally:
        signal.signal(signal.SIGTERM, before)


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
    """Carry out a plan, or resume it. `begin` hears each step of `STEPS`, `watcher` how far the run is.

    `by` is the account of the manager who asked for it, in whose name settings change and gold answers; with one, the
    plan may name registered corpora and systems only. `change_words` as in `audit.judging.words.set_words`. Raises
    BadFile where the plan does not hold any more (its corpus has other content, a system is not there), NotAllowed, and
    what the steps raise.
    """
    offer_stored_systems(engine)
    document, uploaded = {"name": plan.name, **plan.content()}, uploaded_here(engine)
    plan = read_plan(document, f"the plan {plan.name!r}", registered_only=by is not None, uploaded=uploaded)
    with engine.connect() as connection:
        now = asdict(settings_of(connection))
    differing = {name: plan.judging[name] for name in SETTINGS if plan.judging[name] != now[name]}
    change_settings(engine, by, differing)  # asks for the role before anything is done
    corpus = corpus_planned(plan.study, uploaded)
    relations = relations_planned(corpus, plan.study)
    if written := {key: value for key, value in plan.words.items() if value}:
        set_words(engine, plan.study["task"], corpus.name, written, by=by, change=change_words)
    begin("run")
    ran = run(engine, corpus, plan.study["systems"], relations, executor, plan.options(), watcher)
    gold = None
    if plan.judging["gold"]:
        begin("gold")
        gold = answer_with_gold(engine, ran.study.id, by=by)
    begin("sample")
    (rounds,) = ask_next(engine, plan.sampling(), ran.study.id, by=by)
    return CarriedOut(plan.name, ran, rounds, gold, *queue_length(engine))
