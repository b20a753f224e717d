"""How often clustered F tests reject where systems do not differ.

python tests/benchmarks/clustered_tests.py               # 1,000 samples of each world, some minutes
"""

import argparse

import numpy as np
import pandas as pd

from audit.packs.translation.analysis import TwoWay


def rejected(clusters, systems, languages, samples, missing=0.0, seed=0):
    """How often the F test of systems, and any Tukey pair of them, has p < .05; systems differ by sentence only."""
    random, found = np.random.default_rng(seed), np.zeros(2)
    sentence, language, system = (one.ravel() for one in np.indices((clusters, languages, systems)))
    for _ in range(samples):
        own = random.normal(size=(clusters, 1, 1)) + random.normal(size=(clusters, 1, systems))
        score = (own + random.normal(size=(clusters, languages, systems))).ravel()
        columns = {"language": language, "translator": system, "score": score, "sentence": sentence}
        frame = pd.DataFrame(columns)[random.random(len(score)) >= missing]
        model = TwoWay(frame, ("language", "translator"), clusters="sentence")
        found += [model.tests()["p"][1] < 0.05, (model.pairs("translator")["p"] < 0.05).any()]
    return found / samples


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000)
    samples = parser.parse_args().samples
    print("| sentences | systems | languages | missing | F | any Tukey pair |\n|---|---|---|---|---|---|")
    for world in ((10, 2, 2), (10, 3, 2), (10, 4, 2), (10, 3, 2, 0.2), (20, 3, 2), (100, 3, 2)):
        f, tukey = rejected(*world[:3], samples, *world[3:])
        cells = [*map(str, world[:3]), f"{world[3] if len(world) > 3 else 0:.0%}", f"{f:.3f}", f"{tukey:.3f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
