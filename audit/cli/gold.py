"""`audit gold`: let the labels of the corpora answer the questions they can."""

import argparse
from dataclasses import asdict
from typing import Any

from audit.cli.options import add_database, add_json, answer


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("gold", help="answer questions with the gold labels of the corpora")
    add_database(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.false_satisfaction.questions import queue_length
    from audit.judging.labels import answer_with_gold
    from audit.store import open_store

    engine = open_store(arguments.db)
    gold = answer_with_gold(engine)
    waiting, audits = queue_length(engine)
    lines = [f"Gold answers {gold.answered:,} of {gold.questions:,} questions ({gold.added:,} new)."]
    if gold.contradictory:
        lines.append(f"{gold.contradictory:,} texts have different gold labels in different rows; people must answer.")
    if gold.pairs:
        lines.append(
            f"{gold.pairs:,} questions ask whether an output is right for a text with a gold label; that label says "
            "nothing about an output, so people must answer."
        )
    behind = f" {audits:,} more audit what relations carry, and come after these." if audits else ""
    lines += [f"{waiting:,} questions wait for people.{behind}", f"Next: audit report --db {arguments.db}"]
    answer(arguments.json, asdict(gold) | {"waiting": waiting, "audits": audits}, lines)
