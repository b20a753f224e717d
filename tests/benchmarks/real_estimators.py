"""Error and coverage of every estimator on real systems and real text, where gold gives the truth of the population.

    python tests/benchmarks/real_estimators.py            # prints the tables of docs/evidence/judgements.md

The cells are those of redraws.py: four systems on 2,000 sentences of rotten-tomatoes. Proxies are what anybody has:
whether the other systems give the same sentence another label, and how little confidence the system's label has.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from redraws import CELL, SOURCES, SYSTEMS, population
from sqlalchemy import select

from audit.judging.samples import draw
from audit.reports.study import study_report
from audit.sampling.draw import SampleRequest, Size
from audit.statistics.intervals import METHODS, prior_posterior
from audit.statistics.planning import width_targeted
from audit.statistics.prediction_powered import disagreement, low_confidence, prediction_powered
from audit.store import open_store, table_of, tables

JUDGED, REDRAWS = 60, 200
HALF_WIDTH = 0.08


def outputs(path):
    """Label and score of each system for each source: frames with one row a source row, one column a system."""
    source, output, system = table_of(tables.Source), table_of(tables.Output), table_of(tables.System)
    query = (
        select(source.c.row, system.c.name.label("system"), output.c.label, output.c.score)
        .join(output, output.c.input_id == source.c.input_id)
        .join(system, system.c.id == output.c.system_id)
    )
    with open_store(str(path)).connect() as connection:
        rows = pd.DataFrame(connection.execute(query).mappings().all())
    return tuple(rows.pivot_table(index="row", columns="system", values=name, aggfunc="last")
                 for name in ("label", "score"))  # fmt: skip


def cells(truth, labels, scores):
    """(relation, system, false (N,), proxies by name) of the cells with more than `JUDGED` groups."""
    for _, cell in truth.groupby(CELL, sort=True):
        if len(cell) <= JUDGED:
            continue
        name = cell["system"].iloc[0]
        own = labels.loc[cell["row"]]
        against = disagreement({one: own[one].to_numpy() for one in own}, name)
        unsure = low_confidence(scores.loc[cell["row"], name])
        yield (
            cell["relation"].iloc[0], name, cell["false"].to_numpy(int),
            {"disagreement": against, "confidence": unsure, "both": np.column_stack([against, unsure])},
        )  # fmt: skip


def estimate(false, proxies, rng, n=JUDGED):
    """Every estimator on one redraw of a cell: name -> (estimate, low, high)."""
    order = rng.permutation(len(false))
    seen = false[order[:n]]
    k, total = int(seen.sum()), len(false)
    found = {}
    for name in ("midp", "sequence"):
        at = METHODS[name](k, n, total)
        found[name] = (k / n, at.low, at.high)
    for name, proxy in proxies.items():
        at = prediction_powered(seen, proxy[order[:n]], proxy)
        found[f"PPI++, {name}"] = (at.estimate, at.low, at.high)
    at = prior_posterior(k, n, total)
    found["prior-posterior sequence"] = (k / n, at.low, at.high)
    judged = 0
    while True:  # judge until the interval is narrow enough, in phases
        wanted = int(width_targeted([judged], [false[order[:judged]].sum()], [total], HALF_WIDTH)[0])
        if wanted <= judged:
            break
        judged = wanted
    k = int(false[order[:judged]].sum())
    at = METHODS["midp"](k, judged, total)
    found[f"two-phase to +- {HALF_WIDTH}"] = (k / judged, at.low, at.high)
    return found


def estimators(made, redraws=REDRAWS):
    """A frame by estimator: mean |bias| over cells, root mean squared error, coverage, worst cell, mean width."""
    rows = []
    for index, (relation, system, false, proxies) in enumerate(made):
        rng, true = np.random.default_rng([3, index]), false.mean()
        for _ in range(redraws):
            for name, (rate, low, high) in estimate(false, proxies, rng).items():
                held = low - 1e-12 <= true <= high + 1e-12
                rows.append((name, relation, system, rate - true, (rate - true) ** 2, held, high - low))
    frame = pd.DataFrame(rows, columns=["estimator", "relation", "system", "error", "squared", "held", "width"])
    by_cell = frame.groupby(["estimator", "relation", "system"], sort=False)[
        ["error", "squared", "held", "width"]
    ].mean()
    by_cell["error"] = by_cell["error"].abs()
    summary = by_cell.groupby("estimator", sort=False).mean()
    summary["worst"] = by_cell.groupby("estimator", sort=False)["held"].min()
    return summary.assign(squared=np.sqrt(summary["squared"]))


REPORTS = {
    "midp": {},
    "--proxy disagreement": {"proxies": ["disagreement"]},
    "--proxy low_confidence": {"proxies": ["low_confidence"]},
    "--proxy disagreement,low_confidence": {"proxies": ["disagreement", "low_confidence"]},
    "--interval sequence": {"interval": "sequence"},
}


def reported(path, truth, redraws=REDRAWS, per_cell=JUDGED, options=REPORTS):
    """What `audit report` says of the database of `truth`, redrawn: a frame by options.

    Columns: error (mean over cells of the absolute mean error), held (coverage), worst (of a cell), width, gain (median
    over cells and redraws where proxies were used), used (share of those).
    """
    engine = open_store(str(path))
    true = truth.groupby(["relation", "system"])["false"].agg(["mean", "size"])
    true = true[true["size"] > per_cell]["mean"]
    rows = []
    for redraw in range(redraws):
        draw(engine, 1, SampleRequest(Size(per_relation=per_cell), seed=5_000 + redraw))
        for name, chosen in options.items():
            for cell in study_report(engine, "gold", **chosen)["cells"]:
                key = (cell["relation"], cell["system"])
                if key in true.index:
                    held = cell["fs_low"] - 1e-12 <= true[key] <= cell["fs_high"] + 1e-12
                    width = cell["fs_high"] - cell["fs_low"]
                    rows.append((name, *key, cell["fs_rate"] - true[key], held, width, cell["gain"]))
    frame = pd.DataFrame(rows, columns=["options", "relation", "system", "error", "held", "width", "gain"])
    frame["gain"] = pd.to_numeric(frame["gain"])
    by_cell = frame.groupby(["options", "relation", "system"], sort=False)[["error", "held", "width"]].mean()
    summary = by_cell.assign(error=by_cell["error"].abs()).groupby("options", sort=False).mean()
    powered = frame[frame["gain"] > 1].groupby("options", sort=False)["gain"]
    return summary.assign(
        worst=by_cell.groupby("options", sort=False)["held"].min(),
        gain=powered.median(),
        used=powered.size() / frame.groupby("options", sort=False).size(),
    )


def measure(path, redraws=REDRAWS, systems=SYSTEMS, sources=SOURCES):
    """The first table, and the areas under the ROC curves of the proxies."""
    truth = population(path, systems, sources)
    labels, scores = outputs(path)
    made = list(cells(truth, labels, scores))
    areas = {name: float(np.mean([auc(false, proxies[name]) for _, _, false, proxies in made]))
             for name in ("disagreement", "confidence")}  # fmt: skip
    return estimators(made, redraws), areas, len(made)


def auc(false, proxy):
    """Area under the ROC curve: how often a false group has the higher proxy, ties by half."""
    high, low = proxy[false == 1], proxy[false == 0]
    return float((high[:, None] > low[None, :]).mean() + (high[:, None] == low[None, :]).mean() / 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraws", type=int, default=REDRAWS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "real.db"
        summary, areas, number = measure(path, arguments.redraws)
        reports = reported(path, population(path), arguments.redraws)
    print(f"{number} cells with more than {JUDGED} groups; AUC of the proxies: {areas}\n")
    print("| estimator | mean absolute bias | root mean squared error | coverage | worst cell | mean width |")
    print("|---|---|---|---|---|---|")
    for name, one in summary.iterrows():
        print(f"| {name} | {one.error:.4f} | {one.squared:.4f} | {one.held:.3f} | {one.worst:.3f} | {one.width:.3f} |")
    print("\n| `audit report` | mean absolute bias | coverage | worst cell | mean width | proxies used | median gain |")
    print("|---|---|---|---|---|---|---|")
    for name, one in reports.iterrows():
        gain = "–" if pd.isna(one.gain) else f"{one.gain:.2f}"
        used = "–" if pd.isna(one.used) else f"{one.used:.3f}"
        print(f"| {name} | {one.error:.4f} | {one.held:.3f} | {one.worst:.3f} | {one.width:.3f} | {used} | {gain} |")


if __name__ == "__main__":
    main()
