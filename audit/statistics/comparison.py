"""Systems compared under one relation, each two on the same groups: rates, differences, and draws of who is best.

A relation may apply to a group for one system and not for another. Each system's own rate is then about other groups,
and the higher rate need not be the better system's. So whatever is said about two systems is about the groups that
apply to both, and orders follow from the pairs. Only what needs all systems at once (P(best), ranks) is about the
common groups: those that apply to all systems compared.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import bdtr, ndtr, ndtri, stdtrit

from audit.errors import AuditError
from audit.messages import message
from audit.statistics.intervals import (
    EVENTS,
    Estimate,
    Target,
    effective_interval,
    effective_size,
    mid_p,
)
from audit.statistics.orders import Orders, compare_orders
from audit.statistics.rates import combine

# Paired differences of SR_g between systems on shared groups, from judging only the groups that decide them.
#
# A group that applies to every system compared adds (genuine for one) - (genuine for the other) to their difference.
# Where all satisfy it with identical outputs, all are right or all are wrong: it adds exactly 0, judged or not. Where
# nobody satisfies it, likewise. So only the others are sampled and judged, and what they show is scaled.

CENSUS = message("no_order.census")
"""Why there is no p value although there is a difference."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """SR_g of system `one` minus that of `other` (columns), over the groups that apply to both.

    `low` and `high` are its interval. `p_above` and `p_below` test, one-sided, that it is not above delta and not below
    -delta; `p` is twice the smaller one, at most 1. They are None where the difference is known without error: then
    there is nothing to test. `mcnemar_p` is the exact McNemar test on the judged groups alone, None where groups were
    not judged in pairs. `only_one` and
    `only_other` count the judged groups that are genuine for just one of them. None where nothing was judged: `reason`
    says so, and why there is no test where all of the corpus was judged.
    """

    one: int
    other: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_above: float | None = None
    p_below: float | None = None
    mcnemar_p: float | None = None
    only_one: int = 0
    only_other: int = 0
    judged: int = 0
    informative: int = 0
    groups: int = 0
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
    rows: np.ndarray = ~identical & satisfied.any(axis=1)
    return rows


def paired_differences(
    genuine: np.ndarray,
    decides: np.ndarray,
    target: Target = "corpus",
    confidence: float = 0.95,
    cluster: np.ndarray | None = None,
    delta: float = 0.0,
    pairs: Iterable[tuple[int, int]] | None = None,
) -> list[PairedDifference]:
    """The difference of SR_g for every pair of systems, or for these `pairs` of columns, over the groups that are
    judged for all systems. P-values are of each pair by itself: see `holm`.

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

    Raises AuditError on different shapes and other values. Source: Tango, Statistics in Medicine 17 (1998); Holm,
    Scandinavian Journal of Statistics 6 (1979); McNemar, Psychometrika 12 (1947).

    >>> genuine = np.array([[1, 0], [1, 0], [0, 0], [1, 1]], float)
    >>> pair = paired_differences(genuine, np.array([True, True, True, False]))[0]
    >>> pair.difference, pair.low, pair.high, pair.mcnemar_p
    (0.5, 0.5, 0.5, None)
    """
    genuine, decides = np.asarray(genuine, float), np.asarray(decides, bool)
    if genuine.ndim != 2 or decides.shape != genuine.shape[:1]:
        raise AuditError(
            f"settled groups of shape {genuine.shape} and a mask of shape {decides.shape}; "
            "needed are (groups, systems) and (groups,)"
        )
    unknown = np.isnan(genuine)
    if not (unknown | (genuine == 0) | (genuine == 1)).all():
        raise AuditError("a settled group is 1 (genuine) or 0 (false or violated), or NaN where it is not settled")
    among = decides & ~unknown.any(axis=1)
    judged = genuine[among]
    code = None if cluster is None or target == "corpus" else pd.factorize(np.asarray(cluster))[0]
    return [
        _difference(judged, pair, decides, target, confidence, code, among, delta)
        for pair in (combinations(range(genuine.shape[1]), 2) if pairs is None else pairs)
    ]


def independent_difference(
    first: int,
    second: int,
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

    >>> result = independent_difference(0, 1, (100, 90, 60, 10), (100, 90, 60, 30))
    >>> round(result.difference, 3), round(result.low, 3), round(result.high, 3), round(result.p, 5)
    (0.3, 0.209, 0.372, 0.0)
    """
    rates, centres, variance = [], [], 0.0
    for groups, satisfied, judged, false in (cell, rival):
        whole = target == "corpus" and judged == satisfied
        if not groups or (satisfied and not judged):
            return PairedDifference(first, second, groups=int(groups), reason=message("no_order.one_not_judged"))
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
    estimate, centre, error = rates[0] - rates[1], centres[0] - centres[1], float(np.sqrt(variance))
    groups, satisfied, judged, _ = (int(min(counts)) for counts in zip(cell, rival, strict=True))
    pair_of = partial(PairedDifference, first, second, judged=judged, informative=satisfied, groups=groups)
    if not error:
        return pair_of(estimate, estimate, estimate)
    z = float(ndtri((1 + confidence) / 2))
    above, below = float(ndtr((delta - centre) / error)), float(ndtr((delta + centre) / error))
    ends = min(estimate, max(-1.0, centre - z * error)), max(estimate, min(1.0, centre + z * error))
    return pair_of(estimate, *ends, min(1.0, 2 * min(above, below)), above, below)


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
    cluster: np.ndarray | None,
    among: np.ndarray,
    delta: float,
) -> PairedDifference:
    """One pair; `judged` are the outcomes of the rows `among` all groups, `cluster` is that of all groups."""
    first, second = pair
    n, population, groups = len(judged), int(decides.sum()), len(decides)
    b = int((judged[:, first] > judged[:, second]).sum())
    c = int((judged[:, first] < judged[:, second]).sum())
    pair_of = partial(
        PairedDifference, first, second, only_one=b, only_other=c, judged=n, informative=population, groups=groups
    )
    if population == 0 and groups:  # every group adds 0, and that is known without judging
        return pair_of(0.0, 0.0, 0.0, mcnemar_p=1.0)
    if n == 0:
        return pair_of(reason=message("no_order.none_settled") if groups else message("no_order.none_shared"))
    share = population / groups
    mean = (b - c) / n
    if target == "corpus" and n == population:
        return pair_of(share * mean, share * mean, share * mean, reason=CENSUS)
    # Of the corpus, those that are not judged add at most 1 each to either side, whatever they are.
    least, most = ((b - c + side * (population - n)) / population for side in (-1, 1))
    weight = (population - 1) / (population - n) if target == "corpus" else 1.0
    if cluster is not None:
        weight = worth_of_differences(judged[:, [first, second]], cluster[among], confidence)
    z = float(ndtri((1 + confidence) / 2))
    low, high = _tango(b * weight, c * weight, n * weight, z)
    # What the share of informative groups adds; 0 for the corpus, where that share is known.
    spread = 0.0 if target == "corpus" else z * z * share * (1 - share) * mean * mean / groups
    between = 0.0
    several = cluster is not None and int(cluster.max()) + 1 < groups
    if several and cluster is not None:
        between = _between_clusters(judged[:, first] - judged[:, second], decides, cluster, among)
        spread += z * z * between
    limits = (share * least, share * most) if target == "corpus" else (-1.0, 1.0)
    # Under the margin itself the share of informative groups is all that it varies by, and what clusters add to that.
    above, below = (
        _beyond(up * weight, down * weight, n * weight, delta / share, target == "population", share, groups, between)
        for up, down in ((b, c), (c, b))
    )
    if limits[0] > delta or limits[1] < -delta:  # whatever the groups are that are not judged
        above, below = (0.0, 1.0) if limits[0] > delta else (1.0, 0.0)
    low = max(limits[0], share * mean - float(np.sqrt((share * (mean - low)) ** 2 + spread)))
    high = min(limits[1], share * mean + float(np.sqrt((share * (high - mean)) ** 2 + spread)))
    exact_p = None if several else mcnemar(b, c)
    return pair_of(share * mean, low, high, min(1.0, 2 * min(above, below)), above, below, exact_p)


