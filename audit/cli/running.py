"""Runs: the demo, runs of systems on corpora and what was run, recorded and imported runs, and what there is to run."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

from audit.cli.console import Reply, Rows, answer, chatter_to_stderr, checking_too, fitted_table, one_by_one, say, table
from audit.cli.options import (
    DATA,
    DATABASE,
    INSPECT,
    NONE,
    START,
    Database,
    Names,
    Workers,
    as_options,
    command,
    decimal,
    exclusive,
    flag,
    language_code,
    listed,
    listing,
    name_of,
    open_database,
    place,
    text,
    whole_number,
    written_to,
)
from audit.errors import AuditError, UnknownName
from audit.judging.options import WordsOptions
from audit.keys import canonical
from audit.runner.options import TIME_LIMIT, CorpusOptions, RunOptions

SYSTEMS = ("vader", "textblob", "hiv4", "tfidf-logreg")
CORPORA = (("rotten-tomatoes", 2000), ("imdb", 200))
"""Sentences and documents, and how many of each."""
SEED = 0
ACCOUNTS = (("anna", "annotator"), ("ben", "annotator"), ("ada", "adjudicator"), ("mia", "manager"))
PASSWORD = "audit-demo"


@command(
    "demo",
    START,
    "run, sample, gold and report on bundled reviews, then the app",
    "audit demo",
    "audit demo --no-serve --workers 2",
)
def demo(
    no_serve: Annotated[bool, flag("--no-serve", "stop after the report")] = False,
    db: Annotated[str, text("the database", "PATH|URL")] = "audit-demo.db",
    html: Annotated[str, written_to("where the report is written", "FILE")] = "audit-demo.html",
    port: Annotated[int, whole_number("port of the app", "P")] = 8501,
    workers: Workers = None,
) -> None:
    """Runs the four systems on 2,000 sentences and 200 documents, draws a sample, lets gold answer, reports, and
    serves the app with questions waiting and four accounts, which it prints. Started again, it goes on where it
    stopped.
    """
    from audit.cli.people import check_port, serve
    from audit.cli.reports import reported, write_html
    from audit.corpora import get_corpus
    from audit.false_satisfaction.questions import queue_length
    from audit.judging.labels import answer_with_gold
    from audit.judging.samples import ask_next
    from audit.reports.examples import EXAMPLES
    from audit.reports.study import study_report
    from audit.runner.executors import executor_of
    from audit.runner.fitting import fitting
    from audit.runner.progress import Bar
    from audit.runner.run import run as run_study
    from audit.sampling.options import AUDITED_FOLLOW_UPS, BASE, SampleOptions

    if not no_serve:
        check_port(port, "localhost")
    engine = open_database(db, create=True)
    for name, limit in CORPORA:
        corpus = get_corpus(name)
        say(f"Running {len(SYSTEMS)} systems on {limit:,} {corpus.unit}s of {name}.")
        options = RunOptions(seed=SEED, limit=limit, workers=workers)
        with executor_of(options) as executor, Bar(name, say=say) as bar:
            ran = run_study(engine, corpus, SYSTEMS, fitting(corpus), executor, options, bar)
        say(as_options("\n".join(ran.lines()), "retry_errors"))
    gold = answer_with_gold(engine)
    asked = ask_next(engine, SampleOptions(base=BASE, follow_ups=AUDITED_FOLLOW_UPS))
    waiting, audits = queue_length(engine)
    say(
        f"Gold answers {gold.answered:,} questions; the first {BASE} satisfied groups of each relation and system ask "
        f"about {sum(one.asked for one in asked):,} texts, and {waiting:,} questions wait for people."
        + checking_too(audits)
    )
    report = study_report(engine, examples=EXAMPLES)
    answer(reported(report), as_json=False)
    write_html(report, Path(html))
    _accounts(engine)
    say(f"Accounts of the app, all with the password {PASSWORD}:")
    say("\n".join(f"  {name:6} {role}" for name, role in ACCOUNTS))
    engine.dispose()
    if no_serve:
        say(f"See the app with: audit app --db {db}")
    else:
        serve(db, port)


def _accounts(engine: Any) -> None:
    from audit.judging.accounts import add_account, list_accounts

    names = {account.name for account in list_accounts(engine)}
    for name, role in ACCOUNTS:
        if name not in names:
            add_account(engine, name, role, PASSWORD)


@command(
    "run",
    START,
    "make and check metamorphic groups; run the same command again to resume",
    "audit run --corpus rotten-tomatoes --systems vader,textblob --limit 500",
    "audit run --db mine.db --corpus reviews.csv --systems vader,mine:classify --relations MR1.1,MR3.1 --json",
)
def run(
    corpus: Annotated[
        list[str],
        text(
            "of audit corpora; a table (CSV ...); paws-x:FILE, lcsts:FILE, thucnews:FOLDER, recorded:PATH; repeatable",
            "NAME|FILE",
        ),
    ],
    systems: Annotated[
        Names,
        listed(
            "of audit systems, module:name, http:FILE.toml, chat:FILE.toml, transformers:MODEL, command:PROGRAM, "
            "recorded:PATH, seq2seq:MODEL",
            "A,B",
        ),
    ],
    db: Database = DATABASE,
    dry_run: Annotated[
        bool, flag("--dry-run", "ask no system and store nothing: say what would be asked, and what it costs")
    ] = False,
    read: CorpusOptions = CorpusOptions(),
    options: RunOptions = RunOptions(),
    words: WordsOptions = WordsOptions(),
) -> Reply:
    """Makes the groups of every relation on every source, executes each system once on each distinct input, checks,
    and stores. Before that each system answers three inputs, or nothing is stored; a system with stored outputs is
    asked three of them again, and the run stops where it answers differently now (name it NAME@VERSION then). A run
    that --max-calls or --max-cost stops ends with status 3; run the same command again to resume.
    """
    from audit.relations.registry import with_lines
    from audit.runner.executors import executor_of
    from audit.runner.fitting import fitting_all
    from audit.runner.studies import Later

    corpora = [read.corpus(name) for name in dict.fromkeys(corpus)]
    options = replace(options, parameters=with_lines(corpora[0].task, options.parameters))
    relations = fitting_all(corpora, options)
    own = words.content([source.task for source in corpora])
    if dry_run:
        exclusive(("--dry-run", True), ("--max-calls", options.max_calls), ("--max-cost", options.max_cost))
    with chatter_to_stderr(), executor_of(options) as executor:
        studies = list(zip(corpora, relations, strict=True))
        if dry_run:
            return _forecast(studies, systems, executor, db, options)
        database = Later(db, partial(_set_words, task=corpora[0].task, own=own, change=words.change_words))
        ran = _run_all(studies, systems, executor, database, options)
    documents = [study.as_json() for study in ran]
    lines = [line for study, source in zip(ran, corpora, strict=True) for line in [*study.lines(), *of_gold(source)]]
    lines = [as_options(line, "retry_errors") for line in lines]
    if own:
        lines.append(_words_line(database.engine, corpora[0].task))
    if any(len(study.without_groups) < len(study.relations) for study in ran):
        lines.append(_next(database.engine, db))
    return Reply(documents if len(documents) > 1 else documents[0], lines)


def _forecast(studies: Sequence[Any], systems: Names, executor: Any, db: str, options: RunOptions) -> Reply:
    from audit.runner.forecast import forecasts
    from audit.runner.studies import Sampled
    from audit.store.engine import readable

    sampled = [(Sampled(source, options.seed, options.limit), relations) for source, relations in studies]
    return forecast_reply(forecasts(sampled, systems, executor, readable(db), options))


def _run_all(studies: Sequence[Any], systems: Names, executor: Any, database: Any, options: RunOptions) -> list[Any]:
    """Run on each corpus, with one budget for all."""
    from audit.runner.budget import Budget
    from audit.runner.progress import Bar
    from audit.runner.run import run as run_study

    budget, ran = Budget(options), []
    for source, relations in studies:
        with Bar(source.name, say=say) as bar:
            ran.append(run_study(database, source, systems, relations, executor, options, bar, budget))
    return ran


def _set_words(engine: Any, task: str, own: dict[str, Any], change: bool) -> None:
    from audit.judging.words import set_words

    if own:
        set_words(engine, task, own, change=change)


def _words_line(engine: Any, task: str) -> str:
    from audit.judging.words import guideline_in_force
    from audit.tasks import get_task

    with engine.connect() as connection:
        version = guideline_in_force(connection, task, get_task(task).question_kind).version
    return f"Annotators read the words that you gave: version {version} of the guideline of {task}."


def forecast_reply(forecasts: Sequence[Any]) -> Reply:
    """What a run would ask, a row for each system, and what the numbers rest on."""
    rows = [
        {
            "system": one.system,
            "inputs": _number(one.inputs, one),
            "stored": f"{one.stored:,}",
            "to ask": _number(one.to_ask, one),
            "requests": None if one.calls is None else _number(one.calls, one),
            "characters": _number(one.characters, one),
            "tokens": _number(one.tokens, one),
            "cost": "no price in its file" if one.cost is None else f"{one.cost:,.4g} {one.currency}",
        }
        for one in forecasts
    ]
    lines = [line for one in forecasts for line in _forecast_lines(one)]
    if not all(one.tokens_counted for one in forecasts):
        lines.append("A token is taken to have four characters, where a system has no tokenizer of its own.")
    return Reply([one.as_json() for one in forecasts], [*table(rows), *lines, "Nothing was asked, nothing was stored."])


def _number(number: int, forecast: Any) -> str:
    """A number, with a sign where it may be more."""
    return f"{number:,}" if forecast.is_exact else f"{number:,} or more"


def _forecast_lines(forecast: Any) -> list[str]:
    """What to say of one system: what is not known, and how long it takes."""
    name, lines = forecast.system, []
    if not forecast.is_exact:
        groups = ", ".join(f"{number:,} of {relation}" for relation, number in forecast.hanging.items())
        most = "nobody knows how many" if forecast.most_to_ask is None else f"{forecast.most_to_ask:,} inputs at most"
        lines.append(f"{name}: what these groups want next depends on what it says: {groups}; {most}.")
    if forecast.calls and forecast.seconds is not None:
        lines.append(f"{name}: {forecast.seconds:,.0f} s at least, at the rate in its file.")
    if forecast.calls and forecast.rounds is not None:
        lines.append(
            f"{name}: {forecast.concurrency} requests at once, so {forecast.rounds:,} times as long as one takes; "
            f"`audit systems check` measures one."
        )
    return lines


def of_gold(corpus: Any) -> list[str]:
    """How many rows of a user's file have gold, and which of its columns are kept and not looked at otherwise."""
    from audit.corpora.files import FileCorpus

    if not isinstance(corpus, FileCorpus):
        return []
    rows = corpus.size() or 0
    lines = [f"{corpus.labelled:,} of {rows:,} rows have a gold label."]
    if corpus.attributes:
        lines.append(f"Columns kept as attributes, and not taken for gold: {', '.join(corpus.attributes)}.")
    if 0 < corpus.labelled < rows:
        lines.append("`audit sample` asks people about the others; until then only these count.")
    return lines


