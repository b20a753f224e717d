"""The `audit` command. A new command is one file and one name in `COMMANDS`."""

import argparse
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import NoReturn

import audit
from audit.cli import streams
from audit.cli.options import empty, say, tell
from audit.cli.outputs import check_outputs
from audit.errors import AuditError

COMMANDS = (
    "demo",
    "run",
    "runs",
    "study",
    "import_run",
    "sample",
    "gold",
    "plan",
    "overview",
    "report",
    "rerank",
    "pivots",
    "values",
    "agreement",
    "annotators",
    "app",
    "user",
    "known",
    "quality",
    "import_labels",
    "stale",
    "export",
    "import_export",
    "replay",
    "backup",
    "migrate",
    "doctor",
    "hanlp",
    "recorded",
    "listings",
)
INTERRUPTED = 130
_LAST = 3.0
"""Seconds that threads have to end when everything else has."""


class _Parser(argparse.ArgumentParser):
    """Answers a mistake with one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"audit: {message}; see `{self.prog} --help`\n")


def parser() -> argparse.ArgumentParser:
    """The parser with every command; each module of `COMMANDS` adds its own."""
    top = _Parser(
        prog="audit", description="Find out how much of what metamorphic testing reports as satisfied is false."
    )
    top.add_argument("--version", action="version", version=f"audit {audit.__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for name in COMMANDS:
        import_module(f"audit.cli.{name}").add(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0, 1 where it found a problem, or 2 for a mistake of the user.

    What it says goes out whatever the encoding and state of stdout and stderr (`audit.cli.streams`).
    """
    streams.mend()
    try:
        try:
            _refuse_no_text(sys.argv[1:] if argv is None else argv)
            arguments = parser().parse_args(argv)
            if name := empty(arguments):
                raise AuditError(f"{name} is empty; give it a value")
            check_outputs(arguments)
            with _remarks(), _explained(arguments):
                status = arguments.run(arguments)
        finally:
            tell("", end="")  # what argparse printed, too
    except AuditError as mistake:
        say(f"audit: {mistake}")
        status = mistake.status
    except KeyboardInterrupt:
        say("audit: stopped; the same command goes on from here")
        status = INTERRUPTED
    except BrokenPipeError:
        status = 0  # the reader of a pipe went away (`| head`): nothing is wrong, and nothing more can be said
    finally:
        streams.end()
    return int(status or 0)


def _refuse_no_text(argv: Sequence[str]) -> None:
    """Raise AuditError for an argument whose bytes are no text: Python has halves of characters for them."""
    for number, one in enumerate(argv, start=1):
        if not one.isascii() and any("\udc80" <= sign <= "\udcff" for sign in one):
            shown = one.encode("utf-8", "backslashreplace").decode()
            raise AuditError(
                f"argument {number} ({shown[:80]}) has bytes that are no UTF-8; rename the file, or mend it"
            )


def command() -> NoReturn:
    """`main` as a process, which ends: a thread that a system left behind is not waited for.

    What is stored was committed before, so nothing is lost with it.
    """
    status = main()
    if any(not one.daemon for one in threading.enumerate() if one is not threading.main_thread()):
        threading.Thread(target=_end_without_the_others, args=(status,), daemon=True).start()
    sys.exit(status)


def _end_without_the_others(status: int) -> None:
    time.sleep(_LAST)
    say("audit: a thread that a system began goes on; it is ended with this process")
    os._exit(status)


class _Remarks(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(f"audit: {record.getMessage()}")


@contextmanager
def _remarks() -> Iterator[None]:
    """While a command runs, what the rooms log goes to stderr: to open a database of an older version takes a while."""
    logger, handler = logging.getLogger("audit"), _Remarks(logging.INFO)
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@contextmanager
def _explained(arguments: argparse.Namespace) -> Iterator[None]:
    """`audit.store.soundness.explained` for the command's database, loaded once something has gone wrong; and no new
    database stays behind where the command is refused."""
    if engine := sys.modules.get("audit.store.engine"):
        engine.NEW.clear()  # made by another command of this process
    try:
        yield
    except AuditError:
        if engine := sys.modules.get("audit.store.engine"):
            engine.take_back()
        raise
    except BrokenPipeError:
        raise
    except Exception:  # a damaged database ends in anything
        from audit.store.soundness import explained

        with explained(str(getattr(arguments, "db", ""))):
            raise
