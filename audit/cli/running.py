"""Runs: the demo, runs and searches of systems on corpora, imported runs, and what there is to run."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any

from audit.cli.console import Reply, answer, chatter_to_stderr, one_by_one, say, table
from audit.cli.options import (
    DATA,
    DATABASE,
    INSPECT,
    START,
    Database,
    Db,
    Read,
    Workers,
    Written,
    as_options,
    command,
)
from audit.errors import AuditError, UnknownName
from audit.judging.options import WordsOptions
from audit.keys import canonical
from audit.options import Told
from audit.runner.options import TIME_LIMIT, CorpusOptions, RunOptions, SearchOptions

SYSTEMS = ("vader", "textblob", "hiv4", "tfidf-logreg")
CORPORA = (("rotten-tomatoes", 2000), ("imdb", 200))
"""Of the demo: sentences and documents, and how many of each."""
ACCOUNTS = (("anna", "annotator"), ("ben", "annotator"), ("ada", "adjudicator"), ("mia", "manager"))
PASSWORD = "audit-demo"
HTML, DEMO = Written("audit-demo.html"), Db("audit-demo.db")
OfTask = Annotated[str | None, Told("only for this task", "TASK")]


@command("demo", START, "audit demo --no-serve --workers 2")
def demo(
    no_serve: Annotated[bool, Told("stop after the report")] = False,
    db: Database = DEMO,
    html: Annotated[Written, Told("where the report is written", "FILE")] = HTML,
    port: Annotated[int, Told("port of the app", "P")] = 8501,
    workers: Workers = None,
) -> None:
    """Run, sample, gold and report on bundled reviews, then the app.

    Four systems, 2,000 sentences and 200 documents. Started again, it goes on where it stopped."""
    from audit.cli.people import check_port, serve
    from audit.cli.reports import report
    from audit.judging.accounts import add_account, list_accounts
    from audit.judging.labels import answer_with_gold
    from audit.judging.samples import ask_next
    from audit.sampling.options import AUDITED_FOLLOW_UPS, BASE, SampleOptions

    if not no_serve:
        check_port(port, "localhost")
    for name, limit in CORPORA:
        say(f"Running {len(SYSTEMS)} systems on {limit:,} rows of {name}.")
        ran = run([name], SYSTEMS, db, options=RunOptions(limit=limit, workers=workers))
        say("\n".join(ran.lines))  # type: ignore[arg-type]
    gold = answer_with_gold(db.engine)
    ask_next(db.engine, SampleOptions(base=BASE, follow_ups=AUDITED_FOLLOW_UPS))
    say(f"Gold answers {gold.answered:,} questions.\n{waiting_of(db.engine)[1]}")
    answer(report(db), as_json=False)
    report(db, html=html)
    present = {account.name for account in list_accounts(db.engine)}
    for name, role in ACCOUNTS:
        if name not in present:
            add_account(db.engine, name, role, PASSWORD)
    people = "\n".join(f"  {name:6} {role}" for name, role in ACCOUNTS)
    say(f"Accounts of the app, all with the password {PASSWORD}:\n{people}")
    db.engine.dispose()
    if no_serve:
        say(f"See the app with: audit app --db {db}")
    else:
        serve(db, port)


def waiting_of(engine: Any) -> tuple[dict[str, int], str]:
    """Return how many questions wait, those that only check what relations carry apart, and the sentence of it."""
    from audit.false_satisfaction.questions import queue_length

    waiting, behind = queue_length(engine)
    sentence = f"{waiting:,} questions wait for people."
    if behind:
        sentence += f" {behind:,} more come after all others: they only check the answers that relations carry."
    return {"waiting": waiting, "audits": behind}, sentence


@command(
    "run",
    START,
    "audit run --corpus rotten-tomatoes --systems vader,textblob --limit 500",
    "audit run --db mine.db --corpus reviews.csv --systems vader,mine:classify --relations MR1.1,MR3.1 --json",
)
def run(
    corpus: Annotated[
        list[str],
        Told("of audit corpora; a table (CSV ...); paws-x:FILE, lcsts:FILE, thucnews:FOLDER, recorded:PATH; repeatable",
             "NAME|FILE"),
    ],
    systems: Annotated[
        Sequence[str],
        Told("of audit systems, module:name, http:FILE.toml, chat:FILE.toml, transformers:MODEL, command:FILE.toml, "
             "recorded:PATH, seq2seq:MODEL", "A,B", commas=True),
    ],
    db: Database = DATABASE,
    dry_run: Annotated[bool, Told("ask and store nothing: say what would be asked, and what it costs")] = False,
    read: CorpusOptions = CorpusOptions(),
    options: RunOptions = RunOptions(),
    words: WordsOptions = WordsOptions(),
) -> Reply:  # fmt: skip
    """Make and check metamorphic groups; repeat it to resume.

    See runs (docs/how-to/run.md). A system with stored outputs is asked three of them again, and the run stops where
    it answers differently now (name it NAME@VERSION then). A run that a limit stops ends with status 3."""
    from audit.relations.registry import with_lines
    from audit.runner.fitting import fitting_all
    from audit.runner.studies import Later

    corpora = [read.corpus(name) for name in dict.fromkeys(corpus)]
    task = corpora[0].task
    options = replace(options, parameters=with_lines(task, options.parameters))
    studies = list(zip(corpora, fitting_all(corpora, options), strict=True))
    own = words.content([source.task for source in corpora])
    if dry_run:
        return _forecast(studies, systems, db, options)

    def begin(engine: Any) -> None:
        if own:
            from audit.judging.words import set_words

            for source in corpora:
                set_words(engine, task, source.name, own, change=words.change_words)

    database = Later(db, begin)
    results = _run_all(database, studies, systems, options)
    lines = [as_options(line, "retry_errors") for ran in results for line in ran.lines()]
    lines += [line for source in corpora for line in _of_gold(source)]
    documents = [ran.as_json() for ran in results]
    made = any(len(ran.without_groups) < len(ran.relations) for ran in results)
    return Reply(documents if len(documents) > 1 else documents[0], lines, _next(database.engine, db) if made else ())


def _run_all(database: Any, studies: Sequence[Any], systems: Sequence[str], options: RunOptions) -> list[Any]:
    """Run on each corpus, with one budget for all."""
    from audit.runner.budget import Budget
    from audit.runner.executors import executor_of
    from audit.runner.progress import Bar
    from audit.runner.run import run as run_study

    budget, results = Budget(options), []
    with chatter_to_stderr(), executor_of(options) as executor:
        for source, relations in studies:
            with Bar(source.name, say=say) as bar:
                results.append(run_study(database, source, systems, relations, executor, options, bar, budget))
    return results


def _forecast(studies: Sequence[Any], systems: Sequence[str], db: str, options: RunOptions) -> Reply:
    """What a run would ask, a row for each system, and what the numbers rest on."""
    from audit.runner.executors import executor_of
    from audit.runner.forecast import forecasts
    from audit.runner.studies import Sampled
    from audit.store.engine import readable

    sampled = [(Sampled(source, options.seed, options.limit), relations) for source, relations in studies]
    with chatter_to_stderr(), executor_of(options) as executor:
        rows = forecasts(sampled, systems, executor, readable(db), options)
    shown = [
        {name.replace("_", " "): one[name] for name in ("system", "inputs", "stored", "to_ask", "calls", "characters")}
        | {"tokens": one["tokens"], "seconds at least": None if one["seconds"] is None else round(one["seconds"])}
        | {"cost": "no price in its file" if one["cost"] is None else f"{one['cost']:,.4g} {one['currency']}"}
        for one in rows
    ]
    lines = [
        f"{one['system']}: all is at least, since what these groups want next depends on what it says: "
        f"{', '.join(f'{number:,} of {relation}' for relation, number in one['hanging'].items())}."
        for one in rows
        if not one["exact"]
    ]
    if not all(one["tokens_counted"] for one in rows):
        lines.append("A token is taken to have four characters, where a system has no tokenizer of its own.")
    lines.append("Nothing was asked, nothing was stored. `audit check` measures how long a request takes.")
    return Reply(rows, [*table(shown), *lines])


def _of_gold(corpus: Any) -> list[str]:
    """Say how many rows of a user's file have gold, and which of its columns are kept and not looked at otherwise."""
    from audit.corpora.files import FileCorpus

    if not isinstance(corpus, FileCorpus):
        return []
    lines = [f"{corpus.labelled:,} of {corpus.size() or 0:,} rows have a gold label."]
    if corpus.attributes:
        lines.append(f"Columns kept as attributes, and not taken for gold: {', '.join(corpus.attributes)}.")
    return lines


