"""Observed and genuine rates of cells (Jiang et al. 2022, section 3.2, table 2).

R_FS = false / judged, SR_o = satisfied / (satisfied + violated), SR_g = SR_o (1 - R_FS), VR_g = VR_o + SR_o R_FS.
Inapplicable groups and errors are counted beside, not in. What is not known is NaN, never an error.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, NotRequired

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from typing_extensions import TypedDict

from audit.errors import AuditError
from audit.statistics.intervals import Estimate, Target, intervals

# Bounds for a rate where some of a sample has no answer, and may never have one.

Rates = np.ndarray | tuple[np.ndarray, np.ndarray, np.ndarray]
"""(rate, low, high) of n rates, each (n,)."""
FEW = 30
"""Below so many groups both ends keep the level of a two-sided interval: one-sided mid-p ends cover 92 % of 6."""


def ends_confidence(
    least: Rates,
    most: Rates,
    size: np.ndarray,
    confidence: float = 0.95,
) -> np.ndarray:
    """The confidence of the two intervals whose outer ends, put together, hold the true rates with `confidence`; (n,).

    `least` and `most` are (rate, low, high) of n rates, each (n,): what answers leave possible at the least and at the
    most, with intervals of `confidence`. `size` (n,) is how many independent observations tell them. The true rates lie
    between `least` and `most`, nothing is assumed of where. So an interval from the lower end of the one to the upper
    end of the other may be made of one-sided ends where the bounds lie far apart (2 confidence - 1), and of two-sided
    ones where they are one (`confidence`); between, by how many standard errors apart they are, for which the longest
    distance to an end stands. Of fewer than `FEW` observations the ends are two-sided. Source: Imbens and Manski,
    Confidence intervals for partially identified parameters, Econometrica 72 (2004).

    >>> low, high = ((np.array([rate]), np.array([rate - 0.1]), np.array([rate + 0.1])) for rate in (0.1, 0.8))
    >>> ends_confidence(low, high, np.array([60.0])).round(6).tolist()
    [0.9]
    >>> ends_confidence(low, low, np.array([60.0])).round(6).tolist()
    [0.95]
    """
    two_sided = float(ndtri((1 + confidence) / 2))
    distances = [distance for rate, low, high in (least, most) for distance in (rate - low, high - rate)]
    spread = np.max(distances, axis=0) / two_sided
    apart = np.divide(most[0] - least[0], spread, out=np.zeros(len(spread)), where=spread > 0)
    apart = np.where(np.asarray(size, float) < FEW, 0.0, apart)
    return np.array([2 * ndtr(_critical(value, two_sided, confidence)) - 1 for value in apart])


def _critical(apart: float, two_sided: float, confidence: float) -> float:
    """Imbens and Manski's c: from z of a one-sided end, of bounds far apart, to that of a two-sided one."""
    first = float(ndtri(confidence))
    if not apart > 0:  # or not known
        return two_sided
    return float(brentq(lambda c: ndtr(c + apart) - ndtr(-c) - confidence, first - 1e-9, two_sided + 1e-9))


COUNTS = ("groups", "satisfied", "violated", "inapplicable", "errors", "judged", "false")
"""Columns of counts that `with_rates` expects."""
RATES = (
    "sr_observed",
    "vr_observed",
    "fs_rate",
    "fs_low",
    "fs_high",
    "sr_genuine",
    "sr_genuine_low",
    "sr_genuine_high",
    "vr_genuine",
)
"""Columns that `with_rates` adds, fractions or NaN; beside them `method`, the name of each R_FS interval, or None."""
BOUNDS = (
    "fs_least",
    "fs_most",
    "fs_bound_low",
    "fs_bound_high",
    "sr_least",
    "sr_most",
    "sr_bound_low",
    "sr_bound_high",
)
"""Columns that `with_bounds` adds: what answers leave possible of R_FS and SR_g, and the intervals of these bounds."""
REACHES = ("fs_reach", "sr_genuine_reach")
"""And z standard errors of R_FS and SR_g, for roll-ups (`audit.statistics.rates.combine`)."""
Supposed = Literal["least", "most"]
SUPPOSED: tuple[Supposed, Supposed] = ("least", "most")
"""What may be supposed of the open groups of a draw that gives bounds only: that all are true, or all false."""
WORTH = (
    "judged_worth",
    "checked_worth",
    "opposed",
    *(f"{supposed}_{name}" for supposed in SUPPOSED for name in ("worth", "opposed")),
)
"""Columns that `with_rates` may have for texts to come: what a cell's judged and checked groups are worth as
independent observations, where groups of one document go together, and how far R_FS and SR_o are opposed
(`dependence`); and for `with_bounds` the first and the last of its whole draw, with the open groups supposed."""
ESTIMATES = ("estimate", "low", "high", "method", "gain", "method_reason")
"""Columns that `with_estimates` expects."""


