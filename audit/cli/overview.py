"""`audit progress`: how far the judging is, how fast it goes, and what each cell waits for."""

import argparse
from typing import Any

from audit.cli.options import add_database, add_json, add_study, answer


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("progress", help="how far the judging is: questions, pace, cells, people")
    add_database(parser)
    add_study(parser)
    parser.add_argument("--answers", choices=("gold", "people", "both"), default="both", help="whose answers count")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.annotation.activity import overview, people_activity
    from audit.reports.over_time import cells_at_work, progress_document, progress_lines
    from audit.reports.study import cells_of_report, evidence
    from audit.store import open_store

    engine = open_store(arguments.db)
    found = evidence(engine, arguments.answers, arguments.study)
    cells = cells_at_work(found.counted, cells_of_report(found))
    document = progress_document(overview(engine), people_activity(engine), cells)
    answer(arguments.json, document, progress_lines(document))
