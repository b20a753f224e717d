"""A program of the user's in any language as a system: `command:FILE.toml`, or `command:PROGRAM ARGUMENTS`.

It reads a line of JSON for each input and writes a line of JSON for each output (docs/reference/systems.md)::

    {"texts": ["So boring."], "languages": ["en"], "task": "sentiment"}
    {"label": "negative", "score": 0.8}
"""

import json
import os
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Annotated, Any

from pydantic import Field, Strict

from audit.errors import AuditError, BadOutput, first_line
from audit.files import parse_json
from audit.keys import fingerprint
from audit.systems.foreign import number, shortened
from audit.systems.remote_file import HELP, SystemFile, TaskName, kind, mistaken_labels, read_system_file
from audit.tasks import Input, Output, get_task, spellings
from audit.tasks.question_answering import UNANSWERABLE
from audit.user_models import Allowed, refuse

LONGEST = 16 * 1024 * 1024
"""Bytes of an answer."""
_ENDING = 1.0
"""Seconds that a program has to end by itself when nothing more comes."""
_WATCHED = 20
"""Answers after which there is a wait for a line too many; later only what has come by then is seen."""
_PARTS = ("label", "score", "text", "error")


class CommandFile(SystemFile):
    """The content of a file."""

    command: Annotated[tuple[str, ...], Strict(False), Allowed('a list of texts, ["python", "mine.py"]', bool)] = Field(
        description="it is the program and its arguments; no shell reads them"
    )
    task: TaskName = "sentiment"
    timeout: float = Field(default=60.0, ge=0.01, le=86_400)
    """Seconds without an answer after which it is ended."""


class Ended(Exception):
    """A program ended, said nothing for too long, or something that is no answer: it is gone. `said` is what it wrote
    in place of an answer, where that is the reason."""

    def __init__(self, reason: str, said: str | None = None):
        super().__init__(reason)
        self.said = said


