"""The executor that does jobs in a few processes beside this one.

Own code, because the pools of libraries wait for ever, or lose all their jobs at once, when foreign code ends a process
in its own way (`os._exit(0)`, a signal before the first word). Here a thread stands before each process and nothing is
shared between them, so that whatever happens to one process is one lost job.
"""

import faulthandler
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from multiprocessing import Pipe, Process, connection, parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from audit.errors import AuditError
from audit.registry import VARIABLE
from audit.runner.executors.base import Collecting, Job, Lost, Raised, ended, too_long
from audit.runner.underway import another_python

FORKING = threading.Lock()
"""While a process is made: another must not inherit its end of the pipe, which would then never be closed."""
_TIDY = 5.0
"""Seconds that a process has for what it does at its end."""


class Processes(Collecting, AbstractContextManager["Processes"]):
    """Does jobs in `workers` processes (default: one per core), which begin with the first job.

    A job that takes longer than its limit is ended with its process, and so is one whose process dies (no memory left,
    a crash in native code); another process takes the place.
    """

    def __init__(self, workers: int | None = None):
        super().__init__()
        self.places = workers or os.cpu_count() or 1
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._workers: list[_Worker] = []
        self._threads: list[threading.Thread] = []

    def submit(self, job: Job) -> None:
        """Give a job to the processes."""
        if not self._threads:
            self._begin()
        self._open += 1
        self._jobs.put(job)

    def _begin(self) -> None:
        # In this thread: what a process inherits should not be in the hands of another one.
        self._workers = [_Worker() for _ in range(self.places)]
        for worker in self._workers:
            thread = threading.Thread(target=self._drive, args=(worker,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _drive(self, worker: "_Worker") -> None:
        while (job := self._jobs.get()) is not None:
            self._done.put((job, worker.do(job)))

    def __exit__(self, *problem: object) -> None:
        with suppress(Empty):
            while True:  # nobody waits for those that were not begun
                self._jobs.get_nowait()
        for _ in self._threads:
            self._jobs.put(None)
        for worker in self._workers:
            worker.end(at_once=any(problem) or self._open > 0)
        for thread in self._threads:
            thread.join()


class _Worker:
    """A process that does one job at a time; another one after it was lost."""

    def __init__(self) -> None:
        self._over = False
        self._start()

    def _start(self) -> None:
        with FORKING:
            if self._over:
                return
            self._pipe, its = Pipe()
            self._process = Process(target=_serve, args=(its,))
            self._process.start()
            its.close()

    def do(self, job: Job) -> Any:
        """The job's result, `Lost` or `Raised`."""
        if not self._process.is_alive():
            self._start()  # somebody ended it while it had nothing to do
        try:
            self._pipe.send(job)
        except OSError:
            return self._lost()
        except Exception as problem:  # what cannot be pickled says so in many ways
            return Raised(
                AuditError(f"a job cannot be sent to a worker ({problem}); use workers=0", parameter="workers")
            )
        if not connection.wait([self._pipe, self._process.sentinel], job.limit):
            self._process.kill()
            self._lost()
            return too_long(job.limit or 0)
        try:
            if not self._pipe.poll():
                return self._lost()
            good, result = self._pipe.recv()
        except (EOFError, OSError):
            return self._lost()
        return result if good else Raised(result)

    def _lost(self) -> Lost:
        self._process.join()
        code = self._process.exitcode
        self._pipe.close()
        self._start()
        return Lost(f"its process ended with {ended(code)}")

    def end(self, at_once: bool) -> None:
        """End the process: in the middle of its job, or once it has put its things in order, which may take seconds."""
        with FORKING:
            self._over = True
        if not at_once:
            with suppress(OSError):
                self._pipe.send(None)
            self._process.join(_TIDY)
        self._process.kill()
        self._process.join()


def _serve(pipe: connection.Connection) -> None:
    """What a process does: jobs as they come, until nobody is there to send any."""
    start_worker()
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        except Exception as problem:  # what it was made of is not here
            pipe.send((False, problem))
            continue
        if job is None:
            return
        try:
            answer = True, job.work()
        except Exception as problem:
            answer = False, problem
        try:
            pipe.send(answer)
        except OSError:
            return
        except Exception as problem:
            pipe.send((False, AuditError(f"a worker cannot send back what a job made or raised ({problem})")))


def start_worker() -> None:
    """Ctrl-C is for the parent, which stops its workers; and a worker does not outlive a parent that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


# A process that does one job after the other for a worker of a cluster, so that no job can harm the worker.
#
# The worker's own process talks to the scheduler. A job that ends its process, or holds the interpreter until its time
# is over, ends this one instead; the worker says which job it was, and why: nobody has to guess from a lost worker.

_START = 120
"""Seconds for a process to start; the disk of a busy machine may be slow."""
IDLE = 600
"""Seconds without a job after which a process ends itself: the run that wanted it may have been killed."""


class Child:
    """A process beside the worker's; starts at once, in `folder` where the machine has it.

    The folder matters for the user's own systems, `module:name` of the current directory.
    """

    def __init__(self, folder: str, plugins: Sequence[str] = ()):
        self._pipe, theirs = Pipe()
        with theirs:
            # Neither a fork of a process with threads, nor one of multiprocessing's: Dask's workers may have none.
            self._process = subprocess.Popen(
                another_python("-c", f"from {__name__} import child_main; child_main({theirs.fileno()})"),
                pass_fds=[theirs.fileno()],
                cwd=folder if Path(folder).is_dir() else None,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                    VARIABLE: ",".join(plugins),
                },
                stdin=subprocess.DEVNULL,
                stdout=2,  # what systems print is for the worker's log
                start_new_session=True,  # Ctrl-C is for the run, which ends what it started
            )
        self._ready = False

    def do(self, order: bytes, limit: float | None) -> bytes | Lost:
        """The pickled answer to a pickled job, or Lost; the process is then gone."""
        try:
            if not self._ready and not self._pipe.poll(_START):
                self.end()
                return Lost(f"no process started within {_START} s")
            if not self._ready:
                self._pipe.recv_bytes()
                self._ready = True
            self._pipe.send_bytes(order)
            if self._pipe.poll(limit):
                return self._pipe.recv_bytes()
        except (EOFError, OSError):
            return Lost(f"its process ended with {ended(self._process.wait())}")
        self.end()
        return too_long(limit or 0)

    @property
    def alive(self) -> bool:
        """Whether the process still runs, so that it can do another job."""
        return self._process.poll() is None

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()


def child_main(pipe: int) -> None:
    """What the process does: read orders from a connection, answer each with (True, result) or (False, exception)."""
    connection = Connection(pipe)
    orders: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(connection, orders), daemon=True).start()
    connection.send_bytes(b"ready")
    while True:
        try:
            order = orders.get(timeout=IDLE)
        except queue.Empty:
            os._exit(0)
        connection.send_bytes(_answer(order))


def _read(connection: Connection, orders: "queue.SimpleQueue[bytes]") -> None:
    """In a thread of its own, so that the end of the worker is the end of this process, in the middle of a job too."""
    try:
        while True:
            orders.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(1)


def _answer(pickled: bytes) -> bytes:
    try:
        job = pickle.loads(pickled)  # noqa: S301  (from the run that this process works for)
    except Exception as problem:
        lacking = AuditError(
            f"a worker cannot read a job ({type(problem).__name__}: {problem}); "
            "install the same packages and files there as here"
        )
        return pickle.dumps((False, lacking))
    try:
        if job.limit is not None:
            # The worker sees to the limit. When it is gone, native code that holds the interpreter ends all the same.
            faulthandler.dump_traceback_later(job.limit + 60, exit=True)
        return pickle.dumps((True, job.work()))
    except BaseException as problem:  # a job that calls sys.exit must not end what others wait for
        return pickle.dumps((False, sendable(problem)))
    finally:
        faulthandler.cancel_dump_traceback_later()


def sendable(problem: BaseException) -> BaseException:
    """The exception, or one of the same text where it cannot be pickled and read again."""
    try:
        again = pickle.loads(pickle.dumps(problem))  # noqa: S301  (this process's own)
        if isinstance(again, BaseException):
            return problem
    except Exception:  # many classes of exceptions take other arguments than they keep
        pass
    if isinstance(problem, AuditError):
        return AuditError(str(problem))
    return RuntimeError(f"{type(problem).__name__}: {problem}")
