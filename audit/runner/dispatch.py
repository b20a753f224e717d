"""Asks the systems of a run: what is stored is looked up, the rest is given to executors in batches and stored as it
comes back, in `output`; the calls of a system that is asked several times, in `repeat`.
"""

import gc
import math
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any

from sqlalchemy import Connection, select

from audit.corpora.base import Corpus, languages_of
from audit.errors import AuditError
from audit.relations import Outcome
from audit.runner.batch import CALL, Batch, Identity, failed, is_asynchronous, ready
from audit.runner.budget import Budget, Meter, meter_of
from audit.runner.chunk import Wanted
from audit.runner.executors import Executor, InProcess, Lost, Processes, Waiting, outcome
from audit.runner.fitting import Lacks, lacks_of
from audit.runner.options import ONCE, CommonOptions, RunOptions
from audit.runner.progress import Watcher
from audit.runner.studies import system_id
from audit.store import columns, insert_new, rows_among, store_inputs, table_of, tables
from audit.store.patient import Patient
from audit.systems import is_own
from audit.systems.base import System
from audit.systems.foreign import foreign
from audit.tasks import Input, Output

FEW, MOST = 8, 2_048  # Inputs of a system's first batch, whose time is not known yet, and of one batch at most
AIM = 2.0
"""Seconds that a batch should take: what a killed run has to do again, and how long a limit of time has to wait."""
HASTE = 4
"""A batch should take this part of the limit of time at most: a slow one is not to be taken for one that hangs."""
SPARE = 6  # Jobs that wait in an executor, beside those that it does
GIVE_UP = 10  # Inputs lost one after the other from which on a system is taken to be out of order
_TOGETHER = 0.02  # Seconds that the answer of another machine waits for others, to be stored with them

Ids = Mapping[bytes, int]  # Of inputs, by key
Outputs = dict[bytes, Output]
Answered = dict[str, dict[bytes, tuple[Input, Output]]]  # Spec -> key -> the input and what the system said
Lacking = dict[bytes, range]  # The numbers of the calls that are still to be made, by key


def _rows(connection: Connection, model: Any, system: int, ids: Ids) -> Iterator[tuple[bytes, int, Output]]:
    """Yield key, number of the attempt or call, and output, in the order of numbers."""
    table, keys = table_of(model), {id: key for key, id in ids.items()}
    number = table.c.attempt if model is tables.Output else table.c.number
    query = select(table, number.label("n")).where(table.c.system_id == system).order_by(number)
    for row in rows_among(connection, query, table.c.input_id, keys):
        yield keys[row.input_id], row.n, Output.stored(row._mapping)


def _insert(connection: Connection, model: Any, system: int, outputs: Sequence[tuple[int, int, Output]]) -> int:
    """Insert outputs, each with the id of its input and its number; return how many were new."""
    number = "attempt" if model is tables.Output else "number"
    rows = [(id, system, at, out.label, out.score, out.text, out.error, out.details) for id, at, out in outputs]
    return insert_new(connection, model, columns(f"input_id system_id {number} label score text error details", rows))


@dataclass
class Asked:
    """The stored outputs of a system; with `retry` those that failed are asked for once more, but for those of inputs
    that this run has `seen`: asked about, or used the outputs of."""

    id: int
    retry: bool = False
    seen: set[bytes] = field(default_factory=set)

    def find(self, connection: Connection, ids: Ids) -> tuple[Outputs, Lacking]:
        """Return the stored outputs of inputs, and the calls that are to be made of the others."""
        outputs, lacking = Outputs(), dict.fromkeys(ids, range(1, 2))
        for key, attempt, output in _rows(connection, tables.Output, self.id, ids):  # the last attempt counts
            outputs[key], lacking[key] = output, range(attempt + 1, attempt + 2)
        if self.retry:
            outputs = {key: output for key, output in outputs.items() if not output.error or key in self.seen}
        return outputs, {key: numbers for key, numbers in lacking.items() if key not in outputs}

    def keep(self, connection: Connection, ids: Ids, numbers: range, returned: Sequence[Output]) -> Outputs:
        """Store what came back, in the order of `ids`; return what counts: another study may have been quicker."""
        numbered = [(id, numbers.start, output) for id, output in zip(ids.values(), returned, strict=True)]
        if _insert(connection, tables.Output, self.id, numbered) == len(numbered):
            return dict(zip(ids, returned, strict=True))
        return {key: output for key, _, output in _rows(connection, tables.Output, self.id, ids)}


