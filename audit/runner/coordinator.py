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
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from audit.errors import AuditError
from audit.runner.budget import Budget, Meter
from audit.runner.chunk import (
    GATHERED,
    Bound,
    Chunk,
    Counts,
    Pending,
    Planning,
    Stored,
    Wanted,
    gathered,
    load_sources,
    pace_of,
)
from audit.runner.executors import Batch, Executor, Job, Lost, Part
from audit.runner.executors.batch import CALL, failed
from audit.runner.leases import RENEW, Leases
from audit.runner.studies import StudyRow
from audit.store import integers, store_inputs, table_of, tables, writing
from audit.tasks import Input, Output

# Who hears how far a run is.


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

    def pause(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


# Writing to a database that is away for a while: locked by another process, or a server that starts again.
#
# What a run writes is the same however often it is written, so a transaction that failed is done again.

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
    until, pause = time.monotonic() + PATIENCE, _FIRST
    while True:
        try:
            return do()
        except DBAPIError as problem:
            if not is_away(problem) or time.monotonic() > until:
                raise
            say(f"the database does not answer ({' '.join(str(problem.orig).split())}); trying again")
        time.sleep(pause * random.uniform(0.5, 1))  # several runs that wait for one database do not come back at once
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


SPARE = 6
"""Jobs that wait in an executor, beside those that it does; and chunks that are begun before they are needed."""
TRIES = 3
"""How many workers may be lost while they make the groups of a chunk."""
GIVE_UP = 10
"""Inputs lost one after the other from which on a system is taken to be out of order."""
LOOK = 1.0
"""Seconds between two looks whether another run gave a chunk back."""


Todo = dict[int, dict[int, list[Bound]]]
"""Chunk -> system -> relations that are not finished."""


@dataclass(frozen=True)
class Execution:
    """How a run executes its systems."""

    executor: Executor
    limit: float | None = None
    """Seconds that a system may take for a batch; None: as long as it likes."""
    waiting: Executor | None = None
    """Does the batches of the systems `waiters`, which wait for other machines."""
    waiters: Mapping[int, int] = field(default_factory=dict)
    """Each with the inputs that one call of it takes."""
    retried: set[tuple[int, bytes]] | None = None
    """As `Stored` has it."""
    fresh: set[tuple[int, bytes]] = field(default_factory=set)
    """System and key of each output that was stored just before, by the same run."""
    budget: Budget = field(default_factory=Budget)
    """What the run may spend,"""
    meters: Mapping[int, Meter] = field(default_factory=dict)
    """on these systems."""


@dataclass
class _AtWork:
    """A batch on its way, and which of its inputs have no output yet."""

    system: int
    inputs: dict[bytes, Input]
    size: int
    """How many inputs it had."""
    calls: int = 0
    """Requests that were planned for it."""


class Coordinator:
    """One run of some systems under some relations on a study."""

    def __init__(
        self,
        engine: Engine,
        study: StudyRow,
        systems: Mapping[int, Bound],
        execution: Execution,
        counts: Counts,
        watcher: Watcher,
    ):
        self.engine, self.study, self.systems = engine, study, systems
        self.counts, self.watcher, self.limit = counts, watcher, execution.limit
        self._executor = executor = execution.executor
        self._waiting, self._waiters = execution.waiting, execution.waiters
        self._stored, self._fresh = Stored(execution.retried), execution.fresh
        self._budget, self._meters = execution.budget, execution.meters
        self._leases = Leases(study.id)
        self._renewed = monotonic()
        self._paces = {
            system: pace_of(bound, self.limit, self._waiters.get(system, 0)) for system, bound in systems.items()
        }
        self._gathers = any(bound.aim for bound in systems.values())
        self._most_chunks = max(executor.places + SPARE, GATHERED // study.chunk if self._gathers else 0)
        self._chunks: dict[int, Chunk] = {}
        self._pending: deque[Pending] = deque()
        self._pending_waiting: deque[Pending] = deque()
        self._at_work: dict[Any, _AtWork] = {}
        self._died: set[tuple[Any, ...]] = set()
        """System and key of each input with which a process died, having nothing else to do."""
        self._planning = 0
        self._tries: Counter[int] = Counter()
        self._sources = np.empty(0, np.int64)
        """Ids of the study's sources, in order: chunk n is the n-th piece of them."""
        self._underway: dict[int, dict[bytes, tuple[Chunk, ...]]] = {system: {} for system in systems}
        """For each system, the inputs whose outputs are on their way, and the chunks that wait for each of them."""

    def run(self, todo: Todo) -> None:
        """Do these chunks, or see them done by other runs of the same study."""
        with _few_collections():
            self._run(dict(todo))

    def _run(self, todo: Todo) -> None:
        source = table_of(tables.Source)
        query = select(source.c.id).where(source.c.study_id == self.study.id).order_by(source.c.id)
        self._sources = self._read(lambda connection: integers(connection, query))[:, 0]
        try:
            while todo or self._chunks:
                self._fill(todo)
                if self._budget.reached and not self._at_work and not self._planning:
                    return
                if not self._chunks:
                    self._look_again(todo)
                    continue
                self._take()
                self._renew()
        finally:
            if self._chunks:  # whoever comes next need not wait for the leases to run out
                self._give_back()
            self._leases.end()

    def _fill(self, todo: Todo) -> None:
        """Give the executors work, as much as they can do and a little more."""
        while self._waiting and self._busy(self._waiting) < self._waiting.places + SPARE:
            if not self._submit(self._waiting, self._pending_waiting):
                break
        while self._busy(self._executor) < self._executor.places + SPARE:
            if self._gathers and self._begin(todo):
                continue  # what there is to gather comes first
            if not self._submit(self._executor, self._pending) and not self._begin(todo):
                return

    def _busy(self, executor: Executor) -> int:
        batches = sum(
            (batch.system in self._waiters) == (executor is self._waiting) for batch in self._at_work.values()
        )
        return batches + (self._planning if executor is self._executor else 0)

    def _submit(self, executor: Executor, pending: deque[Pending]) -> bool:
        """Put the next inputs that wait into a batch; whether there are any.

        Until a system's first batch is back, nobody knows how long it takes: its others wait. So do those of a system
        that begins slowly, until somebody has nothing else to do: its batches are still growing, or may be gathered.
        """
        at_work = Counter(batch.system for batch in self._at_work.values())
        most = {system: executor.places if self.systems[system].aim else math.inf for system in at_work}
        busy = {system for system, number in at_work.items() if number >= most[system] or not self._paces[system].known}
        if self._budget.reached:
            busy |= self._meters.keys()
        first = next((entry for entry in pending if entry.system not in busy), None)
        if first is None:
            return False
        bound = self.systems[first.system]
        if bound.aim:
            first = gathered(pending, first)
        size = 1 if first.alone else self._paces[first.system].size
        if (meter := self._meters.get(first.system)) is not None:
            inputs = list(first.inputs.values())[:size]
            if not (size := self._budget.fits(meter, inputs)):
                return self._submit(executor, pending)  # what costs nothing goes on
        chosen = dict(list(first.inputs.items())[:size]) if size < len(first.inputs) else first.inputs
        if len(chosen) == len(first.inputs):
            pending.remove(first)
        else:
            for key in chosen:
                del first.inputs[key]
        call = bound.call or CALL[self.study.unit]
        batch = Batch(
            bound.spec, self.study.task, tuple(chosen.values()), call, self.limit, bound.identity, in_parts=True
        )
        self._at_work[id(batch)] = at_work_now = _AtWork(first.system, dict(chosen), len(chosen))
        if meter is not None:
            sending = meter.of(batch.inputs)
            at_work_now.calls = sending.calls
            self._budget.spend(sending)
        executor.submit(batch)
        return True

    def _begin(self, todo: Todo) -> bool:
        """Begin the next chunk that no other run works on; whether there is one, and a place for it."""
        if not todo or len(self._chunks) >= self._most_chunks or self._budget.reached:
            return False

        def claimed(connection: Connection) -> int | None:
            return self._leases.claim(connection, list(todo))

        number = self._write(claimed)
        if number is None:
            return False
        bounds_of = todo.pop(number)
        done = self._read(lambda connection: finished(connection, self.study.id, number))
        unfinished = {
            system: relations
            for system, bound in bounds_of.items()
            if (relations := [relation for relation in bound if (number, system, relation.id) not in done])
        }
        if not unfinished:  # another run has finished it since we looked
            self._write(lambda connection: self._leases.release(connection, number))
            self.watcher.finished(self.study.size(number))
            return True
        study = self.study
        ids = self._sources[number * study.chunk :][: study.chunk]
        first, last = int(ids[0]), int(ids[-1])
        sources = self._read(lambda connection: load_sources(connection, study.id, study.seed, first, last))
        lacks = {system: lacks for system in unfinished if (lacks := self.systems[system].lacks) is not None}
        self._chunks[number] = chunk = Chunk(study.id, number, sources, unfinished, lacks)
        job = chunk.planning()
        if job is None:
            self._want(chunk, chunk.planned([]))
        else:
            self._planning += 1
            self._executor.submit(job)
        return True

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
        self._note_lacking(chunk)
        new = {key: item for inputs in wanted.values() for key, item in inputs.items() if key not in chunk.ids}

        ids, before = self._write(lambda connection: store_inputs(connection, new)) if new else ({}, set())
        chunk.ids.update(ids)
        ids_to_look_up = {
            system: {key: chunk.ids[key] for key in inputs if key in before or key not in ids}
            for system, inputs in wanted.items()
        }

        def stored(connection: Connection) -> dict[int, dict[bytes, Output]]:
            return {
                system: self._stored.outputs(connection, system, ids_of_inputs)
                for system, ids_of_inputs in ids_to_look_up.items()
                if ids_of_inputs
            }

        stored_by_system = self._read(stored) if any(ids_to_look_up.values()) else {}
        for system, inputs in wanted.items():
            stored_outputs = stored_by_system.get(system, {})
            self.counts.stored += len(stored_outputs) - self._made_before(system, stored_outputs)
            chunk.keep(system, stored_outputs)
            missing = (
                {key: item for key, item in inputs.items() if key not in stored_outputs} if stored_outputs else inputs
            )
            chunk.waits += len(missing)
            underway = self._underway[system]
            for key in underway.keys() & missing.keys():
                underway[key] += (chunk,)
                self.counts.stored += 1
            missing = {key: item for key, item in missing.items() if key not in underway}
            underway.update(dict.fromkeys(missing, (chunk,)))
            if missing:
                self._queue(Pending(system, missing))

    def _made_before(self, system: int, keys: Iterable[bytes]) -> int:
        """How many of these outputs this run stored before its first chunk, each told of once."""
        if not self._fresh:
            return 0
        before = {(system, key) for key in keys} & self._fresh
        self._fresh -= before
        return len(before)

    def _queue(self, pending: Pending) -> None:
        (self._pending_waiting if pending.system in self._waiters else self._pending).append(pending)

    def _take(self) -> None:
        """Wait for what comes to an end first; store it and go on with the chunks that waited for it."""
        batches: list[tuple[int, dict[bytes, Input], list[Output]]] = []
        lost, planned = [], []
        for job, result in self._finished():
            if isinstance(job, Planning):
                self._planning -= 1
                planned.append((job, result))
                continue
            batch = self._at_work[id(job)]
            system = batch.system
            if isinstance(result, Part):
                done = {key: batch.inputs.pop(key) for key in result.done}
                batches.append((system, done, result.result.outputs(len(done))))
                continue
            del self._at_work[id(job)]
            if isinstance(result, Lost):
                lost.append((system, batch.inputs, result))
                continue
            self._paces[system].lost = 0
            self._paces[system].learn(batch.size, result.seconds)
            if (meter := self._meters.get(system)) is not None:
                self._budget.spend_more(meter, result.calls - batch.calls)
            batches.append((system, batch.inputs, result.outputs(len(batch.inputs))))
        if batches:
            self._keep(batches)
        errors = [error for loss in lost for error in self._lost(*loss)]
        if errors:
            self._keep(errors)
        for job, result in planned:
            if isinstance(result, Lost):
                self._plan_again(job, result)
                continue
            chunk = self._chunks[job.chunk]
            self._want(chunk, chunk.planned(result))

    def _plan_again(self, job: Planning, lost: Lost) -> None:
        """The worker was lost, killed from outside or by what a system did in it before: another makes the groups."""
        self._tries[job.chunk] += 1
        if self._tries[job.chunk] >= TRIES:
            raise AuditError(
                f"{TRIES} workers were lost while they made the same groups ({lost.reason}; out of memory?); what was "
                "finished is stored, and the same command goes on from there: try workers=1, or 0 for one process",
                parameter="workers",
            )
        self._planning += 1
        self._executor.submit(job)

    def _finished(self) -> Iterable[tuple[Job, Any]]:
        busy = [
            executor for executor in (self._executor, self._waiting) if executor is not None and self._busy(executor)
        ]
        if len(busy) == 1:
            return busy[0].finished(LOOK)
        return [done for executor in busy for done in executor.finished(0.02)]

    def _lost(
        self, system: int, inputs: dict[bytes, Input], lost: Lost
    ) -> Iterable[tuple[int, dict[bytes, Input], list[Output]]]:
        """A batch that was lost is done again, each input alone; one that is lost alone is an error.

        The first time that a process dies of one input, somebody may have ended it from outside: it is done again.
        """
        pace, alone = self._paces[system], (system, *inputs)
        if len(inputs) > 1 or not (lost.late or alone in self._died):
            pace.lose(len(inputs))
            self._died.update([alone] if len(inputs) == 1 else [])
            self._queue(Pending(system, inputs, alone=True))
            return []
        pace.lost += 1
        if pace.lost >= GIVE_UP:
            raise AuditError(
                f"system {self.systems[system].name} was lost on {GIVE_UP} inputs one after the other ({lost.reason}); "
                "what was finished is stored, and the same command with retry_errors goes on from there once the "
                "system works; time_limit gives it more time",
                parameter=("retry_errors", "time_limit"),
            )
        return [(system, inputs, [failed(lost.reason)])]

    def _keep(self, batches: Sequence[tuple[int, dict[bytes, Input], list[Output]]]) -> None:
        """Store outputs, all of them in one transaction, and hand them to the chunks that wait."""

        def keep(connection: Connection) -> list[dict[bytes, Output]]:
            return [
                self._stored.keep(connection, system, self._ids(system, inputs), outputs)
                for system, inputs, outputs in batches
            ]

        ready: dict[int, Chunk] = {}
        for (system, inputs, _), outputs in zip(batches, self._write(keep), strict=True):
            self.counts.retried += self._stored.note(system, inputs)
            self.counts.executed += len(inputs)
            errors = [output.error for output in outputs.values() if output.error]
            self.counts.failed += len(errors)
            self.counts.first_error = self.counts.first_error or next(iter(errors), None)
            self.watcher.executed(len(inputs))
            underway = self._underway[system]
            for chunks, chunk_outputs in _by_chunks([underway.pop(key) for key in outputs], outputs):
                for chunk in chunks:
                    chunk.receive(system, chunk_outputs)
                    if not chunk.waits:
                        ready[chunk.number] = chunk
        for chunk in ready.values():
            self._want(chunk, chunk.wanted())

    def _ids(self, system: int, inputs: Iterable[bytes]) -> dict[bytes, int]:
        underway = self._underway[system]
        return {key: underway[key][0].ids[key] for key in inputs}

    def _note_lacking(self, chunk: Chunk) -> None:
        """Store what systems have no output for, as far as they said so without being run."""
        lacking = chunk.lacking()
        if not lacking:
            return

        def keep(connection: Connection) -> dict[bytes, int]:
            ids, _ = store_inputs(
                connection, {key: item for inputs in lacking.values() for key, item in inputs.items()}
            )
            for system, inputs in lacking.items():
                self._stored.keep(connection, system, {key: ids[key] for key in inputs}, [Output()] * len(inputs))
            return ids

        chunk.ids.update(self._write(keep))

    def _finish(self, chunk: Chunk) -> None:
        self._note_lacking(chunk)

        def stored(connection: Connection) -> Counts:
            counts = Counts()
            chunk.store(connection, counts)
            self._leases.release(connection, chunk.number)
            return counts

        counts = self._write(stored)
        self.counts.groups += counts.groups
        self.counts.checks += counts.checks
        for outcome, number in counts.outcomes.items():
            self.counts.outcomes[outcome] += number
        del self._chunks[chunk.number]
        self.watcher.finished(len(chunk.sources))

    def _look_again(self, todo: Todo) -> None:
        """All chunks that are left are other runs': wait, and see which they have finished."""
        self.watcher.says("another run of this study works on what is left; waiting for it")
        self.watcher.pause(LOOK)
        done = self._read(lambda connection: finished(connection, self.study.id))
        for number, systems in list(todo.items()):
            if all((number, system, bound.id) in done for system, bounds in systems.items() for bound in bounds):
                del todo[number]
                self.watcher.finished(self.study.size(number))

    def _renew(self) -> None:
        if monotonic() - self._renewed > RENEW:
            self._write(lambda connection: self._leases.renew(connection, self._chunks))
            self._renewed = monotonic()

    def _give_back(self) -> None:
        try:
            with self.engine.begin() as connection:
                self._leases.release(connection)
        except SQLAlchemyError:  # the run ends for another reason, which is the one to be told; the leases run out
            return

    def _write(self, work: Callable[[Connection], Result]) -> Result:
        return written(self.engine, work, self.watcher.says)

    def _read(self, work: Callable[[Connection], Result]) -> Result:
        def once() -> Result:
            with self.engine.connect() as connection:
                return work(connection)

        return patiently(once, self.watcher.says)


@contextmanager
def _few_collections() -> Iterator[None]:
    """Garbage is looked for seldom, and not among what was loaded before: a run makes millions of small objects.

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
    """Outputs by the chunks that wait for each; those of a batch nearly always belong to one."""
    first = waiting[0]
    if all(chunks is first for chunks in waiting):
        return [(first, outputs)]
    by_chunks: dict[tuple[Chunk, ...], dict[bytes, Output]] = {}
    for chunks, (key, output) in zip(waiting, outputs.items(), strict=True):
        by_chunks.setdefault(chunks, {})[key] = output
    return list(by_chunks.items())


def finished(connection: Connection, study_id: int, chunk: int | None = None) -> set[tuple[int, int, int]]:
    """Chunk, system and relation of what is noted as finished."""
    progress = table_of(tables.Progress)
    query = select(progress.c.chunk, progress.c.system_id, progress.c.relation_id)
    query = query.where(progress.c.study_id == study_id)
    if chunk is not None:
        query = query.where(progress.c.chunk == chunk)
    return {(int(row[0]), int(row[1]), int(row[2])) for row in connection.execute(query)}
