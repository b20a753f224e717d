"""When a comparison of systems is decided: who wins, or the whole order, up to a tolerance delta.

Input are groups to which every compared system's relation applies, with y = 1 where the system satisfies and is right
and y = 0 where it does not or is not: SR_g is the mean of y. A group in which all systems are satisfied with identical
outputs, or none is satisfied, has the same y for all and adds exactly 0 to every difference, so only the other,
informative groups are judged. Of `common` groups `informative` are; the difference of two systems is
informative / common times the mean difference over a sample of the informative ones.
"""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from audit.errors import AuditError
from audit.statistics.confidence_sequences import ASYMPTOTIC_FROM, asymptotic_half_width

Goal = Literal["winner", "order"]
LEAST = 20
"""Informative groups of a relation that are judged before the posterior rule may stop (or all, where there are fewer):
below that a normal posterior is none."""


@dataclass(frozen=True)
class Standing:
    """Where a comparison stands. `order` has the systems' columns, best first; `difference[i, j]` estimates SR_g of i
    minus SR_g of j, `low` and `high` are the ends of its interval, all pairs holding together.

    `risk` bounds the posterior probability that the decision is wrong by more than delta: the sum over its pairs.
    """

    order: tuple[int, ...]
    decided: bool
    risk: float
    judged: int
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray


def pairs_of(goal: Goal, systems: int) -> int:
    """Comparisons that a decision rests on: the winner against each other one, or every pair.

    >>> pairs_of("winner", 4), pairs_of("order", 4)
    (3, 6)
    """
    if goal not in get_args(Goal):
        raise AuditError(f"a decision about {goal!r} is not known; it is about winner or order")
    return systems - 1 if goal == "winner" else systems * (systems - 1) // 2


def standing(
    judged: ArrayLike,
    informative: int,
    common: int,
    goal: Goal = "winner",
    delta: float = 0.02,
    confidence: float = 0.95,
    always_valid: bool = False,
) -> Standing:
    """The state of one comparison from `judged`, an array (sampled informative groups, systems) of 0 and 1.

    The rows are the first of a random order of the informative groups. They may be other numbers, too: those that
    `prediction_powered.adjusted` makes of 0 and 1 with a proxy. With `always_valid` it is decided when the
    asymptotic confidence sequences of all pairs (Bonferroni) exclude a difference beyond delta the wrong way: that
    holds at `confidence` however often one looks. Otherwise by the approximate posterior: each difference is normal
    around its estimate, with the finite population correction; it is decided when the probabilities that a pair is
    wrong by more than delta add up to at most 1 - confidence. How often that rule is wrong although it looks after
    every group is shown in docs/planning.md. The intervals are the sequence's in both cases, so that they hold after
    stopping early. Source of the rule: Bayesian selection with a tolerance, Chick and Inoue, Operations Research 49
    (2001), section 2.

    Raises AuditError where there are fewer than two systems, values that are not finite, or more rows than groups.

    >>> seen = np.array([[1, 0]] * 30 + [[0, 1]] * 10)
    >>> at = standing(seen, informative=300, common=1000)
    >>> at.order, at.decided, round(float(at.difference[0, 1]), 3)
    ((0, 1), True, 0.15)
    """
    y = np.asarray(judged, float)
    if y.ndim != 2 or y.shape[1] < 2:
        raise AuditError("a comparison needs an array with one row a group and one column a system, two or more")
    if not np.isfinite(y).all():
        row, column = (int(at[0]) for at in np.nonzero(~np.isfinite(y)))
        raise AuditError(
            f"judged group {row}, system {column} (counted from 0) is no number; allowed are 1 (genuinely satisfied) and 0"
        )
    n, systems = y.shape
    if not n <= informative <= common:
        raise AuditError(f"{n} judged of {informative} informative of {common} groups is impossible")
    if not 0 <= delta < 1:
        raise AuditError(f"a tolerance delta of {delta:g} is impossible; it is 0 or more and below 1, for example 0.02")
    if not 0 < confidence < 1:
        raise AuditError(f"confidence {confidence:g} is impossible; it lies between 0 and 1, for example 0.95")
    pairs = pairs_of(goal, systems)
    every = systems * (systems - 1) // 2
    share = informative / common if common else 0.0
    difference, deviation = _differences(y)
    difference, deviation = share * difference, share * deviation
    effective = math.inf if n == informative else n * (informative - 1) / (informative - n)
    wide = np.full((systems, systems), share)
    if math.isinf(effective) or n >= ASYMPTOTIC_FROM:
        wide = np.minimum(asymptotic_half_width(effective, deviation, 1 - (1 - confidence) / every), 2 * share)
    # Differences cannot leave what the groups that nobody judged still allow.
    least = share * -1.0
    low, high = np.clip(difference - wide, least, share), np.clip(difference + wide, least, share)
    if n < min(ASYMPTOTIC_FROM, informative):
        low, high = np.full_like(low, least), np.full_like(high, share)
    np.fill_diagonal(low, 0.0)
    np.fill_diagonal(high, 0.0)
    order = tuple(int(i) for i in np.argsort(-difference.mean(axis=1), kind="stable"))
    chosen = [(order[0], other) for other in order[1:]]
    if goal == "order":
        chosen = [(order[i], order[j]) for i in range(systems) for j in range(i + 1, systems)]
    first, second = (np.array(side) for side in zip(*chosen, strict=True))
    risk = _risk(difference[first, second] + delta, deviation[first, second], effective) if n else float(pairs)
    if always_valid:
        decided = bool((low[first, second] >= -delta - 1e-12).all())
    else:
        decided = n >= min(LEAST, informative) and risk <= 1 - confidence
    return Standing(order, decided, min(risk, 1.0), n, difference, low, high)


