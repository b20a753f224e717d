"""`audit agreement`: how far annotators agree: percent, one kappa, alpha and AC1."""

import argparse
from typing import Any

from audit.cli.options import add_database, add_json, answer, names, reads

LEVELS = ("nominal", "ordinal", "interval", "ratio", "linear", "quadratic")


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("agreement", help="how far annotators agree: percent, kappa, alpha, AC1, intervals")
    where = parser.add_mutually_exclusive_group()
    add_database(where)
    where.add_argument("--ratings", type=reads, metavar="FILE", help="a CSV with the columns item,annotator,label")
    parser.add_argument(
        "--about",
        choices=("labels", "false", "groups"),
        default="labels",
        help="labels, whether drawn groups are false, or whether relations hold in groups",
    )
    parser.add_argument("--by", choices=("relation", "system", "language", "pair"), help="for each of these, too")
    parser.add_argument("--level", choices=LEVELS, help="the coefficients of this level, too, for numbers or an order")
    parser.add_argument("--order", type=names, metavar="A,B,C", help="the labels in their order, where they have one")
    parser.add_argument("--repeats", choices=("first", "last", "majority"), help="of an item rated twice by somebody")
    parser.add_argument("--task", metavar="NAME", help="the task, where the database has several")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.reports.agreement import agreement_lines, agreement_report

    rated, parts = _from_file(arguments) if arguments.ratings else _from_store(arguments)
    report = agreement_report(rated, by=arguments.by, parts=parts, level=arguments.level, order=arguments.order)
    answer(arguments.json, report, [] if arguments.json else agreement_lines(report))


def _from_file(arguments: argparse.Namespace) -> Any:
    from audit.annotation.ratings import need_numbers, need_two, once, read_ratings
    from audit.errors import AuditError

    if arguments.about != "labels":
        raise AuditError(
            f"--about {arguments.about} needs the drawn groups of a database; name it with --db in place of --ratings"
        )
    if arguments.task is not None:
        raise AuditError("--task is for a database; a file of ratings has no task")
    column = arguments.by if arguments.by not in (None, "pair") else None
    rated = once(read_ratings(arguments.ratings, [column] if column else []), arguments.repeats, arguments.ratings)
    need_two(rated, arguments.ratings)
    if arguments.level not in (None, "nominal") and not arguments.order:
        need_numbers(rated, arguments.ratings, arguments.level)
    parts = rated.frame[["item", column]].set_axis(["item", "value"], axis=1).drop_duplicates() if column else None
    return rated, parts


def _from_store(arguments: argparse.Namespace) -> Any:
    from audit.annotation.ratings import attributed, stored_ratings
    from audit.errors import AuditError
    from audit.false_satisfaction.opinions import attributed_outputs, opinions
    from audit.false_satisfaction.questions import attributed_groups
    from audit.store import open_store

    if arguments.repeats is not None:
        raise AuditError("--repeats is for --ratings; in a database nobody's answer to a question counts twice")
    engine = open_store(arguments.db)
    column = arguments.by if arguments.by not in (None, "pair") else None
    if arguments.about == "false":
        rated = opinions(engine, arguments.task)
        parts = rated.frame[["item", column]].set_axis(["item", "value"], axis=1).drop_duplicates() if column else None
    elif arguments.about == "groups":
        rated = stored_ratings(engine, arguments.task, "group")
        parts = attributed_groups(engine, column) if column in ("relation", "system") else None
        parts = attributed(engine, column) if column == "language" else parts
    else:
        rated = stored_ratings(engine, arguments.task)
        pairs = rated.origin.get("about") == "pairs" and column in ("relation", "system")
        parts = (attributed_outputs(engine, column) if pairs else attributed(engine, column)) if column else None
    return rated, parts