def with_rates(
    cells: pd.DataFrame,
    confidence: float | np.ndarray = 0.95,
    target: Target = "corpus",
) -> pd.DataFrame:
    """The cells with the columns `RATES` and `method` added; other columns, the index and the order of rows are kept.

    `judged` is a simple random sample of the cell's satisfied groups, `false` of them are false satisfactions. With the
    target `corpus` its satisfied groups are the population (finite population correction), and SR_o is known exactly,
    so the ends of SR_g are SR_o (1 - fs_high) and SR_o (1 - fs_low). With `population` the corpus is a sample itself:
    no correction, and the ends of SR_g carry SR_o's own interval too, recovered from the ends of both factors (Zou,
    Huang and Zhang, Computational Statistics and Data Analysis 53, 2009). Columns `WORTH`, where there are such, put
    effective sizes in the place of the counts. The columns `REACHES` are added, too. Counts may be NaN where
    `sr_observed` and `fs_rate` are given instead (totals published without counts); such rows get no interval.

    Nothing judged: fs_rate and SR_g are NaN. Nothing satisfied, something violated: fs_rate is NaN, but SR_g = 0, as
    there is nothing to correct. Nothing satisfied or violated: all are NaN. `confidence` is one for all cells, or one
    for each, an array. Raises AuditError on impossible counts and missing columns.

    >>> cell = dict(groups=100, satisfied=80, violated=20, inapplicable=0, errors=0, judged=80, false=40)
    >>> with_rates(pd.DataFrame([cell])).loc[0, ["sr_observed", "fs_rate", "sr_genuine"]].tolist()
    [0.8, 0.5, 0.4]
    """
    needed = ("satisfied", "violated", "judged", "false")
    if missing := [name for name in needed if name not in cells]:
        raise AuditError(f"cells lack the column(s) {', '.join(missing)}; needed are {', '.join(COUNTS)}")
    satisfied, violated, judged, false = (_numbers(cells, name) for name in needed)
    for name, values in (("satisfied", satisfied), ("violated", violated)):
        if (values < 0).any():
            raise AuditError(f"{name} is {values[values < 0][0]:g} in a cell; a count is 0 or more")

    too_many = np.flatnonzero(judged > satisfied)
    if len(too_many):
        judged_most, most = judged[too_many[0]], satisfied[too_many[0]]
        raise AuditError(
            f"{judged_most:g} judged of {most:g} satisfied groups is impossible; allowed are 0 to {most:g}"
        )

    checked = satisfied + violated
    sr_observed = _ratio(satisfied, checked, _numbers(cells, "sr_observed"))
    fs_rate = _ratio(false, judged, _numbers(cells, "fs_rate"))
    nothing = sr_observed == 0
    z = ndtri((1 + np.broadcast_to(confidence, len(cells))) / 2)
    if target == "corpus":
        fs_low, fs_high, methods = _intervals(false, judged, satisfied, confidence)
        fs_reach = _reach(fs_rate, judged, fs_low, fs_high, z, judged / np.where(satisfied > 0, satisfied, np.nan))
        correct = _genuine(sr_observed, fs_rate, fs_low, fs_high)
        reach = np.where(nothing, 0.0, sr_observed * fs_reach)
    else:
        size = _worth(cells, "judged_worth", judged)
        hits = _hits(size, judged, false, fs_rate)
        fs_low, fs_high, methods = _intervals(hits, size, None, confidence)
        fs_reach = _reach(fs_rate, size, fs_low, fs_high, z)
        size = _worth(cells, "checked_worth", checked)
        hits = _hits(size, checked, satisfied, sr_observed)
        sr_low, sr_high, _ = _intervals(hits, size, None, confidence)
        sr_reach = _reach(sr_observed, size, sr_low, sr_high, z)
        correct = _genuine(sr_observed, fs_rate, fs_low, fs_high)
        # Opposed is 0 or less: SR_g falls where SR_o falls and R_FS rises.
        together = partial(_rooted, np.nan_to_num(_numbers(cells, "opposed")))
        down = together((1 - fs_rate) * (sr_observed - sr_low), sr_observed * (fs_high - fs_rate))
        up = together((1 - fs_rate) * (sr_high - sr_observed), sr_observed * (fs_rate - fs_low))
        correct["sr_genuine_low"] = np.where(nothing, 0.0, np.maximum(correct["sr_genuine"] - down, 0.0))
        # Where nothing was satisfied here, all that may be satisfied elsewhere may be genuine.
        correct["sr_genuine_high"] = np.where(nothing, sr_high, np.minimum(correct["sr_genuine"] + up, 1.0))
        reach = np.where(nothing, sr_reach, together((1 - fs_rate) * sr_reach, sr_observed * fs_reach))
    vr_observed = _ratio(violated, checked, 1 - sr_observed)
    vr_genuine = np.where(nothing, vr_observed, vr_observed + sr_observed * fs_rate)
    added = {"sr_observed": sr_observed, "vr_observed": vr_observed, "fs_rate": fs_rate}
    added |= {"fs_low": fs_low, "fs_high": fs_high, **correct, "vr_genuine": vr_genuine}
    return cells.assign(
        **{name: added[name] for name in RATES}, method=methods, fs_reach=fs_reach, sr_genuine_reach=reach
    )