def _next(engine: Any, db: str) -> tuple[str, ...]:
    """What comes after a run: gold where there is some, else questions for people."""
    from audit.store.outcomes import has_gold

    return ("gold" if has_gold(engine) else "sample", "--db", db)


@command("runs", INSPECT, "audit runs")
def runs(db: Database = DATABASE) -> Reply:
    """What was run: studies, systems, versions, errors.

    A system with another version or other settings has a row of its own; `number` counts systems as they were first
    run."""
    from audit.runner.studies import runs

    rows = runs(db.engine)
    shown = [row | {"number": f"#{row['number']}", "finished": f"{row['finished']:.0%}"} for row in rows]
    return Reply(rows, table(shown))


@command("import-run", DATA, "audit import-run ours.jsonl --db ours.db")
def import_run(
    file: Annotated[Read, Told("the file", "FILE.jsonl", argument=True)],
    db: Database = DATABASE,
) -> Reply:
    """Bring a run of your own: groups, outputs, verdicts as JSONL.

    A group a line (docs/formats.md). The same file again changes nothing."""
    from audit.runner.imported import import_run
    from audit.runner.progress import Bar
    from audit.runner.studies import Later

    with Bar(file, say=say, unit="group") as bar:
        imported = import_run(database := Later(db), file, watcher=bar)
    document = asdict(imported)
    document |= document.pop("outcomes")
    return Reply(document, None, _next(database.engine, db))


