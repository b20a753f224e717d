"""How many questions a design needs: for a half-width of every cell, or for decisions about relations.

Pure functions on frames and arrays; `audit.reports.plan` gets these from a database. What is counted are questions, not
groups: one answer settles groups of several systems and relations, and lists that share their random numbers overlap.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import logsumexp, ndtri

from audit.errors import AuditError
from audit.statistics.comparison import ENOUGH_FOR_P_BEST
from audit.statistics.intervals import check_confidence, first_of

# How many groups to judge of each cell for a half-width.
#
# All functions take arrays with one entry a cell. A cell has `population` satisfied groups, a share `rate` of which is
# false; a simple random sample of them is judged without replacement.


def effective_size(judged: ArrayLike, population: ArrayLike) -> np.ndarray:
    """Size of a sample with replacement that is as precise: n (N - 1) / (N - n), infinite where all N were judged.

    Source: Cochran, Sampling Techniques (1977), section 3.

    >>> effective_size([50, 100], [100, 100]).round(1).tolist()
    [99.0, inf]
    """
    n, total = np.asarray(judged, float), np.asarray(population, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n >= total, np.inf, n * (total - 1) / (total - n))


def judged_size(effective: ArrayLike, population: ArrayLike) -> np.ndarray:
    """The whole number of groups to judge for an effective size: the inverse of `effective_size`, rounded up.

    >>> judged_size([99.0, np.inf], [100, 100]).tolist()
    [50, 100]
    """
    size, total = np.broadcast_arrays(np.asarray(effective, float), np.asarray(population, float))
    # Of one group either none or all are judged: only there the sum below is not above 0.
    exact = np.where(total <= 1, np.minimum(size, total), 0.0)
    many = (total > 1) & np.isfinite(size)
    np.divide(np.where(many, size, 0.0) * total, size + total - 1, out=exact, where=many)
    exact = np.where(np.isinf(size), total, exact)
    # A last bit above a whole number is not another group.
    sizes: np.ndarray = np.minimum(np.ceil(exact - 1e-9), total).astype(int)
    return sizes


def sizes_for_half_width(
    rate: ArrayLike, population: ArrayLike, half_width: float, confidence: float = 0.95
) -> np.ndarray:
    """Groups to judge of each cell so that Wilson's interval reaches `half_width` when `rate` is what comes out.

    `rate` in [0, 1] is the expected R_FS: 1/2 is the worst case. Shape of the result: that of `rate` and `population`
    broadcast, whole numbers at most `population`. Wilson's half-width at the effective size m is
    z sqrt(pq/m + z^2/4m^2) / (1 + z^2/m); with x = z^2/m that is a quadratic equation in x. Raises AuditError where
    the half-width is not between 0 and 1/2 or a rate or population is impossible.

    >>> sizes_for_half_width([0.5, 0.1], [100_000, 100_000], 0.05).tolist()
    [379, 141]
    """
    p, total = np.broadcast_arrays(np.asarray(rate, float), np.asarray(population, float))
    if not 0 < half_width < 0.5:
        raise AuditError(f"a half-width of {half_width:g} is impossible; it lies between 0 and 0.5, for example 0.05")
    check_confidence(confidence)
    if (wrong := p[~((p >= 0) & (p <= 1))]).size:
        raise AuditError(f"rate {wrong[0]:g} of a cell is impossible; it is 0 to 1")
    if (wrong := total[~(total >= 0)]).size:
        raise AuditError(f"{wrong[0]:g} satisfied groups are impossible; a count is 0 or more")
    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    h2, middle = half_width**2, p * (1 - p) - 2 * half_width**2
    x = (np.sqrt(middle**2 + 4 * (0.25 - h2) * h2) - middle) / (2 * (0.25 - h2))
    return judged_size(z2 / x, total)


# Evidence that holds at every number of judgements at once, so that one may stop whenever a decision is made.
#
# A fixed-n 95 % interval that is looked at again and again until it says what one hopes for holds less often than 95 %.
# A confidence sequence holds at all looks together. The price is width: about half as wide again.

FRACTIONS = 0.02 * 2.0 ** np.arange(6)
"""Parts of the largest bet that are staked side by side: small ones win slowly in long lists, large ones early."""
UNSURE = 2
"""Values in the middle of its range that each kind's mean begins with."""


