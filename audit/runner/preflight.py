"""Before a run begins, each system answers the first inputs of its study.

A wrong key, region or address, a label that nobody mapped, a model that does not load: all of that shows with three
inputs as it does with ten thousand, costs nearly nothing, and leaves nothing behind. What is answered is stored with
the run, so that nobody asks for it again.

A system that has outputs in the database is asked three of their inputs again: another model under the same version
answers otherwise, and its outputs must not be mixed with the stored ones, or taken for them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isclose
from typing import Any

from sqlalchemy import Connection, Engine, or_, select

from audit.errors import AuditError, BadOutput
from audit.keys import canonical
from audit.messages import counted
from audit.runner.chunk import Lacks
from audit.runner.executors import Batch, Executor, Lost, is_asynchronous
from audit.runner.executors.batch import CALL, Identity, failed
from audit.runner.repeats import has_calls
from audit.store import table_of, tables
from audit.store.outcomes import find_inputs
from audit.store.queries import id_of
from audit.systems import offered, without_version
from audit.systems.base import System
from audit.systems.foreign import shortened, shown
from audit.tasks import Input, Output, get_task

FIRST = 3
"""Inputs that a system answers before a run."""
AGAIN = 3
"""Stored inputs, at most, that it is asked again."""


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
        output, system_id = table_of(tables.Output), own_id(connection, trial.system)
        ids = find_inputs(connection, list(trial.inputs))
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


def own_id(connection: Connection, system: System) -> int | None:
    """The id of a system in a database; None where it has no output there."""
    settings = canonical(dict(system.settings))
    return id_of(connection, tables.System, name=system.name, version=system.version, settings=settings)


def answers(
    wanted: Sequence[Trial], task: str, executors: Mapping[str, Executor], limit: float | None, unit: str
) -> Answered:
    """What each system says of its inputs, asked the way in which the run will ask it.

    `executors` do the work, by spec; `limit` is the seconds that a system may take, `unit` that of the corpus.
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
    return answered


def checked_first(wanted: Iterable[Trial], answered: Answered) -> list[str]:
    """What to say of systems that failed on some of their first inputs. Raises AuditError, naming the system and what
    to change, where one has nothing but errors."""
    for trial in wanted:
        _refuse_failing(trial, [output for _, output in answered[trial.spec].values()])
    said = []
    for spec, outputs in answered.items():
        errors = [output.error for _, output in outputs.values() if output.error]
        if errors:
            said.append(
                f"system {spec} failed on {len(errors)} of its first {len(outputs)} inputs with "
                f"{shortened(errors[0])!r}; the run goes on, and errors are stored and counted"
            )
    return said


# Whether the model that answers now is the one whose outputs are stored.

TOLERANCE, TOLERANCE_OF_SERVICES = 0.001, 0.01
"""How far a score may be from the stored one: sums are rounded otherwise in another batch, and on another machine."""
_TRIED = 20
"""Stored outputs that are looked at for one that the task allows, since a system may have done another task, too, and
that has another label than those chosen."""


@dataclass(frozen=True)
class StoredTrial(Trial):
    """A system that has outputs in a database, up to three of their inputs, and the outputs. `may_differ`: it says that
    it may answer otherwise each time, or was asked several times to see whether it does."""

    outputs: Mapping[bytes, Output]
    may_differ: bool = False


def stored_trials(engine: Engine, systems: Mapping[str, System], task: str, several: bool) -> list[StoredTrial]:
    """What is to be asked again, of the systems that have outputs in a database; `several` says that this run asks each
    input several times."""
    with engine.connect() as connection:
        found = [_stored_trial(connection, spec, system, task, several) for spec, system in systems.items()]
    return [trial for trial in found if trial.inputs]


def _stored_trial(connection: Connection, spec: str, system: System, task: str, several: bool) -> StoredTrial:
    id = own_id(connection, system)
    if id is None:
        return StoredTrial(spec, system, {}, {})
    by_calls = has_calls(connection, id)
    found = _spread(connection, tables.Output, id, task)
    if not found and by_calls:  # of a system whose majority counts there are calls alone
        found = _spread(connection, tables.Repeat, id, task)
    inputs = {key: item for key, (item, _) in found.items()}
    outputs = {key: output for key, (_, output) in found.items()}
    steady: bool | None = getattr(system, "deterministic", None)
    return StoredTrial(spec, system, inputs, outputs, not steady if steady is not None else several or by_calls)


