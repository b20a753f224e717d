"""When a comparison of systems is decided (who wins, or the whole order, up to a tolerance), and what to judge next.

A relation's groups are those that apply to every compared system; y = 1 where a system satisfies and is right, else 0,
and SR_g is the mean of y. For a pair of systems a group in which both are satisfied with identical outputs, or neither
is satisfied, adds exactly 0 to the difference of their SR_g, whatever the truth is. The others are informative, of
three kinds whose numbers are known before anybody judges: only the first is satisfied, only the second is, or both are
with different outputs. So a pair's difference and the evidence for it come from the first informative groups of the
drawn order alone, with their kinds taken into account.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from audit.errors import AuditError
from audit.statistics.confidence_sequences import evidence_above, kind_means, sum_sequence

Goal = Literal["winner", "order"]
RANGES = ((0, 1), (-1, 0), (-1, 1))
"""What y_i - y_j can be in a group of each kind."""
MIXED = 2.0
"""Log of evidence that is lost by staking several fractions at once (`confidence_sequences.FRACTIONS`), about."""
SEEN = 20
"""Judged groups of a pair, or all where there are fewer, from which its spread is taken instead of a guess."""


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
    j, `low` and `high` are the ends of intervals that all hold together, however often one looked. `p[i, j]` bounds,
    however often one looked, how probable so much for i would be were it worse than j by more than delta. `risk` is the
    sum of p over the comparisons that the decision rests on. `open_pairs` holds, by pair, whether one of these is not
    decided. `deviation` is, by pair, the standard deviation of one judged group's part in the difference."""

    order: tuple[int, ...]
    decided: bool
    risk: float
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    open_pairs: np.ndarray
    deviation: np.ndarray


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
) -> Standing:
    """The state of a contest. `differences` has for each pair (i, j) the values y_i - y_j of its first judged
    informative groups, in their order: -1, 0 or 1, arrays of any length up to the pair's number of groups.

    A comparison "i is not worse than j by more than delta" is decided when the evidence against the contrary
    (`confidence_sequences.evidence_above`) was ever strong enough for its part of 1 - confidence, and where everything
    is judged, when it is true. The winner is decided when one system is decided against every other one, the order when
    every system is against all that come after. To be wrong, one of the comparisons with the system that is truly best
    must be wrong (for the order: one of all pairs), so that the parts are 1 - confidence over `pairs_of`: however often
    one looks, and whatever pairs one judges on, P(wrong by more than delta) <= 1 - confidence for every contest.

    Raises AuditError where lengths do not fit, a value cannot be, or delta or confidence is out of range.

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
    level = 1 - (1 - confidence) / len(of.pairs)
    shape = (of.systems, of.systems)
    difference, low, high, p = (np.zeros(shape) for _ in range(4))
    deviation = np.zeros(len(of.pairs))
    for number, ((i, j), of_pair, kinds) in enumerate(zip(of.pairs, differences, of.kinds, strict=True)):
        values = np.asarray(of_pair, float)
        sizes, kind = np.bincount(kinds, minlength=3), kinds[: len(values)]
        for first, second, sign in ((i, j, 1), (j, i, -1)):
            p[first, second] = worse_p(sign * values, kind, sizes, of.common, delta, sign)
        ends = sum_sequence(values, kind, sizes, RANGES, level)
        total, deviation[number] = _estimate(values, kind, sizes, of.common)
        scale = max(of.common, 1)
        difference[i, j] = min(max(total, ends[0]), ends[1]) / scale
        low[i, j], high[i, j] = ends[0] / scale, ends[1] / scale
        # 0 minus them: no report shall have a -0.0.
        difference[j, i], low[j, i], high[j, i] = 0.0 - difference[i, j], 0.0 - high[i, j], 0.0 - low[i, j]
    order = _order(p <= share, difference)
    chosen = [(order[a], order[b]) for a, b in combinations(range(of.systems), 2) if goal == "order" or a == 0]
    undecided = {(min(one), max(one)) for one in chosen if p[one] > share}
    open_pairs = np.array([pair in undecided for pair in of.pairs])
    risk = min(float(sum(p[one] for one in chosen)), 1.0)
    return Standing(order, not undecided, risk, difference, low, high, p, open_pairs, deviation)


def worse_p(
    values: np.ndarray, kinds: np.ndarray, sizes: np.ndarray, common: int, delta: float, sign: int = 1
) -> float:
    """Always-valid p that the first system of a pair is worse than the second by more than delta.

    `values` (n,) are y of the first minus y of the second, `kinds` (n,) and `sizes` (3,) those of the pair (i, j), i <
    j; `sign` is -1 where the first is j. Where all is judged it is 1 or 0.

    >>> groups = np.array([1.0, 1.0, 0.0] * 10), np.zeros(30, int), np.array([60, 0, 0])
    >>> worse_p(*groups, common=100, delta=0.02) < 1e-9, worse_p(-groups[0], *groups[1:], 100, 0.02, sign=-1)
    (True, 1.0)
    """
    total = most_refuted(common, delta)
    if len(values) == sizes.sum():
        return float(values.sum() <= total)
    ranges = RANGES if sign == 1 else tuple((-most, -least) for least, most in RANGES)
    path = evidence_above(values, total, kinds, sizes, ranges)
    sure = -sizes[1] - sizes[2] if sign == 1 else -sizes[0] - sizes[2]
    return 0.0 if sure > total else math.exp(-max(float(path.max(initial=0.0)), 0.0))


def most_refuted(common: int, delta: float) -> int:
    """The largest sum of y_i - y_j over `common` groups at which i is worse than j by more than delta.

    >>> most_refuted(1000, 0.02), most_refuted(1000, 0.0)
    (-21, -1)
    """
    return math.ceil(-delta * common - 1e-9) - 1


def _order(supported: np.ndarray, difference: np.ndarray) -> tuple[int, ...]:
    """The systems, best first: each time one that is decided against all that are left, else the one whose least
    difference to them is largest. Sums of differences would compare unlike things where pairs are judged unequally."""
    left, order = list(range(len(difference))), []
    while left:
        others = {i: [j for j in left if j != i] for i in left}
        worth = {i: (supported[i, others[i]].all(), min(difference[i, others[i]], default=0.0)) for i in left}
        order.append(max(left, key=lambda i: worth[i]))
        left.remove(order[-1])
    return tuple(order)


def first_groups(of: Contest, sizes: ArrayLike) -> int:
    """How many of a contest's informative groups must be judged, in the drawn order, to have the first `sizes` (pairs,)
    of every pair: the number that `audit sample --design informative` is asked for.

    >>> first_groups(contest([[1, 0, 0], [0, 0, 0], [1, 0, 1], [0, 1, 1]], [[1, 1, 1]] * 4), [2, 0, 1])
    2
    """
    every = np.unique(np.concatenate(of.groups))
    last = [int(groups[size - 1]) for groups, size in zip(of.groups, np.asarray(sizes, int), strict=True) if size]
    return int(np.searchsorted(every, max(last), "right")) if last else 0


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
    evidence of log(pairs / (1 - confidence)), of which a judged group brings ((gap + delta) / deviation)^2 / 2 on
    average; `MIXED` more is what betting fractions side by side costs. A fixed one does not know the gap and must tell
    delta from 0 in the least favourable case: delta / standard error >= z, with the risk (1 - confidence) / pairs on
    one side. Source of the latter: Bechhofer, Annals of Mathematical Statistics 25 (1954). Raises AuditError for
    numbers out of range.

    >>> float(needed_to_decide(0.1, 0.5, pairs=3).round())
    212.0
    """
    d, sigma = np.broadcast_arrays(np.asarray(gap, float), np.asarray(deviation, float))
    if not ((d >= 0) & (sigma >= 0)).all():
        raise AuditError("gaps and deviations are 0 or more")
    if not 0 < delta < 1:
        raise AuditError(f"a tolerance delta of {delta:g} cannot be planned for; it lies between 0 and 1, such as 0.02")
    share = (1 - confidence) / pairs
    if stops:
        return 2 * (MIXED - math.log(share)) * np.square(sigma / (d + delta))
    return np.square(float(ndtri(1 - share)) * sigma / delta)


def _estimate(values: np.ndarray, kind: np.ndarray, sizes: np.ndarray, common: int) -> tuple[float, float]:
    """Sum of y_i - y_j over all groups, and the standard deviation of one judged group's part in their mean.

    The means of the kinds weighted by their known sizes, and what they leave unexplained (Cochran, 1977, 5A.9, with
    means that a kind judged little shrinks to its middle); the sum itself where everything is judged.
    """
    n, size = len(values), int(sizes.sum())
    means = kind_means(np.bincount(kind, minlength=3), np.bincount(kind, values, minlength=3), RANGES)
    rest = values - means[kind]
    total = float((sizes * means).sum()) + size * (float(rest.mean()) if n else 0.0)
    # Half a unit of spread more than was seen: a few groups that happen to be alike prove little.
    spread = math.sqrt((float(np.square(rest).sum()) + 0.5) / (n + 0.5))
    return total, size / max(common, 1) * spread