@dataclass
class AskedAgain(Asked):
    """The calls of a system that is asked each input `number` times; its output that counts is the first of them."""

    number: int = 2

    def find(self, connection: Connection, ids: Ids, only_read: bool = False) -> tuple[Outputs, Lacking]:
        """Return the calls that are to be made; outputs that are calls are stored as such, unless it `only_read`s."""
        calls: dict[bytes, dict[int, Output]] = {key: {} for key in ids}
        for key, number, output in _rows(connection, tables.Repeat, self.id, ids):
            calls[key][number] = output
        new, lacking = [], Lacking()
        for key, output in Asked(self.id).find(connection, ids)[0].items():
            calls_of = calls[key]
            if not calls_of or (not output.error and all(call.error for call in calls_of.values())):
                new.append((ids[key], max(calls_of, default=0) + 1, output))
                calls_of[new[-1][1]] = output
        for key, calls_of in calls.items():
            count = sum(not (self.retry and call.error) for call in calls_of.values())
            if count < self.number:
                first = max(calls_of, default=0) + 1
                lacking[key] = range(first, first + self.number - count)
        if not only_read:
            _insert(connection, tables.Repeat, self.id, new)
        return {}, lacking

    def keep(self, connection: Connection, ids: Ids, numbers: range, returned: Sequence[Output]) -> Outputs:
        numbered = zip(product(numbers, ids.values()), returned, strict=True)
        _insert(connection, tables.Repeat, self.id, [(id, number, output) for (number, id), output in numbered])
        return {}


@dataclass
class Counts:
    """What a run made and found; `executed` counts calls to systems, `retried` and `repeated` those of them on inputs
    that had failed, or were asked, before; `stored` counts outputs that were there already."""

    groups: int = 0
    checks: int = 0
    executed: int = 0
    stored: int = 0
    retried: int = 0
    repeated: int = 0
    failed: int = 0
    first_error: str | None = None
    outcomes: dict[str, int] = field(default_factory=lambda: {outcome.name.lower(): 0 for outcome in Outcome})

    def note(self, outputs: Iterable[Output]) -> None:
        for output in outputs:
            self.executed += 1
            if output.error:
                self.failed += 1
                self.first_error = self.first_error or output.error

    def note_checks(self, groups: int, outcomes: Sequence[Outcome]) -> None:
        self.groups += groups
        self.checks += len(outcomes)
        for kind in outcomes:
            self.outcomes[kind.name.lower()] += 1


