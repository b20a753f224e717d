"""`audit run`: every relation on every source for every system, each distinct input executed once.

Resume contract. A run is cut into chunks of sources. Outputs are committed as they arrive; the groups, verdicts and
the note that a chunk is finished for a relation and a system are committed together. The same command again skips
what is noted as finished and does the rest; since choices are seeded by content and outputs are read back by
(system, input), it ends with what an undisturbed run ends with.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from itertools import islice, product
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, literal_column, select
from sqlalchemy.exc import SQLAlchemyError

from audit.corpora.base import Corpus, languages_of
from audit.corpora.files import FileCorpus
from audit.errors import EXTRAS, AuditError, NotInstalled, install_line
from audit.messages import counted, with_commas
from audit.relations import ANY, Outcome, Relation, get_relation, relations_named
from audit.relations.composition import parts_of, spread
from audit.relations.registry import configured, stands_for_several
from audit.relations.validity import Fitted, fitted_for, limited, limits_by_relation, measure_of
from audit.runner import preflight
from audit.runner.batch import CALL, Batch, Identity, is_asynchronous, ready
from audit.runner.budget import Budget, check_first, meter_of
from audit.runner.chunk import Bound, Counts, Lacks, OutputKey, Stored
from audit.runner.coordinator import BoundSystem, Coordinator, Watcher, patiently, written
from audit.runner.executors import Executor, InProcess, Processes, Waiting
from audit.runner.preflight import Answered, Trial
from audit.runner.repeats import Repeated, Repeats, asked_once, is_lacking, keep_calls
from audit.runner.studies import (
    Sampled,
    StudyRow,
    cut_inputs,
    finished,
    first_inputs,
    inapplicable_notes,
    make_study,
    relation_id,
    system_id,
)
from audit.runner.underway import OnlyRun, refuse_second_of
from audit.store import pieces, store_inputs, table_of, tables, write_much
from audit.store.brought import note_brought
from audit.store.bulk import group_ids
from audit.systems import get_system, is_own, systems_of
from audit.systems.base import System
from audit.systems.foreign import foreign, shortened
from audit.tasks import Input, base_of, matches
from audit.text.tools import usual_words

ONCE = Repeats()
TIME_LIMIT = 300.0
"""Seconds that a system may take to be loaded, to be prepared, and for a batch; most take two."""


def loaded(names: Iterable[str], limit: float | None = TIME_LIMIT) -> dict[str, System]:
    """Return the systems that these names mean, by spec. `limit` is the seconds that each of the user's own may take.

    Raises AuditError, which names the system and what it did; UnknownName, and what is wrong with the file of a
    service.
    """
    return {spec: get_system(spec, limit) for name in names for spec in systems_of(name)}


@contextmanager
def _alone(engine: Engine, study_id: int, watcher: Watcher) -> Iterator[OnlyRun]:
    """Have a study for this run. Raises AuditError where another run of it goes on."""
    place = OnlyRun(study_id)
    written(engine, place.take, watcher.says)
    try:
        yield place
    finally:
        # The run may end for another reason, which is the one to be told: a full disk.
        with suppress(SQLAlchemyError), engine.begin() as connection:
            place.release(connection)
        place.end()


@dataclass(frozen=True)
class RunResult:
    """What a run made, what it found stored, and what is left to do."""

    study: StudyRow
    counts: Counts
    relations: list[str]
    systems: list[str]
    versions: list[str]
    """Of these systems, in their order."""
    left: int = 0
    """Sources that are not finished for some relation and system: 0 unless the run was stopped."""
    without_groups: list[str] = field(default_factory=list)
    """Relations that apply to no source."""
    rejected: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Relation with limits -> how many groups it has in the study, and how many of them are rejected."""
    inapplicable: Sequence[str] = ()
    """A sentence for each system and reason why groups are inapplicable, such as a score that it does not return."""
    cut: Mapping[str, int] = field(default_factory=dict)
    """System -> inputs of the study of which it read a part, since they are too long for it."""

    def as_json(self) -> dict[str, object]:
        """Counts, as the command `audit run` has them in JSON."""
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
        """The counts as sentences, a line each."""
        counts, sources = self.counts, counted(self.study.sources, "source")
        relations, systems = counted(len(self.relations), "relation"), counted(len(self.systems), "system")
        lines = [f"Study {self.study.id}: {self.study.corpus}, {sources}, {relations}, {systems}."]
        if self.without_groups:
            names, apply = ", ".join(self.without_groups), "apply" if len(self.without_groups) > 1 else "applies"
            lines += [f"{names} {apply} to none of the {sources}: no groups, no verdicts."]
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


