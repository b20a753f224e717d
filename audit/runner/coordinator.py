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
from sqlalchemy.exc import DBAPIError

from audit.errors import AuditError
from audit.runner.budget import Budget, Meter
from audit.runner.chunk import (
    GATHERED,
    AskedAgain,
    Bound,
    Chunk,
    Counts,
    Pending,
    Planning,
    Stored,
    Wanted,
    gathered,
    load_inputs,
    load_sources,
    pace_of,
)
from audit.runner.executors import Batch, Executor, Job, Lost, Part
from audit.runner.executors.batch import CALL, failed
from audit.runner.repeats import Calls, Repeated, first_calls, has_calls, keep_calls, recalled, stored_calls
from audit.runner.studies import StudyRow
from audit.runner.underway import RENEW, OnlyRun
from audit.store import integers, store_inputs, table_of, tables, writing
from audit.tasks import Input, Output

# Who hears how far a run is.


class Watcher:
    """Is told how far a run is. The command line draws a bar; this one stays silent."""

    def begin(self, sources: int) -> None:
        """`sources` are left to do."""

    def begin_again(self, inputs: int) -> None:
        """All sources are done; `inputs` are left to be asked again."""

    def executed(self, outputs: int) -> None:
        """Systems returned this many more outputs."""

    def finished(self, sources: int) -> None:
        """This many more sources, or inputs that were asked again, are done and committed."""

    def says(self, sentence: str) -> None:
        """Why the run waits."""


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


SPARE = 6
"""Jobs that wait in an executor, beside those that it does; and chunks that are begun before they are needed."""
TRIES = 3
"""How many workers may be lost while they make the groups of a chunk."""
GIVE_UP = 10
"""Inputs lost one after the other from which on a system is taken to be out of order."""
LOOK = 1.0
"""Seconds, at most, that a run waits for an executor before it gives a sign of life."""


Todo = dict[int, dict[int, list[Bound]]]
"""Chunk -> system -> relations that are not finished."""


@dataclass(frozen=True)
class Execution:
    """How a run executes its systems."""

    executor: Executor
    place: OnlyRun
    """That the run has the study for itself."""
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
    fitted: dict[str, Any] = field(default_factory=dict)
    """What measures of follow-ups have learnt from the study's sources."""


