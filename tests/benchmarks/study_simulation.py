"""How many judgements does each design need, in a world shaped like the study?

    python tests/benchmarks/study_simulation.py  # prints the tables of docs/evidence/judgements.md (minutes, one core)
    python tests/benchmarks/study_simulation.py --json FILE

Simple designs judge groups, one judgement for each group of each cell, as the study did. Shared designs ask questions
about inputs, and one answer settles every group with that input; what is counted is distinct questions.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from decisions import decided_at
from decisions import right as right_up_to
from study_world import proxy, world

from audit.statistics.intervals import bounds, mid_p, prior_posterior
from audit.statistics.planning import (
    FIRST_PHASE,
    contest,
    effective_size,
    judged_size,
    sizes_for_half_width,
    width_targeted,
)
from audit.statistics.prediction_powered import disagreement, prediction_powered

HALF_WIDTH, DELTA, CONFIDENCE, SHARE = 0.05, 0.02, 0.95, 0.01
ROUNDS = 12
BASE = "two-phase, simple (questions)"
SIZES = np.unique(np.round(np.geomspace(5, 40_000, 120)).astype(int))
"""Groups per cell that are tried to find what equal allocation needs."""


class Drawing:
    """One repetition: every source gets a new random number, and each cell's list its order by it."""

    def __init__(self, made, seed):
        self.rng = np.random.default_rng([7, seed])
        number = self.rng.random(max(int(one.source.max()) for one in made.relations) + 1)
        self.relations = made.relations
        self.orders = [np.argsort(number[one.source], kind="stable") for one in made.relations]
        self.cells = []
        for index, (one, order) in enumerate(zip(made.relations, self.orders, strict=True)):
            for system in range(one.satisfied.shape[1]):
                groups = order[one.satisfied[order, system]]
                self.cells.append((index, system, groups, one.false[groups, system]))
        self.false = [np.concatenate([[0], np.cumsum(cell[3])]) for cell in self.cells]
        self.sizes = np.array([len(cell[2]) for cell in self.cells])
        self.true = np.array([cell[3].mean() for cell in self.cells])

    def questions(self, sizes):
        """Distinct questions that settle the first `sizes` groups of each cell."""
        asked = []
        for (index, system, groups, _), size in zip(self.cells, sizes, strict=True):
            asked += _asked(self.relations[index], groups[:size], [system])
        return len(np.unique(np.concatenate(asked)))


def _asked(relation, groups, systems):
    follow_up = relation.follow_up[np.ix_(groups, systems)].ravel()
    return [relation.source[groups], follow_up[follow_up >= 0]]


def until_narrow(drawing, counts):
    """Two phases, then more where an interval is still too wide; `counts(sizes)` gives the false ones seen."""
    judged = np.zeros(len(drawing.sizes), int)
    false = judged.copy()
    for _ in range(ROUNDS):
        judged = width_targeted(judged, false, drawing.sizes, HALF_WIDTH)
        false = counts(judged)
        low, high = bounds(false.tolist(), judged.tolist(), drawing.sizes.tolist())
        wide = (high - low) / 2 > HALF_WIDTH
        if not wide.any() and (judged >= np.minimum(FIRST_PHASE, drawing.sizes)).all():
            break
        # Mid-p, where few are false, is a little wider than Wilson, for which sizes are planned: a twentieth more.
        again = width_targeted(judged, false, drawing.sizes, HALF_WIDTH) <= judged
        judged = np.where(wide & again, np.minimum(np.ceil(judged * 1.05).astype(int), drawing.sizes), judged)
        false = counts(judged)
    low, high = bounds(false.tolist(), judged.tolist(), drawing.sizes.tolist())
    return judged, low, high


def _result(drawing, cost, low, high):
    inside = (low - 1e-12 <= drawing.true) & (drawing.true <= high + 1e-12)
    return {"judgements": cost, "reached": float(((high - low) / 2 <= HALF_WIDTH + 1e-9).mean()),
            "worst": float(((high - low) / 2).max()), "held": float(inside.mean())}  # fmt: skip


