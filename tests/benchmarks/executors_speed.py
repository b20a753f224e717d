"""Wall time and CPU seconds of `audit run` as a whole process, with each executor, and what they are to each other.

    python tests/benchmarks/executors_speed.py                    # 2,000 sentences x 13 relations x 4 systems
    python tests/benchmarks/executors_speed.py --limit 8530 --repeat 1

The executors take turns, `--repeat` times, and the median of each is shown: whatever else the machine does falls on
all of them. The reports must be equal. The aims of issue 5: two processes at least 1.7 times as fast as one, and Dask
with two workers within 1.5 times of two processes. CPU seconds are of the process and everything below it.
"""

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

SYSTEMS = "vader,textblob,hiv4,tfidf-logreg"
EXECUTORS = {
    "in-process": ("--workers", "0"),
    "processes, 1": ("--workers", "1"),
    "processes, 2": ("--workers", "2"),
    "dask, 2": ("--executor", "dask", "--workers", "2"),
}


def measured(command):
    """Wall seconds, CPU seconds of the process tree, and what it printed."""
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen(command, stdout=printed, stderr=subprocess.DEVNULL, text=True)
        tree, used = psutil.Process(process.pid), {}
        while process.poll() is None:
            with contextlib.suppress(psutil.Error):
                for one in [tree, *tree.children(recursive=True)]:
                    with contextlib.suppress(psutil.Error):
                        times = one.cpu_times()
                        used[one.pid] = times.user + times.system
            time.sleep(0.1)
        seconds = time.perf_counter() - started
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} failed")
        printed.seek(0)
        return seconds, sum(used.values()), printed.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="rotten-tomatoes")
    parser.add_argument("--limit", default="2000")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    audit = [sys.executable, "-m", "audit"]
    walls, cpus = {name: [] for name in EXECUTORS}, {name: [] for name in EXECUTORS}
    made = set()
    for turn in range(arguments.repeat):
        for name, options in EXECUTORS.items():
            with tempfile.TemporaryDirectory() as folder:
                database = str(Path(folder) / "speed.db")
                command = [*audit, "run", "--db", database, "--corpus", arguments.corpus, "--limit", arguments.limit]
                seconds, cpu, counts = measured([*command, "--systems", SYSTEMS, "--json", *options])
                walls[name].append(seconds)
                cpus[name].append(cpu)
                if turn == 0:
                    made.add((counts, measured([*audit, "report", "--db", database, "--json"])[2]))
    if len(made) != 1:
        raise SystemExit("the executors' reports differ")
    counts = json.loads(made.pop()[0])
    wall = {name: statistics.median(some) for name, some in walls.items()}
    print(f"{counts['checks']:,} checks, {counts['executed']:,} calls; the median of {arguments.repeat}.\n")
    print("| executor | seconds | CPU seconds | of one process | of two processes |\n|---|---|---|---|---|")
    for name, seconds in wall.items():
        print(
            f"| {name} | {seconds:.1f} | {statistics.median(cpus[name]):.1f} "
            f"| {seconds / wall['processes, 1']:.2f} | {seconds / wall['processes, 2']:.2f} |"
        )
    print(f"\nTwo processes are {wall['processes, 1'] / wall['processes, 2']:.2f} times as fast as one (aim: 1.7).")
    print(f"Dask takes {wall['dask, 2'] / wall['processes, 2']:.2f} times as long as two processes (aim: 1.5).")


if __name__ == "__main__":
    main()
