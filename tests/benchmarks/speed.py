"""Wall time and peak memory of `audit run` as a whole process with its workers, and of a second one
(which finds all done).

python tests/benchmarks/speed.py               # 2,000 sentences x 13 relations x 4 systems
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

SYSTEMS = "vader,textblob,hiv4,tfidf-logreg"


def measured(command):
    """Wall seconds, peak resident MiB of the whole process tree (sum, shared pages counted once each), JSON answer."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    tree, peak = psutil.Process(process.pid), 0
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):
            peak = max(peak, sum(_proportional(one) for one in [tree, *tree.children(recursive=True)]))
        time.sleep(0.2)
    seconds = time.perf_counter() - started
    answer = json.loads(process.stdout.read())
    if process.returncode:
        raise SystemExit(f"{command} failed")
    return seconds, peak / 2**20, answer


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
        command = [sys.executable, "-m", "audit.cli", "run", "--db", database, "--corpus", arguments.corpus]
        command += ["--systems", SYSTEMS, "--limit", arguments.limit, "--json"]
        print("| run | seconds | peak MiB | groups | checks | executed | checks/s |\n|---|---|---|---|---|---|---|")
        for name in ("first", "again"):
            seconds, peak, made = measured(command)
            print(
                f"| {name} | {seconds:.1f} | {peak:.0f} | {made['groups']:,} | {made['checks']:,} | "
                f"{made['executed']:,} | {made['checks'] / seconds:,.0f} |"
            )
        size = Path(database).stat().st_size / 2**20
        print(f"\nDatabase: {size:.1f} MiB.")


if __name__ == "__main__":
    main()
