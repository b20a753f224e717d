"""A study in a notebook or a script: run or search, then sample, answer, report, compare."""

import shutil
import tempfile
import warnings
import weakref
from collections.abc import Mapping
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pandas as pd
from sqlalchemy import Engine, and_, func, select

from audit.corpora import Corpus
from audit.errors import AuditError
from audit.exchange.follow_ups import follow_ups_report
from audit.false_satisfaction.questions import BEHIND
from audit.judging.judges import ask_judge
from audit.judging.labels import Role, answer_with_gold, frame_labels, import_labels, read_labels
from audit.judging.options import JudgeRequest, WordsOptions
from audit.judging.samples import ask_next
from audit.judging.words import set_words
from audit.library.components import Texts, corpus_of, judge_of, system_names, using
from audit.library.results import Agreement, Comparison, Report
from audit.messages import counted
from audit.options import spread
from audit.relations import Outcome
from audit.relations.registry import with_lines
from audit.reports.agreement import agreement_report
from audit.reports.compare import compare as compare_versions
from audit.reports.document import Entry
from audit.reports.judges import judges_report
from audit.reports.options import CompareOptions, FollowUpOptions, ReportOptions
from audit.reports.ratings import stored_ratings
from audit.reports.study import study_report
from audit.reports.validity import validity_report
from audit.runner.budget import Budget
from audit.runner.executors import executor_of
from audit.runner.fitting import fitting_all
from audit.runner.options import CommonOptions, CorpusOptions, RunOptions, SearchOptions
from audit.runner.progress import Bar, Watcher
from audit.runner.run import LimitReached, RunResult
from audit.runner.run import run as run_study
from audit.runner.search import SearchResult, searchable
from audit.runner.search import search as search_corpus
from audit.runner.studies import Later
from audit.sampling.options import FRONT, SampleOptions
from audit.store import core, open_store
from audit.tasks import Input, text_columns
from audit.tasks.questions import SCALES
from audit.user_models import checked_arguments

Chosen = TypeVar("Chosen", bound=CommonOptions)
_WAITING = and_(core.question.c.priority < BEHIND, core.question.c.kind.not_in(SCALES))


@spread
@checked_arguments
def run(
    corpus: Texts,
    systems: object,
    *,
    store: str | Path | None = None,
    name: str | None = None,
    progress: bool = True,
    own_words: WordsOptions = WordsOptions(),
    read: CorpusOptions = CorpusOptions(),
    options: RunOptions = RunOptions(workers=0),
) -> "Study":
    """Make metamorphic groups of a corpus, execute the systems on them, check them, and store everything.

    `corpus` is a name (`audit.all_corpora()`), a file, a DataFrame with the columns of one, an iterable of texts
    or of pairs (text, gold), or a `Corpus`. `systems` are names (`audit.all_systems()`), functions of a text, objects
    with `predict(texts)`, or `module:name`, in a list, or by name in a dict; processes (`workers`) must be able to
    import them. `store` is the database, a file or the URL of a PostgreSQL; None: a temporary file, deleted with the
    study. `name` names a corpus made from a frame or from texts.

    Repeating the call executes nothing twice. A system with outputs in the store is asked three of their inputs again,
    and where it answers otherwise the run stops: it needs another `version`. A run that `max_calls` or `max_cost` stops
    warns; the same call goes on. Raises AuditError for whatever cannot be run, before anything is stored.

    >>> study = run(["A good film.", "A bad film."], ["vader"], ["MR1.1", "MR3.1"])
    >>> study
    Study of texts: 2 sources, 2 relations, 1 system; 2 groups satisfied, 0 sources drawn, 0 questions waiting
    """
    corpus, names, options = _prepared(corpus, systems, read, options, name)
    (relations,) = fitting_all([corpus], options)
    words = own_words.content([corpus.task])
    folder: str | None = None
    if store is None:
        folder = tempfile.mkdtemp(prefix="audit-")
        store = Path(folder) / "audit.db"

    def begin(engine: Engine) -> None:
        if words:
            set_words(engine, corpus.task, corpus.name, words, change=own_words.change_words)

    database = Later(str(store), begin)
    budget = Budget(options)
    budget.asked = ASKED.get(budget.asked)
    bar = Bar(corpus.name, leave=False, say=_warn) if progress else nullcontext(_Warner())
    try:
        with executor_of(options) as executor, bar as watcher, using(names):
            ran = run_study(database, corpus, names, relations, executor, options, watcher, budget)
    except LimitReached as reached:
        _warn(str(reached))
        ran = reached.ran
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return Study(database.engine, str(store), ran, folder)


