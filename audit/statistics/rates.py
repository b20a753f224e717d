"""Rates of groups that were asked with known inclusion probabilities: cells, roll-ups and slices by the same functions.

A source has one random number u and is asked when u is at most its threshold q, so q is its inclusion probability given
the numbers of the others (rank conditioning: Cohen and Kaplan, SIGMETRICS 2009). Every answered group counts with 1/q,
in whichever cell and round its source was asked.

R_FS = false / satisfied, SR_o = satisfied / (satisfied + violated), SR_g = SR_o (1 - R_FS), VR_g = 1 - SR_g
(Jiang et al. 2022, section 3.2, table 2).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TypeVar

import numpy as np
from scipy.special import betaincinv, stdtrit

EVENTS, FEW = 2.0, 10
"""Clusters of copies that are mixed into a variance beside the clusters seen with a hit, or a miss, since few tell it
badly; and below how many of them the ends are Clopper and Pearson's. From simulations of rare false satisfactions."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate with the ends of its interval, or, with no `value`, the least and the most that it can be, and the outer
    ends of the intervals of these two.

    `error` has what each cluster adds to the error; `clusters` are their codes, None: 0, 1 and so on.
    """

    value: float | None
    low: float
    high: float
    least: float | None = None
    most: float | None = None
    error: np.ndarray = field(default_factory=lambda: np.zeros(0), compare=False, repr=False)
    clusters: np.ndarray | None = field(default=None, compare=False, repr=False)

    def less(self) -> "Rate":
        """Return 1 minus the rate."""
        least, most = (None if end is None else 1 - end for end in (self.most, self.least))
        value = None if self.value is None else 1 - self.value
        return Rate(value, 1 - self.high, 1 - self.low, least, most, -self.error)


def bottom_k(u: np.ndarray, lists: Sequence[np.ndarray], sizes: Sequence[int]) -> np.ndarray:
    """Return the inclusion probability (sources,) of every source when the first of each list are asked, as many as
    `sizes` says.

    `u` (sources,) are random numbers, `lists` arrays of sources (places in `u`). Of a source among the first n of a
    list the threshold is the n-th number of the others, which is the (n + 1)-th of all; of the rest it is the n-th.
    The largest over the lists counts. A list of n sources or fewer is asked whole.

    >>> bottom_k(np.array([0.1, 0.5, 0.3, 0.9]), [np.array([0, 1, 2, 3])], [2]).tolist()
    [0.5, 0.3, 0.5, 0.3]
    """
    q = np.zeros(len(u))
    for members, n in zip(lists, sizes, strict=True):
        if len(members) <= n:
            q[members] = 1.0
        elif n > 0:
            nth, following = np.partition(u[members], [n - 1, n])[[n - 1, n]]
            q[members] = np.maximum(q[members], np.where(u[members] <= nth, following, nth))
    return q


def weighted_rate(
    value: np.ndarray,
    q: np.ndarray,
    stratum: np.ndarray,
    sizes: np.ndarray,
    cluster: np.ndarray,
    *,
    finite: bool,
    confidence: float = 0.95,
    proxy: tuple[np.ndarray, np.ndarray] | None = None,
) -> Rate | None:
    """Return the share of hits among the groups of some strata, from those that were answered; None where a stratum
    has groups and no answer.

    `value` (0 or 1), `q`, `stratum` (codes) and `cluster` (codes of sources, or of documents) have a value for each
    answered group; `sizes` (strata,) are all groups of each stratum. The estimate is Hajek's in each stratum, weighted
    by its size. With `finite` the rate is that of these groups, whose sources' (1 - q) is the finite correction, else
    of the texts that they come from. The interval is a beta interval at an effective size: that of as many independent
    observations as have the linearised variance between clusters (Korn and Graubard, Survey Methodology 24, 1998). As
    few clusters with a hit, or a miss, tell the variance badly, `EVENTS` clusters of copies are mixed in: all groups of
    a cluster alike, which weights alone tell.

    `proxy` has numbers that go with being a hit, of the answered groups (groups, proxies), and their means over all
    groups of each stratum (strata, proxies); for rates of these groups only. What the proxies explain is known of all
    (`_explained`).
    """
    sizes = np.asarray(sizes, float)
    if not sizes.sum():
        return None
    share = sizes / sizes.sum()
    value, w, left = np.asarray(value, float), 1 / q, (1 - q if finite else np.ones(len(q)))
    total = np.bincount(stratum, w, len(share))
    if (total[share > 0] == 0).any():
        return None
    a = (share / np.where(total > 0, total, 1))[stratum] * w
    means = np.bincount(stratum, w * value, len(share)) / np.where(total > 0, total, 1)
    number_asked = np.bincount(stratum, minlength=len(share))
    # The mean of a stratum is fitted to its own groups.
    residual, shift = (value - means[stratum]) * np.sqrt(number_asked / np.maximum(number_asked - 1, 1))[stratum], 0.0
    if proxy is not None:
        residual, shift = _explained(residual, a, stratum, share, *proxy)
    p = min(max(float(share @ means) - shift, 0.0), 1.0)
    hits, misses = (np.count_nonzero(np.bincount(cluster, (value == kind) * a)) for kind in (1, 0))
    root = np.sqrt(left) * a
    of_clusters = np.bincount(cluster, root)
    copies, alone = float((of_clusters**2).sum()), float((root**2).sum())
    if copies <= 0:  # all were asked
        return Rate(p, p, p)
    error, seen = np.bincount(cluster, root * residual), int(min(hits, misses))
    number = int(np.count_nonzero(np.bincount(cluster)))
    # As many independent groups say at most; proxies may say more.
    most = np.inf if proxy is not None else 1 / alone
    low, high = _ends_of_clusters(p, of_clusters, error, number, seen, len(value), most, confidence)
    if finite:
        seen_values = [np.bincount(stratum, value == kind, len(share)) for kind in (1, 0)]
        of = np.where(share > 0, share / np.maximum(sizes, 1), 0)
        low, high = max(low, float(of @ seen_values[0])), min(high, 1 - float(of @ seen_values[1]))
    return Rate(p, min(low, p), max(high, p), error=error)


def _ends_of_clusters(
    p: float,
    of_clusters: np.ndarray,
    error: np.ndarray,
    number: int,
    seen: int,
    groups: int,
    most: float,
    confidence: float,
) -> tuple[float, float]:
    """The ends of a rate's interval from what its clusters weigh and add to the error; `number` clusters have groups,
    `seen` of them a hit, or a miss, whatever is rarer. The effective size is `most` at most."""
    copies = float((of_clusters**2).sum())
    size = 1 / copies
    if seen and number > 1:
        v = float((error**2).sum()) * number / (number - 1)
        mixed = seen / (seen + EVENTS) * v / max(p * (1 - p), 1e-12) + EVENTS / (seen + EVENTS) * copies
        size = min(1 / mixed, most)
    worth = float(of_clusters.sum()) ** 2 / copies  # clusters that weigh alike and say as much
    if number > 1 and seen >= FEW and worth < groups - 0.5:
        tail = (1 + confidence) / 2
        size *= float((stdtrit(np.inf, tail) / stdtrit(max(worth - 1, 1.0), tail)) ** 2)
    return ends(p, size, seen, confidence)


_AT_ONCE = 1 << 16


def observed_rate(
    checked: "Checked", sizes: np.ndarray, cluster: np.ndarray, *, finite: bool, confidence: float = 0.95
) -> Rate | None:
    """Return the share of satisfied groups: `weighted_rate` where every group was asked, whose strata are the cells,
    with less memory. `cluster` has codes of the groups, `sizes` how many groups each cell has."""
    if not sizes.sum():
        return None
    share, counts, hit = sizes / sizes.sum(), np.maximum(sizes, 1), checked.satisfied == 1
    means = np.bincount(checked.cell[hit], minlength=len(sizes)) / counts
    p = min(max(float(share @ means), 0.0), 1.0)
    if finite:
        return Rate(p, p, p)
    a, clusters = share / counts, int(cluster.max()) + 1
    residual = (np.array([0.0, 1.0]) - means[:, None]) * np.sqrt(sizes / np.maximum(sizes - 1, 1))[:, None]
    adds, of_clusters, error = a[:, None] * residual, np.zeros(clusters), np.zeros(clusters)
    for begin in range(0, len(cluster), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        np.add.at(of_clusters, cluster[part], a[checked.cell[part]])
        np.add.at(error, cluster[part], adds[checked.cell[part], checked.satisfied[part]])
    seen = [np.zeros(clusters, bool) for _ in range(2)]
    seen[0][cluster[~hit]] = seen[1][cluster[hit]] = True
    number, few = int((seen[0] | seen[1]).sum()), int(min(seen[0].sum(), seen[1].sum()))
    most = 1 / float((a**2)[checked.cell].sum())
    low, high = _ends_of_clusters(p, of_clusters, error, number, few, len(cluster), most, confidence)
    return Rate(p, min(low, p), max(high, p), error=error)


PULL = 2.0
"""Observations that pull what a proxy tells towards nothing: a useless one costs nothing."""


def _explained(
    residual: np.ndarray,
    a: np.ndarray,
    stratum: np.ndarray,
    share: np.ndarray,
    x: np.ndarray,
    population_means: np.ndarray,
) -> tuple[np.ndarray, float]:
    """Return what proxies leave of residuals, and by how much the mean is too high, as theirs is.

    Regression estimator with the slope of the answered groups (power tuning: Angelopoulos, Duchi and Zrnic, PPI++,
    2023), drawn to 0 as by `PULL` observations.
    """
    total = np.bincount(stratum, a, len(share))
    sums = np.stack([np.bincount(stratum, a * column, len(share)) for column in x.T], axis=1)
    means = sums / np.where(total > 0, total, 1)[:, None]
    centred = x - means[stratum]
    square = (centred * a[:, None]).T @ centred
    scale = np.diag(square) + 1e-12
    slope = np.linalg.solve(
        square + np.diag(scale * PULL / max(len(residual), 1) + 1e-9), (centred * a[:, None]).T @ residual
    )
    widen = 1 + x.shape[1] / max(len(residual) - x.shape[1] - 1, 1)
    return (residual - centred @ slope) * np.sqrt(widen), float(share @ ((means - population_means) @ slope))


def ends(p: float, size: float, events: int, confidence: float) -> tuple[float, float]:
    """Return the ends of a beta interval for a rate seen in `size` observations: Jeffreys', or with fewer than `FEW`
    `events` (the fewer of hits and misses) Clopper and Pearson's."""
    k, tail, more = p * size, (1 - confidence) / 2, 0.0 if events < FEW else 0.5
    low = 0.0 if p <= 0 else float(betaincinv(k + more, size - k + 1 - more, tail))
    high = 1.0 if p >= 1 else float(betaincinv(k + 1 - more, size - k + more, 1 - tail))
    return min(low, p), max(high, p)


