"""The systems of a run: loaded, asked for first answers, and bound to their rows in the database.

Before a run begins, each system answers the first inputs of its study. A wrong key, region or address, a label that
nobody mapped, a model that does not load: all of that shows with three inputs as it does with ten thousand, and leaves
nothing behind. What is answered is stored with the run. A system that has outputs in the database is asked three of
their inputs again: another model under the same version answers differently, and its outputs must not be mixed with the
stored ones.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from itertools import islice
from math import isclose
from typing import Any

from sqlalchemy import Connection, Engine, or_, select

from audit.corpora.base import Corpus, languages_of
from audit.errors import AuditError, BadOutput
from audit.keys import canonical
from audit.messages import counted
from audit.runner.batch import CALL, Batch, Identity, Lacks, failed, is_asynchronous, ready
from audit.runner.budget import Budget, Sending, meter_of
from audit.runner.dispatch import Asked, BoundSystem, Pace
from audit.runner.executors import Executor, InProcess, Lost, Processes, Waiting, outcome
from audit.runner.fitting import lacks_of
from audit.runner.options import ONCE, TIME_LIMIT, CommonOptions, RunOptions
from audit.runner.progress import Watcher
from audit.runner.studies import Later, Sampled, opened, system_id
from audit.store import store_inputs, tables
from audit.store.core import input_table
from audit.store.core import output as output_table
from audit.store.outcomes import find_inputs, id_of
from audit.systems import get_system, is_fixed, is_own, systems_of, without_version
from audit.systems.base import System
from audit.systems.foreign import foreign, shortened, shown
from audit.tasks import Input, Output, get_task

FIRST = 3  # Inputs that a system answers before a run
AGAIN = 3  # Stored inputs, at most, that it is asked again
MOST_LOOKED_AT = 100  # Sources, from the first on, among which there may be inputs that a system has an output for
TOLERANCE, TOLERANCE_OF_SERVICES = 0.001, 0.01
"""How far a score may be from the stored one: sums are rounded otherwise in another batch, and on another machine."""
_TRIED = 40  # Stored outputs, from the first on, among which there may be some with different labels

Answered = dict[str, dict[bytes, tuple[Input, Output]]]  # Spec -> key -> the input and what the system said


@dataclass(frozen=True)
class Trial:
    """A system and the inputs that it is to answer, by key; of inputs that it answered before, the stored outputs.
    `may_differ`: it may answer differently each time."""

    spec: str
    system: System
    inputs: Mapping[bytes, Input]
    outputs: Mapping[bytes, Output] = field(default_factory=dict)
    may_differ: bool = False


def loaded(names: Iterable[str], limit: float | None = TIME_LIMIT, task: str | None = None) -> dict[str, System]:
    """Return the systems that these names mean, by spec. `limit` is the seconds that each of the user's own may take,
    `task` what it does where it does not say that.
    Raises AuditError, which names the system and what it did; UnknownName, and what is wrong with a service's file."""
    return {spec: get_system(spec, limit, task) for name in names for spec in systems_of(name)}


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
        """Let systems load, train or download what they need, once. Where other processes do the work, the user's own
        are prepared there, by the first batch; those that wait, by their event loop."""
        here = isinstance(self.executor, InProcess)
        for spec, system in self.by_spec.items() if not self._is_prepared else ():
            if self.waits(spec) or (is_own(spec) and not here):
                continue
            with foreign(f"prepare() of the system {spec!r} failed", self.limit) if is_own(spec) else nullcontext():
                ready(spec, Identity.of(system), system.tasks[0]) if here else system.prepare()
        self._is_prepared = True

    def executor_of(self, spec: str) -> Executor:
        return self.waiting if self.waiting is not None and self.waits(spec) else self.executor

    def first_answers(self, sampled: Sampled, database: Engine | Later) -> Answered:
        """Ask the systems for the first inputs of a study, where a database has nothing of them; others, once in a
        command, for stored ones again. Raises AuditError for nothing but errors, and for another model's answers."""
        corpus = sampled.corpus
        engine = None if isinstance(database, Later) and database.is_new else opened(database)
        lacks = {spec: lacks_of(system, languages_of(corpus)) for spec, system in self.by_spec.items()}
        wanted, again = trials(self.by_spec, lacks, sampled.first_inputs(MOST_LOOKED_AT, engine)), []
        if engine is not None:
            with engine.connect() as connection:
                wanted = [trial for trial in wanted if not _is_answered(connection, trial)]
            # What its version says all about gives the outputs that are stored.
            known = self.budget.asked | {spec for spec in self.by_spec if is_fixed(spec)}
            unasked = {spec: system for spec, system in self.by_spec.items() if spec not in known}
            again = stored_trials(engine, unasked, corpus.task, self.options.repeats > 1)
            if not wanted and not again:
                return {}
        self.prepare()
        meters = ((meter_of(trial.system), list(trial.inputs.values())) for trial in [*again, *wanted])
        self.budget.spend_first(sum((meter.of(inputs) for meter, inputs in meters if meter), Sending()))
        for some in (again, wanted):
            answered = self._answers(some, corpus.task, corpus.unit)
            for trial in some:
                for remark in _checked(trial, {key: said for key, (_, said) in answered[trial.spec].items()}):
                    self.watcher.says(remark)
        self.budget.asked.update(self.by_spec)
        return answered

    def _answers(self, wanted: Sequence[Trial], task: str, unit: str) -> Answered:
        """Return what each system says of its inputs, asked by who will do the run; what was lost, one by one."""

        def submit(trial: Trial, *inputs: Input) -> tuple[Batch, Future[Any]]:
            executor, batch = self.executor_of(trial.spec), self.batch(trial.spec, inputs, task, unit)
            if isinstance(executor, Processes) and getattr(trial.system, "may_fork", False):
                executor = InProcess()  # loaded here, before there are workers: all of them have it then
            return batch, executor.submit(batch)

        answered: Answered = {}
        for trial, job in [(trial, submit(trial, *trial.inputs.values())) for trial in wanted]:
            items, results = list(trial.inputs.items()), [outcome(*job)]
            if isinstance(results[0], Lost) and len(items) > 1:
                results = [outcome(*submit(trial, item)) for _, item in items]
            said = [
                out for one in results for out in ([failed(one.reason)] if isinstance(one, Lost) else one.outputs())
            ]
            answered[trial.spec] = {key: (item, out) for (key, item), out in zip(items, said, strict=True)}
        return answered


