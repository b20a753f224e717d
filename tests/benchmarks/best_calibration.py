"""Does P(best) come true as often as it says, and is a change that is called sure one?

Samples are drawn again and again from groups whose truth is known: those of real systems on rotten-tomatoes, which gold
answers, and those of made-up systems that are close (SR_o .84 to .86, R_FS .28 to .32), where orders are hard to tell.

    python tests/benchmarks/best_calibration.py     # prints the tables of docs/benchmarks.md
"""

import argparse
import itertools
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.special import ndtri

from audit.statistics.comparison import Common
from audit.statistics.paired import holm, informative
from audit.statistics.ranking import rank_systems

BINS = (0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0001)
SIZES, DESIGNS, DRAWS = (20, 30, 60, 0.01), ("shared", "simple"), 1_000


def close_systems(rng, systems=4, groups=1_000, together=0.4, observed=(0.84, 0.86), false=(0.28, 0.32)):
    """Common groups, all judged, of systems with such SR_o and R_FS that tend to err on the same groups."""

    def happens(low, high):
        chance = rng.uniform(low, high, systems)
        shared, own = rng.standard_normal((groups, 1)), rng.standard_normal((groups, systems))
        return np.sqrt(together) * shared + np.sqrt(1 - together) * own < ndtri(chance)

    held = happens(*observed)
    genuine = held & ~happens(*false)
    # Where all satisfy and are right, or all wrong, half say the same: such groups decide nothing.
    alike = (rng.random(groups) < 0.5) & (genuine.all(axis=1) | ~genuine.any(axis=1))
    decides = informative(held, np.where(alike[:, None], 0, np.arange(systems)))
    return whole(held, genuine, decides)


def whole(held, genuine, decides):
    """Common groups of which every one is judged."""
    satisfied = held.sum(axis=0)
    names = tuple(f"s{at}" for at in range(held.shape[1]))
    return Common(
        names,
        np.full(len(names), len(held)),
        satisfied,
        satisfied,
        satisfied - genuine.sum(axis=0),
        genuine.astype(float),
        held,
        decides,
    )


def redrawn(common, size, design, rng):
    """A sample of `size` satisfied groups a cell (below 1: a share), by one random order for all cells or one each."""
    genuine, held = common.genuine == 1, common.held
    judged, false = np.zeros(len(common.systems), int), np.zeros(len(common.systems), int)
    order, reach = rng.permutation(len(held)), len(held)
    for at in range(len(common.systems)):
        rows = order if design == "shared" else rng.permutation(len(held))
        cell = rows[held[rows, at]]
        drawn = cell[: int(np.ceil(size * len(cell))) if size < 1 else size]
        judged[at], false[at] = len(drawn), (~genuine[drawn, at]).sum()
        if design == "shared" and len(drawn) < len(cell):
            reach = min(reach, int(np.flatnonzero(order == drawn[-1])[0]) + 1)
    if design == "simple":
        return replace(common, judged=judged, false=false, genuine=None, held=None, decides=None)
    seen = np.full(common.genuine.shape, np.nan)
    seen[order[:reach]] = common.genuine[order[:reach]]
    return replace(common, judged=judged, false=false, genuine=seen)


def claims(common, size, design, rng, seed):
    """Rows (P(best), whether it is best) of one sample, none where too few are judged; and what `overtaking` says."""
    sample, truth = redrawn(common, size, design, rng), common.genuine.mean(axis=0)
    draws = sample.draws("corpus", DRAWS, seed)
    if draws is None:
        return [], []
    best = truth >= truth.max() - 1e-12
    rows = [(one.p_best, right) for one, right in zip(rank_systems(draws), best, strict=True)]
    return rows, overtaking(sample, truth)


def overtaking(sample, truth):
    """(p, whether it is so) that a rival is better than the system reported as best, for each rival."""
    observed = sample.sr_observed
    best = int(np.argmax(observed))
    found = []
    for pair in sample.differences("corpus", 0.95, 0.0):
        if best in (pair.one, pair.other) and pair.p is not None:
            rival, p = (pair.other, pair.p_below) if pair.one == best else (pair.one, pair.p_above)
            found.append((p, truth[rival] > truth[best]))
    return found


