"""Who runs the systems: this process, or a few beside it. Whoever does, the outputs are the same."""

import os
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from multiprocessing import connection, parent_process
from types import TracebackType
from typing import Protocol

from audit.errors import AuditError, BadOutput
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
    except (Exception, SystemExit):  # the system is foreign code: whatever it raises must not stop the run
        return [_alone(system, task, one) for one in batch.inputs]


@cache
def _system(spec: str) -> System:
    return get_system(spec)


def _checked(system: System, task: Task, inputs: Sequence[Input]) -> list[Output]:
    outputs = system.run(inputs)
    if len(outputs) != len(inputs):
        raise BadOutput(f"{len(outputs)} outputs for {len(inputs)} inputs")
    return [_plain(output) if output.error else _plain(task.checked(output)) for output in outputs]


def _plain(output: Output) -> Output:
    """The output in Python's own types: a database takes neither NumPy's numbers nor half characters."""
    if output.error:
        return Output(error=_text(output.error)[:_MESSAGE])
    return Output(
        None if output.label is None else str(output.label),
        None if output.score is None else float(output.score),
        None if output.text is None else _text(output.text),
    )


def _text(value: object) -> str:
    return str(value).encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def _alone(system: System, task: Task, one: Input) -> Output:
    try:
        return _checked(system, task, [one])[0]
    except (Exception, SystemExit) as problem:  # as above
        return Output(error=_text(_message(problem))[:_MESSAGE])


def _message(problem: BaseException) -> str:
    try:
        return f"{type(problem).__name__}: {problem}"
    except Exception:  # an exception whose own text raises
        return type(problem).__name__


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
    """Runs batches in `workers` processes (default: one per core).

    Raises AuditError when a process dies (no memory left, or a crash in a system's native code).
    """

    def __init__(self, workers: int | None = None):
        self._pool = ProcessPoolExecutor(workers or os.cpu_count() or 1, initializer=_start_worker)

    def run(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, list[Output]]]:
        try:
            waiting: dict[Future[list[Output]], Batch] = {self._pool.submit(execute, batch): batch for batch in batches}
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield waiting.pop(future), future.result()
        except BrokenProcessPool:
            raise AuditError(
                "a worker process died (out of memory, or a system crashed); what was finished is stored, and the "
                "same command goes on from there: try --workers 1, or 0 to run everything in one process"
            ) from None

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=kind is None, cancel_futures=True)


def _start_worker() -> None:
    """Ctrl-C is for the parent, which stops the pool; and a worker does not outlive a parent that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
