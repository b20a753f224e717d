"""How often is the winner right, and what does it take, for each design of `audit plan --decide`?

    python tests/benchmarks/decisions.py  # prints the tables of docs/evidence/judgements.md (minutes, one core)

The first table has worlds made to be hard: one system ahead of equal others by a little more than delta. The second is
about real systems on real text, redrawn: four systems on 4,000 sentences of rotten-tomatoes, where gold knows the truth
of the relations that carry it. A source has one random number in all relations, as `audit sample` draws; somebody looks
after every single group, which is the worst that looking can do.
"""

import argparse
import math
import tempfile
from pathlib import Path

import numpy as np
from redraws import SYSTEMS, population

from audit.false_satisfaction.cells import count
from audit.false_satisfaction.resolution import State, drawn_groups, known_answers, settle_group
from audit.reports.plan import matches
from audit.statistics.planning import RANGES, contest, evidence_above, most_refuted, pairs_of, sizes_to_decide, standing
from audit.store import open_store

GROUPS, DELTA, CONFIDENCE, SOURCES = 3000, 0.02, 0.95, 4000
WORLDS = {
    "ahead by .03, 3 equal others": {"lead": 0.03},
    "ahead by .021, 3 equal others": {"lead": 0.021},
    "ahead by .05, 3 equal others": {"lead": 0.05},
    "ahead by .10, 3 equal others": {"lead": 0.1},
    "ahead by .03, 7 equal others": {"lead": 0.03, "systems": 8},
    "ahead by .021, 7 equal others": {"lead": 0.021, "systems": 8},
    "ahead by .03, R_FS .5": {"lead": 0.03, "false": 0.5},
    "ahead by .03, SR_o .7": {"lead": 0.03, "observed": 0.7},
    "ahead by .021, SR_o .98, R_FS .05": {"lead": 0.021, "observed": 0.98, "false": 0.05},
}
SIZES = np.unique(np.geomspace(20, SOURCES, 40).astype(int))
"""Groups per cell, or informative ones per relation, that are tried to find what a fixed number needs."""


def world(rng, lead, systems=4, observed=0.9, false=0.3, groups=GROUPS):
    """satisfied, output codes and genuine of one relation: (groups, systems) each; the first system is `lead` ahead.

    Systems find the same inputs hard; four of five wrong outputs are the same wrong one.
    """
    rates = np.full(systems, observed * (1 - false))
    rates[0] += lead
    hard = rng.normal(size=groups)
    genuine, satisfied = (np.zeros((groups, systems), bool) for _ in range(2))
    for system, rate in enumerate(rates):
        order, right = np.argsort(hard + rng.normal(size=groups)), round(rate * groups)
        others = rng.permutation(order[right:])[: round(observed * groups) - right]
        genuine[order[:right], system] = True
        satisfied[np.append(order[:right], others), system] = True
    return satisfied, np.where(genuine, 0, np.where(rng.random(genuine.shape) < 0.8, 1, 2)), genuine


def decided_at(match, genuine, goal="winner", delta=DELTA, confidence=CONFIDENCE):
    """The first number of informative groups after which `standing` decides, looked at every group, and its order."""
    for first in (1000, 10_000, len(genuine)):  # most contests need no more than a beginning
        found = _decided_within(first, match, genuine, goal, delta, confidence)
        if found is not None:
            return found
    raise ValueError("a contest is decided when everything is judged")


def _decided_within(first, match, genuine, goal, delta, confidence):
    """`decided_at` if that is among the `first` informative groups, else None."""
    needed = math.log(pairs_of(goal, match.systems) / (1 - confidence))
    every = np.unique(np.concatenate(match.groups))
    since = np.zeros((match.systems, match.systems))
    for (i, j), whole, kinds in zip(match.pairs, match.groups, match.kinds, strict=True):
        groups, sizes = whole[whole <= every[:first].max(initial=-1)], np.bincount(kinds, minlength=3)
        values = genuine[groups, i].astype(float) - genuine[groups, j]
        for one, other, sign in ((i, j, 1), (j, i, -1)) if len(whole) else ():
            ranges = RANGES if sign == 1 else tuple((-most, -least) for least, most in RANGES)
            total = most_refuted(match.common, delta)
            enough = np.flatnonzero(evidence_above(sign * values, total, kinds[: len(groups)], sizes, ranges) >= needed)
            since[one, other] = np.searchsorted(every, groups[enough[0]], "right") if len(enough) else np.inf
    for when in np.unique(since[np.isfinite(since)]):
        order, left = [], list(range(match.systems))
        while left and (best := [i for i in left if (since[i, left] <= when).all()]):
            order.append(best[0])
            left.remove(best[0])
        if not left or (order and goal == "winner"):
            return int(when), [*order, *left]
    return None