def width_designs(drawing, aucs=(0.8, 0.9)):
    """Every design for the half-width in one repetition: name -> judgements, cells reached, worst half-width, held."""
    rng, sizes = drawing.rng, drawing.sizes
    totals = np.array([int(cell[3].sum()) for cell in drawing.cells])
    found = {}

    def fixed(name, judged):
        false = rng.hypergeometric(totals, sizes - totals, judged)
        found[name] = _result(drawing, int(judged.sum()), *bounds(false.tolist(), judged.tolist(), sizes.tolist()))

    fixed("study's 1 % share", np.ceil(SHARE * sizes).astype(int))
    fixed("equal allocation, simple", sizes_for_half_width(0.5, sizes, HALF_WIDTH))

    orders = [rng.permutation(cell[3]) for cell in drawing.cells]
    seen = [np.concatenate([[0], np.cumsum(order)]) for order in orders]
    judged, low, high = until_narrow(drawing, lambda n: np.array([one[k] for one, k in zip(seen, n, strict=True)]))
    found["two-phase, simple (a group is one judgement)"] = _result(drawing, int(judged.sum()), low, high)
    asked = sum(
        sum(map(len, _asked(drawing.relations[index], rng.permutation(groups)[:size], [system])))
        for (index, system, groups, _), size in zip(drawing.cells, judged, strict=True)
    )
    found[BASE] = _result(drawing, asked, low, high)

    def counts(n):
        return np.array([one[k] for one, k in zip(drawing.false, n, strict=True)])

    judged, low, high = until_narrow(drawing, counts)
    found["two-phase, shared"] = _result(drawing, drawing.questions(judged), low, high)
    for auc in (None, *aucs):
        judged, low, high = _with_proxy(drawing, auc)
        signal = "disagreement of the systems" if auc is None else f"proxy of AUC {auc:g}"
        found[f"two-phase, shared, {signal}"] = _result(drawing, drawing.questions(judged), low, high)
    judged, low, high = _sequence(drawing)
    found["always valid, shared"] = _result(drawing, drawing.questions(judged), low, high)
    return found


def _with_proxy(drawing, auc):
    judged, lows, highs = [], [], []
    for index, system, groups, false in drawing.cells:
        signal = _disagreement(drawing.relations[index], system, groups)
        if auc is not None:
            signal = proxy(false, auc, drawing.rng)
        n = min(3 * FIRST_PHASE, len(false))
        for _ in range(ROUNDS):
            at = prediction_powered(false[:n], signal[:n], signal, fallback=mid_p)
            wide = (at.high - at.low) / 2
            if wide <= HALF_WIDTH or n == len(false):
                break
            wanted = float(effective_size(n, len(false))) * (wide / HALF_WIDTH) ** 2
            n = min(max(int(judged_size(wanted, len(false))), n + 5), len(false))
        judged.append(n)
        lows.append(at.low)
        highs.append(at.high)
    return np.array(judged), np.array(lows), np.array(highs)


def _disagreement(relation, system, groups):
    labels = {str(number): relation.label[groups, number] for number in range(relation.label.shape[1])}
    return disagreement(labels, str(system))


def _sequence(drawing):
    """Look every 10 judgements and stop as soon as the exact sequence is narrow."""
    judged, lows, highs = [], [], []
    for (_, _, _, false), seen in zip(drawing.cells, drawing.false, strict=True):
        n = min(200, len(false))
        while True:
            at = prior_posterior(int(seen[n]), n, len(false))
            if (at.high - at.low) / 2 <= HALF_WIDTH or n == len(false):
                break
            n = min(n + 10, len(false))
        judged.append(n)
        lows.append(at.low)
        highs.append(at.high)
    return np.array(judged), np.array(lows), np.array(highs)


# Who is best, and in which order


def right(estimates, truth, goal):
    """Whether a ranking by `estimates` (..., systems) is right within delta: the winner, or every pair."""
    if goal == "winner":
        return truth[np.argmax(estimates, axis=-1)] >= truth.max() - DELTA - 1e-12
    wrong = np.zeros(estimates.shape[:-1], bool)
    for i in range(len(truth)):
        for j in range(len(truth)):
            if truth[i] > truth[j] + DELTA + 1e-12:
                wrong |= estimates[..., i] <= estimates[..., j]
    return ~wrong


