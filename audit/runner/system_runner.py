"""The systems of a run: loaded, asked for first answers, and bound to their rows in the database."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from sqlalchemy import Connection, Engine

from audit.corpora.base import Corpus, languages_of
from audit.runner import preflight
from audit.runner.batch import CALL, Batch, Identity, failed, is_asynchronous, ready
from audit.runner.budget import Budget, Sending, meter_of
from audit.runner.dispatch import BoundSystem, Pace
from audit.runner.executors import Executor, InProcess, Lost, Processes, Waiting, outcome
from audit.runner.fitting import lacks_of
from audit.runner.options import ONCE, TIME_LIMIT, CommonOptions, RunOptions
from audit.runner.preflight import Answered, Trial
from audit.runner.progress import Watcher
from audit.runner.repeats import AskedOnce, AskedRepeatedly, asked_once, keep_outputs
from audit.runner.studies import Later, Sampled, opened, system_id
from audit.store import store_inputs
from audit.systems import get_system, is_fixed, is_own, systems_of
from audit.systems.base import System
from audit.systems.foreign import foreign
from audit.tasks import Input


def loaded(names: Iterable[str], limit: float | None = TIME_LIMIT) -> dict[str, System]:
    """Return the systems that these names mean, by spec. `limit` is the seconds that each of the user's own may take.
    Raises AuditError, which names the system and what it did; UnknownName, and what is wrong with a service's file."""
    return {spec: get_system(spec, limit) for name in names for spec in systems_of(name)}


