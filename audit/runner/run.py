"""`audit run`: every relation on every source for every system, each distinct input executed once.

Resume contract. A run is cut into chunks of sources. Outputs are committed as they arrive; the groups, verdicts and
the note that a chunk is finished for a relation and a system are committed together. The same command again skips
what is noted as finished and does the rest; since choices are seeded by content and outputs are read back by
(system, input), it ends with what an undisturbed run ends with.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, literal_column, select
from sqlalchemy.exc import SQLAlchemyError

from audit.corpora.base import Corpus, languages_of
from audit.errors import AuditError
from audit.messages import counted
from audit.relations import Outcome, Relation
from audit.relations.composition import parts_of
from audit.relations.validity import Fitted, fitted_for
from audit.runner import preflight
from audit.runner.batch import CALL, Batch, Identity, is_asynchronous, ready
from audit.runner.budget import Budget, Sending, meter_of
from audit.runner.chunk import Bound, Counts, OutputKey, Stored
from audit.runner.coordinator import BoundSystem, Coordinator, Todo, patiently, written
from audit.runner.executors import Executor, InProcess, Processes, Waiting
from audit.runner.fitting import lacks_of, refuse_misfits, remarks
from audit.runner.options import ONCE, TIME_LIMIT, CommonOptions, RunOptions
from audit.runner.preflight import Answered, Trial
from audit.runner.progress import Watcher
from audit.runner.repeats import Repeated, asked_once, is_lacking, keep_calls, settings_of
from audit.runner.studies import (
    Later,
    Sampled,
    StudyRow,
    cut_inputs,
    finished,
    inapplicable_notes,
    make_study,
    opened,
    relation_id,
    system_id,
)
from audit.runner.underway import OnlyRun, refuse_second
from audit.store import pieces, store_inputs, table_of, tables, write_much
from audit.store.brought import note_brought
from audit.store.bulk import group_ids
from audit.systems import get_system, is_own, systems_of
from audit.systems.base import System
from audit.systems.foreign import foreign, shortened
from audit.tasks import Input, base_of


def loaded(names: Iterable[str], limit: float | None = TIME_LIMIT) -> dict[str, System]:
    """Return the systems that these names mean, by spec. `limit` is the seconds that each of the user's own may take.

    Raises AuditError, which names the system and what it did; UnknownName, and what is wrong with the file of a
    service.
    """
    return {spec: get_system(spec, limit) for name in names for spec in systems_of(name)}


@dataclass(frozen=True)
class RunResult:
    """What a run made, what it found stored, and what is left to do."""

    study: StudyRow
    counts: Counts
    relations: list[str]
    systems: list[str]
    versions: list[str]  # Of these systems, in their order
    left: int = 0  # Sources that are not finished for some relation and system: 0 unless the run was stopped
    without_groups: list[str] = field(default_factory=list)  # Relations that apply to no source
    rejected: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Relation with limits -> how many groups it has in the study, and how many of them are rejected."""
    inapplicable: Sequence[str] = ()
    """A sentence for each system and reason why groups are inapplicable, such as a score that it does not return."""
    cut: Mapping[str, int] = field(default_factory=dict)
    """System -> inputs of the study of which it read a part, since they are too long for it."""

    def as_json(self) -> dict[str, object]:
        """Return the counts, as the command `audit run` has them in JSON."""
        return {
            "study": self.study.id,
            "task": self.study.task,
            "corpus": self.study.corpus,
            "sources": self.study.sources,
            "relations": self.relations,
            "systems": self.systems,
            **{name: value for name, value in asdict(self.counts).items() if name != "outcomes"},
            **self.counts.outcomes,
            "left": self.left,
            "cut": dict(self.cut),
            "relations_without_groups": self.without_groups,
            "rejected_by_relation": {
                name: {"groups": groups, "rejected": rejected} for name, (groups, rejected) in self.rejected.items()
            },
        }

    def lines(self) -> list[str]:
        """Return the counts as sentences, a line each."""
        counts, sources = self.counts, counted(self.study.sources, "source")
        relations, systems = counted(len(self.relations), "relation"), counted(len(self.systems), "system")
        lines = [f"Study {self.study.id}: {self.study.corpus}, {sources}, {relations}, {systems}."]
        if self.without_groups:
            names, apply = ", ".join(self.without_groups), "apply" if len(self.without_groups) > 1 else "applies"
            lines.append(f"{names} {apply} to none of the {sources}: no groups, no verdicts.")
        for name, (groups, rejected) in self.rejected.items():
            share = "all" if rejected == groups else f"{rejected:,} of" if rejected else "none of"
            lines.append(f"{name}: {share} {counted(groups, 'group')} rejected by its limits, and kept.")
        if not counts.checks and not counts.repeated:
            done = len(self.without_groups) < len(self.relations)
            return [*lines, "Everything was there already; nothing was left to do."] if done else lines
        if counts.checks:
            by_outcome = [f"{n:,} {outcome}" for outcome, n in counts.outcomes.items() if n or outcome != "rejected"]
            made = f"{counted(counts.groups, 'group')} made, {counted(counts.checks, 'check')}"
            lines.append(f"{made}: {', '.join(by_outcome)}.")
        lines.append(
            f"{counted(counts.executed, 'input')} executed, {counted(counts.stored, 'output')} stored already."
        )
        if counts.repeated:
            lines.append(f"{counts.repeated:,} of them were asked again, to see whether a system contradicts itself.")
        if counts.retried:
            lines.append(f"{counts.retried:,} of them had failed before.")
        if counts.failed:
            lines.append(
                f"{counted(counts.failed, 'input')} failed: the errors are stored and counted in the report; "
                f"the first is {counts.first_error!r}. The same run with retry_errors tries them again."
            )
        return [*lines, *self.inapplicable]