def kind_means(counts: ArrayLike, sums: ArrayLike, ranges: Sequence[tuple[int, int]] = ((-1, 1),)) -> np.ndarray:
    """What is expected of the next value of each kind: arrays (..., kinds) -> (..., kinds).

    The mean of the `counts` values seen, which add up to `sums`, and of `UNSURE` in the middle of the kind's range.

    >>> kind_means([0, 8], [0, 6], [(0, 1), (0, 1)]).tolist()
    [0.5, 0.7]
    """
    middle = np.mean(ranges, axis=1)
    return np.asarray((np.asarray(sums, float) + UNSURE * middle) / (np.asarray(counts, float) + UNSURE))


def evidence_above(
    values: ArrayLike,
    total: int,
    kinds: ArrayLike,
    sizes: ArrayLike,
    ranges: Sequence[tuple[int, int]] = ((-1, 1),),
) -> np.ndarray:
    """Log of the evidence that a whole list adds up to more than `total`, after each of its first values: (n,) -> (n,).

    The list is drawn at random without replacement. Each value is a whole number of a kind known before: `kinds` (n,)
    are those of the values, `sizes` how many of each kind the list has, `ranges` the least and most that one can be.
    The evidence is the capital of a gambler who begins with 1 and bets that the next value is above what is left of
    `total` allows on average; what kind it has is taken out, so that nothing is lost by how kinds happen to come. Where
    the sum is `total` or less the bets are unfair, so that P(capital >= 1 / alpha at any number of values) <= alpha
    (Ville): an exact bound, whoever stops whenever. It is infinite where the values left cannot bring the sum down to
    `total`, and falls in `total`. Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by
    betting" (JRSS B 86, 2024), section 5 (without replacement), with a mixture of constant fractions instead of their
    predictable one. Raises AuditError where a value cannot be, or there are more than the list has.

    >>> evidence_above([1, 1, 1, -1, 1], 0, [0] * 5, [40]).round(2).tolist()
    [0.19, 0.42, 0.71, 0.28, 0.53]
    """
    x, kind, size = _drawn(values, kinds, sizes, ranges)
    least, n = np.array(ranges, float)[:, 0], len(x)
    own = np.zeros((n, len(size)))
    own[np.arange(n), kind] = 1
    count, added = np.cumsum(own, axis=0), np.cumsum(own * x[:, None], axis=0)
    left = size - (count - own)
    means = kind_means(count - own, added - own * x[:, None], ranges)
    allowed = (total - (np.cumsum(x) - x) - (left * means).sum(axis=1)) / (size.sum() - np.arange(n))
    gain = x - means[np.arange(n), kind] - allowed
    loss = allowed - np.where(left > 0, least - means, np.inf).min(axis=1, initial=np.inf)
    fair = loss > 1e-12
    odds = np.where(fair, gain / np.where(fair, loss, 1.0), np.where(gain > 1e-9, 1e300, 0.0))
    staked = np.cumsum(np.log1p(FRACTIONS[:, None] * odds), axis=1)
    sure = np.cumsum(x) + ((size - count) * least).sum(axis=1) > total
    return np.where(sure, np.inf, logsumexp(staked, axis=0) - math.log(len(FRACTIONS)))


def sum_sequence(
    values: ArrayLike,
    kinds: ArrayLike,
    sizes: ArrayLike,
    ranges: Sequence[tuple[int, int]] = ((-1, 1),),
    confidence: float = 0.95,
) -> tuple[int, int]:
    """Lower and upper end for the sum of a list, of which `values` came first: a confidence sequence.

    Arguments are those of `evidence_above`; each side has half the risk. Every sum is left out against which the
    evidence was ever strong enough, or that the values left make impossible; so it is exact when all are known.

    >>> sum_sequence([1, 1, 0, 1, 0, 1, 1, 1], [0] * 8, [10], [(0, 1)])
    (6, 8)
    """
    x, kind, size = _drawn(values, kinds, sizes, ranges)
    check_confidence(confidence)
    needed, left = math.log(2 / (1 - confidence)), size - np.bincount(kind, minlength=len(size))

    def least(values: np.ndarray, limits: Sequence[tuple[int, int]]) -> int:
        low, high = (int(values.sum() + (left * np.array(side)).sum()) for side in zip(*limits, strict=True))
        if not len(values):
            return low
        # Evidence falls in the total: the least one that is not refuted.
        return first_of(range(low, high), lambda sum: evidence_above(values, sum, kind, sizes, limits).max() < needed)

    ends = least(x, ranges), -least(-x, [(-most, -least) for least, most in ranges])
    return min(ends), max(ends)


