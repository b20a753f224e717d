"""The executor for systems that mostly wait for another machine: many calls at once, from one thread.

A call that keeps the event loop to itself (it sleeps, or never ends) keeps every other call on it, so each system of
the user's own has a loop to itself, in a process of its own where that is allowed, which can be ended.
"""

import asyncio
import queue
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from multiprocessing import Pipe, Process, connection
from time import monotonic, perf_counter
from typing import Any, TypeGuard

from audit.errors import AuditError, Declined, Unanswered
from audit.runner.executors.base import Collecting, Job, Lost, Part, Raised, ended, too_long
from audit.runner.executors.batch import Batch, Identity, Returned, check_same, checked, failed
from audit.runner.executors.processes import FORKING, sendable, start_worker
from audit.systems import get_system, is_own
from audit.systems.asking import Asking, asking_of
from audit.systems.base import AsynchronousSystem, System
from audit.systems.foreign import foreign, late, message
from audit.tasks import Input, Output, get_task

# An event loop in a thread of its own, on which systems are asked that mostly wait for other machines.

ENDING = 5.0
"""Seconds that systems have to end what they hold."""

TELL = 0.5
"""Seconds that an answer waits for others before it is handed back, where its batch goes on (`Batch.in_parts`)."""
Say = Callable[[int, bool, Any], None]
"""Is told of the number of a batch that came to an end, whether well, and what it returned or raised; or of a `Part` of
what it returns."""


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
        self._is_occupied = False
        """Whether a call went on after its end, in the place of others."""
        self._thread = threading.Thread(target=self._run, name="asynchronous systems", daemon=True)
        self._thread.start()

    def load(self, spec: str, limit: float | None, wanted: Identity | None = None) -> None:
        """Load and prepare a system, in `limit` seconds each where it is the user's own.

        Raises TypeError for one without `run_async`; AuditError where it cannot be loaded or prepared, or is another
        than `wanted`.
        """
        # Its own object, not one that others have, too: connections belong to one event loop.
        system = get_system(spec, limit)
        if not is_asynchronous(system):
            raise TypeError(f"the system {spec!r} has no run_async, so another executor must do it")
        check_same(spec, wanted, Identity.of(system))
        with foreign(f"system {spec!r} cannot be prepared", limit):
            system.prepare()
        self._systems[spec] = system, asking_of(system)

    def do(self, number: int, job: Batch) -> None:
        """Begin a batch of a system that is known; returns at once."""
        self._begin(self._do(number, job))

    def turn(self, say: Callable[[], None]) -> None:
        """Say so when the loop comes to its next turn, unless a call that cannot be ended is on it."""
        self._loop.call_soon_threadsafe(lambda: None if self._is_occupied else say())

    def end(self) -> None:
        """Give up what is under way, and end what the systems hold."""
        with suppress(TimeoutError):  # foreign code may keep the loop: the thread then ends with the process
            self._begin(self._end()).result(ENDING)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(ENDING)

    def give_up(self) -> None:
        """Leave it alone, since a call keeps it: it ends when that wakes, or with this process."""
        self._say = lambda number, good, value: None
        self._begin(self._end()).add_done_callback(lambda _: self._loop.call_soon_threadsafe(self._loop.stop))

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    def _begin(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _do(self, number: int, job: Batch) -> None:
        """Do a batch and say that it came to an end."""
        try:
            self._say(number, True, await self._outcome(number, job))
        except asyncio.CancelledError:
            raise
        except BaseException as problem:  # the executor raises it again, where somebody hears it
            self._say(number, False, problem)

    async def _outcome(self, number: int, job: Batch) -> Any:
        system, asking = self._systems[job.system]
        tell = partial(self._say, number, True) if job.in_parts else None
        calls = _Calls(system, asking, job.task, tell)
        work = asyncio.ensure_future(calls.outputs(job.inputs))
        try:
            begun: list[asyncio.Future[Any]] = [work, calls.began]
            await asyncio.wait(begun, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({work}, timeout=job.limit)
            if not work.done():
                calls.tell()
                return too_long(job.limit or 0)
            # Batches overlap, so that the time from the beginning of one to its end says little: this is its share.
            return Returned.of(work.result(), calls.seconds / asking.limit, calls.made)
        finally:
            work.cancel()
            await asyncio.wait({work}, timeout=ENDING)
            if not work.done():  # foreign code takes no end for an answer
                self._is_occupied = True
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
    """The calls of one batch. `began` is done when the first of them is made; `seconds` is what all took together, and
    `made` how many were answered. `say`, where it is given, is told of parts."""

    def __init__(
        self, system: AsynchronousSystem, asking: Asking, task: str, say: Callable[[Part], None] | None = None
    ):
        self._system, self._asking, self._task, self._say = system, asking, get_task(task), say
        self.began: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.seconds = 0.0
        self.made = 0
        self._untold: dict[int, tuple[Sequence[Input], list[Output]]] = {}
        """By the number of a call, what it was asked and what it answered; what a part had is gone."""
        self._open = 0
        """Calls that are not answered."""
        self._timer: asyncio.TimerHandle | None = None

    async def outputs(self, inputs: Sequence[Input]) -> list[Output]:
        """One output per input that no part had, in their order, whatever the order of the answers."""
        size = self._system.batch
        asked = [inputs[start : start + size] for start in range(0, len(inputs), size)]
        self._open = len(asked)
        try:
            await asyncio.gather(*(self._note(number, piece) for number, piece in enumerate(asked)))
        finally:
            if self._timer is not None:
                self._timer.cancel()
        return [output for number in sorted(self._untold) for output in self._untold[number][1]]

    async def _note(self, number: int, inputs: Sequence[Input]) -> None:
        outputs = await self._answered(inputs)
        self._untold[number] = inputs, outputs
        self._open -= 1
        if self._say is not None and self._timer is None and self._open:
            self._timer = asyncio.get_running_loop().call_later(TELL, self.tell)

    def tell(self) -> None:
        """Hand back what is answered, unless all is, which the end does."""
        self._timer = None
        if self._say is None or not self._open or not self._untold:
            return
        told, self._untold = self._untold, {}
        keys = tuple(item.key for inputs, _ in told.values() for item in inputs)
        self._say(Part(keys, Returned.of([output for _, outputs in told.values() for output in outputs], 0.0)))

    async def _answered(self, inputs: Sequence[Input]) -> list[Output]:
        try:
            return await self._asking.ask(lambda: self._call(inputs))
        except (Declined, Unanswered) as problem:
            if len(inputs) == 1 or not problem.inputs:
                return [failed(message(problem))] * len(inputs)
        except (Exception, SystemExit, KeyboardInterrupt) as problem:  # the system is foreign code, as in `Batch`
            if len(inputs) == 1:
                return [failed(message(problem))]
        alone = await asyncio.gather(*(self._answered([item]) for item in inputs))
        return [output for outputs in alone for output in outputs]

    async def _call(self, inputs: Sequence[Input]) -> list[Output]:
        if not self.began.done():
            self.began.set_result(None)
        started = perf_counter()
        self.made += 1
        try:
            return checked(self._task, await self._system.run_async(inputs), len(inputs))
        except (Unanswered, TimeoutError, ConnectionError):
            self.made -= 1
            raise
        finally:
            self.seconds += perf_counter() - started


_WAITING = 32
"""Jobs at once. 256 inputs each keep a hundred requests of 64 inputs under way."""
_LOOK = 0.25
"""Seconds between two looks whether an event loop still turns."""


class Asynchronous(Collecting, AbstractContextManager["Asynchronous"]):
    """Does batches of systems that have `run_async`, as `audit.runner.executors.asynchronous.EventLoop` tells.

    With `apart`, a system of the user's own is loaded and asked in a process of its own, which costs nobody else
    anything when it comes to an end or has to be ended; without, in a thread, which can only be left alone.

    A job's limit holds whatever a call does: where a loop has made no turn for so long, it is given up with the
    batches that were on it. Any of them may be the one that kept it, so each is done again with none beside it; one
    that is lost then is told of as lost.
    """

    places = _WAITING
    look_every = _LOOK

    def __init__(self, apart: bool = False) -> None:
        super().__init__()
        self._apart = apart
        self._places: dict[str, _Place] = {}

    def submit(self, job: Job) -> None:
        """Take a batch of a system that has `run_async`. Raises TypeError for any other job, and what loading and
        preparing the system raise."""
        if not isinstance(job, Batch):
            raise TypeError(f"{job!r} is not a Batch, which is what this executor does")
        own = job.system if is_own(job.system) else ""
        if own not in self._places:
            self._places[own] = _Place(self._done, apart=self._apart and bool(own))
        self._places[own].submit(job)
        self._open += 1

    def look(self) -> None:
        """See whether the event loops turn."""
        for place in self._places.values():
            place.look()

    def __exit__(self, *problem: object) -> None:
        for place in self._places.values():
            place.end()


@dataclass
class _Given:
    """A batch, and which of its inputs a loop handed back before it came to its end, by key. `again`: it was on a loop
    that was lost, and is done with none beside it."""

    job: Batch
    told: set[bytes] = field(default_factory=set)
    again: bool = False

    def left(self) -> Batch:
        """The batch of the others."""
        if not self.told:
            return self.job
        return replace(self.job, inputs=tuple(item for item in self.job.inputs if item.key not in self.told))


class _Place:
    """Has an event loop, and another one after it was lost."""

    def __init__(self, done: "queue.SimpleQueue[tuple[Job, Any]]", apart: bool):
        self._done, self._apart = done, apart
        self._lock = threading.RLock()
        self._worker: EventLoop | _Beside | None = None
        self._numbers = count()
        self._loaded: dict[str, Batch] = {}
        """For each system that was loaded, one of its batches."""
        self._waiting: deque[_Given] = deque()
        """Batches that were not begun."""
        self._running: dict[int, _Given] = {}
        self._alone = False
        """Whether what is done now is done with none beside it."""
        self._asked_at: float | None = None
        """Since when the loop was asked for a sign and gave none."""
        self._lost: Lost | None = None
        """Why the process is gone."""

    def submit(self, job: Batch) -> None:
        if self._worker is None:
            self._begin()
        if job.system not in self._loaded:
            self._load(job)
            self._loaded[job.system] = job
        with self._lock:
            self._waiting.append(_Given(job))
        self._give()

    def look(self) -> None:
        """See whether the loop turns: give it up where it has not for as long as its batches may take."""
        worker, asked_at = self._worker, self._asked_at  # the answer to it may come while this looks
        if worker is None or not self._running:
            return
        if self._lost is not None:
            self._lose(self._lost)
        elif asked_at is None:
            self._asked_at = monotonic()
            worker.turn(self._turned)
        else:
            limits = [given.job.limit for given in list(self._running.values())]
            longest = max((limit for limit in limits if limit is not None), default=0.0)
            if None not in limits and monotonic() - asked_at > longest:
                self._lose(too_long(longest))

    def end(self) -> None:
        if self._worker is not None:
            self._worker.end()

    def _begin(self) -> None:
        self._asked_at = self._lost = None
        say, over = self._over, self._gone
        self._worker = _Beside(say, over) if self._apart else EventLoop(say)

    def _give(self) -> None:
        """Hand on what may be begun."""
        with self._lock:
            while self._waiting and self._worker and not (self._running and (self._alone or self._waiting[0].again)):
                given = self._waiting.popleft()
                self._alone = given.again
                number = next(self._numbers)
                self._running[number] = given
                self._worker.do(number, given.left())

    def _lose(self, lost: Lost) -> None:
        """Begin anew without the loop; a batch that was alone on it is lost."""
        worker, self._worker = self._worker, None  # whose end is no news from here on
        if worker is not None:
            worker.give_up()
        with self._lock:
            running = list(self._running.values())
            self._running.clear()
            if len(running) == 1:
                self._done.put((running[0].job, lost))
            else:
                self._waiting.extendleft(replace(given, again=True) for given in reversed(running))
        self._begin()
        for job in self._loaded.values():
            self._load(job)
        self._give()

    def _load(self, job: Batch) -> None:
        if self._worker is not None:
            self._worker.load(job.system, job.limit, job.identity)

    def _turned(self) -> None:
        self._asked_at = None

    def _gone(self, worker: "_Beside", reason: str) -> None:
        if worker is self._worker:
            self._lost = Lost(reason)

    def _over(self, number: int, good: bool, value: Any) -> None:
        """Take what a batch came to; what comes of a loop that was given up is none of `_running`."""
        with self._lock:
            given = self._running.get(number)
            if given is None:
                return
            if isinstance(value, Part):
                given.told.update(value.done)
            else:
                del self._running[number]
            self._done.put((given.job, value if good else Raised(value)))
        self._give()


class _Beside:
    """An event loop in a process of its own."""

    def __init__(self, say: Say, gone: Any) -> None:
        self._say, self._gone = say, gone
        self._commands: queue.SimpleQueue[tuple[Any, ...] | None] = queue.SimpleQueue()
        self._load_results: queue.SimpleQueue[BaseException | Lost | None] = queue.SimpleQueue()
        self._turned: Any = None
        with FORKING:
            self._pipe, its = Pipe()
            self._process = Process(target=_serve, args=(its,))
            self._process.start()
            its.close()
        # A process that holds its interpreter reads nothing: neither writing nor reading may keep this thread.
        for part in (self._write, self._read):
            threading.Thread(target=part, daemon=True).start()

    def load(self, spec: str, limit: float | None, wanted: Identity | None = None) -> None:
        self._commands.put(("load", spec, limit, wanted))
        try:
            problem = self._load_results.get(timeout=None if limit is None else 2 * limit + ENDING)
        except queue.Empty:
            self.give_up()
            raise AuditError(late(f"system {spec!r} cannot be prepared", limit or 0)) from None
        if isinstance(problem, Lost):
            raise AuditError(f"system {spec!r} cannot be prepared: {problem.reason}")
        if problem is not None:
            raise problem

    def do(self, number: int, job: Batch) -> None:
        self._commands.put(("do", number, job))

    def turn(self, say: Any) -> None:
        self._turned = say
        self._commands.put(("turn",))

    def end(self) -> None:
        self._commands.put(None)
        self._process.join(2 * ENDING)
        self.give_up()

    def give_up(self) -> None:
        self._process.kill()
        self._process.join()
        self._commands.put(None)

    def _write(self) -> None:
        with suppress(OSError):
            while True:
                command = self._commands.get()
                self._pipe.send(command)
                if command is None:
                    return

    def _read(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                kind, *values = self._pipe.recv()
                if kind == "over":
                    self._say(*values)
                elif kind == "turned":
                    self._turned()
                else:
                    self._load_results.put(*values)
        self._process.join()
        reason = f"its process ended with {ended(self._process.exitcode)}"
        self._load_results.put(Lost(reason))
        self._gone(self, reason)


def _serve(pipe: connection.Connection) -> None:
    """What the process does: commands as they come, until there are no more."""
    start_worker()
    lock = threading.Lock()

    def say(kind: str, *values: Any) -> None:
        with lock, suppress(OSError):  # nobody is there to hear it
            pipe.send((kind, *values))

    loop = EventLoop(lambda number, good, value: say("over", number, good, value if good else sendable(value)))
    with suppress(EOFError):
        while (command := pipe.recv()) is not None:
            kind, *values = command
            if kind == "do":
                loop.do(*values)
            elif kind == "turn":
                loop.turn(lambda: say("turned"))
            else:
                try:
                    loop.load(*values)
                except BaseException as problem:
                    say("loaded", sendable(problem))
                else:
                    say("loaded", None)
    loop.end()


__all__ = ["Asynchronous", "is_asynchronous"]
