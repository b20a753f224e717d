"""Annotators' errors: coverage of their accuracies and of R_FS with carried answers.

python tests/benchmarks/annotator_coverage.py               # 100 samples of each world, some minutes
"""

import argparse

import numpy as np
import pandas as pd

from audit.statistics.annotators import dawid_skene
from audit.statistics.corrected import carry_effect, carry_error
from audit.statistics.intervals import mid_p

WORLDS = (
    # items, annotators, accuracy from, to
    (60, 3, 0.8, 0.98),
    (60, 2, 0.8, 0.98),
    (200, 3, 0.8, 0.98),
    (40, 4, 0.9, 0.99),
    (60, 3, 0.95, 0.99),
)
CARRIED = ((0.05, 0.3, 30), (0.2, 0.2, 30), (0.2, 0.2, 200), (0.5, 0.1, 30), (0.2, 0.05, 10))
"""Share of groups that rest on carried answers, how many of these are wrong, audited follow-ups."""
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


def carry_coverage(population, judged, resting, error, audited, samples, seed=0, rate=0.3):
    """Coverage and width of `fs_carry_low` to `fs_carry_high` of one cell, and coverage of `fs_low` to `fs_high`."""
    random, found = np.random.default_rng(seed), np.zeros(3)
    for _ in range(samples):
        false, rests = random.random(population) < rate, random.random(population) < resting
        truth = (false ^ (rests & (random.random(population) < error))).mean()
        most = carry_error(np.arange(audited), random.random(audited) < error).high
        own = mid_p(int(false[:judged].sum()), judged, population)
        carried = [int((rests & kind)[:judged].sum()) for kind in (~false, false)]
        low, high = carry_effect(judged, *carried, most, own.low, own.high)
        held = [one - 1e-9 <= truth <= other + 1e-9 for one, other in ((low, high), (own.low, own.high))]
        found += [held[0], high - low, held[1]]
    return found / samples


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
    print("\n| judged of | rest on carried | wrong | audited | coverage | width | without |")
    print("|---|---|---|---|---|---|---|")
    for population in (60, 61, 400):
        for resting, error, audited in CARRIED:
            covered, width, without = carry_coverage(population, 60, resting, error, audited, 10 * arguments.samples)
            about = f"60 of {population} | {resting:.0%} | {error:.0%} | {audited}"
            print(f"| {about} | {covered:.3f} | {width:.3f} | {without:.3f} |", flush=True)


if __name__ == "__main__":
    main()
