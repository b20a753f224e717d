"""What a run asks of an executor: take jobs, hand back what came to an end, and say which jobs were lost."""

import math
import signal
from collections import deque
from contextlib import AbstractContextManager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Protocol

from audit.systems.foreign import TimeIsOver, alarm


class Job(Protocol):
    """Work that can be pickled and done anywhere, any number of times, with the same result."""

    @property
    def limit(self) -> float | None:
        """Seconds that it may take; None: as long as it likes."""
        ...

    def work(self) -> Any:
        """Do it. What it raises is raised again by `Executor.finished`."""
        ...


@dataclass(frozen=True)
class Lost:
    """In place of a job's result: it took longer than its limit, or the process that had it came to an end."""

    reason: str
    late: bool = False
    """Whether it took longer than its limit."""


@dataclass(frozen=True)
class Part:
    """Some of the results of a job that goes on: `done` says which of its inputs they are of, by key. The result at its
    end has the others alone."""

    done: tuple[bytes, ...]
    result: Any


class Executor(Protocol):
    """Does jobs, in any order. A context manager: at its end nothing of it is left running.

    A lost job is reported, never raised and never done again here: the runner knows which jobs can be cut smaller.
    """

    @property
    def places(self) -> int:
        """How many jobs it does at once. The runner keeps a few more waiting than that."""
        ...

    def submit(self, job: Job) -> None:
        """Take a job; returns at once."""
        ...

    def finished(self, timeout: float | None = None) -> list[tuple[Job, Any]]:
        """Jobs that came to an end since the last call, each with its result or `Lost`; and those with a `Part` of it.

        Waits until there is one, at most `timeout` seconds (None: as long as it takes); empty when the time ran out, or
        when nothing was submitted.
        """
        ...

    def __enter__(self) -> "Executor": ...

    def __exit__(self, *problem: object) -> None: ...


@dataclass(frozen=True)
class Raised:
    """In place of a job's result: what it raised."""

    problem: BaseException


class Collecting:
    """The half of an executor that hands back what threads or processes of its own have done."""

    look_every: float | None = None
    """Seconds between two looks at what is under way, while nothing comes to an end."""

    def __init__(self) -> None:
        self._done: SimpleQueue[tuple[Job, Any]] = SimpleQueue()
        """Jobs that came to an end, each with its result, `Lost` or `Raised`."""
        self._open = 0
        """Jobs that were taken and not handed back."""

    def look(self) -> None:
        """See to what is under way."""

    def finished(self, timeout: float | None = None) -> list[tuple[Job, Any]]:
        """Jobs that came to an end, with their results. Raises what a job raised, once those before it are handed
        back."""
        until = math.inf if timeout is None else monotonic() + timeout
        results: list[tuple[Job, Any]] = []
        while self._open:
            self.look()
            wait = min(until - monotonic(), self.look_every or math.inf)
            try:
                job, result = self._done.get(not results, None if math.isinf(wait) else max(0.0, wait))
            except Empty:
                if results or monotonic() >= until:
                    break
                continue
            if isinstance(result, Raised) and results:
                self._done.put((job, result))
                break
            self._open -= not isinstance(result, Part)
            if isinstance(result, Raised):
                raise result.problem
            results.append((job, result))
        return results


def too_long(seconds: float) -> Lost:
    """A job that was ended because its time was over.

    >>> too_long(60)
    Lost(reason='no answer within 60 s', late=True)
    """
    return Lost(f"no answer within {seconds:g} s", late=True)


def ended(code: int | None) -> str:
    """How a process ended, in words.

    >>> ended(-11), ended(3)
    ('signal SIGSEGV', 'status 3')
    """
    if code is not None and code < 0:
        return f"signal {signal.Signals(-code).name}"
    return f"status {code}"


# The executor that does everything in this process, one job after the other.


class InProcess(AbstractContextManager["InProcess"]):
    """Does a job when it is asked what finished.

    A limit is kept by the alarm of the main thread, which wakes Python code and most waiting, but no loop of native
    code; in another thread there is none. `Processes` keeps it whatever the system does.
    """

    places = 1

    def __init__(self) -> None:
        self._waiting: deque[Job] = deque()

    def submit(self, job: Job) -> None:
        """Take a job; it is done when `finished` is called."""
        self._waiting.append(job)

    def finished(self, timeout: float | None = None) -> list[tuple[Job, Any]]:
        """The next job with its result; `timeout` is left alone, since nobody else would do the job."""
        if not self._waiting:
            return []
        job = self._waiting.popleft()
        try:
            with alarm(job.limit):
                return [(job, job.work())]
        except TimeIsOver:
            return [(job, too_long(job.limit or 0))]

    def __exit__(self, *problem: object) -> None:
        self._waiting.clear()
