"""What a Dask worker is asked to do: hand orders on to processes beside it, one for each of its threads at work."""

import pickle
import threading
import time
from dataclasses import dataclass

import audit
from audit.errors import AuditError
from audit.runner.executors.base import Lost
from audit.runner.executors.child import IDLE, Child


@dataclass(frozen=True)
class Terms:
    """What is the same for all jobs of a run."""

    run: str
    """Names the run. Each has processes of its own: the user may have changed a system since the last."""
    folder: str
    """Where the run was started."""
    version: str
    """Of audit."""


_lock = threading.Lock()
_idle: dict[str, list[tuple[Child, float]]] = {}
"""By run: processes without a job, and since when."""
_busy: dict[str, set[Child]] = {}
_ended: set[str] = set()


def on_worker(order: bytes, limit: float | None, terms: Terms) -> tuple[str, bytes | Lost]:
    """The worker's address, and the pickled answer of `audit.runner.executors.child` or Lost."""
    from distributed import get_worker

    address = get_worker().address
    if audit.__version__ != terms.version:
        refusal = AuditError(other_version(address, audit.__version__, terms.version))
        return address, pickle.dumps((False, refusal))
    child = _taken(terms)
    if child is None:
        return address, Lost("its run was over")
    answer = child.do(order, limit)
    _give_back(child, terms.run, isinstance(answer, bytes))
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
        gone = [child for child, _ in _idle.pop(run, [])] + list(_busy.get(run, ()))
    for child in gone:
        child.end()


def _taken(terms: Terms) -> Child | None:
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
            child = Child(terms.folder)
        _busy.setdefault(terms.run, set()).add(child)
        return child


def _give_back(child: Child, run: str, fit: bool) -> None:
    with _lock:
        _busy[run].discard(child)
        if fit and run not in _ended:
            _idle[run].append((child, time.monotonic()))
            return
    child.end()
