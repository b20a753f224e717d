"""A process that does one job after the other for a worker of a cluster, so that no job can harm the worker.

The worker's own process talks to the scheduler. A job that ends its process, or holds the interpreter until its time is
over, ends this one instead, and the worker says which. It knows why, too: no guess from a worker that is gone.
"""

import faulthandler
import os
import pickle
import queue
import subprocess
import sys
import threading
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from audit.errors import AuditError
from audit.runner.executors.base import Lost, ended, too_long
from audit.runner.living import another_python

_START = 120
"""Seconds for a process to start; the disk of a busy machine may be slow."""
IDLE = 600
"""Seconds without a job after which a process ends itself: the run that wanted it may have been killed."""


class Child:
    """A process beside the worker's; starts at once, in `folder` where the machine has it.

    The folder matters for the user's own systems, `module:name` of the current directory.
    """

    def __init__(self, folder: str):
        self._pipe, theirs = Pipe()
        with theirs:
            # Neither a fork of a process with threads, nor one of multiprocessing's: Dask's workers may have none.
            self._process = subprocess.Popen(
                another_python("-c", f"from {__name__} import main; main({theirs.fileno()})"),
                pass_fds=[theirs.fileno()],
                cwd=folder if Path(folder).is_dir() else None,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
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
        """Whether it can do another job."""
        return self._process.poll() is None

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()


def main(pipe: int) -> None:
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
