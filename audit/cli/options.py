"""Options and answers that several commands share."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

DATABASE = "audit.db"


def add_database(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--db", default=DATABASE, metavar="PATH|URL", help=f"database (default: {DATABASE})")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else there")


def add_study(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--study", type=int, metavar="ID", help="one study of the database (default: all)")


def names(text: str) -> list[str]:
    """A list given with commas.

    >>> names("vader, textblob")
    ['vader', 'textblob']
    """
    found = [part.strip() for part in text.split(",") if part.strip()]
    if not found:
        raise argparse.ArgumentTypeError("expected one or more names with commas between them")
    return found


def say(message: str) -> None:
    """Progress and remarks go to stderr."""
    print(message, file=sys.stderr, flush=True)


def answer(as_json: bool, document: Any, lines: Sequence[str]) -> None:
    """The result of a command: the document as JSON, or the lines for people."""
    if as_json:
        print(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2))
    else:
        print("\n".join(lines))
