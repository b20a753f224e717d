"""The job of asking a system for the outputs of some inputs, wherever it is done."""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, NamedTuple, TypeGuard

from audit.errors import AuditError, BadOutput, Declined, Unanswered
from audit.keys import canonical, fingerprint
from audit.systems import get_system, offered
from audit.systems.base import AsynchronousSystem, System
from audit.systems.endpoint import Asking, asking_of
from audit.systems.foreign import contained, message, shown
from audit.tasks import Input, Output, Task, get_task

CALL = {"sentence": 256, "document": 32}  # Inputs given to a system at once
_MESSAGE, _RAW = 500, 20_000  # Characters kept of an error's message, and of what a system said instead of an output


class Identity(NamedTuple):
    """The name, version and settings by which a system's outputs are stored, and its tasks."""

    name: str
    version: str
    settings: str
    tasks: str

    @classmethod
    def of(cls, system: System) -> "Identity":
        """Return the identity of a system.

        >>> Identity.of(get_system("rapidfuzz")).tasks
        'similarity'
        """
        return cls(system.name, system.version, canonical(dict(system.settings)), ", ".join(system.tasks))


def check_same(spec: str, first: Identity | None, system: System) -> None:
    """Raise AuditError where a system, loaded once more, is not the one it was at first (None: unknown)."""
    again = Identity.of(system)
    if first is not None and first != again:
        was, now = (
            f"version {shown(identity.version)}, settings {shown(identity.settings)}" for identity in (first, again)
        )
        raise AuditError(
            f"system {spec} had {was} at first, and {now} when it was loaded once more; it must be the same each time, "
            "from the same packages and files on every machine; give it a `version` where it holds what differs"
        )


class Returned(NamedTuple):
    """Outputs of a batch, how long the system took, and how many requests were answered where it asks another
    machine."""

    outputs: list[Output]
    seconds: float
    calls: int = 0


@dataclass(frozen=True)
class Batch:
    """Distinct inputs for one system: a job. Each worker makes the system from its spec, and prepares it, once."""

    system: str
    task: str
    inputs: tuple[Input, ...]
    call: int = CALL["sentence"]  # Inputs given to the system at once
    limit: float | None = field(default=None, compare=False)
    identity: Identity | None = field(default=None, compare=False)
    """What the outputs are stored by: a worker that has another system by this spec must not make them."""
    times: int = 1  # How often each input is asked

    def work(self) -> Returned:
        """Return an output per input and time. What raises, or returns what its task does not allow, is an error."""
        system, task, calls = ready(self.system, self.identity, self.task), get_task(self.task), None
        started = perf_counter()
        if is_asynchronous(system):
            calls = Calls(system, _own_asking.setdefault(self.system, asking_of(system)), task)
            outputs = _run(calls.outputs(self.inputs, self.times))
        else:
            parts = [self.inputs[start : start + self.call] for start in range(0, len(self.inputs), self.call)]
            outputs = [output for part in parts * self.times for output in _call(system, task, part)]
        return Returned(outputs, perf_counter() - started, calls.made if calls else 0)


def ready(spec: str, wanted: Identity | None = None, task: str | None = None) -> System:
    """Return the system of this process, prepared. Raises AuditError where it cannot be loaded or prepared, or is not
    the one that is `wanted`."""
    # A caller's system may be another one by now under the same name: its maker tells them apart.
    key = spec, wanted, offered(spec)
    if key not in _ready:
        system = get_system(spec, None, task)
        check_same(spec, wanted, system)
        system.prepare()
        _ready[key] = system
    return _ready[key]


_ready: dict[tuple[str, Identity | None, object], System] = {}  # Systems of this process that are prepared


def _call(system: System, task: Task, inputs: Sequence[Input]) -> list[Output]:
    """Ask for some inputs at once, and one by one where that fails: an input costs itself alone."""
    try:
        with contained():
            return checked(task, system.run(inputs), len(inputs))
    except Exception as problem:  # the system is foreign code: whatever it raises must not stop the run
        if len(inputs) == 1:
            return [failed(message(problem))]
    return [output for item in inputs for output in _call(system, task, [item])]


