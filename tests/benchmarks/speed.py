"""Wall time and peak memory of `audit run` as a whole process with its workers, and of a second one
(which finds all done).

python tests/benchmarks/speed.py               # 2,000 sentences x 13 relations x 4 systems
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

SYSTEMS = "vader,textblob,hiv4,tfidf-logreg"
AUDIT = [sys.executable, "-m", "audit"]


@dataclass(frozen=True)
class Measured:
    """What a command took: wall seconds, CPU seconds of its own process and of those that it started, peak MiB of the
    whole process tree (proportional set size: shared pages counted once), and its JSON answer."""

    seconds: float
    own_cpu: float
    workers_cpu: float
    peak: float
    answer: object

    @property
    def cpu(self):
        """CPU seconds of all processes."""
        return self.own_cpu + self.workers_cpu


def measured(command, environment=None):
    """Run a command that answers in JSON, and measure it. Raises SystemExit with its last words where it fails."""
    with tempfile.TemporaryFile("w+") as answer, tempfile.TemporaryFile("w+") as words:
        started, peak, own, usage = time.perf_counter(), 0, 0.0, None
        process = subprocess.Popen(command, stdout=answer, stderr=words, env=environment)
        tree = psutil.Process(process.pid)
        while usage is None:
            with contextlib.suppress(psutil.Error):
                peak = max(peak, sum(_proportional(one) for one in [tree, *tree.children(recursive=True)]))
                times = tree.cpu_times()
                own = times.user + times.system  # the last look is at most a fifth of a second before the end
            time.sleep(0.2)
            pid, status, found = os.wait4(process.pid, os.WNOHANG)
            usage = found if pid else None
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        answer.seek(0)
        words.seek(0)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{words.read()[-2000:]}")
        all_cpu = usage.ru_utime + usage.ru_stime  # with all children that were waited for
        return Measured(seconds, own, max(0.0, all_cpu - own), peak / 2**20, json.loads(answer.read()))


def _proportional(process):
    try:
        return process.memory_full_info().pss
    except (psutil.Error, AttributeError):
        return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="rotten-tomatoes")
    parser.add_argument("--limit", default="2000")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "speed.db")
        command = [*AUDIT, "run", "--db", database, "--corpus", arguments.corpus]
        command += ["--systems", SYSTEMS, "--limit", arguments.limit, "--json"]
        print("| run | seconds | peak MiB | groups | checks | executed | checks/s |\n|---|---|---|---|---|---|---|")
        for name in ("first", "again"):
            took = measured(command)
            made = took.answer
            print(
                f"| {name} | {took.seconds:.1f} | {took.peak:.0f} | {made['groups']:,} | {made['checks']:,} | "
                f"{made['executed']:,} | {made['checks'] / took.seconds:,.0f} |"
            )
        size = Path(database).stat().st_size / 2**20
        print(f"\nDatabase: {size:.1f} MiB.")


if __name__ == "__main__":
    main()
