"""Paired differences of SR_g between systems on shared groups, from judging only the groups that decide them.

A group that applies to every system compared adds (genuine for one) - (genuine for the other) to their difference.
Where all satisfy it with identical outputs, all are right or all are wrong: it adds exactly 0, judged or not. Where
nobody satisfies it, likewise. So only the others are sampled and judged, and what they show is scaled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import bdtr, ndtr, ndtri, stdtrit

from audit.errors import AuditError
from audit.statistics.confidence_sequences import CORPUS_ONLY, pair_p, pair_sequence
from audit.statistics.effective import EVENTS
from audit.statistics.intervals import Target

CENSUS = "all groups that tell them apart are judged, so the difference of this corpus is known and there is no test"
"""Why there is no p value although there is a difference."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """SR_g of system `one` minus that of `other` (columns), over the groups that apply to both.

    `low` and `high` are its interval. `p_above` and `p_below` test, one-sided, that it is not above delta and not below
    -delta; `p` is twice the smaller one, at most 1. They are None where the difference is known without error: then
    there is nothing to test. `mcnemar_p` is the exact McNemar test on the judged groups alone, None where groups were
    not judged in pairs, and where one may stop at will: it needs a number that was fixed before. `only_one` and
    `only_other` count the judged groups that are genuine for just one of them. None where nothing was judged: `reason`
    says so, and why there is no test where all of the corpus was judged.
    """

    one: int
    other: int
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_above: float | None
    p_below: float | None
    mcnemar_p: float | None
    only_one: int
    only_other: int
    judged: int
    informative: int
    groups: int
    reason: str | None = None


def informative(satisfied: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Which groups can add to a difference between systems; bool array (groups,).

    `satisfied` (groups, systems) is bool; `outputs` (groups, systems) holds codes: two systems have the same code for
    a group where all their outputs for it are the same and are wrong or right together. False where all systems
    satisfy the group with identical outputs, and where none satisfies it. Raises AuditError on different shapes.

    >>> outputs = np.array([[5, 5], [5, 6], [7, 7], [1, 2]])
    >>> informative(np.array([[1, 1], [1, 1], [1, 0], [0, 0]], bool), outputs).tolist()
    [False, True, True, False]
    """
    satisfied, outputs = np.asarray(satisfied, bool), np.asarray(outputs)
    if satisfied.shape != outputs.shape or satisfied.ndim != 2:
        raise AuditError(
            f"verdicts of shape {satisfied.shape} and outputs of shape {outputs.shape}; both must be (groups, systems)"
        )
    identical = satisfied.all(axis=1) & (outputs == outputs[:, :1]).all(axis=1)
    return ~identical & satisfied.any(axis=1)


