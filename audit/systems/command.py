"""A program of the user's in any language as a system: `command:FILE.toml`.

It reads a line of JSON for each input and writes a line of JSON for each output (docs/reference/systems.md)::

    {"texts": ["So boring."], "languages": ["en"], "task": "sentiment"}
    {"label": "negative", "score": 0.8}
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import IO, Annotated, Any

from pydantic import Field, Strict

from audit.errors import AuditError, BadOutput, first_line
from audit.files import parse_json
from audit.systems.endpoint import HELP, OutputReader, SystemFile, TaskName, mistaken_labels, read_system_file
from audit.systems.foreign import shortened, shown
from audit.tasks import Input, Output, get_task
from audit.tasks.question_answering import UNANSWERABLE
from audit.user_models import Allowed, refuse

LONGEST = 16 * 1024 * 1024  # Bytes of an answer
_ENDING = 1.0  # Seconds that a program has to end by itself when nothing more comes
_WATCHED = 20  # Answers after which there is a wait for a line too many; later only what has come by then is seen


class CommandFile(SystemFile):
    """The content of a file; after `timeout` seconds without an answer the program is ended."""

    command: Annotated[tuple[str, ...], Strict(False), Allowed('a list of texts, ["python", "mine.py"]', bool)] = Field(
        description="it is the program and its arguments; no shell reads them"
    )
    task: TaskName = "sentiment"
    timeout: float = Field(default=60.0, ge=0.01, le=86_400)


_ALLOWED = ("label", "score", "text", "error")


class Ended(Exception):
    """A program ended, said nothing for too long, or something that is no answer: it is gone. `said` is what it wrote
    in place of an answer."""

    def __init__(self, reason: str, said: bytes):
        self.said = said.decode("utf-8", "replace") or None
        super().__init__(f"{reason}: {shortened(self.said)}" if self.said else reason)


class Program:
    """A running program, asked a line at a time, which ends with this object; when this process is killed, it finds its
    input closed. Its stderr is a file, so that it never waits for us to read that."""

    def __init__(self, command: Sequence[str]):
        self.owner = os.getpid()  # A process that is forked from this one must not speak with it
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with this object
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.errors}
        try:  # what it starts itself is ended with its session
            process = subprocess.Popen(list(command), **pipes, start_new_session=True)  # type: ignore[call-overload]
        except (OSError, ValueError) as problem:
            raise AuditError(f"the program {command[0]!r} cannot be started ({first_line(problem)})") from problem
        self.process, self._lines, self._asked = process, SimpleQueue[bytes](), 0
        threading.Thread(target=_read_lines, args=(process.stdout, self._lines), daemon=True).start()
        self.end = weakref.finalize(self, _end, process, self.owner)

    def ask(self, line: bytes, seconds: float) -> Any:
        """Return the JSON that it answers a line with. Raises Ended, and has ended the program then."""
        answer = b""
        with suppress(OSError):  # it reads no more: its end says why
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()
        try:
            answer = self._lines.get(timeout=seconds)
            time.sleep(0.005 if self._asked < _WATCHED else 0)
            self._asked += 1
            if answer.endswith(b"\n") and self._lines.empty():
                return parse_json(answer)
            if answer.endswith(b"\n"):  # another line would be taken for the answer to another input
                answer, problem = answer + self._lines.get(), "it wrote more lines than it was asked for"
            else:
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(_ENDING)
                problem = f"it ended with status {self.process.poll()} without an answer"  # None: closed its output
        except Empty:
            problem = f"no answer within {seconds:g} s; does it flush its output after each line?"
        except ValueError:  # whatever no JSON stands for, the lines behind it may be other inputs'
            problem = "it wrote a line that is no JSON"
        self.end()
        self.errors.seek(max(0, self.errors.seek(0, os.SEEK_END) - (1 << 14)))
        words = shortened(" | ".join(self.errors.read().decode("utf-8", "replace").strip().splitlines()[-3:]))
        raise Ended(f"{problem}; on stderr: {words}" if words else problem, answer)


def _read_lines(stdout: IO[bytes], lines: "SimpleQueue[bytes]") -> None:
    """Hand lines on; the last one, where the program ends, has no line end."""
    with suppress(ValueError):  # it was closed
        while line := stdout.readline(LONGEST):
            lines.put(line)
    lines.put(b"")


def _end(process: "subprocess.Popen[bytes]", owner: int) -> None:
    """End a program and what it started, its group: kindly, then not; not from a process forked from its owner."""
    for kill in (signal.SIGTERM, signal.SIGKILL) if os.getpid() == owner else ():
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
        self._file = file = read_system_file(CommandFile, argument, "command")
        refuse(argument, mistaken_labels(file.labels, [file.task]), HELP)
        self.name, self.version, self.tasks = file.name, file.version, (file.task,)
        self.deterministic = file.deterministic
        self.languages: tuple[str, ...] = file.languages or ("*",)
        self.settings: Mapping[str, object] = {"command": list(file.command), "task": file.task, "labels": file.labels}
        self.summary = f"the program {shlex.join(file.command)}"
        self._read_output = OutputReader(file.labels, [file.task])
        self.program: Program | None = None

    def __reduce__(self) -> tuple[type["Command"], tuple[str]]:
        return Command, (self._argument,)  # each process starts its own

    def needs(self) -> str | None:
        program = self._file.command[0]
        here = shutil.which(program)
        return None if here else f"there is no program {program!r} here; install it, or name it with its folder"

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
        line = json.dumps(sent, ensure_ascii=False).encode("utf-8", "replace")
        said, name = None, self._file.command[0]
        try:
            said = self.program.ask(line, self._file.timeout)
            return get_task(self._file.task).checked(self._read(said))
        except BadOutput as problem:
            return Output(error=f"{name}: {problem}", text=json.dumps(said, ensure_ascii=False))
        except Ended as problem:
            self.program = None
            return Output(error=f"{name}: {problem}", text=problem.said)

    def _read(self, answer: Any) -> Output:
        if not isinstance(answer, dict) or not answer.keys() <= set(_ALLOWED):
            raise BadOutput(
                f"an answer has {', '.join(_ALLOWED)}, of which label and text are texts; not {shown(answer)}"
            )
        if (error := answer.get("error")) is not None:
            raise BadOutput(shortened(str(error)))
        text = answer.get("text")
        if text is None and "text" in answer and self._file.task == "question-answering":
            text = UNANSWERABLE
        return self._read_output(answer.get("label"), answer.get("score"), text)
