"""Annotators' errors: coverage of their accuracies.

python tests/benchmarks/annotator_coverage.py               # 100 samples of each world, some minutes
"""

import argparse

import numpy as np
import pandas as pd

from audit.statistics.annotators import dawid_skene

WORLDS = (
    # items, annotators, accuracy from, to
    (60, 3, 0.8, 0.98),
    (60, 2, 0.8, 0.98),
    (200, 3, 0.8, 0.98),
    (40, 4, 0.9, 0.99),
    (60, 3, 0.95, 0.99),
)
SHARES = ((0.6, 0.4), (0.9, 0.1), (0.5, 0.3, 0.2))
NEVER_TRUE = tuple(
    ((items, 3, 0.8, 0.8), shares) for shares in ((0.5, 0.5, 0), (0.9, 0.1, 0)) for items in (127, 400, 1000)
)
"""The last label is said and never true: neutral, of texts that are not."""


def dawid_skene_coverage(world, shares, samples, seed=0, draws=600):
    """Coverage of the accuracies, share of intervals that are points, mean width; errors fall on any other label."""
    items, annotators, low, high = world
    random = np.random.default_rng(seed)
    kinds, found = len(shares), np.zeros(4)
    item, who = np.indices((items, annotators))
    for _ in range(samples):
        accuracy = random.uniform(low, high, annotators)
        truth = random.choice(kinds, p=shares, size=(items, 1))
        wrong = (truth + random.integers(1, kinds, (items, annotators))) % kinds
        said = np.where(random.random((items, annotators)) < accuracy, truth, wrong)
        frame = pd.DataFrame({"item": item.ravel(), "annotator": who.ravel(), "label": said.ravel()})
        ends = dawid_skene(frame, draws, seed).accuracy_interval
        width = ends[1] - ends[0]
        held = (ends[0] <= accuracy) & (accuracy <= ends[1])
        found += [annotators, held.sum(), (width < 1e-6).sum(), width.sum()]
    return found[1:] / found[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100)
    arguments = parser.parse_args()
    print("| items x annotators | accuracy | shares of labels | coverage | points | width |\n|---|---|---|---|---|---|")
    for world, shares in (*((world, shares) for world in WORLDS for shares in SHARES), *NEVER_TRUE):
        covered, points, width = dawid_skene_coverage(world, shares, arguments.samples)
        labels = "/".join(f"{100 * share:g}" for share in shares)
        about = f"{world[0]} x {world[1]} | {world[2]:.2f} to {world[3]:.2f} | {labels}"
        print(f"| {about} | {covered:.3f} | {points:.1%} | {width:.2f} |", flush=True)


if __name__ == "__main__":
    main()