def paired_differences(
    genuine: np.ndarray,
    decides: np.ndarray,
    target: Target = "corpus",
    confidence: float = 0.95,
    sequence: bool = False,
    cluster: np.ndarray | None = None,
    delta: float = 0.0,
) -> list[PairedDifference]:
    """The difference of SR_g for every pair of systems. P-values are of each pair by itself: see `holm`.

    `genuine` (groups, systems) is 1 where a system's satisfaction is genuine, 0 where it is false or violated, NaN
    where nobody has settled it; `decides` (groups,) is the mask of `informative`. Rows are all groups that apply to
    every system. The judged groups, informative rows without NaN, must be a simple random sample of the informative
    ones (for example the settled beginning of their random order). Difference = (informative / groups) x mean over the
    judged; its interval inverts Tango's score test, which at 0 is McNemar's, with the effective sample size
    n (N - 1) / (N - n) for the corpus; for the population the share of informative groups adds its own variance. For
    the corpus interval and p are cut to what the groups that are not judged leave possible. When all informative groups
    are judged the corpus' difference is known: the interval is a point, and nothing is left to test, so p is None.
    Groups of one `cluster` (groups,), such as a document, go together in the population: there the judged groups count
    as what they are worth (`worth_of_differences`), the share of informative groups has its variance between clusters,
    and McNemar's test, which knows of none, is None where clusters have several groups.
    `delta` is the difference up to which systems count as equal: the p-values test beyond it.

    With `sequence` interval and p hold whenever judging stops: exactly, by betting on the values of the informative
    groups in the order in which they were drawn (`confidence_sequences.pair_sequence`, `pair_p`). For the corpus only.
    Raises AuditError on different shapes, other values, and a sequence for the population. Source: Tango, Statistics in
    Medicine 17 (1998); Holm, Scandinavian Journal of Statistics 6 (1979); McNemar, Psychometrika 12 (1947); for
    sequences see `confidence_sequences`.

    >>> genuine = np.array([[1, 0], [1, 0], [0, 0], [1, 1]], float)
    >>> found = paired_differences(genuine, np.array([True, True, True, False]))[0]
    >>> found.difference, found.low, found.high, found.mcnemar_p
    (0.5, 0.5, 0.5, None)
    """
    genuine, decides = np.asarray(genuine, float), np.asarray(decides, bool)
    if genuine.ndim != 2 or decides.shape != genuine.shape[:1]:
        raise AuditError(
            f"settled groups of shape {genuine.shape} and a mask of shape {decides.shape}; "
            "needed are (groups, systems) and (groups,)"
        )
    if sequence and target == "population":
        raise AuditError(CORPUS_ONLY)
    if not np.isin(genuine[~np.isnan(genuine)], (0.0, 1.0)).all():
        raise AuditError("a settled group is 1 (genuine) or 0 (false or violated), or NaN where it is not settled")
    systems = genuine.shape[1]
    judged = genuine[decides & ~np.isnan(genuine).any(axis=1)]
    of = None if cluster is None or target == "corpus" else pd.factorize(np.asarray(cluster))[0]
    among = decides & ~np.isnan(genuine).any(axis=1)
    return [
        _difference(judged, pair, decides, target, confidence, sequence, of, among, delta)
        for pair in combinations(range(systems), 2)
    ]


def independent_difference(
    one: int,
    other: int,
    cell: tuple[float, float, float, float],
    rival: tuple[float, float, float, float],
    target: Target = "corpus",
    confidence: float = 0.95,
    delta: float = 0.0,
) -> PairedDifference:
    """SR_g of one cell minus that of another, whose samples were drawn independently.

    A cell is (groups, satisfied, judged, false). The difference is that of SR_o (1 - false / judged); its variance adds
    those of both, with one false and one true group added to each sample (Agresti and Caffo, American Statistician 54,
    2000), a finite population correction for the corpus, and SR_o's own variance for the population. Two systems that
    are wrong on the same inputs differ less by chance than independent ones: this is cautious for the population.

    >>> found = independent_difference(0, 1, (100, 90, 60, 10), (100, 90, 60, 30))
    >>> round(found.difference, 3), round(found.low, 3), round(found.high, 3), round(found.p, 5)
    (0.3, 0.209, 0.372, 0.0)
    """
    rates, centres, variance = [], [], 0.0
    for groups, satisfied, judged, false in (cell, rival):
        whole = target == "corpus" and judged == satisfied
        if not groups or (satisfied and not judged):
            nothing = (None,) * 7
            return PairedDifference(one, other, *nothing, 0, 0, 0, 0, int(groups), "one of the two has no judged group")
        observed, share = satisfied / groups, false / judged if satisfied else 0.0
        added = share if whole else (false + 1) / (judged + 2)
        rest = 1.0 if target == "population" else 1 - judged / satisfied if satisfied else 0.0
        variance += observed**2 * added * (1 - added) * rest / (judged + 2)
        if target == "population":
            variance += observed * (1 - observed) * (1 - added) ** 2 / groups
        rates.append(observed * (1 - share))
        centres.append(observed * (1 - added))
    # Plain numbers: the entries of a report are written as JSON.
    rates, centres = [float(rate) for rate in rates], [float(rate) for rate in centres]
    known, centre, error = rates[0] - rates[1], centres[0] - centres[1], float(np.sqrt(variance))
    sizes = (0, 0, int(min(cell[2], rival[2])), int(min(cell[1], rival[1])), int(min(cell[0], rival[0])))
    if not error:
        return PairedDifference(one, other, known, known, known, None, None, None, None, *sizes)
    z = float(ndtri((1 + confidence) / 2))
    above, below = float(ndtr((delta - centre) / error)), float(ndtr((delta + centre) / error))
    ends = min(known, max(-1.0, centre - z * error)), max(known, min(1.0, centre + z * error))
    return PairedDifference(one, other, known, *ends, min(1.0, 2 * min(above, below)), above, below, None, *sizes)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: each p value times the number of hypotheses still open, never falling.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, highest = [0.0] * len(p_values), 0.0
    for step, at in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[at]))
        adjusted[at] = highest
    return adjusted


