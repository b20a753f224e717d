"""The executor that does jobs in a few processes beside this one."""

import os
import signal
import threading
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import AbstractContextManager
from multiprocessing import connection, parent_process
from types import TracebackType
from typing import Any

from pebble import ProcessExpired, ProcessPool

from audit.runner.executors.base import Job, Lost, ended, too_long


class Processes(AbstractContextManager["Processes"]):
    """Does jobs in `workers` processes (default: one per core).

    A job that takes longer than its limit is ended with its process, and so is one whose process dies (no memory left,
    a crash in native code); another process takes the place.
    """

    def __init__(self, workers: int | None = None):
        self.places = workers or os.cpu_count() or 1
        self._pool = ProcessPool(max_workers=self.places, initializer=_start_worker)
        self._at_work: dict[Any, Job] = {}

    def submit(self, job: Job) -> None:
        """Give a job to the processes."""
        self._at_work[self._pool.schedule(job.work, timeout=job.limit)] = job

    def finished(self, timeout: float | None = None) -> list[tuple[Job, Any]]:
        """Jobs that came to an end, with their results."""
        done, _ = wait(self._at_work, timeout, FIRST_COMPLETED)
        return [(self._at_work.pop(future), _result(future)) for future in done]

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and not self._at_work:
            self._pool.close()
        else:
            self._pool.stop()
        self._pool.join()


def _result(future: Any) -> Any:
    try:
        return future.result()
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