def worth_of_differences(genuine: np.ndarray, cluster: np.ndarray, confidence: float = 0.95) -> float:
    """What share of judged groups would say as much if each were a cluster of its own; 1 where each is one.

    `genuine` (groups, systems) has outcomes without NaN, `cluster` (groups,) codes. The least over the pairs of systems
    of the variance of their mean difference if groups were independent over that between clusters, with t for few
    clusters. Where few clusters tell two systems apart, or none, groups of a cluster are taken for copies in part
    (`audit.statistics.intervals`).

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
    sizes = np.bincount(code)
    copies = float((sizes**2).sum()) / n
    least = 1.0
    for first, second in combinations(range(genuine.shape[1]), 2):
        change = (genuine[:, first] - genuine[:, second]).astype(float)
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
    variance: float = max(0.0, float(varies) * number / max(number - 1, 1) - share * (1 - share) * mean * mean / groups)
    return variance


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


# Draws of the genuine satisfaction rates of the systems of one relation: where P(best) and ranks come from.

DRAWS = 10_000
SPREAD = 0.05
"""Scale of the half-Cauchy prior of the standard deviation of R_FS between systems."""
SLOPE = 1.0
"""Standard deviation of the normal prior of what R_FS gains per unit of SR_o: accurate systems often satisfy less, so
that a prior which takes R_FS and SR_o for unrelated would let SR_o decide who is best."""
CAUTION = 2.0
"""Factor of the errors' covariance. Without it, close systems that were said to be best with a probability of .5 to .8
were best in .48 of the samples; with it the probabilities err on the side of caution."""
GRID = 0.6 * np.linspace(0.0, 1.0, 31) ** 1.5
"""Standard deviations between systems over which the posterior is summed."""


def hierarchical_draws(
    observed: np.ndarray,
    fs_rate: np.ndarray,
    covariance: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    draws: int = DRAWS,
    seed: int = 0,
) -> np.ndarray:
    """Draws of R_FS of the systems of one relation, from its posterior; float array (draws, systems).

    `observed` (systems,) is SR_o, known; `fs_rate` (systems,) estimates R_FS with errors of this `covariance`
    (systems, systems); `low` and `high` (systems,) are what the judged groups leave possible. The estimates are taken
    as normal, and R_FS of the systems as exchangeable once SR_o is allowed for: R_i = m + b (SR_o,i - mean SR_o) + e_i,
    with a flat prior of m, b normal with the standard deviation `SLOPE`, e_i normal with a standard deviation whose
    prior is half-Cauchy with the scale `SPREAD`, summed over `GRID`. Draws given one are made by conditioning
    a draw of the prior on the estimates (Matheron's rule). Where the covariance is 0 the draws are the estimates.

    Few judged groups thus pull the systems together, not to the one that looks best; how well the probabilities hold
    is in docs/reference/statistics.md. The model is on the scale of the rate: on the logit scale it held worse where
    few are false.
    Source: Gelman et al., Bayesian Data Analysis (2013), section 5.4.

    >>> rate, sure = np.array([0.2, 0.4]), np.zeros((2, 2))
    >>> hierarchical_draws(np.array([0.9, 0.9]), rate, sure, np.zeros(2), np.ones(2), draws=1).round(3).tolist()
    [[0.2, 0.4]]
    """
    rng = np.random.default_rng(seed)
    systems, covariance = len(observed), CAUTION * covariance
    centred = observed - observed.mean()
    slopes = SLOPE**2 * np.outer(centred, centred)
    # The tiny ridge keeps matrices invertible where everything was judged.
    total = covariance + slopes + (GRID**2)[:, None, None] * np.eye(systems) + 1e-12 * np.eye(systems)
    weight = np.linalg.inv(total)
    of_mean = weight.sum(axis=(1, 2))
    mean = weight.sum(axis=1) @ fs_rate / of_mean
    off = fs_rate - mean[:, None]
    likelihood = 0.5 * (np.linalg.slogdet(weight)[1] - np.log(of_mean) - np.einsum("ti,tij,tj->t", off, weight, off))
    likelihood += np.log(np.gradient(GRID) / (1 + (GRID / SPREAD) ** 2))
    chance = np.exp(likelihood - likelihood.max())
    at = rng.choice(len(GRID), draws, p=chance / chance.sum())
    prior = mean[at, None] + rng.standard_normal((draws, 1)) / np.sqrt(of_mean[at, None])
    prior = prior + GRID[at, None] * rng.standard_normal((draws, systems))
    prior += SLOPE * centred * rng.standard_normal((draws, 1))
    values, vectors = np.linalg.eigh(covariance)
    noise = rng.standard_normal((draws, systems)) @ (vectors * np.sqrt(np.clip(values, 0.0, None))).T
    gap = np.einsum("dij,dj->di", weight[at], fs_rate - prior - noise)
    of_systems: np.ndarray = np.clip(prior + (GRID**2)[at, None] * gap + gap @ slopes, low, high)
    return of_systems


ENOUGH_FOR_P_BEST = 20
"""Judged groups from which on there are P(best) and ranks, unless everything was judged. With fewer they come true less
often than they say (docs/evidence/benchmarks.md, "From how many judged groups on"); intervals and tests do not."""
PRIOR = 0.5
"""Added to a sum of squares of judged groups, so that a few that happen to be alike leave some doubt."""


@dataclass(frozen=True)
class Common:
    """The common groups of one relation; arrays are (systems,) but for two.

    `groups` are the satisfied or violated ones, `satisfied` those that each system satisfies. Where totals alone are
    known (`own`) these are each system's own groups. `judged` and `false` count the judged groups of each cell that are
    common: a random sample of its satisfied common ones, whatever the design. `genuine` (groups, systems) has 1 for a
    genuine satisfaction, 0 for a false one or a violation and NaN for what is not settled, `held` (groups, systems) who
    satisfies; `source` and `cluster` (groups,) are codes of the sources and of their documents, the same in all
    relations. `decides` (groups,), which groups can add to a difference, is there where the design draws the same
    groups for all systems: then these are what `paired_differences` takes. `pairs` has the comparison of each two
    systems that share more groups than all do.
    """

    systems: tuple[str, ...]
    groups: np.ndarray
    satisfied: np.ndarray
    judged: np.ndarray
    false: np.ndarray
    genuine: np.ndarray | None = None
    held: np.ndarray | None = None
    decides: np.ndarray | None = None
    source: np.ndarray | None = None
    cluster: np.ndarray | None = None
    own: bool = False
    pairs: Mapping[tuple[str, str], "Common"] = field(default_factory=dict)

    @classmethod
    def of_totals(cls, cells: pd.DataFrame) -> "Common | None":
        """From the counts of a relation's cells (columns system, satisfied, violated, judged, false), each system's own
        groups taken for common; None where a cell has no counts. Systems without a group are left out.

        >>> cells = pd.DataFrame(dict(system=["a", "b"], satisfied=[8, 6], violated=2, judged=4, false=[1, 0]))
        >>> Common.of_totals(cells).sr_genuine.round(3).tolist()
        [0.6, 0.75]
        """
        counts = cells[["satisfied", "violated", "judged", "false"]].to_numpy(float, na_value=np.nan)
        applies = ~(counts[:, 0] + counts[:, 1] == 0)
        satisfied, violated, judged, false = counts[applies].T
        if np.isnan(counts[applies]).any() or not applies.any():
            return None
        systems = tuple(cells["system"][applies].astype(str))
        return cls(systems, satisfied + violated, satisfied, judged, false, own=True)

    def within(self, inside: Callable[[np.ndarray], np.ndarray]) -> "Common":
        """Of the groups of some sources alone, such as a slice's: `inside` says of codes of sources whether they are.

        Where judged groups were a random sample, those among them are one of these groups, given how many there are.
        Totals, which have no groups, stay whole.
        """
        if self.genuine is None or self.held is None or self.source is None:
            return self
        rows = inside(self.source)
        genuine, held = self.genuine[rows], self.held[rows]
        known = ~np.isnan(genuine) & (held > 0)
        decides, source, cluster = (
            None if part is None else part[rows] for part in (self.decides, self.source, self.cluster)
        )
        return Common(
            self.systems,
            np.full(len(self.systems), len(genuine)),
            np.asarray(held.sum(axis=0)),
            np.asarray(known.sum(axis=0)),
            np.asarray((known & (genuine == 0)).sum(axis=0)),
            genuine,
            held,
            decides,
            source,
            cluster,
            pairs={systems: common.within(inside) for systems, common in self.pairs.items()},
        )

    def columns(self, systems: tuple[str, str]) -> tuple[int, int]:
        """The places of two systems."""
        return self.systems.index(systems[0]), self.systems.index(systems[1])

    @cached_property
    def joint(self) -> "Common":
        """The comparison over the groups that all systems share, and over no others."""
        return replace(self, pairs={}) if self.pairs else self

    def of_pair(self, one: str, other: str) -> "Common":
        """The comparison of two systems over the groups that both share, which may be those that all share."""
        return self.pairs.get((one, other)) or self.pairs.get((other, one)) or self.joint

    @property
    def most_shared(self) -> float:
        """The most groups that two systems share."""
        return float(max([self.groups.max(), *(common.groups.max() for common in self.pairs.values())]))

    @cached_property
    def sr_observed(self) -> np.ndarray:
        """SR_o of every system over the groups that are compared; NaN where there is none."""
        if self.pairs:
            return self._from_pairs("sr_observed", "sr_observed")
        with np.errstate(invalid="ignore"):
            return np.asarray(self.satisfied / self.groups, float)

    def _from_pairs(self, rate: str, level: str | None) -> np.ndarray:
        """Rates whose differences come nearest to those of each two systems over the groups that both share.

        Least squares, a pair weighed by its groups: where all share the same groups its differences add up, and these
        are the rates over them. `rate` names the property of the pairs that is compared, `level` the one from which the
        mean comes; None: it is 0. Systems that no chain of pairs joins cannot be compared: all are NaN but the longest
        chain.
        """
        rows: list[tuple[int, int, float, float, float]] = []
        for first, second in combinations(range(len(self.systems)), 2):
            part = self.of_pair(self.systems[first], self.systems[second])
            place = list(part.columns((self.systems[first], self.systems[second])))
            values = getattr(part, rate)[place]
            if not np.isnan(values).any():
                both = float(getattr(part, level)[place].sum()) if level else 0.0
                rows.append((first, second, float(part.groups[place].min()), float(values[0] - values[1]), both))
        rates = np.full(len(self.systems), np.nan)
        if not rows:
            return rates
        one, other, groups, difference, height = (np.array(column) for column in zip(*rows, strict=True))
        size = len(self.systems)
        chain = connected_components(csr_array((groups, (one, other)), shape=(size, size)), directed=False)[1]
        inside = chain == np.bincount(chain).argmax()
        design = np.eye(size)[one] - np.eye(size)[other]
        weight = np.sqrt(groups)
        fitted = np.linalg.lstsq(design * weight[:, None], difference * weight, rcond=None)[0]
        rates[inside] = fitted[inside]
        if level:
            known = inside[one] & ~np.isnan(height)
            lift = (height - fitted[one] - fitted[other])[known] / 2
            rates += np.average(lift, weights=groups[known]) if known.any() else np.nan
        return rates

    @cached_property
    def outcomes(self) -> np.ndarray | None:
        """Deciding rows of `genuine` judged for all systems, (judged, systems); None where none are drawn so."""
        if self.genuine is None or self.decides is None:
            return None
        rows: np.ndarray = self.genuine[self._settled]
        return rows

    @cached_property
    def _settled(self) -> np.ndarray:
        """Which groups decide and are judged for all systems, bool (groups,)."""
        if self.genuine is None or self.decides is None:
            return np.zeros(0, bool)
        return np.asarray(self.decides & ~unsettled(self.genuine))

    @cached_property
    def deciding(self) -> int:
        """Groups that can add to a difference."""
        return 0 if self.decides is None else int(self.decides.sum())

    @cached_property
    def sr_relative(self) -> np.ndarray:
        """SR_g of every system up to a constant that all share; NaN where nothing is judged. Only differences count."""
        if self.pairs:
            return self._from_pairs("sr_relative", None)
        if not self.groups.all():
            return np.full(len(self.systems), np.nan)
        if self.outcomes is None:
            return self._by_cells()
        if not len(self.outcomes):
            return np.zeros(len(self.systems)) if not self.deciding else np.full(len(self.systems), np.nan)
        return np.asarray(self.outcomes.mean(axis=0) * self.deciding / self.groups)

    @cached_property
    def sr_genuine(self) -> np.ndarray:
        """SR_g of every system over the groups that are compared; NaN where it is not known.

        Its differences are those of `sr_relative`: to those is added what the groups add that all systems satisfy with
        identical outputs, which is the same for all.
        """
        if self.pairs:
            return self._from_pairs("sr_relative", "sr_genuine")
        if self.outcomes is None or self.genuine is None or self.held is None or self.decides is None:
            return self._by_cells()
        alike = self.held.all(axis=1) & ~self.decides
        outcomes = self.genuine[alike, 0]
        outcomes = outcomes[~np.isnan(outcomes)]
        if alike.any() and not len(outcomes):
            return np.full(len(self.systems), np.nan)
        return self.sr_relative + (outcomes.mean() * alike.sum() / self.groups if alike.any() else 0.0)

    def rates(self, relative: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """(SR_o, SR_g) of every system. With `relative` SR_g is up to a constant, which answers may leave open."""
        return self.sr_observed, self.sr_relative if relative else self.sr_genuine

    @property
    def orders(self) -> Orders:
        """Order and best systems over the groups that are compared: what replays and disputes say of them."""
        observed, genuine = self.rates(relative=True)
        return self.orders_of(pd.DataFrame({"system": self.systems, "sr_observed": observed, "sr_genuine": genuine}))

    def orders_of(self, frame: pd.DataFrame) -> Orders:
        """`compare_orders` of these systems; nobody is best of systems that no chain of shared groups joins."""
        orders = compare_orders(frame)
        return {**orders, "best_genuine": [], "best_changes": False} if np.isnan(self.sr_observed).any() else orders

    def _by_cells(self) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = np.where(self.satisfied > 0, self.false / self.judged, 0.0)
        genuine: np.ndarray = self.sr_observed * (1 - rate)
        return genuine

    @cached_property
    def short(self) -> str | None:
        """Why nothing is said about who is better; None where two systems can be compared."""
        if (~np.isnan(self.sr_relative)).sum() >= min(2, len(self.systems)):
            return None
        if not self.most_shared:
            return message("no_order.none_shared")
        return message(f"no_order.{'none_settled' if self.decides is not None else 'one_not_judged'}")

    @property
    def judged_groups(self) -> int:
        """Judged groups that P(best) rests on: those that decide, or those of the cell that has fewest."""
        if self.outcomes is not None:
            return len(self.outcomes)
        more = self.judged < self.satisfied
        return int((self.judged[more] if more.any() else self.judged).min())

    @property
    def judged_whole(self) -> bool:
        """Whether all groups that compare systems have been judged."""
        if self.pairs:
            return False
        return bool(
            self.deciding == len(self.outcomes)
            if self.outcomes is not None
            else self.judged.sum() >= self.satisfied.sum()
        )

    @property
    def withheld(self) -> str | None:
        """Why there is no P(best) and no rank: too few judged groups, or no group that all systems share. None where
        everything there is has been judged."""
        if self.short or not self.groups.all():
            return self.short or message("no_order.not_all_share")
        if self.judged_groups >= ENOUGH_FOR_P_BEST or self.judged_whole:
            return None
        return message("no_order.not_enough", judged=self.judged_groups, least=ENOUGH_FOR_P_BEST)

    def differences(
        self,
        target: Target,
        confidence: float,
        delta: float,
        pairs: Iterable[tuple[int, int]] | None = None,
    ) -> list[PairedDifference]:
        """The difference of SR_g for each two systems, or for these `pairs` of places, by paired groups where the
        design draws them, else by cells."""
        if self.pairs:
            found = []
            for first, second in combinations(range(len(self.systems)), 2) if pairs is None else pairs:
                part = self.of_pair(self.systems[first], self.systems[second])
                place = part.columns((self.systems[first], self.systems[second]))
                result = part.differences(target, confidence, delta, [place])
                found += [replace(one, one=first, other=second) for one in result]
            return found
        if self.genuine is not None and self.decides is not None:
            return paired_differences(self.genuine, self.decides, target, confidence, self.cluster, delta, pairs)
        if pairs is None:
            pairs = combinations(range(len(self.systems)), 2)
        cells = list(zip(self.groups, self.satisfied, self.judged, self.false, strict=True))
        return [
            independent_difference(first, second, cells[first], cells[second], target, confidence, delta)
            for first, second in pairs
        ]

    def draws(self, target: Target, draws: int = DRAWS, seed: int = 0) -> np.ndarray | None:
        """Draws of SR_g, up to a constant that all systems share, as of `weighted_draws`; None where `withheld`."""
        return None if self.withheld else weighted_draws([self], [1.0], self.systems, target, draws, seed)

    def _errors(self, target: Target) -> "_Errors":
        """What is known of SR_o and R_FS, and how far off it may be.

        R_FS is over the deciding groups where groups are judged for all systems at once, with errors that go together
        as the judged groups have it, else over each cell with independent errors. For the population the common groups
        are a sample too, and SR_o has the covariance of the satisfactions.
        """
        population = target == "population"
        held = None if self.held is None else self.held.astype(float)
        if self.outcomes is not None and held is not None and self.decides is not None:
            rows = self._settled
            judged, whole = held[rows].sum(axis=0), held[self.decides].sum(axis=0)
            false = judged - self.outcomes.sum(axis=0)
            share = false / np.maximum(judged, 1)
            off = held[rows] - self.outcomes - share * held[rows]
            squares = off.T @ off + PRIOR * np.eye(len(share))
            observed = whole / self.groups
            spread = np.cov(held, rowvar=False) / len(held) if len(held) > 1 else np.zeros_like(squares)
            if population and self.cluster is not None:
                # Groups of one document say less than as many of documents of their own.
                worth = worth_of_differences(self.outcomes, self.cluster[rows])
                squares, spread = squares / worth, spread / worth
        else:
            judged, false, whole = self.judged, self.false, self.satisfied
            share = false / np.maximum(judged, 1)
            squares = np.diag(judged * share * (1 - share) + PRIOR)
            observed = self.joint.sr_observed
            spread = np.diag(observed * (1 - observed) / self.groups)
            rows, off = np.zeros(0, bool), np.zeros((0, len(share)))
            if self.genuine is not None and held is not None:
                rows = (self.held & ~np.isnan(self.genuine)).any(axis=1)
                off = np.where(held[rows] > 0, np.nan_to_num(1 - self.genuine[rows] - share), 0.0)
        rest = np.ones(len(share)) if population else np.sqrt(np.clip(1 - judged / np.maximum(whole, 1), 0.0, 1.0))
        # Nothing judged of what a system satisfies: any rate from 0 to 1 is as good as another.
        covariance = squares * np.outer(rest, rest) / np.outer(np.maximum(judged, 1), np.maximum(judged, 1))
        low, high = np.zeros(len(share)), np.ones(len(share))
        if not population:
            low, high = false / np.maximum(whole, 1), 1 - (judged - false) / np.maximum(whole, 1)
        cluster = self.cluster if population else self.source
        return _Errors(
            observed,
            share,
            covariance,
            spread,
            low,
            high,
            cluster,
            None if cluster is None else cluster[rows],
            off * rest / np.maximum(judged, 1),
            None if held is None or not population else (held - held.mean(axis=0)) / max(len(held), 1),
        )


def unsettled(genuine: np.ndarray) -> np.ndarray:
    """Which rows of `Common.genuine` have a NaN, bool (groups,). There are 10^5 and more, so it is a product.

    >>> unsettled(np.array([[1.0, 0.0], [1.0, np.nan]])).tolist()
    [False, True]
    """
    return np.isnan(genuine @ np.ones(genuine.shape[1]))


@dataclass(frozen=True)
class _Errors:
    """SR_o and R_FS of the systems of one relation (systems,), and their errors' covariances (systems, systems).

    `low` and `high` (systems,) are what the judged groups leave possible of R_FS. `off_share` (judged, systems) and
    `off_observed` (groups, systems) are what each group adds to the errors, `judged` and `cluster` their codes of
    sources or documents; None where nobody knows them.
    """

    observed: np.ndarray
    share: np.ndarray
    covariance: np.ndarray
    spread: np.ndarray
    low: np.ndarray
    high: np.ndarray
    cluster: np.ndarray | None
    judged: np.ndarray | None
    off_share: np.ndarray
    off_observed: np.ndarray | None

    def of(self, at: Sequence[int]) -> "_Errors":
        """The errors of the systems at these places alone."""
        both, place = np.ix_(at, at), list(at)
        return _Errors(
            self.observed[place],
            self.share[place],
            self.covariance[both],
            self.spread[both],
            self.low[place],
            self.high[place],
            self.cluster,
            self.judged,
            self.off_share[:, place],
            None if self.off_observed is None else self.off_observed[:, place],
        )


def weighted_draws(
    commons: Sequence[Common],
    weights: Sequence[float],
    systems: Sequence[str],
    target: Target,
    draws: int = DRAWS,
    seed: int = 0,
) -> np.ndarray | None:
    """Draws of the weighted mean of SR_g over relations, up to a constant all systems share; float array (draws,
    systems).

    `systems` are those compared, each of which every one of `commons` has; `weights` (above 0) sum to 1. R_FS over all
    relations is drawn by `hierarchical_draws`. The errors of relations go together where these share sources, of the
    population where they share documents: by the sums over clusters of what each group adds (linearisation, as
    `audit.statistics.comparison`), all relations at once. None where not all systems share groups, and where several
    relations have groups whose sources nobody knows.
    """
    if any(common.short or not common.groups.all() for common in commons):
        return None
    if len(commons) > 1 and any(common.source is None for common in commons):
        return None
    relations = [common._errors(target).of([common.systems.index(system) for system in systems]) for common in commons]
    weight = np.asarray(weights, float)[:, None]
    scores = weight * np.array([errors.observed for errors in relations])
    observed = scores.sum(axis=0)
    if not observed.any():
        return np.zeros((draws, len(systems)))
    # What each relation counts for in a system's R_FS over all of them.
    parts = np.where(observed > 0, np.divide(scores, observed, out=np.zeros_like(scores), where=observed > 0), weight)
    share = (parts * [errors.share for errors in relations]).sum(axis=0)
    low, high = ((parts * [getattr(errors, name) for errors in relations]).sum(axis=0) for name in ("low", "high"))
    remaining = np.divide(
        [1 - errors.share for errors in relations],
        1 - share,
        out=np.ones_like(parts),
        where=(1 - share > 0) & (observed > 0),
    )
    factors = weight * remaining
    covariance = sum(np.outer(part, part) * errors.covariance for part, errors in zip(parts, relations, strict=True))
    spread = sum(np.outer(part, part) * errors.spread for part, errors in zip(factors, relations, strict=True))
    if len(relations) > 1:
        covariance, spread = _with_shared_clusters(relations, parts, factors, observed, share, covariance, spread)
    rates = hierarchical_draws(observed, share, covariance, low, high, draws, seed)
    if target == "population":
        values, vectors = np.linalg.eigh(np.atleast_2d(spread))
        noise = np.random.default_rng(seed + 1).standard_normal(rates.shape)
        observed = np.clip(observed + noise @ (vectors * np.sqrt(np.clip(values, 0.0, None))).T, 0.0, 1.0)
    return np.asarray(observed * (1 - rates))


def _with_shared_clusters(
    relations: Sequence[_Errors],
    parts: np.ndarray,
    factors: np.ndarray,
    observed: np.ndarray,
    share: np.ndarray,
    covariance: np.ndarray,
    spread: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The covariances of R_FS and of SR_o over all relations, with what relations have in common added to each one's
    own."""
    all_codes = [code for errors in relations for code in (errors.judged, errors.cluster) if code is not None]
    codes = pd.factorize(np.concatenate(all_codes))[0]
    codes_of = iter(np.split(codes, np.cumsum([len(code) for code in all_codes])[:-1]))
    number = int(codes.max(initial=-1)) + 1
    of_share, of_observed = (np.zeros((number, len(observed))) for _ in range(2))
    own = [np.zeros_like(covariance) for _ in range(3)]
    for errors, part, factor in zip(relations, parts, factors, strict=True):
        sums = []
        for off, weight in ((errors.off_share, part), (errors.off_observed, factor)):
            total, code = np.zeros_like(of_share), next(codes_of)
            if off is not None:
                np.add.at(total, code, off * weight)
            sums.append(total)
        of_share, of_observed = of_share + sums[0], of_observed + sums[1]
        for at, (a, b) in enumerate(((0, 0), (1, 1), (0, 1))):
            own[at] += sums[a].T @ sums[b]
    covariance = covariance + of_share.T @ of_share - own[0]
    # Sources that are hard under one relation are violated more often under another: SR_o and R_FS go together, too.
    turned = np.divide(observed, 1 - share, out=np.zeros_like(observed), where=share < 1)[:, None]
    both = turned * (of_share.T @ of_observed - own[2])
    spread = spread + of_observed.T @ of_observed - own[1] - both - both.T
    values, vectors = np.linalg.eigh(covariance)  # a covariance, whatever few clusters happen to show
    return (vectors * np.clip(values, 0.0, None)) @ vectors.T, spread


# The difference estimator: R_FS as the protocol found it, corrected by what a checked subset shows of its errors.


@dataclass(frozen=True, slots=True)
class TwoPhase(Estimate):
    """R_FS with the protocol's bias taken out; `bias` is what was taken out."""

    bias: float
    """Mean of (protocol - checked) over the checked groups: above 0, the protocol calls too many groups false."""
    checked: int


def difference(
    k: int,
    n: int,
    population: int | None,
    added: int,
    removed: int,
    checked: int,
    *,
    confidence: float = 0.95,
    worth: float | None = None,
) -> TwoPhase:
    """R_FS of a cell in which the protocol calls k of n judged groups false, and `checked` of the n were checked.

    Checking made `added` groups false that the protocol calls true, and `removed` the other way round. The estimate is
    k / n + (added - removed) / checked, unbiased whatever errors the protocol makes, as the n groups are a simple
    random sample of the `population` and the checked ones a simple random sample of the n (two-phase sampling). It is
    then cut to 0..1, which takes it upward on average where the truth is near 0, and downward near 1: by .015 where
    nothing is false and the protocol calls one group in ten so.
    Its variance has two parts (Cochran, Sampling Techniques 1977, chapter 12, double sampling with a coefficient fixed
    at 1; Särndal, Swensson and Wretman, Model Assisted Survey Sampling 1992, chapter 9):

        (1 / n - 1 / N) S^2(checked answer) + (1 / m - 1 / n) S^2(checked - protocol).

    A variance estimated from few differences is often 0, and an interval made from it a lie. So each part has an
    interval of its own and they are put together by their squared distances (MOVER: Zou and Donner, Statistics in
    Medicine 27, 2008): `mid_p` at the corrected rate of n from N, and for the difference of the two kinds of errors
    the intervals of `added` and `removed` of m from n, with their multinomial correlation. No differences among few
    checked groups leave the second part wide; all groups checked leave it 0, and the first is then the interval of the
    corrected counts. For texts to come (`population` None) that come in documents, `worth` is what the n groups are as
    independent ones; the second part is about these n alone. Raises AuditError on impossible counts.

    >>> corrected = difference(18, 60, 400, added=1, removed=4, checked=30)
    >>> round(corrected.rate, 3), round(corrected.low, 3), round(corrected.high, 3), round(corrected.bias, 3)
    (0.2, 0.07, 0.352, 0.1)
    """
    if not 0 < checked <= n:
        raise AuditError(f"{checked} checked of {n} judged groups is impossible; allowed are 1 to {n}")
    if not 0 <= k <= n or not 0 <= added <= min(n - k, checked) or not 0 <= removed <= min(k, checked - added):
        raise AuditError(
            f"{added} groups added and {removed} removed by {checked} checks of {n} judged groups with {k} false is "
            f"impossible; allowed are 0 to {n - k} added, 0 to {k} removed, together at most {checked}"
        )
    rate = _cut(k / n + (added - removed) / checked)
    whole = round(rate * n)
    hits, size = (whole, n) if worth is None or worth >= n else (whole / n * worth, worth)
    first = mid_p(hits, size, population, confidence=confidence)
    more, less = (mid_p(count, checked, n, confidence=confidence) for count in (added, removed))
    # No more can be added than the protocol calls true, none removed that it does not call false.
    up, down = min(more.high, (n - k) / n), min(less.high, k / n)
    gain, loss = added / checked, removed / checked
    chance = (1 - gain) * (1 - loss)
    correlation = -math.sqrt(min(gain * loss / chance, 1.0)) if chance > 0 else 0.0
    below, above = _distances((gain, more.low, up), (loss, less.low, down), correlation)
    low = rate - math.hypot(whole / n - first.low, below)
    high = rate + math.hypot(first.high - whole / n, above)
    return TwoPhase(rate, _cut(low), _cut(high), (removed - added) / checked, checked)


def difference_of_cells(
    rate: float,
    low: float,
    high: float,
    weight: np.ndarray,
    change: np.ndarray,
    source: np.ndarray,
    *,
    confidence: float = 0.95,
) -> TwoPhase:
    """R_FS over several cells, corrected by the groups that were checked in them.

    `rate`, `low` and `high` are the protocol's stratified rate and its interval. For each checked group `change` is the
    checked answer minus the protocol's (-1, 0 or 1), `source` a code, and `weight` the cell's share of all satisfied
    groups over the number of groups checked in it; weights add up to 1. One answer settles groups of many cells, so
    that groups of a source change together: the shares of groups added and removed have the exact interval at the
    effective size of a sample of sources (`effective_size`), and the correlation of these shares over sources. The
    parts are put together as in `difference`. Raises AuditError on arrays of different lengths, without checked groups,
    and on weights that do not add up to 1.

    >>> change = np.r_[-1, -1, np.zeros(38)]
    >>> corrected = difference_of_cells(0.3, 0.25, 0.35, np.full(40, 1 / 40), change, np.arange(40))
    >>> round(corrected.rate, 3), round(corrected.low, 3), round(corrected.high, 3)
    (0.25, 0.121, 0.36)
    """
    weight, change = np.asarray(weight, float), np.asarray(change, float)
    if not len(weight) == len(change) == len(source) or not len(weight):
        raise AuditError("weights, changes and sources must be given for each of one or more checked groups")
    if (weight < 0).any() or abs(weight.sum() - 1) > 1e-6:
        raise AuditError(f"the weights add up to {weight.sum():g}; they are 0 or more and must add up to 1")
    kinds = [np.asarray(change == sign, float) for sign in (1, -1)]
    added, removed = (min(float(weight @ kind), 1.0) for kind in kinds)
    more, less = (
        effective_interval(share, effective_size(source, kind, confidence, weight), confidence)
        for share, kind in zip((added, removed), kinds, strict=True)
    )
    up, down = min(more.high, max(1 - rate, added)), min(less.high, max(rate, removed))
    correlation = _correlation(source, weight, *kinds)
    below, above = _distances((added, more.low, up), (removed, less.low, down), correlation)
    estimate = _cut(rate + added - removed)
    ends = estimate - math.hypot(rate - low, below), estimate + math.hypot(high - rate, above)
    return TwoPhase(estimate, _cut(ends[0]), _cut(ends[1]), removed - added, len(weight))


def _distances(
    more: tuple[float, float, float], less: tuple[float, float, float], correlation: float
) -> tuple[float, float]:
    """Distances from the difference of two shares (share, low, high), correlated by `correlation`, to its ends."""
    down, up = (more[0] - more[1], less[2] - less[0]), (more[2] - more[0], less[0] - less[1])
    below, above = (math.sqrt(max(a * a + b * b - 2 * correlation * a * b, 0.0)) for a, b in (down, up))
    return below, above


def _correlation(source: np.ndarray, weight: np.ndarray, *kinds: np.ndarray) -> float:
    """Correlation between the sources' totals of two kinds of groups, each less its share of the source's weight."""
    _, code = np.unique(np.asarray(source), return_inverse=True)
    weight_of_source = np.bincount(code, weights=weight)
    first, second = (
        np.bincount(code, weights=weight * kind) - float(weight @ kind) * weight_of_source for kind in kinds
    )
    spread = math.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / spread if spread > 1e-15 else 0.0


def _cut(rate: float) -> float:
    return min(max(rate, 0.0), 1.0)


# How the rates of cells vary together, because one source, or one document, has groups in several cells.
#
# One hard sentence is wrong for several systems under several relations, and the sentences of a document are alike. So
# everything here is a sum over clusters: of the deviations of a cluster's groups from their cells' means. That is
# what a cluster bootstrap tends to, without its draws (linearisation).

CHUNK = 2_000_000
"""Numbers (clusters x cells) that are worked on at once."""
EVENTS_OF_ALL = 2.0
"""Common events per cell that are taken to be seen before anything is, in the correlation of all pairs of cells."""
EVENTS_OF_TWO = 4.0
"""And in that of two cells, as correlated as all pairs are. Both by simulation (docs/evidence/benchmarks.md)."""


@dataclass(frozen=True)
class Sums:
    """Sums over clusters, for some cells; `influence` and `size` below are (clusters, cells).

    `observations` and `clusters` (cells,) count a cell's groups and the clusters that have one, `events` (cells,) the
    clusters with a group of the rarer kind, false or true. `means` (cells,) are NaN without a group. `products` =
    influence' influence, `met` = (influence^2)' [size > 0]: the squared influences of one cell's groups in the clusters
    that the other meets, `overlap` = size' size. All are (cells, cells).
    """

    observations: np.ndarray
    clusters: np.ndarray
    events: np.ndarray
    means: np.ndarray
    products: np.ndarray
    met: np.ndarray
    overlap: np.ndarray

    def correlations(self) -> np.ndarray:
        """What the groups show of the correlations of the cells' means; (cells, cells), the diagonal 1.

        A cell without variation (nothing false, everything judged false) correlates with nothing: 0.

        >>> value = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
        >>> deviations(np.tile([0, 1, 2], 2), np.repeat([0, 1], 3), value, 3).correlations().round(6).tolist()
        [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        spread = np.sqrt(np.diag(self.products))
        unit = np.divide(1.0, spread, out=np.zeros(len(spread)), where=spread > 1e-9)
        result = np.clip(self.products * np.outer(unit, unit), -1.0, 1.0)
        np.fill_diagonal(result, 1.0)
        return np.asarray(result)

    def cautious(self, places: Sequence[int]) -> np.ndarray:
        """Correlations of these cells' means for an interval of their sum; (places, places), the diagonal 1.

        Few false groups show little of how cells go together: of two cells that saw the same clean sources
        `correlations` is 0, although they say the same thing once. So the clusters that two cells share are taken to be
        false together until groups show otherwise. r is the correlation within shared clusters over all pairs, with
        `EVENTS_OF_ALL` events a cell that are wholly common beside those that were seen; each pair's own covariance has
        `EVENTS_OF_TWO` events of the correlation r times the share of their clusters that they have in common. Where
        much is false the result is `correlations`, cells that share no cluster are independent, and clusters that are
        known to be unlike each other give less than the bound. Sums need it, differences do not: there it would not be
        cautious.

        >>> clean = deviations(np.tile(np.arange(60), 2), np.repeat([0, 1], 60), np.zeros(120), 2)
        >>> float(clean.correlations()[0, 1]), round(float(clean.cautious([0, 1])[0, 1]), 6)
        (0.0, 1.0)
        """
        pick = np.ix_(list(places), list(places))
        products, met, overlap = self.products[pick], self.met[pick], self.overlap[pick]
        other = ~np.eye(len(products), dtype=bool)
        own = np.sqrt(np.diag(overlap))
        scale = np.divide(1.0, own, out=np.zeros(len(own)), where=own > 0)
        share = np.clip(overlap * np.outer(scale, scale), 0.0, 1.0)
        before = EVENTS_OF_ALL * len(products)
        common = max(float(products[other].sum()), 0.0) + before
        within = common / max(float(np.sqrt(met * met.T)[other].sum()) + before, common)
        events = np.sqrt(np.diag(products) + EVENTS_OF_TWO)
        result = (products + EVENTS_OF_TWO * within * share) / np.outer(events, events)
        np.fill_diagonal(result, 1.0)
        return np.asarray(result)

    def worth(self, confidence: float = 0.95) -> np.ndarray:
        """How many independent observations the groups of each cell are worth; (cells,), at most as many as there are.

        The variance between clusters against that of independent groups, times (t(n - 1) / t(clusters - 1))^2, since
        few clusters tell the variance badly. Where few clusters have a false group, or a true one, it is told worse
        still, and too small where the estimate is too small: `EVENTS` clusters whose groups are copies of
        each other are mixed in (Kish, Survey Sampling 1965), which are all there is where nothing varies. One group a
        cluster is worth one observation, exactly. Source: Korn and Graubard, Survey Methodology 24 (1998).

        >>> value = np.repeat([1.0, 0.0, 0.0, 1.0], 5)
        >>> own, same = np.arange(20), np.repeat(np.arange(4), 5)
        >>> [round(float(deviations(cluster, own * 0, value, 1).worth()[0]), 2) for cluster in (own, same)]
        [20.0, 1.43]
        """
        n, g, p = self.observations, self.clusters, self.means
        copied = EVENTS / (EVENTS + self.events)
        with np.errstate(divide="ignore", invalid="ignore"):
            copies = np.diag(self.overlap) / n
            seen = np.diag(self.products) * (n - 1) * g / ((g - 1) * n * n * p * (1 - p))
            effect = np.where((self.events > 0) & (g > 1), (1 - copied) * seen + copied * copies, copies)
            reach = stdtrit(np.maximum(n - 1, 1), (1 + confidence) / 2) / stdtrit(
                np.maximum(g - 1, 1), (1 + confidence) / 2
            )
            effective = n / effect * np.where(self.events > 0, reach, 1.0) ** 2
        return np.asarray(np.where(g == n, n, np.minimum(effective, n)))


def deviations(cluster: np.ndarray, cell: np.ndarray, value: np.ndarray, cells: int) -> Sums:
    """The sums of groups whose influence is the deviation of `value` from the cell's mean.

    `cluster` and `cell` are integer codes from 0, one a group, `value` a number per group, such as 1 for a false
    satisfaction. Raises AuditError on arrays of different lengths or codes out of range. Source: Binder, International
    Statistical Review 51 (1983); Davison and Hinkley, Bootstrap Methods and their Application (1997), section 2.7.

    >>> sums = deviations(np.array([0, 0, 1, 2]), np.array([0, 1, 0, 0]), np.array([1, 0, 1, 1]), 2)
    >>> sums.means.tolist(), sums.observations.tolist(), sums.clusters.tolist()
    ([1.0, 0.0], [3.0, 1.0], [3.0, 1.0])
    """
    size, total = _tables(cluster, cell, value, cells)
    means = _means(size, total)
    kinds = (np.bincount(table.indices[table.data > 0], minlength=cells) for table in (total, csr_array(size - total)))
    return _sums(np.minimum(*kinds), total - size * np.nan_to_num(means)[None, :], size, means)


def of_products(
    judged: tuple[np.ndarray, np.ndarray, np.ndarray], checked: tuple[np.ndarray, np.ndarray, np.ndarray], cells: int
) -> Sums:
    """The sums of SR_g = SR_o (1 - R_FS) where both are estimated: cells of texts to come.

    `judged` is (cluster, cell, false), `checked` (cluster, cell, satisfied), with the same codes of clusters. The
    influence is in false groups: that of R_FS less (1 - R_FS) judged / (SR_o groups) times that of SR_o. `size` is that
    of the judged groups, of cells without one that of the checked groups.

    >>> judged = (np.array([0, 1]), np.array([0, 0]), np.array([1, 0]))
    >>> of_products(judged, (np.arange(4), np.zeros(4, int), np.array([1, 1, 0, 0])), 1).means.tolist()
    [0.25]
    """
    clusters = 1 + max((int(codes.max(initial=-1)) for codes, _, _ in (judged, checked)), default=-1)
    size, total = _tables(*judged, cells, clusters)
    groups, right = _tables(*checked, cells, clusters)
    rate, observed = _means(size, total), _means(groups, right)
    n, m = (np.asarray(table.sum(axis=0)).ravel() for table in (size, groups))
    weight = np.divide((1 - np.nan_to_num(rate)) * n, observed * m, out=np.zeros(cells), where=(n > 0) & (observed > 0))
    weight = np.where(n > 0, weight, 1.0)
    false = total - size * np.nan_to_num(rate)[None, :]
    satisfied = right - groups * np.nan_to_num(observed)[None, :]
    seen = size + groups * np.where(n > 0, 0.0, 1.0)[None, :]
    return _sums(np.zeros(cells), false - satisfied * weight[None, :], seen, observed * (1 - rate))


def opposed(
    judged: tuple[np.ndarray, np.ndarray, np.ndarray], checked: tuple[np.ndarray, np.ndarray, np.ndarray], cells: int
) -> np.ndarray:
    """How far the estimates of R_FS and of SR_o of a cell go in opposite directions from cluster to cluster; (cells,).

    Their correlation, 0 where it is positive: only what widens the interval of SR_g counts, few clusters show little.
    With one group a cluster it is 0, as all judged groups are satisfied. Arguments as in `of_products`.

    >>> judged = (np.array([0, 1]), np.array([0, 0]), np.array([1, 0]))
    >>> opposed(judged, (np.arange(4), np.zeros(4, int), np.array([1, 1, 0, 0])), 1).tolist()
    [0.0]
    """
    parts = []
    clusters = 1 + max((int(codes.max(initial=-1)) for codes, _, _ in (judged, checked)), default=-1)
    for groups in (judged, checked):
        size, total = _tables(*groups, cells, clusters)
        parts.append(csr_array(total - size * np.nan_to_num(_means(size, total))[None, :]))
    products, first, second = (
        np.asarray((first_part * second_part).sum(axis=0), float).ravel()
        for first_part, second_part in (parts, parts[:1] * 2, parts[1:] * 2)
    )
    root = np.sqrt(first * second)
    correlation = np.divide(products, root, out=np.zeros(cells), where=root > 1e-9)
    return np.asarray(np.where(correlation < -1e-9, np.maximum(correlation, -1.0), 0.0))


def _tables(
    cluster: np.ndarray, cell: np.ndarray, value: np.ndarray, cells: int, clusters: int | None = None
) -> tuple[csr_array, csr_array]:
    """Sparse (clusters, cells): how many groups, and the sum of their values."""
    cluster, cell, value = np.asarray(cluster), np.asarray(cell), np.asarray(value, float)
    if not len(cluster) == len(cell) == len(value):
        raise AuditError(
            f"{len(cluster)} clusters, {len(cell)} cells and {len(value)} values; needed is one of each for every group"
        )
    if len(cell) and not (cell.min() >= 0 and cell.max() < cells and cluster.min() >= 0):
        raise AuditError(f"codes must lie between 0 and {cells - 1} for cells, and be 0 or more for clusters")
    shape = (1 + int(cluster.max(initial=-1)) if clusters is None else clusters, cells)
    return (
        csr_array((np.ones(len(cell)), (cluster, cell)), shape=shape),
        csr_array((value, (cluster, cell)), shape=shape),
    )


def _means(size: csr_array, total: csr_array) -> np.ndarray:
    counts = np.asarray(size.sum(axis=0), float).ravel()
    means = np.full(len(counts), np.nan)
    filled: np.ndarray = np.divide(np.asarray(total.sum(axis=0), float).ravel(), counts, out=means, where=counts > 0)
    return filled


def _sums(events: np.ndarray, influence: csr_array, size: csr_array, means: np.ndarray) -> Sums:
    influence, size = csr_array(influence), csr_array(size)
    clusters, cells = size.shape
    products, met, overlap = (np.zeros((cells, cells)) for _ in range(3))
    present = np.zeros(cells)
    rows = max(1, CHUNK // max(cells, 1))
    for start in range(0, clusters, rows):
        influences, sizes = (table[start : start + rows].toarray() for table in (influence, size))
        present_here = (sizes > 0).astype(float)
        products += influences.T @ influences
        met += (influences * influences).T @ present_here
        overlap += sizes.T @ sizes
        present += present_here.sum(axis=0)
    return Sums(np.asarray(size.sum(axis=0), float).ravel(), present, events, means, products, met, overlap)


# The difference of two systems over several relations at once: each relation's difference, weighed by its groups.

_LEAST, _MOST = 1e-3, 8.0
"""Standard errors between which the test looks for the end of the interval."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """SR_g of one system minus that of another over the groups they share under several relations, each group alike.

    `low` and `high` are its interval, `p` tests, two-sided, that it is no more than delta; None where the difference is
    known without error, or where nothing is known (`reason`). `relations` compare the two, of `compared`
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
) -> Pooled:
    """The difference of two systems over all relations under which both were checked, the first minus the second.

    `commons` are the relations' comparisons. A relation counts where both can be compared (`Common.short`), and weighs
    as many groups as they share: the weights are those of this corpus. The interval is put together from the relations'
    own (MOVER, `audit.statistics.rates.combine`), with the correlations that clusters of sources show
    (`Sums.cautious`); where cells are drawn apart (the design `simple`, totals) they count as independent for the
    corpus, and as wholly dependent for the population. `p` is the level at which the interval ends at delta.

    >>> genuine = np.array([[1, 0]] * 20 + [[1, 1]] * 40, float)
    >>> whole, codes = np.full(2, 60), np.arange(60)
    >>> arrays = (genuine, genuine > -1, genuine[:, 1] < 1, codes, codes)
    >>> common = Common(("a", "b"), whole, whole, whole, whole, *arrays)
    >>> pooled = pooled_difference([common, common], ("a", "b"))
    >>> round(pooled.difference, 3), pooled.relations, pooled.judged, pooled.p < 0.001
    (0.333, 2, 40, True)
    """
    compared = [common.of_pair(*systems) for common in commons if set(systems) <= set(common.systems)]
    used = [common for common in compared if common.short is None]
    if not used:
        reason = message("no_order.no_relation_compares") if compared else message("no_order.no_relation_has_both")
        return Pooled(None, None, None, None, 0, len(compared), 0, 0, 0, reason)
    weights = [float(common.groups.max()) for common in used]
    correlations = _pooled(used, systems, target)

    def interval(at: float) -> tuple[list[PairedDifference], tuple[float, float, float]]:
        parts = [common.differences(target, at, delta, [common.columns(systems)])[0] for common in used]
        # From [-1, 1] to [0, 1], where rates are, and back.
        ends = [(float(part.difference or 0), float(part.low or 0), float(part.high or 0)) for part in parts]
        rates, lows, highs = ([(value + 1) / 2 for value in values] for values in zip(*ends, strict=True))
        pooled = combine(rates, lows, highs, weights, correlations)
        if pooled is None:  # no relation has a group; `short` has said so before
            return parts, (0.0, -1.0, 1.0)
        return parts, (2 * pooled.rate - 1, 2 * pooled.low - 1, 2 * pooled.high - 1)

    parts, (difference, low, high) = interval(confidence)
    groups, informative, judged = (
        sum(getattr(part, name) for part in parts) for name in ("groups", "informative", "judged")
    )
    numbers = (len(used), len(compared), groups, informative, judged)
    lacking = next((part.reason for part in parts if part.difference is None), None)
    if lacking is not None:
        return Pooled(None, None, None, None, *numbers, lacking)
    exact = all(part.low == part.high for part in parts)
    p = None if exact else _p(lambda at: interval(at)[1], difference, delta)
    return Pooled(difference, low, high, p, *numbers)


def _pooled(commons: Sequence[Common], systems: tuple[str, str], target: Target) -> np.ndarray | None:
    """How the relations' differences go together, (relations, relations); None: as independent ones."""
    drawn_apart = any(common.decides is None or common.cluster is None for common in commons)
    if drawn_apart and target == "population":
        return np.ones((len(commons), len(commons)))
    if drawn_apart:
        return None
    parts = []
    for at, common in enumerate(commons):
        first, second = np.asarray(common.outcomes)[:, common.columns(systems)].T
        parts.append((np.asarray(common.cluster)[common._settled], np.full(len(first), at), first - second))
    cluster, relation, change = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    code = np.unique(cluster, return_inverse=True)[1]
    return deviations(code, relation, change, len(commons)).cautious(range(len(commons)))


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
