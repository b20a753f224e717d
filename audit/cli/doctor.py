"""`audit doctor`: is a database sound."""

import argparse
from dataclasses import asdict
from typing import Any

from audit.cli.options import add_database, add_json, answer, say


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("doctor", help="check a database, and say what to do; exit status 1 for a problem")
    add_database(parser)
    parser.add_argument(
        "--rebuild", action="store_true", help="first write the answers and the queue anew from the history"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command; 1 where something is not as it should be."""
    from audit.judging.unit import rebuild
    from audit.reports.doctor import doctor
    from audit.store import open_store

    if arguments.rebuild:
        say(f"The answers to {rebuild(open_store(arguments.db)):,} questions and the queue were written anew.")
    checks = doctor(arguments.db)
    lines = []
    for one in checks:
        lines.append(f"{'ok     ' if one.ok else 'PROBLEM'}  {one.check}: {one.found}")
        if one.advice:
            lines.append(f"         {one.advice}")
    sound = all(one.ok for one in checks)
    answer(arguments.json, {"sound": sound, "checks": [asdict(one) for one in checks]}, lines)
    return 0 if sound else 1
