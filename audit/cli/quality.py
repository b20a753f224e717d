"""`audit quality`, `audit contradictions`, `audit settings`: how well people judge, and what is asked of them."""

import argparse
import math
import textwrap
from dataclasses import asdict
from typing import Any, Literal

from audit.cli.options import add_database, add_json, answer

ABOUT: dict[str, Literal["input", "pair", "group"]] = {"inputs": "input", "pairs": "pair", "groups": "group"}


def add(commands: Any) -> None:
    """Register the commands."""
    parser = commands.add_parser("quality", help="how well each annotator judges, and alarms")
    parser.add_argument("--task", metavar="NAME", help="the task, where the database has several")
    parser.add_argument(
        "--about",
        choices=tuple(ABOUT),
        help="questions about inputs, about outputs with their inputs, or about groups (default: what the task asks)",
    )
    add_database(parser)
    add_json(parser)
    parser.set_defaults(run=_quality)
    parser = commands.add_parser("contradictions", help="answers that cannot all be true if their relation holds")
    parser.add_argument(
        "--answers",
        default="people",
        choices=("people", "gold", "both"),
        help="whose are compared: people (default), gold or both",
    )
    add_database(parser)
    add_json(parser)
    parser.set_defaults(run=_contradictions)
    parser = commands.add_parser("settings", help="how judging goes: pass mark, shares of hidden questions, speed")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="change one; may be given several times"
    )
    add_database(parser)
    add_json(parser)
    parser.set_defaults(run=_settings)


def _quality(arguments: argparse.Namespace) -> None:
    from audit.annotation.control_questions import judging_record
    from audit.reports.quality import quality_lines, quality_report
    from audit.store import open_store

    record = judging_record(open_store(arguments.db))
    report = quality_report(record, arguments.task, ABOUT.get(arguments.about))
    answer(arguments.json, report, [] if arguments.json else quality_lines(report))


def _contradictions(arguments: argparse.Namespace) -> None:
    from audit.false_satisfaction.browse import contradictions
    from audit.store import open_store

    found = contradictions(open_store(arguments.db), arguments.answers)
    lines = [f"{len(found):,} pairs of answers cannot both be true if their relation holds."]
    if found:
        lines.append("In each, an answer is wrong, or the relation does not carry truth there (a carry error).")
    for one in found:
        expected = " or ".join(one.carried)
        lines += ["", f"{one.relation}, in {one.groups:,} drawn groups of systems; the follow-up should be {expected}"]
        for name, side in (("source", one.source), ("follow-up", one.follow_up)):
            told = f"question {side.question}: {' or '.join(side.answer)} ({side.origin})"
            lines.append(f"  {name}, {told}{', flagged' if side.waits else ''}")
            lines += textwrap.wrap(" ".join(side.texts)[:400], 96, initial_indent="    ", subsequent_indent="    ")
    answer(arguments.json, {"answers": arguments.answers, "contradictions": [asdict(one) for one in found]}, lines)


def _settings(arguments: argparse.Namespace) -> None:
    from audit.annotation.settings import change_settings, settings_of
    from audit.errors import AuditError
    from audit.store import open_store

    values: dict[str, Any] = {}
    for one in arguments.set:
        name, equals, value = one.partition("=")
        if not equals:
            raise AuditError(f"--set {one!r}: must be NAME=VALUE, for example pass_mark=0.8")
        values[name.strip()] = _number(name.strip(), value.strip())
    engine = open_store(arguments.db)
    if values:
        settings = change_settings(engine, None, values)
    else:
        with engine.connect() as connection:
            settings = settings_of(connection)
    found = asdict(settings)
    answer(arguments.json, found, [f"{name} = {value}" for name, value in found.items()])


def _number(name: str, text: str) -> float | int:
    from audit.errors import AuditError
    from audit.files import parse_json

    try:
        value = parse_json(text)
    except ValueError:
        value = None
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise AuditError(f"--set {name}={text[:40]}: the value must be a number, for example 0.1")
    return value