@dataclass
class _AtWork:
    """A batch on its way: `work` has those of its inputs that have no output yet."""

    work: Pending
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
        self._budget, self._meters, self._fitted = execution.budget, execution.meters, execution.fitted
        self._place, self._renewed = execution.place, monotonic()
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
        self._asked = _AskedOften(execution.retried is not None)
        self._asked_before: set[int] = set()
        """Systems that were asked inputs several times, maybe some whose outputs do not count yet."""

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
            if self._budget.reached and not self._at_work and not self._planning:
                return
            self._take()
            self._renew()

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
            (batch.work.system in self._waiters) == (executor is self._waiting) for batch in self._at_work.values()
        )
        return batches + (self._planning if executor is self._executor else 0)

    def _submit(self, executor: Executor, pending: deque[Pending]) -> bool:
        """Put the next inputs that wait into a batch; whether there are any.

        Until a system's first batch is back, nobody knows how long it takes: its others wait. So do those of a system
        that begins slowly, until somebody has nothing else to do: its batches are still growing, or may be gathered.
        """
        at_work = Counter(batch.work.system for batch in self._at_work.values())
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
        self._at_work[id(batch)] = at_work_now = _AtWork(
            Pending(first.system, dict(chosen), number=first.number), len(chosen)
        )
        if meter is not None:
            sending = meter.of(batch.inputs)
            at_work_now.calls = sending.calls
            self._budget.spend(sending)
        executor.submit(batch)
        return True

    def _begin(self, todo: Todo) -> bool:
        """Begin the next chunk; whether there is one, and a place for it."""
        if not todo or len(self._chunks) >= self._most_chunks or self._budget.reached:
            return False
        number = next(iter(todo))
        unfinished = todo.pop(number)
        self._chunks[number] = chunk = self._chunk(number, unfinished)
        job = chunk.planning()
        if job is None:
            self._want(chunk, chunk.planned([]))
        else:
            self._planning += 1
            self._executor.submit(job)
        return True

    def _chunk(self, number: int, unfinished: Mapping[int, Sequence[Bound]]) -> Chunk:
        """The chunk of this number, for the relations that are not finished for each system."""
        study = self.study
        ids = self._sources[number * study.chunk :][: study.chunk]
        first, last = int(ids[0]), int(ids[-1])
        sources = self._read(lambda connection: load_sources(connection, study.id, study.seed, first, last))
        lacks = {system: lacks for system in unfinished if (lacks := self.systems[system].lacks) is not None}
        return Chunk(study.id, number, sources, unfinished, lacks, self._fitted)

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
            if (repeated := self.systems[system].repeated) or system in self._asked_before:
                ids_of_missing = {key: chunk.ids[key] for key in inputs if key not in stored_outputs}
                stored_outputs |= self._by_calls(system, repeated, ids_of_missing)
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

    def _by_calls(self, system: int, repeated: Repeated | None, ids: Mapping[bytes, int]) -> dict[bytes, Output]:
        """The outputs that calls make which are all there, kept as those that count; what calls the others lack is
        noted."""
        ids = {key: id for key, id in ids.items() if key not in self._underway[system]}
        if repeated is None:
            ids = {key: id for key, id in ids.items() if not self._stored.is_tried_again(system, key)}

        def kept(connection: Connection) -> dict[bytes, Output]:
            if repeated is None:
                outputs = first_calls(connection, system, ids)
            else:
                outputs = self._asked.begin(system, repeated, recalled(connection, repeated.base, ids))
                if not repeated.repeats.by_majority:
                    return outputs
            of_outputs = {key: ids[key] for key in outputs}
            return self._stored.keep(connection, system, of_outputs, list(outputs.values()))

        return self._write(kept) if ids else {}

    def _queue(self, pending: Pending) -> None:
        if self.systems[pending.system].repeated and not pending.number:
            for number, inputs in self._asked.lacking(pending.system, pending.inputs).items():
                self._queue(Pending(pending.system, inputs, number=number))
            return
        (self._pending_waiting if pending.system in self._waiters else self._pending).append(pending)

    def _take(self) -> None:
        """Wait for what comes to an end first; store it and go on with the chunks that waited for it."""
        batches: list[tuple[Pending, list[Output]]] = []
        lost, planned = [], []
        for job, result in self._finished():
            if isinstance(job, Planning):
                self._planning -= 1
                planned.append((job, result))
                continue
            batch = self._at_work[id(job)]
            work = batch.work
            if isinstance(result, Part):
                done = {key: work.inputs.pop(key) for key in result.done}
                batches.append((Pending(work.system, done, number=work.number), result.result.outputs(len(done))))
                continue
            del self._at_work[id(job)]
            if isinstance(result, Lost):
                lost.append((work, result))
                continue
            self._paces[work.system].lost = 0
            self._paces[work.system].learn(batch.size, result.seconds)
            if (meter := self._meters.get(work.system)) is not None:
                self._budget.spend_more(meter, result.calls - batch.calls)
            batches.append((work, result.outputs(len(work.inputs))))
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

    def _lost(self, work: Pending, lost: Lost) -> Iterable[tuple[Pending, list[Output]]]:
        """A batch that was lost is done again, each input alone; one that is lost alone is an error.

        The first time that a process dies of one input, somebody may have ended it from outside: it is done again.
        """
        system, inputs = work.system, work.inputs
        pace, alone = self._paces[system], (system, work.number, *inputs)
        if len(inputs) > 1 or not (lost.late or alone in self._died):
            pace.lose(len(inputs))
            self._died.update([alone] if len(inputs) == 1 else [])
            self._queue(Pending(system, inputs, alone=True, number=work.number))
            return []
        pace.lost += 1
        if pace.lost >= GIVE_UP:
            raise AuditError(
                f"system {self.systems[system].name} was lost on {GIVE_UP} inputs one after the other ({lost.reason}); "
                "what was finished is stored, and the same command with retry_errors goes on from there once the "
                "system works; time_limit gives it more time",
                parameter=("retry_errors", "time_limit"),
            )
        return [(work, [failed(lost.reason)])]

    def _keep(self, batches: Sequence[tuple[Pending, list[Output]]]) -> None:
        """Store what systems returned, all of it in one transaction, and hand the outputs that count to the chunks that
        wait."""

        def keep(connection: Connection) -> list[dict[bytes, Output]]:
            return [self._kept(connection, work, outputs) for work, outputs in batches]

        counting: list[tuple[int, dict[bytes, Output]]] = []
        for (work, _), made in zip(batches, self._write(keep), strict=True):
            repeated = self.systems[work.system].repeated
            self.counts.executed += len(made)
            self.counts.repeated += len(made) if work.number > 1 else 0
            errors = [output.error for output in made.values() if output.error]
            self.counts.failed += len(errors)
            self.counts.first_error = self.counts.first_error or next(iter(errors), None)
            self.watcher.executed(len(made))
            counting.append((work.system, self._asked.end(work, repeated, made) if repeated else made))
        ready: dict[int, Chunk] = {}
        for system, outputs in self._by_majority([(system, outputs) for system, outputs in counting if outputs]):
            self.counts.retried += self._stored.note(system, outputs)
            underway = self._underway[system]
            for chunks, chunk_outputs in _by_chunks([underway.pop(key) for key in outputs], outputs):
                for chunk in chunks:
                    chunk.receive(system, chunk_outputs)
                    if not chunk.waits:
                        ready[chunk.number] = chunk
        for chunk in ready.values():
            self._want(chunk, chunk.wanted())

    def _kept(self, connection: Connection, work: Pending, outputs: Sequence[Output]) -> dict[bytes, Output]:
        """Store what a batch returned; what is stored of it now: another study may have been quicker."""
        ids, repeated = self._ids(work.system, work.inputs), self.systems[work.system].repeated
        if repeated is None:
            return self._stored.keep(connection, work.system, ids, outputs)
        made = dict(zip(ids, outputs, strict=True))
        rows = [(key, work.number, output) for key, output in made.items()]
        if keep_calls(connection, repeated.base, ids, rows) == len(rows):
            return made
        return {key: calls[work.number] for key, calls in stored_calls(connection, repeated.base, ids).items()}

    def _by_majority(self, counting: list[tuple[int, dict[bytes, Output]]]) -> list[tuple[int, dict[bytes, Output]]]:
        """Outputs that count by system, those that were made of several calls stored."""

        def keep(connection: Connection) -> list[tuple[int, dict[bytes, Output]]]:
            return [
                (system, self._stored.keep(connection, system, self._ids(system, outputs), list(outputs.values())))
                if (repeated := self.systems[system].repeated) and repeated.repeats.by_majority
                else (system, outputs)
                for system, outputs in counting
            ]

        repeats = (self.systems[system].repeated for system, _ in counting)
        return self._write(keep) if any(repeated and repeated.repeats.by_majority for repeated in repeats) else counting

    def _ids(self, system: int, inputs: Iterable[bytes]) -> dict[bytes, int]:
        underway = self._underway[system]
        return {key: underway[key][0].ids[key] for key in inputs}

    def _note_lacking(self, chunk: Chunk) -> None:
        """Store what systems have no output for, as far as they said so without being run, and the inputs that nobody
        is asked about."""
        if unasked := chunk.unasked():
            chunk.ids.update(self._write(lambda connection: store_inputs(connection, unasked)[0]))
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
            return counts

        counts = self._write(stored)
        self.counts.groups += counts.groups
        self.counts.checks += counts.checks
        for outcome, number in counts.outcomes.items():
            self.counts.outcomes[outcome] += number
        del self._chunks[chunk.number]
        self.watcher.finished(chunk.size)

    def _renew(self) -> None:
        if monotonic() - self._renewed > RENEW:
            self._write(self._place.renew)
            self._renewed = monotonic()

    def _write(self, work: Callable[[Connection], Result]) -> Result:
        return written(self.engine, work, self.watcher.says)

    def _read(self, work: Callable[[Connection], Result]) -> Result:
        def once() -> Result:
            with self.engine.connect() as connection:
                return work(connection)

        return patiently(once, self.watcher.says)


