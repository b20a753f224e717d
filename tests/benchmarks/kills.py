"""`audit run` killed with SIGKILL at many moments, and told to go on: what is left of the kill in the end.

python tests/benchmarks/kills.py                       # 1,000 sentences x 13 relations x 5 systems, 42 runs, 54 kills
python tests/benchmarks/kills.py --limit 200 --moments 3 --random 0 --several 0

Each run is a real process with two workers, on four real systems and a user's own one that writes down what it is
given. It is killed when the database, which is polled beside it, holds 5 %, 10 %, ... of the verdicts of an undisturbed
run, at random shares (seeded), or at several shares one after the other. Then the same command goes on to its end.
Counted is what was executed again although it was stored, and compared are the database's content and the report, which
must be the undisturbed run's byte for byte. Chunks are smaller than usual, so that verdicts come in small steps.
"""

import argparse
import contextlib
import io
import json
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from contents import content

from audit.cli import main as audit
from audit.store import open_store

REAL = ("vader", "textblob", "hiv4", "tfidf-logreg")
OWN = "logging_system:logged"
WRITES_DOWN = """
import hashlib
import json


def logged(text):
    with open("executed.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(text) + "\\n")
    number = hashlib.md5(text.lower().encode()).digest()[0]
    return ("positive", "neutral", "negative")[number % 3], 0.5 + number / 600
"""
COMMAND = """
import sys
from audit.runner import studies
studies.CHUNK["sentence"] = {chunk}
from audit.cli import main
sys.exit(main())
"""
GONE = 10.0
"""Seconds in which the workers of a killed run must be gone."""
COUNT = "SELECT (SELECT count(*) FROM output), (SELECT count(*) FROM verdict)"


@dataclass
class Killed:
    """A run, the kills that it met and how it ended."""

    wanted: list[float]
    """At which shares of the verdicts it was to be killed."""
    verdicts: list[float] = field(default_factory=list)
    """Shares that were stored after each kill."""
    outputs: list[float] = field(default_factory=list)
    survived: int = 0
    """Workers that were alive `GONE` seconds after their run was killed."""
    gone: float = 0.0
    """Seconds until the last worker of a killed run was gone, at most."""
    again: int = 0
    """Outputs that were stored and executed all the same."""
    same_content: bool = False
    same_report: bool = False

    @property
    def fine(self) -> bool:
        # Each start asks three stored inputs again, to see whether the model is the same.
        return self.same_content and self.same_report and self.again <= 3 * len(self.wanted) and not self.survived


class World:
    """A folder with the user's own system, and the command that is killed."""

    def __init__(self, folder, limit, systems=REAL, workers=2, chunk=25, corpus="rotten-tomatoes", relations=()):
        self.folder, self.chunk = Path(folder), chunk
        (self.folder / "logging_system.py").write_text(WRITES_DOWN, encoding="utf-8")
        self.command = ["run", "--corpus", corpus, "--limit", str(limit), "--systems", ",".join([*systems, OWN])]
        self.command += ["--workers", str(workers), "--json"]
        if relations:
            self.command += ["--relations", ",".join(relations)]

    def start(self, database):
        """The command as a process of its own; its answer goes to a file."""
        with open(self.folder / "answer.json", "w", encoding="utf-8") as answer:
            return subprocess.Popen(
                [sys.executable, "-c", COMMAND.format(chunk=self.chunk), *self.command, "--db", str(database)],
                cwd=self.folder,
                stdout=answer,
                stderr=subprocess.DEVNULL,
            )

    def finish(self, database):
        """The command to its end; its answer."""
        process = self.start(database)
        if process.wait():
            raise SystemExit(f"the run ended with {process.returncode}")
        return json.loads((self.folder / "answer.json").read_text(encoding="utf-8"))

    def executed(self):
        """The texts that the user's own system was given since this was asked last."""
        log = self.folder / "executed.jsonl"
        found = list(map(json.loads, log.read_text(encoding="utf-8").splitlines())) if log.exists() else []
        log.unlink(missing_ok=True)
        return found