def fitting(
    corpus: Corpus,
    names: Sequence[str] | None,
    document_share: float | None = None,
    params: Mapping[str, Mapping[str, object]] | None = None,
    valid: Sequence[str] = (),
) -> list[Relation]:
    """The relations to run: the named ones, or those of the corpus's task and unit that are default.

    `all` and `family:NAME` among the names mean those of several relations that fit the corpus.

    With `document_share`, sentence relations run on documents too, each perturbing that share of the sentences it
    applies to. `params` are parameters by relation, for example `{"MR6.1": {"sentences": 5}}`. `valid` are limits on
    follow-ups, of all relations or one: `["replaced<=0.4", "typos:edit-distance<=0.2"]`. Raises AuditError for a
    relation that does not fit the corpus' unit or language, a parameter that it does not have, and what is no limit.
    """
    if document_share is not None and corpus.unit != "document":
        raise AuditError(
            f"document_share is for documents, corpus {corpus.name} has {corpus.unit}s; leave it out",
            parameter="document_share",
        )
    chosen = relations_named(corpus.task, names, languages_of(corpus))
    by_name = {get_relation(corpus.task, name).name for name in names or () if not stands_for_several(name)}
    changes = {get_relation(corpus.task, name).name: settings for name, settings in (params or {}).items()}
    chosen = [
        configured(relation, changes[relation.name]) if relation.name in changes else relation for relation in chosen
    ]
    limits = limits_by_relation(valid)
    chosen = [limited(relation, [*limits.get("", ()), *limits.get(relation.name, ())]) for relation in chosen]
    fit = []
    for relation in chosen:
        if not any(map(relation.speaks, languages_of(corpus))):
            if relation.name in by_name:
                spoken = ", ".join(relation.languages)
                raise AuditError(
                    f"relation {relation.name} reads {spoken}, corpus {corpus.name} is in {corpus.language}; choose "
                    "another relation, or say the language of your file with language=CODE",
                    parameter="language",
                )
        elif relation.unit in (corpus.unit, "any"):
            fit.append(relation)
        elif corpus.unit == "document" and document_share is not None and (other := spread(relation, document_share)):
            fit.append(other)
        elif relation.name in by_name:
            half = "; document_share=0.5 makes it perturb half of a document's sentences"
            advice = half if relation.unit == "sentence" else ""
            raise AuditError(
                f"relation {relation.name} is about a {relation.unit}, corpus {corpus.name} has {corpus.unit}s{advice}",
                parameter="document_share",
            )
    if not fit:
        named = f" in {', '.join(names)}" if names else ""
        raise AuditError(
            f"no relation of task {corpus.task}{named} fits corpus {corpus.name}, which has {corpus.unit}s in "
            f"{corpus.language}; language=CODE says which language your file is in, and a relation of your own is one "
            "function (audit.relation)",
            parameter="language",
        )
    return list({relation.name: relation for relation in fit}.values())


