"""Do the intervals hold what they promise, on real systems and real text?

Gold answers every question about rotten-tomatoes, and most relations carry answers, so the true R_FS of those cells is
known for the whole population. Samples are drawn again and again, and each interval is checked against the truth.

    python tests/benchmarks/redraws.py            # prints the table of docs/evidence/benchmarks.md
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sqlalchemy import select

from audit.corpora import get_corpus
from audit.false_satisfaction.resolution import State, drawn_groups, known_answers, settle_group
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw
from audit.runner.executors import Processes
from audit.runner.fitting import fitting
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.sampling.designs import Numbers
from audit.sampling.draw import SampleRequest, Size, cell_lists
from audit.statistics.intervals import mid_p
from audit.store import checked, open_store, table_of, tables

SYSTEMS = ("vader", "textblob", "hiv4", "tfidf-logreg")
SOURCES, REDRAWS, PER_CELL = 2000, 400, 60
CELL = ["relation_id", "system_id"]


def population(path, systems=SYSTEMS, sources=SOURCES):
    """Every satisfied group of the cells whose truth gold knows: a frame with columns relation, system, source, row,
    false."""
    engine = open_store(str(path), create=True)
    corpus = get_corpus("rotten-tomatoes")
    with Processes() as executor:
        study = run(engine, corpus, systems, fitting(corpus), executor, options=RunOptions(limit=sources)).study.id
    drawn = draw(engine, study, SampleRequest(Size(share=1.0)))
    answer_with_gold(engine)
    with engine.connect() as connection:
        lists = cell_lists(connection, checked(connection, [study]), study, 0)
        candidates = pd.concat(list(lists), ignore_index=True)
        for column, table in (("relation", tables.Relation), ("system", tables.System)):
            of = table_of(table)
            names = dict(connection.execute(select(of.c.id, of.c.name)).all())
            candidates[column] = candidates[f"{column}_id"].map(names)
        source = table_of(tables.Source)
        rows = dict(connection.execute(select(source.c.id, source.c.row)).all())
        candidates["row"] = candidates["source"].map(rows)
        known = known_answers(connection, "gold")
        states = [
            (one.group_id, one.system_id, int(settle_group(one, known).state))
            for one in drawn_groups(connection, [drawn.sample])
        ]
    truth = candidates.merge(
        pd.DataFrame(states, columns=["group_id", "system_id", "state"]), on=["group_id", "system_id"]
    )
    waiting = truth.groupby(CELL)["state"].transform(lambda states: (states == State.WAITING).any())
    return truth[~waiting].assign(false=lambda frame: frame["state"] == State.FALSE).reset_index(drop=True)


def redraw(truth, seed, per_cell):
    """The first groups of each cell of `truth`."""
    numbers = Numbers(dict(zip(truth["source"], truth["row"], strict=True)), seed)
    parts = []
    for _, cell in truth.groupby(CELL):
        parts.append(cell.iloc[numbers.order(cell["source"].to_numpy())[:per_cell]])
    return pd.concat(parts)


def coverage(truth, redraws=REDRAWS, per_cell=PER_CELL):
    """Per cell: population size, true R_FS, mean estimate, share of redraws whose interval holds the truth, width."""
    cells = truth.groupby(CELL).agg(
        relation=("relation", "first"), system=("system", "first"), size=("false", "size"), true=("false", "mean")
    )
    cells[["held", "width", "mean"]] = 0.0
    for seed in range(redraws):
        sample = redraw(truth, 1_000 + seed, per_cell)
        counted = sample.groupby(CELL)["false"].agg(["sum", "size"])
        for cell, (hits, drawn) in zip(counted.index, counted.to_numpy(), strict=True):
            interval = mid_p(int(hits), int(drawn), int(cells.at[cell, "size"]))
            slack = 1e-12
            cells.at[cell, "held"] += interval.low - slack <= cells.at[cell, "true"] <= interval.high + slack
            cells.at[cell, "width"] += interval.high - interval.low
            cells.at[cell, "mean"] += hits / drawn
    cells[["held", "width", "mean"]] /= redraws
    return cells.reset_index(drop=True)


def table(cells):
    """The cells as a Markdown table by relation, and the totals."""
    by_relation = cells.groupby("relation", sort=False).agg(
        cells=("held", "size"),
        least=("true", "min"),
        most=("true", "max"),
        held=("held", "mean"),
        worst=("held", "min"),
        width=("width", "mean"),
    )
    lines = ["| relation | cells | true R_FS | coverage | worst cell | mean width |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {name} | {int(row.cells)} | {row.least:.3f}-{row.most:.3f} "
        f"| {row.held:.3f} | {row.worst:.3f} | {row.width:.3f} |"
        for name, row in by_relation.iterrows()
    ]
    bias = np.abs(cells["mean"] - cells["true"]).max()
    lines.append(
        f"\nOver all {len(cells)} cells: coverage {cells['held'].mean():.4f}; cells larger than the sample: "
        f"{cells.loc[cells['size'] > PER_CELL, 'held'].mean():.4f}; largest |mean estimate - truth| {bias:.4f}."
    )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--db", type=Path, help="keep the database here (default: a temporary one)")
    parser.add_argument("--redraws", type=int, default=REDRAWS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        truth = population(arguments.db or Path(folder) / "coverage.db")
        print(
            f"{len(truth):,} satisfied groups; {arguments.redraws} redraws of {PER_CELL} groups per cell.",
            file=sys.stderr,
        )
        print(f"\n{table(coverage(truth, arguments.redraws))}")


if __name__ == "__main__":
    main()
