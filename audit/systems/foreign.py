"""Code that is not ours: whatever a user's system does while it is loaded, described, prepared or run is told in words.

It may raise anything, `SystemExit` and `KeyboardInterrupt` among them, and take for ever. What ends or fills the
process is no exception: executors with processes of their own are safe from that.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from audit.errors import AuditError

_SHOWN = 200
"""Characters of a value or an exception that a sentence repeats."""
_interrupts = 0
"""How often this process was asked to stop while foreign code ran."""


class TimeIsOver(BaseException):
    """Not an Exception: foreign code must not take it for one of its own."""


class Left(Exception):
    """Raised in place of a BaseException of foreign code such as `SystemExit`, which is its cause."""


@contextmanager
def alarm(seconds: float | None) -> Iterator[None]:
    """Raise TimeIsOver in this block after some seconds (None: never).

    It wakes Python code and most waiting, but no loop of native code; outside of the main thread there is none.
    """
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(_number: int, _frame: FrameType | None) -> None:
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
    """Turn whatever foreign code raises in this block into an Exception: `Left` in place of other BaseExceptions.

    Only `TimeIsOver`, and the end that the user asks for (Ctrl-C, or a SIGTERM that is taken as one), pass.
    """
    interrupts_before = _interrupts
    with _interrupts_noted():
        try:
            yield
        except (Exception, TimeIsOver):
            raise
        except BaseException as problem:
            if _interrupts != interrupts_before:
                raise
            raise Left from problem


@contextmanager
def exits_raised() -> Iterator[None]:
    """`os._exit` in this block is SystemExit, in this thread of this process; native code and signals still end it.

    A process that is forked meanwhile, as those of multiprocessing, ends as it does.
    """
    end, owner = os._exit, (os.getpid(), threading.get_ident())

    def exit_or_raise(status: int) -> NoReturn:
        if (os.getpid(), threading.get_ident()) == owner:
            raise SystemExit(status)
        end(status)

    os._exit = exit_or_raise
    try:
        yield
    finally:
        os._exit = end


@contextmanager
def _interrupts_noted() -> Iterator[None]:
    """Nothing about a KeyboardInterrupt says who raised it; so signals are counted where they raise one."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is signal.default_int_handler:
                before[number] = signal.signal(number, _interrupted)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupted(number: int, frame: FrameType | None) -> None:
    global _interrupts
    _interrupts += 1
    signal.default_int_handler(number, frame)


@contextmanager
def foreign(failed: str, seconds: float | None = None) -> Iterator[None]:
    """Whatever foreign code does in this block is one AuditError, which begins with `failed`; other AuditErrors pass.

    `seconds` is how long it may take, as far as `alarm` can see to it.

    >>> with foreign("system 'mine:f' cannot be described"):
    ...     raise SystemExit(3)
    Traceback (most recent call last):
        ...
    audit.errors.AuditError: system 'mine:f' cannot be described: SystemExit: 3
    """
    try:
        with alarm(seconds), contained():
            yield
    except AuditError:
        raise
    except TimeIsOver:
        if seconds is None:  # somebody else's alarm
            raise
        raise AuditError(late(failed, seconds)) from None
    except Exception as problem:
        raise AuditError(f"{failed}: {shortened(message(problem))}") from problem


def late(failed: str, seconds: float) -> str:
    """The sentence about what took too long.

    >>> late("prepare() of the system 'mine:C' failed", 300)
    "prepare() of the system 'mine:C' failed: no end within 300 s; a longer time limit gives it more"
    """
    return f"{failed}: no end within {seconds:g} s; a longer time limit gives it more"


def message(problem: BaseException) -> str:
    """Kind and text of an exception.

    >>> message(ValueError("no such model"))
    'ValueError: no such model'
    """
    if isinstance(problem, Left) and problem.__cause__ is not None:
        problem = problem.__cause__
    kind = type(problem).__name__
    try:
        return f"{kind}: {problem}".removesuffix(": ")
    except Exception:  # an exception whose own text raises
        return kind


def shortened(text: str) -> str:
    r"""A text of somebody else's as part of a sentence: on one line, and not all of it where it is long.

    >>> shortened("two\n lines \udcff"), len(shortened("x" * 1000))
    ('two lines \\udcff', 200)
    """
    line = " ".join(text[: 4 * _SHOWN].split())
    line = line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "..."
    return line.encode("utf-8", "backslashreplace").decode("utf-8")


def shown(value: object) -> str:
    """A value of somebody else's as part of a sentence: its repr, or its kind where that fails.

    >>> shown([1, 2]), shown("x" * 100)[-5:], shown(10**5000)
    ('[1, 2]', 'xx...', 'a int')
    """
    try:
        with contained():
            text = shortened(repr(value))
    except Exception:  # a repr that raises; a number of more digits than Python spells
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
