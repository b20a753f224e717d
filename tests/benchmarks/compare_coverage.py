"""Coverage and width of the interval of the genuine difference of two versions, by simulation.

python tests/benchmarks/compare_coverage.py  # prints the table of docs/evidence/benchmarks.md; about a minute

A world has sources with a group under each relation. A share of the groups changed: some broke, some were fixed, in the
others both satisfy with other outputs; each version is right with a probability of its own. What is easy, right and
changed goes together within a source, by a latent normal number with this correlation.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from audit.statistics.changes import Mean, Values, settled_mean
from audit.statistics.intervals import Target

ALL = 10**9


@dataclass(frozen=True)
class World:
    """`right` are the probabilities that the old and the new one are right in a group that changed."""

    name: str
    sources: int
    relations: int
    changed: float
    broke: float
    fixed: float
    right: tuple[float, float]
    correlation: float = 0.0

    @property
    def difference(self) -> float:
        """The genuine drop in the population."""
        old, new = self.right
        return self.changed * (self.broke * old - self.fixed * new + (1 - self.broke - self.fixed) * (old - new))


WORLDS = (
    World("one relation", 1000, 1, 0.2, 0.4, 0.4, (0.8, 0.8)),
    World("mostly broke", 1000, 1, 0.05, 0.7, 0.1, (0.9, 0.6)),
    World("few changed", 300, 1, 0.02, 0.5, 0.5, (0.9, 0.9)),
    World("none is false", 1000, 1, 0.2, 0.4, 0.4, (1.0, 1.0)),
    World("other outputs", 300, 4, 0.3, 0.05, 0.05, (0.8, 0.5), 0.8),
    World("ten relations", 100, 10, 0.3, 0.1, 0.1, (0.9, 0.5), 0.9),
)
JUDGED = {"nothing": 0, "gold alone": -1, "10 a relation": 10, "40 a relation": 40, "all that changed": ALL}
"""How many groups of each relation are judged. Gold alone: a third of the sources have a label, which says whether the
old one is right and leaves the new one open, so that nothing is a random sample."""


def simulate(world: World, judged: int, rng: np.random.Generator) -> tuple[Values, float]:
    """What is known of one corpus, and the difference of its groups."""
    groups = world.sources * world.relations
    cluster, relation = np.divmod(np.arange(groups), world.relations)

    def latent(chance: float) -> np.ndarray:
        shared, own = rng.standard_normal(world.sources)[cluster], rng.standard_normal(groups)
        mixed = np.sqrt(world.correlation) * shared + np.sqrt(1 - world.correlation) * own
        return np.asarray(mixed < ndtri(chance))

    changed, old, new = latent(world.changed), latent(world.right[0]), latent(world.right[1])
    number = np.where(rng.random(groups) < world.correlation, rng.random(world.sources)[cluster], rng.random(groups))
    broke = changed & (number < world.broke)
    fixed = changed & ~broke & (number < world.broke + world.fixed)
    gained, lost = (changed & ~broke).astype(int), (changed & ~fixed).astype(int)
    truth = lost * old - gained * new
    place = rng.random(world.sources)[cluster]
    sample = np.zeros(groups, bool)
    for one in range(world.relations):
        rows = np.flatnonzero((relation == one) & changed)
        sample[rows[np.argsort(place[rows], kind="stable")][: max(judged, 0)]] = True
    least, most = np.where(sample, truth, -gained), np.where(sample, truth, lost)
    if judged < 0:
        known = place < 1 / 3
        least, most = np.where(known, lost * old - gained, least), np.where(known, lost * old, most)
    return Values(least, most, -gained, lost, sample, relation, cluster), float(truth.mean())


def coverage(world: World, judged: int, target: Target, repeats: int) -> tuple[float, float, float]:
    """Share of the intervals that hold the truth, their mean width, and the share with an estimate."""
    held, widths, estimates = 0, 0.0, 0
    for repeat in range(repeats):
        values, of_corpus = simulate(world, judged, np.random.default_rng([7, repeat]))
        mean: Mean = settled_mean(values, target)
        truth = of_corpus if target == "corpus" else world.difference
        low, high = mean.low or 0.0, mean.high or 0.0
        held += low - 1e-12 <= truth <= high + 1e-12
        widths += high - low
        estimates += mean.estimate is not None
    return held / repeats, widths / repeats, estimates / repeats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=500)
    repeats = parser.parse_args().repeats
    print("| world | judged | population: held | width, points | corpus: held | width, points | estimates |")
    print("|---|---|---|---|---|---|---|")
    for world in WORLDS:
        for name, judged in JUDGED.items():
            held, width, _ = coverage(world, judged, "population", repeats)
            held_here, width_here, estimates = coverage(world, judged, "corpus", repeats)
            print(
                f"| {world.name} | {name} | {held:.3f} | {100 * width:.1f} | {held_here:.3f} | {100 * width_here:.1f} "
                f"| {100 * estimates:.0f} % |"
            )


if __name__ == "__main__":
    main()
