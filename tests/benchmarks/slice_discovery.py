"""False discovery rate and power of the tests of slices: overlapping slices, groups clustered by source or document.

    python tests/benchmarks/slice_discovery.py               # the table of docs/evidence/slices.md
    python tests/benchmarks/slice_discovery.py --redraws 20  # a quick look

Everything is simulated. Two systems are asked about sources of 21 slices in six ways that overlap. A source, and its
document, is hard or easy under all relations. In worlds with an effect one slice of a fifth of the sources is harder;
the slices that are not below or above their rest are those of the other five ways.
"""

import argparse

import numpy as np
from scipy.special import expit, logit

from audit.statistics.slices import (
    JudgedGroups,
    discovery_rates,
    enough,
    excess,
    genuine_rate,
    observed_rate,
)

SYSTEMS, LEVEL = 2, 0.05
WORLDS = (
    # sources, documents (0: none), relations, judged a cell, VR_o, R_FS, effect (log odds)
    *((400, 0, 5, 60, 0.1, 0.25, effect) for effect in (0.0, 1.0)),
    *((400, 0, 5, 60, 0.02, 0.05, effect) for effect in (0.0, 1.0)),
    *((2000, 0, 5, 200, 0.1, 0.25, effect) for effect in (0.0, 1.0)),
    *((1000, 120, 5, 100, 0.1, 0.25, effect) for effect in (0.0, 1.0)),
    *((600, 0, 1, 300, 0.4, 0.6, effect) for effect in (0.0, 1.0)),
)  # fmt: skip
HARD = 2
"""The way that has the harder slice, its slice 1."""


def slices_of(rng, sources, document):
    """Six ways to divide the sources, (6, sources) of codes: the first two and the harder one overlap by nature."""
    u = rng.random((6, sources))
    mixed = 0.7 * u[0] + 0.3 * u[1]
    of_document = (rng.random(document.max() + 1) * 5).astype(int)[document]
    return np.array([4 * u[0], mixed / 0.34, u[2] < 0.2, u[3] < 0.1, 4 * u[4], of_document]).astype(int)


def world(rng, sources, documents, relations, judged, rate, false, effect):
    """Documents and slices of the sources; of each system: (source, relation, violated) of its groups and (source,
    relation, false) of the judged ones."""
    document = rng.integers(0, documents, sources) if documents else np.arange(sources)
    slices = slices_of(rng, sources, document)
    hard = rng.normal(0, 1, sources) + (rng.normal(0, 1, documents)[document] if documents else 0.0)
    hard = hard + effect * (slices[HARD] == 1)
    order, applies = rng.permutation(sources), rng.random((relations, sources)) < 0.7
    systems = []
    for _ in range(SYSTEMS):
        violated = rng.random((relations, sources)) < expit(logit(rate) + hard)
        wrong = rng.random(sources) < expit(logit(false) + hard + rng.normal(0, 1, sources))
        relation, source = np.nonzero(applies)
        drawn = [order[(applies & ~violated)[at][order]][:judged] for at in range(relations)]
        of_relation = np.repeat(np.arange(relations), [len(part) for part in drawn])
        of_source = np.concatenate(drawn)
        is_false = (wrong[of_source] ^ (rng.random(len(of_source)) < 0.05)).astype(float)
        systems.append(((source, relation, violated[applies]), (of_source, of_relation, is_false)))
    return document, slices, systems


def tests(document, slices, systems):
    """For observed and for genuine rates: (way, slice, p) of each test that can be right."""
    results = [], []
    clusters = int(document.max()) + 1
    for way, code in enumerate(slices):
        for part in range(code.max() + 1):
            for (source, relation, violated), (of_source, of_relation, false) in systems:
                pairs = [], []
                for inside in (code == part, code != part):
                    rows, drawn = inside[source], inside[of_source]
                    cluster, hits = document[source[rows]], violated[rows]
                    sums = (np.bincount(cluster[some], minlength=clusters) for some in (hits, slice(None)))
                    observed = observed_rate(*sums)
                    judged = JudgedGroups(document[of_source[drawn]], of_relation[drawn], false[drawn])
                    pairs[0].append(observed)
                    pairs[1].append(observed and genuine_rate(cluster, relation[rows], hits, judged, observed))
                for found, pair in zip(results, pairs, strict=True):
                    if enough(*pair):
                        found.append((way, part, excess(*pair).p))
    return results


def row(settings, redraws, seed=0):
    """By kind of rate: tests, share of p-values of true hypotheses up to 5 %, 1 %, false discovery rate, and power."""
    rng = np.random.default_rng(seed)
    number, tails, shares, power = ([[], []] for _ in range(4))
    for _ in range(redraws):
        for kind, found in enumerate(tests(*world(rng, *settings))):
            harder = np.array([way == HARD and part == 1 and settings[-1] > 0 for way, part, _ in found], bool)
            null = np.array([way != HARD or not settings[-1] for way, _, _ in found], bool)
            p = np.array([test[2] for test in found])
            called = np.array(discovery_rates(p)) <= LEVEL
            number[kind].append(len(found))
            tails[kind] += p[null].tolist()
            shares[kind].append((called & ~harder).sum() / max(called.sum(), 1))
            power[kind] += called[harder].tolist()
    return [
        (
            np.mean(number[kind]),
            *(np.mean(np.array(tails[kind]) <= level) if tails[kind] else np.nan for level in (0.05, 0.01)),
            np.mean(shares[kind]),
            np.mean(power[kind]) if power[kind] else np.nan,
        )
        for kind in range(2)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraws", type=int, default=200)
    redraws = parser.parse_args().redraws
    print("| sources | documents | relations | judged | VR_o | R_FS | effect | rate | tests | p <= .05 | p <= .01 "
          "| FDR | power |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for settings in WORLDS:
        for name, numbers in zip(("VR_o", "VR_g"), row(settings, redraws), strict=True):
            told = [f"{numbers[0]:.0f}", *("–" if np.isnan(one) else f"{one:.3f}" for one in numbers[1:])]
            print("|", " | ".join([*(f"{one:g}" for one in settings), name, *told]), "|", flush=True)


if __name__ == "__main__":
    main()