@command("search", INSPECT, "audit search --corpus reviews.csv --systems vader --budget 30 --out found.jsonl")
def search(
    corpus: Annotated[str, Told("as of audit run", "NAME|FILE")],
    systems: Annotated[Sequence[str], Told("the one to search, as of audit run", "NAME", commas=True)],
    db: Database = DATABASE,
    out: Annotated[Written | None, Told("what was found: CSV, or JSONL (for audit export --search)", "FILE")] = None,
    read: CorpusOptions = CorpusOptions(),
    options: SearchOptions = SearchOptions(),
) -> Reply:
    """The strongest violation of one system, source by source.

    See search (docs/how-to/search.md). What is found was searched for, not drawn: no rate comes from it. Run the same
    command again to resume."""
    from audit.relations.registry import with_lines
    from audit.runner.executors import executor_of
    from audit.runner.progress import Bar
    from audit.runner.search import search as search_corpus
    from audit.runner.search import searchable
    from audit.runner.studies import Later

    if len(systems) != 1:
        raise AuditError(f"--systems {','.join(systems)}: search one system at a time")
    if out is not None and not out.endswith((".csv", ".jsonl")):
        raise AuditError(f"--out {out}: the name ends with .csv or .jsonl, which says how it is written")
    source = read.corpus(corpus)
    options = replace(options, parameters=with_lines(source.task, options.parameters))
    relations = searchable(source, options)
    with chatter_to_stderr(), executor_of(options) as executor, Bar(source.name, say=say) as bar:
        result = search_corpus(Later(db), source, systems[0], relations, executor, options, bar)
    if out is not None:
        result.write(out)
    document = result.as_json()
    rows = [
        {
            "relation": found.relation,
            "changed": f"{found.changed:.0%}",
            "fall": f"{found.fall:+.2f}",
            "calls": one.calls,
            "row": one.row,
            "becomes": " | ".join(text[:80] for text in found.follow_ups[-1].texts),
        }
        for one in result.violated[:10]
        if (found := one.violation)
    ]
    about = {name: value for name, value in document.items() if isinstance(value, str | int | float)}
    lines = [*one_by_one([about]), "", f"The strongest of {len(result.violated):,} violations:", *table(rows)]
    return Reply(document, lines, status=3 if result.stopped else 0)


