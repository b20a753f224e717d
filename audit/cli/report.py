"""`audit report`: observed and genuine rates, and who is best before and after."""

import argparse
from pathlib import Path
from typing import Any

from audit.cli.options import add_database, add_how, add_json, add_study, answer, names, say, writes


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("report", help="observed and genuine rates, and the ranking before and after")
    add_database(parser)
    add_study(parser)
    parser.add_argument("--answers", choices=("gold", "people", "both"), default="both", help="whose answers count")
    parser.add_argument("--design", help="the sample of this design (default: the one drawn last)")
    add_how(parser)
    parser.add_argument(
        "--proxy",
        type=names,
        default=[],
        metavar="NAME,...",
        help="estimate with cheap signals: disagreement, low_confidence, reference, or a numeric column of the corpus",
    )
    parser.add_argument(
        "--by", metavar="gold|ATTRIBUTE", help="violation rates by gold label, or by a column of the corpus"
    )
    parser.add_argument(
        "--gold-error",
        metavar="RATE|LOW-HIGH",
        help="share of gold labels known to be wrong, such as 0.05 or 0.02-0.05: R_FS is shown corrected for it, too",
    )
    parser.add_argument("--html", type=writes, metavar="FILE", help="write one self-contained HTML file")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.reports.preference import read_weights
    from audit.reports.sensitivity import GoldError
    from audit.reports.study import INTERVAL, study_report
    from audit.statistics.intervals import get_target
    from audit.store import open_store

    target = get_target(arguments.target) if arguments.target else None
    weights = read_weights(arguments.weights) if arguments.weights else None
    gold_error = GoldError.read(arguments.gold_error) if arguments.gold_error else None
    report = study_report(
        open_store(arguments.db),
        arguments.answers,
        arguments.study,
        arguments.design,
        interval=arguments.interval or INTERVAL,
        target=target,
        delta=arguments.delta,
        weights=weights,
        proxies=arguments.proxy,
        by=arguments.by,
        gold_error=gold_error,
    )
    if arguments.html:
        write_html(report, Path(arguments.html))
    show(report, arguments.json, quiet=bool(arguments.html))


def show(report: dict[str, Any], as_json: bool, quiet: bool = False) -> None:
    """The report on stdout, as JSON or for the terminal; `quiet` leaves the latter out."""
    from audit.reports.terminal import to_terminal

    if as_json or not quiet:
        answer(as_json, report, [] if as_json else [to_terminal(report)])


def write_html(report: dict[str, Any], path: Path) -> None:
    """Write the HTML file. Raises BadFile where it cannot be written."""
    from audit.new_files import write_file
    from audit.reports.html import to_html

    write_file(path, to_html(report))
    say(f"report: {path}")
