"""A whole study of polarity v2.0 in one command, held against its physical limit: the bare calls of the systems.

All 2,000 documents and their 64,546 sentences, 20 relations, 4 systems. After `audit run` has ended, every input that
it executed is given to the systems again, one process, one core, models loaded before, and only the systems' own time
is counted; so is tagging every source once. The aim is: run <= 1.25 x (bare / 2 cores + tagging). A run with one
worker, and with none beside the process itself (--against 1 0), tells what the second core is good for. NLTK_DATA names
the folder of the corpus.

    python tests/benchmarks/study_speed.py                       # all of it: some twenty minutes
    python tests/benchmarks/study_speed.py --limit 100           # a try-out: so many sources of each corpus

Times of a machine that others use mean little. So a fixed loop of Python runs on all cores at once before and after
each part, and its seconds stand beside the part's: parts compare where these are alike. CPU seconds suffer less.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from database_counts import counts, read_only
from speed import AUDIT, SYSTEMS, measured

CORPORA = ("polarity-v2-sentences", "polarity-v2")
AIM, AIM_SPEED_UP = 1.25, 1.7
_LOOP = 3_000_000
_WARM = 8
"""Inputs that a system gets before its time is taken, so that its model is loaded."""
_ONE_CORE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def loop(_=0):
    """Seconds that a fixed loop of Python takes."""
    started, total = time.perf_counter(), 0
    for number in range(_LOOP):
        total += number * number % 7
    return time.perf_counter() - started


def calibration():
    """Mean seconds of the fixed loop when every core runs it at once."""
    cores = os.cpu_count() or 1
    with ProcessPoolExecutor(cores) as pool:
        list(pool.map(loop, range(cores)))  # the processes have started
        return sum(pool.map(loop, range(cores))) / cores


def calibrated(part):
    """What a part returns, and the calibration before and after it."""
    before = calibration()
    found = part()
    return found, f"{before:.2f}, {calibration():.2f}"


def in_one_process(what, *arguments):
    """What a function of this file returns in a fresh process that uses one core, and what that process took."""
    return measured([sys.executable, __file__, "--part", what, *arguments], os.environ | _ONE_CORE)


def start(systems):
    """What each process of a run does before its first input: imports, and models."""
    import audit.cli.running
    import audit.runner.run  # noqa: F401
    from audit.systems import get_system
    from audit.tasks import Input

    for name in systems.split(","):
        system = get_system(name)
        system.prepare()
        system.run([Input(("It is good.",), ("en",))])
    return {}


def read(*corpora):
    """Seconds to read each corpus and to take its fingerprint."""
    from audit.corpora import get_corpus

    started, rows = time.perf_counter(), 0
    for name in corpora:
        corpus = get_corpus(name)
        corpus.fingerprint()
        rows += sum(1 for _ in corpus.rows())
    return {"seconds": time.perf_counter() - started, "rows": rows}


def bare(path, systems):
    """Seconds of the systems' own calls on every input that they were executed on, and of tagging every source."""
    from audit.runner.executors.batch import CALL
    from audit.systems import get_system
    from audit.text import Analysis

    with read_only(path) as connection:
        sentences = {
            row[0]
            for row in connection.execute(
                'SELECT DISTINCT member.input_id FROM study JOIN "group" ON "group".study_id = study.id '
                "JOIN member ON member.group_id = \"group\".id WHERE study.unit = 'sentence'"
            )
        }
        ids = dict(connection.execute("SELECT name, id FROM system"))
        found = {}
        for name in systems.split(","):
            system = get_system(name)
            system.prepare()
            system.run(next(_batches(connection, ids[name], _WARM, lambda _: True)))
            number, wall, cpu = 0, 0.0, 0.0
            for unit in ("sentence", "document"):
                mine = (lambda id: id in sentences) if unit == "sentence" else (lambda id: id not in sentences)
                for inputs in _batches(connection, ids[name], CALL[unit], mine):
                    began, began_cpu = time.perf_counter(), time.process_time()
                    system.run(inputs)
                    wall += time.perf_counter() - began
                    cpu += time.process_time() - began_cpu
                    number += len(inputs)
            found[name] = {"inputs": number, "seconds": wall, "cpu": cpu}
        query = "SELECT input.texts, input.languages FROM source JOIN input ON input.id = source.input_id"
        sources = [_input(*row) for row in connection.execute(query)]
    Analysis("It is good.").tokens  # noqa: B018 the tagger's lexicon is read
    began, began_cpu = time.perf_counter(), time.process_time()
    for one in sources:
        Analysis(one.text, one.languages[0]).tokens  # noqa: B018 computed when it is asked for
    tagging = {"sources": len(sources), "seconds": time.perf_counter() - began, "cpu": time.process_time() - began_cpu}
    return {"systems": found, "tagging": tagging}


def _batches(connection, system, size, wanted):
    """The inputs that a system was executed on, in batches."""
    rows = connection.execute(
        "SELECT input.id, input.texts, input.languages FROM output JOIN input ON input.id = output.input_id "
        "WHERE output.system_id = ? AND output.attempt = 1 ORDER BY input.id",
        (system,),
    )
    batch = []
    for id, texts, languages in rows:
        if wanted(id):
            batch.append(_input(texts, languages))
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _input(texts, languages):
    from audit.tasks import Input

    return Input(tuple(json.loads(texts)), tuple(languages.split(",")))


PARTS = {"start": start, "read": read, "bare": bare}