def _prepared(
    corpus: Texts, systems: object, read: CorpusOptions, options: Chosen, name: str | None = None
) -> tuple[Corpus, list[str], Chosen]:
    """Return the texts, the names of the systems and the options of a run or a search."""
    texts = corpus_of(corpus, read, name)
    names = system_names(systems, texts)
    return texts, names, replace(options, parameters=with_lines(texts.task, options.parameters))


@spread
@checked_arguments
def search(
    corpus: Texts,
    system: object,
    *,
    store: str | Path | None = None,
    progress: bool = True,
    read: CorpusOptions = CorpusOptions(),
    options: SearchOptions = SearchOptions(workers=0),
) -> SearchResult:
    """The strongest violation of one system that relations, alone and one after the other, make of each source.

    Corpus and system are as of `run`; without `store` outputs are kept only until the search ends. The result has
    `found`, one entry a source, and `frame()`. It was searched for, not drawn: no rate comes from it. Raises AuditError
    for what cannot be searched.

    >>> def calm(text):
    ...     return "negative" if text.isupper() else "positive"
    >>> result = search(["A good film."], {"calm": calm}, ["MR1.4", "MR3.1"], budget=10, progress=False)
    >>> result.found[0].violation.relation
    'MR3.1'
    """
    texts, names, options = _prepared(corpus, system if isinstance(system, Mapping) else [system], read, options)
    if len(names) != 1:
        raise AuditError(f"system has {len(names)} systems: {', '.join(names)}; search one at a time")
    relations = searchable(texts, options)
    bar = Bar(texts.name, leave=False) if progress else nullcontext()
    with nullcontext(str(store)) if store is not None else tempfile.TemporaryDirectory(prefix="audit-") as place:
        database = Later(place if store is not None else str(Path(place) / "audit.db"))
        try:
            with executor_of(options) as executor, bar as watcher, using(names):
                return search_corpus(database, texts, names[0], relations, executor, options, watcher)
        finally:
            if "engine" in vars(database):
                database.engine.dispose()


ASKED: ContextVar[set[str]] = ContextVar("asked")
"""The systems that stored inputs need not be asked of again: tests of one session share them (`Budget.asked`)."""


class _Warner(Watcher):
    """What a run without a bar has to say, such as relations that make no groups here."""

    def says(self, sentence: str) -> None:
        _warn(sentence)


def _warn(sentence: str) -> None:
    warnings.warn(sentence, stacklevel=2)


@checked_arguments
def open(store: str | Path) -> "Study":
    """The studies of an existing database: a file, or the URL of a PostgreSQL. Raises AuditError."""
    return Study(open_store(str(store)), str(store))


