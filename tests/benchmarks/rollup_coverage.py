"""Coverage of roll-ups, and of texts that come in documents: simulated worlds, seeded.

    python tests/benchmarks/rollup_coverage.py                   # the tables of docs/evidence/benchmarks.md
    python tests/benchmarks/rollup_coverage.py --redraws 40      # a quick look

Roll-ups: one system under some relations. `common` is the share of each relation's satisfied groups whose sources all
relations have; a source is false under all of them together to the degree `dependence` ("copies": nine times in ten).
"""

import argparse

import numpy as np
import pandas as pd
from scipy.stats import norm

from audit.reports.certainty import Certainty, dependence, roll_ups, with_worth
from audit.statistics.comparison import paired_differences
from audit.statistics.rates import with_rates

COPIES = 0.9
WORLDS = 4
"""Truths that the redraws of a row are divided over."""
ROLL_UPS = (
    # relations, satisfied groups, judged, R_FS, common, dependence
    *((20, 1000, 60, rate, common, "copies") for rate in (0.02, 0.05, 0.1, 0.3) for common in (1.0, 0.9, 0.5)),
    *((20, 1000, 60, rate, 0.0, "copies") for rate in (0.02, 0.05, 0.3)),
    (20, 20000, 200, 0.005, 0.9, "copies"), (10, 1000, 60, 0.02, 0.9, "copies"), (20, 1000, 100, 0.02, 0.9, "copies"),
    (20, 1000, 60, 0.02, 1.0, 0.3), (20, 1000, 60, 0.1, 0.9, 0.5), (20, 1000, 60, 0.3, 1.0, 0.5),
    (20, 1000, 60, 0.02, 1.0, 0.0),
    (20, 1000, 3, 0.3, 1.0, 0.5), (20, 1000, 3, 0.3, 0.0, 0.5), (20, 1000, 10, 0.3, 1.0, 0.5),
    (20, 1000, 10, 0.1, 1.0, "copies"), (20, 1000, "5 or 200", 0.1, 0.9, 0.5), (20, 100, 60, 0.1, 0.9, "copies"),
)  # fmt: skip
DOCUMENTS = (
    # documents, sentences in each, intraclass correlation, R_FS, judged (0: all)
    *((100, 10, icc, 0.3, judged) for icc in (0.1, 0.2, 0.3) for judged in (0, 60)),
    *((20, 30, icc, 0.3, judged) for icc in (0.1, 0.2, 0.3) for judged in (0, 60)),
    (20, 30, 0.3, 0.1, 0), (20, 30, 0.3, 0.05, 0), (100, 10, 0.3, 0.02, 0), (100, 10, 0.1, 0.05, 60),
    (1000, 1, 0.1, 0.3, 60),
)  # fmt: skip


def world(rng, relations, groups, rate, common, how):
    """What is false (relations, groups), and the sources' numbers of the same shape."""
    shared = round(common * groups)
    source = shared + np.arange(relations)[:, None] * (groups - shared) + np.arange(groups) - shared
    source[:, :shared] = np.arange(shared)
    sources = int(source.max()) + 1
    if how == "copies":
        apart = rng.random((relations, groups)) >= COPIES
        return np.where(apart, rng.random((relations, groups)) < rate, (rng.random(sources) < rate)[source]), source
    hard, own = rng.standard_normal(sources)[source], rng.standard_normal((relations, groups))
    return np.sqrt(how) * hard + np.sqrt(1 - how) * own > norm.ppf(1 - rate), source


def rolled(cells, judged, checked=None, target="corpus"):
    """(R_FS, SR_g) over all cells with their ends, as reports have them."""
    if target == "population":
        cells = with_worth(cells, judged, checked)
    cells = with_rates(cells, 0.95, target)
    sure = Certainty(*dependence(cells, judged, checked, target), target, 0.95)
    return cells, next(one for one in roll_ups(cells, sure, {}) if one["by"] == "overall")


def frame_of(relations, **columns):
    names = {"study": 1, "task": "sentiment", "system": "a", "relation": [f"MR{one}" for one in range(relations)]}
    return pd.DataFrame(names | columns)