@dataclass
class Pace:
    """How many inputs a batch of a system has: so many that it takes about `aim` seconds. A batch has whole calls of
    `call` inputs, else some requests would be made for less."""

    aim: float = AIM
    call: int = 1
    size: int = FEW
    known: bool = False  # Whether a batch came back or was lost
    lost: int = 0  # Inputs that were lost one after the other

    def learn(self, inputs: int, seconds: float) -> None:
        """Learn from a batch that came back. A first one also loads a model, so no batch changes the pace by much."""
        self.lost, fitting = 0, int(inputs * self.aim / max(seconds, 1e-6))
        self._set(max(self.size // 4, min(4 * self.size, fitting, MOST)))

    def lose(self, inputs: int) -> None:
        """Learn that a batch of these inputs was lost: it may have had too many, and would be lost again."""
        self._set(min(self.size, inputs // 4))

    def _set(self, size: int) -> None:
        self.known, self.size = True, max(self.call, size // self.call * self.call)


Work = tuple[dict[bytes, Input], range]  # Inputs of a batch, and the numbers of the calls on each of them


@dataclass
class BoundSystem:
    """A system of a run with the id of its row, and what of it is waiting and under way."""

    id: int
    spec: str  # How workers make the system
    system: System
    lacks: Lacks | None  # What it has no output for, which is known without running it
    meter: Meter | None
    asked: Asked
    waits: bool  # Whether it is asked on the event loop of `Waiting`
    limit: float
    queue: deque[Work] = field(default_factory=deque)
    died: set[bytes] = field(default_factory=set)  # Inputs with which a process died that had nothing else to do
    at_work: int = 0  # Batches under way

    def __post_init__(self) -> None:
        self.seconds: float | None = getattr(self.system, "batch_seconds", None)  # One that begins anew with each call
        call = max(1, self.system.batch) if is_asynchronous(self.system) else 1
        self.pace = Pace(min(self.seconds or AIM, self.limit / HASTE), call, -(-FEW // call) * call)

    def most(self, places: int) -> float:
        """Return how many batches may be under way."""
        if self.waits and is_asynchronous(self.system):  # a batch is one call, and the next ones stand by
            return 2 * self.system.concurrency + SPARE
        if is_asynchronous(self.system) or not self.pace.known:
            return 1
        return math.inf if self.seconds is None else places

    def wait_for(self, inputs: Mapping[bytes, Input], missing: Lacking) -> None:
        """Put calls that are to be made into the queue."""
        by_numbers: dict[range, dict[bytes, Input]] = {}
        for key in missing if self.seconds is None else sorted(missing, key=lambda key: inputs[key].languages):
            by_numbers.setdefault(missing[key], {})[key] = inputs[key]
        self.queue.extend((items, numbers) for numbers, items in by_numbers.items())

    def next(self) -> Work | None:
        """Return the next inputs to ask for, taken out of the queue."""
        if not self.queue:
            return None
        inputs, numbers = self.queue[0]
        work = dict(islice(inputs.items(), self.pace.call if self.waits else max(1, self.pace.size // len(numbers))))
        for key in work:
            del inputs[key]
        if not inputs:
            self.queue.popleft()
        return work, numbers

    def is_lost_for_good(self, work: Work, lost: Lost) -> bool:
        """Return whether a lost batch is not done again; else each of its inputs is, alone. Raises AuditError where the
        system is out of order."""
        inputs, numbers = work
        if len(inputs) > 1 or not (lost.late or self.died.issuperset(inputs)):
            self.pace.lose(len(inputs))
            self.died.update(inputs if len(inputs) == 1 else ())
            self.queue.extend(({key: item}, numbers) for key, item in inputs.items())
            return False
        self.pace.lost += 1
        if self.pace.lost >= GIVE_UP:
            raise AuditError(
                f"system {self.system.name} was lost on {GIVE_UP} inputs one after the other ({lost.reason}); what "
                "was finished is stored, and the same command with retry_errors resumes once the system works; "
                "time_limit gives it more time",
                parameter=("retry_errors", "time_limit"),
            )
        return True


class Asker(AbstractContextManager["Asker"]):
    """Asks the systems of a run about inputs of a corpus: what is stored is looked up, the rest is given to executors,
    as far as the budget allows, and stored. Before `bind` it has no database, and only submits."""

    def __init__(
        self,
        executor: Executor,
        by_spec: Mapping[str, System],
        corpus: Corpus,
        options: CommonOptions,
        watcher: Watcher,
        budget: Budget,
    ):
        self.executor, self.by_spec, self.corpus = executor, by_spec, corpus
        self.watcher, self.budget, self.limit = watcher, budget, options.time_limit
        self.options = options if isinstance(options, RunOptions) else ONCE
        self.systems, self.counts, self.ids = dict[int, BoundSystem](), Counts(), dict[bytes, int]()
        self.waiting = Waiting() if any(map(self.waits, by_spec)) else None
        # What this process does is done when it is submitted: nothing waits, and little is lost by a kill.
        self._places = executor.places + (0 if isinstance(executor, InProcess) else SPARE)
        self._jobs: dict[Future[Any], tuple[BoundSystem, Work]] = {}
        self._is_prepared = False

    def __exit__(self, *problem: object) -> None:
        if self.waiting is not None:
            self.waiting.__exit__(*problem)

    def waits(self, spec: str) -> bool:
        """Return whether a system waits for another machine, and is trusted not to keep an event loop to itself."""
        return is_asynchronous(self.by_spec[spec]) and not is_own(spec)

    def prepare(self) -> None:
        """Let systems load, train or download what they need, once. Where other processes do the work, the user's own
        are prepared there, by the first batch; those that wait, by their event loop."""
        here = isinstance(self.executor, InProcess)
        for spec, system in self.by_spec.items() if not self._is_prepared else ():
            if self.waits(spec) or (is_own(spec) and not here):
                continue
            with foreign(f"prepare() of the system {spec!r} failed", self.limit) if is_own(spec) else nullcontext():
                ready(spec, Identity.of(system), system.tasks[0]) if here else system.prepare()
        self._is_prepared = True

    def submit(self, spec: str, inputs: Iterable[Input], times: int = 1) -> Future[Any]:
        """Begin to ask a system for these inputs, each so many times."""
        system, executor = self.by_spec[spec], self.executor
        if self.waiting is not None and self.waits(spec):
            executor = self.waiting
        elif isinstance(executor, Processes) and not self.systems and getattr(system, "may_fork", False):
            executor = InProcess()  # loaded here, before there are workers: all of them have it then
        call = getattr(system, "call_size", None) or CALL[self.corpus.unit]
        identity = Identity.of(system)
        return executor.submit(Batch(spec, self.corpus.task, tuple(inputs), call, self.limit, identity, times))

    def bind(self, database: Patient, answered: Answered) -> None:
        """Store what systems answered before there was a database, and ask for more from now on."""
        self._database = database
        self.systems = database.write(lambda connection: dict(self._bound(connection, answered)))
        self.counts.note(said for by_key in answered.values() for _, said in by_key.values())

    def _bound(self, connection: Connection, answered: Answered) -> Iterator[tuple[int, BoundSystem]]:
        for spec, system in self.by_spec.items():
            id, by_key = system_id(connection, system), answered.get(spec, {})
            inputs, _ = store_inputs(connection, {key: item for key, (item, _) in by_key.items()})
            asked_so_far = Asked(id, self.options.retry_errors, set(by_key))
            said = [output for _, output in by_key.values()]
            asked_so_far.keep(connection, {key: inputs[key] for key in by_key}, range(1, 2), said)
            lacks = lacks_of(system, languages_of(self.corpus))
            yield id, BoundSystem(id, spec, system, lacks, meter_of(system), asked_so_far, self.waits(spec), self.limit)

    def ask(self, wanted: Wanted) -> dict[int, Outputs]:
        """Return the outputs of inputs, by system; those are absent that the budget did not allow."""
        self.store({key: item for inputs in wanted.values() for key, item in inputs.items()})
        outputs = {id: self._stored(self.systems[id], inputs) for id, inputs in wanted.items()}
        while self._submit_all():
            for bound, found in self._take():
                outputs[bound.id].update(found)
        for bound in self.systems.values():  # what the budget did not allow
            bound.queue.clear()
        return outputs

    def store(self, inputs: Mapping[bytes, Input]) -> None:
        """Store inputs, and note their ids."""
        if new := {key: item for key, item in inputs.items() if key not in self.ids}:
            self.ids |= self._database.write(lambda connection: store_inputs(connection, new))[0]

    def _stored(self, bound: BoundSystem, inputs: Mapping[bytes, Input]) -> Outputs:
        lacking = {key: self.ids[key] for key, item in inputs.items() if bound.lacks and bound.lacks(item)}
        wanted = {key: self.ids[key] for key in inputs if key not in lacking}
        nothing = dict.fromkeys(lacking, Output())

        def look_up(connection: Connection) -> tuple[Outputs, Lacking]:
            if lacking:
                bound.asked.keep(connection, lacking, range(1, 2), list(nothing.values()))
            return bound.asked.find(connection, wanted)

        writes = isinstance(bound.asked, AskedAgain) or lacking
        stored_outputs, missing = (self._database.write if writes else self._database.read)(look_up)
        self.counts.stored += len(stored_outputs.keys() - bound.asked.seen)
        bound.asked.seen |= stored_outputs.keys()
        bound.wait_for(inputs, missing)
        return stored_outputs | nothing

    def _submit_all(self) -> bool:
        """Put inputs that wait into batches, the systems in turn, as many as have a place; whether any are at work."""
        while sum(self._submit(bound) for bound in self.systems.values()):
            pass
        return bool(self._jobs)

    def _submit(self, bound: BoundSystem) -> bool:
        """Submit a batch of a system, as many inputs as the budget allows; whether there was one."""
        budget, meter = self.budget, bound.meter
        full = (
            not bound.waits and sum(other.at_work for other in self.systems.values() if not other.waits) >= self._places
        )
        if full or bound.at_work >= bound.most(self.executor.places) or (meter and budget.reached):
            return False
        if (work := bound.next()) is None:
            return False
        inputs, numbers = work
        if meter is not None:
            items = list(inputs.items())
            fitting = budget.fits(meter, list(inputs.values()), len(numbers))
            if not fitting:
                return False
            if rest := dict(items[fitting:]):
                bound.queue.appendleft((rest, numbers))
            inputs = dict(items[:fitting])
            budget.spend(meter.of(list(inputs.values()), len(numbers)))
        bound.at_work += 1
        self._jobs[self.submit(bound.spec, inputs.values(), len(numbers))] = bound, (inputs, numbers)
        return True

    def _take(self) -> Iterator[tuple[BoundSystem, Outputs]]:
        """Wait for batches; store what came back, all of it in one transaction, and yield the outputs that count."""
        wait(self._jobs, return_when=FIRST_COMPLETED)
        if self.waiting is not None:
            time.sleep(_TOGETHER)
        back: list[tuple[BoundSystem, Work, list[Output]]] = []
        for future in [future for future in self._jobs if future.done()]:
            bound, work = self._jobs.pop(future)
            (inputs, numbers), result = work, outcome(future)
            bound.at_work -= 1
            if isinstance(result, Lost):
                if bound.is_lost_for_good(work, result):
                    back.append((bound, work, [failed(result.reason)] * len(numbers)))
                continue
            bound.pace.learn(len(inputs) * len(numbers), result.seconds)
            if bound.meter is not None:
                planned = bound.meter.of(list(inputs.values()), len(numbers)).calls
                self.budget.spend_more(bound.meter, result.calls - planned)
            back.append((bound, work, result.outputs))

        def keep(connection: Connection) -> list[Outputs]:
            return [
                bound.asked.keep(connection, {key: self.ids[key] for key in inputs}, numbers, returned)
                for bound, (inputs, numbers), returned in back
            ]

        kept = self._database.write(keep) if back else []
        for (bound, (inputs, numbers), returned), counting in zip(back, kept, strict=True):
            bound.asked.seen.update(inputs)
            self.counts.note(returned)
            again = sum(number > 1 for number in numbers) * len(inputs)
            if isinstance(bound.asked, AskedAgain):
                self.counts.repeated += again
            else:
                self.counts.retried += again
            self.watcher.executed(len(returned))
            yield bound, counting


@contextmanager
def few_collections() -> Iterator[None]:
    """Collect garbage seldom, and not among what was loaded before: a run makes millions of small objects. Workers that
    are forked meanwhile do as this process."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
