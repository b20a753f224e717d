"""Bias of the estimate with proxies (PPI++), and how often clustered F tests reject where systems do not differ.

python tests/benchmarks/estimator_bias.py               # 1,000 samples of each world, some minutes
"""

import argparse

import numpy as np
import pandas as pd

from audit.packs.translation.analysis import TwoWay
from audit.statistics.prediction_powered import prediction_powered

PROXIES = {
    # how often it is 1 for false groups, and for true ones
    "rare and strong": (0.5, 0.01),
    "strong": (0.8, 0.1),
    "weak": (0.5, 0.3),
}


def proxy_bias(rate, judged, proxy, samples, seed=0, population=2_000):
    """Mean error of the estimate, its root mean square, that of the sample's rate, coverage, share of use."""
    random, rows = np.random.default_rng(seed), []
    for _ in range(samples):
        false = random.random(population) < rate
        signal = (random.random(population) < np.where(false, *PROXIES[proxy])).astype(float)
        drawn = random.permutation(population)[:judged]
        found = prediction_powered(false[drawn], signal[drawn], signal)
        truth = false.mean()
        rows.append(
            (found.estimate - truth, false[drawn].mean() - truth, found.low <= truth <= found.high, not found.reason)
        )
    error, plain, covered, used = np.array(rows, float).T
    return error.mean(), np.sqrt((error**2).mean()), np.sqrt((plain**2).mean()), covered.mean(), used.mean()


def rejected(clusters, systems, languages, samples, missing=0.0, seed=0):
    """How often the F test of systems, and any Tukey pair of them, has p < .05; systems differ by sentence only."""
    random, found = np.random.default_rng(seed), np.zeros(2)
    sentence, language, system = (one.ravel() for one in np.indices((clusters, languages, systems)))
    for _ in range(samples):
        own = random.normal(size=(clusters, 1, 1)) + random.normal(size=(clusters, 1, systems))
        score = (own + random.normal(size=(clusters, languages, systems))).ravel()
        columns = {"language": language, "translator": system, "score": score, "sentence": sentence}
        frame = pd.DataFrame(columns)[random.random(len(score)) >= missing]
        model = TwoWay(frame, ("language", "translator"), "sentence")
        found += [model.tests()["p"][1] < 0.05, (model.pairs("translator")["p"] < 0.05).any()]
    return found / samples


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000)
    samples = parser.parse_args().samples
    print("| R_FS | judged | proxy | used | bias | RMSE | without | coverage |\n|---|---|---|---|---|---|---|---|")
    for proxy in PROXIES:
        for judged in (60, 200):
            for rate in (0.02, 0.1, 0.3):
                bias, error, plain, covered, used = proxy_bias(rate, judged, proxy, samples)
                about = f"{rate} | {judged} | {proxy} | {used:.0%}"
                print(f"| {about} | {bias:+.4f} | {error:.4f} | {plain:.4f} | {covered:.3f} |", flush=True)
    print("\n| sentences | systems | languages | missing | F | any Tukey pair |\n|---|---|---|---|---|---|")
    for world in ((10, 2, 2), (10, 3, 2), (10, 4, 2), (10, 3, 2, 0.2), (20, 3, 2), (100, 3, 2)):
        f, tukey = rejected(*world[:3], samples, *world[3:])
        cells = [*map(str, world[:3]), f"{world[3] if len(world) > 3 else 0:.0%}", f"{f:.3f}", f"{tukey:.3f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