def reliability(rows):
    """Rows (bin, claims, mean P, share that came true, its distance in standard errors).

    `rows` are (P, came true, cluster): claims of one sample, or of redraws of one truth, are no independent ones.
    """
    p, true, cluster = (np.array(column, float) for column in zip(*rows, strict=True))
    found = []
    for low, high in itertools.pairwise(BINS):
        inside = (low <= p) & (p < high)
        if inside.sum() < 20:
            continue
        off = np.bincount(np.unique(cluster[inside], return_inverse=True)[1], weights=(true - p)[inside])
        error = np.sqrt((off**2).sum()) / inside.sum()
        found.append((f"{low:.2f}-{min(high, 1):.2f}", int(inside.sum()), p[inside].mean(), true[inside].mean(),
                      (true - p)[inside].mean() / max(error, 1e-9)))  # fmt: skip
    return found


def close_rows(size, design, worlds, seed=0):
    rng = np.random.default_rng(seed)
    return [
        (*row, number) for number in range(worlds) for row in claims(close_systems(rng), size, design, rng, number)[0]
    ]


def real_rows(relations, size, design, redraws, seed=0):
    rng = np.random.default_rng(seed)
    return [
        (*row, number)
        for number in range(redraws)
        for common in relations
        for row in claims(common, size, design, rng, number)[0]
    ]


def sure_changes(relations_of, size, design, reports, confidence=0.95, seed=0):
    """(share of reports with a false sure change, sure changes a report): Holm over the rivals of all relations."""
    rng = np.random.default_rng(seed)
    wrong, number = 0, 0
    for report in range(reports):
        found = [one for common in relations_of(rng) for one in claims(common, size, design, rng, report)[1]]
        sure = [true for (_, true), p in zip(found, holm([p for p, _ in found]), strict=True) if p <= 1 - confidence]
        wrong, number = wrong + (not all(sure)), number + len(sure)
    return wrong / reports, number / reports


def table(found):
    lines = ["| world | design | groups a cell | P(best) | claims | mean P | came true | standard errors off |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for (world, design, size), rows in found.items():
        if not rows:
            lines.append(f"| {world} | {design} | {size} | none: not enough judged | 0 | | | |")
        for label, number, mean, true, off in reliability(rows) if rows else []:
            lines.append(
                f"| {world} | {design} | {size} | {label} | {number:,} | {mean:.3f} | {true:.3f} | {off:+.1f} |"
            )
    return "\n".join(lines)


def real_relations():
    """Common groups of every relation of redraw_reports.py, all judged."""
    from redraw_reports import study

    from audit.false_satisfaction.cells import count
    from audit.false_satisfaction.groups import shared_groups

    with tempfile.TemporaryDirectory() as folder:
        engine, _ = study(Path(folder) / "redraws.db")
        return [one.common for one in shared_groups(engine, count(engine, "gold"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraws", type=int, default=100)
    parser.add_argument("--worlds", type=int, default=400)
    arguments = parser.parse_args()
    real, found = real_relations(), {}
    for design in DESIGNS:
        for size in SIZES:
            found["real", design, size] = real_rows(real, size, design, arguments.redraws)
            found["close", design, size] = close_rows(size, design, arguments.worlds)
    print(table(found))
    for name, of in (
        (
            "20 relations of systems that are equally false",
            lambda rng: [close_systems(rng, false=(0.3, 0.3)) for _ in range(20)],
        ),
        ("real", lambda rng: real),
    ):
        wrong, number = sure_changes(of, 60, "shared", arguments.redraws)
        print(
            f"\n{name}: {wrong:.3f} of reports call a change sure that is none; {number:.2f} rivals a report are sure."
        )


if __name__ == "__main__":
    main()
