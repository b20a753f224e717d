"""`audit import-labels`: labels that people gave elsewhere."""

import argparse
from dataclasses import asdict
from typing import Any

from audit.cli.options import add_database, add_json, add_study, answer, language, names, reads


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "import-labels", help="labels from elsewhere (CSV, Label Studio) as annotators of their own"
    )
    parser.add_argument("file", type=reads, metavar="FILE")
    add_database(parser)
    parser.add_argument("--annotator", metavar="NAME", help="who gave the labels, where the file does not say")
    parser.add_argument("--map", type=names, default=[], metavar="good=positive,bad=negative", help="rename labels")
    parser.add_argument("--task", metavar="NAME", help="the task, where the database has several")
    parser.add_argument(
        "--language", type=language, default="en", metavar="CODE", help="of texts where the file has none (en)"
    )
    parser.add_argument("--control", metavar="TAG", help="the Choices tag of Label Studio, where there are several")
    add_study(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.false_satisfaction.questions import queue_length
    from audit.judging.labels import import_labels, read_labels, renamed_labels
    from audit.store import open_store

    renamed = renamed_labels(arguments.map)
    given = read_labels(arguments.file, arguments.control)
    engine = open_store(arguments.db)
    made = import_labels(
        engine,
        given,
        annotator=arguments.annotator,
        renamed=renamed,
        task=arguments.task,
        language=arguments.language,
        study=arguments.study,
    )
    waiting, _ = queue_length(engine)
    lines = [
        f"{made.labels:,} labels by {len(made.annotators)} annotators: {made.added:,} new, {made.changed:,} changed, "
        f"{made.known:,} known before, {made.repeated:,} repeated; {made.opened:,} questions were made for them."
    ]
    lines += [f"{n:,} not used: {reason} (first: {made.first[reason]})." for reason, n in made.unmatched.items()]
    lines += [f"{n:,} without a label: {reason}." for reason, n in made.without.items()]
    lines += [f"{waiting:,} questions wait for an answer.", f"Next: audit report --db {arguments.db}"]
    answer(arguments.json, asdict(made) | {"waiting": waiting}, lines)
