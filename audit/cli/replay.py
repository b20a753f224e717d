"""`audit replay`: the published numbers once more, from an export."""

import argparse
from pathlib import Path
from typing import Any

from audit.cli.options import add_json, answer, reads


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "replay", help="recompute an export's report, and how many answers hold each winner up"
    )
    parser.add_argument("dir", type=reads, metavar="DIR", help="a folder that `audit export` wrote")
    parser.add_argument(
        "--report",
        action="append",
        type=reads,
        default=[],
        metavar="FILE",
        help="what `audit report --json` printed, with any options; may be given several times",
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command; 1 where a number is another."""
    from audit.reports.exports.replay import replay, replay_lines

    found = replay(Path(arguments.dir), [Path(name) for name in arguments.report])
    answer(arguments.json, found.as_json(), [] if arguments.json else replay_lines(found))
    return 0 if found.equal else 1
