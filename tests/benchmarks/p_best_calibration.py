"""From how many judged groups on does P(best) come true as often as it says, and are tests and intervals right?

Worlds of two to five systems (genuine rates .6 to .95, near to each other or far apart, that mostly err on the same
texts; two labels, so that all who are wrong say the same) are drawn anew for every sample of 6 to 180 groups a cell.
Counted are the judged groups that decide; where these are all that there are, the truth is known.

    python tests/benchmarks/p_best_calibration.py     # prints the table of docs/evidence/benchmarks.md, in two minutes
"""

import sys
from itertools import pairwise

import numpy as np
from best_calibration import redrawn, whole
from scipy.special import ndtri

from audit.statistics import comparison
from audit.statistics.orders import rank_systems

STEPS = (1, 5, 10, 15, 20, 25, 30, 45, 60, 10**6)
CLAIMS = ((0.8, 0.95), (0.95, 1.01))
SIZES = (6, 12, 20, 60, 180)


def world(rng):
    """Common groups of one relation, all judged."""
    systems, groups = int(rng.integers(2, 6)), int(rng.choice([200, 500, 2_000]))
    together, spread = rng.uniform(0.3, 0.9), rng.choice([0.01, 0.03, 0.1])
    wrong_rate = np.clip(rng.uniform(0.04, 0.3) + rng.uniform(-spread, spread, systems), 0.005, 0.5)
    violated_rate = np.clip(rng.uniform(0.0, 0.15) + rng.uniform(-spread, spread, systems) / 2, 0.0, 0.5)
    shared, own = rng.standard_normal((groups, 1)), rng.standard_normal((groups, systems))
    wrong = np.sqrt(together) * shared + np.sqrt(1 - together) * own < ndtri(wrong_rate)
    held = rng.random((groups, systems)) >= violated_rate
    return whole(held, held & ~wrong, comparison.informative(held, wrong.astype(int)))


def main(worlds):
    comparison.ENOUGH_FOR_P_BEST = 0
    rng = np.random.default_rng(30)
    said, tested = [], []
    for number in range(worlds):
        common = world(rng)
        truth, sample = common.genuine.mean(axis=0), redrawn(common, int(rng.choice(SIZES)), "shared", rng)
        judged = len(sample.outcomes)
        if not 0 < judged < sample.deciding:
            continue
        best = truth >= truth.max() - 1e-12
        ranked = rank_systems(sample.draws("corpus", 1_000, number))
        said += [(judged, one.p_best, right) for one, right in zip(ranked, best, strict=True)]
        for pair in sample.differences("corpus", 0.95, 0.0):
            gap = truth[pair.one] - truth[pair.other]
            right = np.sign(pair.difference) == np.sign(gap)
            tested.append((judged, pair.p <= 0.05, right, pair.low - 1e-9 <= gap <= pair.high + 1e-9))
    said, tested = np.array(said, float), np.array(tested, float)
    names = [f"P(best) {low:.2f}-{min(high, 1):.2f} | came true" for low, high in CLAIMS]
    print(f"| judged, deciding | {' | '.join(names)} | pairs | interval holds | p <= .05 | sign right |")
    print("|---" * (3 + 2 * len(CLAIMS) + 2) + "|")
    for least, most in pairwise(STEPS):
        inside = (said[:, 0] >= least) & (said[:, 0] < most)
        row = [f"{least} to {most - 1}" if most < 10**6 else f"{least} and more"]
        for low, high in CLAIMS:
            claimed = inside & (said[:, 1] >= low) & (said[:, 1] < high)
            row += [f"{claimed.sum():,}", f"{said[claimed, 2].mean():.3f}" if claimed.any() else ""]
        pairs = tested[(tested[:, 0] >= least) & (tested[:, 0] < most)]
        sure = pairs[pairs[:, 1] == 1]
        row += [f"{len(pairs):,}", f"{pairs[:, 3].mean():.3f}", f"{len(sure):,}", f"{sure[:, 2].mean():.3f}"]
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30_000)
