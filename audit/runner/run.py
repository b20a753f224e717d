"""`audit run`: every relation on every source for every system, each distinct input executed once.

Resume contract. A run goes through its sources chunk by chunk. Outputs are committed as they arrive; the groups and
verdicts of a chunk and the note that it is finished are committed together. The same command again skips the chunks
that are noted and does the others; choices are seeded by content and outputs are read back by (system, input), so it
ends with what an undisturbed run ends with.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine, delete, func, or_, select

from audit.corpora.base import Corpus, languages_of
from audit.errors import AuditError
from audit.messages import counted
from audit.relations import Fixed, Outcome, Relation
from audit.relations.composition import parts_of
from audit.relations.validity import Fitted
from audit.runner.budget import Budget
from audit.runner.chunk import Bound, Chunk, Planning, load_sources
from audit.runner.dispatch import AskedAgain, BoundSystem, Counts, Dispatcher, few_collections
from audit.runner.executors import Executor, Lost, outcome
from audit.runner.fitting import asked_once, fitted_to, refuse_misfits, remarks
from audit.runner.options import ONCE, RunOptions
from audit.runner.progress import Watcher
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
)
from audit.runner.system_runner import SystemRunner, bind_systems, loaded
from audit.runner.underway import only_run
from audit.store import integers, pieces, rows_among, write_much
from audit.store.brought import note_brought
from audit.store.bulk import group_ids
from audit.store.core import count_rows, group, input_table, member, output, progress, repeat, source, verdict
from audit.store.patient import Patient
from audit.tasks import Input, base_of
from audit.text.tools import find_tools

TRIES = 3  # How many workers may be lost while they make the groups of a chunk
TOGETHER = 8  # Chunks whose inputs are asked for together, at least
_FEW = 5  # Sources whose groups are made once before there are processes
AT_ONCE = 10_000  # Inputs and systems whose repeated calls are made together


@dataclass(frozen=True)
class RunResult:
    """What a run made, what it found stored, and what is left to do.

    `left` counts sources that are not finished for some relation and system: 0 unless the run was stopped. `rejected`
    has, of each relation with limits, how many groups it has in the study and how many of them are rejected; `cut`, by
    system, of how many inputs it read a part; `inapplicable` says why groups are, and what systems used.
    """

    study: StudyRow
    counts: Counts
    relations: list[str]
    systems: list[str]
    versions: list[str]  # Of these systems, in their order
    left: int = 0
    without_groups: list[str] = field(default_factory=list)  # Relations that apply to no source
    rejected: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    inapplicable: Sequence[str] = ()
    cut: Mapping[str, int] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return the counts, as the command `audit run` has them in JSON."""
        counts = asdict(self.counts)
        outcomes = counts.pop("outcomes")
        return {
            "study": self.study.id,
            **{name: getattr(self.study, name) for name in ("task", "corpus", "sources")},
            "relations": self.relations,
            "systems": self.systems,
            **counts,
            **outcomes,
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
            lines.append(f"{name}: {rejected:,} of {counted(groups, 'group')} rejected by its limits, and kept.")
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


class LimitReached(AuditError):
    """The run's budget is used up. What was answered is stored, and the same run goes on; `ran` says what was made."""

    status = 3

    def __init__(self, budget: Budget, ran: RunResult):
        left = f"{ran.left:,} of {counted(ran.study.sources, 'source')}" if ran.left else "some repeated calls"
        super().__init__(
            f"{budget.stopped()}; what was answered is stored, {left} are left, and the same run again goes on from "
            "there and asks for nothing twice",
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

    Each system that has no output for them answers the study's first inputs before anything is stored.
    `budget` is what may be spent, by this run and others that share it. Raises UnknownName, NotInstalled, AuditError
    and what the corpus raises, before anything is stored; `LimitReached` where the budget was used up, after what was
    answered is stored.
    """
    watcher, budget = watcher or Watcher(), budget or Budget(options)
    sampled = Sampled(corpus, options.seed, options.limit)
    by_spec = loaded(systems, options.time_limit, corpus.task)
    refuse_misfits(corpus, by_spec, relations)
    budget.check(by_spec.values())
    for sentence in remarks(corpus, by_spec, relations, options):
        watcher.says(sentence)
    if isinstance(database, Later) and database.is_new:
        executor.share(_first_groups(sampled, relations))
    with SystemRunner(executor, by_spec, options, watcher, budget) as runner:
        answered = runner.first_answers(sampled, database)
        store = Patient(opened(database), watcher.says)
        study = store.write(lambda connection: make_study(connection, sampled))
        with only_run(store, study.id):
            bound = store.write(lambda connection: _bind_relations(connection, relations))
            by_id = store.write(lambda connection: bind_systems(connection, corpus, runner, answered))
            if options.retry_errors:
                store.write(lambda connection: _forget_chunks_with_errors(connection, study, bound, by_id))
            todo = store.read(lambda connection: _todo(connection, study, bound, by_id))
            if todo:
                write_much(store.engine)
                runner.prepare()
            dispatcher = Dispatcher(runner, by_id, store, study.task, study.unit)
            counts = dispatcher.counts
            counts.note(output for by_key in answered.values() for _, output in by_key.values())
            watcher.begin(sum(study.size(number) for number in todo))
            _Run(dispatcher, store, study, executor, watcher, fitted_to(sampled, relations) if todo else {}).do(todo)
            if options.repeats > 1:
                _ask_again(runner, dispatcher, store, study)
    result = store.read(lambda connection: _result(connection, study, counts, bound, by_id))
    if budget.reached:
        left = store.read(lambda connection: _todo(connection, study, bound, by_id))
        raise LimitReached(budget, replace(result, left=sum(map(study.size, left))))
    return result


def _first_groups(sampled: Sampled, relations: Sequence[Relation]) -> Planning:
    """Return a job that loads what most groups take, but no model that begins threads: a process with threads is not to
    be forked. Taggers that tag many texts at once have none."""
    tools = map(find_tools, languages_of(sampled.corpus))
    fixed = [one for one in relations if isinstance(one, Fixed) and not (one.limits or "proposer" in one.params)]
    few = sampled.sources[:_FEW] if all(one and one.tag_all for one in tools) else []
    return Planning(tuple((row.input, "") for _, row in few), tuple(fixed))


Todo = dict[int, dict[int, list[Bound]]]  # Chunk -> system -> relations that are not finished
_Planned = tuple[Chunk, Planning, Future[Any]]


@dataclass
class _Run:
    """Goes through the chunks of a study, some together: while their systems are asked, the next groups are made."""

    dispatcher: Dispatcher
    store: Patient
    study: StudyRow
    executor: Executor
    watcher: Watcher
    fitted: Fitted  # What measures of follow-ups have learnt from the study's sources

    def do(self, todo: Todo) -> None:
        """Do these chunks, until the budget is used up."""
        query = select(source.c.id).where(source.c.study_id == self.study.id).order_by(source.c.id)
        ids = self.store.read(lambda connection: integers(connection, query))[:, 0]
        blocks = iter(pieces(todo.items(), max(TOGETHER, self.executor.places)))
        with few_collections():
            planned = [self._begin(number, own, ids) for number, own in next(blocks, [])]
            while planned:
                following = [self._begin(number, own, ids) for number, own in next(blocks, [])]
                for chunk, job, future in planned:
                    chunk.planned(planned_groups(self.executor, job, future))
                if not self._finish([chunk for chunk, _, _ in planned]):
                    return
                planned = following

    def _begin(self, number: int, todo: dict[int, list[Bound]], ids: np.ndarray) -> _Planned:
        """Begin to make the groups of a chunk."""
        own, study = ids[number * self.study.chunk :][: self.study.chunk], self.study
        load = partial(load_sources, study_id=study.id, seed=study.seed, first=int(own[0]), last=int(own[-1]))
        chunk = Chunk(number, self.store.read(load), todo, self.fitted)
        job = chunk.planning()
        return chunk, job, self.executor.submit(job)

    def _finish(self, chunks: Sequence[Chunk]) -> bool:
        """Ask the systems for what chunks want, as long as they want something, and store them; whether all are."""
        counts, left = self.dispatcher.counts, list(chunks)
        outputs: dict[int, dict[bytes, Any]] = {system: {} for system in self.dispatcher.systems}
        while wanting := [(chunk, wanted) for chunk in left if (wanted := chunk.wanted())]:
            new: dict[int, dict[bytes, Input]] = {}
            for _, wanted in wanting:
                for system, inputs in wanted.items():
                    fresh = new.setdefault(system, {})
                    before = len(fresh)
                    fresh.update((key, item) for key, item in inputs.items() if key not in outputs[system])
                    counts.stored += len(inputs) - (len(fresh) - before)  # of these, another chunk wanted them before
            for system, answered in self.dispatcher.ask(new).items():
                outputs[system].update(answered)
            for chunk, wanted in wanting:
                if all(key in outputs[system] for system, inputs in wanted.items() for key in inputs):
                    chunk.take({system: {k: outputs[system][k] for k in inputs} for system, inputs in wanted.items()})
                else:
                    left.remove(chunk)  # the budget did not allow it
        for chunk in left:
            self.dispatcher.store(chunk.unasked)
            found = self.store.write(partial(chunk.store, study_id=self.study.id, input_ids=self.dispatcher.ids))
            counts.note_checks(len(chunk.groups), found)
            self.watcher.finished(len(chunk.sources))
        self.dispatcher.ids.clear()
        return len(left) == len(chunks)


def planned_groups(executor: Executor, job: Planning, future: Future[Any]) -> list[Any]:
    """Return the groups of a planning job; it is done anew where the worker is lost, killed from outside or by what a
    system did in it before."""
    for _ in range(TRIES):
        groups = outcome(job, future)
        if not isinstance(groups, Lost):
            return list(groups)
        future = executor.submit(job)
    raise AuditError(
        f"{TRIES} workers were lost while they made the same groups ({groups.reason}; out of memory?); what was "
        "finished is stored; run the same command again to resume, with workers=1, or 0 for one process",
        parameter="workers",
    )


def _bind_relations(connection: Connection, relations: Sequence[Relation]) -> list[Bound]:
    """Return the relations with the ids of their rows; what plug-ins brought is noted."""
    for task in {relation.task for relation in relations}:
        note_brought(connection, base_of(task), [name for relation in relations for name in parts_of(relation.name)])
    return [Bound(relation_id(connection, relation), relation) for relation in relations]


def _forget_chunks_with_errors(
    connection: Connection, study: StudyRow, relations: Sequence[Bound], systems: Mapping[int, BoundSystem]
) -> None:
    """Take back the note that a chunk is finished for a relation and a system, where a group of it has an error."""
    failed = (
        select(group.c.id, group.c.source_id, group.c.relation_id, verdict.c.system_id, group.c.system_id.label("of"))
        .join(verdict, verdict.c.group_id == group.c.id)
        .where(group.c.study_id == study.id, verdict.c.outcome == int(Outcome.ERROR))
        .where(group.c.relation_id.in_([bound.id for bound in relations]), verdict.c.system_id.in_(systems))
    )
    sources = select(source.c.id).where(source.c.study_id == study.id).order_by(source.c.id)
    chunk = {int(id): place // study.chunk for place, id in enumerate(connection.execute(sources).scalars())}
    rows = connection.execute(failed).all()
    for number, relation, system in sorted({(chunk[row[1]], row[2], row[3]) for row in rows}):
        key = {"study_id": study.id, "chunk": number, "relation_id": relation, "system_id": system}
        connection.execute(delete(progress).filter_by(**key))
    for piece in pieces(row.id for row in rows if row.of is not None):
        for column in (verdict.c.group_id, member.c.group_id, group.c.id):
            connection.execute(delete(column.table).where(column.in_(piece)))


def _todo(
    connection: Connection, study: StudyRow, relations: Sequence[Bound], systems: Mapping[int, BoundSystem]
) -> Todo:
    """Return the relations that are not noted as finished, by chunk and system; chunks with nothing left are absent."""
    done, todo = finished(connection, study.id), {}
    for number in range(-(-study.sources // study.chunk)):
        unfinished = {system: [one for one in relations if (number, system, one.id) not in done] for system in systems}
        if any(unfinished.values()):
            todo[number] = {system: bounds for system, bounds in unfinished.items() if bounds}
    return todo


def _ask_again(runner: SystemRunner, dispatcher: Dispatcher, store: Patient, study: StudyRow) -> None:
    """Ask the systems until each was asked as often as wanted about the inputs of the study that it has an output for,
    unless it says that it always gives the same."""
    number, retry = runner.options.repeats, runner.options.retry_errors
    moody = {id: bound for id, bound in dispatcher.systems.items() if not asked_once(bound.system)}
    for id, bound in moody.items():
        bound.asked = AskedAgain(id, retry, number=number)
    said = or_(*(output.c[name].is_not(None) for name in ("label", "score", "text", "error")))
    in_study = select(group.c.id).join(member, member.c.group_id == group.c.id)
    in_study = in_study.where(member.c.input_id == output.c.input_id, group.c.study_id == study.id)
    made = select(func.count()).where(repeat.c.input_id == output.c.input_id, repeat.c.system_id == output.c.system_id)
    made = made.where(repeat.c.error.is_(None)) if retry else made
    query = select(output.c.input_id, output.c.system_id).where(output.c.system_id.in_(moody), output.c.attempt == 1)
    query = query.where(said, in_study.exists(), made.scalar_subquery() < number)
    pairs = store.read(lambda connection: integers(connection, query)).tolist()
    if pairs:
        runner.prepare()
    for piece in pieces(pairs, AT_ONCE):
        about, inputs = {input for input, _ in piece}, select(input_table).order_by(input_table.c.id)
        rows = store.read(lambda connection: list(rows_among(connection, inputs, input_table.c.id, about)))  # noqa: B023
        items = {row.id: (row.key, Input.stored(row.texts, row.languages)) for row in rows}
        dispatcher.ask({id: dict(items[input] for input, of in piece if of == id) for id in moody})
        dispatcher.ids.clear()


# What there is to say of a study once it was run.


def _result(
    connection: Connection,
    study: StudyRow,
    counts: Counts,
    relations: Sequence[Bound],
    systems: Mapping[int, BoundSystem],
) -> RunResult:
    ends = select(func.min(source.c.id), func.max(source.c.id)).where(source.c.study_id == study.id)
    of_study = group.c.id.between(*group_ids(*connection.execute(ends).one()))  # by the primary key
    without, rejected = [], {}
    for bound in relations:
        own = (group.c.study_id == study.id, group.c.relation_id == bound.id)
        if connection.execute(select(group.c.id).where(of_study, *own).limit(1)).first() is None:
            without.append(bound.name)
        elif bound.relation.limits:
            failing = select(func.count(group.c.id.distinct())).join(verdict, verdict.c.group_id == group.c.id)
            failing = failing.where(*own, verdict.c.outcome == int(Outcome.REJECTED))
            rejected[bound.name] = count_rows(connection, group, *own), int(connection.execute(failing).scalar_one())
    cut = cut_inputs(connection, [study.id], systems)
    return RunResult(
        study,
        counts,
        [bound.name for bound in relations],
        [bound.system.name for bound in systems.values()],
        [bound.system.version for bound in systems.values()],
        without_groups=without,
        rejected=rejected,
        inapplicable=inapplicable_notes(connection, [study.id], systems),
        cut={systems[id].system.name: number for id, number in cut.items()},
    )
