"""Before a run begins, each system answers the first inputs of its study.

A wrong key, region or address, a label that nobody mapped, a model that does not load: all of that shows with three
inputs as it does with ten thousand, costs nearly nothing, and leaves nothing behind. What is answered is stored with
the run, so that it is not asked again.

A system that has outputs in the database is asked three of their inputs again: another model under the same version
answers otherwise, and its outputs must not be mixed with the stored ones, or taken for them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from itertools import islice
from math import isclose
from typing import Any

from sqlalchemy import Connection, Engine, or_, select

from audit.errors import AuditError, BadOutput
from audit.keys import canonical
from audit.messages import counted
from audit.runner.batch import Batch, Lacks, failed, is_asynchronous
from audit.runner.executors import Lost, outcome
from audit.store import table_of, tables
from audit.store.outcomes import find_inputs
from audit.store.queries import id_of
from audit.systems import offered, without_version
from audit.systems.base import System
from audit.systems.foreign import shortened, shown
from audit.tasks import Input, Output, get_task

FIRST = 3  # Inputs that a system answers before a run
AGAIN = 3  # Stored inputs, at most, that it is asked again
MOST_LOOKED_AT = 100  # Sources, from the first on, among which there may be inputs that a system has an output for
TOLERANCE, TOLERANCE_OF_SERVICES = 0.001, 0.01
"""How far a score may be from the stored one: sums are rounded otherwise in another batch, and on another machine."""
_TRIED = 20
"""Stored outputs, the first and the last, among which there may be some of this task and with different labels."""


@dataclass(frozen=True)
class Trial:
    """A system, as `spec` names it, and the inputs that it is to answer by their keys; and of inputs that it answered
    before, the stored outputs. `may_differ`: it says that it may answer otherwise each time, or was asked several times
    to see whether it does."""

    spec: str
    system: System
    inputs: Mapping[bytes, Input]
    outputs: Mapping[bytes, Output] = field(default_factory=dict)
    may_differ: bool = False


Answered = dict[str, dict[bytes, tuple[Input, Output]]]  # Spec -> key -> the input and what the system said


def trials(systems: Mapping[str, System], lacks: Mapping[str, Lacks | None], inputs: Iterable[Input]) -> list[Trial]:
    """Return the first distinct inputs for each system that it may have an output for; one without any is not tried."""
    firsts = {item.key: item for item in inputs}
    wanted = []
    for spec, system in systems.items():
        lacking = lacks.get(spec)
        fitting = ((key, item) for key, item in firsts.items() if not (lacking and lacking(item)))
        if first := dict(islice(fitting, FIRST)):
            wanted.append(Trial(spec, system, first))
    return wanted


def unanswered(engine: Engine, wanted: Iterable[Trial]) -> list[Trial]:
    """Return the trials of systems that have no output in a database yet for the inputs that they would be given."""
    output = table_of(tables.Output)
    new = []
    with engine.connect() as connection:
        for trial in wanted:
            ids = list(find_inputs(connection, list(trial.inputs)).values())
            own = select(output.c.input_id).where(output.c.system_id == _own_id(connection, trial.system))
            if connection.execute(own.where(output.c.input_id.in_(ids)).limit(1)).first() is None:
                new.append(trial)
    return new


def own_id(engine: Engine, system: System) -> int | None:
    """Return the id of a system in a database; None where it has no output there."""
    with engine.connect() as connection:
        return _own_id(connection, system)


def _own_id(connection: Connection, system: System) -> int | None:
    settings = canonical(dict(system.settings))
    return id_of(connection, tables.System, name=system.name, version=system.version, settings=settings)


def stored_trials(engine: Engine, systems: Mapping[str, System], task: str, several: bool) -> list[Trial]:
    """Return what is to be asked again, of the systems that have outputs in a database; `several` says that this run
    asks each input several times."""
    wanted, call = [], table_of(tables.Repeat)
    with engine.connect() as connection:
        for spec, system in systems.items():
            id = _own_id(connection, system)
            if id is None or not (found := _spread(connection, id, task)):
                continue
            calls = select(call.c.number).where(call.c.system_id == id).limit(1)
            steady: bool | None = getattr(system, "deterministic", None)
            may_differ = not steady if steady is not None else several or connection.execute(calls).first() is not None
            inputs = {key: item for key, (item, _) in found.items()}
            wanted.append(Trial(spec, system, inputs, {key: said for key, (_, said) in found.items()}, may_differ))
    return wanted


def _spread(connection: Connection, system: int, task: str) -> dict[bytes, tuple[Input, Output]]:
    """Return some of a system's first and last stored outputs for a task, with different labels where they have such:
    another model may say the same of one class for long."""
    table, input_table = table_of(tables.Output), table_of(tables.Input)
    said = or_(table.c.label.is_not(None), table.c.score.is_not(None), table.c.text.is_not(None))
    query = (
        select(table, input_table.c.texts, input_table.c.languages)
        .join(input_table, input_table.c.id == table.c.input_id)
        .where(table.c.system_id == system, table.c.error.is_(None), said)
        .limit(_TRIED)
    )
    rows = [
        row for end in (table.c.input_id, table.c.input_id.desc()) for row in connection.execute(query.order_by(end))
    ]
    pairs = {}
    for row in rows:
        item, output = Input.stored(row.texts, row.languages), Output(row.label, row.score, row.text)
        if len(item.texts) == get_task(task).texts and _is_of(task, output):
            pairs[item.key] = item, output
    by_label = {output.label: key for key, (_, output) in pairs.items()}
    return {key: pairs[key] for key in list(dict.fromkeys([*by_label.values(), *pairs]))[:AGAIN]}


def _is_of(task: str, output: Output) -> bool:
    try:
        get_task(task).checked(output)
    except BadOutput:
        return False
    return True


def answers(
    wanted: Sequence[Trial], submit: Callable[[Trial, tuple[Input, ...]], tuple[Batch, Future[Any]]]
) -> Answered:
    """Return what each system says of its inputs, `submit`ted to who will do the run; what was lost, one by one."""
    answered: Answered = {trial.spec: {} for trial in wanted}
    at_work: dict[Future[Any], tuple[Trial, Batch]] = {}

    def ask(trial: Trial, inputs: tuple[Input, ...]) -> None:
        batch, future = submit(trial, inputs)
        at_work[future] = trial, batch

    for trial in wanted:
        ask(trial, tuple(trial.inputs.values()))
    while at_work:
        for future in wait(at_work, return_when=FIRST_COMPLETED).done:
            trial, batch = at_work.pop(future)
            result = outcome(batch, future)
            if isinstance(result, Lost) and len(batch.inputs) > 1:
                for item in batch.inputs:
                    ask(trial, (item,))
                continue
            outputs = [failed(result.reason)] if isinstance(result, Lost) else result.outputs()
            pairs = zip(batch.inputs, outputs, strict=True)
            answered[trial.spec] |= {item.key: (item, output) for item, output in pairs}
    return answered


def checked(wanted: Iterable[Trial], answered: Answered) -> list[str]:
    """Return what to say of systems that failed on some of their inputs, or answered stored ones otherwise now.

    Raises AuditError, naming the system and what to change, where one has nothing but errors, and where the stored
    outputs are another model's.
    """
    said: list[str] = []
    for trial in wanted:
        now = {key: output for key, (_, output) in answered[trial.spec].items()}
        errors = [output.error for output in now.values() if output.error]
        if errors and len(errors) == len(now):
            error = max(errors, key=errors.count)
            inputs = "the first input" if len(now) == 1 else f"each of the first {len(now)} inputs"
            failed_on = (
                f"answered {counted(len(now), 'stored input')} before, and fails now"
                if trial.outputs
                else f"failed on {inputs}"
            )
            raise AuditError(
                f"system {trial.spec} {failed_on} with {shortened(error)!r}; {advice(trial.system, error)}, and run "
                "again; nothing was stored"
            )
        if errors:
            before = "inputs that it answered before" if trial.outputs else "inputs"
            said.append(
                f"system {trial.spec} failed on {len(errors)} of its first {len(now)} {before} with "
                f"{shortened(errors[0])!r}; the run goes on, and errors are stored and counted"
            )
        if (sentence := _changed(trial, now)) is not None:
            said.append(sentence)
    return said


def _changed(trial: Trial, now: Mapping[bytes, Output]) -> str | None:
    """Return what to say of a system that answers a stored input otherwise now. Raises AuditError where it cannot be
    chance."""
    margin = TOLERANCE_OF_SERVICES if is_asynchronous(trial.system) else TOLERANCE
    pairs = ((key, trial.outputs[key], now[key]) for key in trial.outputs if not now[key].error)
    for key, before, after in pairs:
        same = (before.label, before.text) == (after.label, after.text)
        scores = [score for score in (before.score, after.score) if score is not None]
        if same and (len(scores) == 0 or (len(scores) == 2 and isclose(*scores, abs_tol=margin))):
            continue
        old, new = (
            (str(before.score), str(after.score))
            if same
            else (shown(before.label or before.text), shown(after.label or after.text))
        )
        seen = (
            f"system {trial.spec} now answers {new} to {shown(' | '.join(trial.inputs[key].texts))}, and {old} is "
            f"stored for version {trial.system.version}"
        )
        way = f"{_another_version(trial.spec)}, or use another database"
        if trial.may_differ:
            return f"{seen}; that may be chance; if the model is another one, {way}"
        raise AuditError(
            f"{seen}: the stored outputs are of another model; {way} (a system that may answer differently each "
            "time says so with `deterministic`)"
        )
    return None


def _another_version(spec: str) -> str:
    """How a system gets another version, by how it is named."""
    bare = without_version(spec)
    if bare.endswith(".toml"):
        return f"change version in {bare.partition(':')[2]}"
    return "give the system another `version`" if offered(bare) else f"name it with another version, as in {bare}@2"


def advice(system: System, error: str) -> str:
    """Return what to change where a system has nothing but errors: what it says itself, or in general."""
    own = getattr(system, "advice", None)
    said = own(error) if callable(own) else None
    return said or "mend what the error says"
