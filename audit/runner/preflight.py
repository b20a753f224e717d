"""Before a run begins, each system answers the first inputs of its study.

A wrong key, region or address, a label that nobody mapped, a model that does not load: all of that shows with three
inputs as it does with ten thousand, costs nearly nothing, and leaves nothing behind. What is answered is stored with
the run, so that nobody asks for it again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Engine, select

from audit.errors import AuditError
from audit.keys import canonical
from audit.runner.chunk import Lacks
from audit.runner.executors import Batch, Executor, Lost
from audit.runner.executors.batch import CALL, Identity, failed
from audit.store import table_of, tables
from audit.store.outcomes import find_inputs
from audit.store.queries import id_of
from audit.systems.base import System
from audit.systems.foreign import shortened
from audit.tasks import Input, Output

FIRST = 3
"""Inputs that a system answers before a run."""


@dataclass(frozen=True)
class Trial:
    """A system, as `spec` names it, and the inputs that it is to answer by their keys."""

    spec: str
    system: System
    inputs: Mapping[bytes, Input]


Answered = dict[str, dict[bytes, tuple[Input, Output]]]
"""Spec -> key -> the input and what the system said."""


MOST_LOOKED_AT = 100
"""Sources, from the first on, among which there may be inputs that a system has an output for."""


def trials(systems: Mapping[str, System], lacks: Mapping[str, Lacks | None], inputs: Iterable[Input]) -> list[Trial]:
    """The first distinct inputs for each system; those that it has no output for are not meant, and a system that has
    none is not tried."""
    firsts = {item.key: item for item in inputs}
    wanted = []
    for spec, system in systems.items():
        lacking = lacks.get(spec)
        fitting = ((key, item) for key, item in firsts.items() if not (lacking and lacking(item)))
        if first := dict(islice(fitting, FIRST)):
            wanted.append(Trial(spec, system, first))
    return wanted


def unanswered(engine: Engine, wanted: Iterable[Trial]) -> list[Trial]:
    """The trials of systems that have no output in a database yet for the inputs that they would be given."""

    def is_new(connection: Connection, trial: Trial) -> bool:
        system, output = trial.system, table_of(tables.Output)
        key = {"name": system.name, "version": system.version, "settings": canonical(dict(system.settings))}
        system_id, ids = id_of(connection, tables.System, **key), find_inputs(connection, list(trial.inputs))
        if system_id is None or not ids:
            return True
        # A system whose majority counts has calls without outputs of its own.
        answered = (
            select(table.c.input_id).where(table.c.system_id == system_id, table.c.input_id.in_(list(ids.values())))
            for table in (output, table_of(tables.Repeat))
        )
        return all(connection.execute(stored.limit(1)).first() is None for stored in answered)

    with engine.connect() as connection:
        return [trial for trial in wanted if is_new(connection, trial)]


def answers(
    wanted: Sequence[Trial], task: str, executors: Mapping[str, Executor], limit: float | None, unit: str
) -> Answered:
    """What each system says of its inputs, asked the way in which the run will ask it.

    `executors` do the work, by spec; `limit` is the seconds that a system may take, `unit` that of the corpus.
    Raises AuditError, naming the system and what to change, where one has nothing but errors.
    """
    at_work: dict[int, tuple[Trial, list[bytes]]] = {}
    kept: list[Batch] = []
    answered: Answered = {trial.spec: {} for trial in wanted}

    def ask(trial: Trial, keys: list[bytes]) -> None:
        call = getattr(trial.system, "call_size", None) or CALL[unit]
        inputs = tuple(trial.inputs[key] for key in keys)
        batch = Batch(trial.spec, task, inputs, call, limit, Identity.of(trial.system))
        at_work[id(batch)] = trial, keys
        kept.append(batch)  # else another one may have its id
        executors[trial.spec].submit(batch)

    def take(batch: Any, result: Any) -> None:
        trial, keys = at_work.pop(id(batch))
        if isinstance(result, Lost) and len(keys) > 1:
            for key in keys:
                ask(trial, [key])
            return
        outputs = [failed(result.reason)] if isinstance(result, Lost) else result.outputs(len(keys))
        answered[trial.spec] |= {key: (trial.inputs[key], output) for key, output in zip(keys, outputs, strict=True)}

    for trial in wanted:
        ask(trial, list(trial.inputs))
    while at_work:
        for executor in {id(executors[trial.spec]): executors[trial.spec] for trial, _ in at_work.values()}.values():
            for batch, result in executor.finished(0.05):
                take(batch, result)
    for trial in wanted:
        _refuse_failing(trial, [output for _, output in answered[trial.spec].values()])
    return answered


def remarks(answered: Answered) -> list[str]:
    """What to say of systems that failed on some of their first inputs."""
    said = []
    for spec, outputs in answered.items():
        errors = [output.error for _, output in outputs.values() if output.error]
        if errors:
            said.append(
                f"system {spec} failed on {len(errors)} of its first {len(outputs)} inputs with "
                f"{shortened(errors[0])!r}; the run goes on, and errors are stored and counted"
            )
    return said


def _refuse_failing(trial: Trial, outputs: Sequence[Output]) -> None:
    errors = [output.error for output in outputs if output.error]
    if len(errors) < len(outputs) or not errors:
        return
    error = max(errors, key=errors.count)
    inputs = "the first input" if len(outputs) == 1 else f"each of the first {len(outputs)} inputs"
    raise AuditError(
        f"system {trial.spec} failed on {inputs} with {shortened(error)!r}; {advice(trial.system, error)}, and run "
        "again; nothing was stored"
    )


def advice(system: System, error: str) -> str:
    """What to change where a system has nothing but errors: what it says itself, or in general.

    >>> from audit.systems import get_system
    >>> advice(get_system("vader"), "OSError: no model")
    'mend what the error says'
    """
    own = getattr(system, "advice", None)
    said = own(error) if callable(own) else None
    return said or "mend what the error says"
