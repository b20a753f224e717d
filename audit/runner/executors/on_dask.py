"""The executor that does jobs on a Dask cluster: any number of machines."""

import asyncio
import logging
import os
import pickle
import queue
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from pkgutil import resolve_name
from typing import Any
from uuid import uuid4

import audit
from audit.errors import AuditError, NotInstalled
from audit.registry import plugins
from audit.runner.executors.base import Job, Lost
from audit.runner.executors.processes import IDLE, Child
from audit.runner.underway import safe_path

# What a Dask worker is asked to do: hand orders on to processes beside it, one for each of its threads at work.


@dataclass(frozen=True)
class Terms:
    """What is the same for all jobs of a run."""

    run: str
    """Names the run. Each has processes of its own: the user may have changed a system since the last."""
    folder: str
    """Where the run was started."""
    version: str
    """The version of audit."""
    plugins: tuple[str, ...] = ()
    """Modules that the run loaded (`audit.registry`); the processes load them before they do a job."""


_lock = threading.Lock()
_idle: dict[str, list[tuple[Child, float]]] = {}
"""For each run, the processes without a job, and since when."""
_busy: dict[str, set[Child]] = {}
_ended: set[str] = set()


def on_worker(order: bytes, limit: float | None, terms: Terms) -> tuple[str, bytes | Lost]:
    """The worker's address, and the pickled answer of `audit.runner.executors.processes` or Lost."""
    from distributed import get_worker

    address = get_worker().address
    if audit.__version__ != terms.version:
        refusal = AuditError(other_version(address, audit.__version__, terms.version))
        return address, pickle.dumps((False, refusal))
    child = _take_child(terms)
    if child is None:
        return address, Lost("its run was over")
    answer = child.do(order, limit)
    _return_child(child, terms.run, isinstance(answer, bytes))
    return address, answer


def other_version(worker: str, theirs: str | None, ours: str = audit.__version__) -> str:
    """Why a worker is refused.

    >>> other_version("tcp://b:1", None, "1.0")
    "the Dask worker tcp://b:1 has no audit, and this run is of audit 1.0; pip install 'audit[dask]==1.0' there"
    """
    has = f"audit {theirs}" if theirs else "no audit"
    return (
        f"the Dask worker {worker} has {has}, and this run is of audit {ours}; pip install 'audit[dask]=={ours}' there"
    )


def end_run(run: str) -> None:
    """End the processes of a run, at work or not, and let none begin."""
    with _lock:
        _ended.add(run)
        children = [child for child, _ in _idle.pop(run, [])] + list(_busy.get(run, ()))
    for child in children:
        child.end()


def _take_child(terms: Terms) -> Child | None:
    """A process for a job, or None when the run is over."""
    with _lock:
        if terms.run in _ended:
            return None
        waiting = _idle.setdefault(terms.run, [])
        while waiting:
            child, since = waiting.pop()
            # One that is about to end itself would be gone before it has read the order.
            if child.alive and time.monotonic() - since < IDLE / 2:
                break
            child.end()
        else:
            child = Child(terms.folder, terms.plugins)
        _busy.setdefault(terms.run, set()).add(child)
        return child


def _return_child(child: Child, run: str, fit: bool) -> None:
    with _lock:
        _busy[run].discard(child)
        if fit and run not in _ended:
            _idle[run].append((child, time.monotonic()))
            return
    child.end()


_CONNECT = 5
"""Seconds in which a scheduler answers."""
_RECONNECT = 60
"""Seconds in which a scheduler that went away may come back."""
_CLOSE = 3
"""Seconds for each step of leaving; what takes longer is left behind."""
_FRESH = 1.0
"""Seconds for which the number of places is remembered."""
_CHATTY = ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio")