def equal_allocation(made, goal, repetitions, rng):
    """Judgements by size per cell, and the share of repetitions that are right: (sizes,), (sizes, relations)."""
    judgements, rates = np.zeros(len(SIZES), int), np.zeros((len(SIZES), len(made.relations)))
    for column, one in enumerate(made.relations):
        observed, truth = one.satisfied.mean(axis=0), one.genuine.mean(axis=0)
        satisfied, false = one.satisfied.sum(axis=0), (one.satisfied & one.false).sum(axis=0)
        for row, size in enumerate(SIZES):
            n = np.minimum(size, satisfied)
            judgements[row] += n.sum()
            seen = rng.hypergeometric(false, satisfied - false, n, (repetitions, len(n)))
            rates[row, column] = right(observed * (1 - seen / np.maximum(n, 1)), truth, goal).mean()
    return judgements, rates


def share_of_study(made, goal, repetitions, rng):
    """The study's 1 % of each cell: judgements and the share of repetitions that are right by relation."""
    judgements, rates = 0, []
    for one in made.relations:
        observed, truth = one.satisfied.mean(axis=0), one.genuine.mean(axis=0)
        satisfied, false = one.satisfied.sum(axis=0), (one.satisfied & one.false).sum(axis=0)
        n = np.maximum(np.ceil(SHARE * satisfied).astype(int), 1)
        judgements += int(n.sum())
        seen = rng.hypergeometric(false, satisfied - false, n, (repetitions, len(n)))
        rates.append(right(observed * (1 - seen / n), truth, goal).mean())
    return judgements, np.array(rates)


def shared_equal(drawings, goal, sizes):
    """Shared draw of the same size in every cell, no stopping: questions and rates as in `equal_allocation`."""
    judgements, rates = np.zeros(len(sizes)), np.zeros((len(sizes), len(drawings[0].relations)))
    for drawing in drawings:
        for row, size in enumerate(sizes):
            n = np.minimum(size, drawing.sizes)
            false = np.array([one[k] for one, k in zip(drawing.false, n, strict=True)])
            genuine = (1 - false / n).reshape(len(drawing.relations), -1)
            judgements[row] += drawing.questions(n) / len(drawings)
            for column, one in enumerate(drawing.relations):
                estimate = one.satisfied.mean(axis=0) * genuine[column]
                rates[row, column] += right(estimate, one.genuine.mean(axis=0), goal) / len(drawings)
    return judgements, rates


def decided(drawing, goal, informative_only=True, confidence=CONFIDENCE):
    """Judge each relation's groups until it is decided, looked at every group: questions, and right by relation."""
    asked, hits = [], []
    for one, order in zip(drawing.relations, drawing.orders, strict=True):
        y, truth = one.genuine[order], one.genuine.mean(axis=0)
        label = one.label[order] if informative_only else np.tile(np.arange(y.shape[1]), (len(order), 1))
        match = contest(one.satisfied[order], label)
        first, ranked = decided_at(match, y, goal, DELTA, confidence)
        judged = np.unique(np.concatenate(match.groups))[:first]
        hits.append(right_up_to(ranked, truth, goal, DELTA))
        asked += _asked(one, order[judged], range(y.shape[1]))
    return len(np.unique(np.concatenate(asked))), np.array(hits)


def enough(judgements, rates, level=CONFIDENCE):
    """Fewest judgements at which the mean over relations, and each relation, is right at `level`; None: at no size."""
    mean, every = rates.mean(axis=1) >= level, rates.min(axis=1) >= level
    return tuple(float(judgements[np.flatnonzero(ok)[0]]) if ok.any() else None for ok in (mean, every))


def widths(made, repetitions, log):
    """Means over repetitions of `width_designs`."""
    runs = []
    for seed in range(repetitions):
        runs.append(width_designs(Drawing(made, seed)))
        log(f"half-width {seed + 1}/{repetitions}")
    return {
        name: {
            "judgements": float(np.mean([run[name]["judgements"] for run in runs])),
            "reached": float(np.mean([run[name]["reached"] for run in runs])),
            "worst": float(np.max([run[name]["worst"] for run in runs])),
            "held": float(np.mean([run[name]["held"] for run in runs])),
        }
        for name in runs[0]
    }