def _drawn(
    values: ArrayLike, kinds: ArrayLike, sizes: ArrayLike, ranges: Sequence[tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first values of a list, their kinds and the sizes of all kinds as arrays, if they can be."""
    x, kind, size = np.asarray(values, float), np.asarray(kinds, int), np.asarray(sizes, int)
    if len(x) != len(kind) or (np.bincount(kind, minlength=len(size)) > size).any():
        raise AuditError(
            f"{len(x)} judged of {size.sum()} informative groups is impossible; allowed are 0 to {size.sum()}"
        )
    least, most = np.array(ranges, float).T
    impossible = np.flatnonzero(~((x >= least[kind]) & (x <= most[kind]) & (x == np.round(x))))
    if len(impossible):
        at = impossible[0]
        limits = f"from {least[kind[at]]:g} to {most[kind[at]]:g}"
        raise AuditError(f"difference {at} (from 0) is {x[at]:g}; of its kind it is a whole number {limits}")
    return x, kind, size


# When a comparison of systems is decided (who wins, or the whole order, up to a tolerance), and what to judge next.
#
# A pair's groups are those that apply to both systems; y = 1 where a system satisfies and is right, else 0, and SR_g is
# the mean of y. A group in which both are satisfied with identical outputs, or neither is satisfied, adds exactly 0 to
# the difference of their SR_g, whatever the truth is. The others are informative, of three kinds whose numbers are
# known before anybody judges: only the first is satisfied, only the second is, or both are with different outputs. So
# a pair's difference and the evidence for it come from the first informative groups of the drawn order alone, with
# their kinds taken into account.

Goal = Literal["winner", "order"]
RANGES = ((0, 1), (-1, 0), (-1, 1))
"""What y_i - y_j can be in a group of each kind."""
MIXED = 2.0
"""Log of evidence that is lost by staking several fractions at once (`FRACTIONS`), about."""
SEEN = 20
"""Judged groups of a pair, or all where there are fewer, from which its spread is taken instead of a guess."""


@dataclass(frozen=True)
class Contest:
    """One relation: for each pair (i, j), i < j, of its `systems` the informative groups as positions in the drawn
    order, and their kinds (0: only i is satisfied, 1: only j is, 2: both, with different outputs).

    `common` is how many groups there are, which apply to two systems or more, `shared` by pair how many apply to both.
    """

    systems: int
    common: int
    pairs: tuple[tuple[int, int], ...]
    shared: tuple[int, ...]
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


def contest(satisfied: ArrayLike, output: ArrayLike, applies: ArrayLike | None = None) -> Contest:
    """The pairs of one relation from what is known without any judgement.

    `satisfied` (groups, systems) of bool and `output` (groups, systems) of codes, equal where the outputs on all
    members of the group are identical; rows in the drawn order. `applies` (groups, systems) of bool says to which
    systems a group applies; None: to all. Raises AuditError where shapes differ or there are fewer than two systems.

    >>> pair = contest([[1, 1], [1, 1], [1, 0], [0, 0]], [[5, 5], [5, 6], [5, 5], [7, 8]])
    >>> pair.groups[0].tolist(), pair.kinds[0].tolist()
    ([1, 2], [2, 0])
    """
    satisfies, code = np.asarray(satisfied, bool), np.asarray(output)
    if satisfies.ndim != 2 or satisfies.shape != code.shape or satisfies.shape[1] < 2:
        raise AuditError(
            "a contest needs satisfied and outputs of one shape: a row a group, a column a system, 2 or more"
        )
    both = np.ones(satisfies.shape, bool) if applies is None else np.asarray(applies, bool)
    pairs = tuple(combinations(range(satisfies.shape[1]), 2))
    groups, kinds = [], []
    for i, j in pairs:
        kind = np.full(len(satisfies), -1)
        kind[satisfies[:, i] & ~satisfies[:, j]] = 0
        kind[satisfies[:, j] & ~satisfies[:, i]] = 1
        kind[satisfies[:, i] & satisfies[:, j] & (code[:, i] != code[:, j])] = 2
        groups.append(np.flatnonzero((kind >= 0) & both[:, i] & both[:, j]))
        kinds.append(kind[groups[-1]])
    shared = tuple(int((both[:, i] & both[:, j]).sum()) for i, j in pairs)
    return Contest(satisfies.shape[1], len(satisfies), pairs, shared, tuple(groups), tuple(kinds))


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
    (`evidence_above`) was ever strong enough for its part of 1 - confidence, and where everything
    is judged, when it is true. The winner is decided when one system is decided against every other one, the order when
    every system is against all that come after. To be wrong, one of the comparisons with the system that is truly best
    must be wrong (for the order: one of all pairs), so that the parts are 1 - confidence over `pairs_of`: however often
    one looks, and whatever pairs one judges on, P(wrong by more than delta) <= 1 - confidence for every contest.

    Raises AuditError where lengths do not fit, a value cannot be, or delta or confidence is out of range.

    >>> pair = contest([[1, 0], [0, 1]] * 100, [[1, 1]] * 200)
    >>> state = standing(pair, [[1, 0] * 40])
    >>> state.order, state.decided, round(float(state.difference[0, 1]), 3)
    ((0, 1), True, 0.5)
    """
    if not 0 <= delta < 1:
        raise AuditError(f"a tolerance delta of {delta:g} is impossible; it is 0 or more and below 1, for example 0.02")
    check_confidence(confidence)
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
        common = of.shared[number]
        for first, second, sign in ((i, j, 1), (j, i, -1)):
            # Systems that share no group are never told apart.
            p[first, second] = worse_p(sign * values, kind, sizes, common, delta, sign) if common else 1.0
        ends = sum_sequence(values, kind, sizes, RANGES, level)
        total, deviation[number] = _estimate(values, kind, sizes, common)
        scale = max(common, 1)
        difference[i, j] = min(max(total, ends[0]), ends[1]) / scale
        low[i, j], high[i, j] = ends[0] / scale, ends[1] / scale
        # 0 minus them: no report shall have a -0.0.
        difference[j, i], low[j, i], high[j, i] = 0.0 - difference[i, j], 0.0 - high[i, j], 0.0 - low[i, j]
    order = _order(p <= share, difference)
    chosen = [(order[a], order[b]) for a, b in combinations(range(of.systems), 2) if goal == "order" or a == 0]
    undecided = {(min(contrast), max(contrast)) for contrast in chosen if p[contrast] > share}
    open_pairs = np.array([pair in undecided for pair in of.pairs])
    risk = min(float(sum(p[contrast] for contrast in chosen)), 1.0)
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
    unplaced, order = list(range(len(difference))), []
    while unplaced:
        others = {i: [j for j in unplaced if j != i] for i in unplaced}
        worth = {i: (supported[i, others[i]].all(), min(difference[i, others[i]], default=0.0)) for i in unplaced}
        order.append(max(unplaced, key=lambda i: worth[i]))
        unplaced.remove(order[-1])
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

    >>> pair = contest([[1, 0], [0, 1], [1, 1], [0, 0]], [[1, 1], [1, 1], [1, 2], [1, 1]])
    >>> expected_deviation(pair).round(3).tolist()
    [0.53]
    """
    one_sided, two_sided = (0.25, 1.0) if rate is None else (rate * (1 - rate), 1 - rate**2)
    deviations = np.zeros(len(of.pairs))
    for number, kinds in enumerate(of.kinds):
        weight = np.bincount(kinds, minlength=3) / max(len(kinds), 1)
        deviations[number] = (
            len(kinds)
            / max(of.shared[number], 1)
            * math.sqrt((weight[0] + weight[1]) * one_sided + weight[2] * two_sided)
        )
    return deviations


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


GUESS = 0.3
"""R_FS that is expected where nothing is judged: the study's median cell is about that."""
GAP = 0.1
"""Difference of SR_g between two systems that is expected where nothing is judged."""
GROWTH = 1.25
"""A contest that is not decided where it was expected to be is looked at again with this many times the groups."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a design needs. `questions` is expected (a guess, or what is known so far), `questions_worst` bounds it for
    a rate of 1/2, or no difference between systems, everywhere; `answered` of the expected ones are known already."""

    design: str
    questions: int
    questions_worst: int
    answered: int

    @property
    def to_go(self) -> int:
        """Questions that nobody has answered."""
        return self.questions - self.answered


def distinct_questions(lists: pd.DataFrame, sizes: np.ndarray, answered: np.ndarray | None = None) -> tuple[int, int]:
    """Distinct questions that settle the first `sizes[cell]` groups of each cell, and how many of them are known.

    `lists` has one row a (group of a cell, question): cell (0.. as in `sizes`), rank (from 1), question (a number).
    `answered` are the numbers of answered questions.

    >>> lists = pd.DataFrame({"cell": [0, 0, 1], "rank": [1, 2, 1], "question": [7, 8, 7]})
    >>> distinct_questions(lists, np.array([2, 1]), np.array([8]))
    (2, 1)
    """
    if not len(lists):
        return 0, 0
    cell, rank = lists["cell"].to_numpy(), lists["rank"].to_numpy()
    questions = np.unique(lists["question"].to_numpy()[rank <= np.asarray(sizes)[cell]])
    return len(questions), 0 if answered is None else int(np.isin(questions, answered).sum())


def sizes_to_decide(
    of: Contest,
    at: Standing,
    judged: Sequence[int],
    goal: Goal,
    delta: float = 0.02,
    confidence: float = 0.95,
    guess: float = GUESS,
    gap: float = GAP,
) -> dict[str, tuple[int, int]]:
    """For each design the first informative groups of one contest to judge, for all systems: expected, and at worst.

    `judged` has by pair how many of its informative groups are judged, `at` is where they leave the contest. `shared`
    fixes the number for the least favourable difference delta; `always-valid` ends when the decision is made. Fewer
    than `SEEN` judged of a pair: its difference is expected to be `gap`, its spread that of `guess`. What is decided
    needs no more than it has, and what P(best) needs in a report (`ENOUGH_FOR_P_BEST`).

    >>> from audit.statistics.planning import contest, standing
    >>> pair = contest([[1, 0], [0, 1]] * 2000, [[1, 1]] * 4000)
    >>> sizes_to_decide(pair, standing(pair, [[]]), [0], "winner")
    {'shared': (1049, 1189), 'always-valid': (141, 2439)}
    """
    pairs = pairs_of(goal, of.systems)
    size = np.array([len(groups) for groups in of.groups])
    have = np.asarray(judged, int)
    seen = have >= np.minimum(SEEN, size)
    first, second = (np.array(side) for side in zip(*of.pairs, strict=True))
    worst = expected_deviation(of)
    deviation = np.where(seen, at.deviation, expected_deviation(of, guess))
    # A pair rests on its leader's lead: where the leader is behind, nothing can be expected of it.
    place = np.argsort(at.order)
    lead = at.difference[first, second] * np.where(place[first] < place[second], 1, -1)
    distance = np.where(seen, np.maximum(lead, 0.0), gap)
    rests = at.open_pairs if seen.all() or at.decided else np.ones(len(size), bool)
    # Where as many as were expected have not decided it, a quarter more is looked at.
    more = np.minimum(np.ceil(have * GROWTH), size).astype(int)

    def sized(wanted: np.ndarray, which: np.ndarray, least: np.ndarray) -> int:
        return first_groups(of, np.where(which, np.maximum(judged_size(wanted, size), least), have))

    every = np.full(len(size), not at.decided)
    enough = min(ENOUGH_FOR_P_BEST, len(np.unique(np.concatenate(of.groups))))
    sizes = {}
    for design, stops, which, least in (("shared", False, every, have), ("always-valid", True, rests, more)):
        wanted = (
            needed_to_decide(far, spread, pairs, delta, confidence, stops)
            for far, spread in ((distance, deviation), (0.0, worst))
        )
        expected, most = (sized(effective, which, least) for effective in wanted)
        sizes[design] = (max(expected, enough), max(expected, most, enough))
    return sizes


# What judging costs: questions times people times the pace of one answer.


@dataclass(frozen=True, slots=True)
class Cost:
    """Work in answers, hours of people and money; None where no pace or no price was given."""

    answers: int
    hours: float | None
    price: float | None


def cost(questions: int, annotators: int = 2, pace: float | None = None, price_per_hour: float | None = None) -> Cost:
    """The cost of `questions` that `annotators` people answer each, at `pace` seconds an answer.

    `price_per_hour` is in any currency; the price has the same. Adjudication is not in it: how many questions will be
    disputed is not known before. Raises AuditError on a negative count, pace or price, and on a price without a pace.

    >>> cost(1200, annotators=2, pace=6, price_per_hour=20)
    Cost(answers=2400, hours=4.0, price=80.0)
    """
    if questions < 0:
        raise AuditError(f"{questions} questions are impossible; a count is 0 or more")
    if annotators < 1:
        raise AuditError(f"{annotators} annotators per question are impossible; at least 1 is needed")
    if pace is not None and not 0 < pace < float("inf"):
        raise AuditError(f"a pace of {pace:g} seconds an answer is impossible; it is above 0, for example 6")
    if price_per_hour is not None and not 0 <= price_per_hour < float("inf"):
        raise AuditError(f"a price of {price_per_hour:g} per hour is impossible; it is 0 or more, for example 20")
    if price_per_hour is not None and pace is None:
        raise AuditError("a price per hour needs a pace: say how many seconds an answer takes")
    answers = questions * annotators
    hours = None if pace is None else answers * pace / 3600
    return Cost(answers, hours, None if hours is None or price_per_hour is None else hours * price_per_hour)
