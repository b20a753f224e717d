"""Code that is not ours: whatever a user's system does while it is loaded, described, prepared or run is told in words.

It may raise anything, `SystemExit` among it, and take for ever. What ends or fills the process is no exception:
executors with processes of their own are safe from that.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from typing import Any

from audit.errors import AuditError

_SHOWN = 200  # Characters of a value or an exception that a sentence repeats


class TimeIsOver(BaseException):
    """Not an Exception: foreign code must not take it for one of its own."""


class Left(Exception):
    """Raised in place of a BaseException of foreign code such as `SystemExit`, which is its cause."""


@contextmanager
def alarm(seconds: float | None) -> Iterator[None]:
    """Raise TimeIsOver in this block after some seconds (None: never). It wakes Python code and most waiting, but no
    loop of native code; outside of the main thread there is none."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(*_: Any) -> None:
        raise TimeIsOver

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def contained() -> Iterator[None]:
    """Turn whatever foreign code raises in this block into an Exception, but for `TimeIsOver` and KeyboardInterrupt."""
    try:
        yield
    except (Exception, TimeIsOver, KeyboardInterrupt):
        raise
    except BaseException as problem:
        raise Left from problem


@contextmanager
def foreign(failed: str, seconds: float | None = None) -> Iterator[None]:
    """Turn whatever foreign code does in this block, which may take so many `seconds`, into one AuditError, which
    begins with `failed`; other AuditErrors pass."""
    try:
        with alarm(seconds), contained():
            yield
    except TimeIsOver:
        if seconds is None:  # somebody else's alarm
            raise
        raise AuditError(f"{failed}: no end within {seconds:g} s; a longer time limit gives it more") from None
    except AuditError:
        raise
    except Exception as problem:
        raise AuditError(f"{failed}: {shortened(message(problem))}") from problem


def message(problem: BaseException) -> str:
    """Return kind and text of an exception."""
    problem = problem.__cause__ or problem if isinstance(problem, Left) else problem
    try:
        return f"{type(problem).__name__}: {problem}".removesuffix(": ")
    except Exception:  # an exception whose own text raises
        return type(problem).__name__


def shortened(text: str, most: int = _SHOWN) -> str:
    r"""Return a text of foreign code as part of a sentence: on one line, and the beginning where it is long.

    >>> shortened("two\n lines \udcff"), len(shortened("x" * 1000))
    ('two lines \\udcff', 200)
    """
    line = " ".join(text[: 10 * most].split())
    line = line if len(line) <= most else line[: most - 3] + "..."
    return line.encode("utf-8", "backslashreplace").decode("utf-8")


def shown(value: object) -> str:
    """Return a value of foreign code as part of a sentence: its repr, or its kind where that fails.

    >>> shown([1, 2]), shown("x" * 100)[-5:], shown(10**5000)
    ('[1, 2]', 'xx...', 'a int')
    """
    try:
        with contained():
            return shortened(repr(value), 60)
    except Exception:  # a repr that raises; a number of more digits than Python spells
        return f"a {type(value).__name__}"


def number(value: object) -> float | None:
    """Return a number of Python's or NumPy's as a float, None for anything else."""
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None


_HEARD: ContextVar[list[object] | None] = ContextVar("heard", default=None)


@contextmanager
def hearing() -> Iterator[list[object]]:
    """Collect what systems say in this block, word for word, before it becomes an output: for trying a system."""
    heard: list[object] = []
    token = _HEARD.set(heard)
    try:
        yield heard
    finally:
        _HEARD.reset(token)


def tell_heard(value: object) -> None:
    """Tell a `hearing` block what a system said; costs nothing outside of one."""
    if (heard := _HEARD.get()) is not None:
        heard.append(value)