class AllFailed(AuditError):
    """A system has no check without an error: there is nothing to sample. What was made is stored; `ran` says what."""

    status = 1

    def __init__(self, reason: str, ran: RunResult):
        super().__init__(reason, parameter="retry_errors")
        self.ran = ran


class LimitReached(AuditError):
    """The run's budget is used up. What was answered is stored, and the same run goes on; `ran` says what was made."""

    status = 3

    def __init__(self, budget: Budget, ran: RunResult):
        super().__init__(
            f"{budget.stopped()}; what was answered is stored, {ran.left:,} of {counted(ran.study.sources, 'source')} "
            "are left, and the same run again goes on from there and asks for nothing twice",
            parameter=("max_calls", "max_cost"),
        )
        self.ran = ran


def run(
    database: Engine | Later,
    corpus: Corpus,
    systems: Sequence[str],
    relations: Sequence[Relation],
    executor: Executor,
    options: RunOptions = ONCE,
    watcher: Watcher | None = None,
    budget: Budget | None = None,
) -> RunResult:
    """Run, or finish, a study. `systems` are specs as `audit.systems.systems_of` and `get_system` take them.

    Each system that has no output for them answers the study's first inputs before anything is stored (`preflight`).
    `budget` is what may be spent, by this run and others that share it. Raises UnknownName, NotInstalled, AuditError
    and what the corpus raises, before anything is stored; `AllFailed` after everything is, where a system has no output
    but errors; `LimitReached` where the budget was used up, after what was answered is stored.
    """
    watcher, budget = watcher or Watcher(), budget or Budget(options)
    sampled = Sampled(corpus, options.seed, options.limit)
    by_spec = loaded(systems, options.time_limit)
    refuse_misfits(corpus, by_spec, relations)
    budget.check(by_spec.values())
    for sentence in remarks(corpus, by_spec, relations, options):
        watcher.says(sentence)
    is_new = isinstance(database, Later) and database.is_new
    with SystemRunner(executor, by_spec, options, watcher, budget) as runner:
        if not is_new:
            patiently(lambda: _refuse_second(opened(database), sampled), watcher.says)
        answered = runner.first_answers(sampled, None if is_new else opened(database))
        engine = opened(database)
        study = patiently(lambda: make_study(engine, sampled), watcher.says)
        with _alone(engine, study.id, watcher) as place:
            bound = written(engine, lambda connection: _bind_relations(connection, relations), watcher.says)
            by_id, fresh = written(engine, lambda c: bind_systems(c, corpus, runner, answered), watcher.says)
            counts = Counts()
            counts.note(output for by_key in answered.values() for _, output in by_key.values())
            if options.retry_errors:
                patiently(lambda: _forget_chunks_with_errors(engine, study, bound, by_id), watcher.says)
            todo = patiently(lambda: _todo(engine, study, bound, by_id, options.retry_errors), watcher.says)
            if todo:
                write_much(engine)
                runner.prepare()
            watcher.begin(sum(study.size(number) for number in todo))
            coordinator = Coordinator(engine, study, by_id, runner, counts, fresh, place)
            coordinator.fitted = fitted_to(sampled, relations) if todo else {}
            coordinator.run(todo)
    result = patiently(lambda: _result(engine, study, counts, bound, by_id, by_spec), watcher.says)
    if budget.reached:
        result = replace(result, left=sum(map(study.size, _todo(engine, study, bound, by_id))))
        if result.left:
            raise LimitReached(budget, result)
    for id, system in by_id.items():
        if reason := _all_failed(engine, study.id, id, system.name):
            raise AllFailed(reason, result)
    return result


