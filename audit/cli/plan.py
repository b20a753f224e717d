"""`audit plan`: how many questions each design needs, for a precision or for a decision."""

import argparse
from typing import Any

from audit.cli.options import DATABASE, add_database, add_json, add_study, answer, fraction, whole


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("plan", help="how many questions each design needs, in hours and money too")
    add_database(parser)
    add_study(parser)
    goal = parser.add_mutually_exclusive_group(required=True)
    goal.add_argument(
        "--half-width",
        type=fraction,
        metavar="0.05",
        help="how far every cell's interval reaches, at most",
    )
    goal.add_argument("--decide", choices=("winner", "order"), help="who is best under every relation, or the order")
    parser.add_argument("--delta", type=fraction, default=0.02, metavar="D", help="smaller differences do not count")
    parser.add_argument("--confidence", type=fraction, default=0.95, metavar="C", help="default: 0.95")
    parser.add_argument("--guess", type=fraction, default=0.3, metavar="R", help="R_FS where nothing is judged (0.3)")
    parser.add_argument("--pace", type=fraction, metavar="SECONDS", help="that one answer takes; gives hours")
    parser.add_argument("--price", type=fraction, metavar="PER_HOUR", help="of an hour of work; gives the price")
    parser.add_argument(
        "--annotators", type=whole, metavar="N", help="people per question (default: the sample's, or 2)"
    )
    parser.add_argument("--answers", choices=("gold", "people", "both"), default="both", help="whose answers count")
    parser.add_argument(
        "--domain",
        help="all, or gold: only sources with a gold label count and are drawn (default: the sample's, or all)",
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.reports.plan import lines, plan
    from audit.store import open_store

    document = plan(
        open_store(arguments.db),
        half_width=arguments.half_width,
        decide=arguments.decide,
        delta=arguments.delta,
        confidence=arguments.confidence,
        guess=arguments.guess,
        pace=arguments.pace,
        price_per_hour=arguments.price,
        annotators=arguments.annotators,
        study=arguments.study,
        whose=arguments.answers,
        database=None if arguments.db == DATABASE else arguments.db,
        domain=arguments.domain,
    )
    answer(arguments.json, document, lines(document))