def mcnemar(only_one: int, only_other: int) -> float:
    """The exact two-sided McNemar test: are groups genuine for just one system as often for one as for the other?

    >>> mcnemar(8, 1)
    0.0390625
    """
    total = only_one + only_other
    return min(1.0, 2 * float(bdtr(min(only_one, only_other), total, 0.5))) if total else 1.0


def _difference(
    judged: np.ndarray,
    pair: tuple[int, int],
    decides: np.ndarray,
    target: Target,
    confidence: float,
    sequence: bool,
    cluster: np.ndarray | None,
    among: np.ndarray,
    delta: float,
) -> PairedDifference:
    """One pair; `judged` are the outcomes of the rows `among` all groups, `cluster` is that of all groups."""
    one, other = pair
    n, population, groups = len(judged), int(decides.sum()), len(decides)
    b = int((judged[:, one] > judged[:, other]).sum())
    c = int((judged[:, one] < judged[:, other]).sum())
    counts = (b, c, n, population, groups)
    if population == 0 and groups:  # every group adds 0, and that is known without judging
        return PairedDifference(one, other, 0.0, 0.0, 0.0, None, None, None, 1.0, *counts)
    if n == 0:
        reason = "no group that tells the systems apart is settled for all" if groups else "the systems share no group"
        return PairedDifference(one, other, None, None, None, None, None, None, None, *counts, reason)
    share = population / groups
    mean = (b - c) / n
    if target == "corpus" and n == population:
        known = share * mean
        return PairedDifference(one, other, known, known, known, None, None, None, None, *counts, CENSUS)
    # Of the corpus, those that are not judged add at most 1 each to either side, whatever they are.
    least, most = ((b - c + side * (population - n)) / population for side in (-1, 1))
    if sequence:
        values = judged[:, one] - judged[:, other]
        low, high = pair_sequence(values, population, confidence)
        ends = (share * low, share * high)
        return PairedDifference(one, other, share * mean, *ends, pair_p(values, population), None, None, None, *counts)
    weight = (population - 1) / (population - n) if target == "corpus" else 1.0
    if cluster is not None:
        weight = worth_of_differences(judged[:, [one, other]], cluster[among], confidence)
    z = float(ndtri((1 + confidence) / 2))
    low, high = _tango(b * weight, c * weight, n * weight, z)
    # What the share of informative groups adds; 0 for the corpus, where that share is known.
    spread = 0.0 if target == "corpus" else z * z * share * (1 - share) * mean * mean / groups
    between = 0.0
    several = cluster is not None and int(cluster.max()) + 1 < groups
    if several and cluster is not None:
        between = _between_clusters(judged[:, one] - judged[:, other], decides, cluster, among)
        spread += z * z * between
    limits = (share * least, share * most) if target == "corpus" else (-1.0, 1.0)
    # Under the margin itself the share of informative groups is all that it varies by, and what clusters add to that.
    above, below = (
        _beyond(up * weight, down * weight, n * weight, delta / share, target == "population", share, groups, between)
        for up, down in ((b, c), (c, b))
    )
    if limits[0] > delta or limits[1] < -delta:  # whatever the groups are that are not judged
        above, below = (0.0, 1.0) if limits[0] > delta else (1.0, 0.0)
    return PairedDifference(
        one,
        other,
        share * mean,
        max(limits[0], share * mean - float(np.sqrt((share * (mean - low)) ** 2 + spread))),
        min(limits[1], share * mean + float(np.sqrt((share * (high - mean)) ** 2 + spread))),
        min(1.0, 2 * min(above, below)),
        above,
        below,
        None if several else mcnemar(b, c),
        *counts,
    )


