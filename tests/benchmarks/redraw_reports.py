"""Do whole reports hold what they promise, on real systems and real text: differences, rankings and roll-ups?

As in redraws.py gold answers every question about rotten-tomatoes, here under the relations that carry every answer, so
that a report on all groups has the truth. Samples are drawn again and again, and each report is held against it.

    python tests/benchmarks/redraw_reports.py     # prints the tables of docs/evidence/benchmarks.md
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from redraws import SOURCES, SYSTEMS

from audit.corpora import get_corpus
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw
from audit.relations import get_relation
from audit.reports.study import study_report
from audit.runner.executors import Processes
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.sampling.draw import SampleRequest, Size
from audit.store import open_store

RELATIONS = ("MR1.1", "MR1.2", "MR1.3", "MR1.4", "MR2.1", "MR3.1", "MR4.1", "MR4.2", "MR4.3")
DESIGNS = ("shared", "informative")
REDRAWS, PER_RELATION, DELTA, SURE = 200, 60, 0.02, 0.95
SLACK = 1e-9


def study(path, systems=SYSTEMS, sources=SOURCES, relations=RELATIONS):
    """The engine of a database whose gold answers settle every satisfied group, and the study's id."""
    engine = open_store(str(path), create=True)
    with Processes() as executor:
        chosen = [get_relation("sentiment", name) for name in relations]
        made = run(
            engine, get_corpus("rotten-tomatoes"), systems, chosen, executor, options=RunOptions(limit=sources)
        ).study.id
    draw(engine, made, SampleRequest(Size(share=1.0)))
    answer_with_gold(engine)
    return engine, made


def truth(engine, study):
    """The report on all groups: every cell, difference and roll-up is known in it."""
    report = study_report(engine, "gold", study, "shared")
    unknown = [cell for cell in report["cells"] if cell["sr_observed"] is not None and cell["sr_genuine"] is None]
    if unknown:
        raise SystemExit(f"gold does not settle every group of {unknown[0]['relation']} and {unknown[0]['system']}")
    return report


def held(low, high, true):
    return low - SLACK <= true <= high + SLACK


def against(report, true):
    """What one report says beside the truth: rows (kind, part, held, width, error)."""
    rows = []
    for found, real in zip(report["relations"], true["relations"], strict=True):
        known = {(one["system"], one["other"]): one["difference"] for one in real["pairs"]}
        for one in found["pairs"]:
            if one["low"] is not None:
                at = known[one["system"], one["other"]]
                rows.append(("difference", found["relation"], held(one["low"], one["high"], at),
                             one["high"] - one["low"], one["difference"] - at))  # fmt: skip
        rates = levels(real)
        for one in found["ranking"]:
            if one["p_best"] is None:
                continue
            rank = 1 + sum(other > rates[one["system"]] + DELTA + SLACK for other in rates.values())
            rows.append(("rank", found["relation"], one["rank_low"] <= rank <= one["rank_high"],
                         one["rank_high"] - one["rank_low"], 0.0))  # fmt: skip
            if one["p_best"] >= SURE:
                rows.append(("winner", found["relation"], rank == 1, 0.0, 0.0))
    whole = {(one["by"], one["name"]): one for one in true["rollups"]}
    for one in report["rollups"]:
        for rate, low, high in (("fs_rate", "fs_low", "fs_high"), ("sr_genuine", "sr_genuine_low", "sr_genuine_high")):
            if one[rate] is not None:
                at = whole[one["by"], one["name"]][rate]
                rows.append((f"{one['by']} {rate}", one["name"], held(one[low], one[high], at), one[high] - one[low],
                             one[rate] - at))  # fmt: skip
    return rows


def levels(relation):
    """True SR_g of the systems up to a constant, over the groups that apply to all."""
    first = relation["pairs"][0]["system"]
    return {first: 0.0} | {one["other"]: -one["difference"] for one in relation["pairs"] if one["system"] == first}


def measure(engine, study, redraws=REDRAWS, per_relation=PER_RELATION):
    """A frame with a row per statement of every report: design, redraw, kind, part, held, width, error."""
    true, rows = truth(engine, study), []
    for seed in range(redraws):
        for design in DESIGNS:
            draw(engine, study, SampleRequest(Size(per_relation=per_relation), design, 1_000 + seed))
            report = study_report(engine, "gold", study, design, delta=DELTA)
            rows += [(design, seed, *row) for row in against(report, true)]
    return pd.DataFrame(rows, columns=["design", "redraw", "kind", "part", "held", "width", "error"])


def tables(found, redraws):
    """The Markdown tables: differences by relation, decisions, roll-ups."""
    lines = ["| design | relation | differences | coverage | mean width | bias | sure winners | of them right |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for (design, relation), some in found[found["kind"].isin(["difference", "winner"])].groupby(["design", "part"]):
        pairs, winners = some[some["kind"] == "difference"], some[some["kind"] == "winner"]
        right = f"{winners['held'].mean():.3f}" if len(winners) else "–"
        lines.append(
            f"| {design} | {relation} | {len(pairs):,} | {pairs['held'].mean():.3f} | {pairs['width'].mean():.3f} | "
            f"{pairs['error'].mean():+.4f} | {winners['redraw'].nunique()} of {redraws} | {right} |"
        )
    for design, some in found.groupby("design"):
        share = {kind: part["held"].mean() for kind, part in some.groupby("kind")}
        winners = int((some["kind"] == "winner").sum())
        right = f"{share['winner']:.4f}" if winners else "none"
        ranks = f"{share['rank']:.4f}" if "rank" in share else "none"
        lines.append(
            f"\n`{design}`: differences {share['difference']:.4f}, rank intervals {ranks}, "
            f"{winners:,} sure winners of which {right} are right."
        )
    lines += ["\n| roll-up by | rate | entries | coverage | least | mean width | root mean squared error |",
              "|---|---|---|---|---|---|---|"]  # fmt: skip
    rolled = found[~found["kind"].isin(["difference", "winner", "rank"])]
    for kind, some in rolled.groupby("kind", sort=False):
        by, rate = kind.split()
        each = some.groupby("part")["held"].mean()
        lines.append(
            f"| {by} | {'R_FS' if rate == 'fs_rate' else 'SR_g'} | {len(each)} | {some['held'].mean():.3f} | "
            f"{each.min():.3f} | {some['width'].mean():.3f} | {np.sqrt((some['error'] ** 2).mean()):.4f} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraws", type=int, default=REDRAWS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        engine, made = study(Path(folder) / "redraws.db")
        print(tables(measure(engine, made, arguments.redraws), arguments.redraws))


if __name__ == "__main__":
    main()
