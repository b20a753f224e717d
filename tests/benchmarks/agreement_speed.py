"""Seconds of the whole agreement suite, and of Dawid-Skene, on many items with missing ratings, on one core.

python tests/benchmarks/agreement_speed.py               # 100,000 items x 5 annotators, 30 % missing, 5 labels
"""

import argparse
import time

import numpy as np
import pandas as pd

from audit.statistics.agreement import Ratings, agreement_of_pairs, suite
from audit.statistics.annotators import dawid_skene


def ratings(items, annotators, labels, missing, seed=0):
    """A frame of ratings: everybody says the true label with probability .7, else any."""
    random = np.random.default_rng(seed)
    truth = random.integers(1, labels + 1, size=(items, 1))
    said = np.where(
        random.random((items, annotators)) < 0.7, truth, random.integers(1, labels + 1, (items, annotators))
    )
    item, annotator = np.nonzero(random.random((items, annotators)) >= missing)
    return pd.DataFrame({"item": item, "annotator": annotator, "label": said[item, annotator]}).astype(str)


def timed(name, call):
    started = time.perf_counter()
    answer = call()
    print(f"| {name} | {time.perf_counter() - started:.2f} |")
    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--annotators", type=int, default=5)
    parser.add_argument("--labels", type=int, default=5)
    parser.add_argument("--missing", type=float, default=0.3)
    arguments = parser.parse_args()
    frame = ratings(arguments.items, arguments.annotators, arguments.labels, arguments.missing)
    print(f"{len(frame):,} ratings of {arguments.items:,} items\n\n| step | seconds |\n|---|---|")
    given = timed("from a frame to ratings", lambda: Ratings.of(frame))
    found = timed("all coefficients with their intervals", lambda: suite(given, "ordinal"))
    timed("the matrix of annotator pairs", lambda: agreement_of_pairs(given))
    timed("Dawid-Skene", lambda: dawid_skene(frame))
    timed("Dawid-Skene with 200 bootstrap samples", lambda: dawid_skene(frame, draws=200))
    print(f"\n{len(found)} coefficients, {sum(one.estimate is None for one in found)} undefined.")


if __name__ == "__main__":
    main()
