"""Runs: the demo, runs and searches of systems on corpora, and runs from elsewhere."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any

from audit.cli.console import Reply, answer, chatter_to_stderr, one_by_one, say, table
from audit.cli.options import DATA, DATABASE, INSPECT, START, Database, Db, Read, Workers, Written, as_options, command
from audit.errors import AuditError
from audit.judging.options import WordsOptions
from audit.options import Told
from audit.runner.options import CorpusOptions, RunOptions, SearchOptions

DEMO_SYSTEMS = ("vader", "textblob", "hiv4", "tfidf-logreg")
DEMO_CORPORA = {"rotten-tomatoes": 2000, "imdb": 200}
DEMO_ACCOUNTS = {"anna": "annotator", "ben": "annotator", "ada": "adjudicator", "mia": "manager"}
DEMO_PASSWORD = "audit-demo"


@command("demo", START, "audit demo --no-serve --workers 2")
def demo(
    no_serve: Annotated[bool, Told("stop after the report")] = False,
    db: Database = Db("audit-demo.db"),  # noqa: B008
    html: Annotated[Written, Told("where the report is written", "FILE")] = Written("audit-demo.html"),  # noqa: B008
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
    for name, limit in DEMO_CORPORA.items():
        say(f"Running {len(DEMO_SYSTEMS)} systems on {limit:,} rows of {name}.")
        ran = run([name], DEMO_SYSTEMS, db, options=RunOptions(limit=limit, workers=workers))
        say("\n".join(ran.lines))  # type: ignore[arg-type]
    gold = answer_with_gold(db.engine)
    ask_next(db.engine, SampleOptions(base=BASE, follow_ups=AUDITED_FOLLOW_UPS))
    say(f"Gold answers {gold.answered:,} questions.\n{waiting_of(db.engine)[1]}")
    answer(report(db), False, db)
    report(db, html=html)
    present = {account.name for account in list_accounts(db.engine)}
    for name in [name for name in DEMO_ACCOUNTS if name not in present]:
        add_account(db.engine, name, DEMO_ACCOUNTS[name], DEMO_PASSWORD)
    people = "\n".join(f"  {name:6} {role}" for name, role in DEMO_ACCOUNTS.items())
    say(f"Accounts of the app, all with the password {DEMO_PASSWORD}:\n{people}")
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


@command("run", START, "audit run --corpus reviews.csv --systems vader,mine:classify --relations MR1.1,MR3.1")
def run(
    corpus: Annotated[Sequence[str], Told("of audit corpora, or a table (CSV ...); repeatable", "NAME|FILE")],
    systems: Annotated[Sequence[str], Told("of audit systems, module:name, http:FILE.toml ...", "A,B", commas=True)],
    db: Database = DATABASE,
    dry_run: Annotated[bool, Told("ask and store nothing: say what would be asked, and what it costs")] = False,
    read: CorpusOptions = CorpusOptions(),
    options: RunOptions = RunOptions(),
    words: WordsOptions = WordsOptions(),
) -> Reply:
    """Make and check metamorphic groups; repeat it to resume.

    See runs (docs/how-to/run.md). A system with stored outputs is asked three of them again, and the run stops where
    it answers differently now (name it NAME@VERSION then). A run that a limit stops ends with status 3."""
    from audit.relations.registry import with_lines
    from audit.runner.budget import Budget
    from audit.runner.executors import executor_of
    from audit.runner.fitting import fitting_all
    from audit.runner.progress import Bar
    from audit.runner.run import run as run_study
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

    database, budget, results = Later(db, begin), Budget(options), []
    with chatter_to_stderr(), executor_of(options) as executor:
        for source, relations in studies:
            with Bar(source.name, say=say) as bar:
                results.append(run_study(database, source, systems, relations, executor, options, bar, budget))
    lines = [as_options(line, "retry_errors") for ran in results for line in ran.lines()]
    lines += [line for source in corpora for line in _of_gold(source)]
    documents = [ran.as_json() for ran in results]
    has_groups = any(len(ran.without_groups) < len(ran.relations) for ran in results)
    return Reply(
        documents if len(documents) > 1 else documents[0], lines, _next(database.engine, db) if has_groups else ()
    )


def _forecast(studies: Sequence[Any], systems: Sequence[str], db: str, options: RunOptions) -> Reply:
    """What a run would ask, a row for each system, and what the numbers rest on."""
    from audit.runner.executors import executor_of
    from audit.runner.forecast import forecasts
    from audit.runner.studies import Sampled
    from audit.store.engine import readable

    sampled = [(Sampled(source, options.seed, options.limit), relations) for source, relations in studies]
    with chatter_to_stderr(), executor_of(options) as executor:
        rows = forecasts(sampled, systems, executor, readable(db), options)
    shown = ("system", "inputs", "stored", "to_ask", "calls", "characters", "tokens", "seconds", "cost", "currency")
    lines = []
    for row in rows:
        if not row["exact"]:
            more = ", ".join(f"{number:,} of {relation}" for relation, number in row["hanging"].items())
            lines.append(f"{row['system']}: at least; what these groups ask next depends on what it says: {more}.")
    if not all(row["tokens_counted"] for row in rows):
        lines.append("A token is taken to have four characters, where a system has no tokenizer of its own.")
    lines.append("Nothing was asked, nothing was stored. `audit check` measures how long a request takes.")
    return Reply(rows, [*table(rows, *shown), *lines])


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
    return Reply(rows, table([row | {"finished": f"{row['finished']:.0%}"} for row in rows]))


@command("import-run", DATA, "audit import-run ours.jsonl --db ours.db")
def import_run(file: Annotated[Read, Told("the file", "FILE.jsonl", argument=True)], db: Database = DATABASE) -> Reply:
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
    systems: Annotated[str, Told("the one to search, as of audit run", "NAME")],
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

    if out is not None and not out.endswith((".csv", ".jsonl")):
        raise AuditError(f"--out {out}: the name ends with .csv or .jsonl, which says how it is written")
    source = read.corpus(corpus)
    options = replace(options, parameters=with_lines(source.task, options.parameters))
    relations = searchable(source, options)
    with chatter_to_stderr(), executor_of(options) as executor, Bar(source.name, say=say) as bar:
        result = search_corpus(Later(db), source, systems, relations, executor, options, bar)
    if out is not None:
        result.write(out)
    rows = [
        {
            "relation": violation.relation,
            "changed": violation.changed,
            "fall": violation.fall,
            "calls": searched.calls,
            "row": searched.row,
        }
        | {"becomes": " | ".join(text[:80] for text in violation.follow_ups[-1].texts)}
        for searched in result.violated[:10]
        if (violation := searched.violation)
    ]
    document = result.as_json()
    about = {name: value for name, value in document.items() if isinstance(value, str | int | float)}
    lines = [*one_by_one([about]), "", f"The strongest of {len(result.violated):,} violations:", *table(rows)]
    return Reply(document, lines, status=3 if result.stopped else 0)