class _AskedOften:
    """Inputs that are being asked several times: the calls that are there, and those that are on their way.

    `retries` says that calls that failed are made again, once in a run.
    """

    def __init__(self, retries: bool):
        self._retries = retries
        self._calls: dict[tuple[int, bytes], Calls] = {}
        self._open: dict[tuple[int, bytes], set[int]] = {}
        self._done: set[tuple[int, bytes]] = set()

    def begin(self, system: int, repeated: Repeated, calls: Mapping[bytes, Calls]) -> dict[bytes, Output]:
        """Take the calls that are there; the outputs of the inputs on which none is to be made."""
        outputs = {}
        for key, made in calls.items():
            lacking = repeated.lacking(made, self._retries and (system, key) not in self._done)
            if lacking:
                self._calls[system, key], self._open[system, key] = made, set(lacking)
            else:
                outputs[key] = repeated.effective(made)
        return outputs

    def lacking(self, system: int, inputs: Mapping[bytes, Input]) -> dict[int, dict[bytes, Input]]:
        """The calls that are to be made on these inputs, by number: each is a request of its own."""
        numbers: dict[int, dict[bytes, Input]] = {}
        for key, item in inputs.items():
            for number in sorted(self._open[system, key]):
                numbers.setdefault(number, {})[key] = item
        return dict(sorted(numbers.items()))

    def end(self, work: Pending, repeated: Repeated, made: Mapping[bytes, Output]) -> dict[bytes, Output]:
        """Note calls that are stored; the outputs that count of the inputs of which they were the last."""
        outputs = {}
        for key, output in made.items():
            place = work.system, key
            self._calls[place][work.number] = output
            self._open[place].discard(work.number)
            if not self._open[place]:
                outputs[key] = repeated.effective(self._calls.pop(place))
                del self._open[place]
                if self._retries:
                    self._done.add(place)
        return outputs


