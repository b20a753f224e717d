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
from audit.runner.batch import Batch, failed, is_asynchronous
from audit.runner.chunk import Lacks
from audit.runner.executors import Lost, outcome
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
MOST_LOOKED_AT = 100
"""Sources, from the first on, among which there may be inputs that a system has an output for."""
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


Answered = dict[str, dict[bytes, tuple[Input, Output]]]
"""Spec -> key -> the input and what the system said."""


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

    def is_new(connection: Connection, trial: Trial) -> bool:
        system_id, ids = own_id(connection, trial.system), find_inputs(connection, list(trial.inputs))
        if system_id is None or not ids:
            return True
        # A system whose majority counts has calls without outputs of its own.
        answered = (
            select(table.c.input_id).where(table.c.system_id == system_id, table.c.input_id.in_(list(ids.values())))
            for table in (table_of(tables.Output), table_of(tables.Repeat))
        )
        return all(connection.execute(stored.limit(1)).first() is None for stored in answered)

    with engine.connect() as connection:
        return [trial for trial in wanted if is_new(connection, trial)]


def own_id(connection: Connection, system: System) -> int | None:
    """Return the id of a system in a database; None where it has no output there."""
    settings = canonical(dict(system.settings))
    return id_of(connection, tables.System, name=system.name, version=system.version, settings=settings)


def stored_trials(engine: Engine, systems: Mapping[str, System], task: str, several: bool) -> list[Trial]:
    """Return what is to be asked again, of the systems that have outputs in a database; `several` says that this run
    asks each input several times."""
    wanted = []
    with engine.connect() as connection:
        for spec, system in systems.items():
            if (id := own_id(connection, system)) is None:
                continue
            by_calls = has_calls(connection, id)
            found = _spread(connection, tables.Output, id, task)
            if not found and by_calls:  # of a system whose majority counts there are calls alone
                found = _spread(connection, tables.Repeat, id, task)
            steady: bool | None = getattr(system, "deterministic", None)
            may_differ = not steady if steady is not None else several or by_calls
            if found:
                inputs, outputs = ({key: pair[at] for key, pair in found.items()} for at in (0, 1))
                wanted.append(Trial(spec, system, inputs, outputs, may_differ))  # type: ignore[arg-type]
    return wanted


def _spread(
    connection: Connection, model: type[tables.Output] | type[tables.Repeat], system: int, task: str
) -> dict[bytes, tuple[Input, Output]]:
    """Return some of a system's first and last stored outputs without an error, with different labels where they have
    such: another model may say the same of one class for long."""
    table, input_table = table_of(model), table_of(tables.Input)
    said = or_(table.c.label.is_not(None), table.c.score.is_not(None), table.c.text.is_not(None))
    query = (
        select(table, input_table.c.texts, input_table.c.languages)
        .join(input_table, input_table.c.id == table.c.input_id)
        .where(table.c.system_id == system, table.c.error.is_(None), said)
        .limit(_TRIED)
    )
    found: dict[bytes, tuple[Input, Output]] = {}
    for order in (table.c.input_id, table.c.input_id.desc(), table.c.input_id)[:AGAIN]:
        near = [
            (Input.stored(row["texts"], row["languages"]), Output(row["label"], row["score"], row["text"]))
            for row in connection.execute(query.order_by(order)).mappings()
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


def checked_first(wanted: Iterable[Trial], answered: Answered) -> list[str]:
    """Return what to say of systems that failed on some of their first inputs. Raises AuditError, naming the system and
    what to change, where one has nothing but errors."""
    said = []
    for trial in wanted:
        outputs = [output for _, output in answered[trial.spec].values()]
        errors = [output.error for output in outputs if output.error]
        if errors and len(errors) == len(outputs):
            error = max(errors, key=errors.count)
            inputs = "the first input" if len(outputs) == 1 else f"each of the first {len(outputs)} inputs"
            raise AuditError(
                f"system {trial.spec} failed on {inputs} with {shortened(error)!r}; {advice(trial.system, error)}, and "
                "run again; nothing was stored"
            )
        if errors:
            said.append(
                f"system {trial.spec} failed on {len(errors)} of its first {len(outputs)} inputs with "
                f"{shortened(errors[0])!r}; the run goes on, and errors are stored and counted"
            )
    return said


def check_stored(wanted: Sequence[Trial], answered: Answered) -> list[str]:
    """Return what to say of systems that answered stored inputs otherwise now, or failed on some of them.

    Raises AuditError with the way on where the outputs that are stored are another model's, and where a system fails on
    all of these inputs.
    """
    said: list[str] = []
    for trial in wanted:
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
        differing = (
            key for key, output in now.items() if not output.error and _differs(trial.outputs[key], output, margin)
        )
        if (key := next(differing, None)) is None:
            continue
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


def advice(system: System, error: str) -> str:
    """What to change where a system has nothing but errors: what it says itself, or in general.

    >>> from audit.systems import get_system
    >>> advice(get_system("vader"), "OSError: no model")
    'mend what the error says'
    """
    own = getattr(system, "advice", None)
    said = own(error) if callable(own) else None
    return said or "mend what the error says"