GOLD, ALIKE, TELLING = STRATA = (0, 1, 2)
"""What sets apart how often groups of a cell are asked: gold answers them, all systems do the same with them, or they
can tell systems apart, which rounds that decide ask more often."""
LEAST = 5
"""Judged groups that a stratum of its own needs: with fewer the two of those that people answer are one."""


@dataclass(frozen=True)
class Judged:
    """Groups that were asked and count, in the order of their cells: `cell` (codes), `stratum` (of `STRATA`), `false`
    (0 or 1), `open` (1: given up without an answer), `q`, `source` and `cluster` (codes from 0). All are arrays
    (groups,)."""

    cell: np.ndarray
    stratum: np.ndarray
    false: np.ndarray
    open: np.ndarray
    q: np.ndarray
    source: np.ndarray
    cluster: np.ndarray
    proxy: np.ndarray | None = None
    """What proxies say of each group (groups, proxies), where there are any."""


@dataclass(frozen=True)
class Checked:
    """All groups that are satisfied or violated, in the order of their cells: `cell`, `stratum`, `satisfied` (0 or 1),
    `source` and `cluster`, as in `Judged`."""

    cell: np.ndarray
    stratum: np.ndarray
    satisfied: np.ndarray
    source: np.ndarray
    cluster: np.ndarray
    proxy: np.ndarray | None = None