def worth_of_differences(genuine: np.ndarray, cluster: np.ndarray, confidence: float = 0.95) -> float:
    """What share of judged groups would say as much if each were a cluster of its own; 1 where each is one.

    `genuine` (groups, systems) has outcomes without NaN, `cluster` (groups,) codes. The least over the pairs of systems
    of the variance of their mean difference if groups were independent over that between clusters, with t for few
    clusters. Where few clusters tell two systems apart, or none, groups of a cluster are taken for copies in part
    (`audit.statistics.effective`).

    >>> worth_of_differences(np.array([[1, 0], [1, 0], [0, 1], [1, 1]]), np.arange(4))
    1.0
    >>> round(worth_of_differences(np.tile([[1, 0], [0, 0]], (20, 1)).repeat(2, axis=0), np.arange(80) // 2), 2)
    0.48
    """
    n = len(genuine)
    code = pd.factorize(np.asarray(cluster))[0]
    number = int(code.max(initial=-1)) + 1
    if not n or number == n:
        return 1.0
    held = np.bincount(code)
    copies = float((held**2).sum()) / n
    least = 1.0
    for one, other in combinations(range(genuine.shape[1]), 2):
        change = (genuine[:, one] - genuine[:, other]).astype(float)
        apart = np.bincount(code, change != 0)
        plain = float(((change - change.mean()) ** 2).sum()) / n / max(n - 1, 1)
        between = float((np.bincount(code, change - change.mean()) ** 2).sum()) / n / n * number / max(number - 1, 1)
        seen = int((apart > 0).sum()) if plain > 0 and number > 1 else 0
        effect = (seen * (between / plain if seen else 0.0) + EVENTS * copies) / (seen + EVENTS)
        reach = stdtrit(n - 1, (1 + confidence) / 2) / stdtrit(number - 1, (1 + confidence) / 2) if seen else 1.0
        least = min(least, float(reach) ** 2 / effect)
    return least


def _between_clusters(change: np.ndarray, decides: np.ndarray, cluster: np.ndarray, among: np.ndarray) -> float:
    """What clusters add to the variance of share x mean beside the mean's own: the share's, and that both go together.

    At least 0: few clusters show the latter badly.
    """
    groups, n, number = len(decides), len(change), int(cluster.max()) + 1
    share, mean = decides.mean(), change.mean()
    of_share = np.bincount(cluster, decides - share, minlength=number) / groups
    of_mean = np.bincount(cluster[among], change - mean, minlength=number) / n
    varies = mean * mean * (of_share @ of_share) + 2 * mean * share * (of_share @ of_mean)
    return max(0.0, float(varies) * number / max(number - 1, 1) - share * (1 - share) * mean * mean / groups)


def _beyond(
    b: float, c: float, n: float, margin: float, varies: bool, share: float, groups: int, between: float
) -> float:
    """One-sided p of the hypothesis that the mean difference over informative groups is at most `margin`.

    `between` is what clusters add to the variance of the scaled difference.
    """
    if margin >= 1:
        return 1.0
    more = n * n * (1 - share) / share * margin**2 / groups if varies else 0.0
    return float(ndtr(-_score(b, c, n, margin, more + n * n * between / share**2)))


def _score(b: float, c: float, n: float, delta: float, more: float = 0.0) -> float:
    """Tango's statistic for the hypothesis that the difference is delta; it falls in delta. `more` adds variance."""
    linear = -b - c + (2 * n - b + c) * delta
    constrained = (np.sqrt(max(linear**2 + 8 * n * c * delta * (1 - delta), 0.0)) - linear) / (4 * n)
    variance = n * (2 * constrained + delta * (1 - delta)) + more
    distance = b - c - n * delta
    return float(distance / np.sqrt(max(variance, 1e-300))) if distance else 0.0


def _tango(b: float, c: float, n: float, z: float) -> tuple[float, float]:
    """The differences that the score test at level z does not reject; counts may be fractions."""
    mean, edge = (b - c) / n, 1 - 1e-12
    low = (
        brentq(lambda delta: _score(b, c, n, delta) - z, -edge, mean)
        if mean > -edge and _score(b, c, n, -edge) > z
        else -1.0
    )
    high = (
        brentq(lambda delta: _score(b, c, n, delta) + z, mean, edge)
        if mean < edge and _score(b, c, n, edge) < -z
        else 1.0
    )
    return float(low), float(high)
