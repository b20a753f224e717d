"""The difference of two systems over several relations at once: each relation's difference, weighed by its groups."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from audit.statistics.comparison import Common
from audit.statistics.dependence import deviations
from audit.statistics.intervals import Target
from audit.statistics.paired import PairedDifference, independent_difference, paired_differences
from audit.statistics.rollups import combine

_LEAST, _MOST = 1e-3, 8.0
"""Standard errors between which the test looks for the end of the interval."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """SR_g of one system minus that of another over the common groups of several relations, each group alike.

    `low` and `high` are its interval, `p` tests, two-sided, that it is no more than delta; None where the difference is
    known without error, or where nothing is known (`reason`). `relations` have enough judged groups, of `compared`
    under which both systems were checked; the counts are sums over them.
    """

    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    relations: int
    compared: int
    groups: int
    informative: int
    judged: int
    reason: str | None = None


def pooled_difference(
    commons: Sequence[Common],
    systems: tuple[str, str],
    target: Target = "population",
    confidence: float = 0.95,
    delta: float = 0.0,
    sequence: bool = False,
) -> Pooled:
    """The difference of two systems over all relations under which both were checked, the first minus the second.

    `commons` are the relations' common groups. A relation counts where enough is judged (`Common.short`), and weighs as
    many groups as are common: the weights are those of this corpus. The interval is put together from the relations'
    own (MOVER, `audit.statistics.rollups.combine`), with the correlations that clusters of sources show
    (`Sums.cautious`); where cells are drawn apart (the design `simple`, totals) they count as independent for the
    corpus, and as wholly dependent for the population. `p` is the level at which the interval ends at delta. Of a
    `sequence` each relation's holds with the risk divided by their number, so that all hold at every look.

    >>> genuine = np.array([[1, 0]] * 20 + [[1, 1]] * 40, float)
    >>> whole, codes = np.full(2, 60), np.arange(60)
    >>> arrays = (genuine, genuine > -1, genuine[:, 1] < 1, codes, codes)
    >>> one = Common(("a", "b"), whole, whole, whole, whole, *arrays)
    >>> found = pooled_difference([one, one], ("a", "b"))
    >>> round(found.difference, 3), found.relations, found.judged, found.p < 0.001
    (0.333, 2, 40, True)
    """
    compared = [one for one in commons if set(systems) <= set(one.systems)]
    used = [one for one in compared if one.short is None]
    if not used:
        reason = (
            "no relation has both systems with enough judged groups" if compared else "no relation has both systems"
        )
        return Pooled(None, None, None, None, 0, len(compared), 0, 0, 0, reason)
    weights = [float(one.groups.max()) for one in used]
    together = _together(used, systems, target, sequence)

    def interval(at: float) -> tuple[list[PairedDifference], tuple[float, float, float]]:
        each = at if not sequence else 1 - (1 - at) / len(used)
        parts = [_between(one, systems, target, each, delta, sequence) for one in used]
        # From [-1, 1] to [0, 1], where rates are, and back.
        ends = [(float(one.difference or 0), float(one.low or 0), float(one.high or 0)) for one in parts]
        rates, lows, highs = ([(value + 1) / 2 for value in some] for some in zip(*ends, strict=True))
        found = combine(rates, lows, highs, weights, together)
        if found is None:  # no relation has a group; `short` has said so before
            return parts, (0.0, -1.0, 1.0)
        return parts, (2 * found.rate - 1, 2 * found.low - 1, 2 * found.high - 1)

    parts, (difference, low, high) = interval(confidence)
    groups, informative, judged = (sum(sizes) for sizes in zip(*map(_sizes, parts), strict=True))
    numbers = (len(used), len(compared), groups, informative, judged)
    lacking = next((one.reason for one in parts if one.difference is None), None)
    if lacking is not None:
        return Pooled(None, None, None, None, *numbers, lacking)
    known = all(one.low == one.high for one in parts)
    p = None if known else _p(lambda at: interval(at)[1], difference, delta)
    return Pooled(difference, low, high, p, *numbers)


def _sizes(one: PairedDifference) -> tuple[int, int, int]:
    return one.groups, one.informative, one.judged


def _together(used: Sequence[Common], systems: tuple[str, str], target: Target, sequence: bool) -> np.ndarray | None:
    """How the relations' differences go together, (relations, relations); None: as independent ones."""
    drawn_apart = any(one.decides is None or one.cluster is None for one in used)
    if sequence or (drawn_apart and target == "population"):
        return np.ones((len(used), len(used)))
    if drawn_apart:
        return None
    parts = []
    for at, one in enumerate(used):
        genuine, cluster, decides = np.asarray(one.genuine), np.asarray(one.cluster), np.asarray(one.decides, bool)
        rows = decides & ~np.isnan(genuine).any(axis=1)
        first, second = (one.systems.index(name) for name in systems)
        parts.append((cluster[rows], np.full(int(rows.sum()), at), genuine[rows, first] - genuine[rows, second]))
    cluster, relation, change = (np.concatenate(some) for some in zip(*parts, strict=True))
    code = np.unique(cluster, return_inverse=True)[1]
    return deviations(code, relation, change, len(used)).cautious(range(len(used)))


def _p(interval: Callable[[float], tuple[float, float, float]], difference: float, delta: float) -> float:
    """Two-sided: the level at which the interval ends at the margin; 1 where the estimate is not beyond it."""
    if abs(difference) <= delta:
        return 1.0
    sign = 1 if difference > 0 else -1

    def beyond(z: float) -> float:
        _, low, high = interval(float(2 * ndtr(z) - 1))
        return (low if sign > 0 else -high) - delta

    if beyond(_LEAST) <= 0:
        return 1.0
    if beyond(_MOST) > 0:
        return float(2 * ndtr(-_MOST))
    return float(2 * ndtr(-brentq(beyond, _LEAST, _MOST, xtol=1e-4)))


def _between(
    one: Common, systems: tuple[str, str], target: Target, confidence: float, delta: float, sequence: bool
) -> PairedDifference:
    """The pair's difference under one relation, on what is settled for all its systems, as the report's pairs are."""
    first, second = (one.systems.index(name) for name in systems)
    if one.genuine is None or one.decides is None:
        cells = list(zip(one.groups, one.satisfied, one.judged, one.false, strict=True))
        return independent_difference(0, 1, cells[first], cells[second], target, confidence, delta)
    genuine = np.where(np.isnan(one.genuine).any(axis=1)[:, None], np.nan, one.genuine)[:, [first, second]]
    return paired_differences(genuine, one.decides, target, confidence, sequence, one.cluster, delta)[0]
