"""Options and answers that several commands share."""

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

DATABASE = "audit.db"
AUDITED_FOLLOW_UPS = 0.1
"""Share of each cell's draw whose carried answers are audited, unless told otherwise."""
_LARGEST = (1 << 63) - 1
_ACTING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and line feed, and those that turn the direction of what follows."""


def add_database(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--db", default=DATABASE, metavar="PATH|URL", help=f"database (default: {DATABASE})")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else there")


def add_study(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--study", type=whole, metavar="ID", help="one study of the database (default: all)")


def add_how(parser: argparse.ArgumentParser) -> None:
    """How a report is computed: options that `report` and `rerank` share. The names are checked where they are used."""
    parser.add_argument(
        "--interval",
        metavar="NAME",
        help="midp (default), or sequence, which holds whenever judging stops; for counts",
    )
    parser.add_argument(
        "--target",
        metavar="NAME",
        help="population (default): texts to come; or corpus: this one alone (default with sequence and --proxy)",
    )
    parser.add_argument(
        "--delta", type=fraction, default=0.0, metavar="D", help="systems closer than this are equal (default: 0.0)"
    )
    parser.add_argument(
        "--weights", metavar="FILE", help="one ranking by a CSV relation,weight, or equal, user-a, user-b"
    )


def names(text: str) -> list[str]:
    """A list given with commas.

    >>> names("vader, textblob")
    ['vader', 'textblob']
    """
    found = [part.strip() for part in text.split(",") if part.strip()]
    if not found:
        raise argparse.ArgumentTypeError("expected one or more names with commas between them")
    return found


def whole(text: str) -> int:
    """A whole number that a database can hold (63 bits and a sign).

    >>> whole("12")
    12
    """
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number") from None
    if abs(number) > _LARGEST:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is too large a number; at most {_LARGEST} is allowed")
    return number


def fraction(text: str) -> float:
    """A number such as 0.01.

    >>> fraction("0.01")
    0.01
    """
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number such as 0.01") from None


def say(message: str) -> None:
    """Progress and remarks go to stderr."""
    print(visible(message), file=sys.stderr, flush=True)


@contextmanager
def chatter_to_stderr() -> Iterator[None]:
    """While users' systems run, here and in worker processes, what they print goes to stderr: stdout is for answers."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def answer(as_json: bool, document: Any, lines: Sequence[str]) -> None:
    """The result of a command: the document as JSON, or the lines for people."""
    if as_json:
        print(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2))
    else:
        print(visible("\n".join(lines)))


def visible(text: str) -> str:
    """A text for a terminal, in which what would act on the terminal is spelled out: names and texts are users' own.

    >>> visible("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    return _ACTING.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
