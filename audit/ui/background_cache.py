"""Numbers that take long, computed in another process: while it works, this one goes on answering annotators.

All sessions of a server share two processes (`audit.ui.worker`), each of which starts with its first request, and
their answers. An answer is kept with the state of the database that it was computed from. When that has moved
on, what is computed quickly is computed again; what takes longer is shown as it was, and says so, until somebody asks
for it anew.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillWorking
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import streamlit as st
from sqlalchemy import Engine, ScalarSelect, Table, func, select

from audit.errors import AuditError
from audit.messages import message
from audit.runner.executors import Executor, Lost, Processes, outcome
from audit.store.core import (
    adjudication,
    aside,
    cause,
    draw,
    judge_answer,
    judgement,
    log,
    plan,
    progress,
    relation,
    repeat,
    round_table,
    sample,
    study,
    system,
    validity_draw,
    verdict,
)
from audit.ui import session
from audit.ui.language import t
from audit.ui.worker import LONG, Request, be_polite

QUICK = 2.0
"""Seconds: what took no longer is computed anew whenever answers have come."""
MAX_ANSWERS = 200
"""Answers that are kept."""
_POLL_INTERVAL = 0.25
"""Seconds after which a waiting page looks whether somebody went elsewhere."""
State = tuple[Any, ...]


@dataclass(frozen=True)
class CachedAnswer:
    """An answer of the worker. `value` is shared by all sessions: nobody writes to it."""

    value: Any
    state: State
    at: datetime
    seconds: float
    current: bool = True
    """Whether it was computed from the database as it is now."""


class AnswerCache:
    """Two processes, the requests they work on, and the answers they gave."""

    def __init__(self) -> None:
        # A report does not wait for an export.
        self.quick, self.slow = _process(), _process()
        self.answers: OrderedDict[str, CachedAnswer] = OrderedDict()
        self.running: dict[str, Future[CachedAnswer]] = {}
        self.lock = threading.RLock()

    def get(self, key: str) -> CachedAnswer | None:
        """Return the last answer to a request, from whatever state of the database."""
        with self.lock:
            if key in self.answers:
                self.answers.move_to_end(key)
            return self.answers.get(key)

    def start(self, key: str, request: Request) -> "Future[CachedAnswer]":
        """Ask a process, unless it works on this request already; the answer is kept."""
        with self.lock:
            if key in self.running:
                return self.running[key]
            answer = self.running[key] = Future()
            submitted = (self.slow if request.ask in LONG else self.quick).submit(request)
        submitted.add_done_callback(partial(self._keep, key, request, answer))
        return answer

    def _keep(self, key: str, request: Request, answer: "Future[CachedAnswer]", submitted: "Future[Any]") -> None:
        try:
            done = outcome(submitted)
            if isinstance(done, Lost):
                raise AuditError(message("worker.ended"))
        except Exception as problem:
            with self.lock:
                self.running.pop(key)
            answer.set_exception(problem)
            return
        with self.lock:
            self.running.pop(key)
            self.answers[key] = CachedAnswer(done[0], request.state, datetime.now(UTC), done[1])
            if len(self.answers) > MAX_ANSWERS:
                self.answers.popitem(last=False)
            kept = self.answers[key]
        answer.set_result(kept)


def _process() -> Executor:
    return Processes(1, "spawn", be_polite)


def computed(engine: Engine, ask: str, values: dict[str, Any], *, recompute: bool = False) -> CachedAnswer:
    """The answer to a request about this database; waits for it where there is none that may be shown.

    `values` go to the worker. `recompute` computes what is not current, however long it takes; so is what was computed
    before something was run or drawn: it is about other studies, not about fewer answers. Raises AuditError where the
    worker refuses.
    """
    request, cached = _request(engine, ask, values)
    if cached is not None and cached.state == request.state:
        return cached
    if cached is not None and cached.seconds > QUICK and cached.state[0] == request.state[0] and not recompute:
        return replace(cached, current=False)
    return _wait(_cache().start(_name(request), request))


def computed_now(engine: Engine, ask: str, values: dict[str, Any], anew: bool = False) -> Any:
    """What the worker answers to a request about the database as it is now (`anew`: whatever it answered before), where
    nothing is shown meanwhile. Raises AuditError where the worker refuses."""
    request, cached = _request(engine, ask, values)
    if cached is not None and cached.state == request.state and not anew:
        return cached.value
    name = f"{_name(request)} {time.monotonic_ns()}" if anew else _name(request)  # nobody else takes the answer away
    return _cache().start(name, request).result().value


def _request(engine: Engine, ask: str, values: dict[str, Any]) -> tuple[Request, CachedAnswer | None]:
    """The request, and what it was answered last."""
    state = state_of(engine)
    if ask == "totals":  # flags, and another day, change no report
        state += (f"{datetime.now(UTC):%Y-%m-%d}", *_values(engine, [func.max(aside.c.id)]))
    request = Request(ask, session.database_url(), state, values)
    return request, _cache().get(_name(request))


def _name(request: Request) -> str:
    return repr((request.database, request.ask, sorted(request.values.items())))


def state_of(engine: Engine) -> State:
    """A value that changes whenever a report would; first in it is that of `studies_state`. Cheap: histories only grow,
    and rounds store their times."""
    newest = [func.max(table.c.id) for table in (system, relation, judgement, adjudication, cause, log)]
    terms = [func.max(sample.c.quorum), func.sum(sample.c.annotators), func.sum(sample.c.follow_ups)]
    terms.append(func.max(round_table.c.given_up_at))
    return studies_state(engine), *_values(engine, [*newest, *terms, *_counts(judge_answer, repeat)])


def studies_state(engine: Engine) -> State:
    """A value that changes whenever a study is made, run, planned or drawn; answers leave it as it is. Cheap, since
    every click of an adjudicator asks it."""
    newest = func.max(study.c.id), func.max(plan.c.id), func.max(verdict.c.group_id), func.max(round_table.c.drawn_at)
    return session.database_url(), *_values(engine, [*newest, *_counts(progress, draw, validity_draw)])


def _counts(*counted: Table) -> list[ScalarSelect[int]]:
    return [select(func.count()).select_from(table).scalar_subquery() for table in counted]


def _values(engine: Engine, expressions: Iterable[Any]) -> State:
    """The values of expressions, each a statement of its own: together they would be one large join."""
    with engine.connect() as connection:
        values = [connection.execute(select(expression)).scalar() for expression in expressions]
    return tuple(str(value) if isinstance(value, datetime) else value for value in values)


def computed_with_freshness(engine: Engine, request: str, values: dict[str, Any], name: str) -> CachedAnswer:
    """As `computed`, with how old its numbers are above it, and a button that computes them anew."""
    place, recompute = st.empty(), False
    answer = computed(engine, request, values)
    with place.container(horizontal=True, vertical_alignment="center"):
        if not answer.current:
            st.caption(t("workshop.old", at=f"{answer.at:%H:%M}"))
            recompute = st.button(t("workshop.again"), key=f"again-{name}", icon=":material/refresh:")
        elif answer.seconds > QUICK:
            st.caption(t("workshop.computed", at=f"{answer.at:%H:%M}", seconds=f"{answer.seconds:.0f}"))
    if not recompute:
        return answer
    place.empty()
    return computed(engine, request, values, recompute=True)


def _wait(future: "Future[CachedAnswer]") -> CachedAnswer:
    """The result, with a line that says for how long it is worked on; Streamlit ends the run there when it must."""
    started, place = time.monotonic(), st.empty()
    while True:
        try:
            answer = future.result(timeout=_POLL_INTERVAL)
        except StillWorking:
            if future.done():
                raise  # the computation itself timed out
            seconds = time.monotonic() - started
            if seconds >= 1:
                place.caption(t("workshop.working", seconds=f"{seconds:.0f}"))
            continue
        place.empty()
        return answer


@st.cache_resource(show_spinner=False)
def _cache() -> AnswerCache:
    return AnswerCache()