def decisions(made, goal, repetitions, log, fixed_repetitions=2000):
    """Judgements that each design needs to decide: fixed ones at the fewest that are right in 95 %, others as run."""
    rng = np.random.default_rng([11, repetitions])
    found = {}
    judgements, rates = share_of_study(made, goal, fixed_repetitions, rng)
    found["study's 1 % share"] = _decision(judgements, rates)
    fixed = judgements, rates = equal_allocation(made, goal, fixed_repetitions, rng)
    mean, every = enough(judgements, rates)
    at = int(np.flatnonzero(judgements == mean)[0])
    found["equal allocation, simple"] = _decision(mean, rates[at]) | {"every": every}
    log(f"{goal}: fixed designs")
    drawings = [Drawing(made, 10_000 + seed) for seed in range(min(repetitions, 40))]
    sizes = SIZES[(SIZES >= 10) & (SIZES <= 6000)][::4]
    judgements, rates = shared_equal(drawings, goal, sizes)
    mean, every = enough(judgements, rates)
    at = int(np.flatnonzero(judgements == mean)[0]) if mean is not None else -1
    found["equal allocation, shared"] = _decision(mean, rates[at]) | {"every": every}
    log(f"{goal}: shared, equal")
    stopping = {
        "always-valid, all groups": {"informative_only": False},
        "always-valid, informative only": {},
        "same, at 50 %": {"confidence": 0.5},
        "same, at 90 %": {"confidence": 0.9},
        "same, at 99 %": {"confidence": 0.99},
    }
    for name, options in stopping.items():
        runs = [decided(Drawing(made, 20_000 + seed), goal, **options) for seed in range(repetitions)]
        mean, hits = (np.mean([run[i] for run in runs], axis=0) for i in (0, 1))
        every = float(mean) if hits.min() >= CONFIDENCE else None
        alike = np.flatnonzero(fixed[1].mean(axis=1) >= hits.mean() - 1e-12)
        same = float(fixed[0][alike[0]]) if len(alike) else None
        found[name] = _decision(float(mean), hits) | {"every": every, "same": same}
        log(f"{goal}: {name}: {found[name]}")
    return found


def _decision(judgements, rates):
    return {"judgements": judgements, "right": float(rates.mean()), "least_right": float(rates.min()), "every": None,
            "same": None}  # fmt: skip


def number(value):
    return "–" if value is None else f"{value:,.0f}"


def table(results):
    """The results as the Markdown tables of docs/evidence/judgements.md."""
    base = results["half_width"][BASE]["judgements"]
    lines = ["| design | judgements | times fewer | cells within 5 points | widest half-width | intervals that hold |"]
    lines.append("|---|---|---|---|---|---|")
    for name, one in results["half_width"].items():
        lines.append(
            f"| {name} | {number(one['judgements'])} | {base / one['judgements']:.1f} | {one['reached']:.3f} "
            f"| {one['worst']:.3f} | {one['held']:.3f} |"
        )
    for goal in ("winner", "order"):
        rows = results[goal]
        mean, every = (rows["equal allocation, simple"][key] for key in ("judgements", "every"))
        lines.append(
            f"\n| design ({goal}) | judgements | right | times fewer | equal allocation for as often right "
            "| times fewer | least right relation |\n|---|---|---|---|---|---|---|"
        )
        for name, one in rows.items():
            fewer = [
                "–" if top is None or one["judgements"] is None else f"{top / one['judgements']:.1f}"
                for top in (mean, one["same"])
            ]
            lines.append(
                f"| {name} | {number(one['judgements'])} | {one['right']:.3f} | {fewer[0]} | {number(one['same'])} "
                f"| {fewer[1]} | {one['least_right']:.3f} |"
            )
        lines.append(
            f"\nFor every relation right in 95 %: equal allocation {number(every)}; "
            + "; ".join(
                f"{name} {number(one['every'])}" for name, one in rows.items() if name[:5] != "equal" and one["every"]
            )
            + "."
        )
    return "\n".join(lines)


def simulate(repetitions=16, seed=0, scale=1.0, log=lambda text: None):
    """All results of one world."""
    made = world(seed, scale)
    return {
        "satisfactions": made.satisfactions,
        "half_width": widths(made, repetitions, log),
        "winner": decisions(made, "winner", repetitions * 5, log),
        "order": decisions(made, "order", repetitions * 5, log),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the results here, for the plot")
    arguments = parser.parse_args()
    started = time.perf_counter()

    def log(text):
        print(f"{time.perf_counter() - started:6.0f} s  {text}", file=sys.stderr, flush=True)

    results = simulate(arguments.repetitions, arguments.seed, log=log)
    print(f"{results['satisfactions']:,} satisfied groups; {arguments.repetitions} repetitions.\n\n{table(results)}")
    if arguments.json:
        arguments.json.write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main()