class AskingAgain(Coordinator):
    """The part of a run that asks inputs again whose outputs count already; `todo` has the shares of inputs.

    Its systems have ids of their own, since nothing that it is told becomes an output that counts.
    """

    def __init__(self, *arguments: Any, shares: Mapping[int, Mapping[int, Sequence[int]]]):
        """`shares` are ids of inputs by number of the share and system; other arguments are those of `Coordinator`."""
        super().__init__(*arguments)
        self._shares = shares

    def _chunk(self, number: int, unfinished: Mapping[int, Sequence[Bound]]) -> Chunk:
        ids: dict[bytes, int] = {}
        wanted: Wanted = {}
        for system in unfinished:
            wanted[system], ids_of_system = self._read(
                lambda connection, system=system: load_inputs(connection, self._shares[number][system])  # type: ignore[misc]
            )
            ids |= ids_of_system
        return AskedAgain(self.study.id, number, wanted, ids)


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


def finished(connection: Connection, study_id: int) -> set[tuple[int, int, int]]:
    """Chunk, system and relation of what is noted as finished."""
    progress = table_of(tables.Progress)
    query = select(progress.c.chunk, progress.c.system_id, progress.c.relation_id)
    query = query.where(progress.c.study_id == study_id)
    return {(int(row[0]), int(row[1]), int(row[2])) for row in connection.execute(query)}
