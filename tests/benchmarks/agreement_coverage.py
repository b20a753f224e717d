"""How often the 95 % intervals of agreement hold the truth, where labels are even and where one of them is rare.

python tests/benchmarks/agreement_coverage.py               # 1,000 samples of each world, five minutes
"""

import argparse
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from audit.statistics.agreement import (
    Ratings,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    interval,
    krippendorff_alpha,
    percent_agreement,
)

COEFFICIENTS = {
    "percent": percent_agreement,
    "Cohen": cohen_kappa,
    "Fleiss": fleiss_kappa,
    "alpha": krippendorff_alpha,
    "AC1": gwet_ac,
    "alpha ordinal": partial(krippendorff_alpha, level="ordinal"),
    "Fleiss quadratic": partial(fleiss_kappa, level="quadratic"),
}


@dataclass(frozen=True)
class World:
    """Annotators say the truth with the probability `truthful`, else a label by prevalence: kappa is its square.

    `missing` is the share of ratings that are not there. `cluster` items belong together: each but the first is a copy
    of the first with probability a half.
    """

    items: int
    annotators: int
    prevalence: tuple[float, ...]
    truthful: float = 0.6**0.5
    missing: float = 0.0
    cluster: int = 1

    def sample(self, random: np.random.Generator) -> Ratings:
        """Ratings of one sample; every item has one at least."""
        labels, shape = len(self.prevalence), (self.items, self.annotators)
        truth = random.choice(labels, p=self.prevalence, size=(self.items, 1))
        any_label = random.choice(labels, p=self.prevalence, size=shape)
        said = np.where(random.random(shape) < self.truthful, truth, any_label)
        there = random.random(shape) >= self.missing
        there[:, 0] |= ~there.any(axis=1)
        places = np.arange(self.items)
        first = places - places % self.cluster
        copied = np.where(random.random(self.items) < 0.5, first, places)
        said, there = said[copied], there[copied]
        item, annotator = np.nonzero(there)
        names = tuple(str(label + 1) for label in range(labels))
        people = tuple(f"r{number}" for number in range(self.annotators))
        values = np.arange(1.0, labels + 1)
        clusters = first // self.cluster if self.cluster > 1 else None
        return Ratings(
            item, annotator, said[item, annotator], self.items, people, names, "numbers", values, clusters
        )  # fmt: skip

    def __str__(self) -> str:
        more = f", {self.missing:.0%} missing" if self.missing else ""
        more += f", clusters of {self.cluster}" if self.cluster > 1 else ""
        more += f", kappa {self.truthful**2:.2f}" if self.truthful != 0.6**0.5 else ""
        return f"{'/'.join(f'{100 * one:g}' for one in self.prevalence)} | {self.items} x {self.annotators}{more}"


SKEWED = [
    World(items, annotators, prevalence, missing=missing)
    for prevalence, items, (annotators, missing) in product(
        ((0.5, 0.5), (0.9, 0.1), (0.97, 0.03)), (20, 50, 200), ((2, 0.0), (3, 0.0), (3, 0.3))
    )
]
OTHERS = [
    World(200, 2, (0.9, 0.1), cluster=4),
    World(200, 3, (0.97, 0.03), cluster=4),
    World(50, 2, (0.9, 0.1), truthful=0.95),
    World(50, 2, (0.97, 0.03), truthful=0.0),
    World(50, 3, (0.9, 0.07, 0.03)),
    World(200, 2, (0.9, 0.07, 0.03)),
    World(20, 2, (0.4, 0.3, 0.3)),
    World(30, 3, (0.4, 0.3, 0.3), truthful=0.0),
    World(50, 2, (0.2,) * 5),
    World(20, 6, (0.4, 0.3, 0.1, 0.1, 0.1)),
    World(50, 5, (0.4, 0.3, 0.2, 0.1), missing=0.5),
    World(200, 2, (0.6, 0.3, 0.1), truthful=0.95),
]


def coverage(world: World, samples: int, seed: int = 0) -> dict[str, tuple[float, float, float]]:
    """By coefficient: share of samples with an interval, of these the share that holds the truth, mean width."""
    random = np.random.default_rng(seed)
    names = [name for name in COEFFICIENTS if world.annotators == 2 or name != "Cohen"]
    if len(world.prevalence) == 2:
        names = [name for name in names if " " not in name]
    whole = World(200_000, world.annotators, world.prevalence, world.truthful, world.missing).sample(random)
    truth = {name: COEFFICIENTS[name](whole).value for name in names}
    found = {name: np.zeros(3) for name in names}
    for _ in range(samples):
        ratings = world.sample(random)
        if (ratings.label == ratings.label[0]).all():
            continue
        for name in names:
            parts = COEFFICIENTS[name](ratings)
            ends = interval(parts)
            if ends is not None:
                found[name] += [1, ends[0] <= truth[name] <= ends[1], ends[1] - max(ends[0], -1.0)]
    return {name: (n / samples, hits / n, width / n) for name, (n, hits, width) in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000)
    arguments = parser.parse_args()
    print(f"| labels | items x annotators | {' | '.join(COEFFICIENTS)} |\n|---|---|{'---|' * len(COEFFICIENTS)}")
    for world in SKEWED + OTHERS:
        found = coverage(world, arguments.samples)
        cells = [f"{found[name][1]:.3f} ({found[name][2]:.2f})" if name in found else "" for name in COEFFICIENTS]
        print(f"| {world} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
