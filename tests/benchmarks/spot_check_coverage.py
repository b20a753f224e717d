"""Coverage of R_FS as spot checks correct it, over numbers of checks and errors of the protocol.

python tests/benchmarks/spot_check_coverage.py        # prints the table of docs/reference/annotator-error.md
"""

import numpy as np
import pandas as pd

from audit.statistics.comparison import difference
from audit.statistics.intervals import mid_p


def coverage(repeats=400, seed=0):
    """A frame by checked groups and errors: coverage and width of the difference estimator over rates and sizes."""
    rng, rows = np.random.default_rng(seed), []
    for total, n in ((400, 60), (400, 200), (20_000, 200)):
        for m in (10, 30, 60):
            for rate in (0.05, 0.2, 0.4):
                truth = np.repeat([1, 0], [round(rate * total), total - round(rate * total)])
                for alarm, miss in ((0.0, 0.0), (0.02, 0.02), (0.1, 0.05), (0.02, 0.3)):
                    for _ in range(repeats):
                        seen = rng.permutation(truth)[:n]
                        said = np.where(seen, rng.random(n) >= miss, rng.random(n) < alarm).astype(int)
                        change = (seen - said)[:m]
                        added, removed = int((change == 1).sum()), int((change == -1).sum())
                        found = difference(int(said.sum()), n, total, added, removed, m)
                        held = found.low - 1e-12 <= truth.mean() <= found.high + 1e-12
                        plain = mid_p(int(said.sum()), n, total)
                        kept = plain.low - 1e-12 <= truth.mean() <= plain.high + 1e-12
                        rows.append((m, alarm, miss, f"{total} {n} {rate}", held, found.high - found.low, kept))
    frame = pd.DataFrame(rows, columns=["checked", "alarm", "miss", "cell", "held", "width", "uncorrected"])
    by_cell = frame.groupby(["checked", "alarm", "miss", "cell"])[["held", "width", "uncorrected"]].mean()
    summary = by_cell.groupby(["checked", "alarm", "miss"]).mean()
    return summary.assign(worst=by_cell.groupby(["checked", "alarm", "miss"])["held"].min())


def main():
    print("| checked | called false wrongly | called true wrongly | coverage | worst | width | uncorrected |")
    print("|---|---|---|---|---|---|---|")
    for (m, alarm, miss), one in coverage().iterrows():
        print(f"| {m} | {alarm:.0%} | {miss:.0%} | {one.held:.3f} | {one.worst:.3f} | {one.width:.3f} "
              f"| {one.uncorrected:.3f} |")  # fmt: skip


if __name__ == "__main__":
    main()
