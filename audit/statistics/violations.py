"""Violation rates of several cells together, of one system: by family of relations, and over all relations."""

from dataclasses import dataclass

import numpy as np

from audit.statistics.rollups import combine


@dataclass(frozen=True, slots=True)
class Violations:
    """VR_o and VR_g of some cells, fractions; None where not known. `groups` are satisfied or violated."""

    groups: int | None
    vr_observed: float | None
    vr_genuine: float | None
    vr_genuine_low: float | None
    vr_genuine_high: float | None
    unestimated: int
    """How many of the cells have no genuine rate yet."""


def violations(
    satisfied: np.ndarray,
    violated: np.ndarray,
    genuine: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    correlation: np.ndarray | None = None,
    reaches: np.ndarray | None = None,
) -> Violations:
    """The violation rates of cells, each weighted by its groups: VR_o = violated / groups, VR_g = 1 - SR_g.

    All arrays have one number a cell (NaN: not known): counts, SR_g and its ends. Cells without a group that is
    satisfied or violated weigh nothing. The interval is `combine`'s, so that one cell keeps its own; `correlation`
    (cells, cells) is that of the cells' SR_g, without it they are independent; `reaches` as in `combine`. VR_g is None
    while a cell that weighs has none. Source: Jiang et al. (2022), section 3.2; weights as in the rows "All" of Jin,
    Ding, Zhou (Mathematics 10(8), 1276, 2022), tables 9 to 11.

    >>> one = violations(*(np.array([x]) for x in (80, 20, 0.6, 0.5, 0.7)))
    >>> one.groups, one.vr_observed, one.vr_genuine, round(one.vr_genuine_low, 6), round(one.vr_genuine_high, 6)
    (100, 0.2, 0.4, 0.3, 0.5)
    """
    groups = np.asarray(satisfied, float) + np.asarray(violated, float)
    if np.isnan(groups).any():
        # Totals published as rates: one cell has its rates, several cannot be weighed.
        return Violations(None, None, None, None, None, int(np.isnan(genuine).sum()))
    weighs = groups > 0
    lacking = int((np.isnan(np.asarray(genuine, float)) & weighs).sum())
    total = int(groups.sum())
    if not total:
        return Violations(0, None, None, None, None, lacking)
    observed = float(np.asarray(violated, float).sum() / total)
    if lacking:
        return Violations(total, observed, None, None, None, lacking)
    rates, lows, highs = (np.asarray(one, float).tolist() for one in (genuine, low, high))
    found = combine(rates, lows, highs, groups.tolist(), correlation, None if reaches is None else reaches.tolist())
    if found is None or np.isnan(found.low):
        rate = None if found is None else 1 - found.rate
        return Violations(total, observed, rate, None, None, 0)
    # Rounding must not let VR_g fall below VR_o where nothing is false.
    return Violations(total, observed, max(1 - found.rate, observed), 1 - found.high, 1 - found.low, 0)