def fitting_all(
    corpora: Sequence[Corpus],
    names: str | Sequence[str] | None,
    document_share: float | None = None,
    params: Mapping[str, Mapping[str, object]] | None = None,
    valid: Sequence[str] = (),
) -> list[list[Relation]]:
    """`fitting` for each of several corpora, sentences and documents among them: each runs what fits it.

    Raises what `fitting` raises, where a name or the document share fits none of the corpora.
    """
    names = [names] if isinstance(names, str) else names
    relations = _fitting_each(corpora, names, document_share, params, valid)
    ran = dict.fromkeys(relation.name for fitted in relations for relation in fitted)
    for corpus, name in product(corpora, params or ()):
        if get_relation(corpus.task, name).name not in ran:
            raise AuditError(
                f"params {name}: this relation is not among those that are run: {', '.join(ran)}", parameter="params"
            )
    check_limits_used(valid, list(ran))
    return relations


def check_limits_used(valid: Iterable[str], names: Sequence[str]) -> None:
    """Raise AuditError where a limit is of a relation that is not among those that are run."""
    if unused := next((name for name in limits_by_relation(valid) if name and name not in names), None):
        raise AuditError(
            f"valid: {unused} is not among the relations that are run: {with_commas(names)}", parameter="valid"
        )


def _fitting_each(
    corpora: Sequence[Corpus],
    names: Sequence[str] | None,
    document_share: float | None,
    params: Mapping[str, Mapping[str, object]] | None,
    valid: Sequence[str],
) -> list[list[Relation]]:
    units = {corpus.unit for corpus in corpora}
    relations = []
    for corpus in corpora:
        share = document_share if corpus.unit == "document" or "document" not in units else None
        own_names = names
        if names is not None and len(units) > 1:  # each corpus runs those of the names that are for its unit
            wanted = ("sentence", "document", "any") if share is not None else (corpus.unit, "any")
            own_names = [
                name
                for name in names
                if any(one.unit in wanted for one in relations_named(corpus.task, [name], languages_of(corpus)))
            ]
            if not own_names:
                raise AuditError(
                    f"none of {', '.join(names)} is a relation on {corpus.unit}s, which {corpus.name} has; leave "
                    "it out, or name one that is"
                )
        relations.append(fitting(corpus, own_names, share, params, valid))
    return relations


def run(
    opened: Engine | Callable[[], Engine],
    corpus: Corpus,
    systems: Sequence[str],
    relations: Sequence[Relation],
    executor: Executor,
    *,
    seed: int = 0,
    limit: int | None = None,
    watcher: Watcher | None = None,
    retry_errors: bool = False,
    time_limit: float | None = TIME_LIMIT,
    first: bool = False,
    budget: Budget | None = None,
    repeats: Repeats = ONCE,
) -> RunResult:
    """Run, or finish, a study. `systems` are specs as `audit.systems.systems_of` and `get_system` take them.

    `retry_errors` executes again, once, what failed, and checks again the groups that it was in; the errors stay stored
    as earlier attempts. A run that is broken off meanwhile goes on like any other.

    `time_limit` is the seconds that a system may take for a batch of inputs, and for one alone (None: as long as it
    likes); what takes longer is a stored error. It holds for loading and preparing the user's own systems, too.

    Each system that has no output for them answers the study's first inputs before anything is stored (`preflight`).

    `first` says that nothing is stored yet: systems are then prepared, and answer, before the database is made, not
    after looking whether there is anything to do. `budget` is what may be spent, by this run and others that share it.
    `repeats` says how often each system is asked each input, but for those that say of themselves that they always give
    the same output (`deterministic`). Calls that are stored are not made again, whatever was made of them.

    `opened` is an engine or a function that opens one: it is called after everything else has been checked, so that a
    mistake leaves no empty database behind. Raises UnknownName, NotInstalled, AuditError and what the corpus raises,
    before anything is stored; `AllFailed` after everything is, where a system has no output but errors;
    `LimitReached` where the budget was used up, after what was answered is stored.
    """
    watcher, budget = watcher or Watcher(), budget or Budget()
    sampled = Sampled(corpus, seed, limit)
    repeats = repeats.checked()
    by_spec = loaded(systems, check_time_limit(time_limit))
    refuse_misfits(corpus, by_spec, relations)
    budget.check(by_spec.values())
    _say_remarks(corpus, by_spec, relations, repeats, watcher)
    with SystemRunner(executor, by_spec, time_limit, watcher, budget) as runner:
        if not first:
            patiently(lambda: _refuse_second(opened, sampled), watcher.says)
        answered = runner.first_answers(sampled, None if first else opened, repeats.number > 1)
        engine = opened if isinstance(opened, Engine) else opened()
        study = patiently(lambda: make_study(engine, sampled), watcher.says)
        with _alone(engine, study.id, watcher) as place:
            bound, by_id, fresh = written(
                engine,
                lambda connection: _bind(connection, relations, corpus, runner, repeats, answered),
                watcher.says,
            )
            counts = _counts(answered)
            if retry_errors:
                patiently(lambda: _forget_chunks_with_errors(engine, study, bound, by_id), watcher.says)
            todo = patiently(lambda: _todo(engine, study, bound, by_id, retry_errors), watcher.says)
            if todo:
                write_much(engine)
                runner.prepare()
            watcher.begin(sum(study.size(number) for number in todo))
            retried = set(fresh) if retry_errors else None
            coordinator = Coordinator(engine, study, by_id, runner, counts, fresh, place, retried)
            coordinator.fitted = fitted_to(sampled, relations) if todo else {}
            coordinator.run(todo)
    result = patiently(lambda: _result(engine, study, counts, bound, by_id, runner), watcher.says)
    if budget.reached:
        result = replace(result, left=sum(map(study.size, _todo(engine, study, bound, by_id))))
        if result.left:
            raise LimitReached(budget, result)
    for id in by_id:
        if reason := _all_failed(engine, study.id, id, by_id[id].name):
            raise AllFailed(reason, result)
    return result


