"""`audit import-run`: bring groups that somebody else made and checked."""

import argparse
from dataclasses import asdict
from typing import Any

from audit.cli.options import add_database, add_json, answer, reads, whole


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "import-run", help="bring an MT run of your own: groups, outputs and verdicts as JSONL"
    )
    parser.add_argument("file", type=reads, metavar="FILE.jsonl")
    add_database(parser)
    parser.add_argument("--seed", type=whole, default=0, metavar="S", help="of the sources' random numbers")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.runner.imported import import_run, read_run
    from audit.store import open_store

    given = read_run(arguments.file)
    made = import_run(open_store(arguments.db, create=True), given, arguments.seed)
    counts = asdict(made)
    document = {name: value for name, value in counts.items() if name != "outcomes"} | made.outcomes
    if made.new:
        found = ", ".join(f"{number:,} {name}" for name, number in made.outcomes.items())
        lines = [
            f"Study {made.study}: {made.groups:,} groups of {made.sources:,} sources, {made.checks:,} checks: {found}."
        ]
    else:
        lines = [f"This file was imported before, as study {made.study}; nothing was changed."]
    answer(arguments.json, document, [*lines, f"Next: audit sample --db {arguments.db} --per-relation 60"])
