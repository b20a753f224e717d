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
from audit.cli.options import empty, say, visible
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
    """Run a command; returns the exit status: 0, 1 where it found a problem, or 2 for a mistake of the user."""
    try:
        arguments = parser().parse_args(argv)
        if name := empty(arguments):
            raise AuditError(f"{name} is empty; give it a value")
        with _remarks():
            status = arguments.run(arguments)
        sys.stdout.flush()
    except AuditError as mistake:
        print(f"audit: {visible(str(mistake))}", file=sys.stderr)
        return mistake.status
    except KeyboardInterrupt:
        print("audit: stopped; the same command goes on from here", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe went away (`| head`): nothing is wrong, and nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as problem:
        if not _is_the_databases(problem):
            raise
        reason = " ".join(str(getattr(problem, "orig", problem)).split())
        print(f"audit: the database refused: {reason}; what was stored before is kept", file=sys.stderr)
        return 2
    else:
        return int(status or 0)
    return 0


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


def _is_the_databases(problem: Exception) -> bool:
    """Whether a database could not be read or written (full, locked, read-only, gone), which no code here can mend.

    Asks without importing SQLAlchemy: where it was never loaded, the problem is not its.
    """
    errors = sys.modules.get("sqlalchemy.exc")
    return errors is not None and isinstance(problem, errors.OperationalError)
