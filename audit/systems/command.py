"""A program of the user's in any language as a system: `command:FILE.toml`, or `command:PROGRAM ARGUMENTS`.

It reads a line of JSON for each input and writes a line of JSON for each output (docs/reference/systems.md)::

    {"texts": ["So boring."], "languages": ["en"], "task": "sentiment"}
    {"label": "negative", "score": 0.8}
"""

import json
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, Strict, model_validator

from audit.errors import AuditError, BadOutput
from audit.files import parse_json, read_text, toml_of
from audit.keys import fingerprint
from audit.systems.command_process import Ended, Program
from audit.systems.foreign import shortened
from audit.systems.remote_file import Labels, Names, Text, kind, labels_of, spelled
from audit.tasks import Input, Output, get_task, spellings
from audit.tasks.question_answering import UNANSWERABLE
from audit.user_models import Allowed, Mistake, UserModel, read_as, sure

_HELP = "see docs/reference/systems.md"
_STARTS = 10
"""Times that a program may end one after the other without any answer; then it is asked no more in this call."""
Words = Annotated[
    tuple[str, ...],
    Strict(False),
    Allowed('a list of texts, for example ["python", "mine.py"]', lambda words: bool(words) and bool(words[0].strip())),
]


class CommandFile(UserModel):
    """The content of a file."""

    name: Annotated[Text, BeforeValidator(spelled)] = Field(description="it is what reports call the system")
    version: Annotated[Text, BeforeValidator(spelled)] = Field(
        description="nobody can see from here when a program changes: change it when it does"
    )
    command: Words = Field(description="it is the program and its arguments; no shell reads them")
    task: Text = "sentiment"
    languages: Names | None = None
    deterministic: bool | None = None
    """Whether it always answers the same; None: nobody knows."""
    labels: Labels = Field({}, repr=False)
    """The program's own words for labels -> ours."""
    timeout: float = Field(default=60.0, ge=0.01, le=86_400)
    """Seconds without an answer after which it is ended."""

    @model_validator(mode="after")
    def _check_labels(self) -> "CommandFile":
        allowed = sure(lambda: labels_of([self.task]), "task")
        if unknown := next((label for label in self.labels.values() if allowed and label not in allowed), None):
            raise Mistake(f"{unknown!r} is no label of {self.task}; allowed are {', '.join(allowed)}", "labels")
        return self


