"""The executor that does jobs in a few processes beside this one."""

import os
import signal
import threading
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from multiprocessing import connection, parent_process
from types import TracebackType
from typing import Any

from pebble import ProcessExpired, ProcessPool

from audit.runner.executors.base import Job, Lost, ended, too_long

LEFT = 70
"""Status of a worker in which a job ended the process with status 0, as if its work was done (EX_SOFTWARE)."""
LOOK = 1.0
"""Seconds between two looks whether the pool is alive."""
TRIES = 3
"""So often a job is given to processes that come to an end before they say that they have it."""


class Processes(AbstractContextManager["Processes"]):
    """Does jobs in `workers` processes (default: one per core).

    A job that takes longer than its limit is ended with its process, and so is one whose process dies (no memory left,
    a crash in native code); another process takes the place.
    """

    def __init__(self, workers: int | None = None):
        self.places = workers or os.cpu_count() or 1
        self._pool = self._new_pool()
        self._at_work: dict[Any, Job] = {}
        self._given: Counter[int] = Counter()
        """How often the processes of a job came to an end before they said that they had it; by its id in memory."""
        self._lost: list[tuple[Job, Any]] = []

    def _new_pool(self) -> ProcessPool:
        return ProcessPool(max_workers=self.places, initializer=_start_worker)

    def submit(self, job: Job) -> None:
        """Give a job to the processes."""
        try:
            future = self._pool.schedule(_worked, args=(job,), timeout=job.limit)
        except RuntimeError:  # it gave up since we looked
            self._begin_again()
            future = self._pool.schedule(_worked, args=(job,), timeout=job.limit)
        self._at_work[future] = job

    def finished(self, timeout: float | None = None) -> list[tuple[Job, Any]]:
        """Jobs that came to an end, with their results."""
        done, given_up = self._ended(0.0 if self._lost else timeout)
        found = []
        for future in done:
            result = _result(future)
            if isinstance(result, _GivenUp):
                given_up = True
                continue
            job = self._at_work.pop(future)
            self._given.pop(id(job), None)
            found.append((job, result))
        if given_up:
            self._begin_again()
        found += self._lost
        self._lost = []
        return found

    def _ended(self, timeout: float | None) -> tuple[set[Any], bool]:
        """What came to an end, and whether the pool gave up with jobs that it will never say anything of."""
        while True:
            done, waiting = wait(self._at_work, LOOK if timeout is None else timeout, FIRST_COMPLETED)
            given_up = bool(waiting) and not done and not self._pool.active
            if done or given_up or not waiting or timeout is not None:
                return done, given_up

    def _begin_again(self) -> None:
        """A process came to an end while the pool did not know what it did, and so gave up: others do all the jobs.

        Those that this happens to again and again are lost.
        """
        self._pool.stop()
        self._pool.join()
        self._pool = self._new_pool()
        jobs, self._at_work = list(self._at_work.values()), {}
        for job in jobs:
            self._given[id(job)] += 1
            if self._given[id(job)] < TRIES:
                self.submit(job)
            else:
                del self._given[id(job)]
                self._lost.append((job, Lost("its process ended")))

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and not self._at_work:
            self._pool.close()
        else:
            self._pool.stop()
        self._pool.join()


class _GivenUp:
    """In place of a result: the pool was given up before there was one."""


def _result(future: Any) -> Any:
    try:
        return future.result()
    except BrokenProcessPool:
        return _GivenUp()
    except TimeoutError as over:
        if len(over.args) < 2:
            raise  # the job's own, not the pool's
        return too_long(over.args[1])
    except ProcessExpired as death:
        return Lost(f"its process ended with {ended(death.exitcode)}")


def _start_worker() -> None:
    """Ctrl-C is for the parent, which stops the pool; and a worker does not outlive a parent that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _worked(job: Job) -> Any:
    """What a process does. It says so with another status where the job ends it with status 0: the pool takes that for
    the end of one that had nothing to do, and would wait for the job."""
    leave, worker = os._exit, os.getpid()

    def left(status: int) -> None:
        leave(LEFT if status == 0 and os.getpid() == worker else status)

    os._exit = left  # type: ignore[assignment]
    try:
        return job.work()
    finally:
        os._exit = leave
