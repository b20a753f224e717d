"""Asks the systems of a run: what is stored is looked up, the rest is given to executors in batches and stored as it
comes back."""

import gc
import math
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from audit.errors import AuditError
from audit.relations import Outcome
from audit.runner.batch import Batch, Lacks, failed, is_asynchronous
from audit.runner.budget import Meter
from audit.runner.chunk import Wanted
from audit.runner.executors import InProcess, Lost, outcome
from audit.runner.repeats import AskedOnce, AskedRepeatedly, keep_outputs
from audit.store import store_inputs
from audit.store.patient import Patient
from audit.systems.base import System
from audit.tasks import Input, Output

if TYPE_CHECKING:
    from audit.runner.system_runner import SystemRunner

FEW, MOST = 8, 2_048  # Inputs of a system's first batch, whose time is not known yet, and of one batch at most
AIM = 2.0
"""Seconds that a batch should take: what a killed run has to do again, and how long a limit of time has to wait."""
HASTE = 4
"""A batch should take this part of the limit of time at most: a slow one is not to be taken for one that hangs."""
SPARE = 6  # Jobs that wait in an executor, beside those that it does
GIVE_UP = 10  # Inputs lost one after the other from which on a system is taken to be out of order
_TOGETHER = 0.02  # Seconds that the answer of another machine waits for others, to be stored with them


@dataclass
class Counts:
    """What a run made and found; `executed` counts calls to systems, `stored` outputs that were there already.
    `retried` of those executed had failed before, `repeated` were asked what the system had been asked before."""

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

    def note_checks(self, groups: int, found: Sequence[Outcome]) -> None:
        self.groups += groups
        self.checks += len(found)
        for one in found:
            self.outcomes[one.name.lower()] += 1


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
class Pending:
    """Inputs that are or were in a batch, and the numbers of the calls on each of them."""

    inputs: dict[bytes, Input]
    numbers: range


