"""Wall time, CPU time and peak memory of `audit sample` and `audit report` as whole processes, at any size.

The database is simulated: sources, outputs and verdicts are random numbers written in bulk, and named so.

    python tests/benchmarks/report_speed.py                                  # 100,000 groups x 4 systems
    python tests/benchmarks/report_speed.py --groups 10000 100000 1000000    # up to the size of issue 5
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from audit.keys import digest, uniform
from audit.relations import Outcome
from audit.relations.registry import get_relation
from audit.store import group_id, insert_new, open_store, tables

RELATIONS = ("MR1.1", "MR1.2", "MR1.3", "MR1.4", "MR3.1", "MR3.2", "MR4.1", "MR4.2", "MR4.3", "MR4.4")
LABELS = np.array(["positive", "negative"])
AT_ONCE = 2_000
"""Sources that are written at once."""
PER_RELATION = 60


def simulate(path, groups=100_000, systems=4, seed=0):
    """Make a database named simulated: `groups` groups of ten relations, verdicts and outputs of every system, gold."""
    engine = open_store(str(path), create=True)
    rng = np.random.default_rng(seed)
    sources = groups // len(RELATIONS)
    study = {
        "id": 1, "key": hashlib.blake2b(b"simulated", digest_size=16).digest(), "task": "sentiment",
        "corpus": "simulated", "fingerprint": "simulated", "unit": "sentence", "has_gold": True, "seed": seed,
        "limit": None, "imported": False, "chunk": AT_ONCE, "created_at": tables.now(),
    }  # fmt: skip
    with engine.begin() as connection:
        insert_new(connection, tables.Study, [study])
        for number, name in enumerate(RELATIONS, start=1):
            row = {"id": number, "task": "sentiment", "name": name, "params": "{}"}
            insert_new(connection, tables.Relation, [row | {"version": get_relation("sentiment", name).version}])
        for number in range(1, systems + 1):
            row = {"id": number, "name": f"simulated-{number}", "version": "1", "settings": "{}"}
            insert_new(connection, tables.System, [row])
    skill = np.linspace(0.75, 0.9, systems)
    members = 1 + len(RELATIONS)
    for start in range(0, sources, AT_ONCE):
        ids = np.arange(start + 1, min(start + AT_ONCE, sources) + 1)
        gold = rng.integers(2, size=len(ids))
        # Some sources are hard for everybody, and what a system says about a source it mostly says of its follow-ups.
        hard = rng.random((len(ids), 1))
        right = rng.random((len(ids), systems)) < np.clip(skill + 0.3 * (0.5 - hard), 0, 1)
        said = np.where(right, gold[:, None], 1 - gold[:, None])
        flips = rng.random((len(ids), len(RELATIONS), systems)) < 0.1
        follow = np.where(flips, 1 - said[:, None, :], said[:, None, :])
        inputs, outputs, rows, made, parts, verdicts = [], [], [], [], [], []
        for at, source in enumerate(ids.tolist()):
            first = (source - 1) * members + 1
            for member in range(members):
                text = f"Simulated text {source}.{member}"
                inputs.append({"id": first + member, "key": digest(text), "texts": [text], "languages": "en"})
                labels = said[at] if member == 0 else follow[at, member - 1]
                outputs += [
                    {"system_id": system + 1, "input_id": first + member, "attempt": 1, "label": str(LABELS[one]),
                     "score": None, "text": None, "error": None}
                    for system, one in enumerate(labels)
                ]  # fmt: skip
            rows.append(
                {"id": source, "study_id": 1, "row": str(source), "input_id": first, "gold": str(LABELS[gold[at]]),
                 "cluster": None, "attributes": {}, "u": uniform(seed, source)}
            )  # fmt: skip
            for relation in range(len(RELATIONS)):
                group = group_id(source, relation + 1, None)
                made.append({"id": group, "study_id": 1, "relation_id": relation + 1, "source_id": source,
                             "system_id": None})  # fmt: skip
                parts += [
                    {"group_id": group, "step": 0, "input_id": first, "role": "source"},
                    {"group_id": group, "step": 1, "input_id": first + 1 + relation, "role": "follow_up"},
                ]
                verdicts += [
                    {"group_id": group, "system_id": system + 1, "value": None, "reason": None,
                     "outcome": int(Outcome.SATISFIED if same else Outcome.VIOLATED)}
                    for system, same in enumerate(follow[at, relation] == said[at])
                ]  # fmt: skip
        with engine.begin() as connection:
            for model, some in (
                (tables.Input, inputs), (tables.Output, outputs), (tables.Source, rows), (tables.Group, made),
                (tables.Member, parts), (tables.Verdict, verdicts),
            ):  # fmt: skip
                insert_new(connection, model, some)
    engine.dispose()


def measured(arguments):
    """Wall seconds, CPU seconds, peak resident MiB and the JSON answer of one `audit` command."""
    command = [sys.executable, "-m", "audit", *arguments]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    answer = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} failed")
    cpu = usage.ru_utime + usage.ru_stime
    return time.perf_counter() - started, cpu, usage.ru_maxrss / 1024, json.loads(answer)


def steps(html):
    """The commands that are measured, in this order: each finds what those before it have left."""
    yield "sample, first rounds", ["sample", "--base", str(PER_RELATION), "--decide", "none"]
    yield "gold", ["gold"]
    yield "sample, a round that decides", ["sample", "--base", str(PER_RELATION)]
    yield "report", ["report"]
    yield "report --html", ["report", "--html", str(html)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, nargs="+", default=[100_000])
    parser.add_argument("--systems", type=int, default=4)
    arguments = parser.parse_args()
    print("| command | groups | systems | seconds | CPU seconds | peak MiB |")
    print("|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for groups in arguments.groups:
            path = Path(folder) / f"simulated-{groups}.db"
            # In a process of its own: a child's peak memory begins with its parent's.
            maker = multiprocessing.Process(target=simulate, args=(path, groups, arguments.systems))
            maker.start()
            maker.join()
            best, html = {}, Path(folder) / "report.html"
            for _ in range(3):  # the quickest counts
                copy = Path(folder) / "copy.db"
                shutil.copyfile(path, copy)
                for name, command in steps(html):
                    run = measured([*command, "--db", str(copy), "--json"])[:3]
                    best[name] = min(run, best.get(name, run))
            for name, (seconds, cpu, peak) in best.items():
                sizes = f"{groups:,} | {arguments.systems}"
                print(f"| {name} | {sizes} | {seconds:.1f} | {cpu:.1f} | {peak:.0f} |", flush=True)
            print(f"The HTML file has {html.stat().st_size / 1e6:.1f} MB.", flush=True)


if __name__ == "__main__":
    main()
