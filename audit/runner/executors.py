"""Who does the jobs of a run: this process, processes beside it, a cluster, or an event loop for what only waits.

All have the interface of `concurrent.futures`: `submit(job)` returns a future, and `outcome` is what became of it: the
job's result, or `Lost` where it took too long or its process died. Whoever does a job, what is stored is the same.
"""

import asyncio
import atexit
import faulthandler
import gc
import math
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import Any, NamedTuple, Protocol, Self

from audit.errors import AuditError, NotInstalled, first_line
from audit.registry import load_plugin, plugins
from audit.runner.batch import Batch, Calls, Returned, check_same, is_asynchronous
from audit.runner.options import ONCE, CommonOptions, RunOptions
from audit.systems import get_system
from audit.systems.base import AsynchronousSystem
from audit.systems.endpoint import Asking, asking_of
from audit.systems.foreign import TimeIsOver, alarm
from audit.tasks import get_task


class Job(Protocol):
    """Work that can be pickled and done anywhere, any number of times, with the same result. `limit`: seconds that it
    may take; None: as long as it likes."""

    @property
    def limit(self) -> float | None: ...

    def work(self) -> Any: ...


class Lost(NamedTuple):
    """In place of a job's result: it took longer than its limit, or its process came to an end. `late`: it would take
    as long, or end as many, if it were done again."""

    reason: str
    late: bool = False

    @classmethod
    def of_time(cls, job: Job) -> "Lost":
        return cls(f"no answer within {job.limit or 0:g} s", late=True)


class Executor:
    """Does jobs, `places` at once, in any order. A context manager: at its end nothing of it is left running."""

    places = 1

    def submit(self, job: Any) -> Future[Any]:
        raise NotImplementedError

    def share(self, job: Job) -> None:
        """Do a job before others, where processes that come later share what it loads."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        pass


def outcome(future: Future[Any]) -> Any:
    """Wait for a job's result and return it, or `Lost`. Raises AuditError for what the job raised."""
    try:
        return future.result()
    except AuditError:
        raise
    except CancelledError:
        raise AuditError(
            "the Dask scheduler went away; what was finished is stored, run the same command again to resume"
        ) from None
    except Exception as problem:
        if type(problem).__name__ == "KilledWorker":  # also of a job that waited where another ended the worker
            return Lost("its process ended with each of the workers that had it")
        raise AuditError(
            f"a worker cannot do a job ({type(problem).__name__}: {first_line(problem)}); install the same packages "
            "and files there as here, or use workers=0",
            parameter="workers",
        ) from problem


