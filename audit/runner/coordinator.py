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
    load_sources,
)
from audit.runner.executors import InProcess, Job, Lost, outcome
from audit.runner.repeats import Repeated, first_calls, has_calls, keep_calls, recalled, stored_calls
from audit.runner.studies import StudyRow
from audit.runner.underway import RENEW, OnlyRun
from audit.store import integers, store_inputs, table_of, tables, writing
from audit.systems.base import System
from audit.tasks import Input, Output

if TYPE_CHECKING:
    from audit.runner.run import SystemRunner


class Watcher:
    """Is told how far a run is. The command line draws a bar; this one stays silent."""

    def begin(self, sources: int) -> None:
        """`sources` are left to do."""

    def executed(self, outputs: int) -> None:
        """Systems returned this many more outputs."""

    def finished(self, sources: int) -> None:
        """This many more sources are done and committed."""

    def says(self, sentence: str) -> None:
        """Why the run waits."""


# A database that is away for a while: locked by another process, or a server that starts again. What a run writes is
# the same however often it is written, so a transaction that failed is done again.

PATIENCE = 300.0
"""Seconds that a run waits for its database before it gives up."""
_FIRST, _LONGEST = 0.1, 5.0
"""Seconds between two tries: the first, and the most."""
_BACK_SOON = ("57P01", "57P02", "57P03", "40001", "40P01", "53300")
"""What PostgreSQL says when it shuts down or starts, when transactions met, and when it has no connection left."""

Result = TypeVar("Result")


def patiently(do: Callable[[], Result], say: Callable[[str], None]) -> Result:
    """Do something with a database, again and again while it is away; it must be the same however often it is done.

    `say` is told in one sentence that the run waits. Raises what the database raised once it was away for `PATIENCE`
    seconds, and at once for anything else, such as a full disk.
    """
    until, pause = monotonic() + PATIENCE, _FIRST
    while True:
        try:
            return do()
        except DBAPIError as problem:
            if not is_away(problem) or monotonic() > until:
                raise
            say(f"the database does not answer ({' '.join(str(problem.orig).split())}); trying again")
        time.sleep(pause * random.uniform(0.5, 1))  # several that wait for one database do not come back at once
        pause = min(2 * pause, _LONGEST)


def written(engine: Engine, work: Callable[[Connection], Result], say: Callable[[str], None]) -> Result:
    """Do work that writes in a transaction of its own, again and again while the database is away (`patiently`)."""

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


# How many inputs a batch of a system has, and which.

MOST, MOST_GATHERED = 2_048, 4_096
"""Inputs of one batch, at most; and of a system that begins slowly."""
FEW, FEW_GATHERED = 8, 32
"""Inputs of a system's first batch: its time is not known yet; and of one that begins slowly."""
AIM = 2.0
"""Seconds that a batch should take: what a killed run has to do again, and how long a limit of time has to wait."""
GATHERED = 5_000
"""Sources on their way at once, whose inputs a system that begins slowly is given together."""
HASTE = 4
"""A batch should take this part of the limit of time at most: a slow one is not to be taken for one that hangs."""


