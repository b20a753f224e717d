"""Do the intervals of R_FS hold once gold's errors are corrected, where gold is wrong as often as one says?

    python tests/benchmarks/gold_error.py            # prints the table of docs/evidence/benchmarks.md

Imported groups whose truth is known: sentences with K labels, two systems, three relations that carry everything, one
of them satisfied by outputs that differ (one more than its source), which no answer makes true. Systems err on the same
sentences. Again and again a share e of the gold labels is replaced by others at random, groups are drawn, and gold
settles them as `audit gold` and `audit report` do. *Holds* is the share of corrected intervals of the headline that
hold the R_FS that the true labels give all satisfied groups; beside it the same of the report's interval.
"""

import argparse
import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
from sqlalchemy import bindparam, select

from audit.false_satisfaction.cells import CELL, count, read_resting, source_clusters
from audit.false_satisfaction.groups import checked_groups, judged_groups
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw
from audit.reports.build import rated
from audit.reports.certainty import certainty, covered, with_worth
from audit.reports.sensitivity import GoldError, gold_error_entry
from audit.runner.imported import import_run, read_run
from audit.sampling.draw import SampleRequest, Size
from audit.statistics.intervals import mid_p
from audit.store import open_store, table_of, tables

LABELS = ("negative", "positive", "neutral")
SYSTEMS = ("a", "b")


def made(folder, labels, sources=200, wrong=0.3, seed=0):
    """A database of imported groups with true gold, and R_FS of all its satisfied groups by that truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(labels, size=sources)
    hard = rng.random(sources)
    lines, false = [], []
    for system in SYSTEMS:
        errs = np.where(rng.random(sources) < 0.6, hard, rng.random(sources)) < wrong
        said = np.where(errs, (truth + rng.integers(1, labels, sources)) % labels, truth)
        for relation in ("one", "two", "grows"):
            for at in range(sources):
                grows = relation == "grows" and at % 4 == 0
                outputs = [LABELS[said[at]], LABELS[(said[at] + grows) % labels]]
                verdict = "satisfied" if grows or rng.random() < 0.85 else "violated"
                line = {"relation": relation, "system": system, "id": str(at), "source": f"Sentence {at}."}
                line |= {"follow_ups": [f"{relation}, sentence {at}."], "outputs": outputs, "verdict": verdict}
                lines.append(line | {"gold": LABELS[truth[at]], "carries": "everything"})
                if verdict == "satisfied":
                    false.append(bool(errs[at] or grows))
    path, database = folder / "groups.jsonl", folder / "made.db"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    engine = open_store(str(database), create=True)
    import_run(engine, read_run(path), seed=0)
    engine.dispose()
    return database, float(np.mean(false))


def spoil(engine, error, labels, rng):
    """Replace a share of the gold labels by one of the others, each as likely."""
    source = table_of(tables.Source)
    with engine.begin() as connection:
        rows = connection.execute(select(source.c.id, source.c.gold)).all()
        hit = [(id, LABELS.index(gold)) for id, gold in rows if rng.random() < error]
        other = [{"of": id, "new": LABELS[(gold + rng.integers(1, labels)) % labels]} for id, gold in hit]
        if other:
            connection.execute(
                source.update().where(source.c.id == bindparam("of")).values(gold=bindparam("new")), other
            )


def measured(engine, error, target):
    """The entry `gold_error` of the report, without what it does not need."""
    counted = count(engine)
    with engine.connect() as connection:
        clusters = source_clusters(connection, [1])
    judged = judged_groups(counted, clusters)
    checked = checked_groups(counted, clusters) if target == "population" else None
    cells = counted.cells.join(counted.keys[CELL])
    frame = rated(with_worth(cells, judged, checked) if target == "population" else cells, mid_p, 0.95, target)
    totals = covered(frame, certainty(frame, judged, checked, target))
    found = gold_error_entry(counted, read_resting(engine, counted, "both"), error, totals, target)
    return found | {"plain": (totals["fs_low"], totals["fs_high"])}


def measure(labels, error, target, drawn, redraws, seed=0):
    """Shares of the corrected and of the plain intervals that hold, mean rates and widths."""
    rng = np.random.default_rng(seed)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        database, truth = made(folder, labels)
        for redraw in range(redraws):
            copy = folder / "copy.db"
            shutil.copyfile(database, copy)
            engine = open_store(str(copy))
            spoil(engine, error, labels, rng)
            draw(engine, 1, SampleRequest(Size(per_relation=drawn), seed=redraw))
            answer_with_gold(engine)
            found = measured(engine, GoldError(error, error), target)
            engine.dispose()
            low, high = found["fs_low"], found["fs_high"]
            rows.append((found["fs_rate_least"] - truth, low <= truth <= high, high - low))
            plain = found["plain"]
            rows[-1] += (plain[0] <= truth <= plain[1], found["fs_rate"] - truth)
    bias, holds, width, before, off = np.array(rows, float).mean(axis=0)
    return {"holds": holds, "bias": bias, "width": width, "plain holds": before, "plain bias": off}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--redraws", type=int, default=150)
    arguments = parser.parse_args()
    print("| labels | error | target | drawn | holds | bias | width | without: holds | bias |\n|" + "---|" * 9)
    for labels in (2, 3):
        for error in (0.02, 0.05, 0.1):
            for target, drawn in (("population", 60), ("corpus", 200)):
                found = measure(labels, error, target, drawn, arguments.redraws)
                numbers = " | ".join(f"{one:.3f}" for one in found.values())
                print(f"| {labels} | {error:.2f} | {target} | {drawn} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