def table(*rows):
    """Print a markdown table; the first row is its head. Numbers stand at the right."""
    head, *body = rows
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in body:
        print("| " + " | ".join(row) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", help="so many sources of each corpus; without it: all")
    parser.add_argument("--corpus", action="append", help="default: " + " and ".join(CORPORA))
    parser.add_argument("--systems", default=SYSTEMS)
    parser.add_argument("--keep", type=Path, help="keep the databases in this folder")
    parser.add_argument(
        "--against", type=int, nargs="*", default=[1], metavar="WORKERS", help="default: 1; 0: in-process"
    )
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        print(json.dumps(PARTS[arguments.part[0]](*arguments.part[1:])))
        return
    corpora = arguments.corpus or CORPORA
    options = [part for name in corpora for part in ("--corpus", name)] + ["--systems", arguments.systems]
    options += ["--limit", arguments.limit] if arguments.limit else []
    print("audit run " + " ".join(options) + f"\n\n{_machine()}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        runs = {}
        for workers in (2, *arguments.against):
            path = folder / f"study-{workers}.db"
            if path.exists():
                raise SystemExit(f"{path} is there already; name another folder with --keep")
            command = [*AUDIT, "run", "--db", str(path), *options, "--workers", str(workers), "--json"]
            runs[workers] = path, *calibrated(lambda command=command: measured(command))
        path, run, _ = runs[2]
        found = {workers: counts(one) for workers, (one, _, _) in runs.items()}
        made = found[2]
        if made.studies != len(corpora):
            raise SystemExit(f"the database has {made.studies} studies, not {len(corpora)}")
        if any((one.checks, one.executions) != (made.checks, made.executions) for one in found.values()):
            raise SystemExit(f"runs with other numbers of workers made something else: {found}")
        started, start_loop = calibrated(lambda: in_one_process("start", arguments.systems))
        reading, read_loop = calibrated(lambda: in_one_process("read", *corpora).answer)
        alone, bare_loop = calibrated(lambda: in_one_process("bare", str(path), arguments.systems).answer)
    table(
        ("sources", "groups", "checks (group, system)", "distinct inputs", "executions", "each time anew", "saved"),
        (f"{made.sources:,}", f"{made.groups:,}", f"{made.checks:,}", f"{made.inputs:,}", f"{made.executions:,}",
         f"{made.each_time:,}", f"{made.saved:.0%}"),
    )  # fmt: skip
    table(
        ("workers", "seconds", "CPU seconds: parent", "workers", "peak MiB", "database MiB", "MiB per 10^6 groups",
         "checks/s", "loop before, after"),
        *(
            (str(workers), f"{took.seconds:.1f}", f"{took.own_cpu:.1f}", f"{took.workers_cpu:.1f}", f"{took.peak:.0f}",
             f"{one.mib:.0f}", f"{one.mib_per_million:.0f}", f"{one.checks / took.seconds:,.0f}", loops)
            for workers, (_, took, loops) in runs.items()
            for one in [found[workers]]
        ),
    )  # fmt: skip
    systems, tagging = alone["systems"], alone["tagging"]
    table(
        ("on one core, one process", "inputs", "seconds", "CPU seconds", "microseconds an input", "loop before, after"),
        *((name, *_timed(one["inputs"], one), bare_loop) for name, one in systems.items()),
        ("tagging every source once", *_timed(tagging["sources"], tagging), bare_loop),
        ("imports and models", "", f"{started.seconds:.1f}", f"{started.cpu:.1f}", "", start_loop),
        ("reading the corpora", f"{reading['rows']:,}", f"{reading['seconds']:.1f}", "", "", read_loop),
    )
    _ratios(run, started, systems, tagging)
    _speed_up(runs)


def _timed(number, one):
    return f"{number:,}", f"{one['seconds']:.1f}", f"{one['cpu']:.1f}", f"{one['seconds'] / max(number, 1) * 1e6:.0f}"


def _ratios(run, started, systems, tagging):
    """The run against bare / 2 + tagging, in seconds, without the process's start, and in CPU seconds of a core."""
    rows = []
    for name, took, of in (
        ("wall", run.seconds, "seconds"),
        ("wall, without imports and models", run.seconds - started.seconds, "seconds"),
        ("CPU seconds / 2", run.cpu / 2, "cpu"),
    ):
        called = sum(one[of] for one in systems.values()) / 2
        limit = called + tagging[of]
        rows.append((name, f"{took:.1f}", f"{called:.1f}", f"{tagging[of]:.1f}", f"{took / limit:.2f}", f"<= {AIM}"))
    table(("what", "run", "bare / 2", "tagging", "run / (bare / 2 + tagging)", "aim"), *rows)


def _speed_up(runs):
    """Two workers against others. The coordinator is a process of its own beside workers: where it takes the share p of
    what they take, two of them on two cores are at most 2 / (1 + p) times as fast as one."""
    _, two, _ = runs[2]
    table(
        ("workers", "seconds", "CPU seconds", "2 workers are faster by", "aim", "loop before, after"),
        *(
            (
                str(workers) if workers else "0: in-process",
                f"{took.seconds:.1f}",
                f"{took.cpu:.1f}",
                f"{took.seconds / two.seconds:.2f}",
                f">= {AIM_SPEED_UP}" if took is not two else "",
                loops,
            )
            for workers, (_, took, loops) in runs.items()
        ),
    )


def _machine():
    """Cores, Python, SQLite, and how busy the machine is now."""
    import sqlite3

    return (
        f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}, "
        f"load before {os.getloadavg()[0]:.1f}."
    )


if __name__ == "__main__":
    main()
