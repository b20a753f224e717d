"""Does P(best) come true as often as it says, and is a change that is called sure one?

Samples are drawn again and again from groups whose truth is known: those of real systems on rotten-tomatoes, which gold
answers, and those of made-up systems that are close (SR_o .84 to .86, R_FS .28 to .32), where orders are hard to tell.
With weights over relations that share their sources, or documents, the same is asked of the weighted ranking.

    python tests/benchmarks/best_calibration.py     # prints the tables of docs/evidence/benchmarks.md
"""

import argparse
import itertools
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.special import ndtri

from audit.statistics.comparison import Common, holm, informative, weighted_draws
from audit.statistics.orders import rank_systems

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


def redrawn(common, size, design, rng, order=None):
    """A sample of `size` satisfied groups a cell (below 1: a share), by one random order for all cells or one each."""
    genuine, held = common.genuine == 1, common.held
    judged, false = np.zeros(len(common.systems), int), np.zeros(len(common.systems), int)
    order, reach = rng.permutation(len(held)) if order is None else order, len(held)
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


def weighted_world(rng, relations=6, systems=4, sources=1_000, documents=None, spread=0.02, flips=(0.1, 0.2)):
    """Common groups of relations that share sources, all judged, and each system's SR_g over the population.

    A system is wrong on a source or right under all relations at once, and on sources of one document alike. Each
    relation applies to half of the sources. `spread` is how far systems' shares of wrong sources and of violated groups
    lie about .3 and about a relation's own; 0: all are equally good.
    """
    document = np.arange(sources) if documents is None else rng.integers(documents, size=sources)
    chance = 0.3 + rng.uniform(-spread, spread, systems)
    parts = rng.standard_normal((sources, 1))[document], rng.standard_normal((sources, systems))[document]
    own = rng.standard_normal((sources, systems))
    wrong = np.sqrt(0.3) * parts[0] + np.sqrt(0.3) * parts[1] + np.sqrt(0.4) * own < ndtri(chance)
    found, rates = [], []
    for _ in range(relations):
        source = np.flatnonzero(rng.random(sources) < 0.5)
        violated = np.clip(rng.uniform(*flips) + rng.uniform(-spread, spread, systems) / 2, 0, 1)
        held = rng.random((len(source), systems)) >= violated
        genuine = held & ~wrong[source]
        # Two labels: who is wrong says what all who are wrong say.
        common = whole(held, genuine, informative(held, wrong[source].astype(int)))
        found.append(replace(common, source=source, cluster=document[source]))
        rates.append((1 - chance) * (1 - violated))
    return found, np.mean(rates, axis=0)


def weighted_claims(world, size, design, rng, seed, target="population", apart=False):
    """Rows (P(best), whether it is best) of the weighted ranking of one sample; `apart`: as if they shared nothing."""
    commons, truth = world
    number = rng.random(1 + max(int(one.source.max()) for one in commons))
    samples = [redrawn_of(one, size, design, rng, np.argsort(number[one.source])) for one in commons]
    if apart:
        samples = [replace(one, source=one.source + at * 10**6, cluster=one.cluster + at * 10**6)
                   for at, one in enumerate(samples)]  # fmt: skip
    if target == "corpus":
        truth = np.mean([one.genuine.mean(axis=0) for one in commons], axis=0)
    share = [1 / len(samples)] * len(samples)
    draws = weighted_draws(samples, share, commons[0].systems, target, DRAWS, seed)
    best = truth >= truth.max() - 1e-12
    return [] if draws is None else [
        (one.p_best, right) for one, right in zip(rank_systems(draws), best, strict=True)
    ]  # fmt: skip


def redrawn_of(common, size, design, rng, order):
    """As `redrawn`, of groups whose sources are known."""
    if design == "shared":
        return redrawn(common, size, design, rng, order)
    seen = np.full(common.genuine.shape, np.nan)
    for at in range(len(common.systems)):
        rows = rng.permutation(np.flatnonzero(common.held[:, at]))[:size]
        seen[rows, at] = common.genuine[rows, at]
    judged = (common.held & ~np.isnan(seen)).sum(axis=0)
    false = (common.held & (seen == 0)).sum(axis=0)
    return replace(common, judged=judged, false=false, genuine=seen, decides=None)


def weighted_rows(worlds, size=60, design="shared", target="population", apart=False, seed=0, **made):
    rng = np.random.default_rng(seed)
    return [
        (*row, number)
        for number in range(worlds)
        for row in weighted_claims(weighted_world(rng, **made), size, design, rng, number, target, apart)
    ]


def told_apart(rows, level=0.95):
    """The share of worlds in which a system is said to be best with `level` or more, and the share of claims that one
    is not, with 1 - `level` over the number of systems or less."""
    p, _, world = (np.array(column, float) for column in zip(*rows, strict=True))
    systems = len(p) / len(np.unique(world))
    return len(np.unique(world[(p >= level)])) / len(np.unique(world)), float((p <= (1 - level) / systems).mean())


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


def weighted_table(worlds):
    names = ("target", "sources of", "design", "relations", "equal systems: one with P >= .80", "P(best)", "claims")
    names = (*names, "mean P", "came true", "standard errors off")
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for target, documents in (("population", None), ("population", 60), ("corpus", None)):
        for design, apart in itertools.product(DESIGNS, (True, False)):
            given = {"design": design, "target": target, "apart": apart, "documents": documents}
            equal = told_apart(weighted_rows(worlds, spread=0.0, **given), 0.8)[0]
            place = f"{target} | {f'{documents} documents' if documents else 'their own'} | {design}"
            what = f"{place} | {'as if independent' if apart else 'together'} | {equal:.3f}"
            lines += [
                f"| {what} | {label} | {number:,} | {mean:.3f} | {true:.3f} | {off:+.1f} |"
                for label, number, mean, true, off in reliability(weighted_rows(worlds, spread=0.04, **given))
            ]
    return "\n".join(lines)


def real_relations():
    """Common groups of every relation of redraw_reports.py, all judged."""
    from redraw_reports import study

    from audit.false_satisfaction.cells import count
    from audit.false_satisfaction.groups import comparisons

    with tempfile.TemporaryDirectory() as folder:
        engine, _ = study(Path(folder) / "redraws.db")
        counted = count(engine, "gold")
        return [one.settled(counted.drawn) for one in comparisons(engine, counted)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraws", type=int, default=100)
    parser.add_argument("--worlds", type=int, default=400)
    parser.add_argument("--weighted", action="store_true", help="only the table of weighted rankings")
    arguments = parser.parse_args()
    if arguments.weighted:
        print(weighted_table(arguments.worlds))
        return
    real, found = real_relations(), {}
    for design in DESIGNS:
        for size in SIZES:
            found["real", design, size] = real_rows(real, size, design, arguments.redraws)
            found["close", design, size] = close_rows(size, design, arguments.worlds)
    print(table(found))
    print(weighted_table(arguments.worlds))
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