class SystemRunner(AbstractContextManager["SystemRunner"]):
    """How a run asks its systems, `by_spec`: who does the work, how long it may take, what it may spend."""

    def __init__(
        self,
        executor: Executor,
        by_spec: Mapping[str, System],
        options: CommonOptions,
        watcher: Watcher,
        budget: Budget,
    ):
        self.executor, self.by_spec, self.watcher, self.budget = executor, by_spec, watcher, budget
        self.options = options if isinstance(options, RunOptions) else ONCE
        self.limit = options.time_limit
        self._is_prepared = False
        self.waiting = Waiting() if any(map(self.waits, by_spec)) else None

    def __exit__(self, *problem: object) -> None:
        if self.waiting is not None:
            self.waiting.__exit__(*problem)

    def waits(self, spec: str) -> bool:
        """Whether a system waits for another machine, and is trusted not to keep an event loop to itself."""
        return is_asynchronous(self.by_spec[spec]) and not is_own(spec)

    def batch(self, spec: str, inputs: tuple[Input, ...], task: str, unit: str, times: int = 1) -> Batch:
        system = self.by_spec[spec]
        call = getattr(system, "call_size", None) or CALL[unit]
        return Batch(spec, task, inputs, call, self.limit, Identity.of(system), times)

    def prepare(self) -> None:
        """Let systems load, train or download what they need, once. Raises AuditError where it fails. Where other
        processes do the work, the user's own are prepared there, by the first batch; those that wait, by their event
        loop."""
        if self._is_prepared:
            return
        here = isinstance(self.executor, InProcess)
        for spec, system in self.by_spec.items():
            if self.waits(spec) or (is_own(spec) and not here):
                continue
            with foreign(f"prepare() of the system {spec!r} failed", self.limit) if is_own(spec) else nullcontext():
                ready(spec, Identity.of(system)) if here else system.prepare()
        self._is_prepared = True

    def executor_of(self, spec: str) -> Executor:
        return self.waiting if self.waiting is not None and self.waits(spec) else self.executor

    def first_answers(self, sampled: Sampled, database: Engine | Later) -> Answered:
        """Ask the systems for the first inputs of a study, where a database has nothing of them; others, once in a
        command, for stored ones again. Raises AuditError for nothing but errors, and for another model's answers."""
        languages, task = languages_of(sampled.corpus), sampled.corpus.task
        engine = None if isinstance(database, Later) and database.is_new else opened(database)
        lacks = {spec: lacks_of(system, languages) for spec, system in self.by_spec.items()}
        inputs = sampled.first_inputs(preflight.MOST_LOOKED_AT, engine)
        wanted, again = preflight.trials(self.by_spec, lacks, inputs), []
        if engine is not None:
            wanted = preflight.unanswered(engine, wanted)
            # What its version says all about gives the outputs that are stored.
            known = self.budget.asked | {spec for spec in self.by_spec if is_fixed(spec)}
            unasked = {spec: system for spec, system in self.by_spec.items() if spec not in known}
            again = preflight.stored_trials(engine, unasked, task, self.options.repeats > 1)
            if not wanted and not again:
                return {}
        self.prepare()
        meters = ((meter_of(trial.system), list(trial.inputs.values())) for trial in [*again, *wanted])
        self.budget.spend_first(sum((meter.of(inputs) for meter, inputs in meters if meter), Sending()))

        for trials in (again, wanted):
            answered = self._answers(trials, task, sampled.corpus.unit)
            for remark in preflight.checked(trials, answered):
                self.watcher.says(remark)
        self.budget.asked.update(self.by_spec)
        return answered

    def _answers(self, wanted: Sequence[Trial], task: str, unit: str) -> Answered:
        """Return what each system says of its inputs, asked by who will do the run; what was lost, one by one."""
        answered: Answered = {trial.spec: {} for trial in wanted}
        waiting = [(trial, tuple(trial.inputs.values())) for trial in wanted]
        at_work: dict[Future[Any], tuple[Trial, Batch]] = {}
        while waiting or at_work:
            for trial, inputs in waiting:
                executor, batch = self.executor_of(trial.spec), self.batch(trial.spec, inputs, task, unit)
                if isinstance(executor, Processes) and getattr(trial.system, "may_fork", False):
                    executor = InProcess()  # loaded here, before there are workers: all of them have it then
                at_work[executor.submit(batch)] = trial, batch
            waiting = []
            for future in wait(at_work, return_when=FIRST_COMPLETED).done:
                trial, batch = at_work.pop(future)
                result = outcome(batch, future)
                if isinstance(result, Lost) and len(batch.inputs) > 1:
                    waiting += [(trial, (item,)) for item in batch.inputs]
                    continue
                outputs = [failed(result.reason)] if isinstance(result, Lost) else result.outputs()
                pairs = zip(batch.inputs, outputs, strict=True)
                answered[trial.spec] |= {item.key: (item, output) for item, output in pairs}
        return answered


def bind_systems(
    connection: Connection, corpus: Corpus, runner: SystemRunner, answered: Answered
) -> dict[int, BoundSystem]:
    """Return the systems of a run by the ids of their rows; what they answered is stored."""
    systems: dict[int, BoundSystem] = {}
    options, languages = runner.options, languages_of(corpus)
    for spec, system in runner.by_spec.items():
        id = system_id(connection, system)
        by_key = answered.get(spec, {})
        inputs, _ = store_inputs(connection, {key: item for key, (item, _) in by_key.items()})
        ids, outputs = {key: inputs[key] for key in by_key}, [output for _, output in by_key.values()]
        if options.repeats > 1 and not asked_once(system):
            asked: AskedOnce = AskedRepeatedly(id, options.retry_errors, number=options.repeats)
            first = [(key, 1, output) for key, output in zip(ids, outputs, strict=True)]
            asked.keep_calls(connection, ids, first)  # type: ignore[attr-defined]
        else:
            asked = AskedOnce(id, options.retry_errors, set(by_key))
        keep_outputs(connection, id, ids, outputs)
        systems[id] = BoundSystem(
            id,
            spec,
            system,
            lacks_of(system, languages),
            meter_of(system),
            asked,
            runner.waits(spec),
            Pace.of(system, runner.limit),
            set(by_key),
        )
    return systems
