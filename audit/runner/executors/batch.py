"""The job of running a system on some inputs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from types import NoneType
from typing import Any, NamedTuple

from audit.errors import AuditError, BadOutput
from audit.keys import canonical, fingerprint
from audit.systems import get_system, is_own, offered
from audit.systems.base import System
from audit.systems.foreign import contained, message, shown
from audit.tasks import Input, Output, Task, get_task

CALL = {"sentence": 256, "document": 32}
"""Inputs given to a system at once."""
_MESSAGE = 500
"""Characters kept of an error's message."""
_RAW = 20_000
"""Characters kept of what a system said instead of an output."""


@dataclass(frozen=True)
class Returned:
    """What a system returned for the inputs of a batch, as columns: smaller to send than a list of outputs.

    `labels`, `scores`, `texts`, `errors` and `details` have one entry an input, or are None where no output has one.
    `seconds` is how long the system took, `calls` how many requests were answered, where it asks another machine.
    """

    labels: tuple[str | None, ...] | None
    scores: tuple[float | None, ...] | None
    texts: tuple[str | None, ...] | None
    errors: tuple[str | None, ...] | None
    seconds: float
    calls: int = field(default=0, repr=False)
    details: tuple[dict[str, Any] | None, ...] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, outputs: Sequence[Output], seconds: float, calls: int = 0) -> "Returned":
        """The columns of outputs.

        >>> Returned.of([Output("positive"), Output("negative")], 0.1)
        Returned(labels=('positive', 'negative'), scores=None, texts=None, errors=None, seconds=0.1)
        """
        rows = ((output.label, output.score, output.text, output.error, output.details) for output in outputs)
        columns = zip(*rows, strict=True)
        filled = [column if any(value is not None for value in column) else None for column in columns]
        labels, scores, texts, errors, details = filled or (None,) * 5
        return cls(labels, scores, texts, errors, seconds, calls, details)

    def outputs(self, number: int) -> list[Output]:
        """The outputs again; `number` is that of the inputs."""
        blanks = (None,) * number
        return [
            Output(*values)
            for values in zip(
                self.labels or blanks,
                self.scores or blanks,
                self.texts or blanks,
                self.errors or blanks,
                self.details or blanks,
                strict=True,
            )
        ]


class Identity(NamedTuple):
    """The name, version and settings by which a system's outputs are stored, and its tasks."""

    name: str
    version: str
    settings: str
    tasks: str

    @classmethod
    def of(cls, system: System) -> "Identity":
        """The identity of a system.

        >>> Identity.of(get_system("rapidfuzz")).tasks
        'similarity'
        """
        return cls(system.name, system.version, canonical(dict(system.settings)), ", ".join(system.tasks))


def check_same(spec: str, first: Identity | None, again: Identity) -> None:
    """Raise AuditError where a system, loaded once more, is another than at first (None: nobody knows)."""
    if first is None or first == again:
        return
    differ = [name for name in Identity._fields if getattr(first, name) != getattr(again, name)]
    was, now = (", ".join(f"{name} {shown(getattr(identity, name))}" for name in differ) for identity in (first, again))
    own = "; give it a `version` where it holds what differs each time, such as a time" if is_own(spec) else ""
    raise AuditError(
        f"system {spec} had {was} at first, and {now} when it was loaded once more; it must be the same each time, "
        f"from the same packages and files on every machine{own}"
    )


@dataclass(frozen=True)
class Batch:
    """Distinct inputs for one system: a job."""

    system: str
    """The spec that `audit.systems.get_system` takes; each worker makes the system from it, and prepares it, once."""
    task: str
    inputs: tuple[Input, ...]
    call: int = CALL["sentence"]
    """Inputs given to the system at once."""
    limit: float | None = field(default=None, compare=False)
    identity: Identity | None = field(default=None, compare=False)
    """What the outputs are stored by: a worker that has another system by this spec must not make them."""
    in_parts: bool = field(default=False, compare=False)
    """Whether who asks other machines hands back what is answered before all is (`Part`)."""

    def work(self) -> Returned:
        """One output per input, in order. What raises, or returns what its task does not allow, is a stored error."""
        system, task = ready(self.system, self.identity), get_task(self.task)
        started = perf_counter()
        outputs = [
            output
            for start in range(0, len(self.inputs), self.call)
            for output in _call(system, task, self.inputs[start : start + self.call])
        ]
        return Returned.of(outputs, perf_counter() - started)


def ready(spec: str, wanted: Identity | None = None) -> System:
    """The system of this process, prepared. Raises AuditError where it cannot be loaded or prepared, or is another than
    `wanted`."""
    # A caller's system may be another one by now under the same name: its maker tells them apart.
    key = spec, wanted, offered(spec)
    if key not in _ready:
        system = get_system(spec)
        check_same(spec, wanted, Identity.of(system))
        system.prepare()
        _ready[key] = system
    return _ready[key]


_ready: dict[tuple[str, Identity | None, object], System] = {}
"""Systems of this process that are prepared."""


def _call(system: System, task: Task, inputs: Sequence[Input]) -> list[Output]:
    try:
        with contained():
            return checked(task, system.run(inputs), len(inputs))
    except Exception:  # the system is foreign code: whatever it raises must not stop the run
        return [_call_alone(system, task, item) for item in inputs]


def checked(task: Task, outputs: Sequence[Output], number: int) -> list[Output]:
    """The outputs in Python's own types, each as its task allows; one with a score that is no number is an error.
    Raises BadOutput for one that its task does not allow, or another number of outputs than of inputs."""
    if len(outputs) != number:
        raise BadOutput(f"{len(outputs)} outputs for {number} inputs")
    return [_accepted(task, output) for output in outputs]


def _accepted(task: Task, output: Output) -> Output:
    if output.error:
        accepted = failed(output.error, output.text)
    elif output.score is not None and not math.isfinite(output.score):
        accepted = failed(f"score {float(output.score)} is not a number from 0 to 1")
    else:
        accepted = _plain(task.checked(output))
    return replace(accepted, details=_details(output.details)) if output.details else accepted


def _details(details: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of an output's details. Of what was read a fingerprint is enough to see whether it was the same."""
    kept: dict[str, Any] = {}
    if reasoning := details.get("reasoning"):
        kept["reasoning"] = _text(reasoning)[:_RAW]
    if (read := details.get("read")) is not None:
        kept["read"] = fingerprint([_text(read)])
    if cut := details.get("cut"):
        kept["cut"] = int(cut)
    return kept


def _plain(output: Output) -> Output:
    """The output in Python's own types: a database takes neither NumPy's numbers nor half characters."""
    if type(output.label) is str and type(output.score) in (float, NoneType) and output.text is None:
        return output  # as nearly all are
    return Output(
        None if output.label is None else str(output.label),
        None if output.score is None else float(output.score),
        None if output.text is None else _text(output.text),
    )


def failed(reason: object, raw: object = None) -> Output:
    """A stored error, in text that any database takes; `raw` is what the system said instead of an output."""
    return Output(error=_text(reason)[:_MESSAGE], text=None if raw is None else _text(raw)[:_RAW])


def _text(value: object) -> str:
    return str(value).encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def _call_alone(system: System, task: Task, item: Input) -> Output:
    try:
        with contained():
            return checked(task, system.run([item]), 1)[0]
    except Exception as problem:  # as above
        return failed(message(problem))
