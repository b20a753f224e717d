"""What drives a run: keeps the executors busy with some chunks at once, and stores what they make.

Outputs are committed as they arrive; groups, verdicts and the note that a chunk is finished for a relation and a system
are committed together. Everything else is in memory and can be made again.
"""

import gc
import math
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice, product
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import DBAPIError

from audit.errors import AuditError
from audit.relations.validity import Fitted
from audit.runner.batch import CALL, Batch, Identity, failed, is_asynchronous
from audit.runner.budget import Meter
from audit.runner.chunk import (
    Bound,
    Chunk,
    Counts,
    Lacks,
    OutputKey,
    Planning,
    Stored,
    Wanted,
    count_checks,
    load_sources,
)
from audit.runner.executors import InProcess, Job, Lost, outcome
from audit.runner.repeats import Repeated, keep_calls, recalled, stored_calls
from audit.runner.studies import StudyRow
from audit.runner.underway import RENEW, OnlyRun
from audit.store import integers, store_inputs, table_of, tables, writing
from audit.systems.base import System
from audit.tasks import Input, Output

if TYPE_CHECKING:
    from audit.runner.run import SystemRunner

# A database that is away for a while: locked by another process, or a server that starts again. What a run writes is
# the same however often it is written, so a transaction that failed is done again.

PATIENCE = 300.0  # Seconds that a run waits for its database before it gives up
_BACK_SOON = ("57P01", "57P02", "57P03", "40001", "40P01", "53300")
"""What PostgreSQL says when it shuts down or starts, when transactions met, and when it has no connection left."""

Result = TypeVar("Result")


def patiently(do: Callable[[], Result], say: Callable[[str], None]) -> Result:
    """Return what is done with a database, again and again while it is away for `PATIENCE` seconds at most; `say` is
    told that the run waits. Anything else that it raises, such as a full disk, is raised at once."""
    until, pause = monotonic() + PATIENCE, 0.1
    while True:
        try:
            return do()
        except DBAPIError as problem:
            if not is_away(problem) or monotonic() > until:
                raise
            say(f"the database does not answer ({' '.join(str(problem.orig).split())}); trying again")
        time.sleep(pause * random.uniform(0.5, 1))  # several that wait for one database do not come back at once
        pause = min(2 * pause, 5.0)


def written(engine: Engine, work: Callable[[Connection], Result], say: Callable[[str], None]) -> Result:
    """Return what work does in a transaction of its own, which writes, `patiently`."""

    def once() -> Result:
        with writing(engine) as connection:
            return work(connection)

    return patiently(once, say)


def is_away(problem: DBAPIError) -> bool:
    """Whether a database is likely to answer if it is asked again: busy, locked, or its connection broke off."""
    if problem.connection_invalidated:
        return True
    if (code := getattr(problem.orig, "sqlstate", None)) is not None:
        return code in _BACK_SOON or str(code).startswith("08")
    name = getattr(problem.orig, "sqlite_errorname", None)
    if name is not None:
        return str(name).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
    # psycopg's OperationalError without a code: it could not connect, or the server went away in the middle.
    return type(problem.orig).__module__.startswith("psycopg") and type(problem.orig).__name__ == "OperationalError"


# How many inputs a batch of a system has.

FEW, MOST = 8, 2_048
"""Inputs of a system's first batch, whose time is not known yet, and of one batch at most."""
AIM = 2.0
"""Seconds that a batch should take: what a killed run has to do again, and how long a limit of time has to wait."""
HASTE = 4
"""A batch should take this part of the limit of time at most: a slow one is not to be taken for one that hangs."""