def _refuse_second(engine: Engine, sampled: Sampled) -> None:
    with engine.connect() as connection:
        refuse_second(connection, sampled.key)


@contextmanager
def _alone(engine: Engine, study_id: int, watcher: Watcher) -> Iterator[OnlyRun]:
    """Have a study for this run. Raises UnderWay where another run of it goes on."""
    place = OnlyRun(study_id)
    written(engine, place.take, watcher.says)
    try:
        yield place
    finally:
        # The run may end for another reason, which is the one to be told: a full disk.
        with suppress(SQLAlchemyError), engine.begin() as connection:
            place.release(connection)
        place.end()


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
        self.limit, self.retry_errors = options.time_limit, self.options.retry_errors
        self._is_prepared = False
        self.waiting = Waiting() if any(map(self.waits, by_spec)) else None

    def __exit__(self, *problem: object) -> None:
        if self.waiting is not None:
            self.waiting.__exit__(*problem)

    def waits(self, spec: str) -> bool:
        """Whether a system waits for another machine, and is trusted not to keep an event loop to itself."""
        return is_asynchronous(self.by_spec[spec]) and not is_own(spec)

    def prepare(self) -> None:
        """Let systems load, train or download what they need, once, before anybody works with them.

        Where other processes do the work, the user's own are prepared there, by the first batch; those that wait, by
        their event loop. Raises AuditError where it fails.
        """
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
        """Return who does the batches of a system."""
        return self.waiting if self.waiting is not None and self.waits(spec) else self.executor

    def first_answers(self, sampled: Sampled, engine: Engine | None) -> Answered:
        """Ask the systems for the first inputs of a study, where a database (None: there is none) has nothing of them.

        Those that have outputs in it are asked for some of these again, once in a command. Raises AuditError where a
        system has nothing but errors, and where it answers otherwise than is stored.
        """
        languages, task = languages_of(sampled.corpus), sampled.corpus.task
        lacks = {spec: lacks_of(system, languages) for spec, system in self.by_spec.items()}
        unasked = {spec: system for spec, system in self.by_spec.items() if spec not in self.budget.asked}

        def looked_up() -> tuple[list[Trial], list[Trial]]:
            inputs = sampled.first_inputs(preflight.MOST_LOOKED_AT, engine)
            wanted = preflight.trials(self.by_spec, lacks, inputs)
            if engine is None:
                return wanted, []
            several = self.options.repeats > 1
            return preflight.unanswered(engine, wanted), preflight.stored_trials(engine, unasked, task, several)

        wanted, again = patiently(looked_up, self.watcher.says)
        if not wanted and not again and engine is not None:
            return {}
        self.prepare()
        meters = ((meter_of(trial.system), list(trial.inputs.values())) for trial in [*again, *wanted])
        self.budget.spend_first(sum((meter.of(inputs) for meter, inputs in meters if meter), Sending()))

        def submit(trial: Trial, inputs: tuple[Input, ...]) -> tuple[Batch, Future[Any]]:
            executor = self.executor_of(trial.spec)
            if isinstance(executor, Processes) and getattr(trial.system, "may_fork", False):
                executor = InProcess()  # loaded here, before there are workers: all of them have it then
            call = getattr(trial.system, "call_size", None) or CALL[sampled.corpus.unit]
            batch = Batch(trial.spec, task, inputs, call, self.limit, Identity.of(trial.system))
            return batch, executor.submit(batch)

        for trials in (again, wanted):
            answered = preflight.answers(trials, submit)
            for remark in preflight.checked(trials, answered):
                self.watcher.says(remark)
        self.budget.asked.update(self.by_spec)
        return answered