@command("runs", INSPECT, "what was run: studies, systems, versions, settings, errors", "audit runs")
def runs(db: Database = DATABASE) -> Reply:
    """What was run in a database, one row for each study and system. A system with another version or other settings
    has a row and outputs of its own, beside the old ones; `number` counts systems in the order in which they were first
    run here, so the later version has the higher one. `began` is when the study was begun (UTC).
    """
    from audit.runner.studies import runs

    rows = runs(open_database(db))
    shown = [
        row
        | {
            "finished": f"{row['finished']:.0%}",
            "number": f"#{row['number']}",
            "began": row["began"][:16].replace("T", " "),
        }
        for row in rows
    ]
    return Reply(rows, table(shown))


@command(
    "import-run",
    DATA,
    "bring a run of your own: groups, outputs, verdicts as JSONL",
    "audit import-run ours.jsonl --db ours.db",
)
def import_run(
    file: Annotated[str, place("FILE.jsonl", "the file")],
    db: Database = DATABASE,
    seed: Annotated[int, whole_number("of the sources' random numbers", "S")] = 0,
) -> Reply:
    """Brings groups that somebody else made and checked, so that they can be sampled, judged and corrected. The file
    is JSONL, a group a line (docs/formats.md).
    """
    from audit.runner.imported import import_run
    from audit.runner.progress import Bar
    from audit.runner.studies import Later

    with Bar(file, say=say, unit="group") as bar:
        imported = import_run(database := Later(db), file, seed, bar)
    engine = database.engine
    counts = asdict(imported)
    document = {name: value for name, value in counts.items() if name != "outcomes"} | imported.outcomes
    if imported.new:
        outcomes = ", ".join(f"{number:,} {name}" for name, number in imported.outcomes.items())
        lines = [
            f"Study {imported.study}: {imported.groups:,} groups of {imported.sources:,} sources, "
            f"{imported.checks:,} checks: {outcomes}."
        ]
    else:
        lines = [f"This file was imported before, as study {imported.study}; nothing was changed."]
    return Reply(document, [*lines, _next(engine, db)])