def check_time_limit(seconds: float | None) -> float | None:
    """Return a time limit. Raises AuditError for one that is not above 0."""
    if seconds is not None and not 0 < seconds < float("inf"):
        raise AuditError(f"time_limit {seconds:g}: must be a number of seconds above 0", parameter="time_limit")
    return seconds


class SystemRunner(AbstractContextManager["SystemRunner"]):
    """How a run asks its systems, `by_spec`: who does the work, how long it may take, what it may spend."""

    def __init__(
        self, executor: Executor, by_spec: Mapping[str, System], limit: float | None, watcher: Watcher, budget: Budget
    ):
        self.executor, self.by_spec, self.limit = executor, by_spec, limit
        self.watcher, self.budget = watcher, budget
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
        """Who does the batches of a system."""
        return self.waiting if self.waiting is not None and self.waits(spec) else self.executor

    def first_answers(
        self, sampled: Sampled, opened: Engine | Callable[[], Engine] | None, several: bool = False
    ) -> Answered:
        """Ask the systems for the first inputs of a study, where a database (None: there is none) has nothing of them.

        Those that have outputs in it are asked for some of these again, once in a command. `several` says that each
        input is asked several times. Raises AuditError where a system has nothing but errors, and where it answers
        otherwise than is stored: the outputs are another model's.
        """
        languages, task = languages_of(sampled.corpus), sampled.corpus.task
        lacks = {spec: lacks_of(system, languages) for spec, system in self.by_spec.items()}
        engine = opened() if callable(opened) else opened

        def untried() -> list[Trial]:
            inputs = first_inputs(sampled, preflight.MOST_LOOKED_AT, engine)
            wanted = preflight.trials(self.by_spec, lacks, inputs)
            return wanted if engine is None else preflight.unanswered(engine, wanted)

        def stored() -> list[Trial]:
            unasked = {spec: system for spec, system in self.by_spec.items() if spec not in self.budget.asked}
            return preflight.stored_trials(engine, unasked, task, several) if engine is not None else []

        wanted, again = patiently(untried, self.watcher.says), patiently(stored, self.watcher.says)
        if not wanted and not again and opened is not None:
            return {}
        self.prepare()
        asked = ((meter_of(trial.system), list(trial.inputs.values())) for trial in [*again, *wanted])
        check_first(self.budget, [(meter, inputs) for meter, inputs in asked if meter is not None])

        def submit(trial: Trial, inputs: tuple[Input, ...]) -> tuple[Batch, Future[Any]]:
            executor, call = self.executor_of(trial.spec), CALL[sampled.corpus.unit]
            if isinstance(executor, Processes) and getattr(trial.system, "may_fork", False):
                executor = InProcess()  # loaded here, before there are workers: all of them have it then
            call = getattr(trial.system, "call_size", None) or call
            batch = Batch(trial.spec, task, inputs, call, self.limit, Identity.of(trial.system))
            return batch, executor.submit(batch)

        remarks = preflight.check_stored(again, preflight.answers(again, submit))
        answered = preflight.answers(wanted, submit)
        for remark in [*remarks, *preflight.checked_first(wanted, answered)]:
            self.watcher.says(remark)
        self.budget.asked.update(self.by_spec)
        return answered