def _spread(
    connection: Connection, model: type[tables.Output] | type[tables.Repeat], system: int, task: str
) -> dict[bytes, tuple[Input, Output]]:
    """One of the first, the middle and the last of a system's stored outputs without an error, by the inputs' ids, with
    different labels where they have such: another model may say the same of one class for long."""
    table, input_table = table_of(model), table_of(tables.Input)
    said = or_(table.c.label.is_not(None), table.c.score.is_not(None), table.c.text.is_not(None))
    own = (table.c.system_id == system, table.c.error.is_(None), said)
    ids = [
        connection.execute(select(table.c.input_id).where(*own).order_by(order).limit(1)).scalar()
        for order in (table.c.input_id, table.c.input_id.desc())
    ]
    first, last = (int(id or 0) for id in ids)
    query = (
        select(table, input_table.c.texts, input_table.c.languages)
        .join(input_table, input_table.c.id == table.c.input_id)
        .where(*own)
        .limit(_TRIED)
    )
    upwards, downwards = table.c.input_id, table.c.input_id.desc()
    places = ((first, upwards), ((first + last) // 2, upwards), (last, downwards))
    found: dict[bytes, tuple[Input, Output]] = {}
    for place, order in places[: AGAIN if ids[0] is not None else 0]:
        beyond = table.c.input_id >= place if order is upwards else table.c.input_id <= place
        near = [
            (Input.stored(row["texts"], row["languages"]), Output(row["label"], row["score"], row["text"]))
            for row in connection.execute(query.where(beyond).order_by(order)).mappings()
        ]
        near = [(item, output) for item, output in near if item.key not in found and _fits(task, item, output)]
        labels = {output.label for _, output in found.values()}
        if near:
            item, output = next((pair for pair in near if pair[1].label not in labels), near[0])
            found[item.key] = item, output
    return found


def _fits(task: str, item: Input, output: Output) -> bool:
    """Whether an input and its output are of this task."""
    asked = get_task(task)
    try:
        asked.checked(output)
    except BadOutput:
        return False
    return len(item.texts) == asked.texts


def check_stored(trials: Sequence[StoredTrial], answered: Answered) -> list[str]:
    """What to say of systems that answered stored inputs otherwise now, or failed on some of them.

    Raises AuditError with the way on where the outputs that are stored are another model's, and where a system fails on
    all of these inputs.
    """
    said: list[str] = []
    for trial in trials:
        now = {key: output for key, (_, output) in answered[trial.spec].items()}
        errors = [output.error for output in now.values() if output.error]
        if len(errors) == len(now):
            raise AuditError(
                f"system {trial.spec} answered {counted(len(now), 'stored input')} before, and fails now with "
                f"{shortened(errors[0])!r}; {advice(trial.system, errors[0])}, and run again; nothing was stored"
            )
        if errors:
            said.append(
                f"system {trial.spec} fails now on {counted(len(errors), 'input')} that it answered before with "
                f"{shortened(errors[0])!r}; the run goes on with the stored outputs"
            )
        margin = TOLERANCE_OF_SERVICES if is_asynchronous(trial.system) else TOLERANCE
        differing = [
            key for key, output in now.items() if not output.error and _differs(trial.outputs[key], output, margin)
        ]
        if not differing:
            continue
        key = differing[0]
        before, after = _spelled(trial.outputs[key], now[key])
        seen = (
            f"system {trial.spec} now answers {after} to {shown(' | '.join(trial.inputs[key].texts))}, and {before} is "
            f"stored for version {trial.system.version}"
        )
        way = f"{_another_version(trial.spec)}, or use another database"
        if not trial.may_differ:
            raise AuditError(
                f"{seen}: the stored outputs are of another model; {way} (a system that may answer differently each "
                "time says so with `deterministic`)"
            )
        said.append(f"{seen}; that may be chance; if the model is another one, {way}")
    return said


def _differs(before: Output, now: Output, margin: float) -> bool:
    if (before.label, before.text) != (now.label, now.text) or (before.score is None) != (now.score is None):
        return True
    return before.score is not None and now.score is not None and not isclose(before.score, now.score, abs_tol=margin)


def _spelled(before: Output, now: Output) -> tuple[str, str]:
    """Two outputs that differ as parts of a sentence: their labels or texts, or else their scores."""
    if (before.label, before.text) == (now.label, now.text):
        return f"{before.score}", f"{now.score}"
    return shown(before.label or before.text), shown(now.label or now.text)


def _another_version(spec: str) -> str:
    """How a system gets another version, by how it is named."""
    bare = without_version(spec)
    if bare.endswith(".toml"):
        return f"change version in {bare.partition(':')[2]}"
    return "give the system another `version`" if offered(bare) else f"name it with another version, as in {bare}@2"


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