def has_bounds(cells: pd.DataFrame) -> np.ndarray:
    """Which cells of `with_rates` have a draw but no R_FS: answers leave bounds of it."""
    drawn, false, waiting = (_numbers(cells, f"drawn{name}") for name in ("", "_false", "_open"))
    counted = ~np.isnan(false + waiting) & (_numbers(cells, "satisfied") > 0)
    return np.asarray((drawn > 0) & counted & cells["fs_rate"].isna().to_numpy())


def as_if(cells: pd.DataFrame, supposed: Supposed) -> pd.DataFrame:
    """The cells of `with_rates`, with its columns to be made anew: those that have bounds as if they were judged whole.

    Columns `drawn`, `drawn_false` and `drawn_open` count the groups of the whole draw, the false ones among them and
    those that wait. Supposed is that all open ones are true (`least`), or that all are false (`most`).
    """
    bounded = has_bounds(cells)
    extra = _numbers(cells, "drawn_open") if supposed == "most" else 0.0
    changed = {
        "judged": _numbers(cells, "drawn"),
        "false": _numbers(cells, "drawn_false") + extra,
        "judged_worth": _numbers(cells, f"{supposed}_worth"),
        "opposed": _numbers(cells, f"{supposed}_opposed"),
    }
    return cells.assign(**{name: np.where(bounded, values, _numbers(cells, name)) for name, values in changed.items()})


