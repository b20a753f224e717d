"""A Dask cluster of another process: `python dask_cluster.py WORKERS THREADS PORT` prints the scheduler's address.

A line with a number on its standard input makes it have as many workers; its end is the cluster's.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class Cluster:
    """The cluster as tests see it."""

    def __init__(self, process: subprocess.Popen):
        self._process = process
        self.address = process.stdout.readline().strip()

    def scale(self, workers: int) -> None:
        self._process.stdin.write(f"{workers}\n")
        self._process.stdin.flush()
        self._process.stdout.readline()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def started(workers: int = 2, threads: int = 1, path: tuple[Path, ...] = (), port: int = 0) -> Iterator[Cluster]:
    """A cluster whose workers import from `path` first, then from here. Port 0: any."""
    here = Path(__file__).resolve().parent
    folders = [*map(str, path), str(here.parent), str(here)]
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).resolve()), str(workers), str(threads), str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
    )
    try:
        yield Cluster(process)
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.wait(30)


def main() -> None:
    from distributed import LocalCluster

    workers, threads, port = map(int, sys.argv[1:])
    options = {"dashboard_address": None, "memory_limit": 0, "scheduler_port": port}
    options["scheduler_kwargs"] = {"dashboard_address": "127.0.0.1:0"}
    with LocalCluster(n_workers=workers, threads_per_worker=threads, **options) as cluster:
        print(cluster.scheduler_address, flush=True)
        for line in sys.stdin:
            cluster.scale(int(line))
            print("yes", flush=True)


if __name__ == "__main__":
    main()
