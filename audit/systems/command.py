"""A program of the user's in any language as a system: `command:FILE.toml`. It reads a line of JSON for each input,
until there are no more, and writes one for each output (docs/reference/systems.md)::

    {"texts": ["So boring."], "languages": ["en"], "task": "sentiment"}
    {"label": "negative", "score": 0.8}
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from tempfile import TemporaryFile
from typing import Annotated, Any

from pydantic import Field, Strict

from audit.errors import AuditError, BadOutput, first_line
from audit.files import parse_json
from audit.messages import counted
from audit.systems.endpoint import EVERY, FromFile, OutputReader, SystemFile, TaskName, read_system_file
from audit.systems.foreign import shortened, shown
from audit.tasks import Input, Output, get_task
from audit.tasks.question_answering import UNANSWERABLE
from audit.user_models import Allowed

LONGEST = 64 * 1024 * 1024  # Bytes of the answers to one call


class CommandFile(SystemFile):
    """The content of a file; after `timeout` seconds without a line the program is ended."""

    command: Annotated[tuple[str, ...], Strict(False), Allowed('a list of texts, ["python", "mine.py"]', bool)] = Field(
        description="it is the program and its arguments; no shell reads them"
    )
    task: TaskName = "sentiment"
    timeout: float = Field(default=60.0, ge=0.01, le=86_400)


class Command(FromFile):
    """A program as a `System`, started for each call. Of one that does not end well with a line for each input, parts
    are asked anew, down to an input alone: that one is a stored error, with what the program said."""

    batch_seconds = 20.0  # It may take long to start

    def __init__(self, argument: str):
        self._file = file = read_system_file(CommandFile, argument, "command")
        super().__init__(argument, file, (file.task,), file.languages or (EVERY,))
        self.settings = {"command": list(file.command), "task": file.task, "labels": file.labels}
        self.summary = f"the program {shlex.join(file.command)}"
        self._read_output = OutputReader(file.labels, [file.task])

    def needs(self) -> str | None:
        program = self._file.command[0]
        here = shutil.which(program)
        return None if here else f"there is no program {program!r} here; install it, or name it with its folder"

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        """Return one output per input. Raises AuditError where the program cannot be started."""
        outputs: list[Output] = []
        size = len(inputs)
        while part := inputs[len(outputs) : len(outputs) + size]:
            lines, problem = self._asked(part)
            size = len(inputs)
            if not problem:
                outputs += map(self._output, lines)
            elif len(part) == 1:
                outputs.append(self._failed(problem, "\n".join(lines) or None))
            else:  # those that were answered, or a half where there is an answer too many, or the first alone
                size = max(1, len(lines) if len(lines) < len(part) else len(part) // 2)
        return outputs

    def _asked(self, inputs: Sequence[Input]) -> tuple[list[str], str]:
        """Return the lines that the program answers inputs with, and what is wrong where they are not one for each."""
        sent = [{"texts": item.texts, "languages": item.languages, "task": self._file.task} for item in inputs]
        content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in sent).encode("utf-8", "replace")
        written, errors, end = _said_by(self._file.command, content, self._file.timeout)
        lines = written.removesuffix("\n").split("\n") if written else []
        if not end and len(lines) == len(inputs):
            return lines, ""
        said = (" | ".join(errors.strip().splitlines()[-3:]), written)
        problem = end or f"it wrote {counted(len(lines), 'line')} for {counted(len(inputs), 'input')}"
        return lines, "; ".join([problem, *map(shortened, filter(str.strip, said))])

    def _failed(self, problem: object, said: str | None) -> Output:
        return Output(error=f"{self._file.command[0]}: {problem}", text=said)

    def _output(self, line: str) -> Output:
        try:
            return get_task(self._file.task).checked(self._read(parse_json(line)))
        except BadOutput as problem:
            return self._failed(problem, line)
        except ValueError:
            return self._failed(f"it wrote a line that is no JSON: {shortened(line)}", line)

    def _read(self, answer: Any) -> Output:
        if not isinstance(answer, dict) or not answer.keys() <= {"label", "score", "text", "error"}:
            raise BadOutput(f"an answer has label, score, text or error, not {shown(answer)}")
        if (error := answer.get("error")) is not None:
            raise BadOutput(shortened(str(error)))
        text = answer.get("text")
        if text is None and "text" in answer and self._file.task == "question-answering":
            text = UNANSWERABLE
        return self._read_output(answer.get("label"), answer.get("score"), text)


def _said_by(command: Sequence[str], sent: bytes, patience: float) -> tuple[str, str, str]:
    """Return what a program writes on stdout and stderr when it is sent this, and how it ended where that was not by
    itself with status 0. Whatever it started is ended with it. Raises AuditError where it cannot be started."""
    with TemporaryFile() as typed, TemporaryFile() as written, TemporaryFile() as errors:
        typed.write(sent)
        typed.seek(0)
        files = {"stdin": typed, "stdout": written, "stderr": errors}
        try:
            process = subprocess.Popen(list(command), **files, start_new_session=True)  # type: ignore[call-overload]
        except (OSError, ValueError) as problem:
            raise AuditError(f"the program {command[0]!r} cannot be started ({first_line(problem)})") from problem
        end, size, since = "", 0, time.monotonic()
        try:
            while process.poll() is None and not end:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(min(patience, 0.2))
                before, size = size, os.fstat(written.fileno()).st_size
                since = since if size == before else time.monotonic()
                if size > LONGEST:
                    end = f"it wrote more than {LONGEST:,} bytes"
                elif process.poll() is None and time.monotonic() - since >= patience:
                    end = f"no line within {patience:g} s; does it flush its output after each line?"
            end = end or (f"it ended with status {process.returncode}" if process.returncode else "")
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        written.seek(0)
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - (1 << 14)))
        said, errors_said = (file.read(LONGEST).decode("utf-8", "replace") for file in (written, errors))
    return said, errors_said, end
