"""Intervals for the rate of a population from which a simple random sample was judged: the methods by name.

A cell has `population` satisfied groups; `n` of them were judged and `k` of those are false. The rate that is asked
for is the share of false groups in the *population*, so an interval shrinks to a point when everything was judged
(not so Clopper-Pearson and Jeffreys, which ignore the population's size). With `population` None the rate is that of
the endless population the corpus came from.

>>> wilson(81, 263).rounded(4)
(0.2553, 0.3662)
>>> hypergeometric(2, 10, 50, mid=False).of(50)
(2, 26)
"""

from collections.abc import Iterable
from functools import partial
from typing import Literal

import numpy as np

from audit.errors import AuditError, UnknownName
from audit.statistics.binomial import binomial_mid_p, clopper_pearson, jeffreys
from audit.statistics.bounded import Estimator, Interval
from audit.statistics.confidence_sequences import CORPUS_ONLY, prior_posterior
from audit.statistics.hypergeometric import hypergeometric
from audit.statistics.wilson import wilson

Target = Literal["corpus", "population"]
TARGETS: tuple[Target, ...] = ("corpus", "population")
"""What a rate is about: this corpus, whose satisfied groups are a finite population, or the population it came from."""
MID_P_BELOW = 30
"""Samples smaller than this get the exact method in `choose`."""
FEW = 10
"""So do samples with fewer false or fewer true groups than this. With Wilson there, 60 of 300 judged, coverage falls
to 80 % where few are false (exact enumeration); mid-p stays above 91 % and is no wider (docs/report.md)."""


def choose(k: int, n: int, population: int | None, *, confidence: float = 0.95) -> Interval:
    """The default: mid-p hypergeometric for n < 30 or fewer than 10 false or true groups, else Wilson with correction.

    >>> choose(2, 60, 500).method, choose(12, 60, 500).method
    ('mid-p hypergeometric', 'wilson')
    """
    if n < MID_P_BELOW or min(k, n - k) < FEW:
        return hypergeometric(k, n, population, confidence=confidence)
    return wilson(k, n, population, confidence=confidence)


METHODS: dict[str, Estimator] = {
    "auto": choose,
    "wilson": wilson,
    "midp": hypergeometric,
    "hypergeometric": partial(hypergeometric, mid=False),
    "clopper-pearson": clopper_pearson,
    "jeffreys": jeffreys,
    "sequence": prior_posterior,
}
"""Methods by the name that commands and signatures use."""
SEQUENCE = "sequence"
"""The one that holds at every number of judgements at once, so that one may look and stop at will; the others, fixed-n
intervals, hold where the number was not chosen by looking at the results."""


def get_method(name: str, target: Target = "corpus") -> Estimator:
    """The method of this name. Raises UnknownName, which lists the known ones, and AuditError where it cannot be about
    the target."""
    if name not in METHODS:
        raise UnknownName("interval method", name, list(METHODS))
    if name == SEQUENCE and target == "population":
        raise AuditError(CORPUS_ONLY)
    return METHODS[name]


def get_target(name: str) -> Target:
    """The target of this name. Raises UnknownName, which lists the known ones.

    >>> get_target("corpus")
    'corpus'
    """
    for target in TARGETS:
        if target == name:
            return target
    raise UnknownName("target", name, list(TARGETS))


def intervals(
    k: Iterable[int],
    n: Iterable[int],
    population: Iterable[int | None],
    method: Estimator = choose,
    confidence: float = 0.95,
) -> list[Interval]:
    """The intervals of many cells: three sequences of one length -> a list of that length.

    Equal cells are computed once, so a benchmark over thousands of redraws is cheap.

    >>> [one.method for one in intervals([0, 12], [20, 60], [400, 500])]
    ['mid-p hypergeometric', 'wilson']
    """
    known: dict[tuple[int, int, int | None], Interval] = {}
    found = []
    for cell in zip(k, n, population, strict=True):
        if cell not in known:
            known[cell] = method(*cell, confidence=confidence)
        found.append(known[cell])
    return found


def bounds(
    k: Iterable[int],
    n: Iterable[int],
    population: Iterable[int | None],
    method: Estimator = choose,
    confidence: float = 0.95,
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper rates of many cells: as `intervals`, but two float arrays.

    >>> low, high = bounds([0, 12], [20, 60], [400, 500])
    >>> low.shape == high.shape == (2,)
    True
    """
    found = intervals(k, n, population, method, confidence)
    return np.array([each.low for each in found], float), np.array([each.high for each in found], float)


__all__ = [
    "METHODS",
    "SEQUENCE",
    "TARGETS",
    "Estimator",
    "Interval",
    "Target",
    "binomial_mid_p",
    "bounds",
    "choose",
    "clopper_pearson",
    "get_method",
    "get_target",
    "hypergeometric",
    "intervals",
    "jeffreys",
    "wilson",
]