class InProcess(Executor):
    """Does a job in this process, when it is submitted. A limit is kept as far as `audit.systems.foreign.alarm` can see
    to it; `Processes` keeps it whatever the system does."""

    def submit(self, job: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            with alarm(job.limit):
                future.set_result(job.work())
        except TimeIsOver:
            future.set_result(Lost.of_time(job))
        except Exception as problem:
            future.set_exception(problem)
        return future


class Processes(Executor):
    """Does jobs in `workers` processes (default: one per core), which begin with the first job. A job that takes longer
    than its limit is ended with its process; another process takes the place of one that died.

    Each process has a thread here and a pipe of its own: processes that share locks, as those of pools do, wait for the
    lock of one that was killed from outside while it held it.
    """

    def __init__(self, workers: int | None = None, start: str | None = None, prepare: Callable[[], None] | None = None):
        """`start` is how processes are made, as multiprocessing has it; `prepare` is called in each of them first."""
        self.places = workers or os.cpu_count() or 1
        self._make = partial(_Process, multiprocessing.get_context(start), prepare)
        self._jobs: SimpleQueue[tuple[Job, Future[Any]] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._processes: set[_Process] = set()
        self._lock, self._is_over = threading.Lock(), False

    def submit(self, job: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._jobs.put((job, future))
        if len(self._threads) < self.places:
            atexit.register(self.__exit__)
            self._processes.add(process := self._make())  # here: a thread that forks may fork while others hold locks
            self._threads.append(threading.Thread(target=self._do_jobs, args=[process], daemon=True))
            self._threads[-1].start()
        return future

    def share(self, job: Job) -> None:
        if not self._threads and multiprocessing.get_start_method() == "fork":
            job.work()

    def _do_jobs(self, process: "_Process") -> None:
        while (taken := self._jobs.get()) is not None:
            job, future = taken
            if not future.set_running_or_notify_cancel():
                continue
            try:
                with self._lock:
                    if self._is_over:
                        return
                    if not process.is_alive():
                        self._processes.discard(process)
                        self._processes.add(process := self._make())
                future.set_result(process.do(job))
            except Exception as problem:
                future.set_exception(problem)

    def __exit__(self, *problem: object) -> None:
        atexit.unregister(self.__exit__)
        with self._lock:
            self._is_over = True
            for process in self._processes:
                process.end()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()


_BEGINNING = threading.Lock()
"""No process may inherit another's end of a pipe, whose closing says that the other ended."""
_LOOK = 1.0  # Seconds between two looks whether a process is there


class _Process:
    """A process that does jobs, one after the other."""

    def __init__(self, context: Any, prepare: Callable[[], None] | None):
        with _BEGINNING:
            self._connection, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, prepare))
            self._process.start()
            theirs.close()

    def is_alive(self) -> bool:
        return bool(self._process.is_alive())

    def do(self, job: Job) -> Any:
        """Return the job's result, or `Lost`. Raises what the job raised, and what cannot be pickled."""
        until = monotonic() + (math.inf if job.limit is None else job.limit)
        try:
            self._connection.send(job)
            while not self._connection.poll(min(_LOOK, max(0.0, until - monotonic()))):
                if not self.is_alive():
                    raise EOFError
                if monotonic() >= until:
                    self.end()
                    return Lost.of_time(job)
            result, problem = self._connection.recv()
        except (EOFError, ConnectionError):
            self.end()
            code = self._process.exitcode or 0
            how = f"signal {signal.Signals(-code).name}" if code < 0 else f"status {code}"
            return Lost(f"its process ended with {how}")
        if problem is not None:
            raise problem
        return result

    def end(self) -> None:
        self._process.kill()
        self._process.join()


def _serve(connection: Any, prepare: Callable[[], None] | None) -> None:
    """Do the jobs that a connection brings. The process must not outlive a parent that was killed, whatever it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.freeze()  # looking through what it shares with others would make it its own
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if prepare is not None:
        prepare()
    while True:
        try:
            connection.send((_work(connection.recv()), None))
        except (EOFError, ConnectionError):
            return
        except Exception as problem:
            connection.send((None, problem))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(job: Job) -> Any:
    try:
        return job.work()
    except AuditError:
        raise
    except Exception as problem:  # whose class may not be picklable, or not be there
        raise RuntimeError(f"{type(problem).__name__}: {problem}") from None


# Systems that wait for other machines: an event loop in a thread.

_ENDING = 5.0  # Seconds that systems have to end what they hold


class Waiting(Executor):
    """Does batches of asynchronous systems, any number at once, on an event loop in a thread of its own. All batches of
    one system share one `audit.systems.endpoint.Asking`. A batch's limit counts from its first call on, and holds for
    what awaits: the user's own systems, which may keep the loop to themselves, are asked in processes."""

    places = 32

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._systems: dict[str, tuple[AsynchronousSystem, Asking]] = {}
        self._thread = threading.Thread(target=self._loop.run_forever, name="asynchronous systems", daemon=True)
        self._thread.start()

    def submit(self, job: Any) -> Future[Any]:
        if job.system not in self._systems:
            system = get_system(job.system, job.limit, job.task)  # its own object: connections belong to one event loop
            assert is_asynchronous(system)
            check_same(job.system, job.identity, system)
            system.prepare()
            self._systems[job.system] = system, asking_of(system)
        return asyncio.run_coroutine_threadsafe(self._do(job), self._loop)

    async def _do(self, job: Batch) -> Returned | Lost:
        system, asking = self._systems[job.system]
        calls = Calls(system, asking, get_task(job.task))
        work = asyncio.ensure_future(calls.outputs(job.inputs, job.times))
        began = asyncio.ensure_future(calls.began.wait())
        try:
            await asyncio.wait([work, began], return_when=asyncio.FIRST_COMPLETED)
            batched = getattr(system, "batched", False)  # batches of a service take up to a day
            return Returned(await asyncio.wait_for(work, None if batched else job.limit), 0.0, calls.made)
        except TimeoutError:
            return Lost.of_time(job)
        finally:
            began.cancel()
            work.cancel()

    def __exit__(self, *problem: object) -> None:
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(_ENDING)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_ENDING)
        if not self._thread.is_alive():
            self._loop.close()

    async def _end(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for system, _ in self._systems.values():
            if close := getattr(system, "close_async", None):
                await close()
        await self._loop.shutdown_asyncgens()


# A cluster.

_CONNECT = 5  # Seconds in which a scheduler answers


@cache
def _prepare_worker(folder: str, modules: tuple[str, ...]) -> None:
    """Prepare a worker for a run: the user's modules are those of the folder where it was started."""
    if Path(folder).is_dir():
        os.chdir(folder)
    sys.path.insert(0, os.getcwd())
    for module in modules:
        load_plugin(module)


def _on_worker(pickled: bytes, limit: float | None, folder: str, modules: tuple[str, ...]) -> Any:
    """Do a job, pickled since its modules are not there before. One that is late ends the worker, even in native code;
    its nanny begins another, and Dask gives the job up after a few of them."""
    _prepare_worker(folder, modules)
    if limit is not None:
        faulthandler.dump_traceback_later(limit, exit=True)
    try:
        return _work(pickle.loads(pickled))  # noqa: S301  (from the run that this worker works for)
    finally:
        faulthandler.cancel_dump_traceback_later()


class Dask(Executor):
    """Does jobs on the workers of the scheduler at `address` (`tcp://host:8786`), as many as are there at any time. The
    jobs of a worker that goes away are given to another by Dask. The cluster is left running. Raises NotInstalled
    without Dask's package; AuditError where no scheduler answers."""

    def __init__(self, address: str):
        if find_spec("distributed") is None:
            raise NotInstalled("Dask is not installed; pip install 'audit[dask]'")
        from distributed import Client

        try:
            self._client = Client(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError) as problem:
            raise AuditError(
                f"no Dask scheduler answers at {address} within {_CONNECT} s ({first_line(problem)}); start one with "
                "`dask scheduler`, or leave the address out",
                parameter="dask",
            ) from problem
        self._executor = self._client.get_executor(pure=False)

    @property
    def places(self) -> int:  # type: ignore[override]
        """Threads of all workers; at least 1, for a cluster that grows when there is a job."""
        with suppress(OSError, AttributeError):
            return max(1, int(sum(self._client.nthreads().values())))
        return 1

    def submit(self, job: Any) -> Future[Any]:
        import cloudpickle

        order = cloudpickle.dumps(job), job.limit, os.getcwd(), tuple(plugins())
        future: Future[Any] = self._executor.submit(_on_worker, *order)
        return future

    def __exit__(self, *problem: object) -> None:
        with suppress(Exception):  # a cluster that does not answer any more cannot be asked to leave
            self._executor.shutdown(wait=False)
            self._client.close(timeout=_CONNECT)


def executor_of(options: CommonOptions = ONCE) -> Executor:
    """Return who does the jobs of a run with these options."""
    if isinstance(options, RunOptions) and options.dask is not None:
        return Dask(options.dask)
    return InProcess() if options.workers == 0 else Processes(options.workers)
