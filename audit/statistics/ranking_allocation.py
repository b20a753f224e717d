"""When a comparison of systems is decided (who wins, or the whole order, up to a tolerance), and what to judge next.

A relation's groups are those that apply to every compared system; y = 1 where a system satisfies and is right, else 0,
and SR_g is the mean of y. For a pair of systems a group in which both are satisfied with identical outputs, or neither
is satisfied, adds exactly 0 to the difference of their SR_g, whatever the truth is. The others are informative, of
three kinds whose numbers are known before anybody judges: only the first is satisfied, only the second is, or both are
with different outputs. So a pair's difference is estimated from the first informative groups of the drawn order,
stratified by kind, and a group is judged only for pairs that are not decided yet.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from audit.errors import AuditError
from audit.statistics.allocation import effective_size
from audit.statistics.confidence_sequences import ASYMPTOTIC_FROM, asymptotic_half_width

Goal = Literal["winner", "order"]
LEAST = 20
"""Informative groups of a pair that are judged before the posterior rule may stop (or all, where there are fewer)."""
GROWTH = 1.25
"""Each look at a pair has this many times the groups of the last one: looking at every single one would only add
chances to stop on a fluke."""
THIN = 5
"""A kind with fewer judged groups than this is pooled with the others."""


@dataclass(frozen=True)
class Contest:
    """One relation: for each pair (i, j), i < j, of its `systems` the informative groups as positions in the drawn
    order, and their kinds (0: only i is satisfied, 1: only j is, 2: both, with different outputs)."""

    systems: int
    common: int
    pairs: tuple[tuple[int, int], ...]
    groups: tuple[np.ndarray, ...]
    kinds: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Standing:
    """Where a contest stands. `order` has the systems best first; `difference[i, j]` estimates SR_g of i minus that of
    j, `low` and `high` are the ends of intervals that all hold together, however often one looked (asymptotic
    confidence sequences). `error` are standard errors. `risk` is the sum, over the pairs that the decision rests on, of
    the posterior probability that it is wrong by more than delta. `wanted` holds, by pair, how many of its informative
    groups to have judged at the next look; 0 where the pair is decided or does not matter."""

    order: tuple[int, ...]
    decided: bool
    risk: float
    difference: np.ndarray
    error: np.ndarray
    low: np.ndarray
    high: np.ndarray
    wanted: np.ndarray


def pairs_of(goal: Goal, systems: int) -> int:
    """Comparisons that a decision rests on: the winner against each other one, or every pair.

    >>> pairs_of("winner", 4), pairs_of("order", 4)
    (3, 6)
    """
    if goal not in get_args(Goal):
        raise AuditError(f"a decision about {goal!r} is not known; it is about winner or order")
    return systems - 1 if goal == "winner" else systems * (systems - 1) // 2


def contest(satisfied: ArrayLike, output: ArrayLike) -> Contest:
    """The pairs of one relation from what is known without any judgement.

    `satisfied` (groups, systems) of bool and `output` (groups, systems) of codes, equal where the outputs on all
    members of the group are identical; rows in the drawn order. Raises AuditError where the shapes differ or there are
    fewer than two systems.

    >>> made = contest([[1, 1], [1, 1], [1, 0], [0, 0]], [[5, 5], [5, 6], [5, 5], [7, 8]])
    >>> made.groups[0].tolist(), made.kinds[0].tolist()
    ([1, 2], [2, 0])
    """
    held, code = np.asarray(satisfied, bool), np.asarray(output)
    if held.ndim != 2 or held.shape != code.shape or held.shape[1] < 2:
        raise AuditError(
            "a contest needs satisfied and outputs of one shape: a row a group, a column a system, 2 or more"
        )
    pairs = tuple(combinations(range(held.shape[1]), 2))
    groups, kinds = [], []
    for i, j in pairs:
        kind = np.full(len(held), -1)
        kind[held[:, i] & ~held[:, j]] = 0
        kind[held[:, j] & ~held[:, i]] = 1
        kind[held[:, i] & held[:, j] & (code[:, i] != code[:, j])] = 2
        groups.append(np.flatnonzero(kind >= 0))
        kinds.append(kind[groups[-1]])
    return Contest(held.shape[1], len(held), pairs, tuple(groups), tuple(kinds))


def standing(
    of: Contest,
    differences: Sequence[ArrayLike],
    goal: Goal = "winner",
    delta: float = 0.02,
    confidence: float = 0.95,
    always_valid: bool = False,
) -> Standing:
    """The state of a contest. `differences` has for each pair (i, j) the values y_i - y_j of its first judged
    informative groups, in their order: arrays of any length up to the pair's number of groups. The values may be other
    numbers than -1, 0, 1, as `prediction_powered.adjusted` makes them with a proxy.

    With `always_valid` a pair is decided when its asymptotic confidence sequence (Bonferroni over all pairs) excludes
    that the lower placed system is better by more than delta: that holds at `confidence` however often one looks.
    Otherwise by the approximate posterior: a difference is normal around its estimate, and a pair is decided when the
    probability that it is wrong by more than delta is at most its part of 1 - confidence. How often that rule is
    wrong although it looks again and again is shown in docs/planning.md; it promises an average over relations, not
    the worst one. Source: Chick and Inoue, Operations Research 49 (2001), section 2; strata: Cochran (1977), 5A.9.

    Raises AuditError where lengths do not fit, a value is not finite, or delta or confidence is out of range.

    >>> made = contest([[1, 0], [0, 1]] * 100, [[1, 1]] * 200)
    >>> at = standing(made, [[1, 0] * 40])
    >>> at.order, at.decided, round(float(at.difference[0, 1]), 3)
    ((0, 1), True, 0.5)
    """
    if not 0 <= delta < 1:
        raise AuditError(f"a tolerance delta of {delta:g} is impossible; it is 0 or more and below 1, for example 0.02")
    if not 0 < confidence < 1:
        raise AuditError(f"confidence {confidence:g} is impossible; it lies between 0 and 1, for example 0.95")
    if len(differences) != len(of.pairs):
        raise AuditError(f"{len(differences)} lists of differences for {len(of.pairs)} pairs; one each is needed")
    share = (1 - confidence) / pairs_of(goal, of.systems)
    shape = (of.systems, of.systems)
    difference, error, half, risk = (np.zeros(shape) for _ in range(4))
    judged = np.zeros(len(of.pairs), int)
    for number, ((i, j), given) in enumerate(zip(of.pairs, differences, strict=True)):
        values = np.asarray(given, float)
        judged[number] = len(values)
        estimate, deviation, effective = _estimate(values, of.kinds[number], of.common)
        top = len(of.groups[number]) / of.common if of.common else 0.0
        difference[i, j], difference[j, i] = estimate, -estimate
        error[i, j] = error[j, i] = 0.0 if math.isinf(effective) else deviation / math.sqrt(max(effective, 1e-9))
        wide = 2 * top
        if math.isinf(effective) or len(values) >= ASYMPTOTIC_FROM:
            level = 1 - (1 - confidence) / len(of.pairs)
            wide = min(wide, float(asymptotic_half_width(effective, deviation, level)))
        half[i, j] = half[j, i] = wide
        for first, second, sign in ((i, j, 1), (j, i, -1)):  # the risk of placing `first` above `second`
            risk[first, second] = _risk(sign * estimate + delta, error[i, j])
    low, high = difference - half, difference + half
    # By pairs won: pairs that do not matter are judged less, so that sums of differences would compare unlike things.
    won = (difference > 0).sum(axis=1)
    order = tuple(int(i) for i in np.lexsort((-difference.sum(axis=1), -won)))
    chosen = [(order[a], order[b]) for a, b in combinations(range(of.systems), 2) if goal == "order" or a == 0]
    sizes = np.array([len(groups) for groups in of.groups])
    wanted = np.where(judged < np.minimum(LEAST, sizes), np.minimum(LEAST, sizes), 0)  # every pair is begun
    for first, second in chosen:
        number = of.pairs.index((min(first, second), max(first, second)))
        sure = low[first, second] >= -delta - 1e-12 if always_valid else risk[first, second] <= share
        if not sure and judged[number] < sizes[number]:
            wanted[number] = min(max(LEAST, math.ceil(judged[number] * GROWTH)), sizes[number])
    total = float(sum(risk[one] for one in chosen))
    return Standing(order, not wanted.any(), min(total, 1.0), difference, error, low, high, wanted)


def expected_deviation(of: Contest, rate: float | None = None) -> np.ndarray:
    """Standard deviation, by pair, of one judged group's part in the difference, before anything is judged.

    `rate` is a guess of R_FS: where one system is satisfied the difference is 1 - rate on average with the variance
    rate (1 - rate); where both are with different outputs at most one is right, and the variance is at most
    1 - rate^2. Without a guess the worst case: 1/4 and 1.

    >>> made = contest([[1, 0], [0, 1], [1, 1], [0, 0]], [[1, 1], [1, 1], [1, 2], [1, 1]])
    >>> expected_deviation(made).round(3).tolist()
    [0.53]
    """
    one, both = (0.25, 1.0) if rate is None else (rate * (1 - rate), 1 - rate**2)
    found = np.zeros(len(of.pairs))
    for number, kinds in enumerate(of.kinds):
        weight = np.bincount(kinds, minlength=3) / max(len(kinds), 1)
        found[number] = len(kinds) / max(of.common, 1) * math.sqrt((weight[0] + weight[1]) * one + weight[2] * both)
    return found


def needed_to_decide(
    gap: ArrayLike, deviation: ArrayLike, pairs: int, delta: float = 0.02, confidence: float = 0.95, stops: bool = True
) -> np.ndarray:
    """Effective sizes at which pairs with this expected absolute `gap` of SR_g are decided: arrays broadcast -> floats.

    `deviation` is the standard deviation of one judged group's part in the difference. A design that stops needs
    (gap + delta) / standard error to reach z; a fixed one does not know the gap and must tell delta from 0 in the least
    favourable case: delta / standard error >= z. z has the risk (1 - confidence) / pairs on one side. Source:
    Bechhofer, Annals of Mathematical Statistics 25 (1954). Raises AuditError for numbers out of range.

    >>> float(needed_to_decide(0.1, 0.5, pairs=3).round())
    79.0
    """
    d, sigma = np.broadcast_arrays(np.asarray(gap, float), np.asarray(deviation, float))
    if not ((d >= 0) & (sigma >= 0)).all():
        raise AuditError("gaps and deviations are 0 or more")
    if not 0 < delta < 1:
        raise AuditError(f"a tolerance delta of {delta:g} cannot be planned for; it lies between 0 and 1, such as 0.02")
    z = float(ndtri(1 - (1 - confidence) / pairs))
    return np.square(z * sigma / ((d if stops else 0.0) + delta))


def _estimate(values: np.ndarray, kinds: np.ndarray, common: int) -> tuple[float, float, float]:
    """Difference of SR_g, deviation of one judged group's part in it, and the effective number of judged groups."""
    n, size = len(values), len(kinds)
    if n > size:
        raise AuditError(f"{n} judged of {size} informative groups is impossible; allowed are 0 to {size}")
    if not np.isfinite(values).all():
        raise AuditError(f"difference {int(np.flatnonzero(~np.isfinite(values))[0])} (from 0) is not a finite number")
    if not size:
        return 0.0, 0.0, math.inf
    if not n:
        return 0.0, size / common, 0.0
    kind = kinds[:n]
    counts, sizes = np.bincount(kind, minlength=3).astype(float), np.bincount(kinds, minlength=3)
    sums = np.bincount(kind, values, minlength=3)
    squares = np.bincount(kind, np.square(values), minlength=3)
    thin = (counts < THIN) & (counts < sizes)
    if thin.any():  # pooled into one stratum, with a richer one where that is still thin
        if counts[thin].sum() < THIN and (~thin).any():
            thin[np.flatnonzero(~thin)[np.argmax(counts[~thin])]] = True
        pool = [np.append(part[~thin], part[thin].sum()) for part in (counts, sizes, sums, squares)]
        counts, sizes, sums, squares = pool
    present = sizes > 0
    counts, sizes, sums, squares = (part[present] for part in (counts, sizes, sums, squares))
    means = sums / np.maximum(counts, 1)
    weight = sizes / size
    # Half a unit of spread more than was seen: a few groups that happen to be alike prove little.
    variance = np.maximum(squares - counts * means**2 + 0.5, 0) / (counts + 0.5)
    spread = math.sqrt(float((np.square(weight) * variance / np.maximum(counts, 1)).sum()) * n)
    share = size / common
    return share * float((weight * means).sum()), share * spread, float(effective_size(n, size))


def _risk(margin: float, error: float) -> float:
    if error == 0:
        return float(margin < -1e-12)
    return float(ndtr(-margin / error))
