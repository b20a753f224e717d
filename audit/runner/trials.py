"""What systems answer to a few inputs: before a run begins, to the first ones of its study, and by themselves.

A wrong key, region or address, a label that nobody mapped, a model that does not load: all of that shows with three
inputs as it does with ten thousand, and leaves nothing behind. What is answered is stored with the run. A system that
has outputs in the database is asked three of their inputs again: another model under the same version answers
differently, and its outputs must not be mixed with the stored ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from math import isclose
from time import perf_counter
from typing import Any

from sqlalchemy import Connection, Engine, or_, select

from audit.corpora.base import Corpus, languages_of
from audit.errors import AuditError, BadOutput, NotInstalled
from audit.keys import canonical
from audit.messages import counted
from audit.runner.batch import Batch, Identity, failed, is_asynchronous, ready
from audit.runner.budget import Sending, meter_of
from audit.runner.dispatch import Answered, Asker
from audit.runner.executors import InProcess, Lost, outcome
from audit.runner.fitting import lacks_of, loaded
from audit.runner.options import TIME_LIMIT
from audit.runner.studies import Later, Sampled, opened
from audit.store import tables
from audit.store.core import input_table
from audit.store.core import output as output_table
from audit.store.outcomes import find_inputs, id_of
from audit.systems import is_fixed, without_version
from audit.systems.base import HasPairs, System
from audit.systems.foreign import foreign, shortened, shown
from audit.tasks import Input, Output, Task, get_task, matches

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
        asked_already = asker.budget.asked | {spec for spec in asker.by_spec if is_fixed(spec)}
        unasked = {spec: system for spec, system in asker.by_spec.items() if spec not in asked_already}
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
        said = [
            out
            for result in results
            for out in ([failed(result.reason)] if isinstance(result, Lost) else result.outputs)
        ]
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


# Trying a system by itself, as `audit check` does.

TEXTS = {
    "en": (
        "The story is warm and the actors are wonderful.",
        "The plot is boring, and the ending makes no sense.",
        "It was shown on Tuesday in the large hall.",
    ),
    "zh": ("这个故事很温暖，演员也很出色。", "情节无聊，结局也说不通。", "周二在大厅里放映。"),
}  # What a system is asked where nobody says what, by language


@dataclass(frozen=True)
class CheckedInput:
    """An input, and what is stored of what the system said of it."""

    texts: tuple[str, ...]
    languages: tuple[str, ...]
    label: str | None = None
    score: float | None = None
    text: str | None = None
    error: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class SystemCheck:
    """A system as it is, and what it answered. `needs` is what is missing, where it could not be asked."""

    system: str
    version: str
    settings: dict[str, object]
    task: str
    needs: str | None
    answers: tuple[CheckedInput, ...] = ()
    calls: int | None = None  # Requests to another machine; None for a system on this one
    cost: float | None = None
    currency: str | None = None
    advice: str | None = None  # What to change, where every input failed

    @property
    def works(self) -> bool:
        """Whether it answered at least one input."""
        return any(answer.error is None for answer in self.answers)

    def as_json(self) -> dict[str, Any]:
        """As the command `audit check` has it in JSON."""
        return asdict(self) | {"works": self.works}


def check_system(
    spec: str,
    *,
    texts: Sequence[str] = (),
    corpus: Corpus | None = None,
    task: str | None = None,
    limit: float = TIME_LIMIT,
) -> SystemCheck:
    """Ask a system for the outputs of some texts, or of the first sources of a corpus, each alone; nothing is stored.

    Without either it is asked for three texts of ours. For a task on pairs every two texts are one input. `limit` is
    the seconds that a system of the user's own may take. Raises AuditError for what cannot be asked.
    """
    systems = loaded([spec], limit, task or (corpus.task if corpus else None))
    if len(systems) > 1:
        raise AuditError(f"{spec} means {len(systems)} systems: {', '.join(systems)}; name one of them")
    ((spec, system),) = systems.items()
    chosen = task or (corpus.task if corpus else system.tasks[0])
    if not any(matches(chosen, possible) for possible in system.tasks):
        raise AuditError(f"system {spec} does {', '.join(system.tasks)}, not {chosen}", parameter="task")
    described = SystemCheck(system.name, system.version, dict(system.settings), chosen, system.needs())
    if described.needs:
        return described
    if texts and corpus is not None:
        raise AuditError("texts and a corpus exclude each other; give one of them", parameter=("text", "corpus"))
    if corpus is not None:
        inputs = [row.input for _, row in Sampled(corpus, 0, FIRST).sources]
    else:
        inputs = _inputs_of(system, get_task(chosen), texts)
    with foreign(f"prepare() of the system {spec!r} failed", limit):
        ready(spec, Identity.of(system), chosen)
    answers = tuple(_answer(Batch(spec, chosen, (item,), limit=limit, identity=Identity.of(system))) for item in inputs)
    if all(answer.error for answer in answers):
        described = replace(described, advice=advice(system, answers[0].error or ""))
    if meter := meter_of(system):
        sending = sum((meter.of([item]) for item in inputs), Sending())
        described = replace(described, calls=sending.calls)
        if meter.price:
            described = replace(described, cost=sending.cost, currency=meter.price.currency)
    return replace(described, answers=answers)


def _answer(batch: Batch) -> CheckedInput:
    (item,), started = batch.inputs, perf_counter()
    returned = outcome(InProcess().submit(batch))
    output = Output(error=returned.reason) if isinstance(returned, Lost) else returned.outputs[0]
    own = (output.label, output.score, output.text, output.error, perf_counter() - started)
    return CheckedInput(item.texts, item.languages, *own)


def _inputs_of(system: System, task: Task, texts: Sequence[str]) -> list[Input]:
    """Return these texts, or ours, as inputs in languages that the system reads."""
    source, target = next((code for code in system.languages if code in TEXTS), "en"), None
    if task.name == "translation":
        others = (code for code in system.languages if code not in (source, "*"))
        pairs = [(pair.source, pair.target) for pair in system.pairs()] if isinstance(system, HasPairs) else []
        pairs = pairs or [(source, next(others, "es" if source == "en" else "en"))]
        source, target = next((pair for pair in pairs if pair[0] == source), pairs[0])
    if not texts:  # a pair is a text with itself and with the next one
        ours = TEXTS.get(source, TEXTS["en"])
        texts = ours if task.texts == 1 else [text for at in range(FIRST) for text in (ours[at], ours[at - at % 2])]
    if len(texts) % task.texts:
        raise AuditError(f"{len(texts)} texts: an input of {task.name} has {task.texts}", parameter="text")
    starts = range(0, len(texts), task.texts)
    return [Input.of(*texts[at : at + task.texts], language=source, target=target) for at in starts]


def refuse_absent(check: SystemCheck) -> None:
    """Raise NotInstalled where the system lacks something, AuditError where it answered nothing."""
    if check.needs:
        raise NotInstalled(f"system {check.system} cannot run here; {check.needs}")
    if not check.works:
        failed, error = counted(len(check.answers), "input"), str(check.answers[0].error)
        raise AuditError(f"system {check.system} failed on all of {failed} with {error!r}; {check.advice}")