@dataclass
class Pace:
    """How many inputs a batch of a system has: so many that it takes about `aim` seconds."""

    aim: float = AIM
    size: int = FEW
    lost: int = 0
    """Inputs that were lost one after the other."""
    known: bool = False
    """Whether a batch came back or was lost."""
    growth: int = 4
    """A batch has at most so many times the inputs of the one before,"""
    most: int | None = None
    """and so many at most (default: `MOST`)."""
    call: int = 1
    """Inputs of a call to another machine: a batch has whole ones, else some would be made for less."""

    def learn(self, inputs: int, seconds: float) -> None:
        """Learn from a batch that came back. A first one also loads a model, so no batch changes the pace by much."""
        self.known = True
        fitting = int(inputs * self.aim / max(seconds, 1e-6))
        if fitting >= self.size or inputs >= self.size // 2:
            self.size = max(1, self.size // 4, min(self.growth * self.size, fitting, self.most or MOST))
            self.size = max(self.call, self.size // self.call * self.call)

    def lose(self, inputs: int) -> None:
        """A batch of some inputs was lost. It may have had too many of them, and would be lost again and again."""
        self.known = True
        self.size = max(1, min(self.size, inputs // 4) // self.call * self.call)


@dataclass(frozen=True)
class BoundSystem:
    """A system of a run with the id of its row."""

    id: int
    spec: str
    """How workers make the system."""
    system: System
    lacks: Lacks | None = None
    """What it has no output for, which is known without running it."""
    meter: Meter | None = None
    repeated: Repeated | None = None
    """How often it is asked each input; None: once."""
    waits: bool = False
    """Whether it is asked on the event loop of `Waiting`."""

    @property
    def name(self) -> str:
        """The system's own."""
        return self.system.name

    @property
    def aim(self) -> float | None:
        """How long a batch should take, where the system begins slowly and says so."""
        return getattr(self.system, "batch_seconds", None)

    def pace(self, limit: float | None) -> Pace:
        """Return the pace of a system at its beginning; `limit` is the seconds that it may take for a batch."""
        aim = self.aim or AIM
        call = max(1, self.system.batch) if is_asynchronous(self.system) else 1
        aim = aim if limit is None else min(aim, limit / HASTE)
        if self.aim:  # each batch that is smaller than it might be is another beginning
            return Pace(aim, FEW_GATHERED, growth=16, most=MOST_GATHERED, call=call)
        return Pace(aim, -(-FEW // call) * call, call=call)

    def most(self, places: int) -> float:
        """Return how many batches of the system may be under way at once."""
        if self.waits and is_asynchronous(self.system):
            return 2 * self.system.concurrency + SPARE  # a batch is one call, and the next ones stand by
        if is_asynchronous(self.system):
            return 1  # the user's own: its concurrency is within a batch
        return places if self.aim else math.inf


Asked = tuple[int, int, int]
"""A system, which call on some inputs is the first to be made, and how many are."""


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


SPARE = 6
"""Jobs that wait in an executor, beside those that it does; and chunks that are begun before they are needed."""
TRIES = 3
"""How many workers may be lost while they make the groups of a chunk."""
GIVE_UP = 10
"""Inputs lost one after the other from which on a system is taken to be out of order."""
LOOK = 1.0
"""Seconds, at most, that a run waits for an executor before it gives a sign of life."""
_TOGETHER = 0.02
"""Seconds that the answer of another machine waits for others, to be stored with them."""

Todo = dict[int, dict[int, list[Bound]]]
"""Chunk -> system -> relations that are not finished."""


class Coordinator:
    """One run of some systems under some relations on a study."""

    def __init__(
        self,
        engine: Engine,
        study: StudyRow,
        systems: Mapping[int, BoundSystem],
        runner: "SystemRunner",
        counts: Counts,
        fresh: set[OutputKey],
        place: OnlyRun | None = None,
        retried: set[OutputKey] | None = None,
    ):
        """`fresh` are outputs that the same run stored just before; `place` says that it has the study for itself, and
        `retried` is as `Stored` has it."""
        self.engine, self.study, self.systems, self.counts = engine, study, systems, counts
        self._on, self.watcher, self._executor = runner, runner.watcher, runner.executor
        self._fresh, self._place, self._retried = set(fresh), place, retried
        self._stored, self._renewed = Stored(retried), monotonic()
        self.fitted: Fitted = {}
        """What measures of follow-ups have learnt from the study's sources."""
        self._paces = {system: bound.pace(runner.limit) for system, bound in systems.items()}
        self._gathers = any(bound.aim for bound in systems.values())
        self._most_chunks = max(self._executor.places + SPARE, GATHERED // study.chunk if self._gathers else 0)
        # What this process does is done when it is submitted: nothing waits, and little is lost by a kill.
        self._spare = 0 if isinstance(self._executor, InProcess) else SPARE
        self._chunks: dict[int, Chunk] = {}
        self._pending: dict[Asked, dict[bytes, Input]] = {}
        """Inputs that wait to be put into batches, those of all chunks together; the first are next."""
        self._alone: deque[Pending] = deque()
        """Those that were lost together with others: each becomes a batch of its own."""
        self._numbers = count()
        self._jobs: dict[int, tuple[Job, Pending | None]] = {}
        """Jobs under way, by number; the inputs of a batch."""
        self._at_work: Counter[int] = Counter()
        """Batches under way by system; planning jobs as 0."""
        self._over: SimpleQueue[tuple[int, Future[Any]]] = SimpleQueue()
        self._died: set[tuple[Any, ...]] = set()
        """System and key of each input with which a process died, having nothing else to do."""
        self._tries: Counter[int] = Counter()
        self._sources = np.empty(0, np.int64)
        """Ids of the study's sources, in order: chunk n is the n-th piece of them."""
        self._underway: dict[int, dict[bytes, tuple[Chunk, ...]]] = {system: {} for system in systems}
        """For each system, the inputs whose outputs are on their way, and the chunks that wait for each of them."""
        self._asked_before: set[int] = set()
        """Systems that were asked inputs several times, maybe some whose outputs do not count yet."""
        self._asked_again: set[OutputKey] = set()
        """Inputs whose failed calls were made again: once in a run."""

    def run(self, todo: Todo) -> None:
        """Do these chunks."""
        with _few_collections():
            self._run(dict(todo))

    def _run(self, todo: Todo) -> None:
        source = table_of(tables.Source)
        query = select(source.c.id).where(source.c.study_id == self.study.id).order_by(source.c.id)
        self._sources = self._read(lambda connection: integers(connection, query))[:, 0]
        self._asked_before = self._read(
            lambda connection: {
                id for id, bound in self.systems.items() if bound.repeated is None and has_calls(connection, id)
            }
        )
        while todo or self._chunks:
            self._fill(todo)
            if self._on.budget.reached and not self._jobs:
                return
            self._take()
            if self._place is not None and monotonic() - self._renewed > RENEW:
                self._write(self._place.renew)
                self._renewed = monotonic()

    def outputs(self, system: int, inputs: Mapping[bytes, Input]) -> dict[bytes, Output]:
        """Return a system's outputs for some inputs that belong to no source; stored ones where there are such, and
        those are absent that the budget did not allow."""
        lacks = self.systems[system].lacks
        chunk = Chunk(self.study.id, 0, {}, {system: ()}, {} if lacks is None else {system: lacks})
        self._chunks[0] = chunk
        self._want(chunk, chunk.want(system, inputs))
        while self._chunks:
            self._fill({})
            if self._on.budget.reached and not self._jobs:
                self._chunks.clear()
                self._underway[system].clear()
                self._pending.clear()
                break
            self._take()
        return chunk.outputs(system)

    def _fill(self, todo: Todo) -> None:
        """Give the executors work, as much as they can do and a little more."""
        while self._submit(waits=True):
            pass
        while self._busy_here() < self._executor.places + self._spare:
            if self._gathers and self._begin(todo):
                continue  # what there is to gather comes first
            if not self._submit(waits=False) and not self._begin(todo):
                return

    def _busy_here(self) -> int:
        return sum(number for system, number in self._at_work.items() if not system or not self.systems[system].waits)

    def _submit(self, waits: bool) -> bool:
        """Put the next inputs that wait into a batch; whether there are any.

        Until a system's first batch is back, nobody knows how long it takes: its others wait. So do those of a system
        that begins slowly, until a place is free: its batches are still growing, or may be gathered.
        """
        for asked, inputs in self._pending.items():
            bound, (system, _, times) = self.systems[asked[0]], asked
            if bound.waits == waits and self._may_begin(bound):
                size = self._paces[system].call if waits else max(1, self._paces[system].size // times)
                items: Iterable[tuple[bytes, Input]] = inputs.items()
                if bound.aim:  # one that begins anew for each pair of languages begins seldom then
                    items = sorted(items, key=lambda item: item[1].languages)
                return self._submit_batch(bound, Pending(asked, dict(islice(items, size))), waits)
        for work in self._alone:
            bound = self.systems[work.system]
            if bound.waits == waits and self._may_begin(bound):
                self._alone.remove(work)
                return self._submit_batch(bound, work, waits)
        return False

    def _submit_batch(self, bound: BoundSystem, work: Pending, waits: bool) -> bool:
        budget, (_, _, times) = self._on.budget, work.asked
        if bound.meter is not None:
            fitting = budget.fits(bound.meter, list(work.inputs.values()), times)
            if not fitting:
                return self._submit(waits)  # what costs nothing goes on
            work = replace(work, inputs=dict(islice(work.inputs.items(), fitting)))
            budget.spend(bound.meter.of(list(work.inputs.values()), times))
        if (waiting := self._pending.pop(work.asked, None)) is not None:
            for key in work.inputs:
                waiting.pop(key, None)
            if waiting:
                self._pending[work.asked] = waiting  # the next batch is another system's
        batch = Batch(
            bound.spec,
            self.study.task,
            tuple(work.inputs.values()),
            getattr(bound.system, "call_size", None) or CALL[self.study.unit],
            self._on.limit,
            Identity.of(bound.system),
            times,
        )
        self._start(batch, bound.id, work)
        return True

    def _may_begin(self, bound: BoundSystem) -> bool:
        if bound.meter is not None and self._on.budget.reached:
            return False
        at_work = self._at_work[bound.id]
        known = bound.waits or self._paces[bound.id].known or not at_work
        return known and at_work < bound.most(self._executor.places)

    def _start(self, job: Job, system: int = 0, work: Pending | None = None) -> None:
        """Give an executor a job; its end is put into `_over`."""
        number = next(self._numbers)
        self._jobs[number] = job, work
        self._at_work[system] += 1
        executor = self._on.executor_of(self.systems[system].spec) if system else self._executor
        executor.submit(job).add_done_callback(lambda future: self._over.put((number, future)))

    def _begin(self, todo: Todo) -> bool:
        """Begin the next chunk; whether there is one, and a place for it."""
        if not todo or len(self._chunks) >= self._most_chunks or self._on.budget.reached:
            return False
        number = next(iter(todo))
        unfinished = todo.pop(number)
        self._chunks[number] = chunk = self._chunk(number, unfinished)
        if (job := chunk.planning()) is None:
            self._want(chunk, chunk.planned([]))
        else:
            self._start(job)
        return True

    def _chunk(self, number: int, unfinished: Mapping[int, Sequence[Bound]]) -> Chunk:
        """Return the chunk of this number, for the relations that are not finished for each system."""
        study = self.study
        ids = self._sources[number * study.chunk :][: study.chunk]
        first, last = int(ids[0]), int(ids[-1])
        sources = self._read(lambda connection: load_sources(connection, study.id, study.seed, first, last))
        lacks = {system: lacks for system in unfinished if (lacks := self.systems[system].lacks) is not None}
        return Chunk(study.id, number, sources, unfinished, lacks, self.fitted)

    def _want(self, chunk: Chunk, wanted: Wanted) -> None:
        """See to it that the chunk gets what it wants, asking the database first and the systems last.

        Groups whose outputs are all stored go on at once: what they want next is asked for together with the rest.
        """
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
        look_up = {
            system: known
            for system, inputs in wanted.items()
            if (known := {key: chunk.ids[key] for key in inputs if key in before or key not in ids})
        }
        stored_by_system = (
            self._read(
                lambda connection: {
                    system: self._stored.outputs(connection, system, known) for system, known in look_up.items()
                }
            )
            if look_up
            else {}
        )
        for system, inputs in wanted.items():
            outputs = stored_by_system.get(system, {})
            calls: dict[tuple[int, int], dict[bytes, Input]] = {}
            if self.systems[system].repeated or system in self._asked_before:
                outputs, calls = self._by_calls(system, {key: chunk.ids[key] for key in inputs}, inputs, outputs)
            self.counts.stored += len(outputs) - self._made_before(system, outputs)
            chunk.keep(system, outputs)
            missing = {key: item for key, item in inputs.items() if key not in outputs} if outputs else inputs
            chunk.waits += len(missing)
            underway = self._underway[system]
            for key in underway.keys() & missing.keys():
                underway[key] += (chunk,)
                self.counts.stored += 1
            missing = {key: item for key, item in missing.items() if key not in underway}
            underway.update(dict.fromkeys(missing, (chunk,)))
            for (number, times), asked in (calls or {(1, 1): missing}).items():
                if asked:
                    self._pending.setdefault((system, number, times), {}).update(asked)

    def _made_before(self, system: int, keys: Iterable[bytes]) -> int:
        """How many of these outputs this run stored before its first chunk, each told of once."""
        if not self._fresh:
            return 0
        before = {(system, key) for key in keys} & self._fresh
        self._fresh -= before
        return len(before)

    def _by_calls(
        self, system: int, ids: Mapping[bytes, int], inputs: Mapping[bytes, Input], outputs: dict[bytes, Output]
    ) -> tuple[dict[bytes, Output], dict[tuple[int, int], dict[bytes, Input]]]:
        """Return the outputs for which no call is lacking, those that stored calls make among them; and the inputs for
        which calls are lacking, by the number of the first of them, and how many they are."""
        repeated, lacking = self.systems[system].repeated, dict[tuple[int, int], dict[bytes, Input]]()
        known = {} if repeated and not repeated.repeats.by_majority else outputs
        ids = {key: id for key, id in ids.items() if key not in self._underway[system] and key not in known}
        if repeated is None:
            ids = {key: id for key, id in ids.items() if not self._stored.is_tried_again(system, key)}

        def kept(connection: Connection) -> dict[bytes, Output]:
            lacking.clear()
            if repeated is None:
                made = first_calls(connection, system, ids)
            else:
                made = {}
                for key, calls in recalled(connection, repeated.base, ids).items():
                    retry = self._retried is not None and (system, key) not in self._asked_again
                    if numbers := repeated.lacking(calls, retry):
                        lacking.setdefault((numbers.start, len(numbers)), {})[key] = inputs[key]
                    else:
                        made[key] = outputs.get(key) or repeated.effective(calls)
            of_outputs = {key: ids[key] for key in made if key not in outputs}
            return made | self._stored.keep(connection, system, of_outputs, [made[key] for key in of_outputs])

        return known | (self._write(kept) if ids else {}), lacking

    def _take(self) -> None:
        """Wait for what comes to an end first; store it and go on with the chunks that waited for it."""
        over = []
        with suppress(Empty):
            over.append(self._over.get(timeout=LOOK))
            if self._on.waiting is not None:
                time.sleep(_TOGETHER)
            while True:
                over.append(self._over.get_nowait())
        batches: list[tuple[Pending, list[Output]]] = []
        lost, planned = [], []
        for number, future in over:
            job, work = self._jobs.pop(number)
            self._at_work[work.system if work else 0] -= 1
            result = outcome(job, future)
            if isinstance(job, Planning):
                planned.append((job, result))
            elif work is not None and isinstance(result, Lost):
                lost.append((work, result))
            elif work is not None:
                self._learn(work, result)
                batches.append((work, result.outputs()))
        if batches:
            self._keep(batches)
        errors = [error for loss in lost for error in self._lost(*loss)]
        if errors:
            self._keep(errors)
        for job, result in planned:
            if isinstance(result, Lost):
                self._plan_again(job, result)
            else:
                chunk = self._chunks[job.chunk]
                self._want(chunk, chunk.planned(result))

    def _learn(self, work: Pending, result: Any) -> None:
        pace, meter = self._paces[work.system], self.systems[work.system].meter
        pace.lost = 0
        pace.learn(len(work.inputs) * len(work.numbers), result.seconds)
        if meter is not None:
            self._on.budget.spend_more(
                meter, result.calls - meter.of(list(work.inputs.values()), len(work.numbers)).calls
            )

    def _plan_again(self, job: Planning, lost: Lost) -> None:
        """The worker was lost, killed from outside or by what a system did in it before: another makes the groups."""
        self._tries[job.chunk] += 1
        if self._tries[job.chunk] >= TRIES:
            raise AuditError(
                f"{TRIES} workers were lost while they made the same groups ({lost.reason}; out of memory?); what was "
                "finished is stored; run the same command again to resume, with workers=1, or 0 for one process",
                parameter="workers",
            )
        self._start(job)

    def _lost(self, work: Pending, lost: Lost) -> Iterable[tuple[Pending, list[Output]]]:
        """A batch that was lost is done again, each input alone; one that is lost alone is an error.

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
            errors = [output.error for output in returned if output.error]
            self.counts.executed += len(returned)
            self.counts.repeated += sum(number > 1 for number in work.numbers) * len(outputs)
            self.counts.failed += len(errors)
            self.counts.first_error = self.counts.first_error or next(iter(errors), None)
            self.watcher.executed(len(returned))
            self.counts.retried += self._stored.note(work.system, outputs)
            underway = self._underway[work.system]
            for chunks, chunk_outputs in _by_chunks([underway.pop(key) for key in outputs], outputs):
                for chunk in chunks:
                    chunk.receive(work.system, chunk_outputs)
                    if not chunk.waits:
                        ready[chunk.number] = chunk
        for chunk in ready.values():
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
        return self._stored.keep(connection, work.system, ids, [repeated.effective(calls[key]) for key in ids])

    def _note(self, chunk: Chunk) -> None:
        """Store what systems have no output for, as far as they said so without being run, and the inputs that nobody
        is asked about."""
        if not (noted := chunk.noted()):
            return

        def keep(connection: Connection) -> dict[bytes, int]:
            ids, _ = store_inputs(connection, {key: item for inputs in noted.values() for key, item in inputs.items()})
            for system, inputs in noted.items():
                if system:
                    self._stored.keep(connection, system, {key: ids[key] for key in inputs}, [Output()] * len(inputs))
            return ids

        chunk.ids.update(self._write(keep))

    def _finish(self, chunk: Chunk) -> None:
        self._note(chunk)

        def stored(connection: Connection) -> Counts:
            counts = Counts()
            chunk.store(connection, counts)
            return counts

        counts = self._write(stored)
        self.counts.groups += counts.groups
        self.counts.checks += counts.checks
        for name, number in counts.outcomes.items():
            self.counts.outcomes[name] += number
        del self._chunks[chunk.number]
        self.watcher.finished(chunk.size)

    def _write(self, work: Callable[[Connection], Result]) -> Result:
        return written(self.engine, work, self.watcher.says)

    def _read(self, work: Callable[[Connection], Result]) -> Result:
        def once() -> Result:
            with self.engine.connect() as connection:
                return work(connection)

        return patiently(once, self.watcher.says)


@contextmanager
def _few_collections() -> Iterator[None]:
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


def _by_chunks(
    waiting: Sequence[tuple[Chunk, ...]], outputs: Mapping[bytes, Output]
) -> list[tuple[tuple[Chunk, ...], Mapping[bytes, Output]]]:
    """Split outputs by the chunks that wait for each; those of a batch nearly always belong to one."""
    first = waiting[0]
    if all(chunks is first for chunks in waiting):
        return [(first, outputs)]
    by_chunks: dict[tuple[Chunk, ...], dict[bytes, Output]] = {}
    for chunks, (key, output) in zip(waiting, outputs.items(), strict=True):
        by_chunks.setdefault(chunks, {})[key] = output
    return list(by_chunks.items())
