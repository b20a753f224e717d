"""What a command says, and where: answers on stdout, remarks on stderr, tables."""

import io
import json
import os
import re
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from shutil import get_terminal_size
from typing import Any

from audit.errors import AuditError

_ACTING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and line feed, and those that turn the direction of what follows."""
_OF_DATABASE = re.compile(r"`audit\s((?:app|sample|gold|plan|report|doctor)\b[^`]*)`")
"""Commands in sentences that are about a database."""
PLUGINS: list[str] = []
"""Modules that --plugin named, which a next command needs, too."""
Rows = list[dict[str, Any]]
_LONGEST = 60
"""Characters of a value in a table."""


@dataclass(frozen=True)
class Reply:
    """What a command answers: a document for `--json`; lines for people (None: the document's values by name), or what
    makes sections of the document; the words of the command to go on with; and the exit status."""

    document: Any
    lines: Sequence[str] | None = None
    next: Sequence[object] = ()
    status: int = 0
    sections: Callable[[Any], Any] | None = None

    def text(self) -> list[str]:
        """Return what people read."""
        if self.sections is not None:
            from audit.reports.tables import to_text

            return to_text(list(self.sections(self.document))).splitlines()
        return one_by_one([self.document]) if self.lines is None else [*self.lines]


def mend_streams() -> None:
    """Let stdout and stderr write a character that their encoding lacks as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def end_streams() -> None:
    """Leave nothing that the interpreter would fail to write when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def chatter_to_stderr() -> Iterator[None]:
    """While users' systems run, here and in worker processes, send what they print to stderr: stdout is for answers."""
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
    """Print progress and remarks to stderr."""
    print(visible(message), file=sys.stderr, flush=True)


def answer(reply: Reply, as_json: bool, db: str | None = None) -> None:
    """Print the document as JSON, or the lines for people; commands in them are about this database."""
    if as_json:
        # An encoding that lacks characters spells them as Python does, which is not JSON's way.
        lacking = "utf" not in str(getattr(sys.stdout, "encoding", None)).lower()
        tell(json.dumps(reply.document, ensure_ascii=lacking, allow_nan=False, indent=2))
        return
    lines = reply.text()
    if reply.next:
        lines.append(f"Next: {following(*reply.next)}")
    if lines:
        place = () if db in (None, "audit.db") else ("--db", db)
        text = _OF_DATABASE.sub(lambda named: f"`{following(*named[1].split(), *place)}`", "\n".join(lines))
        tell(visible(text))


def following(*words: object) -> str:
    """Return a command as it is typed, with the plug-ins that this one was given."""
    plugins = [word for module in PLUGINS for word in ("--plugin", module)]
    return shlex.join(["audit", *plugins, *map(str, words)])


def tell(text: str, end: str = "\n") -> None:
    """Print a text on stdout. Raises AuditError where it cannot be written, BrokenPipeError where nobody reads it."""
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise AuditError(f"the answer cannot be written to stdout: {problem.strerror}") from None


def visible(text: str) -> str:
    """Spell out what would act on the terminal: names and texts are users' own.

    >>> visible("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    return _ACTING.sub(lambda sign: sign[0].encode("unicode_escape").decode("ascii"), text)


def table(rows: Rows, *columns: str) -> list[str]:
    """Return these columns of rows, or all, as aligned lines under a header. What is long is cut, but in the last
    column, which is wrapped on a terminal; a column that is empty in all rows is left out.

    >>> table([{"system": "vader", "tasks": ["sentiment"], "available": True, "needs": None}])[1].rstrip()
    'vader   sentiment  yes'
    """
    if not rows:
        return ["none"]
    texts = {name: [_word(row[name]) for row in rows] for name in columns or rows[0]}
    shown = [[name.replace("_", " "), *column] for name, column in texts.items() if any(column)]
    cut = [[word if len(word) <= _LONGEST else f"{word[: _LONGEST - 1]}…" for word in column] for column in shown[:-1]]
    widths = [max(map(len, column)) for column in cut]
    left = max(get_terminal_size().columns - sum(width + 2 for width in widths), 30)
    lines = []
    for *first, last in zip(*cut, shown[-1], strict=True):
        for piece in (textwrap.wrap(last, left) if sys.stdout.isatty() else [last]) or [""]:
            lines.append("  ".join([*(word.ljust(width) for word, width in zip(first, widths, strict=True)), piece]))
            first = [""] * len(first)
    return [line.rstrip() for line in lines]


def one_by_one(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return rows as blocks of lines, one for each value that is not empty.

    >>> one_by_one([{"relation": "typos", "default": True}, {"relation": "MR1.1", "keeps": "", "rows": {"a": 2}}])
    ['relation: typos', 'default: yes', '', 'relation: MR1.1', 'rows: a 2']
    """
    blocks = [[f"{name}: {word}" for name, value in row.items() if (word := _word(value))] for row in rows]
    return [line for block in blocks for line in ("", *block)][1:]


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_word(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ",".join(map(_word, value))
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
    return "" if value is None else str(value)