def _refuse_second(opened: Engine | Callable[[], Engine], sampled: Sampled) -> None:
    with (opened if isinstance(opened, Engine) else opened()).connect() as connection:
        refuse_second_of(connection, sampled.key)


def fitted_to(sampled: Sampled, relations: Iterable[Relation]) -> Fitted:
    """What the measures of these relations' limits learn from the study's sources."""
    names = {limit.measure for relation in relations for limit in relation.limits}
    return fitted_for(names, lambda: [row.input for _, row in sampled.sources])


def _counts(answered: Answered) -> Counts:
    """The counts of a run that begins with some answers."""
    outputs = [output for by_key in answered.values() for _, output in by_key.values()]
    errors = [output.error for output in outputs if output.error]
    return Counts(executed=len(outputs), failed=len(errors), first_error=next(iter(errors), None))


def _result(
    engine: Engine, study: StudyRow, counts: Counts, relations: Sequence[Bound],
    systems: Mapping[int, BoundSystem], runner: SystemRunner,
) -> RunResult:  # fmt: skip
    """What a run made and found, without what is left."""
    without_groups = _without_groups(engine, study.id, relations)
    with engine.connect() as connection:
        cut = cut_inputs(connection, [study.id], systems)
        notes = inapplicable_notes(connection, [study.id], systems)
    return RunResult(
        study,
        counts,
        [bound.name for bound in relations],
        [system.name for system in runner.by_spec.values()],
        [system.version for system in runner.by_spec.values()],
        without_groups=without_groups,
        rejected=_rejected(engine, study.id, relations),
        inapplicable=notes,
        cut={systems[id].name: number for id, number in cut.items()},
    )


def refuse_misfits(corpus: Corpus, systems: Mapping[str, System], relations: Sequence[Relation]) -> None:
    """Raise AuditError for a system that does not fit the corpus, NotInstalled where something that is needed lacks."""
    for spec, system in systems.items():
        if not any(matches(corpus.task, task) for task in system.tasks):
            raise AuditError(
                f"system {spec} does {', '.join(system.tasks)}, not {corpus.task}; {_advice(spec, system, corpus.task)}"
            )
        if not any(_reads(system, language) for language in languages_of(corpus)):
            raise AuditError(
                f"system {spec} reads {', '.join(system.languages)}, corpus {corpus.name} is in "
                f"{', '.join(languages_of(corpus))}; "
                "choose another system; one of your own says what it reads with `languages`"
            )
        if needs := system.needs():
            raise NotInstalled(f"system {spec} cannot run here; {needs}")
    for relation in relations:
        if absent := next((module for module in relation.needs if find_spec(module) is None), None):
            line = install_line(EXTRAS[absent]) if absent in EXTRAS else f"pip install {absent}"
            raise NotInstalled(f"relation {relation.name} needs {absent}, which is not installed; run: {line}")
        for limit in relation.limits:
            if lacking := measure_of(limit).lacks():
                wanted = (
                    f"the limit on {limit.measure} cannot be looked at here; run: {lacking}, or leave the limit out"
                )
                raise NotInstalled(wanted, parameter="valid")
        relation.full_version  # noqa: B018  (asks its tagger or parser who it is: one that there is not is refused here)
    if needs := corpus.needs():
        raise NotInstalled(f"corpus {corpus.name} is not available; {needs}")
    for spec, system in systems.items():
        _refuse_trained_on(spec, system, corpus)


