"""Numbers that take long, computed in another process: while it works, this one goes on answering annotators.

All sessions of a server share two workers (`audit.reports.worker`), each of which begins with its first request, and
what they found out. An answer is kept with the state of the database that it was computed from. When that has moved
on, what is computed quickly is computed again; what takes longer is shown as it was, and says so, until somebody asks
for it anew.
"""

import atexit
import subprocess
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillWorking
from dataclasses import dataclass, field
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import Any, TypeVar

import streamlit as st
from sqlalchemy import Engine, func, select

from audit.errors import AuditError
from audit.false_satisfaction.impact import Stakes, read_stakes
from audit.reports.worker import LONG, read_answer, request_line
from audit.runner.leases import another_python, its_environment
from audit.store import table_of, tables
from audit.ui import session
from audit.ui.language import t

QUICK = 2.0
"""Seconds: what took no longer is computed anew whenever answers have come."""
KEPT = 200
"""Answers that are kept."""
FLEETING = ("totals", "people")
"""What also changes with the day and with flags, which change no report."""
_LOOK = 0.25
"""Seconds after which a waiting page looks whether somebody went elsewhere."""
State = tuple[Any, ...]
T = TypeVar("T")


@dataclass(frozen=True)
class Found:
    """An answer of the worker. `value` is shared by all sessions: nobody writes to it."""

    value: Any
    state: State
    at: datetime
    seconds: float
    current: bool = True
    """Whether it was computed from the database as it is now."""


