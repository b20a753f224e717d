"""How often the 95 % intervals of agreement hold the truth: ours, and estimate +- t s beside it.

python tests/benchmarks/agreement_coverage.py               # 1,000 samples of each kind, two minutes
"""

import argparse
from functools import partial

import numpy as np
from scipy.special import stdtrit

from audit.statistics.agreement import Ratings
from audit.statistics.agreement.brennan_prediger import brennan_prediger
from audit.statistics.agreement.conger_kappa import conger_kappa
from audit.statistics.agreement.gwet_ac1 import gwet_ac1
from audit.statistics.agreement.krippendorff_alpha import krippendorff_alpha
from audit.statistics.agreement.parts import interval
from audit.statistics.agreement.percent_agreement import percent_agreement
from audit.statistics.agreement.weights import quadratic

KINDS = (
    # items, annotators, share of ratings missing, how often the truth is said (else a label by prevalence), prevalence
    (20, 2, 0.0, 0.8, (0.4, 0.3, 0.3)),
    (30, 2, 0.0, 0.8, (0.5, 0.5)),
    (50, 3, 0.3, 0.7, (0.5, 0.3, 0.2)),
    (100, 2, 0.0, 0.9, (0.8, 0.1, 0.1)),
    (100, 5, 0.5, 0.6, (0.4, 0.3, 0.2, 0.1)),
    (200, 2, 0.0, 0.97, (0.6, 0.3, 0.1)),
    (30, 3, 0.0, 0.0, (0.4, 0.3, 0.3)),
)
COEFFICIENTS = {
    "percent": percent_agreement,
    "Conger": conger_kappa,
    "alpha": krippendorff_alpha,
    "AC1": gwet_ac1,
    "Brennan-Prediger": brennan_prediger,
    "alpha ordinal": partial(krippendorff_alpha, level="ordinal"),
    "Conger quadratic": lambda ratings: conger_kappa(ratings, quadratic(ratings.values)),
}


def sample(random, items, annotators, missing, truthful, prevalence):
    """Ratings of one sample; every item has one at least."""
    labels = len(prevalence)
    truth = random.choice(labels, p=prevalence, size=(items, 1))
    any_label = random.choice(labels, p=prevalence, size=(items, annotators))
    said = np.where(random.random((items, annotators)) < truthful, truth, any_label)
    there = random.random((items, annotators)) >= missing
    there[:, 0] |= ~there.any(axis=1)
    item, annotator = np.nonzero(there)
    names = tuple(str(label + 1) for label in range(labels))
    people = tuple(f"r{number}" for number in range(annotators))
    values = np.arange(1.0, labels + 1)
    return Ratings(item, annotator, said[item, annotator], items, people, names, "numbers", values)


def plain(parts):
    """Estimate +- t s, cut at 1; all or nothing as ours."""
    if parts.observed in (0, 1):
        return interval(parts)
    influence = parts.observed_influence - (1 - parts.value) * parts.expected_influence
    n = len(influence)
    half = stdtrit(n - 1, 0.975) * np.sqrt((influence**2).sum() / (n * (n - 1))) / (1 - parts.expected)
    return parts.value - half, min(parts.value + half, 1.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000)
    arguments = parser.parse_args()
    random = np.random.default_rng(0)
    print(f"| items x annotators | agree | {' | '.join(COEFFICIENTS)} |\n|---|---{'|---' * len(COEFFICIENTS)}|")
    for kind in KINDS:
        whole = sample(random, 400_000, *kind[1:])
        truth = {name: compute(whole).value for name, compute in COEFFICIENTS.items()}
        hits = {name: np.zeros(3) for name in COEFFICIENTS}
        for _ in range(arguments.samples):
            ratings = sample(random, *kind)
            for name, compute in COEFFICIENTS.items():
                parts = compute(ratings)
                if parts.value is None or (ends := interval(parts)) is None:
                    continue
                low, high = plain(parts)
                hits[name] += [ends[0] <= truth[name] <= ends[1], low <= truth[name] <= high, 1]
        cells = (f"{ours / n:.3f} ({other / n:.3f})" for ours, other, n in hits.values())
        missing = f", {kind[2]:.0%} missing" if kind[2] else ""
        print(f"| {kind[0]} x {kind[1]}{missing} | {truth['percent']:.2f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
