"""Who does the work of a run: this process, or others. Whoever does, what is stored is the same.

A new executor is one file and one line in `audit.cli.executing`.
"""

from audit.runner.executors.asynchronous import Asynchronous, is_asynchronous
from audit.runner.executors.base import Executor, InProcess, Job, Lost
from audit.runner.executors.batch import Batch, Returned
from audit.runner.executors.on_dask import Dask
from audit.runner.executors.processes import Processes

__all__ = [
    "Asynchronous",
    "Batch",
    "Dask",
    "Executor",
    "InProcess",
    "Job",
    "Lost",
    "Processes",
    "Returned",
    "is_asynchronous",
]
