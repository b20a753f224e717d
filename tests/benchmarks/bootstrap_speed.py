"""Seconds of the cluster bootstrap: 2,000 draws over 10^6 groups, shaped like the study (4 systems x 20 relations).

python tests/benchmarks/bootstrap_speed.py         # prints the table of docs/benchmarks.md
"""

import resource
import time

import numpy as np

from audit.statistics.bootstrap import DRAWS, replicates

GROUPS, CELLS = 1_000_000, 80


def groups(per_source, seed=1):
    """Codes of sources and cells and false or not, for 10^6 groups of which each source has `per_source`."""
    rng = np.random.default_rng(seed)
    sources = GROUPS // per_source
    # Other cells for every source, so that hardly two are alike: the slowest case.
    cell = np.argsort(rng.random((sources, CELLS), np.float32), axis=1)[:, :per_source].ravel()
    source = np.repeat(np.arange(sources), per_source)
    hard = np.repeat(rng.random(sources), per_source)
    return source, cell, (rng.random(len(source)) < 0.5 * hard).astype(float)


def main():
    print("| sources | groups per source | seconds |\n|---|---|---|")
    for per_source in (1, 4, 10, 20, 80):
        source, cell, false = groups(per_source)
        started = time.perf_counter()
        found = replicates(source, cell, false, CELLS)
        seconds = time.perf_counter() - started
        if found.shape != (DRAWS, CELLS):
            raise SystemExit(f"{found.shape} replicates where {(DRAWS, CELLS)} were asked for")
        print(f"| {GROUPS // per_source:,} | {per_source} | {seconds:.1f} |", flush=True)
    print(f"\nPeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB.")


if __name__ == "__main__":
    main()
