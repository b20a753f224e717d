"""The executor that does everything in this process, one job after the other."""

from collections import deque
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

from audit.runner.executors.base import Job, too_long
from audit.systems.foreign import TimeIsOver, alarm


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

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._waiting.clear()
