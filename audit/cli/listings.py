"""`audit relations`, `audit systems`, `audit corpora`: what there is, installed or not."""

import argparse
from collections.abc import Callable
from typing import Any

from audit.cli.options import add_json, answer

Rows = list[dict[str, Any]]


def add(commands: Any) -> None:
    """Register the commands."""
    for name, list_rows in (("relations", _relations), ("systems", _systems), ("corpora", _corpora)):
        parser = commands.add_parser(name, help=f"the {name} there are")
        parser.add_argument("--task", help="only of this task (default: every task)")
        if name == "systems":
            parser.add_argument("--pairs", action="store_true", help="the pairs of languages of those that translate")
        add_json(parser)
        parser.set_defaults(run=_shower(list_rows))


def _shower(list_rows: Callable[[str | None], Rows]) -> Callable[[argparse.Namespace], None]:
    def run(arguments: argparse.Namespace) -> None:
        from audit.tasks import get_task

        if arguments.task is not None:
            get_task(arguments.task)
        rows = (_pairs if getattr(arguments, "pairs", False) else list_rows)(arguments.task)
        answer(arguments.json, rows, table(rows))

    return run


def _relations(task: str | None) -> Rows:
    from audit.relations import all_relations

    return [
        {
            "relation": relation.name,
            "task": relation.task,
            "family": relation.family,
            "unit": relation.unit,
            "languages": list(relation.languages),
            "preserves_truth": relation.carry.preserves_truth,
            "summary": relation.summary,
        }
        for relation in all_relations(task)
    ]


def _systems(task: str | None) -> Rows:
    from audit.systems import listing

    return listing(task)


def _pairs(task: str | None) -> Rows:
    from audit.systems import pair_listing

    return pair_listing(task)


def _corpora(task: str | None) -> Rows:
    from audit.corpora import listing

    return listing(task)


def table(rows: Rows) -> list[str]:
    """Rows as aligned lines under a header.

    >>> table([{"system": "vader", "tasks": ["sentiment"], "available": True, "needs": None}])[1].rstrip()
    'vader   sentiment  yes'
    """
    if not rows:
        return ["none"]
    cells = [[_word(value) for value in row.values()] for row in rows]
    heads = [str(name) for name in rows[0]]
    widths = [max(len(line[at]) for line in [heads, *cells]) for at in range(len(heads))]
    return ["  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)) for line in [heads, *cells]]


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "" if value is None else str(value)