class Program:
    """A running program, asked a line at a time. Creating it starts it; raises AuditError where it cannot be started.

    It ends with this object; when this process is killed, it finds its input closed. What it says on stderr goes to a
    file, so that it never waits for us to read that.
    """

    def __init__(self, command: Sequence[str]):
        self.owner = os.getpid()
        """The process that started it: one that is forked from that must not speak with it."""
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with this object
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._errors}
        try:  # what it starts itself is ended with its session
            self.process = subprocess.Popen(list(command), **pipes, start_new_session=True)  # type: ignore[call-overload]
        except (OSError, ValueError, subprocess.SubprocessError) as problem:
            raise AuditError(f"the program {command[0]!r} cannot be started ({first_line(problem)})") from problem
        self._asked = 0
        self.end = weakref.finalize(self, _end, self.process, self.owner)

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Return the line that it answers a line with. Raises Ended, and has ended the program then."""
        late = threading.Timer(seconds, self.end)
        late.start()
        answer = b""
        try:
            with suppress(OSError, ValueError):  # it reads no more: its end says why
                self.process.stdin.write(line + b"\n")
                self.process.stdin.flush()
            with suppress(ValueError):
                answer = self.process.stdout.readline(LONGEST)
        finally:
            late.cancel()
        if not self.end.alive:
            raise self.ended(f"no answer within {seconds:g} s; does it flush its output after each line?")
        if len(answer) == LONGEST:
            raise self.ended(f"it wrote a line of {LONGEST:,} bytes or more")
        if not answer.endswith(b"\n"):
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_ENDING)
            raise self.ended(f"it {_status(self.process.poll())} without an answer", answer)
        self._asked += 1
        select.select([self.process.stdout], [], [], 0.005 if self._asked <= _WATCHED else 0)
        os.set_blocking(self.process.stdout.fileno(), False)
        if more := self.process.stdout.peek(1):  # it would be taken for the answer to another line
            raise self.ended("it wrote more lines than it was asked for", answer + more)
        os.set_blocking(self.process.stdout.fileno(), True)
        return answer.rstrip(b"\r\n")

    def ended(self, reason: str, said: bytes = b"") -> Ended:
        """End it; return the exception that says why, with the last lines that it wrote on stderr."""
        self.end()
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - (1 << 14)))
        words = shortened(" | ".join(self._errors.read().decode("utf-8", "replace").strip().splitlines()[-3:]))
        wrote = said.decode("utf-8", "replace") or None
        reason = f"{reason}: {shortened(wrote)}" if wrote else reason
        return Ended(f"{reason}; on stderr: {words}" if words else reason, wrote)


def _status(status: int | None) -> str:
    if status is None:
        return "closed its output"
    return f"ended with status {status}" if status >= 0 else f"was ended by signal {-status}"


def _end(process: "subprocess.Popen[bytes]", owner: int) -> None:
    """End a program and what it started: kindly, then not."""
    if os.getpid() != owner:  # a process that was forked from its owner
        return
    for kill in (signal.SIGTERM, signal.SIGKILL):  # its group may outlive it
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, kill)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDING)


class Command:
    """A program as a `System`. It is started when it is first asked, in each process, and kept.

    Where it ends, says nothing in time or writes what is no JSON, the input that it was asked is a stored error, with
    what the program said on stderr, and it is started again for the next one.
    """

    def __init__(self, argument: str):
        self._argument = argument
        self._file = file = _described(argument)
        self.name, self.version, self.tasks = file.name, file.version, (file.task,)
        self.deterministic = file.deterministic
        self.languages: tuple[str, ...] = file.languages or ("*",)
        self.settings: Mapping[str, object] = {"command": list(file.command), "task": file.task, "labels": file.labels}
        self.summary = f"the program {shlex.join(file.command)}"
        self._spelling = spellings([file.task])
        self.program: Program | None = None

    def __reduce__(self) -> tuple[type["Command"], tuple[str]]:
        return Command, (self._argument,)  # each process starts its own

    def needs(self) -> str | None:
        program = self._file.command[0]
        if shutil.which(program):
            return None
        return f"there is no program {program!r} here; install it, or name it with its folder"

    def prepare(self) -> None:
        """Raise AuditError where there is no program; it is started when it is first asked."""
        if needs := self.needs():
            raise AuditError(f"system {self.name} cannot run here; {needs}")

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        """Return one output per input. Raises AuditError where the program cannot be started."""
        return [self._output(item) for item in inputs]

    def _output(self, item: Input) -> Output:
        if self.program is None or self.program.owner != os.getpid():
            self.program = Program(self._file.command)
        sent = {"texts": item.texts, "languages": item.languages, "task": self._file.task}
        line, said = json.dumps(sent, ensure_ascii=False).encode("utf-8", "replace"), b""
        try:
            said = self.program.ask(line, self._file.timeout)
            return get_task(self._file.task).checked(self._read(parse_json(said)))
        except BadOutput as problem:
            return Output(error=f"{self._file.command[0]}: {problem}", text=said.decode("utf-8", "replace"))
        except (Ended, ValueError) as problem:  # whatever no JSON stands for, the lines behind it may be other inputs'
            if not isinstance(problem, Ended):
                problem = self.program.ended("it wrote a line that is no JSON", said)
            self.program = None
            return Output(error=f"{self._file.command[0]}: {problem}", text=problem.said)

    def _read(self, answer: Any) -> Output:
        if not isinstance(answer, dict):
            raise BadOutput(f"an answer must be an object with {', '.join(_PARTS)}; this is {kind(answer)}")
        if other := answer.keys() - set(_PARTS):
            raise BadOutput(f"an answer has {min(other)!r}; allowed are {', '.join(_PARTS)}")
        label, score, text, error = (answer.get(name) for name in _PARTS)
        if error is not None:
            raise BadOutput(shortened(str(error)))
        if score is not None and number(score) is None:
            raise BadOutput(f"a score must be a number, this is {kind(score)}")
        for name, value in (("label", label), ("text", text)):
            if value is not None and not isinstance(value, str):
                raise BadOutput(f"a {name} must be a text, this is {kind(value)}")
        if text is None and "text" in answer and self._file.task == "question-answering":
            text = UNANSWERABLE
        if label is not None:
            label = self._file.labels.get(label) or self._spelling.get(label.strip().casefold(), label)
        return Output(label, number(score), text)


def _described(argument: str) -> CommandFile:
    """Return what `command:ARGUMENT` means. Raises AuditError and BadFile."""
    if argument.endswith(".toml") and " " not in argument.strip():
        file = read_system_file(CommandFile, argument, "command")
        refuse(argument, mistaken_labels(file.labels, [file.task]), HELP)
        return file
    try:
        words = shlex.split(argument)
    except ValueError as problem:
        raise AuditError(f"'command:{argument}' cannot be read ({problem})") from None
    if not words:
        raise AuditError(f"'command:' does not name a program; write command:FILE.toml or command:PROGRAM ({HELP})")
    # As of a module of the user's: changed code is another system.
    files = [Path(word) for word in (shutil.which(words[0]) or words[0], *words[1:]) if Path(word).is_file()]
    scripts = [file.read_bytes().decode("utf-8", "replace") for file in files if file.stat().st_size < 1 << 20]
    version = fingerprint(scripts) if scripts else "unknown"
    return CommandFile.model_validate({"name": argument.strip(), "version": version, "command": words})