@dataclass
class Pace:
    """How many inputs a batch of a system has: so many that it takes about `aim` seconds."""

    aim: float = AIM
    call: int = 1  # Inputs of a call to another machine: a batch has whole ones, else some would be made for less
    known: bool = False  # Whether a batch came back or was lost
    lost: int = 0  # Inputs that were lost one after the other

    def __post_init__(self) -> None:
        self.size = -(-FEW // self.call) * self.call

    @classmethod
    def of(cls, system: System, limit: float | None) -> "Pace":
        """Return the pace of a system at its beginning; `limit` is the seconds that it may take for a batch."""
        aim = getattr(system, "batch_seconds", None) or AIM
        call = max(1, system.batch) if is_asynchronous(system) else 1
        return cls(aim if limit is None else min(aim, limit / HASTE), call)

    def learn(self, inputs: int, seconds: float) -> None:
        """Learn from a batch that came back. A first one also loads a model, so no batch changes the pace by much."""
        self.known, self.lost = True, 0
        fitting = int(inputs * self.aim / max(seconds, 1e-6))
        if fitting >= self.size or inputs >= self.size // 2:
            self.size = max(1, self.size // 4, min(4 * self.size, fitting, MOST))
            self.size = max(self.call, self.size // self.call * self.call)

    def lose(self, inputs: int) -> None:
        """A batch of some inputs was lost. It may have had too many of them, and would be lost again and again."""
        self.known = True
        self.size = max(1, min(self.size, inputs // 4) // self.call * self.call)


@dataclass(frozen=True)
class BoundSystem:
    """A system of a run with the id of its row."""

    id: int
    spec: str  # How workers make the system
    system: System
    lacks: Lacks | None = None  # What it has no output for, which is known without running it
    meter: Meter | None = None
    repeated: Repeated | None = None  # How often it is asked each input; None: once
    waits: bool = False  # Whether it is asked on the event loop of `Waiting`

    @property
    def name(self) -> str:
        """The system's own."""
        return self.system.name

    def most(self, places: int) -> float:
        """Return how many batches of the system may be under way at once."""
        if not is_asynchronous(self.system):
            return places if hasattr(self.system, "batch_seconds") else math.inf
        # A batch of one that waits is one call, and the next ones stand by; the user's own has its calls in a batch.
        return 2 * self.system.concurrency + SPARE if self.waits else 1


Asked = tuple[int, int, int]  # A system, which call on some inputs is the first to be made, and how many are


@dataclass(frozen=True)
class Pending:
    """Inputs of a system that are or were in a batch."""

    asked: Asked
    inputs: dict[bytes, Input]

    @property
    def system(self) -> int:
        return self.asked[0]

    @property
    def numbers(self) -> range:
        """Of the calls on each of them."""
        return range(self.asked[1], self.asked[1] + self.asked[2])


SPARE = 6  # Jobs that wait in an executor, beside those that it does; and chunks that are begun before they are needed
TRIES = 3  # How many workers may be lost while they make the groups of a chunk
GIVE_UP = 10  # Inputs lost one after the other from which on a system is taken to be out of order
_TOGETHER = 0.02  # Seconds that the answer of another machine waits for others, to be stored with them

Todo = dict[int, dict[int, list[Bound]]]  # Chunk -> system -> relations that are not finished


class Coordinator:
    """One run of some systems under some relations on a study."""

    def __init__(
        self,
        engine: Engine,
        study: StudyRow,
        systems: Mapping[int, BoundSystem],
        runner: "SystemRunner",
        counts: Counts,
        fresh: Iterable[OutputKey],
        place: OnlyRun | None = None,
    ):
        """`fresh` are outputs that the same run stored just before; `place` says that it has the study for itself."""
        self.engine, self.study, self.systems, self.counts = engine, study, systems, counts
        self._on, self.watcher, self._executor = runner, runner.watcher, runner.executor
        self._fresh, self._place, self._renewed = set(fresh), place, monotonic()
        self._retry = runner.retry_errors
        self._stored = Stored(set(fresh) if self._retry else None)
        self.fitted: Fitted = {}  # What measures of follow-ups have learnt from the study's sources
        self._paces = {system: Pace.of(bound.system, runner.limit) for system, bound in systems.items()}
        # What this process does is done when it is submitted: nothing waits, and little is lost by a kill.
        self._spare = 0 if isinstance(self._executor, InProcess) else SPARE
        self._chunks: dict[int, Chunk] = {}
        self._pending: dict[Asked, dict[bytes, Input]] = {}
        """Inputs that wait to be put into batches, those of all chunks together; the first are next."""
        self._alone: deque[Pending] = deque()
        """Those that were lost together with others: each becomes a batch of its own."""
        self._numbers = count()
        self._jobs: dict[int, tuple[Job, Pending | None]] = {}  # Jobs under way, by number; the inputs of a batch
        self._at_work: Counter[int] = Counter()  # Batches under way by system; planning jobs as 0
        self._over: SimpleQueue[tuple[int, Future[Any]]] = SimpleQueue()
        self._died: set[tuple[Any, ...]] = set()
        """Each input, with how it was asked, with which a process died that had nothing else to do."""
        self._tries: Counter[int] = Counter()
        self._sources = np.empty(0, np.int64)  # Ids of the study's sources, in order: chunk n is the n-th piece of them
        self._underway: dict[int, dict[bytes, tuple[Chunk, ...]]] = {system: {} for system in systems}
        """For each system, the inputs whose outputs are on their way, and the chunks that wait for each of them."""
        self._asked_again: set[OutputKey] = set()  # Inputs whose failed calls were made again: once in a run

    def run(self, todo: Todo) -> None:
        """Do these chunks."""
        source = table_of(tables.Source)
        query = select(source.c.id).where(source.c.study_id == self.study.id).order_by(source.c.id)
        self._sources = self._read(lambda connection: integers(connection, query))[:, 0]
        with few_collections():
            self._go(dict(todo))

    def outputs(self, system: int, inputs: Mapping[bytes, Input]) -> dict[bytes, Output]:
        """Return a system's outputs for some inputs that belong to no source; stored ones where there are such, and
        those are absent that the budget did not allow."""
        lacks = self.systems[system].lacks
        chunk = Chunk(self.study.id, 0, {}, {system: ()}, {} if lacks is None else {system: lacks})
        self._chunks[0] = chunk
        self._want(chunk, chunk.want(system, inputs))
        self._go({})
        for left in (self._chunks, self._pending, self._underway[system]):  # what the budget did not allow
            left.clear()
        return chunk.outputs[system]

    def _go(self, todo: Todo) -> None:
        while todo or self._chunks:
            self._fill(todo)
            if self._on.budget.reached and not self._jobs:
                return
            self._take()
            if self._place is not None and monotonic() - self._renewed > RENEW:
                self._write(self._place.renew)
                self._renewed = monotonic()

    # What is begun: batches of systems that wait, then batches of the others, then chunks.

    def _fill(self, todo: Todo) -> None:
        while self._submit(waits=True):
            pass
        while sum(number for id, number in self._at_work.items() if not id or not self.systems[id].waits) < (
            self._executor.places + self._spare
        ):
            if not self._submit(waits=False) and not self._begin(todo):
                return

    def _submit(self, waits: bool) -> bool:
        """Put the next inputs that wait into a batch; whether there are any."""
        for asked, inputs in self._pending.items():
            bound, pace = self.systems[asked[0]], self._paces[asked[0]]
            if self._may_begin(bound, waits):
                items: Iterable[tuple[bytes, Input]] = inputs.items()
                if hasattr(bound.system, "batch_seconds"):  # one that begins anew for each pair of languages
                    items = sorted(items, key=lambda item: item[1].languages)
                size = pace.call if waits else max(1, pace.size // asked[2])
                return self._submit_batch(bound, Pending(asked, dict(islice(items, size))))
        for work in self._alone:
            if self._may_begin(self.systems[work.system], waits):
                self._alone.remove(work)
                return self._submit_batch(self.systems[work.system], work)
        return False

    def _may_begin(self, bound: BoundSystem, waits: bool) -> bool:
        """Whether another batch may begin. Until the first is back nobody knows how long it takes: others wait."""
        at_work = self._at_work[bound.id]
        known = waits or self._paces[bound.id].known or not at_work
        allowed = bound.meter is None or not self._on.budget.reached
        return bound.waits == waits and known and allowed and at_work < bound.most(self._executor.places)

    def _submit_batch(self, bound: BoundSystem, work: Pending) -> bool:
        """Submit some inputs, as many as the budget allows; what costs nothing goes on where it allows none."""
        times = len(work.numbers)
        if bound.meter is not None:
            fitting = self._on.budget.fits(bound.meter, list(work.inputs.values()), times)
            if not fitting:
                return self._submit(bound.waits)
            work = replace(work, inputs=dict(islice(work.inputs.items(), fitting)))
            self._on.budget.spend(bound.meter.of(list(work.inputs.values()), times))
        if (waiting := self._pending.pop(work.asked, None)) is not None:
            for key in work.inputs:
                waiting.pop(key, None)
            if waiting:
                self._pending[work.asked] = waiting  # the next batch is another system's
        call = getattr(bound.system, "call_size", None) or CALL[self.study.unit]
        inputs, identity = tuple(work.inputs.values()), Identity.of(bound.system)
        self._start(Batch(bound.spec, self.study.task, inputs, call, self._on.limit, identity, times), work)
        return True

    def _start(self, job: Job, work: Pending | None = None) -> None:
        """Give an executor a job; its end is put into `_over`."""
        number, system = next(self._numbers), work.system if work else 0
        self._jobs[number] = job, work
        self._at_work[system] += 1
        executor = self._on.executor_of(self.systems[system].spec) if system else self._executor
        executor.submit(job).add_done_callback(lambda future: self._over.put((number, future)))

    def _begin(self, todo: Todo) -> bool:
        """Begin the next chunk; whether there is one, and a place for it."""
        if not todo or len(self._chunks) >= self._executor.places + SPARE or self._on.budget.reached:
            return False
        number = next(iter(todo))
        unfinished, study = todo.pop(number), self.study
        ids = self._sources[number * study.chunk :][: study.chunk]
        first, last = int(ids[0]), int(ids[-1])
        sources = self._read(lambda connection: load_sources(connection, study.id, study.seed, first, last))
        lacks = {system: lacks for system in unfinished if (lacks := self.systems[system].lacks) is not None}
        self._chunks[number] = chunk = Chunk(study.id, number, sources, unfinished, lacks, self.fitted)
        if (job := chunk.planning()) is None:
            self._want(chunk, chunk.planned([]))
        else:
            self._start(job)
        return True

    # What a chunk wants: the database is asked first, and the systems last.

    def _want(self, chunk: Chunk, wanted: Wanted) -> None:
        """See to it that the chunk gets what it wants. Groups whose outputs are all stored go on at once: what they
        want next is asked for together with the rest."""
        while any(wanted.values()):
            self._ask(chunk, wanted)
            wanted = chunk.wanted()
        if not chunk.waits:
            self._finish(chunk)

    def _ask(self, chunk: Chunk, wanted: Wanted) -> None:
        self._note(chunk)
        new = {key: item for inputs in wanted.values() for key, item in inputs.items() if key not in chunk.ids}
        ids, before = self._write(lambda connection: store_inputs(connection, new)) if new else ({}, set())
        chunk.ids.update(ids)
        for system, inputs in wanted.items():
            known = {key: chunk.ids[key] for key in inputs if key in before or key not in ids}
            outputs = self._read(partial(self._stored.outputs, system=system, ids=known)) if known else {}
            lacking: dict[tuple[int, int], dict[bytes, Input]] = {}
            if self.systems[system].repeated is not None:
                outputs, lacking = self._by_calls(chunk, system, inputs, outputs)
            fresh = {(system, key) for key in outputs} & self._fresh
            self._fresh -= fresh
            self.counts.stored += len(outputs) - len(fresh)
            chunk.keep(system, outputs)
            underway, missing = self._underway[system], {key: inputs[key] for key in inputs if key not in outputs}
            chunk.waits += len(missing)
            for key in underway.keys() & missing.keys():
                underway[key] += (chunk,)
                self.counts.stored += 1
            missing = {key: item for key, item in missing.items() if key not in underway}
            underway.update(dict.fromkeys(missing, (chunk,)))
            for (number, times), asked in (lacking or {(1, 1): missing}).items():
                if asked:
                    self._pending.setdefault((system, number, times), {}).update(asked)

    def _by_calls(
        self, chunk: Chunk, system: int, inputs: Mapping[bytes, Input], outputs: Mapping[bytes, Output]
    ) -> tuple[dict[bytes, Output], dict[tuple[int, int], dict[bytes, Input]]]:
        """Return the outputs for which no call is lacking; and the inputs for which calls are lacking, by the number of
        the first of them, and how many they are."""
        repeated = self.systems[system].repeated
        assert repeated is not None
        made = dict(outputs) if repeated.by_majority else {}
        lacking: dict[tuple[int, int], dict[bytes, Input]] = {}
        ids = {key: chunk.ids[key] for key in inputs if key not in self._underway[system] and key not in made}

        def kept(connection: Connection) -> dict[bytes, Output]:
            once = Stored().outputs(connection, repeated.base, ids) if repeated.by_majority else outputs
            for key, calls in recalled(connection, repeated.base, ids, {k: once[k] for k in ids if k in once}).items():
                if numbers := repeated.lacking(calls, self._retry and (system, key) not in self._asked_again):
                    lacking.setdefault((numbers.start, len(numbers)), {})[key] = inputs[key]
                else:
                    made[key] = outputs.get(key) or repeated.effective(calls)
            of_outputs = {key: ids[key] for key in made if key not in outputs}
            return made | self._stored.keep(connection, system, of_outputs, [made[key] for key in of_outputs])

        return self._write(kept) if ids else made, lacking

    def _note(self, chunk: Chunk) -> None:
        """Store the inputs that nobody is asked about, and what systems have no output for."""
        if not (noted := chunk.noted()):
            return

        def keep(connection: Connection) -> dict[bytes, int]:
            ids, _ = store_inputs(connection, {key: item for inputs in noted.values() for key, item in inputs.items()})
            for system, inputs in noted.items():
                if system:
                    self._stored.keep(connection, system, {key: ids[key] for key in inputs}, [Output()] * len(inputs))
            return ids

        chunk.ids.update(self._write(keep))

    # What comes to an end: it is stored, and the chunks that waited for it go on.

    def _take(self) -> None:
        over = []
        with suppress(Empty):
            over.append(self._over.get(timeout=1.0))
            if self._on.waiting is not None:
                time.sleep(_TOGETHER)
            while True:
                over.append(self._over.get_nowait())
        batches: list[tuple[Pending, list[Output]]] = []
        planned: list[tuple[Any, Any]] = []
        for number, future in over:
            job, work = self._jobs.pop(number)
            self._at_work[work.system if work else 0] -= 1
            result = outcome(job, future)
            if work is None:
                planned.append((job, result))
            elif isinstance(result, Lost):
                batches += self._lost(work, result)
            else:
                self._learn(work, result.seconds, result.calls)
                batches.append((work, result.outputs()))
        if batches:
            self._keep(batches)
        for job, result in planned:
            if isinstance(result, Lost):
                self._plan_again(job, result)
            else:
                chunk = self._chunks[job.chunk]
                self._want(chunk, chunk.planned(result))

    def _learn(self, work: Pending, seconds: float, calls: int) -> None:
        meter, times = self.systems[work.system].meter, len(work.numbers)
        self._paces[work.system].learn(len(work.inputs) * times, seconds)
        if meter is not None:
            self._on.budget.spend_more(meter, calls - meter.of(list(work.inputs.values()), times).calls)

    def _plan_again(self, job: Planning, lost: Lost) -> None:
        """Make groups anew: the worker was lost, killed from outside or by what a system did in it before."""
        self._tries[job.chunk] += 1
        if self._tries[job.chunk] >= TRIES:
            raise AuditError(
                f"{TRIES} workers were lost while they made the same groups ({lost.reason}; out of memory?); what was "
                "finished is stored; run the same command again to resume, with workers=1, or 0 for one process",
                parameter="workers",
            )
        self._start(job)

    def _lost(self, work: Pending, lost: Lost) -> list[tuple[Pending, list[Output]]]:
        """Do a lost batch again, each input alone; return the error of one that is lost alone.

        The first time that a process dies of one input, it may have been killed from outside: it is done again.
        """
        pace, inputs = self._paces[work.system], work.inputs
        alone = (work.asked, *inputs)
        if len(inputs) > 1 or not (lost.late or alone in self._died):
            pace.lose(len(inputs))
            self._died.update([alone] if len(inputs) == 1 else [])
            self._alone.extend(replace(work, inputs={key: item}) for key, item in inputs.items())
            return []
        pace.lost += 1
        if pace.lost >= GIVE_UP:
            raise AuditError(
                f"system {self.systems[work.system].name} was lost on {GIVE_UP} inputs one after the other "
                f"({lost.reason}); what was finished is stored, and the same command with retry_errors resumes once "
                "the system works; time_limit gives it more time",
                parameter=("retry_errors", "time_limit"),
            )
        return [(work, [failed(lost.reason)] * len(work.numbers))]

    def _keep(self, batches: Sequence[tuple[Pending, list[Output]]]) -> None:
        """Store what systems returned, all of it in one transaction, and hand the outputs that count to the chunks that
        wait."""

        def keep(connection: Connection) -> list[dict[bytes, Output]]:
            return [self._kept(connection, work, outputs) for work, outputs in batches]

        ready: dict[int, Chunk] = {}
        for (work, returned), outputs in zip(batches, self._write(keep), strict=True):
            self.counts.note(returned)
            self.counts.repeated += sum(number > 1 for number in work.numbers) * len(outputs)
            self.counts.retried += self._stored.note(work.system, outputs)
            self.watcher.executed(len(returned))
            underway = self._underway[work.system]
            by_chunk: dict[int, dict[bytes, Output]] = {}
            for key, output in outputs.items():
                for chunk in underway.pop(key):
                    ready[chunk.number] = chunk
                    by_chunk.setdefault(chunk.number, {})[key] = output
            for number, own in by_chunk.items():
                ready[number].receive(work.system, own)
        for chunk in ready.values():
            if not chunk.waits:
                self._want(chunk, chunk.wanted())

    def _kept(self, connection: Connection, work: Pending, outputs: Sequence[Output]) -> dict[bytes, Output]:
        """Store what a batch returned; return what counts now: another study may have been quicker."""
        underway, repeated = self._underway[work.system], self.systems[work.system].repeated
        ids = {key: underway[key][0].ids[key] for key in work.inputs}
        if repeated is None:
            return self._stored.keep(connection, work.system, ids, outputs)
        rows = zip(product(work.numbers, ids), outputs, strict=True)
        keep_calls(connection, repeated.base, ids, [(key, number, output) for (number, key), output in rows])
        calls = stored_calls(connection, repeated.base, ids)
        self._asked_again.update((work.system, key) for key in ids)
        if repeated.by_majority:  # a run that asks once finds an output, too
            first = replace(repeated, by_majority=False)
            Stored().keep(connection, repeated.base, ids, [first.effective(calls[key]) for key in ids])
        return self._stored.keep(connection, work.system, ids, [repeated.effective(calls[key]) for key in ids])

    def _finish(self, chunk: Chunk) -> None:
        self._note(chunk)
        found = self._write(chunk.store)
        count_checks(self.counts, len(chunk.groups), found)
        del self._chunks[chunk.number]
        self.watcher.finished(len(chunk.sources))

    def _write(self, work: Callable[[Connection], Result]) -> Result:
        return written(self.engine, work, self.watcher.says)

    def _read(self, work: Callable[[Connection], Result]) -> Result:
        def once() -> Result:
            with self.engine.connect() as connection:
                return work(connection)

        return patiently(once, self.watcher.says)


@contextmanager
def few_collections() -> Iterator[None]:
    """Collect garbage seldom, and not among what was loaded before: a run makes millions of small objects.

    Workers that are forked meanwhile do as this process.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
