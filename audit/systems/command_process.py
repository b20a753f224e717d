"""A program that reads lines and answers each with a line: it is started, asked, and ended with all that it started."""

import os
import selectors
import signal
import subprocess
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic

from audit.errors import AuditError, first_line
from audit.systems.foreign import shortened

LONGEST = 16 * 1024 * 1024
"""Bytes of an answer."""
_PIECE = 1 << 16
_ERRORS = 1 << 14
"""Bytes kept of what a program says on stderr."""
_ENDING = 1.0
"""Seconds that a program has to end by itself when nothing more comes."""


class Ended(Exception):
    """A program ended, said nothing for too long, or something that is no answer: it is gone. `answers` are the lines
    that it wrote before, and `said` what it wrote in place of the next one."""

    def __init__(self, reason: str, answers: Sequence[bytes], said: bytes | None = None):
        super().__init__(reason)
        self.answers, self.said = list(answers), said


class Program:
    """A running program. Lines are written and read at the same time, so that neither side waits for ever for the other
    to read; nothing here is a thread.

    It ends with this object; when this process is killed, it finds its input closed. Creating it starts it; raises
    AuditError where it cannot be started.
    """

    def __init__(self, command: Sequence[str]):
        self.owner = os.getpid()
        """The process that started it: one that is forked from that must not speak with it."""
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # what it starts itself is ended with it
            )
        except (OSError, ValueError, subprocess.SubprocessError) as problem:
            raise AuditError(f"the program {command[0]!r} cannot be started ({first_line(problem)})") from problem
        self._pipes = [self._process.stdin, self._process.stdout, self._process.stderr]
        self._in, self._out, self._err = (pipe.fileno() for pipe in self._pipes if pipe is not None)
        for pipe in (self._in, self._out, self._err):
            os.set_blocking(pipe, False)
        self._read = bytearray()
        self._errors: deque[int] = deque(maxlen=_ERRORS)
        self._end = weakref.finalize(self, _end, self._process, self.owner)

    def ask(self, lines: Sequence[bytes], seconds: float) -> list[bytes]:
        """An answer for each line, in their order, each without its line break; `seconds` may go by between two.

        Raises Ended, and has ended the program then.
        """
        self._refuse_early(self._wait(0))
        answers: list[bytes] = []
        unsent = memoryview(b"".join(line + b"\n" for line in lines))
        deadline = monotonic() + seconds
        while len(answers) < len(lines):
            ready = self._wait(max(0.0, deadline - monotonic()), writing=bool(unsent))
            if not ready and monotonic() >= deadline:
                raise self._gone(f"no answer within {seconds:g} s; does it flush its output after each line?", answers)
            if self._in in ready:
                unsent = unsent[self._write(unsent) :]
            if self._out in ready and not self._receive():
                raise self._gone("", answers)
            while (end := self._read.find(b"\n")) >= 0 and len(answers) < len(lines):
                answers.append(bytes(self._read[:end]).rstrip(b"\r"))
                del self._read[: end + 1]
                deadline = monotonic() + seconds
            if len(self._read) > LONGEST:
                raise self._gone(f"it wrote a line of more than {LONGEST:,} bytes", answers)
        return answers

    def end(self) -> None:
        """End it, and all that it started."""
        self._end()

    def _refuse_early(self, ready: set[int]) -> None:
        if self._out in ready and not self._receive():
            raise self._gone("", [])
        if self._read:
            raise self._gone(
                f"it wrote more lines than it was asked for: {shortened(self._read.decode('utf-8', 'replace'))}", []
            )

    def _wait(self, seconds: float, writing: bool = False) -> set[int]:
        """The pipes that can be read or written, within some seconds; what the program says on stderr is read here."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._out, selectors.EVENT_READ)
            if not self._process_is_mute():
                selector.register(self._err, selectors.EVENT_READ)
            if writing and self._in >= 0:
                selector.register(self._in, selectors.EVENT_WRITE)
            ready = {key.fd for key, _ in selector.select(seconds)}
        if self._err in ready:
            self._hear()
        return ready

    def _process_is_mute(self) -> bool:
        return self._err < 0

    def _write(self, unsent: memoryview) -> int:
        """How many bytes the program took; all of them where it reads no more, since its end will say why."""
        try:
            return os.write(self._in, unsent[:_PIECE])
        except BlockingIOError:
            return 0
        except OSError:
            self._in = -1
            return len(unsent)

    def _receive(self) -> bool:
        """Read what it wrote; whether it may write more."""
        try:
            piece = os.read(self._out, _PIECE)
        except BlockingIOError:
            return True
        self._read += piece
        return bool(piece)

    def _hear(self) -> None:
        with suppress(BlockingIOError):
            piece = os.read(self._err, _PIECE)
            self._errors.extend(piece)
            if not piece:
                self._err = -1

    def _gone(self, reason: str, answers: Sequence[bytes], said: bytes | None = None) -> Ended:
        """End it; the exception that says why."""
        if not reason:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_ENDING)
            status = self._process.poll()
            how = "closed its output" if status is None else _status(status)
            reason = f"it {how} without an answer"
        if not self._process_is_mute():
            self._hear()
        words = shortened(" | ".join(bytes(self._errors).decode("utf-8", "replace").strip().splitlines()[-3:]))
        self.end()
        return Ended(f"{reason}; on stderr: {words}" if words else reason, answers, said)

    def refuse(self, reason: str, answers: Sequence[bytes], said: bytes) -> Ended:
        """End it for what it wrote; the exception that says so."""
        return self._gone(reason, answers, said)


def _status(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    with suppress(ValueError):
        return f"was ended by {signal.Signals(-status).name}"
    return f"was ended by signal {-status}"


def _end(process: "subprocess.Popen[bytes]", owner: int) -> None:
    """End a program and what it started: kindly, then not."""
    if os.getpid() != owner:  # a process that was forked from its owner
        return
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDING)
    with suppress(ProcessLookupError, PermissionError):  # its group may outlive it
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_ENDING)
