"""Who does the work of a run: the options that say so, and what they make."""

import argparse
from typing import TYPE_CHECKING

from audit.cli.options import fraction, whole

if TYPE_CHECKING:
    from audit.runner.executors import Executor

MOST_WORKERS = 256
EXECUTORS = ("processes", "in-process", "dask")


def add_workers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers", type=_workers, metavar="N", help="processes (default: one per core; 0: this process)"
    )


def _workers(text: str) -> int:
    if not 0 <= (number := whole(text)) <= MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"{number} must be from 0 (this process) to {MOST_WORKERS}")
    return number


def add_executor(parser: argparse.ArgumentParser) -> None:
    """Everything that says how a run is done, and nothing of which changes what it stores."""
    add_workers(parser)
    parser.add_argument(
        "--executor", choices=EXECUTORS, default=EXECUTORS[0], help="who does the work (default: processes)"
    )
    parser.add_argument(
        "--dask-address",
        metavar="tcp://HOST:PORT",
        help="of the scheduler whose workers do the work, with --executor dask (default: a cluster of this run's own)",
    )
    parser.add_argument(
        "--time-limit",
        type=fraction,
        metavar="SECONDS",
        help="that a system may take for a batch of inputs, and for one alone (default: 300)",
    )


def executor_of(workers: int | None, kind: str = EXECUTORS[0], address: str | None = None) -> "Executor":
    """The executor that the options --workers, --executor and --dask-address ask for.

    Raises AuditError for options that contradict each other.
    """
    from audit.errors import AuditError
    from audit.runner.executors import Dask, InProcess, Processes

    if address is not None and kind != "dask":
        raise AuditError(f"--dask-address {address} is for --executor dask, not {kind}")
    if kind == "dask":
        if workers == 0:
            raise AuditError("--workers 0 is this process, --executor dask are others; leave one of them out")
        if address is not None and workers is not None:
            raise AuditError(f"--workers {workers}: the scheduler at {address} has its own; leave it out")
        return Dask(address, workers)
    if workers == 0 or kind == "in-process":
        return InProcess()
    return Processes(workers)


def time_limit_of(arguments: argparse.Namespace) -> float:
    """Seconds that a system may take. Raises AuditError for none."""
    from audit.errors import AuditError
    from audit.runner.run import TIME_LIMIT

    seconds = TIME_LIMIT if arguments.time_limit is None else float(arguments.time_limit)
    if not 0 < seconds < float("inf"):
        raise AuditError(f"--time-limit {seconds:g}: must be a number of seconds above 0")
    return seconds