def with_bounds(cells: pd.DataFrame, confidence: float = 0.95, target: Target = "corpus") -> pd.DataFrame:
    """The cells of `with_rates` with the columns `BOUNDS` added: NaN where R_FS is known, or nothing was drawn.

    Nothing is assumed of what the open groups of a draw are. The rates are those of `with_rates` as if all were true,
    and as if all were false (`as_if`), and so are the ends, at the level that `ends_confidence` says. For the
    population the ends know of documents as far as the columns `WORTH` do, and those of SR_g carry SR_o's own interval
    too.

    >>> cell = dict(satisfied=80, violated=20, judged=0, false=0, drawn=40, drawn_false=10, drawn_open=20)
    >>> bounded = with_bounds(with_rates(pd.DataFrame([cell]))).iloc[0]
    >>> [round(float(bounded[name]), 3) for name in ("fs_least", "fs_most", "sr_least", "sr_most")]
    [0.25, 0.75, 0.2, 0.6]
    """
    columns = {name: np.full(len(cells), np.nan) for name in BOUNDS}
    places = np.flatnonzero(has_bounds(cells))
    if len(places):
        least, most = (as_if(cells.iloc[places], supposed) for supposed in SUPPOSED)
        size = np.minimum(*(_worth(bound, "judged_worth", bound["judged"].to_numpy(float)) for bound in (least, most)))
        for names, rate, under, over in ((BOUNDS[:4], "fs", least, most), (BOUNDS[4:], "sr_genuine", most, least)):
            ends = partial(_ends, rate=rate, target=target)
            least_ends, most_ends = ends(under, confidence=confidence), ends(over, confidence=confidence)
            level = ends_confidence(least_ends, most_ends, size, confidence)
            least_ends, most_ends = ends(under, confidence=level), ends(over, confidence=level)
            for name, values in zip(names, (least_ends[0], most_ends[0], least_ends[1], most_ends[2]), strict=True):
                columns[name][places] = values
    return cells.assign(**columns)


def with_estimates(cells: pd.DataFrame, estimates: pd.DataFrame) -> pd.DataFrame:
    """The cells of `with_rates` for the target `corpus`, with R_FS estimated otherwise, such as by proxies.

    `estimates` has a row for each cell, in the same order, and the columns `ESTIMATES`: R_FS, the ends of its interval
    (NaN: not known), the method's name, the variance without proxies over that with them, and why a proxy was not
    used (None: all were). SR_g and VR_g follow from it; `method`, `gain` and `method_reason` become columns. A cell
    that has no R_FS of its own gets none: its judged groups, if there are any, are no random sample. Raises AuditError
    where rows or columns are missing.

    >>> cell = dict(satisfied=80, violated=20, judged=40, false=20)
    >>> row = dict(estimate=0.25, low=0.2, high=0.5, method="PPI++", gain=2.0, method_reason=None)
    >>> estimated = with_estimates(with_rates(pd.DataFrame([cell])), pd.DataFrame([row])).iloc[0]
    >>> round(float(estimated["sr_genuine"]), 6), float(estimated["sr_genuine_low"]), estimated["method"]
    (0.6, 0.4, 'PPI++')
    """
    missing = [name for name in ESTIMATES if name not in estimates]
    if missing or len(estimates) != len(cells):
        raise AuditError(
            f"{len(estimates)} estimates for {len(cells)} cells; each cell needs one, with {', '.join(ESTIMATES)}"
        )
    estimated = cells["fs_rate"].notna().to_numpy()
    fs_rate, fs_low, fs_high, gain = (
        np.where(estimated, _numbers(estimates, name), np.nan) for name in ("estimate", "low", "high", "gain")
    )
    fs_reach = np.sqrt((fs_rate - fs_low) * (fs_high - fs_rate))
    sr_observed, vr_observed = (_numbers(cells, name) for name in ("sr_observed", "vr_observed"))
    return cells.assign(
        fs_rate=fs_rate,
        fs_low=fs_low,
        fs_high=fs_high,
        **_genuine(sr_observed, fs_rate, fs_low, fs_high),
        vr_genuine=np.where(sr_observed == 0, vr_observed, vr_observed + sr_observed * fs_rate),
        method=np.where(estimated, estimates["method"].to_numpy(object), None),
        fs_reach=fs_reach,
        sr_genuine_reach=np.where(sr_observed == 0, 0.0, sr_observed * fs_reach),
        gain=gain,
        method_reason=pd.Series(estimates["method_reason"].to_numpy(object), cells.index, dtype=object),
    )


def _genuine(
    sr_observed: np.ndarray, fs_rate: np.ndarray, fs_low: np.ndarray, fs_high: np.ndarray
) -> dict[str, np.ndarray]:
    """SR_g and its ends where SR_o is known exactly."""
    # Where nothing is satisfied SR_g is 0 whatever R_FS would be: the product must not inherit the unknown.
    nothing = sr_observed == 0
    return {
        "sr_genuine": np.where(nothing, 0.0, sr_observed * (1 - fs_rate)),
        "sr_genuine_low": np.where(nothing, 0.0, sr_observed * (1 - fs_high)),
        "sr_genuine_high": np.where(nothing, 0.0, sr_observed * (1 - fs_low)),
    }


