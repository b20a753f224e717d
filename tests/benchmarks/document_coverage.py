"""Coverage, for texts to come in documents, of what is said beside rates: bounds, SR_c, `holds`, spot checks, carrying.

    python tests/benchmarks/document_coverage.py                   # the tables of docs/benchmarks.md
    python tests/benchmarks/document_coverage.py --redraws 40      # a quick look

A world has `documents` of `sentences` each. Whatever may be true of a sentence is so with a probability that its
document draws from a Beta distribution (intraclass correlation ICC), so that the sentences of a document are alike.
"""

import argparse

import numpy as np
import pandas as pd

from audit.reports.certainty import certainty, with_worth
from audit.statistics.rates import BOUNDS, with_bounds, with_rates

WORLDS = (
    # documents, sentences in each, intraclass correlation, drawn groups of each cell (0: all)
    (100, 10, 0.1, 60), (100, 10, 0.3, 0), (20, 30, 0.3, 60), (20, 30, 0.3, 0), (1000, 1, 0.1, 60),
)  # fmt: skip
LEFT_OUT = {"true ones": (1.0, 0.0), "false ones": (0.0, 1.0), "few": (0.02, 0.02)}
"""Which answers of a cell are not there: the share of the true groups, and of the false ones."""
RATE = 0.3
SATISFIED = 0.75


def shares(rng, documents, sentences, icc, mean):
    """What is so, in all sentences of the documents; (documents x sentences,)."""
    if sentences == 1:
        return rng.random(documents) < mean
    more = 1 / icc - 1
    chance = rng.beta(mean * more, (1 - mean) * more, (documents, 1))
    return (rng.random((documents, sentences)) < chance).ravel()


def held(low, high, truth):
    return low - 1e-9 <= truth <= high + 1e-9


def bounds_coverage(documents, sentences, icc, drawn, left_out, cells=4, apart=0.3, redraws=400, seed=4, rates=1):
    """Coverage of the intervals of bounds: R_FS and SR_g of a cell, and of all `cells` together, and two mean widths.

    Answers are left out of all cells but the first `rates`. Cells share their sources; a sentence is false under a
    relation of its own accord with the probability `apart`, else as in the first cell.
    """
    rng = np.random.default_rng(seed)
    document = np.repeat(np.arange(documents), sentences)
    found = []
    for _ in range(redraws):
        hard = shares(rng, documents, sentences, icc, RATE)
        order = rng.permutation(len(document))
        rows, frames = [], {"judged": [], "drawn": [], "checked": []}
        for at in range(cells):
            satisfied = shares(rng, documents, sentences, icc, SATISFIED)
            own = rng.random(len(hard)) < apart
            false = np.where(own, shares(rng, documents, sentences, icc, RATE), hard)
            here = order[satisfied[order]][: drawn or None]
            key = {"study": 1, "task": "sentiment", "relation": f"MR{at}", "system": "a"}
            lost = rng.random(len(hard)) < np.choose(1 * false, LEFT_OUT[left_out])
            waits = lost[here] & (at >= rates)
            known = false[here] & ~waits
            groups = pd.DataFrame(key | {"source": here, "cluster": document[here], "false": 1 * known})
            frames["drawn" if at >= rates else "judged"].append(groups.assign(open=1 * waits))
            frames["checked"].append(pd.DataFrame(key | {"cluster": document, "satisfied": 1 * satisfied}))
            counts = {"satisfied": int(satisfied.sum()), "violated": int((~satisfied).sum()), "drawn": len(here)}
            counts |= {"drawn_false": int(known.sum()), "drawn_open": int(waits.sum())}
            counts |= {"judged": 0, "false": 0} if at >= rates else {"judged": len(here), "false": int(known.sum())}
            rows.append(key | counts)
        groups = {name: pd.concat(some, ignore_index=True) for name, some in frames.items() if some}
        groups["judged"] = groups.get("judged", groups["drawn"].iloc[:0]).drop(columns="open")
        table = with_worth(pd.DataFrame(rows), groups["judged"], groups["checked"], drawn=groups["drawn"])
        table = with_bounds(with_rates(table, target="population"), target="population")
        sure = certainty(table, groups["judged"], groups["checked"], "population", drawn=groups["drawn"])
        of_cell = table.iloc[-1]
        ends = [tuple(of_cell[list(names[2:])]) for names in (BOUNDS[:4], BOUNDS[4:])]
        ends += [sure.bounds(table, range(cells), satisfied)[2:] for satisfied in (False, True)]
        truths = 2 * (RATE, SATISFIED * (1 - RATE))
        covered = [held(*one, truth) for one, truth in zip(ends, truths, strict=True)]
        found.append([*covered, ends[0][1] - ends[0][0], ends[2][1] - ends[2][0]])
    return np.mean(found, axis=0)


def table(heads, rows):
    """Prints a Markdown table while its rows come."""
    print(f"\n| {heads} |\n|{'---|' * (heads.count('|') + 1)}")
    for *world, found in rows:
        print(f"| {' | '.join(map(str, world))} | {' | '.join(f'{one:.3f}' for one in found)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraws", type=int, default=400)
    redraws = parser.parse_args().redraws
    table(
        "documents | sentences | ICC | drawn | left out | R_FS | SR_g | all: R_FS | SR_g | width | all: width",
        (
            (*world, left_out, bounds_coverage(*world, left_out, redraws=redraws))
            for world in WORLDS
            for left_out in LEFT_OUT
        ),
    )


if __name__ == "__main__":
    main()