@command("relations", DATA, "audit relations --task sentiment --language en", "audit relations typos --task sentiment")
def relations(
    name: Annotated[str | None, Told("this one alone, with all that is known of it", "NAME", argument=True)] = None,
    task: OfTask = None,
    language: Annotated[str | None, Told("only those that read this language", "CODE")] = None,
) -> Reply:
    """The relations there are.

    `carries`: of which answers about a source it is known what is right of the follow-ups (everything, partly,
    nothing); `default`: that a run takes it which names no relations. What stands behind a summary in brackets can be
    changed with `audit run --set`. A NAME, and the JSON, also say what a relation keeps, and may break."""
    from audit.relations import all_relations
    from audit.relations.registry import find_relation
    from audit.tasks import TASKS

    _check_task(task)
    found = all_relations(task)
    if name is not None:
        found = [one for of in ([task] if task else sorted(TASKS)) if (one := find_relation(of, name))]
        if not found:
            raise UnknownName("relation", name, sorted({relation.name for relation in all_relations(task)}))
    found = [one for one in found if language is None or one.speaks(language)]
    if not found:
        raise AuditError(f"no relation reads {language!r}; leave it out to see them all", parameter="language")
    rows = [_row_of(relation) for relation in found]
    if name is not None:
        return Reply(rows, one_by_one(rows))
    shown = ("relation", "task", "family", "unit", "languages", "default", "carries", "summary")
    columns = [{column: row[column] for column in shown} for row in rows]
    for row, relation in zip(columns, found, strict=True):
        if settings := ", ".join(f"{name}={canonical(value)}" for name, value in relation.params.items()):
            row["summary"] += f" ({settings})"
    return Reply(rows, table(columns))


def _row_of(relation: Any) -> dict[str, Any]:
    from audit.tasks import get_task

    own = {name: getattr(relation, name) for name in ("task", "family", "unit", "languages", "default")}
    carry = relation.carry
    own |= {"preserves_truth": carry.preserves_truth, "carries": carry.reach(get_task(relation.task).labels)}
    own |= {name: getattr(relation, name) for name in ("summary", "keeps", "may_break")}
    return {"relation": relation.name} | own | {"languages": list(relation.languages)}


@command("systems", DATA, "audit systems", "audit systems --pairs")
def systems(
    task: OfTask = None, pairs: Annotated[bool, Told("instead, the pairs of languages of those that translate")] = False
) -> Reply:
    """The systems there are.

    `needs` is the line that installs what is missing. Below stand the ways to name one of your own."""
    from audit.systems import listing, pair_listing, ways

    _check_task(task)
    rows = pair_listing(task) if pairs else listing(task)
    return Reply(rows, table(rows) if pairs else [*table(rows), "", f"or one of your own: {', '.join(ways())}"])


@command("check", DATA, "audit check vader", "audit check http:service.toml --corpus rotten-tomatoes --json")
def check(
    system: Annotated[str, Told("as in audit run --systems", "SYSTEM", argument=True)],
    texts: Annotated[
        Sequence[str],
        Told("a text to ask about; repeatable; for a task on pairs every two are one", "TEXT", "--text"),
    ] = (),
    corpus: Annotated[str | None, Told("ask about its first three sources instead", "NAME|FILE")] = None,
    time_limit: Annotated[float, Told("that it may take to load, and for an input", "SECONDS")] = TIME_LIMIT,
    read: CorpusOptions = CorpusOptions(),
) -> Reply:
    """Ask a system a few inputs: what it says, how long, what cost.

    Nothing is stored. Where it answers none, the exit status is 2."""
    from audit.runner.system_check import check_system, refuse_absent

    _check_task(read.task)
    source = read.corpus(corpus) if corpus else None
    with chatter_to_stderr():
        check = check_system(system, texts=texts, corpus=source, task=read.task, limit=time_limit)
    refuse_absent(check)
    rows = [
        {
            "text": " | ".join(answer.texts)[:60],
            "said": ", ".join(answer.said)[:60],
            "output": str(answer.error or answer.label or answer.text or "")[:60],
            "score": None if answer.score is None else f"{answer.score:.3f}",
            "seconds": f"{answer.seconds:.3f}",
        }
        for answer in check.answers
    ]
    document = check.as_json()
    about = {name: value for name, value in document.items() if name != "answers"}
    return Reply(document, [*table(rows), "", *one_by_one([about])])


@command("corpora", DATA, "audit corpora")
def corpora(task: OfTask = None) -> Reply:
    """The corpora there are.

    `size` counts rows. `task` is the task with its label scheme, where it has one."""
    from audit.corpora import listing

    _check_task(task)
    rows = listing(task)
    return Reply(rows, table(rows))


def _check_task(task: str | None) -> None:
    from audit.tasks import get_task

    if task is not None:
        get_task(task)
