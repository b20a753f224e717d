"""Numbers that take long, computed in another process: while it works, this one goes on answering annotators.

All sessions of a server share two processes (`audit.ui.worker`), each of which starts with its first request, and
their answers. An answer is kept with the state of the database that it was computed from. When that has moved
on, what is computed quickly is computed again; what takes longer is shown as it was, and says so, until somebody asks
for it anew.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillWorking
from dataclasses import dataclass
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
DAILY_REQUESTS = ("totals", "people")
"""What also changes with the day and with flags, which change no report."""
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
            done = outcome(request, submitted)
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


def computed(engine: Engine, request: str, values: dict[str, Any], *, recompute: bool = False) -> CachedAnswer:
    """The answer to a request about this database; waits for it where there is none that may be shown.

    `values` go to the worker. `recompute` computes what is not current, however long it takes; so is what was computed
    before something was run or drawn: it is about other studies, not about fewer answers. Raises what the worker
    refused with.
    """
    cache = _cache()
    state, name = _state_and_name(engine, request, values)
    cached = cache.get(name)
    if cached is not None and cached.state == state:
        return cached
    of_these_studies = cached is not None and cached.state[_OF_STUDIES] == state[_OF_STUDIES]
    if cached is not None and cached.seconds > QUICK and of_these_studies and not recompute:
        return CachedAnswer(cached.value, cached.state, cached.at, cached.seconds, current=False)
    return _wait(cache.start(name, Request(request, session.database_url(), state, values)))


def computed_now(engine: Engine, request: str, values: dict[str, Any], anew: bool = False) -> Any:
    """What the worker answers to a request about the database as it is now (`anew`: whatever it answered before): for
    the API, which shows nothing while it waits. Raises what the worker refused with."""
    cache = _cache()
    state, name = _state_and_name(engine, request, values)
    name += f" {time.monotonic_ns()}" if anew else ""  # nobody else waits for the same answer, and takes it away
    cached = cache.get(name)
    if cached is not None and cached.state == state:
        return cached.value
    return cache.start(name, Request(request, session.database_url(), state, values)).result().value


def _state_and_name(engine: Engine, request: str, values: dict[str, Any]) -> tuple[State, str]:
    """The state of the database that an answer depends on, and what the answer is kept by."""
    state = state_of(engine)
    if request in DAILY_REQUESTS:
        state += (f"{datetime.now(UTC):%Y-%m-%d}", _last_aside(engine))
    return state, repr((session.database_url(), request, sorted(values.items())))


def produce(request: str, values: dict[str, Any], key: Sequence[Any]) -> Any:
    """What the worker makes from values alone, without a database (a picture, a document); kept by `key`.

    For downloads: it waits without showing anything.
    """
    cache, name = _cache(), repr((request, *key))
    cached = cache.get(name)
    if cached is None:
        cached = cache.start(name, Request(request, "", (), values)).result()
    return cached.value


_OF_STUDIES = slice(0, 6)
"""The part of a state that changes with what was run and drawn alone."""


def state_of(engine: Engine) -> State:
    """A value that changes whenever a report would. Cheap: histories only grow, and rounds store their times."""
    of_studies = [func.max(table.c.id) for table in (study, system, relation)]
    others = [func.max(table.c.id) for table in (judgement, adjudication, cause, plan, log)]
    counts = _counts(progress, draw, validity_draw), _counts(judge_answer, repeat)
    terms = [func.max(sample.c.quorum), func.sum(sample.c.annotators), func.sum(sample.c.follow_ups)]
    terms.append(func.max(round_table.c.given_up_at))
    return _values(engine, [*of_studies, *counts[0], *others, *counts[1], *terms, *_LAST])


def studies_state(engine: Engine) -> State:
    """A value that changes whenever a study is made, run, planned or drawn; answers leave it as it is."""
    return _values(engine, [func.max(study.c.id), func.max(plan.c.id), *_counts(progress, draw), *_LAST])


def _last_aside(engine: Engine) -> Any:
    return _values(engine, [func.max(aside.c.id)])[0] or 0


_LAST = (func.max(verdict.c.group_id), func.max(round_table.c.drawn_at))
"""What grows with every run and every draw."""


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


def _wait(future: "Future[CachedAnswer]", clock: Callable[[], float] = time.monotonic) -> CachedAnswer:
    """The result, with a line that says for how long it is worked on; Streamlit ends the run there when it must."""
    started, place = clock(), st.empty()
    while True:
        try:
            answer = future.result(timeout=_POLL_INTERVAL)
        except StillWorking:
            if future.done():
                raise  # the computation itself timed out
            seconds = clock() - started
            if seconds >= 1:
                place.caption(t("workshop.working", seconds=f"{seconds:.0f}"))
            continue
        place.empty()
        return answer


@st.cache_resource(show_spinner=False)
def _cache() -> AnswerCache:
    return AnswerCache()


# The drawn groups with what is observed of their cells, read once for all sessions.


def state(engine: Engine) -> tuple[Any, ...]:
    """What changes whenever something was run or drawn; cheap, since every click of an adjudicator asks it."""
    return session.database_url(), *_values(engine, [*_counts(draw, progress), *_LAST])
