"""`audit rerank`: correct and rank totals that somebody else measured."""

import argparse
from pathlib import Path
from typing import Any

from audit.cli.options import add_how, add_json, reads, writes


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("rerank", help="correct and rank totals of a CSV: relation,system and rates or counts")
    parser.add_argument("file", type=reads, metavar="FILE", help="sr_observed,fs_rate or groups,satisfied,judged,false")
    add_how(parser)
    parser.add_argument("--html", type=writes, metavar="FILE", help="write one self-contained HTML file")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.cli.report import show, write_html
    from audit.reports.preference import read_weights
    from audit.reports.rerank import rerank
    from audit.statistics.intervals import get_target

    report = rerank(
        arguments.file,
        arguments.interval,
        target=get_target(arguments.target) if arguments.target else None,
        delta=arguments.delta,
        weights=read_weights(arguments.weights) if arguments.weights else None,
    )
    if arguments.html:
        write_html(report, Path(arguments.html))
    show(report, arguments.json, quiet=bool(arguments.html))
