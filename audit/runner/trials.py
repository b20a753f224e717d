"""What systems answer before a run begins: the first inputs of its study.

A wrong key, region or address, a label that nobody mapped, a model that does not load: all of that shows with three
inputs as it does with ten thousand, and leaves nothing behind. What is answered is stored with the run. A system that
has outputs in the database is asked three of their inputs again: another model under the same version answers
differently, and its outputs must not be mixed with the stored ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from math import isclose

from sqlalchemy import Connection, Engine, or_, select

from audit.corpora.base import languages_of
from audit.errors import AuditError, BadOutput
from audit.keys import canonical
from audit.messages import counted
from audit.runner.batch import failed, is_asynchronous
from audit.runner.budget import Sending, meter_of
from audit.runner.dispatch import Answered, Asker
from audit.runner.executors import Lost, outcome
from audit.runner.fitting import lacks_of
from audit.runner.studies import Later, Sampled, opened
from audit.store import tables
from audit.store.core import input_table
from audit.store.core import output as output_table
from audit.store.outcomes import find_inputs, id_of
from audit.systems import is_fixed, without_version
from audit.systems.base import System
from audit.systems.foreign import shortened, shown
from audit.tasks import Input, Output, get_task

FIRST = 3  # Inputs that a system answers before a run
AGAIN = 3  # Stored inputs, at most, that it is asked again
MOST_LOOKED_AT = 100  # Sources, from the first on, among which there may be inputs that a system has an output for
TOLERANCE, TOLERANCE_OF_SERVICES = 0.001, 0.01
"""How far a score may be from the stored one: sums are rounded otherwise in another batch, and on another machine."""
_TRIED = 40  # Stored outputs, from the first on, among which there may be some with different labels


@dataclass(frozen=True)
class Trial:
    """A system and the inputs that it is to answer, by key; of inputs that it answered before, the stored outputs.
    `may_differ`: it may answer differently each time."""

    spec: str
    system: System
    inputs: Mapping[bytes, Input]
    outputs: Mapping[bytes, Output] = field(default_factory=dict)
    may_differ: bool = False


def first_answers(asker: Asker, sampled: Sampled, database: Engine | Later) -> Answered:
    """Ask systems for the first inputs of a study, where a database has nothing of them; others, once in a command, for
    stored ones again. Raises AuditError for nothing but errors, and for another model's answers."""
    engine = None if isinstance(database, Later) and database.is_new else opened(database)
    wanted, again = list(_first_trials(asker, sampled, engine)), list[Trial]()
    if engine is not None:
        with engine.connect() as connection:
            wanted = [trial for trial in wanted if not _is_answered(connection, trial)]
        # What its version says all about gives the outputs that are stored.
        known = asker.budget.asked | {spec for spec in asker.by_spec if is_fixed(spec)}
        unasked = {spec: system for spec, system in asker.by_spec.items() if spec not in known}
        again = stored_trials(engine, unasked, asker.corpus.task, asker.options.repeats > 1)
    if not wanted and not again:
        return {}
    asker.prepare()
    meters = ((meter_of(trial.system), list(trial.inputs.values())) for trial in [*again, *wanted])
    asker.budget.spend_first(sum((meter.of(inputs) for meter, inputs in meters if meter), Sending()))
    for trials in (again, wanted):
        answered = _answers(asker, trials)
        for trial in trials:
            for remark in _checked(trial, {key: said for key, (_, said) in answered[trial.spec].items()}):
                asker.watcher.says(remark)
    asker.budget.asked.update(asker.by_spec)
    return answered


def _first_trials(asker: Asker, sampled: Sampled, engine: Engine | None) -> Iterator[Trial]:
    """Yield the first distinct inputs for each system that it may have an output for; one without any is not tried."""
    firsts = {item.key: item for item in sampled.first_inputs(MOST_LOOKED_AT, engine)}
    for spec, system in asker.by_spec.items():
        lacks = lacks_of(system, languages_of(sampled.corpus))
        fitting = ((key, item) for key, item in firsts.items() if not (lacks and lacks(item)))
        if first := dict(islice(fitting, FIRST)):
            yield Trial(spec, system, first)


def _answers(asker: Asker, trials: Sequence[Trial]) -> Answered:
    """Return what each system says of its inputs, asked by who will do the run; what was lost, one by one."""
    answered: Answered = {}
    for trial, job in [(trial, asker.submit(trial.spec, trial.inputs.values())) for trial in trials]:
        results = [outcome(job)]
        if isinstance(results[0], Lost) and len(trial.inputs) > 1:
            results = [outcome(asker.submit(trial.spec, [item])) for item in trial.inputs.values()]
        said = [out for one in results for out in ([failed(one.reason)] if isinstance(one, Lost) else one.outputs)]
        answered[trial.spec] = {key: (item, out) for (key, item), out in zip(trial.inputs.items(), said, strict=True)}
    return answered


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
    trials = []
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
                trials.append(Trial(spec, system, *chosen, several if steady is None else not steady))
    return trials


def _checked(trial: Trial, now: Mapping[bytes, Output]) -> Iterator[str]:
    """Yield what to say of a system that failed on some of its inputs, or now answers stored ones differently. Raises
    AuditError where it failed on all, or another answer cannot be chance."""
    errors = [output.error for output in now.values() if output.error]
    if errors and len(errors) == len(now):
        inputs = "the first input" if len(now) == 1 else f"each of the first {len(now)} inputs"
        did = f"answered {counted(len(now), 'stored input')} before, and fails now"
        did, error = did if trial.outputs else f"failed on {inputs}", max(errors, key=errors.count)
        raise AuditError(
            f"system {trial.spec} {did} with {shortened(error)!r}; {advice(trial.system, error)}, and run again; "
            "nothing was stored"
        )
    if errors:
        yield (
            f"system {trial.spec} failed on {len(errors)} of {len(now)} inputs with {shortened(errors[0])!r}; the run "
            "goes on, and errors are stored and counted"
        )
    margin = TOLERANCE_OF_SERVICES if is_asynchronous(trial.system) else TOLERANCE
    for key, old in trial.outputs.items():
        new = now[key]
        same = (old.label, old.text) == (new.label, new.text)
        scores = [score for score in (old.score, new.score) if score is not None]
        if new.error or (same and (not scores or (len(scores) == 2 and isclose(*scores, abs_tol=margin)))):
            continue
        before, after = (str(out.score) if same else shown(out.label or out.text) for out in (old, new))
        seen = (
            f"system {trial.spec} now answers {after} to {shown(' | '.join(trial.inputs[key].texts))}, and {before} is "
            f"stored for version {trial.system.version}"
        )
        way = f"give it another version ({without_version(trial.spec)}@2, or `version` in its file or class), or use "
        if not trial.may_differ:
            raise AuditError(
                f"{seen}: the stored outputs are of another model; {way}another database (a system that may answer "
                "differently each time says so with `deterministic`)"
            )
        yield f"{seen}; that may be chance; if the model is another one, {way}another database"
        return


def advice(system: System, error: str) -> str:
    """Return what to change where a system has nothing but errors: what it says itself, or in general."""
    own = getattr(system, "advice", None)
    return (own(error) if callable(own) else None) or "mend what the error says"
