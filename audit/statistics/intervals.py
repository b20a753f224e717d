"""Intervals for the rate of a population from which a simple random sample was judged: the two methods by name.

A cell has `population` satisfied groups; `n` of them were judged and `k` of those are false. The rate that is asked
for is the share of false groups in the *population*, so an interval shrinks to a point when everything was judged.
With `population` None the rate is that of the endless population the corpus came from.

>>> mid_p(81, 263).rounded(4)
(0.2544, 0.3658)
>>> mid_p(2, 10, 50).of(50)
(3, 24)
"""

from collections.abc import Iterable
from typing import Literal

import numpy as np

from audit.errors import AuditError, UnknownName
from audit.statistics.bounded import Estimator, Interval
from audit.statistics.confidence_sequences import CORPUS_ONLY, prior_posterior
from audit.statistics.mid_p import mid_p

Target = Literal["corpus", "population"]
TARGETS: tuple[Target, ...] = ("population", "corpus")
"""What a rate is about: the texts that the corpus was drawn from, the default, since people choose a system for texts
to come; or this corpus alone, whose satisfied groups are a finite population."""
MIDP, SEQUENCE = "midp", "sequence"
METHODS: dict[str, Estimator] = {MIDP: mid_p, SEQUENCE: prior_posterior}
"""Methods by the name that commands and signatures use. `midp` is a fixed-n interval: it holds where the number of
judgements was not chosen by looking at the results. `sequence` holds at every number at once, so that one may look and
stop at will."""
RENAMED = {"auto": MIDP}
"""Names that plans and exports of earlier versions may have."""


def method_name(name: str) -> str:
    """The name that this method has now. Raises UnknownName, which lists the known ones.

    >>> method_name("auto"), method_name("sequence")
    ('midp', 'sequence')
    """
    name = RENAMED.get(name, name)
    if name not in METHODS:
        raise UnknownName("interval method", name, list(METHODS))
    return name


def get_method(name: str, target: Target = "corpus") -> Estimator:
    """The method of this name. Raises UnknownName, which lists the known ones, and AuditError where it cannot be about
    the target."""
    name = method_name(name)
    if name == SEQUENCE and target == "population":
        raise AuditError(CORPUS_ONLY)
    return METHODS[name]


def get_target(name: str | None, interval: str = MIDP, proxies: bool = False) -> Target:
    """The target of this name; of None the default: texts to come, or the corpus where only it can be spoken of, as
    with sequences and proxies. Raises UnknownName, which lists the known ones.

    >>> get_target(None), get_target(None, "sequence"), get_target("corpus")
    ('population', 'corpus', 'corpus')
    """
    if name is None:
        return "corpus" if interval == SEQUENCE or proxies else TARGETS[0]
    for target in TARGETS:
        if target == name:
            return target
    raise UnknownName("target", name, list(TARGETS))


def intervals(
    k: Iterable[float],
    n: Iterable[float],
    population: Iterable[int | None],
    method: Estimator = mid_p,
    confidence: float | Iterable[float] = 0.95,
) -> list[Interval]:
    """The intervals of many cells: three sequences of one length -> a list of that length.

    `confidence` is one for all, or one a cell. Equal cells are computed once, so a benchmark over thousands of redraws
    is cheap.

    >>> [one.method for one in intervals([0, 12], [20, 60], [400, None])]
    ['mid-p hypergeometric', 'mid-p binomial']
    """
    known: dict[tuple[float, float, int | None, float], Interval] = {}
    found = []
    counts = list(zip(k, n, population, strict=True))
    sure = [float(confidence)] * len(counts) if isinstance(confidence, float) else confidence
    for cell, one in zip(counts, sure, strict=True):
        if (*cell, one) not in known:
            known[*cell, one] = method(*cell, confidence=one)
        found.append(known[*cell, one])
    return found


def bounds(
    k: Iterable[float],
    n: Iterable[float],
    population: Iterable[int | None],
    method: Estimator = mid_p,
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
    "MIDP",
    "RENAMED",
    "SEQUENCE",
    "TARGETS",
    "Estimator",
    "Interval",
    "Target",
    "bounds",
    "get_method",
    "get_target",
    "intervals",
    "method_name",
    "mid_p",
]