Groups = TypeVar("Groups", Judged, Checked)


def where(groups: Groups, keep: np.ndarray | slice) -> Groups:
    """Return those groups; `keep` are flags, places or a slice."""
    values = ((part.name, getattr(groups, part.name)) for part in fields(groups))
    return replace(groups, **{name: value[keep] for name, value in values if value is not None})


def of_cells(groups: Groups, cells: Sequence[int]) -> Groups:
    """Return the groups of these cells (ascending), whose codes become their places."""
    starts = np.searchsorted(groups.cell, cells)
    sizes = np.searchsorted(groups.cell, cells, side="right") - starts
    place = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    if len(cells) and cells[-1] - cells[0] == len(cells) - 1:  # one after the other: nothing is copied
        return replace(where(groups, slice(starts[0], starts[-1] + sizes[-1])), cell=place)
    at = np.concatenate([np.arange(start, start + size) for start, size in zip(starts, sizes, strict=True)] or [starts])
    return replace(where(groups, at.astype(int)), cell=place)


@dataclass(frozen=True)
class Rates:
    """Observed and genuine rates of cells together; None: nothing is known."""

    observed: Rate | None
    false: Rate | None
    genuine: Rate | None


def rates_of(
    cells: Sequence[int], judged: Judged, checked: Checked, *, finite: bool, confidence: float = 0.95
) -> Rates:
    """Return SR_o, R_FS and SR_g of these cells together, of the corpus (`finite`) or of all texts like it.

    Rates of several cells are those of all their groups. Where groups are open, R_FS and SR_g have a least and a most
    in place of a value: that of the open groups being all true, or all false.
    """
    inside, everything = of_cells(judged, sorted(cells)), of_cells(checked, sorted(cells))
    sizes = np.bincount(everything.cell, minlength=len(cells))

    own = [groups.source if finite else groups.cluster for groups in (everything, inside)]
    present = np.zeros(max(int(codes.max(initial=-1)) for codes in own) + 1, bool)
    for codes in own:
        present[codes] = True
    clusters, place = np.flatnonzero(present), np.cumsum(present, dtype=np.int32) - np.int32(1)
    of_all, of_inside = (place[codes] for codes in own)
    observed = observed_rate(everything, sizes, of_all, finite=finite, confidence=confidence)
    if observed is None:
        return Rates(None, None, None)
    satisfied = np.bincount(everything.cell[everything.satisfied == 1], minlength=len(cells))
    if not satisfied.sum():  # nothing is satisfied, so nothing can be false
        return Rates(observed, None, observed)
    values = (inside.false, inside.false | inside.open) if inside.open.any() else (inside.false,)
    proxy = None
    if finite and inside.proxy is not None and everything.proxy is not None:
        of_cell = everything.cell[everything.satisfied == 1]
        x = everything.proxy[everything.satisfied == 1]
        sums = np.stack([np.bincount(of_cell, column, len(cells)) for column in x.T], axis=1)
        proxy = inside.proxy, sums / np.maximum(satisfied, 1)[:, None]
    stratum, sizes = _strata(inside, everything, len(cells))

    def false_rate(value: np.ndarray) -> Rate | None:
        # Each stratum has ends of its own, since few and unequally weighted groups tell their variance badly.
        rates: list[Rate] = []
        for at, of in enumerate(sizes.T):
            own = stratum == at
            rate = weighted_rate(
                value[own], inside.q[own], inside.cell[own], of, of_inside[own], finite=finite,
                confidence=confidence, proxy=proxy and (proxy[0][own], proxy[1]),
            )  # fmt: skip
            if rate is None and of.any():
                return None
            rates += [rate] if rate else []
        shares = sizes.sum(0)[sizes.any(0)] / sizes.sum()
        return weighted_mean(rates, shares.tolist(), confidence) if len(rates) > 1 else rates[0]

    false = [false_rate(value) for value in values]
    genuine = [None if share_false is None else product(observed, share_false.less(), finite) for share_false in false]
    rates = (observed, between(false), between(genuine[::-1]))
    return Rates(*(rate and replace(rate, clusters=clusters) for rate in rates))