def counted(database):
    """Stored outputs and verdicts, as another process sees them."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5)) as connection:
            return connection.execute(COUNT).fetchone()
    except sqlite3.OperationalError:  # not there yet, or its tables are not
        return 0, 0


def texts_of(database):
    """The texts for which the user's own system's output is stored."""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5)) as connection:
        query = (
            "SELECT input.texts FROM output JOIN input ON input.id = output.input_id "
            "JOIN system ON system.id = output.system_id WHERE system.name = ?"
        )
        try:
            return {json.loads(row[0])[0] for row in connection.execute(query, [OWN])}
        except sqlite3.OperationalError:
            return set()


def report(database):
    """Sample, let gold answer, and the report's JSON, as the commands print it."""
    printed = ""
    for command in (["sample", "--per-relation", "60"], ["gold"], ["report", "--json"]):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            if audit([*command, "--db", str(database)]):
                raise SystemExit(f"audit {command[0]} failed")
        printed = out.getvalue()
    engine = open_store(str(database))
    held = content(engine)
    engine.dispose()
    return printed, held


def kill_at(world, database, share, everything, killed):
    """Run until this share of the verdicts is stored, and kill; whether there was somebody to kill."""
    process = world.start(database)
    while process.poll() is None and counted(database)[1] < share * everything[1]:
        time.sleep(0.005)
    workers = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    process.send_signal(signal.SIGKILL)  # of the run alone: its workers have to notice
    if process.wait() != -signal.SIGKILL:
        return False
    started = time.monotonic()
    _, alive = psutil.wait_procs(workers, timeout=GONE)
    killed.gone = max(killed.gone, time.monotonic() - started)
    killed.survived += len(alive)
    for one in alive:
        one.kill()
    outputs, verdicts = counted(database)
    killed.outputs.append(outputs / everything[0])
    killed.verdicts.append(verdicts / everything[1])
    return True


def disturbed(world, database, shares, everything, expected):
    """A run that is killed at these shares of the verdicts, one after the other, and then left alone."""
    killed = Killed(list(shares))
    world.executed()
    for share in shares:
        before = texts_of(database) if database.exists() else set()
        if not kill_at(world, database, share, everything, killed):
            break
        killed.again += sum(text in before for text in world.executed())
    before, stored = texts_of(database), counted(database)[0]
    answer = world.finish(database)
    killed.again += sum(text in before for text in world.executed())
    killed.again += stored + answer["executed"] - counted(database)[0]
    printed, held = report(database)
    killed.same_report, killed.same_content = printed == expected[0], held == expected[1]
    return killed


def undisturbed(world):
    """Outputs and verdicts of a run that nobody kills, its report and content, and its seconds."""
    database = world.folder / "undisturbed.db"
    started = time.monotonic()
    world.finish(database)
    seconds = time.monotonic() - started
    return counted(database), report(database), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=1_000)
    parser.add_argument("--moments", type=int, default=19, help="kills at equal shares of the verdicts")
    parser.add_argument("--random", type=int, default=20, help="kills at random shares")
    parser.add_argument("--several", type=int, default=3, help="runs that are killed five times each")
    parser.add_argument("--chunk", type=int, default=25, help="sources of a chunk")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    plans = [("equal", [(one + 1) / (arguments.moments + 1)]) for one in range(arguments.moments)]
    plans += [("random", [chance.uniform(0, 1)]) for _ in range(arguments.random)]
    plans += [("five kills", sorted(chance.uniform(0, 1) for _ in range(5))) for _ in range(arguments.several)]
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder, arguments.limit, chunk=arguments.chunk)
        everything, expected, seconds = undisturbed(world)
        print(
            f"Undisturbed: {everything[1]:,} verdicts from {everything[0]:,} outputs in {seconds:.1f} s.\n\n"
            "| killed at | verdicts stored | outputs stored | workers gone after s | stored and executed again | "
            "same content | same report |\n|---|---|---|---|---|---|---|"
        )
        done = []
        for number, (name, shares) in enumerate(plans):
            database = Path(folder) / f"killed{number}.db"
            one = disturbed(world, database, shares, everything, expected)
            done.append(one)
            wanted, verdicts, outputs = (
                ", ".join(f"{100 * share:.0f}" for share in some) for some in (one.wanted, one.verdicts, one.outputs)
            )
            print(
                f"| {name}: {wanted} % | {verdicts} % | {outputs} % | {one.gone:.2f} | {one.again} | "
                f"{_said(one.same_content)} | {_said(one.same_report)} |",
                flush=True,
            )
            for file in Path(folder).glob(f"{database.name}*"):
                file.unlink()
    kills = sum(len(one.verdicts) for one in done)
    print(f"\n{kills} kills in {len(done)} runs; {sum(one.fine for one in done)} runs ended as if undisturbed.")
    return 0 if all(one.fine for one in done) else 1


def _said(same):
    return "yes" if same else "NO"


if __name__ == "__main__":
    sys.exit(main())