class Dask(AbstractContextManager["Dask"]):
    """Does jobs on the workers of the scheduler at `address` (`tcp://host:8786`), as many as are there at any time; or,
    without an address, on a cluster of its own: `workers` processes of this machine (default: one per core).

    Beside each thread of a worker a process does the jobs (`audit.runner.executors.processes`): one that takes too
    long, or whose process dies, is lost as it is with `Processes`, and the worker goes on. The jobs of a worker that
    goes away are given to another by Dask. A scheduler that comes back within a minute is sent its jobs again. The
    cluster at an address is left running.

    Raises NotInstalled without Dask's package; AuditError where no scheduler answers, and where a worker has another
    version of audit or of a system than this process, or lacks what a job needs.
    """

    def __init__(self, address: str | None = None, workers: int | None = None):
        if find_spec("distributed") is None:
            raise NotInstalled("Dask is not installed; pip install 'audit[dask]'")
        self.address = address
        self._workers = workers or os.cpu_count() or 1
        self._terms = Terms(uuid4().hex, os.getcwd(), audit.__version__, tuple(plugins()))
        self._number = count()
        self._cluster: Any = None
        self._client: Any = None
        self._at_work: dict[Any, tuple[Job, bytes]] = {}
        self._over: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._places, self._counted = 0, -_FRESH
        self._levels: dict[str, int] = {}

    def __enter__(self) -> "Dask":
        """Connects to an address. A cluster of its own starts when it is needed: a run may have nothing left to do."""
        if self.address is not None:
            try:
                self._connected()
            except BaseException:
                self.__exit__()
                raise
        return self

    @property
    def places(self) -> int:
        """Threads of all workers now; at least 1, for a cluster that grows when there is a job."""
        client, now = self._connected(), time.monotonic()
        if now - self._counted >= _FRESH:
            self._counted = now
            with suppress(OSError, AttributeError):  # a scheduler that is away has the workers that it had
                self._places = sum(client.nthreads(callback_timeout=_CONNECT).values())
        return max(1, self._places)

    def submit(self, job: Job) -> None:
        """Send a job to the scheduler."""
        import cloudpickle

        self._send(job, cloudpickle.dumps(job))

    def finished(self, timeout: float | None = None) -> list[tuple[Job, Any]]:
        """Jobs that came to an end, with their results."""
        until = None if timeout is None else time.monotonic() + timeout
        while self._at_work:
            futures = self._ended(None if until is None else max(0.0, until - time.monotonic()))
            if not futures:
                return []
            values = self._values(futures)
            if values is None:
                self._send_again()
                continue
            jobs = [self._at_work.pop(future.key)[0] for future in futures]
            return [(job, _result(value)) for job, value in zip(jobs, values, strict=True)]
        return []

    def __exit__(self, *problem: object) -> None:
        self._at_work.clear()
        client, cluster, self._client, self._cluster = self._client, self._cluster, None, None
        # A cluster that does not answer any more cannot be asked to leave.
        if client is not None:
            with suppress(Exception):
                client.run(end_run, self._terms.run, on_error="ignore", callback_timeout=_CLOSE)
            with suppress(Exception):
                client.close(timeout=_CLOSE)
        if cluster is not None:
            with suppress(Exception):
                cluster.close(timeout=_CLOSE)
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)
        self._levels.clear()

    def _send(self, job: Job, order: bytes) -> None:
        future = self._connected().submit(
            on_worker, order, job.limit, self._terms, key=f"audit-{self._terms.run}-{next(self._number)}", pure=False
        )
        self._at_work[future.key] = job, order
        # The callback's argument keeps the future: Dask forgets a job whose future nobody holds.
        future.add_done_callback(self._over.put)

    def _ended(self, timeout: float | None) -> list[Any]:
        """Futures that are over, whichever way."""
        futures = []
        with suppress(queue.Empty):
            futures.append(self._over.get(timeout=timeout))
            while True:
                futures.append(self._over.get_nowait())
        # Those of a connection that is gone were sent again under other keys.
        return [future for future in futures if future.key in self._at_work]

    def _values(self, futures: Sequence[Any]) -> list[Any] | None:
        """What the workers returned for each, or what Dask raised; None when the scheduler has forgotten one."""
        if any(future.cancelled() for future in futures):
            return None
        try:
            gathered: list[Any] = self._client.gather(list(futures))
            return gathered
        except Exception:  # one failed; or its result went with its worker, and it was done again and failed then
            values = [_value(future) for future in futures]
        return None if any(isinstance(value, CancelledError) for value in values) else values

    def _send_again(self) -> None:
        """The connection was lost, and all jobs with it: connect anew and send them, since they may be done twice."""
        where = self.address or "of this run"
        _say(f"the Dask scheduler {where} went away; waiting {_RECONNECT} s for it")
        with suppress(Exception):
            self._client.close(timeout=_CLOSE)
        self._client = None
        until = time.monotonic() + _RECONNECT
        while self._client is None:
            try:
                self._connected()
            except AuditError as problem:
                if time.monotonic() > until:
                    raise AuditError(
                        f"the Dask scheduler {where} went away and did not come back within {_RECONNECT} s; "
                        "everything finished is stored, and the same command goes on when it is there again"
                    ) from problem
                time.sleep(1)
        orders = list(self._at_work.values())
        self._at_work.clear()
        for job, order in orders:
            self._send(job, order)

    def _connected(self) -> Any:
        """The client, with a cluster behind it. Raises AuditError."""
        if self._client is None or self._client.status == "closed":  # closed: by itself, when the scheduler went away
            from distributed import Client

            self._hush()
            if self.address is None and self._cluster is None:
                self._cluster = self._own_cluster()
            try:
                if self.address is not None:
                    _ask(self.address)
                client = Client(self._cluster or self.address, timeout=_CONNECT, set_as_default=False, name="audit")
            except Exception as problem:  # as many kinds as there are things that can listen at an address
                raise AuditError(
                    f"no Dask scheduler answers at {self.address} within {_CONNECT} s ({_first_line(problem)}); start "
                    f"one with `dask scheduler`, and on each machine `dask worker` with the scheduler's address"
                ) from problem
            self._client = client
            if self.address is not None:
                self._check_versions()
        return self._client

    def _hush(self) -> None:
        """Dask reports each worker that goes away on stderr, with a traceback; that is no news here."""
        for name in _CHATTY:
            logger = logging.getLogger(name)
            self._levels.setdefault(name, logger.level)
            logger.setLevel(logging.CRITICAL + 1)

    def _own_cluster(self) -> Any:
        import dask
        from distributed import LocalCluster

        # A worker's own thread only waits for the process beside it; there is nothing to profile. Workers are begun
        # with the present folder first on their path, later ones too, unless their environment forbids it.
        environment = {**dask.config.get("distributed.nanny.pre-spawn-environ", {}), "PYTHONSAFEPATH": "1"}
        settings = {"distributed.worker.profile.enabled": False, "distributed.nanny.pre-spawn-environ": environment}
        with safe_path(), dask.config.set(settings):
            return LocalCluster(
                n_workers=self._workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # else a port that another cluster may have
                memory_limit=0,  # the work is done in other processes than the one that Dask would measure
                silence_logs=logging.CRITICAL + 1,
            )

    def _check_versions(self) -> None:
        """Refuse a cluster that has a worker without this version of audit; one that comes later is refused by
        `on_worker`."""
        # By a function of the standard library, which every worker can read.
        try:
            versions = self._client.run(
                resolve_name, "audit:__version__", on_error="return", callback_timeout=_RECONNECT
            )
        except TimeoutError as problem:
            raise AuditError(
                f"a worker of the Dask scheduler at {self.address} does not answer within {_RECONNECT} s; restart it"
            ) from problem
        if not versions:
            _say(f"the Dask scheduler at {self.address} has no workers yet; waiting for the first")
        for address, theirs in sorted(versions.items()):
            if theirs != audit.__version__:
                raise AuditError(other_version(address, theirs if isinstance(theirs, str) else None))