@dataclass
class BoundSystem:
    """A system of a run with the id of its row, and what of it is waiting and under way."""

    id: int
    spec: str  # How workers make the system
    system: System
    lacks: Lacks | None  # What it has no output for, which is known without running it
    meter: Meter | None
    asked: AskedOnce  # What is stored of it
    waits: bool  # Whether it is asked on the event loop of `Waiting`
    pace: Pace
    fresh: set[bytes]  # Inputs that it answered in this run before
    pending: dict[range, dict[bytes, Input]] = field(default_factory=dict)
    """Inputs that wait to be put into batches, by the numbers of the calls on them."""
    alone: deque[Pending] = field(default_factory=deque)
    """Those that were lost together with others: each becomes a batch of its own."""
    died: set[bytes] = field(default_factory=set)  # Inputs with which a process died that had nothing else to do
    at_work: int = 0  # Batches under way

    def most(self, places: int) -> float:
        if not is_asynchronous(self.system):
            return places if hasattr(self.system, "batch_seconds") else math.inf
        # A batch of one that waits is one call, and the next ones stand by; the user's own has its calls in a batch.
        return 2 * self.system.concurrency + SPARE if self.waits else 1

    def next(self) -> Pending | None:
        for numbers, inputs in self.pending.items():
            items: Iterable[tuple[bytes, Input]] = inputs.items()
            if hasattr(self.system, "batch_seconds"):  # one that begins anew for each pair of languages
                items = sorted(items, key=lambda item: item[1].languages)
            size = self.pace.call if self.waits else max(1, self.pace.size // len(numbers))
            work = Pending(dict(islice(items, size)), numbers)
            for key in work.inputs:
                del inputs[key]
            if not inputs:
                del self.pending[numbers]
            return work
        return self.alone.popleft() if self.alone else None


class Dispatcher:
    def __init__(
        self, runner: "SystemRunner", systems: Mapping[int, BoundSystem], database: Patient, task: str, unit: str
    ):
        self.systems, self.counts = systems, Counts()
        self.ids: dict[bytes, int] = {}
        """Ids of the inputs that were asked about, by key, until somebody clears them."""
        self._runner, self._database, self._task, self._unit = runner, database, task, unit
        # What this process does is done when it is submitted: nothing waits, and little is lost by a kill.
        self._spare = 0 if isinstance(runner.executor, InProcess) else SPARE
        self._jobs: dict[Future[Any], tuple[Batch, BoundSystem, Pending]] = {}

    def ask(self, wanted: Wanted) -> dict[int, dict[bytes, Output]]:
        """Return the outputs of inputs, by system; those are absent that the budget did not allow."""
        self.store({key: item for inputs in wanted.values() for key, item in inputs.items()})
        outputs = {id: self._stored(self.systems[id], inputs) for id, inputs in wanted.items()}
        while self._submit_all():
            for bound, found in self._take():
                outputs[bound.id].update(found)
        for bound in self.systems.values():  # what the budget did not allow
            bound.pending.clear()
            bound.alone.clear()
        return outputs

    def store(self, inputs: Mapping[bytes, Input]) -> None:
        if new := {key: item for key, item in inputs.items() if key not in self.ids}:
            self.ids |= self._database.write(lambda connection: store_inputs(connection, new))[0]

    def _stored(self, bound: BoundSystem, inputs: Mapping[bytes, Input]) -> dict[bytes, Output]:
        lacking = {key: self.ids[key] for key, item in inputs.items() if bound.lacks and bound.lacks(item)}
        asked = {key: self.ids[key] for key in inputs if key not in lacking}

        def look_up(connection: Connection) -> tuple[dict[bytes, Output], dict[bytes, range]]:
            if lacking:
                keep_outputs(connection, bound.id, lacking, [Output()] * len(lacking))
            return bound.asked.find(connection, asked)

        reads_only = type(bound.asked) is AskedOnce and not lacking
        found, missing = (self._database.read if reads_only else self._database.write)(look_up)
        self.counts.stored += len(found) - len(bound.fresh & found.keys())
        bound.fresh -= found.keys()
        for key, numbers in missing.items():
            bound.pending.setdefault(numbers, {})[key] = inputs[key]
        return found | dict.fromkeys(lacking, Output())

    def _submit_all(self) -> bool:
        """Put inputs that wait into batches, the systems in turn, as many as have a place; whether any are at work."""
        while sum(self._submit(bound) for bound in self.systems.values()):
            pass
        return bool(self._jobs)

    def _submit(self, bound: BoundSystem) -> bool:
        """Submit a batch of a system, as many inputs as the budget allows; whether there was one, and a place for it.
        Until the first batch is back nobody knows how long it takes: others wait."""
        executor, budget, meter = self._runner.executor_of(bound.spec), self._runner.budget, bound.meter
        others = sum(one.at_work for one in self.systems.values() if not one.waits)
        full = not bound.waits and others >= executor.places + self._spare
        unknown = not (bound.waits or bound.pace.known) and bound.at_work
        if full or unknown or bound.at_work >= bound.most(executor.places) or (meter and budget.reached):
            return False
        if (work := bound.next()) is None:
            return False
        if meter is not None:
            items, times = list(work.inputs.items()), len(work.numbers)
            fitting = budget.fits(meter, list(work.inputs.values()), times)
            if not fitting:
                return False
            if rest := items[fitting:]:
                bound.pending.setdefault(work.numbers, {}).update(rest)
            work = Pending(dict(items[:fitting]), work.numbers)
            budget.spend(meter.of(list(work.inputs.values()), times))
        batch = self._runner.batch(bound.spec, tuple(work.inputs.values()), self._task, self._unit, len(work.numbers))
        bound.at_work += 1
        self._jobs[executor.submit(batch)] = batch, bound, work
        return True

    def _take(self) -> Iterator[tuple[BoundSystem, dict[bytes, Output]]]:
        """Wait for batches; store what came back, all of it in one transaction, and yield the outputs that count."""
        wait(self._jobs, return_when=FIRST_COMPLETED)
        if self._runner.waiting is not None:
            time.sleep(_TOGETHER)
        back: list[tuple[BoundSystem, Pending, list[Output]]] = []
        for future in [future for future in self._jobs if future.done()]:
            batch, bound, work = self._jobs.pop(future)
            bound.at_work -= 1
            result, times = outcome(batch, future), len(work.numbers)
            if isinstance(result, Lost):
                if self._is_lost_for_good(bound, work, result):
                    back.append((bound, work, [failed(result.reason)] * times))
                continue
            bound.pace.learn(len(work.inputs) * times, result.seconds)
            if bound.meter is not None:
                planned = bound.meter.of(list(work.inputs.values()), times).calls
                self._runner.budget.spend_more(bound.meter, result.calls - planned)
            back.append((bound, work, result.outputs()))

        def keep(connection: Connection) -> list[dict[bytes, Output]]:
            return [
                bound.asked.keep(connection, {key: self.ids[key] for key in work.inputs}, work.numbers, returned)
                for bound, work, returned in back
            ]

        for (bound, work, returned), kept in zip(back, self._database.write(keep) if back else [], strict=True):
            bound.asked.tried.update(work.inputs)
            self.counts.note(returned)
            again = sum(number > 1 for number in work.numbers) * len(work.inputs)
            kind = "repeated" if isinstance(bound.asked, AskedRepeatedly) else "retried"
            setattr(self.counts, kind, getattr(self.counts, kind) + again)
            self._runner.watcher.executed(len(returned))
            yield bound, kept

    def _is_lost_for_good(self, bound: BoundSystem, work: Pending, lost: Lost) -> bool:
        """Do a lost batch again, each input alone; whether it is one that is not done again. The first time that a
        process dies of one input, it may have been killed from outside: it is done again."""
        if len(work.inputs) > 1 or not (lost.late or bound.died.issuperset(work.inputs)):
            bound.pace.lose(len(work.inputs))
            bound.died.update(work.inputs if len(work.inputs) == 1 else ())
            bound.alone.extend(Pending({key: item}, work.numbers) for key, item in work.inputs.items())
            return False
        bound.pace.lost += 1
        if bound.pace.lost >= GIVE_UP:
            raise AuditError(
                f"system {bound.system.name} was lost on {GIVE_UP} inputs one after the other ({lost.reason}); what "
                "was finished is stored, and the same command with retry_errors resumes once the system works; "
                "time_limit gives it more time",
                parameter=("retry_errors", "time_limit"),
            )
        return True


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
