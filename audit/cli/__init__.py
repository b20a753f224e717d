"""The `audit` command. A new command is one file and one name in `COMMANDS`."""

import argparse
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import NoReturn

import audit
from audit.cli.options import say, visible
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
        with _remarks(), _explained(arguments):
            status = arguments.run(arguments)
        sys.stdout.flush()
    except AuditError as mistake:
        print(f"audit: {visible(str(mistake))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("audit: stopped; the same command goes on from here", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe went away (`| head`): nothing is wrong, and nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    else:
        return int(status or 0)
    return 0


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
