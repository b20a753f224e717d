"""How much longer `audit run` takes with RTT, MCMT and MGMT-sentence than the engine alone on the same inputs.

python tests/benchmarks/translation_overhead.py                       # a simulated engine, 1,000 sentences x 3 targets
python tests/benchmarks/translation_overhead.py --system apertium     # a real one

Of a real engine the CPU seconds of all processes are compared, too: what else the machine does hardly changes them.
Both times are of one machine in one go: the whole process of `audit run` on a new database, from its start to its end,
and one call of the system's own `run` with all the distinct inputs that the run had executed. `begun` counts how often
the simulated engine began on a pair of languages: what batches that are too small cost.

The simulated engine sleeps: a quarter of a second for each pair of languages in a call, and 2 ms a sentence, which is
about what Apertium takes. It has English, Spanish, Catalan and French. `--plain` leaves out what tells of its
slow beginning (`batch_seconds`, `call_size`) and of the pairs that it lacks (`lacks`).
"""

import argparse
import csv
import importlib
import json
import os
import resource
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from speed import AUDIT, measured
from sqlalchemy import select

from audit.corpora import get_corpus
from audit.store import open_store, table_of, tables
from audit.systems import get_system
from audit.tasks import Input

SIMULATED = '''
import time

from audit.tasks import Output

LANGUAGES = ("en", "es", "ca", "fr")
BEGINS, SENTENCE = {begins}, {sentence}


class Simulated:
    """Waits as long as an engine works."""

    tasks, languages, name, version, settings = ("translation",), ("*",), "simulated", "1", {{}}
    summary = "a simulated engine"
    {attributes}

    def needs(self):
        return None

    def prepare(self):
        pass

    def _has(self, one):
        return one.languages[0] in LANGUAGES and one.target in LANGUAGES

    def run(self, inputs):
        pairs = {{one.languages for one in inputs if self._has(one)}}
        with open({log!r}, "a", encoding="utf-8") as file:
            file.write("".join(f"{{len(inputs)}}\\n" for _ in pairs))
        time.sleep(BEGINS * len(pairs) + SENTENCE * sum(self._has(one) for one in inputs))
        return [Output(text=self._said(one)) if self._has(one) else Output() for one in inputs]

    def _said(self, one):
        words = [word.split("~")[0] for word in one.text.split()]
        kept = [word for at, word in enumerate(words) if (len(word) + at) % 11] or words
        return " ".join(word if one.target == "en" else word + "~" + one.target for word in kept)
'''
ATTRIBUTES = """batch_seconds, call_size = 20.0, 4096

    def lacks(self, one):
        return not self._has(one)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--system", help="a real one, as `audit run --systems` takes it (default: the simulated one)")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--targets", default="es,ca,fr")
    parser.add_argument("--corpus", default="rotten-tomatoes", help="of sentences; the first ones are taken")
    parser.add_argument("--workers", default="0,2", help="processes, 0 for one that does everything")
    parser.add_argument("--relations", default="RTT,MCMT,MGMT-sentence")
    parser.add_argument("--plain", action="store_true", help="the simulated engine without its attributes")
    parser.add_argument("--begins", type=float, default=0.25, help="seconds the simulated one needs for a pair")
    parser.add_argument("--sentence", type=float, default=0.002, help="seconds it needs for a sentence")
    arguments = parser.parse_args()
    print("| workers | inputs | engine alone, s (CPU) | audit run, s (CPU; own process) | overhead | of CPU | begun |")
    print("|---|---|---|---|---|---|---|")
    for workers in arguments.workers.split(","):
        with tempfile.TemporaryDirectory() as folder:
            one_run(Path(folder), arguments, workers)


def one_run(folder, arguments, workers):
    """Measure one run, and print its row."""
    log = folder / "begun.txt"
    name = f"simulated_{workers}"
    attributes = "pass" if arguments.plain else ATTRIBUTES
    text = SIMULATED.format(log=str(log), attributes=attributes, begins=arguments.begins, sentence=arguments.sentence)
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    spec = arguments.system or f"{name}:Simulated"
    database = str(folder / "a.db")
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    with (folder / "sentences.csv").open("w", encoding="utf-8", newline="") as file:
        rows = islice(get_corpus(arguments.corpus, "sentiment").rows(), arguments.sentences)
        csv.writer(file).writerows([("text",), *((row.input.text,) for row in rows)])
    corpus = ["--corpus", str(folder / "sentences.csv"), "--unit", "sentence", "--targets", arguments.targets]
    command = [*AUDIT, "run", "--task", "translation", *corpus]
    command += ["--relations", arguments.relations, "--systems", spec, "--workers", workers, "--db", database, "--json"]
    ran = measured(command, os.environ | {"PYTHONPATH": path})
    begun = len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else None
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    inputs = executed(database)
    system = get_system(spec)
    system.run(inputs[:1])
    started, used = time.perf_counter(), cpu()
    system.run(inputs)
    alone, used = time.perf_counter() - started, cpu() - used
    if json.loads(json.dumps(ran.answer))["failed"]:
        raise SystemExit(f"the engine failed: {ran.answer}")
    overhead = f"{100 * (ran.seconds / alone - 1):.1f} %"
    of_cpu = f"{100 * (ran.cpu / used - 1):.1f} %" if arguments.system else ""
    seconds = (f"{alone:.1f} ({used:.1f})", f"{ran.seconds:.1f} ({ran.cpu:.1f}; {ran.own_cpu:.1f})", overhead, of_cpu)
    cells = (workers, f"{len(inputs):,}", *seconds, begun or "")
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def cpu():
    """CPU seconds of this process and of all that it waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(found.ru_utime + found.ru_stime for found in both)


def executed(database):
    """The inputs that have an output, those of a pair of languages together."""
    given, output = table_of(tables.Input), table_of(tables.Output)
    engine = open_store(database)
    query = select(given.c.texts, given.c.languages).join(output, output.c.input_id == given.c.id)
    with engine.connect() as connection:
        rows = connection.execute(query.where(output.c.text.is_not(None)).order_by(given.c.languages, given.c.id)).all()
    engine.dispose()
    return [Input(tuple(row.texts), tuple(row.languages.split(","))) for row in rows]


if __name__ == "__main__":
    main()
