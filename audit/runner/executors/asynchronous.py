"""The executor for systems that mostly wait for another machine: many calls at once, from one thread."""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from contextlib import AbstractContextManager, suppress
from queue import Empty, SimpleQueue
from time import perf_counter
from types import TracebackType
from typing import Any, TypeGuard

from audit.errors import Declined, Unanswered
from audit.runner.executors.base import Job, too_long
from audit.runner.executors.batch import Batch, Returned, checked, failed
from audit.systems import get_system
from audit.systems.asking import PATIENCE, TRIES, Asking
from audit.systems.base import AsynchronousSystem, System
from audit.systems.foreign import foreign, message
from audit.tasks import Input, Output, get_task

_WAITING = 32
"""Jobs at once. 256 inputs each keep a hundred requests of 64 inputs under way."""
_ENDING = 5.0
"""Seconds that systems have to end what they hold."""


def is_asynchronous(system: System) -> TypeGuard[AsynchronousSystem]:
    """Whether a system can be asked many times at once, by `Asynchronous`."""
    return callable(getattr(system, "run_async", None))


class Asynchronous(AbstractContextManager["Asynchronous"]):
    """Does batches of systems that have `run_async`, on an event loop in a thread of its own.

    A batch is cut into calls of the system's `batch` inputs. All calls of all batches to one system share one
    `audit.systems.asking.Asking`: never more than `concurrency` at once, fewer while the machine is crowded, none while
    it asks for a pause. What a call returns is checked as in every executor; where it cannot be used, its inputs are
    asked one by one; what has no answer in the end is a stored error. Batches begin in the order in which they came.

    A job's limit counts from its first call on, pauses included. It holds for what awaits, as all systems here should.
    """

    places = _WAITING

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread: threading.Thread | None = None
        self._systems: dict[str, tuple[AsynchronousSystem, Asking]] = {}
        self._done: SimpleQueue[tuple[Job, Any, BaseException | None]] = SimpleQueue()
        self._at_work = 0

    def submit(self, job: Job) -> None:
        """Take a batch of a system that has `run_async`. Raises TypeError for any other job."""
        if not isinstance(job, Batch):
            raise TypeError(f"{job!r} is not a Batch, which is what this executor does")
        self._know(job.system, job.limit)
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop.run_forever, name="asynchronous systems", daemon=True)
            self._thread.start()
        self._at_work += 1
        self._begin(self._do(job))

    def finished(self, timeout: float | None = None) -> list[tuple[Job, Any]]:
        """Batches that came to an end, with what the system returned."""
        found: list[tuple[Job, Any]] = []
        while self._at_work:
            try:
                job, result, problem = self._done.get_nowait() if found else self._done.get(timeout=timeout)
            except Empty:
                break
            if problem is not None and found:
                self._done.put((job, result, problem))  # first what came to a good end
                break
            self._at_work -= 1
            if problem is not None:
                raise problem
            found.append((job, result))
        return found

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            with suppress(TimeoutError):  # foreign code may keep the loop: the thread then ends with the process
                self._begin(self._end()).result(_ENDING)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_ENDING)
            if self._thread.is_alive():
                return
        self._loop.close()

    def _begin(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _know(self, spec: str, limit: float | None) -> None:
        if spec in self._systems:
            return
        # Its own object, not the one that batches share: connections belong to one event loop.
        system = get_system(spec)
        if not is_asynchronous(system):
            raise TypeError(f"the system {spec!r} has no run_async, so another executor must do it")
        with foreign(f"system {spec!r} cannot be prepared", limit):
            system.prepare()
        tries, patience = getattr(system, "tries", TRIES), getattr(system, "patience", PATIENCE)
        self._systems[spec] = system, Asking(system.concurrency, tries, patience)

    async def _do(self, job: Batch) -> None:
        """Do a batch and say that it came to an end."""
        try:
            self._done.put((job, await self._outcome(job), None))
        except asyncio.CancelledError:
            raise
        except BaseException as problem:  # `finished` raises it again, where somebody hears it
            self._done.put((job, None, problem))

    async def _outcome(self, job: Batch) -> Any:
        system, asking = self._systems[job.system]
        calls = _Calls(system, asking, job.task)
        work = asyncio.ensure_future(calls.outputs(job.inputs))
        try:
            begun: list[asyncio.Future[Any]] = [work, calls.began]
            await asyncio.wait(begun, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({work}, timeout=job.limit)
            if not work.done():
                return too_long(job.limit or 0)
            # Batches overlap, so that the time from the beginning of one to its end says little: this is its share.
            return Returned.of(work.result(), calls.seconds / asking.limit)
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _end(self) -> None:
        """Give up what is under way, and end what the systems hold."""
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for system, _ in self._systems.values():
            if close := getattr(system, "close_async", None):
                await close()
        await self._loop.shutdown_asyncgens()


class _Calls:
    """The calls of one batch. `began` is done when the first of them is made; `seconds` is what all took together."""

    def __init__(self, system: AsynchronousSystem, asking: Asking, task: str):
        self._system, self._asking, self._task = system, asking, get_task(task)
        self.began: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.seconds = 0.0

    async def outputs(self, inputs: Sequence[Input]) -> list[Output]:
        """One output per input, in their order, whatever the order of the answers."""
        size = self._system.batch
        pieces = [inputs[start : start + size] for start in range(0, len(inputs), size)]
        found = await asyncio.gather(*map(self._answered, pieces))
        return [output for some in found for output in some]

    async def _answered(self, inputs: Sequence[Input]) -> list[Output]:
        try:
            return await self._asking.ask(lambda: self._call(inputs))
        except (Declined, Unanswered) as problem:
            if len(inputs) == 1 or not problem.inputs:
                return [failed(message(problem))] * len(inputs)
        except (Exception, SystemExit, KeyboardInterrupt) as problem:  # the system is foreign code, as in `Batch`
            if len(inputs) == 1:
                return [failed(message(problem))]
        alone = await asyncio.gather(*(self._answered([one]) for one in inputs))
        return [output for some in alone for output in some]

    async def _call(self, inputs: Sequence[Input]) -> list[Output]:
        if not self.began.done():
            self.began.set_result(None)
        started = perf_counter()
        try:
            return checked(self._task, await self._system.run_async(inputs), len(inputs))
        finally:
            self.seconds += perf_counter() - started
