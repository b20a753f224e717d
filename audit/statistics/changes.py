"""A mean over groups of which some are settled, some are a random sample, and others are open: what two versions
differ by.

A group in which two systems gave the same outputs has the same truth for both: it adds exactly 0 to the difference of
their genuine rates, and nobody needs to judge it. What is left to judge are the groups that changed, and of those that
were broken or fixed the observed verdicts say on which side of 0 they lie.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from audit.errors import AuditError
from audit.statistics.comparison import mcnemar
from audit.statistics.intervals import Target, effective_interval, effective_size

Distances = tuple[float, float]
"""How far the lower and the upper end of an interval are from its estimate."""


@dataclass(frozen=True)
class Values:
    """A whole number from -1 to 1 for each group, as far as it is known; arrays are (groups,).

    `least` and `most` are what answers leave possible, `range_least` and `range_most` what was possible before anybody
    answered: groups of one `stratum` (codes) and range are alike. `judged` are those in a simple random sample of their
    stratum, all of them settled. `cluster` has codes of what goes together: sources, or their documents.
    """

    least: np.ndarray
    most: np.ndarray
    range_least: np.ndarray
    range_most: np.ndarray
    judged: np.ndarray
    stratum: np.ndarray
    cluster: np.ndarray

    def of(self, rows: np.ndarray) -> "Values":
        """Those of some groups: a mask or places."""
        return replace(self, **{name: getattr(self, name)[rows] for name in self.__dataclass_fields__})


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean of `groups` values with its interval.

    `least` and `most` are what settled groups leave possible of this corpus. `estimate` is None where some stratum has
    neither a random sample nor all its groups settled: then `low` and `high` hold the interval's ends whichever way the
    open groups are. `settled` of the `free` groups, whose value answers decide, are settled.
    """

    estimate: float | None
    low: float | None
    high: float | None
    least: float | None
    most: float | None
    free: int
    settled: int
    judged: int
    groups: int


def settled_mean(
    values: Values, target: Target = "population", confidence: float = 0.95, *, signed: bool = True
) -> Mean:
    """The mean of these values, estimated where strata have random samples, known where all is settled, else bounded.

    For the corpus the interval is about groups that are not judged alone: post-stratified by range, each part's shares
    have their exact interval at the size that clusters leave of the sample (Korn and Graubard 1998), put together by
    their squared distances (MOVER: Zou and Donner, Statistics in Medicine 27, 2008), and cut to what is possible. For
    the population the corpus itself varies, too: the distance of the interval that its groups would have if all were
    settled, as the sample has them, is added (squared). Without `signed` no text to come has a value below 0. Raises
    AuditError on arrays of different lengths.

    >>> zero, one = np.zeros(4, int), np.array([0, 0, 1, 1])
    >>> values = Values(zero, one, zero, one, zero > 0, zero, np.arange(4))
    >>> settled_mean(values, "corpus")
    Mean(estimate=None, low=0.0, high=0.5, least=0.0, most=0.5, free=2, settled=0, judged=0, groups=4)
    >>> settled_mean(replace(values, least=one), "corpus").estimate
    0.5
    """
    groups = len(values.least)
    if any(len(getattr(values, name)) != groups for name in values.__dataclass_fields__):
        raise AuditError("values, ranges, strata and clusters must be given for each group")
    free = values.range_least < values.range_most
    known = values.least == values.most
    counts = (int(free.sum()), int((free & known).sum()), int((free & values.judged).sum()), groups)
    if not groups:
        return Mean(None, None, None, None, None, *counts)
    least, most = float(values.least.sum()) / groups, float(values.most.sum()) / groups
    kind = (values.stratum * 3 + values.range_least) * 3 + values.range_most
    stratum = np.unique(np.where(free, kind, -99), return_inverse=True)[1]
    seen = np.bincount(stratum, free & values.judged)[stratum] > 0
    whole = (np.bincount(stratum, known) == np.bincount(stratum))[stratum]
    sampled, is_open = free & ~whole & seen, free & ~whole & ~seen
    parts = [
        _sampled(values.of(sampled & (values.range_least == low) & (values.range_most == high)), groups, confidence)
        for low, high in ((0, 1), (-1, 0), (-1, 1))
    ]
    between = sum(mean for mean, _ in parts)
    signs = (1, -1) if signed else (1,)
    bottom = -1.0 if signed else 0.0
    ends: list[float] = []
    for side, (filled, step) in enumerate(((values.least, -1), (values.most, 1))):
        distance = float(np.hypot.reduce([distances[side] for _, distances in parts]))
        if target == "population":
            completed = np.where(sampled & ~known, _imputed(values, sampled, groups), filled)
            varies = _signed(completed, values.cluster, None, signs, confidence)[1]
            distance = float(np.hypot(distance, varies[side]))
        end = between + float(filled[~sampled].sum()) / groups + step * distance
        ends.append(float(np.clip(end, *((least, most) if target == "corpus" else (bottom, 1.0)))))
    low, high = ends
    if is_open.any():
        return Mean(None, low, high, least, most, *counts)
    estimate = float(np.clip(between + float(values.least[~sampled].sum()) / groups, least, most))
    return Mean(estimate, min(low, estimate), max(high, estimate), least, most, *counts)


def _weights(values: Values) -> tuple[np.ndarray, np.ndarray]:
    """Of groups of strata that have a sample each: which are judged, and the weight of each of these, in sum 1."""
    _, stratum = np.unique(values.stratum, return_inverse=True)
    size, seen = np.bincount(stratum), np.bincount(stratum, values.judged)
    return np.flatnonzero(values.judged), (size / seen)[stratum][values.judged] / len(stratum)