def _ends(
    cells: pd.DataFrame, rate: str, target: Target, confidence: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A rate of the cells with its ends: (rate, low, high)."""
    cells_with_rates = with_rates(cells, confidence, target)
    names = ("fs_rate" if rate == "fs" else rate, f"{rate}_low", f"{rate}_high")
    rates, low, high = (cells_with_rates[name].to_numpy(float) for name in names)
    return rates, low, high


def _worth(cells: pd.DataFrame, name: str, counts: np.ndarray) -> np.ndarray:
    """Effective sizes: the counts themselves where groups are worth what they are."""
    size = _numbers(cells, name)
    return np.where(np.isnan(size), counts, size)


def _hits(size: np.ndarray, counts: np.ndarray, part: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """What of effective sizes counts."""
    return np.where(size == counts, part, np.minimum(rate * size, size))


def _reach(
    rate: np.ndarray,
    size: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    z: np.ndarray,
    share: np.ndarray | float = 0.0,
) -> np.ndarray:
    """z standard errors, from the unbiased variance; of one observation the longer of the distances to the ends."""
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.minimum(z * np.sqrt(rate * (1 - rate) * (1 - share) / (size - 1)), 1.0)
        return np.asarray(np.where(size > 1, error, np.maximum(rate - low, high - rate)))


def _rooted(opposed: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Two distances put together, the second of what the rate falls with."""
    return np.asarray(np.sqrt(first * first + second * second - 2 * opposed * first * second))


def _numbers(cells: pd.DataFrame, name: str) -> np.ndarray:
    """A column as floats, NaN where it or a value is absent."""
    if name not in cells:
        return np.full(len(cells), np.nan)
    numbers: np.ndarray = pd.to_numeric(cells[name]).to_numpy(dtype=float, na_value=np.nan)
    return numbers


def _ratio(part: np.ndarray, whole: np.ndarray, default: np.ndarray) -> np.ndarray:
    """part / whole where something was counted, NaN where 0 were; the given rate where nothing was counted at all."""
    ratio = np.full(len(whole), np.nan)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return np.where(np.isnan(whole), default, ratio)


def _intervals(
    hits: np.ndarray,
    drawn: np.ndarray,
    size: np.ndarray | None,
    confidence: float | np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both ends, NaN where there is no interval, and the methods' names, None there."""
    low, high, methods = np.full(len(drawn), np.nan), np.full(len(drawn), np.nan), np.full(len(drawn), None, object)
    usable = ~np.isnan(hits) & ~np.isnan(drawn) & (drawn != 0)
    places = np.flatnonzero(usable if size is None else usable & ~np.isnan(size))
    k, n = (values[places].tolist() for values in (hits, drawn))
    population = [None] * len(places) if size is None else size[places].astype(int).tolist()
    levels = np.broadcast_to(confidence, len(drawn))[places].tolist()
    for at, ends in zip(places, intervals(k, n, population, levels), strict=True):
        low[at], high[at], methods[at] = ends.low, ends.high, ends.method
    return low, high, methods


# Totals over all cells, and how many relations have another best system.


class Overall(TypedDict):
    """Totals of a report. Counts are None where no cell has counts (totals published as rates)."""

    relations: int
    relations_compared: int
    systems: int
    cells: int
    cells_estimated: int
    cells_waiting: int
    groups: int | None
    satisfied: int | None
    violated: int | None
    inapplicable: int | None
    errors: int | None
    rejected: NotRequired[int | None]
    drawn: int | None
    judged: int | None
    false: int | None
    waiting: int | None
    waiting_distinct: bool
    best_changes_sure: int
    best_changes_open: int
    best_changes_estimated: int


def overall(cells: pd.DataFrame, relations: Sequence[Mapping[str, Any]], waiting: int | None = None) -> Overall:
    """Totals over `cells` (columns of `with_rates`, one row a cell) and over what their relations say of the best.

    Counts are sums over all cells; `cells` counts those in which something was satisfied or violated. Of `relations`,
    those of `compare_orders` with `best_changes_sure`, changes are counted apart: `best_changes_sure` where another
    system surely overtakes the one reported as best, `best_changes_open` where another one looks best, which the judged
    groups do not decide. `best_changes_estimated` counts what point estimates say: of
    systems that are equally good, most change.

    `relations_compared` counts the relations with two systems or more that are in both orders: only there an order
    can change. `waiting` is the number of distinct questions that wait; the same question may wait in many cells, so
    that the sum over cells, used where it is not given, is only an upper bound (`waiting_distinct` says which it is).

    >>> cell = dict(task="sentiment", relation="MR1.1", system="a", satisfied=80, violated=20, judged=10, false=1)
    >>> overall(pd.DataFrame([cell | dict(sr_observed=0.8, fs_rate=0.1, sr_genuine=0.72)]), [])["judged"]
    10
    """
    return {
        "relations": len(relations),
        "relations_compared": sum(
            len(set(relation["order_observed"]) & set(relation["order_genuine"])) > 1 for relation in relations
        ),
        "systems": int(cells["system"].nunique()) if len(cells) else 0,
        "cells": int(np.isfinite(_numbers(cells, "sr_observed")).sum()),
        "cells_estimated": int(np.isfinite(_numbers(cells, "sr_genuine")).sum()),
        "cells_waiting": int((_numbers(cells, "waiting") > 0).sum()),
        "groups": _total(cells, "groups"),
        "satisfied": _total(cells, "satisfied"),
        "violated": _total(cells, "violated"),
        "inapplicable": _total(cells, "inapplicable"),
        "errors": _total(cells, "errors"),
        **({"rejected": _total(cells, "rejected")} if "rejected" in cells else {}),  # type: ignore[typeddict-item]
        "drawn": _total(cells, "drawn"),
        "judged": _total(cells, "judged"),
        "false": _total(cells, "false"),
        "waiting": _total(cells, "waiting") if waiting is None else waiting,
        "waiting_distinct": waiting is not None,
        "best_changes_sure": sum(relation["best_changes_sure"] for relation in relations),
        "best_changes_open": sum(
            relation["best_changes"] and not relation["best_changes_sure"] for relation in relations
        ),
        "best_changes_estimated": sum(relation["best_changes"] for relation in relations),
    }


def _total(cells: pd.DataFrame, name: str) -> int | None:
    values = _numbers(cells, name)
    if len(values) and np.isnan(values).all():
        return None
    return int(np.nansum(values))


# Rates of several cells together: a stratified estimate whose interval knows that cells share sources.


def combine(
    rates: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    weights: Sequence[float],
    correlation: np.ndarray | None = None,
    reaches: Sequence[float] | None = None,
) -> Estimate | None:
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

    >>> mean = combine([0.2, 0.4], [0.1, 0.3], [0.3, 0.5], [100, 100])
    >>> round(mean.rate, 4), round(mean.low, 4), round(mean.high, 4)
    (0.3, 0.2293, 0.3707)
    """
    values, below, above, share = (np.asarray(numbers, float) for numbers in (rates, lows, highs, weights))
    if not len(values) == len(below) == len(above) == len(share):
        raise AuditError("rates, ends and weights have different lengths; needed is one of each for every cell")
    if (share < 0).any():
        raise AuditError(f"a weight is {share.min():g}; a weight is 0 or more")
    used = share > 0
    if not used.any():
        return None
    share = share[used] / share[used].sum()
    correlations = (
        np.eye(int(used.sum())) if correlation is None else np.asarray(correlation, float)[np.ix_(used, used)]
    )
    rate = float(share @ values[used])
    down, up = share * (values - below)[used], share * (above - values)[used]
    several = reaches is not None and len(share) > 1
    least = share * np.asarray(reaches, float)[used] if several else np.zeros(len(share))
    # Rounding could make the root's argument negative, where negatively correlated cells cancel.
    low = rate - float(np.sqrt(max(down @ correlations @ down, least @ correlations @ least, 0.0)))
    high = rate + float(np.sqrt(max(up @ correlations @ up, least @ correlations @ least, 0.0)))
    return Estimate(rate, max(low, 0.0), min(high, 1.0))