def _refuse_trained_on(spec: str, system: System, corpus: Corpus) -> None:
    """Raise AuditError for a system that says that it was trained on texts of the corpus."""
    trained_on: Callable[[Input], bool] | None = getattr(system, "trained_on", None)
    seen = [row.key for row in corpus.rows() if trained_on(row.input)] if trained_on else []
    if seen:
        raise AuditError(
            f"system {spec} was trained on {counted(len(seen), 'text')} of corpus {corpus.name}, row {seen[0]} first: "
            "it would look better than it is; take them out of the corpus, or train it on others"
        )


def _advice(spec: str, system: System, task: str) -> str:
    """What to change where a system does not do a corpus' task."""
    wanted = set(task.partition("/")[2].split(","))
    for other in system.tasks:
        if base_of(other) == base_of(task) and set(other.partition("/")[2].split(",")) == wanted:
            return f"these are the same labels in another order, which is another task: write {other} for the corpus"
    if is_own(spec):
        return f'say what your own does, as in classify.tasks = ("{task}",)'
    if spec.endswith(".toml"):
        return f"say what it does in its file, as task or tasks: {task}"
    return "choose another system, or another task"


def _reads(system: System, language: str) -> bool:
    return system.languages == ANY or language in system.languages


def lacks_of(system: System, languages: Sequence[str]) -> Lacks | None:
    """What a system has no output for, of a corpus in these languages: what it says itself, and texts in a language
    that it does not read. None where it has outputs for all."""
    own: Lacks | None = getattr(system, "lacks", None)
    if all(_reads(system, language) for language in languages):
        return own
    return lambda item: (
        not all(_reads(system, language) for language in item.languages[: len(item.texts)])
        or (own is not None and own(item))
    )


def _say_remarks(
    corpus: Corpus, systems: Mapping[str, System], relations: Sequence[Relation], repeats: Repeats, watcher: Watcher
) -> None:
    """Tell the watcher what systems say of themselves, which of them and of the relations leave out a language, which
    are not asked again, and which texts seem to be in another language than they are said to be in."""
    for sentence in _of_other_languages(corpus):
        watcher.says(sentence)
    if repeats.number > 1 and (sure := [spec for spec, system in systems.items() if asked_once(system)]):
        watcher.says(f"asked once, since they say that they always give the same output: {', '.join(sure)}")
    for spec, system in systems.items():
        if unread := [language for language in languages_of(corpus) if not _reads(system, language)]:
            watcher.says(
                f"system {spec} reads {', '.join(system.languages)}; it is not run on the texts in {', '.join(unread)}"
            )
    for remark in dict.fromkeys(getattr(system, "remark", None) for system in systems.values()):
        if remark:
            watcher.says(remark)
    for relation in relations:
        for language in languages_of(corpus):
            if lacking := relation.lacks(language):
                watcher.says(f"relation {relation.name} makes no groups of texts in {language}: {lacking}")


def _of_other_languages(corpus: Corpus) -> Iterator[str]:
    """A sentence for each language of which the first texts of a user's own corpus have hardly a usual word."""
    if not isinstance(corpus, FileCorpus):
        return
    first = [row.input for row in islice(corpus.rows(), _LOOKED_AT)]
    for language in languages_of(corpus):
        texts = [
            text for item in first for text, own in zip(item.texts, item.languages, strict=False) if own == language
        ]
        share = usual_words(texts, language)
        if share is not None and share < _LEAST_USUAL:
            yield (
                f"the texts of {corpus.name} are taken to be in {language}, and do not read like it: {share:.0%} of "
                f"their words are usual ones there; say which language they are in, or each row in a column `language`"
            )


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