def trials(systems: Mapping[str, System], lacks: Mapping[str, Lacks | None], inputs: Iterable[Input]) -> list[Trial]:
    """Return the first distinct inputs for each system that it may have an output for; one without any is not tried."""
    firsts, wanted = {item.key: item for item in inputs}, []
    for spec, system in systems.items():
        lacking = lacks[spec]
        fitting = ((key, item) for key, item in firsts.items() if not (lacking and lacking(item)))
        if first := dict(islice(fitting, FIRST)):
            wanted.append(Trial(spec, system, first))
    return wanted


def own_id(connection: Connection, system: System) -> int | None:
    """Return the id of a system in a database; None where it has no output there."""
    settings = canonical(dict(system.settings))
    return id_of(connection, tables.System, name=system.name, version=system.version, settings=settings)


def _is_answered(connection: Connection, trial: Trial) -> bool:
    ids = list(find_inputs(connection, list(trial.inputs)).values())
    own = select(output_table.c.input_id).where(output_table.c.system_id == own_id(connection, trial.system))
    return connection.execute(own.where(output_table.c.input_id.in_(ids)).limit(1)).first() is not None


def stored_trials(engine: Engine, systems: Mapping[str, System], task: str, several: bool) -> list[Trial]:
    """Return what is to be asked again of the systems that have outputs in a database: some first ones, with different
    labels where there are. `several`: this run asks each input several times."""
    wanted = []
    said = or_(*(output_table.c[name].is_not(None) for name in ("label", "score", "text")))
    query = (
        select(output_table, input_table.c.texts, input_table.c.languages)
        .join(input_table, input_table.c.id == output_table.c.input_id)
        .where(output_table.c.error.is_(None), said)
        .order_by(output_table.c.input_id)
        .limit(_TRIED)
    )
    with engine.connect() as connection:
        for spec, system in systems.items():
            inputs, outputs = dict[bytes, Input](), dict[bytes, Output]()
            for row in connection.execute(query.where(output_table.c.system_id == own_id(connection, system))):
                item, output = Input.stored(row.texts, row.languages), Output(row.label, row.score, row.text)
                with suppress(BadOutput):  # of another task
                    if len(item.texts) == get_task(task).texts and get_task(task).checked(output):
                        inputs[item.key], outputs[item.key] = item, output
            by_label = {output.label: key for key, output in outputs.items()}
            if keys := list(dict.fromkeys([*by_label.values(), *outputs]))[:AGAIN]:
                steady: bool | None = getattr(system, "deterministic", None)
                chosen = {key: inputs[key] for key in keys}, {key: outputs[key] for key in keys}
                wanted.append(Trial(spec, system, *chosen, several if steady is None else not steady))
    return wanted