# Systems that wait for other machines, many calls at once.


def is_asynchronous(system: System) -> TypeGuard[AsynchronousSystem]:
    """Return whether a system can be asked many times at once."""
    return callable(getattr(system, "run_async", None))


class Calls:
    """The calls of one batch to an asynchronous system. `began` is set when the first is made; `made` counts those that
    were answered, usable or not."""

    def __init__(self, system: AsynchronousSystem, asking: Asking, task: Task):
        self._system, self._asking, self._task = system, asking, task
        self.began, self.made = asyncio.Event(), 0

    async def outputs(self, inputs: Sequence[Input], times: int) -> list[Output]:
        size = self._system.batch
        calls = [inputs[start : start + size] for _ in range(times) for start in range(0, len(inputs), size)]
        return await self._together(calls)

    async def _together(self, parts: Sequence[Sequence[Input]]) -> list[Output]:
        return [output for outputs in await asyncio.gather(*map(self._answered, parts)) for output in outputs]

    async def _answered(self, inputs: Sequence[Input]) -> list[Output]:
        try:
            return await self._asking.ask(lambda: self._call(inputs))
        except (Exception, SystemExit, KeyboardInterrupt) as problem:  # the system is foreign code
            whole = isinstance(problem, Declined | Unanswered) and not problem.inputs
            if len(inputs) == 1 or whole:
                return [failed(message(problem))] * len(inputs)
        return await self._together([[item] for item in inputs])

    async def _call(self, inputs: Sequence[Input]) -> list[Output]:
        self.began.set()
        self.made += 1
        try:
            return checked(self._task, await self._system.run_async(inputs), len(inputs))
        except (Unanswered, TimeoutError, ConnectionError):
            self.made -= 1
            raise


# The event loop of a process that does batches of the user's own asynchronous systems: connections live on it, so it is
# the same for all batches.
_own_asking: dict[str, Asking] = {}
_loops: list[asyncio.AbstractEventLoop] = []


def _run(work: Any) -> list[Output]:
    if not _loops:
        _loops.append(asyncio.new_event_loop())
    try:
        outputs: list[Output] = _loops[0].run_until_complete(work)
        return outputs
    except BaseException:  # its time is over, or somebody pressed Ctrl-C: what hangs there is left behind
        _loops.clear()
        _own_asking.clear()
        raise


# What is kept of an output.


def checked(task: Task, outputs: Sequence[Output], number: int) -> list[Output]:
    """Return the outputs in Python's own types, each as its task allows; one with a score that is no number is an
    error. Raises BadOutput for one that its task does not allow, or another number of outputs than of inputs."""
    if len(outputs) != number:
        raise BadOutput(f"{len(outputs)} outputs for {number} inputs")
    return [_accepted(task, output) for output in outputs]


def _accepted(task: Task, output: Output) -> Output:
    if output.error:
        accepted = failed(output.error, output.text)
    elif output.score is not None and not math.isfinite(output.score):
        accepted = failed(f"score {float(output.score)} is not a number from 0 to 1")
    else:  # a database takes neither NumPy's numbers nor half characters
        checked = task.checked(output)
        label, text = (value if value is None else _text(value) for value in (checked.label, checked.text))
        accepted = Output(label, None if checked.score is None else float(checked.score), text)
    if details := output.details:
        kept = {name: keep(details[name]) for name, keep in _KEPT.items() if details.get(name)}
        return replace(accepted, details=kept)
    return accepted


_KEPT: dict[str, Callable[[Any], Any]] = {
    "reasoning": lambda value: _text(value)[:_RAW],
    "read": lambda value: fingerprint([_text(value)]),  # which tells whether it was the same
    "cut": int,
    "used": dict,
}


def failed(reason: object, raw: object = None) -> Output:
    """Return a stored error, in text that any database takes; `raw` is what the system said instead of an output."""
    return Output(error=_text(reason)[:_MESSAGE], text=None if raw is None else _text(raw)[:_RAW])


def _text(value: object) -> str:
    return str(value).encode("utf-8", "replace").decode("utf-8").replace("\0", "")
