"""Before a run begins, each system answers the first inputs of its study.

A wrong key, region or address, a label that nobody mapped, a model that does not load: all of that shows with three
inputs as it does with ten thousand, and leaves nothing behind. What is answered is stored with the run. A system that
has outputs in the database is asked three of their inputs again: another model under the same version answers
differently, and its outputs must not be mixed with the stored ones.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from math import isclose

from sqlalchemy import Connection, Engine, or_, select

from audit.errors import AuditError, BadOutput
from audit.keys import canonical
from audit.messages import counted
from audit.runner.batch import Lacks, is_asynchronous
from audit.store import table_of, tables
from audit.store.outcomes import find_inputs, id_of
from audit.systems import offered, without_version
from audit.systems.base import System
from audit.systems.foreign import shortened, shown
from audit.tasks import Input, Output, get_task

FIRST = 3  # Inputs that a system answers before a run
AGAIN = 3  # Stored inputs, at most, that it is asked again
MOST_LOOKED_AT = 100  # Sources, from the first on, among which there may be inputs that a system has an output for
TOLERANCE, TOLERANCE_OF_SERVICES = 0.001, 0.01
"""How far a score may be from the stored one: sums are rounded otherwise in another batch, and on another machine."""
_TRIED = 20  # Stored outputs, the first and the last, among which there may be some with different labels


@dataclass(frozen=True)
class Trial:
    """A system and the inputs that it is to answer, by key; of inputs that it answered before, the stored outputs.
    `may_differ`: it may answer differently each time."""

    spec: str
    system: System
    inputs: Mapping[bytes, Input]
    outputs: Mapping[bytes, Output] = field(default_factory=dict)
    may_differ: bool = False


Answered = dict[str, dict[bytes, tuple[Input, Output]]]  # Spec -> key -> the input and what the system said


def trials(systems: Mapping[str, System], lacks: Mapping[str, Lacks | None], inputs: Iterable[Input]) -> list[Trial]:
    """Return the first distinct inputs for each system that it may have an output for; one without any is not tried."""
    firsts, wanted = {item.key: item for item in inputs}, []
    for spec, system in systems.items():
        lacking = lacks[spec]
        fitting = ((key, item) for key, item in firsts.items() if not (lacking and lacking(item)))
        if first := dict(islice(fitting, FIRST)):
            wanted.append(Trial(spec, system, first))
    return wanted


def unanswered(engine: Engine, wanted: Iterable[Trial]) -> list[Trial]:
    """Return the trials of systems that have no output in a database yet for any of their inputs."""
    output, new = table_of(tables.Output), []
    with engine.connect() as connection:
        for trial in wanted:
            ids = list(find_inputs(connection, list(trial.inputs)).values())
            own = select(output.c.input_id).where(output.c.system_id == own_id(connection, trial.system))
            if connection.execute(own.where(output.c.input_id.in_(ids)).limit(1)).first() is None:
                new.append(trial)
    return new


def own_id(connection: Connection, system: System) -> int | None:
    """Return the id of a system in a database; None where it has no output there."""
    settings = canonical(dict(system.settings))
    return id_of(connection, tables.System, name=system.name, version=system.version, settings=settings)


def stored_trials(engine: Engine, systems: Mapping[str, System], task: str, several: bool) -> list[Trial]:
    """Return what is to be asked again, of the systems that have outputs in a database; `several` says that this run
    asks each input several times."""
    wanted, call = [], table_of(tables.Repeat)
    with engine.connect() as connection:
        for spec, system in systems.items():
            id = own_id(connection, system)
            if id is None or not (found := _spread(connection, id, task)):
                continue
            calls = select(call.c.number).where(call.c.system_id == id).limit(1)
            steady: bool | None = getattr(system, "deterministic", None)
            may_differ = not steady if steady is not None else several or connection.execute(calls).first() is not None
            inputs = {key: item for key, (item, _) in found.items()}
            wanted.append(Trial(spec, system, inputs, {key: said for key, (_, said) in found.items()}, may_differ))
    return wanted


def _spread(connection: Connection, system: int, task: str) -> dict[bytes, tuple[Input, Output]]:
    """Return some of a system's first and last stored outputs for a task, with different labels where there are."""
    table, input_table, pairs = table_of(tables.Output), table_of(tables.Input), {}
    said = or_(table.c.label.is_not(None), table.c.score.is_not(None), table.c.text.is_not(None))
    query = (
        select(table, input_table.c.texts, input_table.c.languages)
        .join(input_table, input_table.c.id == table.c.input_id)
        .where(table.c.system_id == system, table.c.error.is_(None), said)
        .limit(_TRIED)
    )
    for end in (table.c.input_id, table.c.input_id.desc()):
        for row in connection.execute(query.order_by(end)):
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


def checked(wanted: Iterable[Trial], answered: Answered) -> list[str]:
    """Return what to say of systems that failed on some of their inputs, or now answer stored ones differently. Raises
    AuditError, naming the system and what to change, where one has nothing but errors, and where the stored outputs are
    another model's."""
    said: list[str] = []
    for trial in wanted:
        now = {key: output for key, (_, output) in answered[trial.spec].items()}
        errors = [output.error for output in now.values() if output.error]
        if errors and len(errors) == len(now):
            error = max(errors, key=errors.count)
            inputs = "the first input" if len(now) == 1 else f"each of the first {len(now)} inputs"
            before = f"answered {counted(len(now), 'stored input')} before, and fails now"
            raise AuditError(
                f"system {trial.spec} {before if trial.outputs else f'failed on {inputs}'} with {shortened(error)!r}; "
                f"{advice(trial.system, error)}, and run again; nothing was stored"
            )
        if errors:
            inputs = "inputs that it answered before" if trial.outputs else "inputs"
            said.append(
                f"system {trial.spec} failed on {len(errors)} of its first {len(now)} {inputs} with "
                f"{shortened(errors[0])!r}; the run goes on, and errors are stored and counted"
            )
        if (sentence := _changed(trial, now)) is not None:
            said.append(sentence)
    return said


def _changed(trial: Trial, now: Mapping[bytes, Output]) -> str | None:
    """Return what to say of a system that now answers a stored input differently. Raises AuditError where it cannot be
    chance."""
    margin = TOLERANCE_OF_SERVICES if is_asynchronous(trial.system) else TOLERANCE
    for key, before in trial.outputs.items():
        after = now[key]
        same = (before.label, before.text) == (after.label, after.text)
        scores = [score for score in (before.score, after.score) if score is not None]
        if after.error or (same and (not scores or (len(scores) == 2 and isclose(*scores, abs_tol=margin)))):
            continue
        old, new = (str(output.score) if same else shown(output.label or output.text) for output in (before, after))
        seen = (
            f"system {trial.spec} now answers {new} to {shown(' | '.join(trial.inputs[key].texts))}, and {old} is "
            f"stored for version {trial.system.version}"
        )
        bare = without_version(trial.spec)
        way = "give the system another `version`" if offered(bare) else f"name it with another version, as in {bare}@2"
        if bare.endswith(".toml"):
            way = f"change version in {bare.partition(':')[2]}"
        if trial.may_differ:
            return f"{seen}; that may be chance; if the model is another one, {way}, or use another database"
        raise AuditError(
            f"{seen}: the stored outputs are of another model; {way}, or use another database (a system that may "
            "answer differently each time says so with `deterministic`)"
        )
    return None


def advice(system: System, error: str) -> str:
    """Return what to change where a system has nothing but errors: what it says itself, or in general."""
    own = getattr(system, "advice", None)
    said = own(error) if callable(own) else None
    return said or "mend what the error says"