def _all_failed(engine: Engine, study_id: int, system_id: int, name: str) -> str | None:
    """What to say of a system whose checks in a study all ended in an error; None of any other.

    Nearly every system has a check without an error, which is found at once; only without one are inputs counted.
    """
    group, verdict = table_of(tables.Group), table_of(tables.Verdict)
    member, output = table_of(tables.Member), table_of(tables.Output)
    groups = select(group.c.id).where(group.c.study_id == study_id)
    checks = select(verdict.c.group_id).where(
        verdict.c.system_id == system_id,
        verdict.c.group_id.in_(groups),
        verdict.c.outcome != int(Outcome.REJECTED),
    )
    inputs = select(member.c.input_id).where(member.c.group_id.in_(groups))
    by_error = (
        select(output.c.error, func.count(output.c.input_id.distinct()).label("number"))
        .where(output.c.system_id == system_id, output.c.input_id.in_(inputs))
        .group_by(output.c.error)
        .order_by(literal_column("number").desc(), output.c.error)
    )
    with engine.connect() as connection:
        right = checks.where(verdict.c.outcome != int(Outcome.ERROR)).limit(1)
        if connection.execute(right).first() or not connection.execute(checks.limit(1)).first():
            return None
        numbers = {row.error: int(row.number) for row in connection.execute(by_error)}
    errors = {error: number for error, number in numbers.items() if error is not None}
    if not errors:
        return None
    failed, total, first = sum(errors.values()), sum(numbers.values()), next(iter(errors))
    of = f"each of its {total:,}" if failed == total else f"{failed:,} of its {total:,}"
    one_each = "" if failed == total else ", at least one in every group"
    return (
        f"system {name} failed on {of} inputs{one_each}, most often with {shortened(first)!r} "
        f"({errors[first]:,} times); the errors are stored, and the same run with retry_errors tries again once the "
        "system works"
    )


def _without_groups(engine: Engine, study_id: int, relations: Sequence[Bound]) -> list[str]:
    """The relations that have no group in a study, by name."""
    group, source = table_of(tables.Group), table_of(tables.Source)
    with engine.connect() as connection:
        ends = select(func.min(source.c.id), func.max(source.c.id)).where(source.c.study_id == study_id)
        of_study = group.c.id.between(*group_ids(*connection.execute(ends).one()))  # by the primary key
        query = select(group.c.id).where(of_study, group.c.study_id == study_id).limit(1)
        return [
            bound.name
            for bound in relations
            if connection.execute(query.where(group.c.relation_id == bound.id)).first() is None
        ]


_LOOKED_AT = 50
"""Sources of which a run looks in which language they are."""
_LEAST_USUAL = 0.1
"""Share of usual words below which texts do not read like their language."""


def _rejected(engine: Engine, study_id: int, relations: Sequence[Bound]) -> dict[str, tuple[int, int]]:
    """Groups of each relation with limits in a study, and how many of them are rejected, by name."""
    names = {bound.id: bound.name for bound in relations if bound.limits}
    if not names:
        return {}
    group, verdict = table_of(tables.Group), table_of(tables.Verdict)
    own = (group.c.study_id == study_id, group.c.relation_id.in_(names))
    groups = select(group.c.relation_id, func.count()).where(*own).group_by(group.c.relation_id)
    rejecting = (
        select(group.c.relation_id, func.count(group.c.id.distinct()))
        .join(verdict, verdict.c.group_id == group.c.id)
        .where(*own, verdict.c.outcome == int(Outcome.REJECTED))
        .group_by(group.c.relation_id)
    )
    with engine.connect() as connection:
        rejected = {int(id): int(number) for id, number in connection.execute(rejecting)}
        return {names[id]: (number, rejected.get(id, 0)) for id, number in connection.execute(groups)}


