"""An event loop in a thread of its own, on which systems are asked that mostly wait for other machines."""

import asyncio
import ctypes
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Any, TypeGuard

from audit.errors import Declined, Unanswered
from audit.runner.executors.base import too_long
from audit.runner.executors.batch import Batch, Identity, Returned, checked, failed, same
from audit.systems import get_system
from audit.systems.asking import PATIENCE, TRIES, Asking
from audit.systems.base import AsynchronousSystem, System
from audit.systems.foreign import TimeIsOver, foreign, message
from audit.tasks import Input, Output, get_task

ENDING = 5.0
"""Seconds that systems have to end what they hold."""

Say = Callable[[int, bool, Any], None]
"""Is told of the number of a batch that came to an end, whether well, and what it returned or raised."""


def is_asynchronous(system: System) -> TypeGuard[AsynchronousSystem]:
    """Whether a system can be asked many times at once, by `EventLoop`."""
    return callable(getattr(system, "run_async", None))


class EventLoop:
    """Does batches of systems that have `run_async`, any number at once.

    A batch is cut into calls of the system's `batch` inputs. All calls of all batches to one system share one
    `audit.systems.asking.Asking`: never more than `concurrency` at once, fewer while the machine is crowded, none while
    it asks for a pause. What a call returns is checked as in every executor; where it cannot be used, its inputs are
    asked one by one; what has no answer in the end is a stored error. Batches begin in the order in which they came.

    A batch's limit counts from its first call on, pauses included. It holds for what awaits: a call that keeps the loop
    to itself keeps everything on it, which `turn` shows to who asks.
    """

    def __init__(self, say: Say) -> None:
        self._say = say
        self._loop = asyncio.new_event_loop()
        self._systems: dict[str, tuple[AsynchronousSystem, Asking]] = {}
        self._kept = False
        """Whether a call went on after its end, in the place of others."""
        self._thread = threading.Thread(target=self._run, name="asynchronous systems", daemon=True)
        self._thread.start()

    def know(self, spec: str, limit: float | None, wanted: Identity | None = None) -> None:
        """Load and prepare a system, in `limit` seconds each where it is the user's own.

        Raises TypeError for one without `run_async`; AuditError where it cannot be loaded or prepared, or is another
        than `wanted`.
        """
        # Its own object, not the one that batches share: connections belong to one event loop.
        system = get_system(spec, limit)
        if not is_asynchronous(system):
            raise TypeError(f"the system {spec!r} has no run_async, so another executor must do it")
        same(spec, wanted, Identity.of(system))
        with foreign(f"system {spec!r} cannot be prepared", limit):
            system.prepare()
        tries, patience = getattr(system, "tries", TRIES), getattr(system, "patience", PATIENCE)
        self._systems[spec] = system, Asking(system.concurrency, tries, patience)

    def do(self, number: int, job: Batch) -> None:
        """Begin a batch of a system that is known; returns at once."""
        self._begin(self._do(number, job))

    def turn(self, say: Callable[[], None]) -> None:
        """Say so when the loop comes to its next turn, unless a call that cannot be ended is on it."""
        self._loop.call_soon_threadsafe(lambda: None if self._kept else say())

    def end(self) -> None:
        """Give up what is under way, and end what the systems hold."""
        with suppress(TimeoutError):  # foreign code may keep the loop: the thread then ends with the process
            self._begin(self._end()).result(ENDING)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(ENDING)

    def give_up(self) -> None:
        """Leave it alone, since a call keeps it: Python code that does is ended, what waits ends when it wakes."""
        self._say = lambda number, good, value: None
        self._begin(self._end()).add_done_callback(lambda _: self._loop.call_soon_threadsafe(self._loop.stop))
        thread = ctypes.c_ulong(self._thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(TimeIsOver))

    def _run(self) -> None:
        with suppress(TimeIsOver):  # it woke by itself in the same moment
            self._loop.run_forever()
        self._loop.close()

    def _begin(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _do(self, number: int, job: Batch) -> None:
        """Do a batch and say that it came to an end."""
        try:
            self._say(number, True, await self._outcome(job))
        except asyncio.CancelledError:
            raise
        except BaseException as problem:  # the executor raises it again, where somebody hears it
            self._say(number, False, problem)

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
            await asyncio.wait({work}, timeout=ENDING)
            if not work.done():  # foreign code takes no end for an answer
                self._kept = True
            elif not work.cancelled():
                work.exception()  # which was heard

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
