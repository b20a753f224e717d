"""Stdout and stderr as they may be: closed, full, a pipe that nobody reads, in an encoding that lacks characters."""

import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO, cast


def mend() -> None:
    """Make stdin, stdout and stderr fit to be used by a command.

    Those that are closed are opened again, before another file (a database) gets their number: nothing is read, stderr
    goes nowhere, and to write to stdout fails. A character that an encoding lacks is written as an escape. Remarks that
    cannot be written end no command.
    """
    if sys.stdin is None:
        sys.stdin = _opened(0, os.O_RDONLY, "r")
    if sys.stdout is None:
        sys.stdout = _opened(1, os.O_RDONLY, "w")
    if sys.stderr is None:
        sys.stderr = _opened(2, os.O_WRONLY, "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = _Remarks(sys.stderr)


def end() -> None:
    """Leave nothing that the interpreter would fail to write when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _discard(stream)


def _opened(number: int, how: int, mode: str) -> TextIO:
    with suppress(OSError):
        os.close(number)
    handle = os.open(os.devnull, how)
    if handle != number:
        os.dup2(handle, number)
        os.close(handle)
    return cast(TextIO, open(number, mode, encoding="utf-8", closefd=False))


def _discard(stream: TextIO) -> None:
    """What a stream still holds, and all that comes, goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    with suppress(OSError):
        stream.flush()


class _Remarks(io.TextIOWrapper):
    """Stderr, of which a part that cannot be written is lost."""

    def __init__(self, stream: io.TextIOWrapper):
        super().__init__(stream.buffer, stream.encoding, stream.errors, line_buffering=True, write_through=True)

    def write(self, text: str) -> int:
        return self._tried(lambda: super(_Remarks, self).write(text)) or len(text)

    def flush(self) -> None:
        self._tried(super().flush)

    def _tried(self, do: Callable[[], int | None]) -> int | None:
        try:
            return do()
        except OSError:
            _discard(sys.__stderr__ or self)
            return None