def bind_systems(
    connection: Connection, corpus: Corpus, runner: SystemRunner, repeats: Repeats, answered: Answered
) -> tuple[dict[int, BoundSystem], set[OutputKey]]:
    """Return the systems of a run by the ids of their rows; what they answered is stored, and told of by system and
    input.

    A system whose outputs that count are made of several calls is one of its own, beside the one that is called.
    """
    systems: dict[int, BoundSystem] = {}
    fresh: set[OutputKey] = set()
    for spec, system in runner.by_spec.items():
        id = base = system_id(connection, system)
        repeated = None if repeats.number == 1 or asked_once(system) else Repeated(base, repeats, corpus.task)
        if repeated is not None and repeats.by_majority:
            id = system_id(connection, system, repeats.settings(system))
        lacks = lacks_of(system, languages_of(corpus))
        systems[id] = BoundSystem(id, spec, system, lacks, meter_of(system), repeated, runner.waits(spec))
        by_key = answered.get(spec, {})
        inputs, _ = store_inputs(connection, {key: item for key, (item, _) in by_key.items()})
        ids = {key: inputs[key] for key in by_key}
        fresh |= {(id, key) for key in by_key}
        if repeated is not None and repeats.by_majority:
            keep_calls(connection, base, ids, [(key, 1, output) for key, (_, output) in by_key.items()])
        elif ids:
            Stored().keep(connection, id, ids, [output for _, output in by_key.values()])
    return systems, fresh


def _bind(
    connection: Connection,
    relations: Sequence[Relation],
    *arguments: Any,
) -> tuple[list[Bound], dict[int, BoundSystem], set[OutputKey]]:
    """As `bind_systems`, with the relations; what plug-ins brought is noted."""
    for task in {relation.task for relation in relations}:
        note_brought(connection, base_of(task), [name for relation in relations for name in parts_of(relation.name)])
    bound = [Bound(relation_id(connection, relation), relation.name, relation) for relation in relations]
    return bound, *bind_systems(connection, *arguments)


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
    )
    wanted = {bound.id for bound in relations}
    sources = select(source.c.id).where(source.c.study_id == study.id).order_by(source.c.id)
    with engine.begin() as connection:
        chunk = {int(id): place // study.chunk for place, id in enumerate(connection.execute(sources).scalars())}
        rows = [
            row for row in connection.execute(failed).all() if row.relation_id in wanted and row.system_id in systems
        ]
        for number, relation, system in sorted({(chunk[row[1]], row[2], row[3]) for row in rows}):
            connection.execute(
                delete(progress).where(
                    progress.c.study_id == study.id,
                    progress.c.chunk == number,
                    progress.c.relation_id == relation,
                    progress.c.system_id == system,
                )
            )
        for piece in pieces(row.id for row in rows if row.of is not None):
            for table, column in ((tables.Verdict, "group_id"), (tables.Member, "group_id"), (tables.Group, "id")):
                gone = table_of(table)
                connection.execute(delete(gone).where(gone.c[column].in_(piece)))


def _todo(
    engine: Engine,
    study: StudyRow,
    relations: Sequence[Bound],
    systems: Mapping[int, BoundSystem],
    retry: bool = False,
) -> dict[int, dict[int, list[Bound]]]:
    """Chunk -> system -> relations that are not noted as finished; chunks with nothing left are absent.

    Where calls on some inputs of a system are lacking, since it was asked less often before, nothing of it is finished.
    """
    with engine.connect() as connection:
        done = finished(connection, study.id)
        anew = {
            id
            for id, bound in systems.items()
            if bound.repeated and not bound.repeated.repeats.by_majority
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


__all__ = ["AllFailed", "LimitReached", "RunResult", "Watcher", "fitting", "fitting_all", "run"]
