"""Seconds and peak memory of export, replay, import, backup, restore and doctor on a database with 10^6 verdicts.

python tests/benchmarks/export_speed.py                 # 62,500 sources x 4 relations x 4 systems

The database is made up (every output is positive, every group satisfied): what is measured is how rows go in and out.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw_all
from audit.sampling.draw import SampleRequest, Size
from audit.store import group_id, input_ids, insert_new, open_store, tables
from audit.tasks import Input

RELATIONS, SYSTEMS, PIECE = 4, 4, 2_500


def fill(where, sources):
    """A database of so many sources."""
    engine = open_store(where, create=True)
    with engine.begin() as connection:
        study = {
            "id": 1, "key": bytes(16), "task": "sentiment", "corpus": "made up", "fingerprint": "0", "unit": "sentence",
            "has_gold": True, "seed": 0, "limit": None, "imported": True, "chunk": 1, "created_at": tables.now(),
        }  # fmt: skip
        insert_new(connection, tables.Study, [study])
        names = [{"id": n, "task": "sentiment", "name": f"MR{n}", "version": "1"} for n in range(1, RELATIONS + 1)]
        insert_new(connection, tables.Relation, names)
        insert_new(
            connection, tables.System, [{"id": n, "name": f"s{n}", "version": "1"} for n in range(1, SYSTEMS + 1)]
        )
    for start in range(0, sources, PIECE):
        with engine.begin() as connection:
            one_piece(connection, range(start + 1, min(start + PIECE, sources) + 1))
    draw_all(engine, SampleRequest(Size(per_relation=500)))
    answer_with_gold(engine)
    engine.dispose()


def one_piece(connection, numbers):
    texts = {(n, r): Input.of(f"This is text {n} for relation {r}.") for n in numbers for r in range(RELATIONS + 1)}
    ids = input_ids(connection, texts.values())
    given = {key: ids[one.key] for key, one in texts.items()}
    label = {"attempt": 1, "label": "positive", "score": 0.9}
    gold = {n: "negative" if n % 5 == 0 else "positive" for n in numbers}
    same = {"study_id": 1, "attributes": {}}
    sources = [same | {"id": n, "row": str(n), "input_id": given[n, 0], "gold": gold[n], "u": n / 1e8} for n in numbers]
    insert_new(connection, tables.Source, sources)
    outputs = [{"system_id": s, "input_id": i} | label for i in given.values() for s in range(1, SYSTEMS + 1)]
    insert_new(connection, tables.Output, outputs)
    cells = [(n, r, group_id(n, r, None)) for n in numbers for r in range(1, RELATIONS + 1)]
    groups = [{"id": id, "study_id": 1, "relation_id": r, "source_id": n} for n, r, id in cells]
    insert_new(connection, tables.Group, groups)
    roles = ((0, "source"), (1, "follow_up"))
    members = [
        {"group_id": id, "step": step, "input_id": given[n, r * step], "role": role}
        for n, r, id in cells
        for step, role in roles
    ]
    insert_new(connection, tables.Member, members)
    verdicts = [
        {"group_id": id, "system_id": s, "outcome": int((n + s) % 7 == 0), "value": 0.5}
        for n, _, id in cells
        for s in range(1, SYSTEMS + 1)
    ]
    insert_new(connection, tables.Verdict, verdicts)


def measured(*arguments):
    """Seconds, peak resident MiB, JSON answer of one command."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "audit", *map(str, arguments), "--json"]
    with tempfile.TemporaryFile("w+") as answer:
        process = subprocess.Popen(command, stdout=answer)
        peak, watched = 0, psutil.Process(process.pid)
        while process.poll() is None:
            try:
                peak = max(peak, watched.memory_info().rss)
            except psutil.Error:
                break
            time.sleep(0.1)
        if process.wait():
            raise SystemExit(f"{command} failed")
        answer.seek(0)
        return time.perf_counter() - started, peak / 2**20, json.load(answer)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=int, default=62_500)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        fill(str(place / "a.db"), arguments.sources)
        size = (place / "a.db").stat().st_size / 2**20
        print(f"{arguments.sources * RELATIONS * SYSTEMS:,} verdicts, {size:,.0f} MiB.\n", flush=True)
        print("| command | seconds | peak MiB |\n|---|---|---|", flush=True)
        for call in (
            ("report", "--db", place / "a.db"),
            ("export", "--db", place / "a.db", "--out", place / "out"),
            ("import", place / "out", "--db", place / "b.db"),
            ("replay", place / "out"),
            ("backup", "--db", place / "a.db", "--out", place / "backup.db"),
            ("restore", place / "backup.db", "--db", place / "c.db"),
            ("doctor", "--db", place / "a.db"),
        ):
            seconds, peak, answer = measured(*call)
            print(f"| `audit {call[0]}` | {seconds:.1f} | {peak:.0f} |", flush=True)
            if call[0] == "export":
                rows = answer["rows"]
        written = sum(path.stat().st_size for path in (place / "out").rglob("*") if path.is_file()) / 2**20
        print(f"\n{rows:,} rows, {written:,.0f} MiB as files.")


if __name__ == "__main__":
    main()
