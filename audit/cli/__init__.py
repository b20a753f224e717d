"""The `audit` command. A new command is one function with `audit.cli.options.command` in the file of its subject."""

import logging
import os
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer

import audit
from audit.cli.console import PLUGINS, end_streams, mend_streams, say, tell
from audit.cli.options import app, shell_wording, wording
from audit.errors import AuditError, installed_extras

INTERRUPTED = 130
_SUBJECTS = ("running", "judging", "reports", "people", "studies", "database")
_LAST = 3.0
"""Seconds that threads have to end when everything else has."""


@cache
def application() -> Any:
    """The app with every command; the files in `_SUBJECTS` declare them."""
    for subject in _SUBJECTS:
        import_module(f"audit.cli.{subject}")
    return typer.main.get_command(app)


def _tell_version(wanted: bool) -> None:
    if wanted:
        tell(f"audit {audit.__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="say the version, and end")
    ] = False,
) -> None:
    """Find how much of what metamorphic testing reports as satisfied is false: demo shows it; the usual way is run,
    gold, sample, app, report. --plugin MODULE imports a module that registers relations and the like first."""


def _load_plugins(words: list[str]) -> list[str]:
    """Import the modules that are named with --plugin, before the command or after it; returns the other words.

    Not an option of typer's: those of a group are converted before any command, which loads pydantic for every page of
    help.
    """
    end = words.index("--") if "--" in words else len(words)
    remaining, others = iter(words[:end]), []
    for word in remaining:
        if not re.match(r"--plugin(=|\Z)", word):
            others.append(word)
            continue
        from audit.registry import load_plugin

        _, equals, module = word.partition("=")
        module = module if equals else next(remaining, "")
        if not module.strip() or module.startswith("-"):
            raise AuditError("--plugin needs the name of a module, such as mypackage.relations")
        load_plugin(module)
        PLUGINS.append(module)
    return others + words[end:]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0, 1 where it found a problem, 2 for a mistake of the user, 3 for a limit
    that was reached, or 4 where too little was judged to decide what it was asked.
    """
    mend_streams()
    PLUGINS.clear()
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        words = _load_plugins(words)
        top = application()
        with installed_extras(), top.make_context("audit", words) as context:
            status = top.invoke(context)
    except typer.Exit as leaving:
        status = leaving.exit_code
    except typer.TyperException as mistake:
        say(f"audit: {wording(mistake)}")
        status = 2
    except AuditError as mistake:
        say(f"audit: {shell_wording(mistake)}")
        status = mistake.status
    except KeyboardInterrupt:
        say("audit: stopped; the same command goes on from here")
        status = INTERRUPTED
    except BrokenPipeError:
        status = 0  # the reader of a pipe went away (`| head`): nothing is wrong, and nothing more can be said
    finally:
        end_streams()
    return int(status or 0)


def command() -> NoReturn:
    """`main` as a process, which ends: a thread that a system left behind is not waited for.

    What is stored was committed before, so nothing is lost with it.
    """
    status = main()
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
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
def working() -> Iterator[None]:
    """While a command works, what the rooms log goes to stderr."""
    logger, handler = logging.getLogger("audit"), _Remarks(logging.INFO)
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
