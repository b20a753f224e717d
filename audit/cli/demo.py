"""`audit demo`: the main job, end to end, on real reviews and real systems; then the app."""

import argparse
from pathlib import Path
from typing import Any

from audit.cli.executing import add_workers
from audit.cli.options import AUDITED_FOLLOW_UPS, say, whole, writes

SYSTEMS = ("vader", "textblob", "hiv4", "tfidf-logreg")
CORPORA = (("rotten-tomatoes", 2000), ("imdb", 200))
"""Sentences and documents, and how many of each."""
PER_RELATION = 60
SEED = 0
ACCOUNTS = (("anna", "annotator"), ("ben", "annotator"), ("ada", "adjudicator"), ("mia", "manager"))
PASSWORD = "audit-demo"


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("demo", help="run, sample, gold and report on bundled reviews; then serve the app")
    parser.add_argument("--no-serve", action="store_true", help="stop after the report")
    parser.add_argument("--db", default="audit-demo.db", metavar="PATH|URL", help="database (default: audit-demo.db)")
    parser.add_argument(
        "--html", type=writes, default="audit-demo.html", metavar="FILE", help="where to write the report"
    )
    parser.add_argument("--port", type=whole, default=8501, metavar="P", help="of the app (default: 8501)")
    add_workers(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command; running it again goes on where it stopped."""
    from audit.cli.app import check_port, serve
    from audit.cli.executing import executor_of
    from audit.cli.progress import Bar
    from audit.cli.report import show, write_html
    from audit.corpora import get_corpus
    from audit.false_satisfaction.questions import queue_length
    from audit.judging.labels import answer_with_gold
    from audit.judging.samples import draw_all
    from audit.reports.study import study_report
    from audit.runner.run import fitting
    from audit.runner.run import run as run_study
    from audit.sampling.audits import Audits
    from audit.sampling.draw import Size
    from audit.store import open_store

    if not arguments.no_serve:
        check_port(arguments.port, "localhost")
    engine = open_store(arguments.db, create=True)
    for name, limit in CORPORA:
        corpus = get_corpus(name)
        say(f"Running {len(SYSTEMS)} systems on {limit:,} {corpus.unit}s of {name}.")
        bar = Bar(name)
        with executor_of(arguments.workers) as executor:
            try:
                ran = run_study(
                    engine, corpus, SYSTEMS, fitting(corpus, None), executor, seed=SEED, limit=limit, watcher=bar
                )
            finally:
                bar.close()
        say("\n".join(ran.lines()))
    drawn = draw_all(engine, Size(per_relation=PER_RELATION), audits=Audits(follow_ups=AUDITED_FOLLOW_UPS))
    gold = answer_with_gold(engine)
    waiting, audits = queue_length(engine)
    say(
        f"Drew {sum(one.drawn for one in drawn):,} satisfied groups, the first {PER_RELATION} of each relation and "
        f"system; gold answers {gold.answered:,} questions, {waiting:,} wait for people, and {audits:,} "
        "that audit what relations carry come after these."
    )
    report = study_report(engine)
    show(report, as_json=False)
    write_html(report, Path(arguments.html))
    _accounts(engine)
    say(f"Accounts of the app, all with the password {PASSWORD}:")
    say("\n".join(f"  {name:6} {role}" for name, role in ACCOUNTS))
    engine.dispose()
    if arguments.no_serve:
        say(f"See the app with: audit app --db {arguments.db}")
    else:
        serve(arguments.db, arguments.port)


def _accounts(engine: Any) -> None:
    from audit.annotation.accounts import add_account, list_accounts

    known = {account.name for account in list_accounts(engine)}
    for name, role in ACCOUNTS:
        if name not in known:
            add_account(engine, name, role, PASSWORD)