def _next(engine: Any, db: str) -> str:
    """What comes after a run: gold where there is some, else questions for people."""
    from audit.store.queries import has_gold

    return f"Next: audit {'gold' if has_gold(engine) else 'sample'} --db {db}"


@command(
    "relations",
    DATA,
    "the relations there are",
    "audit relations --task sentiment --language en",
    'audit relations --family "noise in letters" --json',
    "audit relations typos --task sentiment",
)
def relations(
    name: Annotated[str | None, name_of("NAME", "this one alone, with all that is known of it")] = None,
    task: Annotated[str | None, text("only of this task", "TASK")] = None,
    language: Annotated[str | None, language_code("only those that read this language", "CODE")] = None,
    family: Annotated[str | None, text("only of this family", "FAMILY")] = None,
) -> Reply:
    """The relations there are, of every task. `carries` says of which answers about a source it is known what is right
    of the follow-ups, so that nobody is asked about those (everything, partly, nothing), and `preserves_truth` in the
    JSON that every answer stays as it is; `default`, that a run takes it which names no relations. What stands behind a
    summary in brackets can be changed with `audit run --set`. A terminal that is too narrow shows some columns alone.

    `keeps` and `may_break` of a perturbation, in the JSON and behind a NAME, say what stays of a text that it changes,
    and what may break though nobody meant it.
    """
    from audit.relations import all_relations
    from audit.relations.registry import find_relation, get_relation
    from audit.tasks import TASKS

    _check_task(task)
    of_task = all_relations(task)
    if name is not None and task is None:
        of_task = [found for of in sorted(TASKS) if (found := find_relation(of, name))]
        if not of_task:
            raise UnknownName("relation", name, sorted({relation.name for relation in all_relations()}))
    elif name is not None and task is not None:
        of_task = [get_relation(task, name)]
    chosen = [relation for relation in of_task if language is None or relation.speaks(language)]
    if not chosen:
        raise AuditError(f"no relation reads {language!r}; leave it out to see them all", parameter="language")
    if family is not None:
        families = {relation.family for relation in chosen}
        chosen = [relation for relation in chosen if relation.family.lower() == family.strip().lower()]
        if not chosen:
            raise UnknownName("family", family, list(families))

    def with_parameters(rows: Rows) -> list[str]:
        rows = [{field: value for field, value in row.items() if field not in ("keeps", "may_break")} for row in rows]
        own = [
            ", ".join(f"{name}={canonical(value)}" for name, value in relation.params.items()) for relation in chosen
        ]
        ends = [f" ({parameters})" if parameters else "" for parameters in own]
        full = [{**row, "summary": f"{row['summary']}{end}"} for row, end in zip(rows, ends, strict=True)]
        if not sys.stdout.isatty():
            return table(full)
        alike = [name for name in ("task", "languages", "family") if len({str(row[name]) for row in rows}) == 1]
        droppable = dict.fromkeys(["preserves_truth", "unit", *alike, "family", "default", "languages"])
        return fitted_table(full, get_terminal_size().columns, list(droppable))

    return Reply(list(map(_row_of, chosen)), with_parameters if name is None else one_by_one)


