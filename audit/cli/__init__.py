"""The `audit` command. A new command is one function with `audit.cli.options.command` in the file of its subject."""

import logging
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer

import audit
from audit.cli.console import PLUGINS, end_streams, mend_streams, say, tell
from audit.cli.options import app, as_options, wording
from audit.errors import AuditError, installed_extras


@cache
def application() -> Any:
    """The app with every command; the files of the subjects declare them."""
    for subject in ("running", "listing", "judging", "reports", "people", "studies", "database"):
        import_module(f"audit.cli.{subject}")
    return typer.main.get_command(app)


def _tell_version(wanted: bool) -> None:
    if wanted:
        tell(f"audit {audit.__version__}")
        raise typer.Exit


def _load_plugins(modules: list[str]) -> list[str]:
    from audit.registry import load_plugin

    for module in modules or ():
        load_plugin(module)
        PLUGINS.append(module)
    return modules


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="say the version, and end")
    ] = False,
    plugin: Annotated[
        list[str],
        typer.Option(
            callback=_load_plugins, metavar="MODULE", help="import a module that registers relations and the like"
        ),
    ] = [],  # noqa: B006
) -> None:
    """Find how much of what metamorphic testing reports as satisfied is false: demo shows it; the usual way is run,
    gold, sample, app, report."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0, 1 where it found a problem, 2 for a mistake of the user, 3 for a limit
    that was reached, or 4 where too little was judged to decide what it was asked.
    """
    mend_streams()
    PLUGINS.clear()
    try:
        top = application()
        with installed_extras(), top.make_context("audit", list(sys.argv[1:] if argv is None else argv)) as context:
            return int(top.invoke(context) or 0)
    except typer.Exit as leaving:
        return leaving.exit_code
    except typer.TyperException as mistake:
        say(f"audit: {wording(mistake)}")
        return 2
    except AuditError as mistake:
        say(f"audit: {as_options(str(mistake), *mistake.parameters)}")
        return mistake.status
    except KeyboardInterrupt:
        say("audit: stopped; the same command goes on from here")
        return 130
    except BrokenPipeError:
        return 0  # the reader of a pipe went away (`| head`): nothing is wrong, and nothing more can be said
    finally:
        end_streams()


def command() -> NoReturn:
    """`main` as a process, which ends: a thread that a system left behind is not waited for. What is stored was
    committed before, so nothing is lost with it."""
    status = main()
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        os._exit(status)
    sys.exit(status)


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