class Worker:
    """One process that is asked one thing after the other. It is begun when it is needed, and again if it died."""

    def __init__(self) -> None:
        self._requests: SimpleQueue[tuple[str, Future[Any]]] = SimpleQueue()
        self._process: subprocess.Popen[str] | None = None
        # A daemon, unlike the threads of an executor: a server that is stopped does not wait for what it computes.
        threading.Thread(target=self._work, name="worker", daemon=True).start()
        atexit.register(self.stop)

    def ask(self, line: str) -> "Future[Any]":
        """What the worker says to this request, some time. It raises AuditError where it was refused."""
        future: Future[Any] = Future()
        self._requests.put((line, future))
        return future

    def stop(self) -> None:
        """End the process at once, whatever it does."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def _work(self) -> None:
        while True:
            line, future = self._requests.get()
            try:
                future.set_result(self._answer(line))
            except Exception as problem:
                future.set_exception(problem)

    def _answer(self, line: str) -> Any:
        process = self._running()
        if process.stdin is None or process.stdout is None:
            raise AuditError("the process that computes has no pipes; start the app again")
        try:
            process.stdin.write(line)
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            answer = ""
        if not answer:
            self.stop()
            raise AuditError(
                "the process that computes has ended, perhaps for want of memory; try again, or use the command line"
            )
        return read_answer(answer)

    def _running(self) -> "subprocess.Popen[str]":
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                another_python("-m", "audit.reports.worker"),
                env=its_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
        return self._process


@dataclass
class Workshop:
    """The workers, what they are at work on, and what they found."""

    worker: Worker = field(default_factory=Worker)
    patient: Worker = field(default_factory=Worker)
    """For what takes long: a report does not wait for a history."""
    found: "OrderedDict[str, Found]" = field(default_factory=OrderedDict)
    begun: "dict[str, Future[Found]]" = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def known(self, key: str) -> Found | None:
        """What was found for a request, whatever the database was then."""
        with self.lock:
            if key in self.found:
                self.found.move_to_end(key)
            return self.found.get(key)

    def begin(self, key: str, state: State, ask: str, line: str) -> "Future[Found]":
        """Ask, unless the same is being worked on; what is found is kept."""
        with self.lock:
            if key in self.begun:
                return self.begun[key]
            result = self.begun[key] = Future()
        began = time.monotonic()
        # Outside the lock, which keeping takes: the answer may be there at once.
        worker = self.patient if ask in LONG else self.worker
        worker.ask(line).add_done_callback(lambda done: self._keep(key, state, began, done, result))
        return result

    def _keep(self, key: str, state: State, began: float, done: "Future[Any]", result: "Future[Found]") -> None:
        problem = done.exception()
        with self.lock:
            self.begun.pop(key, None)
            if problem is None:
                found = Found(done.result(), state, datetime.now(UTC), time.monotonic() - began)
                self.found[key] = found
                while len(self.found) > KEPT:
                    self.found.popitem(last=False)
        if problem is None:
            result.set_result(found)
        else:
            result.set_exception(problem)


def computed(engine: Engine, ask: str, values: dict[str, Any], *, anew: bool = False) -> Found:
    """The answer to a request about this database; waits for it where there is none that may be shown.

    `values` go to the worker. `anew` computes what is not current, however long it takes. Raises what the worker
    refused with.
    """
    shop, state = _shop(), state_of(engine)
    if ask in FLEETING:
        state += (f"{datetime.now(UTC):%Y-%m-%d}", _last_aside(engine))
    name = repr((session.where(), ask, sorted(values.items())))
    kept = shop.known(name)
    if kept is not None and kept.state == state:
        return kept
    if kept is not None and kept.seconds > QUICK and not anew:
        return Found(kept.value, kept.state, kept.at, kept.seconds, current=False)
    return _waited(shop.begin(name, state, ask, request_line(ask, session.where(), state, values)))


def made(ask: str, values: dict[str, Any], key: Sequence[Any]) -> Any:
    """What the worker makes of something that is no question about a database (a picture, a document); kept by `key`.

    For downloads: it waits without showing anything.
    """
    shop, name = _shop(), repr((ask, *key))
    kept = shop.known(name)
    if kept is None:
        kept = shop.begin(name, (), ask, request_line(ask, "", (), values)).result()
    return kept.value


def state_of(engine: Engine) -> State:
    """What changes whenever a report does, cheaply: histories only grow, and draws say when they were drawn."""
    last = (
        tables.Judgement, tables.Adjudication, tables.Cause, tables.Plan, tables.Log, tables.Study, tables.System,
        tables.Relation, tables.Sample,
    )  # fmt: skip
    sample, verdict = table_of(tables.Sample), table_of(tables.Verdict)
    counted = (tables.Progress, tables.Draw, tables.AuditDraw)
    queries = [
        *(select(func.max(table_of(one).c.id)) for one in last),
        *(select(func.count()).select_from(table_of(one)) for one in counted),
        select(func.max(verdict.c.group_id)),
        select(func.max(sample.c.drawn_at)),
    ]
    with engine.connect() as connection:
        numbers = [connection.execute(query).scalar() for query in queries]
    return (*numbers[:-1], str(numbers[-1]))


def _last_aside(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(select(func.max(table_of(tables.Aside).c.id))).scalar() or 0)


def freshness(found: Found, name: str) -> bool:
    """Say when numbers were computed; where they are not current, offer to compute them again. True: that was asked."""
    if found.current:
        if found.seconds > QUICK:
            st.caption(t("workshop.computed", at=f"{found.at:%H:%M}", seconds=f"{found.seconds:.0f}"))
        return False
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(t("workshop.old", at=f"{found.at:%H:%M}"))
        return st.button(t("workshop.again"), key=f"again-{name}", icon=":material/refresh:")


def current(engine: Engine, ask: str, values: dict[str, Any], name: str) -> Found:
    """As `computed`, with `freshness` above it: computed again where somebody asks for it."""
    return fresh(lambda anew: computed(engine, ask, values, anew=anew), lambda found: found, name)


def fresh(make: Callable[[bool], T], of: Callable[[T], Found], name: str) -> T:
    """What `make` makes, with `freshness` above it; made anew where somebody asks for that. `of` says how old it is."""
    place = st.empty()
    made_of = make(False)
    with place.container():
        again = freshness(of(made_of), name)
    if not again:
        return made_of
    place.empty()
    return make(True)


def _waited(future: "Future[Found]", clock: Callable[[], float] = time.monotonic) -> Found:
    """The result, with a line that says for how long it is worked on; Streamlit ends the run there when it must."""
    began, place = clock(), st.empty()
    while True:
        try:
            found = future.result(timeout=_LOOK)
        except StillWorking:
            if future.done():
                raise  # the computation itself timed out
            seconds = clock() - began
            if seconds >= 1:
                place.caption(t("workshop.working", seconds=f"{seconds:.0f}"))
            continue
        place.empty()
        return found


@st.cache_resource(show_spinner=False)
def _shop() -> Workshop:
    return Workshop()


# The drawn groups with what is observed of their cells, read once for all sessions.


def state(engine: Engine) -> tuple[Any, ...]:
    """What changes whenever something was run or drawn; cheap, since every click of an adjudicator asks it."""
    draw, ran, verdict, sample = (
        table_of(model) for model in (tables.Draw, tables.Progress, tables.Verdict, tables.Sample)
    )
    queries = [
        *(select(func.count()).select_from(table) for table in (draw, ran)),
        select(func.max(verdict.c.group_id)),
        select(func.max(sample.c.drawn_at)),
    ]
    with engine.connect() as connection:
        return session.where(), *(str(connection.execute(query).scalar()) for query in queries)


def stakes(engine: Engine, account_id: int, now: tuple[Any, ...]) -> Stakes:
    """As `read_stakes`, which also says what it raises; read anew where `state` is another than `now`."""
    return _stakes(engine, account_id, now)


# A resource: shared by all sessions, never copied, and nobody writes to it.
@st.cache_resource(max_entries=2, show_spinner=False)
def _stakes(_engine: Engine, _account_id: int, state: tuple[Any, ...]) -> Stakes:
    return read_stakes(_engine, _account_id)
