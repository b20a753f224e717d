"""Who runs the systems: this process, or a few beside it. Whoever does, the outputs are the same."""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Protocol

from audit.errors import BadOutput
from audit.systems import get_system
from audit.systems.base import System
from audit.tasks import Input, Output, Task, get_task

_MESSAGE = 500
"""Characters kept of an error's message."""


@dataclass(frozen=True)
class Batch:
    """Distinct inputs for one system."""

    system: str
    """The spec that `audit.systems.get_system` takes; each worker makes the system from it once."""
    task: str
    inputs: tuple[Input, ...]


def execute(batch: Batch) -> list[Output]:
    """One output per input, in order. What raises, or returns what its task does not allow, is a stored error."""
    system, task = _system(batch.system), get_task(batch.task)
    try:
        return _checked(system, task, batch.inputs)
    except Exception:  # the system is foreign code: whatever it raises must not stop the run
        return [_alone(system, task, one) for one in batch.inputs]


@cache
def _system(spec: str) -> System:
    return get_system(spec)


def _checked(system: System, task: Task, inputs: Sequence[Input]) -> list[Output]:
    outputs = system.run(inputs)
    if len(outputs) != len(inputs):
        raise BadOutput(f"{len(outputs)} outputs for {len(inputs)} inputs")
    return [output if output.error else task.checked(output) for output in outputs]


def _alone(system: System, task: Task, one: Input) -> Output:
    try:
        return _checked(system, task, [one])[0]
    except Exception as problem:  # as above
        return Output(error=f"{type(problem).__name__}: {problem}"[:_MESSAGE])


class Executor(Protocol):
    """Runs batches and yields each with its outputs, in any order."""

    def run(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, list[Output]]]: ...


class InProcess(AbstractContextManager["InProcess"]):
    """Runs batches one after the other in this process."""

    def run(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, list[Output]]]:
        for batch in batches:
            yield batch, execute(batch)

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class Processes(AbstractContextManager["Processes"]):
    """Runs batches in `workers` processes (default: one per core)."""

    def __init__(self, workers: int | None = None):
        self._pool = ProcessPoolExecutor(workers or os.cpu_count() or 1)

    def run(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, list[Output]]]:
        waiting: dict[Future[list[Output]], Batch] = {self._pool.submit(execute, batch): batch for batch in batches}
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield waiting.pop(future), future.result()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=kind is None, cancel_futures=True)
