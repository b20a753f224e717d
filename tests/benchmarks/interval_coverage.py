"""Coverage and width of the mid-p interval by exact enumeration, for this corpus and for the population it came from.

python tests/benchmarks/interval_coverage.py       # prints the tables of docs/reference/statistics.md
"""

import numpy as np
from scipy.special import gammaln
from scipy.stats import binom

from audit.statistics.intervals import mid_p

DESIGNS = ((61, 60), (100, 30), (1000, 100), (1000, 990), (20000, 200))
"""(satisfied groups, judged groups)."""
HIGHEST = 0.6
"""The rates 0 to this are averaged over: the study found cells from 0 to about 60 % false."""
RATES = 601


def coverage(population, n, target="corpus"):
    """(least, mean) coverage over true rates 0..60 %, and the mean width over them, of the 95 % interval.

    For the corpus the rates are all numbers of false groups that the population can have, and the sample is drawn
    without replacement; for the population they are a grid, and the judged groups are independent.
    """
    seen = np.arange(n + 1)
    found = [mid_p(int(k), n, population if target == "corpus" else None) for k in seen]
    low, high = (np.array([getattr(each, end) for each in found]) for end in ("low", "high"))
    if target == "corpus":
        false = np.arange(round(HIGHEST * population) + 1)
        rates, chances = false / population, _hypergeometric(seen, n, false[:, None], population)
    else:
        rates = np.linspace(0, HIGHEST, RATES)
        chances = binom.pmf(seen, n, rates[:, None])
    holds = (low <= rates[:, None] + 1e-12) & (high >= rates[:, None] - 1e-12)
    covered = (chances * holds).sum(axis=1)
    return covered.min(), covered.mean(), (chances @ (high - low)).mean()


def _hypergeometric(seen, n, false, population):
    """P(X = seen); SciPy's own takes minutes at 20,000."""
    possible = (seen <= false) & (n - seen <= population - false)
    chosen, others = np.where(possible, seen, 0), np.where(possible, n - seen, 0)
    logs = _log_choose(false, chosen) + _log_choose(population - false, others) - _log_choose(population, n)
    return np.where(possible, np.exp(logs), 0.0)


def _log_choose(total, chosen):
    return gammaln(total + 1) - gammaln(chosen + 1) - gammaln(total - chosen + 1)


def table(target):
    """Least and mean coverage and mean width, as a Markdown table."""
    heads = [f"{n:,} of {population:,}" for population, n in DESIGNS]
    lines = [f"| interval | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    cells = [coverage(population, n, target) for population, n in DESIGNS]
    texts = [f"{least:.3f} {mean:.3f} width {width:.3f}" for least, mean, width in cells]
    lines.append(f"| `midp` | {' | '.join(texts)} |".replace(" 0.", " ."))
    return "\n".join(lines)


def main():
    for target in ("corpus", "population"):
        print(f"\n### Target `{target}`\n\n{table(target)}")


if __name__ == "__main__":
    main()