def fitted_to(sampled: Sampled, relations: Iterable[Relation]) -> Fitted:
    """Return what the measures of these relations' limits learn from the study's sources."""
    names = {limit.measure for relation in relations for limit in relation.limits}
    return fitted_for(names, lambda: [row.input for _, row in sampled.sources])


def _bind_relations(connection: Connection, relations: Sequence[Relation]) -> list[Bound]:
    """Return the relations with the ids of their rows; what plug-ins brought is noted."""
    for task in {relation.task for relation in relations}:
        note_brought(connection, base_of(task), [name for relation in relations for name in parts_of(relation.name)])
    return [Bound(relation_id(connection, relation), relation) for relation in relations]


def bind_systems(
    connection: Connection, corpus: Corpus, runner: SystemRunner, answered: Answered
) -> tuple[dict[int, BoundSystem], set[OutputKey]]:
    """Return the systems of a run by the ids of their rows; what they answered is stored, and told of by system and
    input.

    A system whose outputs that count are made of several calls is one of its own, beside the one that is called.
    """
    systems: dict[int, BoundSystem] = {}
    fresh: set[OutputKey] = set()
    options, unit = runner.options, languages_of(corpus)
    for spec, system in runner.by_spec.items():
        base = system_id(connection, system)
        id = system_id(connection, system, settings_of(system, options))
        once = options.repeats == 1 or asked_once(system)
        repeated = None if once else Repeated(base, options.repeats, options.take == "majority", corpus.task)
        lacks = lacks_of(system, unit)
        systems[id] = BoundSystem(id, spec, system, lacks, meter_of(system), repeated, runner.waits(spec))
        by_key = answered.get(spec, {})
        inputs, _ = store_inputs(connection, {key: item for key, (item, _) in by_key.items()})
        ids = {key: inputs[key] for key in by_key}
        if id != base:
            keep_calls(connection, base, ids, [(key, 1, output) for key, (_, output) in by_key.items()])
        if ids:
            Stored().keep(connection, base, ids, [output for _, output in by_key.values()])
        fresh |= {(id, key) for key in by_key}
    return systems, fresh


