"""`audit run`: every relation on every source for every system, each distinct input executed once.

The contract. Outputs are committed as they arrive; the groups and verdicts of a chunk of sources and the note that it
is finished are committed together. What is not noted is done by the same command again: choices are seeded by content
and outputs are read back by (system, input), so it ends with what an undisturbed run ends with. One run of a study at a
time; a second one is told who runs. What a system does to an input costs that input alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, or_, select

from audit.corpora.base import Corpus, languages_of
from audit.errors import AuditError
from audit.messages import counted
from audit.relations import Fixed, Outcome, Relation
from audit.relations.composition import parts_of
from audit.relations.validity import Fitted
from audit.runner.budget import Budget
from audit.runner.chunk import Bound, Chunk, Planning, load_sources
from audit.runner.dispatch import AskedAgain, Asker, Counts, few_collections
from audit.runner.executors import Executor, Lost, outcome
from audit.runner.fitting import asked_once, fitted_to, loaded, refuse_misfits, remarks
from audit.runner.options import ONCE, RunOptions
from audit.runner.progress import Watcher
from audit.runner.studies import Later, Sampled, StudyRow, finished, inapplicable_notes, make_study, opened, relation_id
from audit.runner.trials import first_answers
from audit.runner.underway import only_run
from audit.store import integers, pieces, rows_among, write_much
from audit.store.brought import note_brought
from audit.store.core import group, input_table, member, output, progress, repeat, source, verdict
from audit.store.patient import Patient
from audit.tasks import Input, base_of
from audit.text.tools import find_tools

TRIES = 3  # How many workers may be lost while they make the groups of a chunk
TOGETHER = 4  # Chunks that are done together
LEAST_JOBS = 4  # In which the groups of a chunk are made
_FEW = 5  # Sources whose groups are made once before there are processes
AT_ONCE = 10_000  # Inputs and systems whose repeated calls are made together


@dataclass(frozen=True)
class RunResult:
    """What a run made, what it found stored, and what is left to do.

    `left` counts sources that are not finished for some relation and system: 0 unless the run was stopped;
    `inapplicable` says why groups are, and what systems used.
    """

    study: StudyRow
    counts: Counts
    relations: list[str]
    systems: list[str]
    versions: list[str]  # Of these systems, in their order
    left: int = 0
    without_groups: list[str] = field(default_factory=list)  # Relations that apply to no source
    inapplicable: Sequence[str] = ()

    def as_json(self) -> dict[str, object]:
        """Return the counts, as the command `audit run` has them in JSON."""
        counts = asdict(self.counts)
        outcomes = counts.pop("outcomes")
        study = {name: getattr(self.study, name) for name in ("task", "corpus", "sources")}
        names = {"relations": self.relations, "systems": self.systems}
        left = {"left": self.left, "relations_without_groups": self.without_groups}
        return {"study": self.study.id, **study, **names, **counts, **outcomes, **left}

    def lines(self) -> list[str]:
        """Return the counts as sentences, a line each."""
        counts, sources = self.counts, counted(self.study.sources, "source")
        relations, systems = counted(len(self.relations), "relation"), counted(len(self.systems), "system")
        lines = [f"Study {self.study.id}: {self.study.corpus}, {sources}, {relations}, {systems}."]
        if self.without_groups:
            names, apply = ", ".join(self.without_groups), "apply" if len(self.without_groups) > 1 else "applies"
            lines.append(f"{names} {apply} to none of the {sources}: no groups, no verdicts.")
        if not counts.checks and not counts.repeated:
            done = len(self.without_groups) < len(self.relations)
            return [*lines, "Everything was there already; nothing was left to do."] if done else lines
        if counts.checks:
            by_outcome = [f"{n:,} {outcome}" for outcome, n in counts.outcomes.items() if n or outcome != "rejected"]
            totals = f"{counted(counts.groups, 'group')} made, {counted(counts.checks, 'check')}"
            lines.append(f"{totals}: {', '.join(by_outcome)}.")
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
    with Asker(executor, by_spec, corpus, options, watcher, budget) as asker:
        answered = first_answers(asker, sampled, database)
        store = Patient(opened(database), watcher.says)
        study = store.write(lambda connection: make_study(connection, sampled))
        with only_run(store, study.id):
            bound = store.write(lambda connection: _bind_relations(connection, relations))
            asker.bind(store, answered)
            if options.retry_errors:
                store.write(lambda connection: _forget_chunks_with_errors(connection, study, bound, asker.systems))
            todo = store.read(lambda connection: _todo(connection, study, bound, asker.systems))
            if todo:
                write_much(store.engine)
                asker.prepare()
            watcher.begin(sum(study.size(number) for number in todo))
            _do(asker, store, study, todo, fitted_to(sampled, relations) if todo else {})
            if options.repeats > 1:
                _ask_again(asker, store, study)

    def result(connection: Connection) -> RunResult:
        left = sum(map(study.size, _todo(connection, study, bound, asker.systems))) if budget.reached else 0
        without = [part.name for part in bound if not _has_groups(connection, study, part)]
        notes = inapplicable_notes(connection, [study.id], asker.systems)
        names, of_systems = [part.name for part in bound], [part.system for part in asker.systems.values()]
        systems = [part.name for part in of_systems], [part.version for part in of_systems]
        return RunResult(study, asker.counts, names, *systems, left, without, notes)

    ran = store.read(result)
    if budget.reached:
        raise LimitReached(budget, ran)
    return ran


def _first_groups(sampled: Sampled, relations: Sequence[Relation]) -> Planning:
    """Return a job that loads what most groups take, but no model that begins threads: a process with threads is not to
    be forked. Taggers that tag many texts at once have none."""
    tools = map(find_tools, languages_of(sampled.corpus))
    fixed = [
        candidate
        for candidate in relations
        if isinstance(candidate, Fixed) and not (candidate.limits or "proposer" in candidate.params)
    ]
    few = sampled.sources[:_FEW] if all(candidate and candidate.tag_all for candidate in tools) else []
    return Planning(tuple((row.input, "") for _, row in few), tuple(fixed))


Todo = dict[int, dict[int, list[Bound]]]  # Chunk -> system -> relations that are not finished


def begin_chunk(executor: Executor, chunk: Chunk) -> list[tuple[Planning, Future[Any]]]:
    """Begin to make the groups of a chunk that are the same for every system."""
    return [(job, executor.submit(job)) for job in chunk.planning(max(LEAST_JOBS, 2 * executor.places))]


def finish_planning(executor: Executor, chunk: Chunk, begun: Iterable[tuple[Planning, Future[Any]]]) -> None:
    """Give a chunk its groups; they are made anew where the worker is lost, killed from outside or by what a system did
    in it before. Raises AuditError where it is lost again and again."""
    planned = []
    for job, future in begun:
        lost = 0
        while isinstance(groups := outcome(future), Lost):
            future, lost = executor.submit(job), lost + 1
            if lost == TRIES:
                raise AuditError(
                    f"{TRIES} workers were lost while they made the same groups ({groups.reason}; out of memory?); "
                    "what was finished is stored; run the same command again to resume, with workers=1, or 0 for one "
                    "process",
                    parameter="workers",
                )
        planned.append(groups)
    chunk.planned(planned)


def _do(asker: Asker, store: Patient, study: StudyRow, todo: Todo, fitted: Fitted) -> None:
    """Do these chunks, until the budget is used up; while systems are asked, the groups of the next one are made."""
    query = select(source.c.id).where(source.c.study_id == study.id).order_by(source.c.id)
    ids = store.read(lambda connection: integers(connection, query))[:, 0]

    def chunks() -> Iterator[tuple[Chunk, list[tuple[Planning, Future[Any]]]]]:
        # Neighbours with the same left to do are done together: systems have more to do at once.
        alike = groupby(enumerate(todo.items()), key=lambda numbered: (numbered[1][0] - numbered[0], numbered[1][1]))
        for numbers in (piece for _, same in alike for piece in pieces((number for _, (number, _) in same), TOGETHER)):
            own = ids[numbers[0] * study.chunk :][: len(numbers) * study.chunk]
            load = partial(load_sources, study_id=study.id, seed=study.seed, first=int(own[0]), last=int(own[-1]))
            chunk = Chunk(numbers, store.read(load), todo[numbers[0]], fitted)
            yield chunk, begin_chunk(asker.executor, chunk)

    with few_collections():
        begun = chunks()
        following = next(begun, None)
        while following is not None:
            (chunk, jobs), following = following, next(begun, None)
            finish_planning(asker.executor, chunk, jobs)
            if not chunk.answer(asker.ask):
                return  # the budget did not allow it
            asker.store(chunk.unasked)
            outcomes = store.write(partial(chunk.store, study_id=study.id, input_ids=asker.ids))
            asker.counts.note_checks(len(chunk.groups), outcomes)
            asker.watcher.finished(len(chunk.sources))
            asker.ids.clear()


def _bind_relations(connection: Connection, relations: Sequence[Relation]) -> list[Bound]:
    """Return the relations with the ids of their rows; what plug-ins brought is noted."""
    for task in {relation.task for relation in relations}:
        note_brought(connection, base_of(task), [name for relation in relations for name in parts_of(relation.name)])
    return [Bound(relation_id(connection, relation), relation) for relation in relations]


def _forget_chunks_with_errors(
    connection: Connection, study: StudyRow, relations: Sequence[Bound], systems: Iterable[int]
) -> None:
    """Take back the note that a chunk is finished for a relation and a system, where a group of it has an error."""
    failed = (
        select(group.c.id, group.c.source_id, group.c.relation_id, verdict.c.system_id, group.c.system_id.label("of"))
        .join(verdict, verdict.c.group_id == group.c.id)
        .where(group.c.study_id == study.id, verdict.c.outcome == int(Outcome.ERROR))
        .where(group.c.relation_id.in_([bound.id for bound in relations]), verdict.c.system_id.in_(list(systems)))
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


def _todo(connection: Connection, study: StudyRow, relations: Sequence[Bound], systems: Iterable[int]) -> Todo:
    """Return the relations that are not noted as finished, by chunk and system; chunks with nothing left are absent."""
    done, todo = finished(connection, study.id), Todo()
    for number in range(-(-study.sources // study.chunk)):
        unfinished = {
            system: [relation for relation in relations if (number, system, relation.id) not in done]
            for system in systems
        }
        if any(unfinished.values()):
            todo[number] = {system: bounds for system, bounds in unfinished.items() if bounds}
    return todo


def _has_groups(connection: Connection, study: StudyRow, relation: Bound) -> bool:
    own = select(group.c.id).where(group.c.study_id == study.id, group.c.relation_id == relation.id)
    return connection.execute(own.limit(1)).first() is not None


def _ask_again(asker: Asker, store: Patient, study: StudyRow) -> None:
    """Ask the systems until each was asked as often as wanted about the inputs of the study that it has an output for,
    unless it says that it always gives the same."""
    number, retry = asker.options.repeats, asker.options.retry_errors
    moody = {id: bound for id, bound in asker.systems.items() if not asked_once(bound.system)}
    for id, bound in moody.items():
        bound.asked = AskedAgain(id, retry, number=number)
    said = or_(*(output.c[name].is_not(None) for name in ("label", "score", "text", "error")))
    in_study = select(group.c.id).join(member, member.c.group_id == group.c.id)
    in_study = in_study.where(member.c.input_id == output.c.input_id, group.c.study_id == study.id)
    repeats = select(func.count()).where(
        repeat.c.input_id == output.c.input_id, repeat.c.system_id == output.c.system_id
    )
    repeats = repeats.where(repeat.c.error.is_(None)) if retry else repeats
    query = select(output.c.input_id, output.c.system_id).where(output.c.system_id.in_(moody), output.c.attempt == 1)
    query = query.where(said, in_study.exists(), repeats.scalar_subquery() < number)
    pairs = store.read(lambda connection: integers(connection, query)).tolist()
    if pairs:
        asker.prepare()
    for piece in pieces(pairs, AT_ONCE):
        items = dict(store.read(partial(_inputs_of, ids={input for input, _ in piece})))
        asker.ask({id: dict(items[input] for input, of in piece if of == id) for id in moody})
        asker.ids.clear()


def _inputs_of(connection: Connection, ids: Iterable[int]) -> list[tuple[int, tuple[bytes, Input]]]:
    rows = rows_among(connection, select(input_table).order_by(input_table.c.id), input_table.c.id, ids)
    return [(row.id, (row.key, Input.stored(row.texts, row.languages))) for row in rows]
