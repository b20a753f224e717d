"""Options and answers that several commands share."""

import argparse
import json
import math
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

from audit.errors import AuditError

DATABASE = "audit.db"
AUDITED_FOLLOW_UPS = 0.1
"""Share of each cell's draw whose carried answers are audited, unless told otherwise."""
_LARGEST = (1 << 63) - 1
_MAY_BE_EMPTY = ("explanation",)
_PLACES = ("file", "dir", "path", "name", "FILE", "NAME", "PLAN")
"""What is an argument and no option."""
_ACTING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and line feed, and those that turn the direction of what follows."""


class Read(str):
    """The name of a file or folder that a command reads."""


class Written(str):
    """The name of a file or folder that a command writes. None that it reads, and no database (`audit.cli.outputs`)."""


def reads(text: str) -> Read:
    """The type of an option or argument that names what is read; an empty name is refused."""
    return Read(_named(text))


def writes(text: str) -> Written:
    """The type of an option that names what is written; an empty name is refused."""
    return Written(_named(text))


def _named(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("the name is empty; name a file or folder, or leave it out")
    return text


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
        "--weights", type=reads, metavar="FILE", help="one ranking by a CSV relation,weight, or equal, user-a, user-b"
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
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number such as 0.01")
    return number


def language(text: str) -> str:
    """The code of a language.

    >>> language("pt-BR")
    'pt-BR'
    """
    from audit.language.languages import is_code

    if not is_code(text):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no code of a language such as en, zh or pt-BR")
    return text


def languages(text: str) -> list[str]:
    """Codes of languages with commas.

    >>> languages("es, pt-BR")
    ['es', 'pt-BR']
    """
    return [language(code) for code in names(text)]


def numbers(text: str) -> list[int]:
    """Whole numbers with commas.

    >>> numbers("1, 2")
    [1, 2]
    """
    return [whole(part) for part in names(text)]


def empty(arguments: argparse.Namespace) -> str | None:
    """An option or argument that was given without a text in it, as its user knows it; None where there is none.

    >>> empty(argparse.Namespace(db=" ", by=None)), empty(argparse.Namespace(by="gold", explanation=""))
    ('--db', None)
    """
    for name, value in vars(arguments).items():
        texts = value if isinstance(value, list) else [value]
        if name not in _MAY_BE_EMPTY and any(isinstance(one, str) and not one.strip() for one in texts):
            return name if name in _PLACES else "--" + name.replace("_", "-")
    return None


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
        # An encoding that lacks characters spells them as Python does, which is not JSON's way.
        lacking = "utf" not in str(getattr(sys.stdout, "encoding", None)).lower()
        tell(json.dumps(document, ensure_ascii=lacking, allow_nan=False, indent=2))
    else:
        tell(visible("\n".join(lines)))


def tell(text: str, end: str = "\n") -> None:
    """A text on stdout. Raises AuditError where it cannot be written, BrokenPipeError where nobody reads it."""
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise AuditError(f"the answer cannot be written to stdout: {problem.strerror}") from None


def visible(text: str) -> str:
    """A text for a terminal, in which what would act on the terminal is spelled out: names and texts are users' own.

    >>> visible("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    return _ACTING.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
