"""What all coefficients are made of: sums over items, observed and expected agreement from them, and an interval.

Every coefficient is (observed - expected) / (1 - expected), and both are functions of sums over items. So an estimate
is the function of the sums, and its posterior the function of sums in which each item weighs a little more or less.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.special import stdtrit

TINY = 1e-12
"""Sums of shares closer than this are equal: what is left are the last bits."""
DRAWS = 2_000
"""Draws of an interval; fewer, down to a tenth, where items are of more than 50,000 kinds."""
_CELLS = 2_000_000
"""Numbers that are drawn at once, so that memory stays small however many kinds of items there are."""
_MOST = 100_000_000
_Z = 1.959964
AGREED, APART = 1.0, 0.5
"""Items in which all agree (shared out over the labels), and in which none does, that the prior counts."""


@dataclass(frozen=True, eq=False)
class Parts:
    """A coefficient as sums over n items: their rows, a prior's, and what the sums say of chance.

    `rows` (n, f) has for each item its weight (0: nothing to agree on), its agreement times that weight, and what
    `chance` needs; `chance` makes expected agreement (d,) from sums (d, f). `prior` (k, f) are rows of imagined items,
    `mass` (k,) how often each is imagined. `clusters` (n,) says which items belong together, None: each stands alone.
    """

    rows: csr_array
    chance: Callable[[np.ndarray], np.ndarray]
    prior: np.ndarray
    mass: np.ndarray
    clusters: np.ndarray | None = None

    @cached_property
    def items(self) -> int:
        """Items with something to agree on."""
        return int((self.rows[:, [0]].toarray() > 0).sum())

    @cached_property
    def sums(self) -> np.ndarray:
        """Sums of the rows, (1, f)."""
        return np.asarray(self.rows.sum(axis=0)).reshape(1, -1)

    @property
    def observed(self) -> float:
        """Observed agreement, a fraction; NaN of no items."""
        return float(self.sums[0, 1] / self.sums[0, 0]) if self.items else float("nan")

    @property
    def expected(self) -> float:
        """Agreement by chance, a fraction; NaN of no items."""
        return float(self.chance(self.sums)[0]) if self.items else float("nan")

    @property
    def value(self) -> float | None:
        """The coefficient; None where chance alone would make everybody agree.

        >>> mean_of(np.array([1.0, 0.5])).value
        0.75
        """
        if 1 - self.expected <= TINY:
            return None
        return (self.observed - self.expected) / (1 - self.expected)


def mean_of(shares: np.ndarray) -> Parts:
    """The parts of a plain mean of n shares between 0 and 1, nothing taken off for chance.

    >>> mean_of(np.array([1.0, 1.0, 0.0, 0.0])).observed
    0.5
    """
    rows = csr_array(np.column_stack([np.ones(len(shares)), shares]))
    return Parts(rows, no_chance, np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([0.5, 0.5]))


def no_chance(sums: np.ndarray) -> np.ndarray:
    """Expected agreement of 0 for each of d sums."""
    return np.zeros(len(sums))


def draws_of(parts: Parts, draws: int = DRAWS, seed: int = 0) -> np.ndarray:
    """Draws of the coefficient from its posterior, shape (draws,) or fewer, seeded.

    The kinds of items are taken as multinomial, with a Dirichlet prior: one imagined item in which all agree, shared
    out over the labels, and half an item in which nobody does. For two annotators and two labels this is Jeffreys'
    prior on the three kinds of items. Items of a cluster get one weight, and the prior's items are then clusters of
    mean size. Few items tell the variance badly, so each of n counts a little less, as much as makes the variance
    (t(n - 1) / z)^2 times that of the classical mean. Source: Rubin, "The Bayesian bootstrap", Annals of Statistics 9
    (1981).
    """
    rows = parts.rows
    if parts.clusters is not None:
        codes = np.unique(parts.clusters, return_inverse=True)[1]
        rows = csr_array((np.ones(len(codes)), (codes, np.arange(len(codes))))) @ rows
    units = rows.shape[0]
    rows, times = _distinct(rows)
    size = parts.items / units if parts.clusters is not None else 1.0
    t = float(stdtrit(max(units - 1, 1), 0.975))
    count = max(((units - 1) * (_Z / t) ** 2 - 1) / units, 0.1)
    shapes = np.concatenate([count * times, parts.mass])
    draws = int(np.clip(_MOST // len(shapes), draws // 10, draws))
    random = np.random.default_rng(seed)
    found, step = [], max(1, _CELLS // len(shapes))
    for start in range(0, draws, step):
        weights = random.standard_gamma(shapes, size=(min(step, draws - start), len(shapes)))
        weights *= shapes.sum() / weights.sum(axis=1, keepdims=True)
        sums = weights[:, : len(times)] @ rows + size * (weights[:, len(times) :] @ parts.prior)
        expected = parts.chance(sums)
        found.append((sums[:, 1] / sums[:, 0] - expected) / (1 - expected))
    return np.concatenate(found)


def interval(parts: Parts, confidence: float = 0.95) -> tuple[float, float] | None:
    """Lower and upper end of a coefficient: quantiles of its posterior (`draws_of`), widened to hold the estimate.

    So the upper end is 1 where all agree, and no interval is a point. Its ends are always possible, and it covers also
    where one label is rare (docs/agreement.md). None with fewer than two items or clusters.

    >>> low, high = interval(mean_of(np.ones(36)))
    >>> round(low, 2), high
    (0.92, 1.0)
    """
    value = parts.value
    units = parts.rows.shape[0] if parts.clusters is None else len(np.unique(parts.clusters))
    if value is None or parts.items < 2 or units < 2:
        return None
    low, high = np.quantile(draws_of(parts), [(1 - confidence) / 2, (1 + confidence) / 2])
    return min(float(low), value), max(float(high), value)


def _distinct(rows: csr_array) -> tuple[csr_array, np.ndarray]:
    """The different rows in an order of their own, and how often each is there."""
    # Equal rows have equal sums over random keys; that two others meet in 53 bits is not to be feared.
    keys = np.random.default_rng(12345).random(rows.shape[1])
    _, first, times = np.unique((rows @ keys).round(12), return_index=True, return_counts=True)
    return rows[first], times.astype(float)