def roll_up_coverage(relations, groups, n, rate, common, how, redraws=400, seed=1):
    """(coverage of R_FS over all relations, mean width); judged are the sources with the smallest random numbers."""
    rng = np.random.default_rng(seed)
    held, width = [], []
    sizes = np.resize([5, 200], relations) if n == "5 or 200" else np.full(relations, n)
    for redraw in range(redraws):
        if redraw % max(1, redraws // WORLDS) == 0:
            false, source = world(rng, relations, groups, rate, common, how)
        order = np.argsort(rng.random(int(source.max()) + 1)[source], axis=1)
        drawn = [(at, row[:size]) for at, (row, size) in enumerate(zip(order, sizes, strict=True))]
        judged = pd.concat(
            frame_of(relations).iloc[[at] * len(rows)].assign(source=source[at, rows], false=1 * false[at, rows])
            for at, rows in drawn
        )
        counts = [int(false[at, rows].sum()) for at, rows in drawn]
        _, one = rolled(frame_of(relations, satisfied=groups, violated=100, judged=sizes, false=counts), judged)
        held.append(one["fs_low"] - 1e-12 <= false.mean() <= one["fs_high"] + 1e-12)
        width.append(one["fs_high"] - one["fs_low"])
    return np.mean(held), np.mean(width)


def document_coverage(documents, sentences, icc, rate, n, redraws=400, seed=2):
    """Coverage for texts to come: R_FS and SR_g of a cell, SR_g of two cells together, the difference of two systems.

    Three sentences of four are satisfied, in each document a share of its own; of the second system, too. The two
    systems are right in .7 and .6 of the sentences, in each document another share.
    """
    rng = np.random.default_rng(seed)

    def outcomes(mean):
        if sentences == 1:
            return (rng.random((documents, 1)) < mean).ravel()
        more = 1 / icc - 1
        return (rng.random((documents, sentences)) < rng.beta(mean * more, (1 - mean) * more, (documents, 1))).ravel()

    document = np.repeat(np.arange(documents), sentences)
    held = []
    for _ in range(redraws):
        order = rng.permutation(len(document))
        judged, checked, counts = [], [], []
        for at in range(2):
            satisfied, false = outcomes(0.75), outcomes(rate)
            drawn = order[satisfied[order]][: n or None]
            key = frame_of(2).iloc[[at]].iloc[0].to_dict()
            judged.append(pd.DataFrame(key | {"source": drawn, "cluster": document[drawn], "false": false[drawn] * 1}))
            checked.append(pd.DataFrame(key | {"cluster": document, "satisfied": satisfied.astype(int)}))
            counts.append((int(satisfied.sum()), int((~satisfied).sum()), len(drawn), int(false[drawn].sum())))
        columns = dict(zip(("satisfied", "violated", "judged", "false"), np.array(counts).T, strict=True))
        cells, together = rolled(frame_of(2, **columns), pd.concat(judged), pd.concat(checked), "population")
        one = cells.iloc[0]
        ends = [
            (one["fs_low"], one["fs_high"], rate),
            (one["sr_genuine_low"], one["sr_genuine_high"], 0.75 * (1 - rate)),
        ]
        ends.append((together["sr_genuine_low"], together["sr_genuine_high"], 0.75 * (1 - rate)))
        genuine = np.stack([outcomes(0.7), outcomes(0.6)], axis=1).astype(float)
        decides = genuine[:, 0] != genuine[:, 1]
        genuine[order[n:] if n else order[:0]] = np.nan
        (pair,) = paired_differences(genuine, decides, "population", cluster=document)
        ends.append((pair.low, pair.high, 0.1))
        held.append([low - 1e-12 <= truth <= high + 1e-12 for low, high, truth in ends])
    return np.mean(held, axis=0)


def head(names):
    print(f"\n| {names} |\n|{'---|' * (names.count('|') + 1)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraws", type=int, default=400)
    parser.add_argument("--only", choices=("rollups", "documents"))
    arguments = parser.parse_args()
    if arguments.only in (None, "rollups"):
        head("relations | groups | judged | R_FS | common | dependence | coverage | width")
        for one in ROLL_UPS:
            held, width = roll_up_coverage(*one, redraws=arguments.redraws)
            print(f"| {' | '.join(map(str, one))} | {held:.3f} | {width:.3f} |", flush=True)
    if arguments.only in (None, "documents"):
        head("documents | sentences | ICC | R_FS | judged | R_FS holds | SR_g | two cells | difference")
        for one in DOCUMENTS:
            held = document_coverage(*one, redraws=arguments.redraws)
            print(f"| {' | '.join(map(str, one))} | {' | '.join(f'{each:.3f}' for each in held)} |", flush=True)


if __name__ == "__main__":
    main()