def _ask(address: str) -> None:
    """Raise what is wrong with an address where no scheduler answers: the client waits for ever where something else
    takes its connection and is silent."""
    from distributed import Security, rpc

    async def identity() -> str:
        async with rpc(
            address, timeout=_CONNECT, connection_args=Security().get_connection_args("client")
        ) as scheduler:
            kind: str = (await asyncio.wait_for(scheduler.identity(), _CONNECT))["type"]
            return kind

    if (kind := asyncio.run(identity())) != "Scheduler":
        raise ValueError(f"it is a {kind}")


def _value(future: Any) -> Any:
    """What a worker returned, or the exception in its place."""
    try:
        return future.result()
    except (Exception, CancelledError) as problem:
        return problem


def _result(value: Any) -> Any:
    """The result of a job from what came back for it."""
    from distributed import KilledWorker

    if isinstance(value, KilledWorker):
        return Lost(f"its process ended with each of the {value.allowed_failures + 1} workers that had it")
    if isinstance(value, Exception):  # on_worker raises nothing: the worker could not begin
        raise AuditError(
            f"a Dask worker cannot do a job ({_first_line(value)}); install the same audit on every worker as here: "
            f"pip install 'audit[dask]=={audit.__version__}'"
        ) from value
    worker, answer = value
    if isinstance(answer, Lost):
        return answer
    fine, result = pickle.loads(answer)  # noqa: S301  (whoever may write to the cluster may run code here as it is)
    if fine:
        return result
    if isinstance(result, AuditError):
        raise AuditError(f"{result} (worker {worker})") from result
    raise result


def _first_line(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {problem}".strip().splitlines()[0]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