class Command:
    """A program as a `System`. It is started when it is first asked, in each process, and kept.

    Where it ends, says nothing in time or writes what is no JSON, it is started again; inputs that had no answer are
    asked one by one, so that the one that ends it is a stored error, with what the program said on stderr.
    """

    def __init__(self, argument: str):
        self._argument = argument
        self._file = said = _described(argument)
        self.name, self.version, self.tasks = said.name, said.version, (said.task,)
        self.languages: tuple[str, ...] = said.languages or ("*",)
        self.settings: Mapping[str, object] = {"command": list(said.command), "task": said.task, "labels": said.labels}
        self.summary = f"the program {shlex.join(said.command)}"
        self.deterministic = said.deterministic
        self._spelling = spellings([said.task])
        self._program: Program | None = None

    def __reduce__(self) -> tuple[type["Command"], tuple[str]]:
        return Command, (self._argument,)  # each process starts its own

    def needs(self) -> str | None:
        """None when the program is there."""
        program = self._file.command[0]
        if shutil.which(program):
            return None
        return f"there is no program {program!r} here; install it, or name it with its folder"

    def prepare(self) -> None:
        """Nothing: the program is started when it is first asked. Raises AuditError where there is none."""
        if needs := self.needs():
            raise AuditError(f"system {self.name} cannot run here; {needs}")

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        """One output per input. Raises AuditError where the program cannot be started."""
        outputs: list[Output] = []
        ended, alone = 0, False
        while len(outputs) < len(inputs):
            rest = inputs[len(outputs) :]
            asked = rest[:1] if alone else rest
            try:
                outputs += self._answered(asked)
                ended, alone = 0, False
            except Ended as problem:
                outputs += [self._output(line) for line in problem.answers]
                ended = 0 if problem.answers else ended + 1
                reason = f"{self._file.command[0]}: {problem}"
                if len(asked) == 1 or problem.said is not None:
                    raw = None if problem.said is None else problem.said.decode("utf-8", "replace")
                    outputs.append(Output(error=reason, text=raw))
                if ended >= _STARTS:
                    outputs += [Output(error=f"{reason} ({ended} times in a row)")] * (len(inputs) - len(outputs))
                alone = True  # whose fault it was is known when each is asked alone
        return outputs

    def _answered(self, inputs: Sequence[Input]) -> list[Output]:
        if self._program is None or self._program.owner != os.getpid():
            self._program = Program(self._file.command)
        program = self._program
        try:
            lines = program.ask([self._line(item) for item in inputs], self._file.timeout)
            for place, line in enumerate(lines):
                try:
                    parse_json(line)
                except ValueError:  # whichever line it stands for, those behind it may stand for others
                    words = shortened(line.decode("utf-8", "replace"))
                    raise program.refuse(f"it wrote a line that is no JSON: {words}", lines[:place], line) from None
        except Ended:
            self._program = None
            raise
        return [self._output(line) for line in lines]

    def _line(self, item: Input) -> bytes:
        sent = {"texts": item.texts, "languages": item.languages, "task": self._file.task}
        return json.dumps(sent, ensure_ascii=False).encode("utf-8", "replace")

    def _output(self, line: bytes) -> Output:
        """The output in a line of JSON; an error, with the line, where there is none."""
        try:
            return get_task(self._file.task).checked(self._read(parse_json(line)))
        except (BadOutput, ValueError) as problem:
            return Output(error=f"{self._file.command[0]}: {problem}", text=line.decode("utf-8", "replace"))

    def _read(self, answer: Any) -> Output:
        if not isinstance(answer, dict):
            raise BadOutput(f"an answer must be an object with label, score, text or error; this is {kind(answer)}")
        if other := answer.keys() - {"label", "score", "text", "error"}:
            raise BadOutput(f"an answer has {min(other)!r}; allowed are label, score, text, error")
        label, score, text, error = (answer.get(name) for name in ("label", "score", "text", "error"))
        if error is not None:
            raise BadOutput(shortened(str(error)))
        if isinstance(score, bool) or not isinstance(score, int | float | None):
            raise BadOutput(f"a score must be a number, this is {kind(score)}")
        for name, value in (("label", label), ("text", text)):
            if value is not None and not isinstance(value, str):
                raise BadOutput(f"a {name} must be a text, this is {kind(value)}")
        if text is None and "text" in answer and self._file.task == "question-answering":
            text = UNANSWERABLE
        return Output(None if label is None else self._label(label), None if score is None else float(score), text)

    def _label(self, written: str) -> str:
        if written in self._file.labels:
            return self._file.labels[written]
        return self._spelling.get(written.strip().casefold(), written)


def _described(argument: str) -> CommandFile:
    """What `command:ARGUMENT` means. Raises AuditError and BadFile."""
    if argument.endswith(".toml") and " " not in argument.strip():
        return read_as(CommandFile, toml_of(argument, read_text(argument), _HELP), argument, _HELP)
    try:
        words = shlex.split(argument)
    except ValueError as problem:
        raise AuditError(f"'command:{argument}' cannot be read ({problem})") from None
    if not words:
        raise AuditError(f"'command:' does not name a program; write command:FILE.toml or command:PROGRAM ({_HELP})")
    # As of a module of the user's: changed code is another system.
    files = [Path(word) for word in (shutil.which(words[0]) or words[0], *words[1:]) if Path(word).is_file()]
    scripts = [file.read_bytes().decode("utf-8", "replace") for file in files if file.stat().st_size < 1 << 20]
    version = fingerprint(scripts) if scripts else "unknown"
    return CommandFile.model_validate({"name": argument.strip(), "version": version, "command": words})