def right(order, truth, goal="winner", delta=DELTA):
    """Whether the winner, or every pair of an order, is right up to delta."""
    placed = range(1 if goal == "winner" else len(order))
    return all(truth[order[at]] >= truth[order[at:]].max() - delta - 1e-9 for at in placed)


def hard_world(repeats=1000, worlds=20, seed=0, **options):
    """One of `WORLDS`, drawn again and again. Keys: right, judged (mean) and most (90 % of runs) of always-valid;
    expected by the plan that knows the lead; informative groups; fixed and fixed_right of the shared design."""
    rng, runs = np.random.default_rng([31, seed]), []
    for repeat in range(repeats):
        if repeat % -(-repeats // worlds) == 0:
            satisfied, code, genuine = world(rng, **options)
            truth = genuine.mean(axis=0)
            match = contest(satisfied, code)
            nothing = [()] * len(match.pairs)
            known = standing(match, nothing), [0] * len(match.pairs), "winner", DELTA, CONFIDENCE
            sizes = sizes_to_decide(match, *known, options.get("false", 0.3), options["lead"])
        order = rng.permutation(len(genuine))
        match, drawn = contest(satisfied[order], code[order]), genuine[order]
        groups, ranked = decided_at(match, drawn)
        every = np.unique(np.concatenate(match.groups))
        best = drawn[every[: sizes["shared"][1]]].mean(axis=0).argmax()
        runs.append((right(ranked, truth), groups, sizes["always-valid"][0], len(every), sizes["shared"][1],
                     right([best, *np.delete(np.arange(len(truth)), best)], truth)))  # fmt: skip
    of = np.array(runs, float)
    names = ("right", "judged", "expected", "informative", "fixed", "fixed_right")
    return dict(zip(names, of.mean(axis=0).tolist(), strict=True)) | {"most": float(np.quantile(of[:, 1], 0.9))}


def real(path, systems=SYSTEMS, sources=SOURCES):
    """The contests of the relations whose truth gold knows for every group: [(`Match`, name)]."""
    if not Path(path).exists():
        population(path, systems, sources)
    engine = open_store(str(path))
    counted = count(engine, "gold")
    with engine.connect() as connection:
        known = known_answers(connection, "gold")
        settled = [
            (one.group_id, one.system_id, settle_group(one, known).state)
            for one in drawn_groups(connection, [int(one["id"]) for one in counted.samples])
        ]
        states = {(group, system): float(state is State.TRUE) for group, system, state in settled
                  if state is not State.WAITING}  # fmt: skip
        seeds = {int(one["id"]): int(one["seed"]) for one in counted.studies}
        names = counted.keys.drop_duplicates("relation_id").set_index("relation_id")["relation"]
        return [(one, names[one.relation]) for one in matches(connection, counted, states, seeds)
                if not np.isnan(one.y).any()]  # fmt: skip


def redrawn(contests, redraws=1000, goal="winner", seed=0):
    """What each design does on redraws of real contests.

    Returns always-valid by relation, (right, judged) as arrays (redraws, relations), its texts (redraws,), and by fixed
    design the shares that are right (sizes, relations), groups judged and texts asked (sizes,).
    """
    rng = np.random.default_rng([37, seed])
    sources = 1 + max(int(one.source.max()) for one, _ in contests)
    hits, judged = (np.zeros((redraws, len(contests)), kind) for kind in (bool, int))
    texts = np.zeros(redraws)
    fixed = {name: [np.zeros((len(SIZES), len(contests))), np.zeros(len(SIZES)), np.zeros(len(SIZES))]
             for name in ("shared", "informative")}  # fmt: skip
    for redraw in range(redraws):
        number = rng.random(sources)
        asked = np.zeros(sources, bool)
        asked_fixed = {name: np.zeros((len(SIZES), sources), bool) for name in fixed} if redraw < 20 else {}
        for at, (one, _) in enumerate(contests):
            order = np.argsort(number[one.source], kind="stable")
            satisfied, y, source, truth = one.satisfied[order], one.y[order], one.source[order], one.y.mean(axis=0)
            match = contest(satisfied, one.code[order])
            every = np.unique(np.concatenate(match.groups))
            judged[redraw, at], ranked = decided_at(match, y, goal)
            hits[redraw, at] = right(ranked, truth, goal)
            asked[source[every[: judged[redraw, at]]]] = True
            lists = {"informative": [every] * y.shape[1], "shared": [np.flatnonzero(held) for held in satisfied.T]}
            for name, rows in lists.items():
                rates = np.ones(y.shape[1]) if name == "informative" else satisfied.mean(axis=0)
                estimates = np.array([_running(y[of, system], rates[system]) for system, of in enumerate(rows)])
                orders = np.argsort(-estimates, axis=0, kind="stable").T
                fixed[name][0][:, at] += [right(ranked.tolist(), truth, goal) / redraws for ranked in orders]
                for row, size in enumerate(SIZES) if asked_fixed else ():
                    fixed[name][1][row] += sum(len(of[:size]) for of in rows) / 20
                    for of in rows:
                        asked_fixed[name][row, source[of[:size]]] = True
        texts[redraw] = asked.sum()
        for name, rows in asked_fixed.items():
            fixed[name][2] += rows.sum(axis=1) / 20
    return hits, judged, texts, fixed


def _running(values, scale):
    """The estimate from the first `SIZES` values; 0 where a system satisfies nothing."""
    if not len(values):
        return np.zeros(len(SIZES))
    size = np.minimum(SIZES, len(values))
    return scale * np.cumsum(values)[size - 1] / size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--db", type=Path, help="keep the database of the real systems here")
    arguments = parser.parse_args()
    print("| world | always-valid: right | groups judged (90 % of runs) | plan expects | of informative | "
          "fixed number | right |\n|---|---|---|---|---|---|---|")  # fmt: skip
    for name, options in WORLDS.items():
        one = hard_world(arguments.repeats, **options)
        print(f"| {name} | {one['right']:.3f} | {one['judged']:.0f} ({one['most']:.0f}) | {one['expected']:.0f} | "
              f"{one['informative']:.0f} | {one['fixed']:.0f} | {one['fixed_right']:.3f} |", flush=True)  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        contests = real(arguments.db or Path(folder) / "real.db")
    for goal in ("winner", "order"):
        report(contests, goal, arguments.repeats)


def report(contests, goal, redraws):
    """Print what `redrawn` found."""
    hits, judged, texts, fixed = redrawn(contests, redraws, goal)
    print(
        f"\n| relation ({goal}) | groups that inform | judged until decided (90 % of them) | right |\n|---|---|---|---|"
    )
    for at, (one, name) in enumerate(contests):
        of = judged[:, at]
        informs = len(np.unique(np.concatenate(one.contest.groups)))
        print(f"| {name} | {informs} | {of.mean():.0f} ({np.quantile(of, 0.9):.0f}) | {hits[:, at].mean():.3f} |")
    print(f"\n| design ({goal}) | per relation | right | least right relation | groups judged | texts asked |")
    print("|---|---|---|---|---|---|")
    for name, (rates, groups, asked) in fixed.items():
        for what, share in (("mean", rates.mean(axis=1)), ("least", rates.min(axis=1))):
            enough = np.flatnonzero(share >= CONFIDENCE)
            if len(enough):
                row = enough[0]
                print(f"| {name}, {what} right in 95 % | {SIZES[row]} | {rates[row].mean():.3f} "
                      f"| {rates[row].min():.3f} | {groups[row]:,.0f} | {asked[row]:,.0f} |")  # fmt: skip
    systems = contests[0][0].y.shape[1]
    print(f"| always-valid | {judged.mean():.0f} | {hits.mean():.3f} | {hits.mean(axis=0).min():.3f} "
          f"| up to {systems * judged.sum(axis=1).mean():,.0f} | {texts.mean():,.0f} |")  # fmt: skip


if __name__ == "__main__":
    main()
