"""Rates from few judgements and a cheap signal about every group (PPI++), for a finite population.

A proxy is any number that is known for every satisfied group and goes with being false: how many other systems
disagree, how little confidence the output has, a column of the user. The estimate corrects the sample's rate by how
its proxies differ from the population's. A good one makes it more precise, and one that is worth nothing does no harm.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from audit.errors import AuditError
from audit.messages import message
from audit.statistics.intervals import check_confidence, mid_p, wilson_ends
from audit.statistics.planning import effective_size

LEAST = 30
"""Smaller samples get no help from proxies: their slopes are noise there."""
FEW = 5
"""So do proxies for which fewer judged groups than this have a value other than the commonest one, on average."""
FOLDS = 10
IMAGINED = 2
"""Groups about which the proxies say nothing that count for the variance beside those judged. Where a proxy is nearly
always right, few judged groups show where it is not, and their variance alone is too small."""


@dataclass(frozen=True)
class PredictionPowered:
    """A rate with its interval, all in [0, 1], or None each where nothing was judged (`reason` says so).

    `method` goes into signatures. `weights` are the slopes by proxy (mean over folds; lambda of PPI++), `gain` the
    variance without proxies over that with them: 1.5 saves a third of the judgements. `reason` is why proxies were
    not used, empty where they were.
    """

    estimate: float | None
    low: float | None
    high: float | None
    method: str
    judged: int
    population: int
    weights: tuple[float, ...]
    gain: float
    reason: str


def prediction_powered(
    truth_of_sample: ArrayLike,
    proxy_of_sample: ArrayLike,
    proxy_of_population: ArrayLike,
    confidence: float = 0.95,
    folds: int = FOLDS,
    total: int | None = None,
) -> PredictionPowered:
    """Share of false groups in the population, from `n` judged at random and proxies of all `N`.

    With `total` groups in the population, more than have proxies, those N' that have some are a simple random sample of
    them, and the judged ones one of the N' (two phases, Cochran 1977, section 12.6): the variance is then
    (1/n - 1/N') s^2 + (1/N' - 1/N) S^2 with the residuals' s^2 and the S^2 of what was judged.

    Shapes: truth (n,) of 0 and 1 (1: false satisfaction); proxies (n,) or (n, p), and (N,) or (N, p), the sample's rows
    among the population's. The slopes (power tuning) are least squares, cross-fitted: those used in a fold come from
    the other folds, so that the residuals, and with them the interval, do not flatter. The rows are dealt into folds in
    turn; they are in random order as drawn. The estimate is mean(y - (f - mean f over the population) w); its variance
    (1 - n/N) s^2 / n with the residuals' s^2, at least 1/n, to which two imagined groups add that the proxies do not
    explain (`IMAGINED`). The interval is Wilson's at the size of a simple sample
    with that variance, which unlike the normal one stays within [0, 1] and holds at small rates.

    Below 30 judged, with proxies that vary too little (`usable`), or where proxies do not help, it is the mid-p
    interval of the sample alone, and `reason` says why. All but the last are chosen without looking at what was judged,
    and so bias nothing: falling back where few are false would take the estimate upward exactly where chance had it
    low. What is left of bias is small (docs/reference/statistics.md). Source: Angelopoulos, Duchi, Zrnic, "PPI++:
    Efficient prediction-powered inference" (2023), sections 2 and 6; cross-fitting: Zrnic, Candes, PNAS 121 (2024);
    finite population: Cochran (1977), section 7.

    Raises AuditError where lengths do not match, truth is not 0 or 1, or a proxy is not a finite number.

    >>> truth = np.tile([0, 0, 1], 40)
    >>> proxy = truth * 0.6 + np.tile([0.0, 0.2, 0.3, 0.1], 30)
    >>> result = prediction_powered(truth, proxy, np.concatenate([proxy, np.full(880, 0.35)]))
    >>> round(result.estimate, 2), result.reason, result.gain > 3
    (0.33, '', True)
    """
    y, sample, population = _checked(truth_of_sample, proxy_of_sample, proxy_of_population, confidence, folds)
    n, total = len(y), total or len(population)
    if total < len(population):
        raise AuditError(f"proxies of {len(population)} groups are more than the {total} that there are")
    use = usable(population, n)
    reason = _why_not(n, use, len(population), total)
    if not reason:
        centred = sample - population.mean(axis=0)
        scale = population.std(axis=0)
        residuals, slopes = _cross_fitted(y, centred[:, use] / scale[use], min(folds, n))
        plain = float(y.var(ddof=1))
        spread = max(float(residuals.var(ddof=1)), 1 / n)
        if spread < plain:
            spread += (plain - spread) * IMAGINED / (n + IMAGINED)
            weights = np.zeros(len(scale))
            weights[use] = slopes / scale[use]
            rate = float(np.clip(residuals.mean(), 1 / total, 1 - 1 / total))
            # Wilson's interval at the size of a simple sample with the variance (1 - n/N) spread / n, or of two phases.
            second = spread / float(effective_size(n, len(population)))
            first = plain / float(effective_size(len(population), total))
            size = rate * (1 - rate) / (first + second)
            low, high = wilson_ends(rate, size, confidence)
            return PredictionPowered(
                rate, low, high, f"PPI++ ({folds}-fold, finite population)", n, total,
                tuple(weights.tolist()), plain / float(effective_size(n, total)) / (first + second), "",
            )  # fmt: skip
        reason = message("proxy.no_help")
    if not n:
        return PredictionPowered(None, None, None, "none", 0, total, (), 1.0, reason)
    interval = mid_p(int(y.sum()), n, total, confidence=confidence)
    return PredictionPowered(
        float(y.mean()), interval.low, interval.high, interval.method, n, total, (), 1.0, reason
    )  # fmt: skip


def disagreement(labels: Mapping[str, ArrayLike], system: str) -> np.ndarray:
    """The share of the other systems whose label differs from this one's: a proxy in [0, 1], one value a group.

    `labels` has for each system its labels of the same groups, or numbers that stand for them (None or NaN: the system
    has none there, and does not vote).
    Where no other system has a label the proxy is 0.5. Raises AuditError for an unknown system or unequal lengths.

    >>> disagreement({"a": ["+", "-"], "b": ["+", "+"], "c": ["-", None]}, "a").tolist()
    [0.5, 1.0]
    """
    if system not in labels:
        raise AuditError(f"no labels of system {system!r}; there are those of {', '.join(labels)}")
    own = np.asarray(labels[system])
    others = [np.asarray(values) for name, values in labels.items() if name != system]
    if any(len(values) != len(own) for values in others):
        raise AuditError("the systems' labels have different lengths; each needs one label or None a group")
    votes, against = np.zeros((2, len(own)))
    for theirs in others:
        voting = pd.notna(theirs)
        votes += voting
        against += voting & (theirs != own)
    share: np.ndarray = np.divide(against, votes, out=np.full(len(own), 0.5), where=votes > 0)
    return share


def low_confidence(scores: ArrayLike) -> np.ndarray:
    """1 - the least score of a group's outputs: scores (groups,) or (groups, members) in [0, 1] -> (groups,).

    >>> low_confidence([[0.9, 0.75], [1.0, 1.0]]).tolist()
    [0.25, 0.0]
    """
    values = np.asarray(scores, float)
    if values.size and not ((values >= 0) & (values <= 1)).all():
        raise AuditError("a score is not a number from 0 to 1; leave out systems that give none")
    return 1 - (values if values.ndim == 1 else values.min(axis=1))


def _checked(
    truth: ArrayLike, sample: ArrayLike, population: ArrayLike, confidence: float, folds: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    y, few, many = (np.asarray(values, float) for values in (truth, sample, population))
    few, many = (values[:, None] if values.ndim == 1 else values for values in (few, many))
    if y.ndim != 1 or len(y) != len(few) or few.shape[1] != many.shape[1]:
        raise AuditError(
            f"{len(y)} judged groups, {len(few)} proxies of the sample with {few.shape[1]} columns and proxies of the "
            f"population with {many.shape[1]} do not fit; give one row a judged group and the same columns in both"
        )
    if len(y) > len(many):
        raise AuditError(f"{len(y)} judged of {len(many)} groups is impossible; allowed are 0 to {len(many)}")
    if not np.isin(y, (0, 1)).all():
        at = int(np.flatnonzero(~np.isin(y, (0, 1)))[0])
        raise AuditError(
            f"truth of judged group {at} (counted from 0) is {y[at]:g}; allowed are 1 (false) and 0 (true)"
        )
    for name, values in (("sample", few), ("population", many)):
        if not np.isfinite(values).all():
            row, column = (int(i[0]) for i in np.nonzero(~np.isfinite(values)))
            raise AuditError(f"proxy of the {name}, row {row}, column {column} (from 0) is not a finite number")
    check_confidence(confidence)
    if folds < 2:
        raise AuditError(f"{folds} folds are too few for cross-fitting; at least 2 are needed")
    return y, few, many


def usable(population: np.ndarray, n: int) -> np.ndarray:
    """Which proxies (N, p) vary enough for `n` judged groups: booleans (p,).

    Of n groups drawn at random, `FEW` or more have on average another value than the one that most groups have. Else a
    slope rests on a handful of groups, and often on none.

    >>> usable(np.column_stack([np.arange(100) < 3, np.arange(100) < 20]), 60).tolist()
    [False, True]
    """
    usual = [np.unique(column, return_counts=True)[1].max(initial=0) for column in population.T]
    return n * (1 - np.array(usual) / max(len(population), 1)) >= FEW


def _why_not(n: int, use: np.ndarray, known: int, total: int) -> str:
    if not n:
        return message("proxy.nothing_judged")
    if n == total:
        return message("proxy.all_judged")
    if n == known:
        return message("proxy.none_beyond")
    if n < LEAST:
        return message("proxy.few_judged", count=n, least=LEAST)
    if n < 10 * len(use):
        return message("proxy.few_for_proxies", groups=n, count=len(use))
    if not use.any():
        return message("proxy.usual", least=FEW, groups=n)
    return ""


def _cross_fitted(y: np.ndarray, proxies: np.ndarray, folds: int) -> tuple[np.ndarray, np.ndarray]:
    """Residuals y - f w, w of each row from the other folds, and the mean slopes. `proxies` are centred and scaled."""
    fold = np.arange(len(y)) % folds
    residuals, slopes = np.empty(len(y)), np.zeros((folds, proxies.shape[1]))
    for number in range(folds):
        inside = fold == number
        f, t = proxies[~inside], y[~inside]
        # Least squares through the means; lstsq gives the smallest slopes where columns repeat one another.
        slopes[number] = np.linalg.lstsq(f - f.mean(axis=0), t - t.mean(), rcond=None)[0]
        residuals[inside] = y[inside] - proxies[inside] @ slopes[number]
    return residuals, slopes.mean(axis=0)