class Study:
    """The groups, samples, questions and answers of a database. Methods that change it return the study."""

    def __init__(self, engine: Engine, store: str, ran: RunResult | None = None, folder: str | None = None):
        self.engine = engine
        self.store = store
        """The database, for `audit.open` and the command `audit app`."""
        self.ran = ran
        """What `audit.run` did."""
        self._end = weakref.finalize(self, _release, engine, folder)

    @spread
    @checked_arguments
    def sample(self, options: SampleOptions = FRONT) -> "Study":
        """Ask the next round: at first so many satisfied groups of each relation and system (20 where neither `base`
        nor `share` is there), then those texts that decide which system is best. What was drawn stays. Raises
        AuditError.
        """
        ask_next(self.engine, options)
        return self

    @checked_arguments
    def answer_with_gold(self) -> "Study":
        """Let the gold labels of the corpus answer the questions that they can."""
        answer_with_gold(self.engine)
        return self

    @checked_arguments
    def answer(
        self,
        labels: pd.DataFrame | str | Path,
        *,
        language: str = "en",
        task: str | None = None,
        role: Role = "annotator",
        columns: Mapping[str, str] | None = None,
    ) -> "Study":
        """Store labels that people gave, as a frame, a table or Label Studio's JSON: each is a vote of its annotator.

        Its columns: label, annotator, and text (`text_b`, `target_language`, `output` and `language` where the task has
        such), as in the frame of `questions`. `columns` has our name -> the file's. With `role="adjudicator"` labels
        are decisions, which go before all votes; a column `reason` says why. Raises AuditError with the rows that are
        wrong, and stores nothing then.
        """
        read = frame_labels(labels) if isinstance(labels, pd.DataFrame) else read_labels(labels, columns or {})
        imported = import_labels(self.engine, read, task=task, language=language, all_known=True, role=role)
        for reason, number in imported.unmatched.items():
            warnings.warn(f"{number:,} labels are not used, first {imported.first[reason]}: {reason}", stacklevel=3)
        if imported.too_few:
            warnings.warn(
                f"{counted(imported.too_few, 'question')} answered by fewer people than `annotators` of `sample` asks: "
                "those labels count once others have answered, too",
                stacklevel=3,
            )
        return self

    @spread
    @checked_arguments
    def judge_with(self, judge: object, *, name: str | None = None, request: JudgeRequest = JudgeRequest()) -> "Study":
        """Let a judge that is a model answer what people are asked, under its own name: never a vote.

        `judge` is a function of a question (`audit.systems.judge.Asked`) that returns one of its labels or "unsure",
        `module:name` of one, or `chat:FILE.toml`. With `everything` it is a proxy: `report(proxy="judge:NAME")`. What
        it has answered is not asked again. Raises AuditError.

        >>> study = run(["A good film.", "A bad film."], ["vader"], ["MR3.1"]).sample(2)
        >>> study = study.judge_with(lambda asked: "positive" if "good" in asked.text else "negative", name="simulated")
        >>> study.judges()[0]["tasks"][0]["answered"]
        2
        """
        result = ask_judge(self.engine, judge_of(judge, name), request)
        if result.errors:
            warnings.warn(
                f"{counted(result.errors, 'question')} without an answer, which are asked again by the same call; the "
                f"last: {result.last_error}",
                stacklevel=3,
            )
        return self

    def judges(self) -> list[Entry]:
        """How each judge does against the settled answers of people, against gold, and against itself when it is asked
        in another way: the entries of `audit judge agreement`. Raises AuditError where none was asked."""
        return judges_report(self.engine)["judges"]  # type: ignore[no-any-return]

    def questions(self) -> pd.DataFrame:
        """The questions without an answer, the most useful first.

        Columns: task, kind (input, pair or group), text, and `text_b` where a task compares two texts, language, and
        `target_language` where it translates, output, and groups, the number of drawn groups that wait for it. With the
        columns label and annotator it is what `answer` takes.
        """
        question, input_table = core.question, core.input_table
        query = (
            select(question, input_table.c.texts, input_table.c.languages)
            .join(input_table, input_table.c.id == question.c.input_id)
            .where(_WAITING)
            .order_by(question.c.priority, question.c.waits.desc(), question.c.id)
        )
        with self.engine.connect() as connection:
            stored = [(row, Input.stored(row.texts, row.languages)) for row in connection.execute(query)]
        texts = text_columns(max((len(task_input.texts) for _, task_input in stored), default=1))
        translates = any(task_input.target for _, task_input in stored)
        rows = [
            {
                "task": row.task,
                "kind": row.kind,
                "language": task_input.languages[0],
                "target_language": task_input.target,
            }
            | {**dict(zip(texts, task_input.texts, strict=False)), "output": row.output, "groups": row.waits}
            for row, task_input in stored
        ]
        columns = ["task", "kind", *texts, "language", *["target_language"] * translates, "output", "groups"]
        return pd.DataFrame(rows, columns=columns)

    @spread
    @checked_arguments
    def follow_ups(self, options: FollowUpOptions = FollowUpOptions()) -> pd.DataFrame:
        """How far follow-ups are from their sources: what limits (`valid` of `run`) are chosen by.

        A row for each relation of each study and measure. Columns: study, corpus, task, relation, limits, groups,
        rejected, rejected_share, measured, tried, would_reject, measure, better (the end of what is close to the
        source), least, low (5 %), median, high (95 %), most, unknown. Raises AuditError.
        """
        return follow_ups_report(self.engine, **vars(options)).tables["measured"].frame

    @spread
    @checked_arguments
    def report(self, options: ReportOptions = ReportOptions(examples=20)) -> Report:
        """Observed and genuine rates, who is best before and after, and how sure that is. Raises AuditError."""
        return Report(study_report(self.engine, **vars(options)))

    @checked_arguments
    def agreement(self, task: str | None = None) -> Agreement:
        """How far the annotators agree. Raises AuditError where nobody judged what somebody else did."""
        return Agreement(agreement_report(stored_ratings(self.engine, task)))

    @checked_arguments
    def validity(self) -> Entry:
        """How people rated the originals and follow-ups of the validity study, by relation.

        The document of `audit validity report`. Raises AuditError where nothing was drawn or rated.
        """
        return validity_report(self.engine)

    def close(self) -> None:
        """Close the database; a temporary one is deleted."""
        self._end()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        number = func.count()
        counts = [select(number).select_from(table) for table in (core.source, core.relation, core.system)]
        counts += [
            select(number).where(core.verdict.c.outcome == int(Outcome.SATISFIED)),
            select(func.count(core.draw.c.source_id.distinct())),
            select(number).where(_WAITING),
        ]
        with self.engine.connect() as connection:
            corpora = connection.execute(select(core.study.c.corpus).order_by(core.study.c.id)).scalars().all()
            sources, relations, systems, satisfied, drawn, waiting = (connection.scalar(query) or 0 for query in counts)
        return (
            f"Study of {', '.join(dict.fromkeys(corpora)) or 'nothing'}: {counted(sources, 'source')}, "
            f"{counted(relations, 'relation')}, {counted(systems, 'system')}; {satisfied:,} groups satisfied, "
            f"{drawn:,} sources drawn, {counted(waiting, 'question')} waiting"
        )