def _row_of(relation: Any) -> dict[str, Any]:
    from audit.tasks import get_task

    return {
        "relation": relation.name,
        "task": relation.task,
        "family": relation.family,
        "unit": relation.unit,
        "languages": list(relation.languages),
        "default": relation.default,
        "preserves_truth": relation.carry.preserves_truth,
        "carries": relation.carry.reach(get_task(relation.task).labels),
        "summary": relation.summary,
        "keeps": relation.keeps,
        "may_break": relation.may_break,
    }


@listing("systems", DATA, "the systems there are; check asks one", "audit systems", "audit systems --pairs")
def systems(
    task: Annotated[str | None, text("only for this task", "TASK")] = None,
    pairs: Annotated[
        bool, flag("--pairs", "instead, the pairs of languages of the systems that translate and know theirs")
    ] = False,
) -> Reply:
    """The systems that come along, installed or not; `needs` is the line that installs what is missing. Below the table
    stand the ways to name a system of one's own.
    """
    from audit.systems import listing, pair_listing, ways

    _check_task(task)
    if pairs:
        return Reply(pair_listing(task), table)
    return Reply(listing(task), lambda rows: [*table(rows), "", f"or one of your own: {', '.join(ways())}"])


@command(
    "systems check",
    DATA,
    "ask a system a few inputs: what it says, how long it takes, what it costs",
    "audit systems check vader",
    "audit systems check http:service.toml --corpus rotten-tomatoes --json",
)
def systems_check(
    system: Annotated[str, name_of("SYSTEM", "as in audit run --systems")],
    given: Annotated[
        list[str],
        text("a text to ask about; repeatable; for a task on pairs every two are one", "TEXT", "--text"),
    ] = NONE,
    corpus: Annotated[str | None, text("ask about its first three sources instead", "NAME|FILE")] = None,
    time_limit: Annotated[
        float, decimal("that a system of yours may take to load, and for an input", "SECONDS")
    ] = TIME_LIMIT,
    read: CorpusOptions = CorpusOptions(),
) -> Reply:
    """Asks a system about three texts, yours or ours, each alone, and stores nothing: what it said, the output that is
    stored of that, seconds, version, settings, and what the requests cost. Where it answers none, the exit status is 2.
    """
    from audit.runner.system_check import check_system, refuse_absent

    _check_task(read.task)
    source = read.corpus(corpus) if corpus else None
    with chatter_to_stderr():
        check = check_system(system, texts=given, corpus=source, task=read.task, limit=time_limit)
    refuse_absent(check)
    return Reply(check.as_json(), check_lines(check))


