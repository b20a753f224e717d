"""A run that is killed half-way, for real: the same command again gives the same report, byte for byte."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import processes

from audit.cli import main

SOURCES = 2_400
"""Twelve chunks of 200."""


def verdicts(database: Path) -> int:
    """Committed verdicts, as another process sees them."""
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5) as connection:
            return connection.execute("SELECT count(*) FROM verdict").fetchone()[0]
    except sqlite3.OperationalError:  # neither the file nor the tables are there yet
        return 0


def until(condition, seconds):
    end = time.monotonic() + seconds
    while not (true := condition()) and time.monotonic() < end:
        time.sleep(0.01)
    return true


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
def test_a_killed_run_goes_on_and_ends_with_the_same_report(own, tmp_path, capsys):
    lines = ["text,gold", *(f"The film number {n} is good.,{('positive', 'negative')[n % 2]}" for n in range(SOURCES))]
    (tmp_path / "reviews.csv").write_text("\n".join(lines), encoding="utf-8")
    # Four chunks end together and the others begin then: slow enough to be caught before it ends on any machine.
    with own.file.open("a", encoding="utf-8") as file:
        file.write("\n\ndef slow(text):\n    import time\n    time.sleep(0.002)\n    return answer(text)\n")
    command = ["run", "--corpus", "reviews.csv", "--systems", ",".join(own.specs("slow", "failing"))]
    command += ["--relations", "MR1.4,MR3.1", "--json"]

    def report(database):
        for arguments in (["sample", "--base", "20"], ["gold"]):
            assert main([*arguments, "--db", database]) == 0
        capsys.readouterr()
        assert main(["report", "--db", database, "--json"]) == 0
        return capsys.readouterr().out

    assert main([*command, "--db", "calm.db", "--workers", "0"]) == 0
    everything = verdicts(tmp_path / "calm.db")
    assert everything == 2 * 2 * SOURCES

    killed, words = tmp_path / "killed.db", ["-m", "audit", *command, "--db", "killed.db", "--workers", "2"]
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert until(lambda: verdicts(killed) >= everything / 4 or process.poll() is not None, 300)
        workers = {other.id for other in processes() if other.parent == process.pid}
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL
    assert everything / 4 <= verdicts(killed) < everything
    assert workers
    assert until(lambda: not workers & {one.id for one in processes()}, 10), "workers outlive the run that was killed"
    assert main([*command, "--db", "killed.db", "--workers", "0"]) == 0
    assert verdicts(killed) == everything
    assert report("killed.db") == report("calm.db")
