"""Who does the work of a run: this process, or others. Whoever does, what is stored is the same.

A new executor is one file and one line in `executor_of`.
"""

from audit.errors import AuditError
from audit.runner.executors.asynchronous import Asynchronous, is_asynchronous
from audit.runner.executors.base import Executor, InProcess, Job, Lost, Part
from audit.runner.executors.batch import Batch, Returned
from audit.runner.executors.on_dask import Dask
from audit.runner.executors.processes import Processes


def executor_of(workers: int | None, kind: str = "processes", address: str | None = None) -> Executor:
    """`workers` processes (None: one per core; 0: this process), or workers of Dask: of the scheduler at an address, or
    of a cluster of its own. `kind` is processes or dask.

    Raises AuditError for parameters that contradict each other.
    """
    if workers is not None and workers < 0:
        raise AuditError(f"workers={workers}: expected 0 (this process) or a number of processes", parameter="workers")
    if address is not None and kind != "dask":
        raise AuditError(f"dask_address {address} is for executor dask, not {kind}", parameter=_NAMES)
    if kind == "dask":
        if workers == 0:
            raise AuditError(
                "workers 0 is this process, executor dask are others; leave one of them out", parameter=_NAMES
            )
        if address is not None and workers is not None:
            raise AuditError(
                f"workers {workers}: the scheduler at {address} has its own; leave it out", parameter=_NAMES
            )
        return Dask(address, workers)
    return InProcess() if workers == 0 else Processes(workers)


_NAMES = ("workers", "executor", "dask_address")

__all__ = [
    "Asynchronous",
    "Batch",
    "Dask",
    "Executor",
    "InProcess",
    "Job",
    "Lost",
    "Part",
    "Processes",
    "Returned",
    "executor_of",
    "is_asynchronous",
]
