"""What a command says, and where: streams as they may be, answers, remarks, tables."""

import io
import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from typing import Any, TextIO

from audit.errors import AuditError

_ACTING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and line feed, and those that turn the direction of what follows."""
Rows = list[dict[str, Any]]


def mend_streams() -> None:
    """A character that the encoding of stdout or stderr lacks is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def end_streams() -> None:
    """Leave nothing that the interpreter would fail to write when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _discard(stream)


def _discard(stream: TextIO) -> None:
    """What a stream still holds, and all that comes, goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    with suppress(OSError):
        stream.flush()


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


def say(message: str) -> None:
    """Progress and remarks go to stderr."""
    print(visible(message), file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Reply:
    """What a command answers: a document for `--json`; lines for people, what makes them of the document, or nothing to
    say; and the exit status."""

    document: Any
    lines: Sequence[str] | Callable[[Any], Sequence[str]] | None
    status: int = 0


def answer(reply: Reply, as_json: bool) -> None:
    """Say the document as JSON, or the lines for people."""
    if as_json:
        # An encoding that lacks characters spells them as Python does, which is not JSON's way.
        lacking = "utf" not in str(getattr(sys.stdout, "encoding", None)).lower()
        tell(json.dumps(reply.document, ensure_ascii=lacking, allow_nan=False, indent=2))
    elif reply.lines is not None:
        tell(visible("\n".join(reply.lines(reply.document) if callable(reply.lines) else reply.lines)))


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
    return _ACTING.sub(lambda sign: sign[0].encode("unicode_escape").decode("ascii"), text)


def checking_too(count: int) -> str:
    """The sentence, after how many questions wait, that others do which settle no group; nothing where none does.

    >>> checking_too(55)
    ' 55 more wait too, after all others: they settle no group, and check the answers that relations carry.'
    """
    if not count:
        return ""
    return (
        f" {count:,} more wait too, after all others: they settle no group, and check the answers that relations carry."
    )


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


def one_by_one(rows: Rows) -> list[str]:
    """Rows as blocks of lines, one for each field that is not empty.

    >>> one_by_one([{"relation": "typos", "default": True}, {"relation": "MR1.1", "keeps": ""}])
    ['relation: typos', 'default: yes', '', 'relation: MR1.1']
    """
    lines = [[f"{name}: {word}" for name, value in row.items() if (word := _word(value))] for row in rows]
    return [line for block in lines for line in ("", *block)][1:]


def fitted_table(rows: Rows, width: int, droppable: Sequence[str], least: int = 36) -> list[str]:
    """`table` in so many characters: of the droppable columns the first ones are left out until the last column has
    `least` characters, in which it is wrapped; a line below says which.

    >>> fitted_table([{"name": "a", "kind": "wide", "what": "One two three."}], 20, ["kind"], 12)[1:4]
    ['a     One two three.', '', 'Left out here, and in --json: kind']
    """
    if not rows:
        return table(rows)
    dropped: list[str] = []

    def left() -> int:
        kept = [name for name in rows[0] if name not in dropped][:-1]
        return width - sum(2 + max(len(name), *(len(_word(row[name])) for row in rows)) for name in kept)

    for name in droppable:
        if left() < least:
            dropped.append(name)
    last = list(rows[0])[-1]
    lines: list[dict[str, object]] = []
    for row in rows:
        kept = {name: value for name, value in row.items() if name not in dropped}
        for number, piece in enumerate(textwrap.wrap(_word(row[last]), max(left(), least // 2)) or [""]):
            lines.append({**(dict.fromkeys(kept, "") if number else kept), last: piece})
    note = ["", f"Left out here, and in --json: {', '.join(dropped)}"] if dropped else []
    return [*(line.rstrip() for line in table(lines)), *note]


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "" if value is None else str(value)