def _sampled(values: Values, groups: int, confidence: float) -> tuple[float, Distances]:
    """What groups of one range add to the mean of `groups`, from the judged ones of each stratum, and how far its
    interval's ends are."""
    if not len(values.least):
        return 0.0, (0.0, 0.0)
    judged, weight = _weights(values)
    size = pd.Series(values.stratum).value_counts()
    seen = pd.Series(values.stratum[judged]).value_counts().reindex(size.index)
    # Finitely many: what the sample is worth grows by that of the stratum of which least is judged.
    more = float(((size - 1) / (size - seen).replace(0, np.nan)).min())
    signs = tuple(sign for sign in (1, -1) if values.range_least[0] <= sign <= values.range_most[0])
    mean, (down, up) = _signed(values.least[judged], values.cluster[judged], weight, signs, confidence, more)
    share = len(values.least) / groups
    return share * mean, (share * down, share * up)


def _signed(
    value: np.ndarray,
    cluster: np.ndarray,
    weight: np.ndarray | None,
    signs: tuple[int, ...],
    confidence: float,
    more: float = 1.0,
) -> tuple[float, Distances]:
    """The mean of values, each 0 or one of `signs`, and how far its interval's ends are.

    The shares of either sign have their exact intervals at their effective sizes times `more`, and go together as those
    of a multinomial.
    """
    gain, loss = (
        _share(value == sign, cluster, weight, confidence, more) if sign in signs else (0.0, 0.0, 0.0)
        for sign in (1, -1)
    )
    chance = (1 - gain[0]) * (1 - loss[0])
    correlation = -float(np.sqrt(min(gain[0] * loss[0] / chance, 1.0))) if chance > 0 else 0.0
    down = _apart(gain[0] - gain[1], loss[2] - loss[0], correlation)
    up = _apart(gain[2] - gain[0], loss[0] - loss[1], correlation)
    return gain[0] - loss[0], (down, up)


def _share(
    hit: np.ndarray, cluster: np.ndarray, weight: np.ndarray | None, confidence: float, more: float
) -> tuple[float, float, float]:
    share = float(hit.mean()) if weight is None else min(float(weight @ hit), 1.0)
    ends = effective_interval(share, effective_size(cluster, hit, confidence, weight) * more, confidence)
    return share, ends.low, ends.high


def _apart(first: float, second: float, correlation: float) -> float:
    return float(np.sqrt(max(first * first + second * second - 2 * correlation * first * second, 0.0)))


def _imputed(values: Values, sampled: np.ndarray, groups: int) -> np.ndarray:
    """Values for groups that nobody settled, with the shares of the judged ones; all of a cluster go the same way.

    Only the spread between clusters is made of them, which is the largest where a cluster goes one way.
    """
    imputed = np.zeros(groups, int)
    number = np.random.default_rng(0).random(groups)  # the largest code is below the number of groups
    _, cluster = np.unique(values.cluster, return_inverse=True)
    for low, high in ((0, 1), (-1, 0), (-1, 1)):
        rows = np.flatnonzero(sampled & (values.range_least == low) & (values.range_most == high))
        if not len(rows):
            continue
        part = values.of(rows)
        judged, weight = _weights(part)
        gain, loss = (float(weight @ (part.least[judged] == sign)) for sign in (1, -1))
        place = number[cluster[rows]]
        imputed[rows] = np.where(place < gain, 1, np.where(place > 1 - loss, -1, 0))
    return imputed


@dataclass(frozen=True, slots=True)
class Drop:
    """How much larger a rate is for the first system than for the second on the same groups, with its interval.

    `p` is the exact McNemar test: over the groups, or where clusters have several over clusters that changed on balance
    to either side (`worse` and `better`).
    """

    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    worse: int
    better: int


def observed_drop(
    old: np.ndarray, new: np.ndarray, cluster: np.ndarray, target: Target = "population", confidence: float = 0.95
) -> Drop:
    """The rate of `old` less that of `new` (0 or 1 for each group); of the corpus it is known.

    >>> drop = observed_drop(np.array([1, 1, 1, 0]), np.array([0, 0, 1, 0]), np.arange(4), "corpus")
    >>> drop.difference, drop.low, drop.high, drop.worse, drop.p
    (0.5, 0.5, 0.5, 2, 0.5)
    """
    change = np.asarray(old, int) - np.asarray(new, int)
    if not len(change):
        return Drop(None, None, None, None, 0, 0)
    worse, better, p = sign_test(change, cluster)
    mean = float(change.mean())
    down, up = (0.0, 0.0)
    if target == "population":
        down, up = _signed(change, np.asarray(cluster), None, (1, -1), confidence)[1]
    return Drop(mean, mean - down, mean + up, p, worse, better)


def sign_test(change: np.ndarray, cluster: np.ndarray) -> tuple[int, int, float]:
    """Clusters whose changes add up to more than 0, those with less, and the exact two-sided p that both are alike.

    >>> sign_test(np.array([1, 1, -1, 0]), np.array([0, 0, 1, 2]))
    (1, 1, 1.0)
    """
    _, code = np.unique(np.asarray(cluster), return_inverse=True)
    total = np.bincount(code, np.asarray(change, float)) if len(code) else np.zeros(0)
    worse, better = int((total > 0.5).sum()), int((total < -0.5).sum())
    return worse, better, mcnemar(worse, better)
