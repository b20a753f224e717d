"""`audit annotators`: how competent each annotator is, by Dawid and Skene's model."""

import argparse
from typing import Any

from audit.cli.options import add_database, add_json, answer, fraction, reads, whole


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("annotators", help="what annotators get wrong: a confusion matrix each (Dawid-Skene)")
    where = parser.add_mutually_exclusive_group()
    add_database(where)
    where.add_argument("--ratings", type=reads, metavar="FILE", help="a CSV with the columns item,annotator,label")
    parser.add_argument("--task", metavar="NAME", help="the task, where the database has several")
    parser.add_argument(
        "--draws", type=whole, default=1000, metavar="N", help="draws of the intervals (default: 1000; 0: no intervals)"
    )
    parser.add_argument("--seed", type=whole, default=0, metavar="S", help="of these samples (default: 0)")
    parser.add_argument(
        "--adjudicator",
        type=fraction,
        default=1.0,
        metavar="A",
        help="how often an adjudicator is right (default: 1.0)",
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.annotation.ratings import need_two, read_ratings, stored_ratings
    from audit.errors import AuditError
    from audit.false_satisfaction.opinions import answered_outputs
    from audit.reports.quality import annotators_lines, annotators_report
    from audit.store import open_store

    if not 0 <= arguments.draws <= 100_000:
        raise AuditError(f"--draws {arguments.draws}: must be from 0 (no intervals) to 100000")
    if arguments.seed < 0:
        raise AuditError(f"--seed {arguments.seed}: must be at least 0")
    if not 0 <= arguments.adjudicator <= 1:
        raise AuditError(f"--adjudicator {arguments.adjudicator}: must be a share from 0 to 1 of right answers")
    if arguments.ratings and arguments.task is not None:
        raise AuditError("--task is for a database; a file of ratings has no task")
    outputs = None
    if arguments.ratings:
        rated = read_ratings(arguments.ratings)
        need_two(rated, arguments.ratings)
    else:
        engine = open_store(arguments.db)
        rated = stored_ratings(engine, arguments.task)
        outputs = answered_outputs(engine, str(rated.origin["task"]))
    report = annotators_report(rated, arguments.draws, arguments.seed, outputs, arguments.adjudicator)
    answer(arguments.json, report, [] if arguments.json else annotators_lines(report))