def needed_to_decide(
    gap: ArrayLike,
    deviation: ArrayLike,
    population: ArrayLike,
    pairs: int,
    delta: float = 0.02,
    confidence: float = 0.95,
    adaptive: bool = True,
) -> np.ndarray:
    """Values to draw until one pair's difference is decided: arrays over pairs broadcast -> effective sizes (floats).

    `gap` is the expected absolute difference, `deviation` the standard deviation of one group's difference. A design
    that stops (`adaptive`) needs (gap + delta) / standard error to reach z; a fixed one does not know the gap and must
    tell delta from 0 in the least favourable case: delta / standard error >= z. z has the risk (1 - confidence) /
    pairs on one side. `population` is only checked. Source: Bechhofer, Annals of Mathematical Statistics 25 (1954).

    >>> needed_to_decide(0.1, 0.5, 1e6, pairs=3).round().tolist()
    79.0
    """
    d, sigma, total = np.broadcast_arrays(*(np.asarray(x, float) for x in (gap, deviation, population)))
    if (d < 0).any() or (sigma < 0).any() or (total < 0).any():
        raise AuditError("gaps, deviations and populations are 0 or more")
    if not 0 < delta < 1:
        raise AuditError(f"a tolerance delta of {delta:g} cannot be planned for; it lies between 0 and 1, such as 0.02")
    z = float(ndtri(1 - (1 - confidence) / pairs))
    return np.square(z * sigma / ((d if adaptive else 0.0) + delta))


def _differences(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of y_i - y_j for all pairs of columns.

    Two differences more, +1 and -1, are counted into the spread: seeing none that differ proves little.
    """
    n = len(y)
    if not n:
        shape = (y.shape[1], y.shape[1])
        return np.zeros(shape), np.ones(shape)
    mean = y.mean(axis=0)
    both = y.T @ y
    own = np.square(y).sum(axis=0)
    squares = own[:, None] + own[None, :] - 2 * both
    difference = mean[:, None] - mean[None, :]
    variance = (squares + 2) / (n + 2) - np.square(difference * n / (n + 2))
    return difference, np.sqrt(variance)


def _risk(margin: np.ndarray, deviation: np.ndarray, effective: float) -> float:
    """Sum over pairs of the posterior probability that the difference is on the wrong side by more than delta."""
    if math.isinf(effective):
        return float((margin < -1e-12).sum())
    return float(ndtr(-margin / (deviation / math.sqrt(effective))).sum()) if effective else float(len(margin))