def _checked(trial: Trial, now: Mapping[bytes, Output]) -> list[str]:
    """Return what to say of a system that failed on some of its inputs, or now answers stored ones differently. Raises
    AuditError where it failed on all, or another answer cannot be chance."""
    errors = [output.error for output in now.values() if output.error]
    if errors and len(errors) == len(now):
        error = max(errors, key=errors.count)
        inputs = "the first input" if len(now) == 1 else f"each of the first {len(now)} inputs"
        before = f"answered {counted(len(now), 'stored input')} before, and fails now"
        raise AuditError(
            f"system {trial.spec} {before if trial.outputs else f'failed on {inputs}'} with {shortened(error)!r}; "
            f"{advice(trial.system, error)}, and run again; nothing was stored"
        )
    said: list[str] = []
    if errors:
        inputs = "inputs that it answered before" if trial.outputs else "inputs"
        said.append(
            f"system {trial.spec} failed on {len(errors)} of its first {len(now)} {inputs} with "
            f"{shortened(errors[0])!r}; the run goes on, and errors are stored and counted"
        )
    margin = TOLERANCE_OF_SERVICES if is_asynchronous(trial.system) else TOLERANCE
    for key, before_ in trial.outputs.items():
        after = now[key]
        same = (before_.label, before_.text) == (after.label, after.text)
        scores = [score for score in (before_.score, after.score) if score is not None]
        if after.error or (same and (not scores or (len(scores) == 2 and isclose(*scores, abs_tol=margin)))):
            continue
        old, new = (str(out.score) if same else shown(out.label or out.text) for out in (before_, after))
        seen = (
            f"system {trial.spec} now answers {new} to {shown(' | '.join(trial.inputs[key].texts))}, and {old} is "
            f"stored for version {trial.system.version}"
        )
        way = f"give it another version ({without_version(trial.spec)}@2, or `version` in its file or class), or use "
        if not trial.may_differ:
            raise AuditError(
                f"{seen}: the stored outputs are of another model; {way}another database (a system that may answer "
                "differently each time says so with `deterministic`)"
            )
        return [*said, f"{seen}; that may be chance; if the model is another one, {way}another database"]
    return said


def advice(system: System, error: str) -> str:
    """Return what to change where a system has nothing but errors: what it says itself, or in general."""
    own = getattr(system, "advice", None)
    return (own(error) if callable(own) else None) or "mend what the error says"


def bind_systems(
    connection: Connection, corpus: Corpus, runner: SystemRunner, answered: Answered
) -> dict[int, BoundSystem]:
    """Return the systems of a run by the ids of their rows; what they answered is stored."""
    systems: dict[int, BoundSystem] = {}
    for spec, system in runner.by_spec.items():
        id = system_id(connection, system)
        by_key = answered.get(spec, {})
        inputs, _ = store_inputs(connection, {key: item for key, (item, _) in by_key.items()})
        asked = Asked(id, runner.options.retry_errors, set(by_key))
        asked.keep(connection, {key: inputs[key] for key in by_key}, range(1, 2), [said for _, said in by_key.values()])
        systems[id] = BoundSystem(
            id,
            spec,
            system,
            lacks_of(system, languages_of(corpus)),
            meter_of(system),
            asked,
            runner.waits(spec),
            Pace.of(system, runner.limit),
            set(by_key),
        )
    return systems
