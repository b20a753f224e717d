"""Rates of several cells together: a stratified estimate whose interval knows that cells share sources."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audit.errors import AuditError


@dataclass(frozen=True, slots=True)
class Combined:
    """A weighted mean of cells' rates with its interval, all in [0, 1]."""

    rate: float
    low: float
    high: float


def combine(
    rates: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    weights: Sequence[float],
    correlation: np.ndarray | None = None,
    reaches: Sequence[float] | None = None,
) -> Combined | None:
    """The mean of the cells' rates, each with its weight, and an interval recovered from the cells' own intervals.

    `rates`, `lows`, `highs` and `weights` have one number a cell; `weights` are 0 or more (satisfied groups for R_FS,
    groups for SR_g) and a cell of weight 0 is left out whatever its rate. `correlation` (cells, cells) is that of the
    cells' estimates (`dependence.Sums.cautious`); without it cells count as independent strata. The distance from
    estimate to end is sqrt(d' C d), d the weighted distances of the cells' ends on that side: so a single cell keeps
    its interval, a cell without a false group keeps its caution, and cells judged whole add nothing.

    `reaches` are z standard errors of the cells, from unbiased variances. Where few groups are false a cell's lower
    end is near its estimate, because the rate may not be below 0; the mean of many such cells has no such bound near.
    So the distance is at least sqrt(r' C r) when there are two cells or more, r the weighted reaches. None where all
    weights are 0. Raises AuditError on arrays of different lengths and on negative weights. Source: Zou and Donner,
    Statistics in Medicine 27 (2008), with correlations as in Zou, Psychological Methods 12 (2007).

    >>> found = combine([0.2, 0.4], [0.1, 0.3], [0.3, 0.5], [100, 100])
    >>> round(found.rate, 4), round(found.low, 4), round(found.high, 4)
    (0.3, 0.2293, 0.3707)
    """
    values, below, above, share = (np.asarray(one, float) for one in (rates, lows, highs, weights))
    if not len(values) == len(below) == len(above) == len(share):
        raise AuditError("rates, ends and weights have different lengths; needed is one of each for every cell")
    if (share < 0).any():
        raise AuditError(f"a weight is {share.min():g}; a weight is 0 or more")
    used = share > 0
    if not used.any():
        return None
    share = share[used] / share[used].sum()
    together = np.eye(int(used.sum())) if correlation is None else np.asarray(correlation, float)[np.ix_(used, used)]
    rate = float(share @ values[used])
    down, up = share * (values - below)[used], share * (above - values)[used]
    several = reaches is not None and len(share) > 1
    least = share * np.asarray(reaches, float)[used] if several else np.zeros(len(share))
    # Rounding could make the root's argument negative, where negatively correlated cells cancel.
    low = rate - float(np.sqrt(max(down @ together @ down, least @ together @ least, 0.0)))
    high = rate + float(np.sqrt(max(up @ together @ up, least @ together @ least, 0.0)))
    return Combined(rate, max(low, 0.0), min(high, 1.0))