def _strata(judged: Judged, checked: Checked, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """The strata of judged groups, and how many satisfied groups each has (cells, strata)."""
    shape = cells, len(STRATA)
    of_checked, of_judged = (groups.cell * len(STRATA) + groups.stratum for groups in (checked, judged))
    sizes = np.bincount(of_checked[checked.satisfied == 1], minlength=cells * len(STRATA)).reshape(shape)
    numbers = np.bincount(of_judged, minlength=cells * len(STRATA)).reshape(shape)
    lacking = (numbers < LEAST) & (sizes > numbers)
    few = lacking[:, ALIKE] | lacking[:, TELLING]
    sizes[few, TELLING] += sizes[few, ALIKE]
    sizes[few, ALIKE] = 0
    return np.where(few[judged.cell] & (judged.stratum == ALIKE), TELLING, judged.stratum), sizes


def false_share(judged: Judged, checked: Checked, cells: int) -> float | None:
    """Return R_FS over those of the cells that have an estimate, as `rates_of` has it, without its interval; None where
    none has one."""
    stratum, sizes = _strata(judged, checked, cells)
    of, w = judged.cell * len(STRATA) + stratum, 1 / judged.q
    total, hits = (np.bincount(of, x, sizes.size).reshape(sizes.shape) for x in (w, w * judged.false))
    lacking = ((sizes > 0) & (total == 0)).any(1) | (np.bincount(judged.cell, judged.open, cells) > 0)
    sizes[lacking] = 0
    return float((sizes * hits / np.where(total > 0, total, 1)).sum() / sizes.sum()) if sizes.any() else None


def between(rates: Sequence[Rate | None]) -> Rate | None:
    """Return the rate, or of two the bounds with the outer ends of their intervals."""
    estimates = [rate for rate in rates if rate is not None]
    if len(estimates) < 2 or len(estimates) < len(rates):
        return estimates[0] if len(estimates) == len(rates) else None
    least, most = estimates
    return Rate(None, least.low, most.high, least.value, most.value)


def product(observed: Rate, true: Rate, finite: bool) -> Rate:
    """Return SR_g = SR_o (1 - R_FS), with ends recovered from those of both factors (MOVER: Zou, Huang and Zhang,
    Computational Statistics and Data Analysis 53, 2009). Of these groups SR_o is known. Else both go together from
    cluster to cluster: as far as they rise together the interval is wider, and never narrower where they are opposed.
    """
    assert observed.value is not None
    assert true.value is not None
    rate = observed.value * true.value
    if finite:
        ends_of = observed.value * true.low, observed.value * true.high
        return Rate(rate, *ends_of, error=observed.value * true.error)
    length = max(len(observed.error), len(true.error))
    errors = [np.pad(part, (0, length - len(part))) for part in (observed.error, true.error)]
    # Sums, since threads of a linear algebra library cost more than these products.
    norms = math.sqrt(float((errors[0] ** 2).sum() * (errors[1] ** 2).sum()))
    together = max(float((errors[0] * errors[1]).sum()) / norms, 0.0) if norms else 0.0
    distances = []
    for end in ("low", "high"):
        a = true.value * abs(observed.value - getattr(observed, end))
        b = observed.value * abs(true.value - getattr(true, end))
        distances.append(math.sqrt(a * a + b * b + 2 * together * a * b))
    error = true.value * errors[0] + observed.value * errors[1]
    low, high = max(rate - distances[0], 0.0), min(rate + distances[1], 1.0)
    return Rate(rate, low, high, error=error)


def weighted_mean(rates: Sequence[Rate], weights: Sequence[float], confidence: float = 0.95) -> Rate:
    """Return the mean of rates with these weights, which sum to 1, with ends from those of the rates: their errors go
    together as those of their clusters do.

    >>> mean = weighted_mean([Rate(0.8, 0.7, 0.9), Rate(0.6, 0.5, 0.7)], [0.5, 0.5])
    >>> round(mean.low, 3), round(mean.high, 3)
    (0.629, 0.771)
    """
    value = sum(share * (rate.value or 0.0) for rate, share in zip(rates, weights, strict=True))
    clusters, errors = _aligned(rates)
    distances = []
    for end in ("low", "high"):
        shared, alone = np.zeros(errors.shape[1]), 0.0
        for rate, share, error in zip(rates, weights, errors, strict=True):
            distance = share * abs((rate.value or 0.0) - getattr(rate, end))
            norm = math.sqrt(float((error**2).sum()))
            if norm > 0:
                shared += error / norm * distance
            else:  # nothing is seen of how it varies
                alone += distance**2
        distances.append(math.sqrt(float((shared**2).sum()) + alone))
    low, high = max(value - distances[0], 0.0), min(value + distances[1], 1.0)
    return Rate(value, low, high, error=np.asarray(weights) @ errors, clusters=clusters)


def _aligned(rates: Sequence[Rate]) -> tuple[np.ndarray | None, np.ndarray]:
    """The clusters of rates, and what these add to the error of each (rates, clusters)."""
    named = [rate.clusters[: len(rate.error)] for rate in rates if rate.clusters is not None]
    clusters = np.unique(np.concatenate(named)) if named else None
    errors = np.zeros((len(rates), max(len(rate.error) for rate in rates) if clusters is None else len(clusters)))
    for row, rate in zip(errors, rates, strict=True):
        of = np.arange(len(rate.error))
        if clusters is not None and rate.clusters is not None:
            of = np.searchsorted(clusters, rate.clusters[: len(rate.error)])
        row[of] = rate.error
    return clusters, errors