def _forget_chunks_with_errors(
    engine: Engine, study: StudyRow, relations: Sequence[Bound], systems: Mapping[int, BoundSystem]
) -> None:
    """Take back the note that a chunk is finished for a relation and a system, where a group of it has an error.

    Groups that hang on a system's outputs are made anew, and some are none without the error: they go with it. Nobody
    can have drawn them.
    """
    group, verdict = table_of(tables.Group), table_of(tables.Verdict)
    source, progress = table_of(tables.Source), table_of(tables.Progress)
    failed = (
        select(group.c.id, group.c.source_id, group.c.relation_id, verdict.c.system_id, group.c.system_id.label("of"))
        .join(verdict, verdict.c.group_id == group.c.id)
        .where(group.c.study_id == study.id, verdict.c.outcome == int(Outcome.ERROR))
        .where(group.c.relation_id.in_([bound.id for bound in relations]), verdict.c.system_id.in_(systems))
    )
    sources = select(source.c.id).where(source.c.study_id == study.id).order_by(source.c.id)
    with engine.begin() as connection:
        chunk = {int(id): place // study.chunk for place, id in enumerate(connection.execute(sources).scalars())}
        rows = connection.execute(failed).all()
        for number, relation, system in sorted({(chunk[row[1]], row[2], row[3]) for row in rows}):
            key = {"study_id": study.id, "chunk": number, "relation_id": relation, "system_id": system}
            connection.execute(delete(progress).filter_by(**key))
        for piece in pieces(row.id for row in rows if row.of is not None):
            for table, column in ((tables.Verdict, "group_id"), (tables.Member, "group_id"), (tables.Group, "id")):
                connection.execute(delete(table_of(table)).where(table_of(table).c[column].in_(piece)))


def _todo(
    engine: Engine,
    study: StudyRow,
    relations: Sequence[Bound],
    systems: Mapping[int, BoundSystem],
    retry: bool = False,
) -> Todo:
    """Return the relations that are not noted as finished, by chunk and system; chunks with nothing left are absent.

    Where calls on some inputs of a system are lacking, since it was asked less often before, nothing of it is finished.
    """
    with engine.connect() as connection:
        done = finished(connection, study.id)
        anew = {
            id
            for id, bound in systems.items()
            if bound.repeated and not bound.repeated.by_majority
            if is_lacking(connection, study.id, [one.id for one in relations], bound.repeated, retry)
        }
    todo = {}
    for number in range(-(-study.sources // study.chunk)):
        unfinished = {
            system: [one for one in relations if system in anew or (number, system, one.id) not in done]
            for system in systems
        }
        if any(unfinished.values()):
            todo[number] = {system: bounds for system, bounds in unfinished.items() if bounds}
    return todo


# What there is to say of a study once it was run.


def _result(
    engine: Engine, study: StudyRow, counts: Counts, relations: Sequence[Bound],
    systems: Mapping[int, BoundSystem], by_spec: Mapping[str, System],
) -> RunResult:  # fmt: skip
    """Return what a run made and found, without what is left."""
    group, source, verdict = table_of(tables.Group), table_of(tables.Source), table_of(tables.Verdict)
    limited = {bound.id: bound.name for bound in relations if bound.relation.limits}
    own = (group.c.study_id == study.id, group.c.relation_id.in_(limited))
    groups = select(group.c.relation_id, func.count()).where(*own).group_by(group.c.relation_id)
    rejecting = (
        select(group.c.relation_id, func.count(group.c.id.distinct()))
        .join(verdict, verdict.c.group_id == group.c.id)
        .where(*own, verdict.c.outcome == int(Outcome.REJECTED))
        .group_by(group.c.relation_id)
    )
    with engine.connect() as connection:
        ends = select(func.min(source.c.id), func.max(source.c.id)).where(source.c.study_id == study.id)
        of_study = group.c.id.between(*group_ids(*connection.execute(ends).one()))  # by the primary key
        query = select(group.c.id).where(of_study, group.c.study_id == study.id).limit(1)
        without = [
            bound for bound in relations if not connection.execute(query.where(group.c.relation_id == bound.id)).first()
        ]
        rejected = {int(id): int(number) for id, number in connection.execute(rejecting)} if limited else {}
        all_groups = connection.execute(groups).all() if limited else []
        cut = cut_inputs(connection, [study.id], systems)
        notes = inapplicable_notes(connection, [study.id], systems)
    return RunResult(
        study,
        counts,
        [bound.name for bound in relations],
        [system.name for system in by_spec.values()],
        [system.version for system in by_spec.values()],
        without_groups=[bound.name for bound in without],
        rejected={limited[id]: (number, rejected.get(id, 0)) for id, number in all_groups},
        inapplicable=notes,
        cut={systems[id].name: number for id, number in cut.items()},
    )


def _all_failed(engine: Engine, study_id: int, system_id: int, name: str) -> str | None:
    """Return what to say of a system whose checks in a study all ended in an error; None of any other."""
    group, verdict = table_of(tables.Group), table_of(tables.Verdict)
    groups = select(group.c.id).where(group.c.study_id == study_id)
    checks = select(verdict.c.reason).where(
        verdict.c.system_id == system_id,
        verdict.c.group_id.in_(groups),
        verdict.c.outcome != int(Outcome.REJECTED),
    )
    errors = checks.with_only_columns(verdict.c.reason, func.count().label("number")).group_by(verdict.c.reason)
    with engine.connect() as connection:
        # Nearly every system has a check without an error, which is found at once.
        if connection.execute(checks.where(verdict.c.outcome != int(Outcome.ERROR)).limit(1)).first():
            return None
        most = connection.execute(errors.order_by(literal_column("number").desc(), verdict.c.reason).limit(1)).first()
    if most is None:
        return None
    return (
        f"system {name} failed in every group, most often with {shortened(str(most.reason))!r} ({most.number:,} times);"
        " the errors are stored, and the same run with retry_errors tries again once the system works"
    )


__all__ = ["AllFailed", "Later", "LimitReached", "RunResult", "Watcher", "loaded", "run"]
