"""`audit runs`: what was run in a database, by study and system."""

import argparse
from typing import Any

from audit.cli.listings import table
from audit.cli.options import add_database, add_json, answer


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("runs", help="what was run: studies, systems with version and settings, errors")
    add_database(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.runner.studies import runs
    from audit.store import open_store

    rows = [one.as_json() for one in runs(open_store(arguments.db))]
    answer(arguments.json, rows, table([row | {"finished": f"{row['finished']:.0%}"} for row in rows]))