def _release(engine: Engine, folder: str | None) -> None:
    engine.dispose()
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


@spread
@checked_arguments
def compare(
    old: str,
    new: str,
    store: str | Path | Study | None = None,
    *,
    options: CompareOptions = CompareOptions(),
) -> Comparison:
    """Compare two versions of a system on the groups that apply to both: what was fixed and what broke.

    `old` and `new` are systems (`name`, `name@version`, the beginning of that, or `#id`) of the database `store`, a
    file, URL or `Study`. Raises AuditError for a name that fits none or several, and where they share no group.

    >>> import audit
    >>> def old(text):
    ...     return "negative" if "bad" in text.lower() else "positive"
    >>> def new(text):
    ...     return "negative" if "bad" in text else "positive"
    >>> study = audit.run(["A good film.", "A bad film."], [old, new], ["MR3.1"], progress=False)
    >>> compared = compare("old", "new", study)
    >>> compared.all["groups"], compared.all["broke"], len(compared.fixed)
    (2, 1, 0)
    >>> compared.broke[["texts", "output_old", "output_new"]].values.tolist()
    [['A bad film.', 'negative', 'negative'], ['A BAD FILM.', 'negative', 'positive']]
    """
    engine = store.engine if isinstance(store, Study) else open_store(str(store or "audit.db"))
    return Comparison(compare_versions(old, new, engine, **vars(options)))