def check_lines(check: Any) -> list[str]:
    """A check of a system for people: a row for each input, then what it is and what it costs."""
    rows = [
        {
            "text": shortened(" | ".join(answer.texts)),
            "said": ", ".join(map(shortened, answer.said)) or None,
            "output": shortened(str(answer.error or answer.label or answer.text or "")),
            "score": None if answer.score is None else f"{answer.score:.3f}",
            "seconds": f"{answer.seconds:.3f}",
        }
        for answer in check.answers
    ]
    settings = canonical(check.settings) if check.settings else "none"
    lines = [*table(rows), f"{check.system}, version {check.version}, task {check.task}, settings {settings}."]
    if check.calls is not None:
        cost = "no price in its file" if check.cost is None else f"about {check.cost:,.4g} {check.currency}"
        lines.append(f"{check.calls} requests to another machine: {cost}.")
    if failed := sum(answer.error is not None for answer in check.answers):
        lines.append(f"It failed on {failed} of {len(check.answers)} inputs.")
    return lines


def shortened(text: str) -> str:
    """A text in a cell of a table."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


@command("corpora", DATA, "the corpora there are", "audit corpora")
def corpora(task: Annotated[str | None, text("only for this task", "TASK")] = None) -> Reply:
    """The corpora that are known, installed or not; `size` counts rows, `null` where it cannot be read. `task` is the
    task with its label scheme, where it has one.
    """
    from audit.corpora import listing

    _check_task(task)
    rows = listing(task)
    return Reply(rows, table)


def _check_task(task: str | None) -> None:
    from audit.tasks import get_task

    if task is not None:
        get_task(task)
