"""`audit stale`: let answers go that a changed guideline or label has overtaken; nothing does so by itself."""

import argparse
from dataclasses import asdict
from typing import Any

from audit.cli.options import add_database, add_json, answer, names, whole


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "stale", help="let answers go stale after guideline or labels changed; without a choice it lists answers"
    )
    parser.add_argument("--below", type=whole, metavar="N", help="answers by versions of the guideline before N")
    parser.add_argument("--labels", type=names, default=[], metavar="A,B", help="answers that are one of these")
    parser.add_argument("--task", metavar="NAME", help="only questions of this task")
    parser.add_argument("--kind", metavar="NAME", help="only questions about an input, a pair or a group")
    parser.add_argument("--unsettled", action="store_true", help="only questions that nobody has settled yet")
    parser.add_argument("--elsewhere", action="store_true", help="imported labels, too")
    parser.add_argument("--adjudications", action="store_true", help="adjudications, too")
    parser.add_argument("--reason", metavar="TEXT", help="why; shown to those who are asked again")
    parser.add_argument("--by", metavar="NAME", help="the manager in whose name it is done")
    parser.add_argument("--dry-run", action="store_true", help="say what would go, and change nothing")
    add_database(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.annotation.accounts import manager_named
    from audit.annotation.answers import command
    from audit.cli.listings import table
    from audit.errors import AuditError
    from audit.false_satisfaction.questions import queue_length
    from audit.judging.staleness import Choice, affected_groups, mark_stale, preview_stale, stale_counts
    from audit.store import open_store

    engine = open_store(arguments.db)
    if arguments.below is None and not arguments.labels:
        rows = [one._asdict() for one in stale_counts(engine)]
        answer(arguments.json, {"answers": rows}, table(rows) if rows else ["Nobody has answered anything yet."])
        return
    choice = Choice(
        arguments.task,
        arguments.kind,
        arguments.below,
        tuple(arguments.labels),
        arguments.elsewhere,
        arguments.unsettled,
        arguments.adjudications,
    )
    if not arguments.dry_run and not (arguments.by and arguments.reason):
        raise AuditError("name the manager in whose name answers go stale with --by, and say why with --reason")
    by = manager_named(engine, arguments.by).id if arguments.by else None
    stale = preview_stale(engine, choice, by)
    lost = affected_groups(engine, stale, by)
    waiting = None
    if by is not None and not arguments.dry_run:
        stale = mark_stale(engine, by, choice, arguments.reason, client=command("stale"))
        waiting, _ = queue_length(engine)
    numbers = {"judgements": stale.judgements, "adjudications": stale.adjudications, "questions": stale.questions}
    document = numbers | {"people": stale.people, "groups": asdict(lost), "done": waiting is not None}
    verb = "would go" if waiting is None else "went"
    lines = [
        f"{stale.judgements:,} judgements by {stale.people:,} people and {stale.adjudications:,} adjudications {verb} "
        f"stale, on {stale.questions:,} questions.",
        f"Of {lost.settled:,} settled drawn groups that rest on them, {lost.waiting:,} wait for answers again; "
        f"{lost.turned:,} change sides. {lost.holds:,} groups are asked again whether their relation holds.",
    ]
    if waiting is not None:
        lines.append(f"{waiting:,} questions wait for people.")
    answer(arguments.json, document | {"waiting": waiting}, lines)
