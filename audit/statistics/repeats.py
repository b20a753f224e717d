"""How often a system contradicts itself when it is asked the same again, and how steady verdicts are then.

The population is that of inputs: those that were asked are taken for a sample of clusters (documents, or sources with
their follow-ups) drawn from endlessly many. Whatever is seen in a few calls is a lower bound of what a system could do:
an input whose calls all agree may still get another answer in the next one.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from audit.statistics.intervals import effective_interval, effective_size_of_sums, rate_of_clusters

NO_CALL = -1
"""In place of an outcome: the group has no such call."""


@dataclass(frozen=True)
class Contradictions:
    """What calls on the same inputs say of a system; rates are fractions, None where no input was asked twice.

    `share` is that of the inputs on which two calls differ, which grows with the number of calls. `disagreement` does
    not: it is the probability that two calls on an input differ.
    """

    inputs: int
    contradicted: int
    share: float | None = None
    share_low: float | None = None
    share_high: float | None = None
    disagreement: float | None = None
    disagreement_low: float | None = None
    disagreement_high: float | None = None


def pair_disagreement(said: Sequence[Hashable]) -> float:
    """Return the share of pairs of calls on one input that differ, an unbiased estimate of that probability.

    Of n calls, n_a of which say a, it is 1 - sum n_a (n_a - 1) / (n (n - 1)) (Simpson's index of diversity).

    >>> pair_disagreement("aab"), pair_disagreement("aaa"), pair_disagreement("ab")
    (0.6666666666666667, 0.0, 1.0)
    """
    calls = len(said)
    return 1 - sum(number * (number - 1) for number in Counter(said).values()) / (calls * (calls - 1))


def contradictions(said: Sequence[Sequence[Hashable]], cluster: np.ndarray) -> Contradictions:
    """Measure how often a system contradicts itself.

    `said` has what it said in each call on each input, two calls or more, `cluster` (inputs,) what an input belongs to.

    Both intervals are the exact one at the effective size that the variance between clusters tells. Source: Korn and
    Graubard, Survey Methodology 24 (1998).

    >>> found = contradictions(["aaa", "aab", "bbb", "aba"], np.arange(4))
    >>> found.contradicted, found.share, round(found.disagreement, 4)
    (2, 0.5, 0.3333)
    """
    if not said:
        return Contradictions(0, 0)
    each = np.array([pair_disagreement(calls) for calls in said])
    place = np.unique(cluster, return_inverse=True)[1]
    size = np.bincount(place)
    # Each input is as many pairs of calls as the one with the fewest has, which the variance between clusters finds to
    # be worth less, or as much.
    fewest = min(map(len, said))
    pairs = fewest * (fewest - 1) // 2
    mean, sums = float(each.mean()), np.minimum(np.bincount(place, each), size)
    ends = effective_interval(mean, effective_size_of_sums(pairs * sums, pairs * size))
    return Contradictions(len(said), int((each > 0).sum()), *rate_of_clusters(cluster, each > 0), mean, *ends)


@dataclass(frozen=True)
class Steadiness:
    """The verdicts of a cell, were each call what counts. Rates are fractions of groups, None where there are none.

    `calls` are those of the group with the fewest. `unstable` groups do not have the same verdict in all calls.
    `violated` of the groups are violated by what counts, `always_violated` of these in every call, too: these
    violations are not due to chance, as far as so many calls can tell. `vr_first` and `vr_mean` are violation rates by
    the first call, and over all calls.
    """

    groups: int = 0
    calls: int = 0
    unstable: int = 0
    violated: int = 0
    always_violated: int = 0
    share: float | None = None
    low: float | None = None
    high: float | None = None
    vr_first: float | None = None
    vr_mean: float | None = None


def steadiness(
    outcomes: np.ndarray, counted: np.ndarray, cluster: np.ndarray, *, satisfied: int, violated: int
) -> Steadiness:
    """Measure how steady verdicts are over calls.

    `outcomes` (groups, calls) has that of each group by each call, two or more and then `NO_CALL`; `counted` (groups,)
    the outcome that counts, `cluster` (groups,) what a group belongs to. `satisfied` and `violated` are the numbers of
    these outcomes; others are in no rate.

    >>> calls = np.array([[0, 0, 0], [1, 1, 1], [1, 0, -1]])
    >>> steady = steadiness(calls, calls[:, 0], np.arange(3), satisfied=0, violated=1)
    >>> steady.unstable, steady.violated, steady.always_violated, round(steady.vr_first, 3), round(steady.vr_mean, 3)
    (1, 2, 1, 0.667, 0.5)
    """
    if not len(outcomes):
        return Steadiness()
    present = outcomes != NO_CALL
    unstable = ((outcomes != outcomes[:, :1]) & present).any(axis=1)
    counts_as_violated = counted == violated
    always = counts_as_violated & ((outcomes == violated) | ~present).all(axis=1)
    counts = int(unstable.sum()), int(counts_as_violated.sum()), int(always.sum())
    return Steadiness(
        len(outcomes),
        int(present.sum(axis=1).min()),
        *counts,
        *rate_of_clusters(cluster, unstable),
        violation_rate(outcomes[:, :1], satisfied, violated),
        violation_rate(outcomes, satisfied, violated),
    )


def violation_rate(outcomes: np.ndarray, satisfied: int, violated: int) -> float | None:
    """Return the share of violated among satisfied and violated outcomes (groups, calls), groups weighing the same.

    >>> violation_rate(np.array([[1, 0], [1, -1]]), 0, 1)
    0.75
    """
    bad, good = (outcomes == violated).sum(axis=1), (outcomes == satisfied).sum(axis=1)
    rated = bad + good > 0
    return float((bad[rated] / (bad + good)[rated]).mean()) if rated.any() else None
