"""Joint draws of the genuine rates of systems, up to a common constant, from judging only what tells them apart.

Over the groups that apply to every system compared, SR_g is a mean of outcomes: 1 where a system's satisfaction is
genuine, else 0. The groups that all satisfy with identical outputs give every system the same number of ones, judged
or not, and those that none satisfies give zeros. So the informative groups alone say how the systems differ.
"""

import numpy as np

from audit.errors import AuditError
from audit.statistics.intervals import Target
from audit.statistics.posterior import DRAWS

PRIOR = 2.0
"""Weight in groups of what is expected before anything is judged: vectors of fair coins. For two systems that gives
the split of the groups that tell them apart Jeffreys' prior, Beta(1/2, 1/2). Without it a few groups that happen to be
alike would leave no doubt."""
ATOMS = 16
"""Vectors of coins in each draw, which share that weight."""
CHUNK = 500
"""Draws that are worked on at once."""


def relative_rates(genuine: np.ndarray, informative: int, groups: int) -> np.ndarray:
    """SR_g of every system less what the groups that are not informative add, which is the same for all; (systems,).

    Arguments as in `comparison_draws`. NaN where informative groups are there but none is judged, or no group is.

    >>> relative_rates(np.array([[1, 0], [1, 1]]), informative=50, groups=100).tolist()
    [0.5, 0.25]
    """
    outcomes = _checked(genuine, informative, groups)
    if groups and not informative:
        return np.zeros(outcomes.shape[1])
    if not len(outcomes):
        return np.full(outcomes.shape[1], np.nan)
    return np.asarray(outcomes.mean(axis=0) * informative / groups)


def comparison_draws(
    genuine: np.ndarray,
    informative: int,
    groups: int,
    target: Target = "corpus",
    draws: int = DRAWS,
    seed: int = 0,
    worth: float = 1.0,
) -> np.ndarray:
    """Draws of SR_g less a constant that all systems share; float array (draws, systems). Only differences count.

    `genuine` (judged, systems) has the outcomes, 0 or 1, of judged informative groups, a simple random sample of all
    `informative` ones among the `groups` that apply to every system. A Bayesian bootstrap of whole vectors, so that
    systems that err on the same groups stay together: the judged vectors have Dirichlet weights, beside vectors of fair
    coins of the weight `PRIOR`. For the corpus the judged groups are known, and only the informative ones that were not
    judged are drawn by those weights; when all are judged there is one value. For the population the weights themselves
    count, and the share of informative groups has Jeffreys' posterior, both at the share `worth` of the groups: what
    they are worth where groups of a document go together (`paired.worth_of_differences`). NaN where informative groups
    are there but none is judged, and where there is no group. Raises AuditError on impossible numbers. Source: Rubin,
    Annals of Statistics 9 (1981); for a finite population Lo, Annals of Statistics 16 (1988).

    >>> comparison_draws(np.array([[1, 0], [1, 1]]), informative=2, groups=4, draws=2).tolist()
    [[0.5, 0.25], [0.5, 0.25]]
    """
    outcomes = _checked(genuine, informative, groups)
    judged, systems = outcomes.shape
    if not informative or not judged:
        return np.tile(relative_rates(outcomes, informative, groups), (draws, 1))
    patterns, times = np.unique(outcomes, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    found = np.empty((draws, systems))
    size_worth = worth if target == "population" else 1.0
    shape = np.concatenate([times * size_worth, np.full(ATOMS, PRIOR / ATOMS)])
    for start in range(0, draws, CHUNK):
        size = min(CHUNK, draws - start)
        weights = rng.standard_gamma(shape, (size, len(shape)))
        weights /= weights.sum(axis=1, keepdims=True)
        coins = rng.integers(2, size=(size, ATOMS, systems)).astype(float)
        if target == "population":
            share = rng.beta(worth * informative + 0.5, worth * (groups - informative) + 0.5, (size, 1))
        else:
            share = np.full((size, 1), informative / groups)
            unseen = rng.multinomial(informative - judged, weights)
            weights = unseen / informative
            weights[:, : len(times)] += times / informative
        mean = weights[:, : len(times)] @ patterns
        mean += np.einsum("da,das->ds", weights[:, len(times) :], coins)
        found[start : start + size] = share * mean
    return found


def _checked(genuine: np.ndarray, informative: int, groups: int) -> np.ndarray:
    outcomes = np.asarray(genuine, float)
    if outcomes.ndim != 2 or not np.isin(outcomes, (0.0, 1.0)).all():
        raise AuditError("judged groups must be (groups, systems) of 1 (genuine) and 0 (false or violated)")
    if not len(outcomes) <= informative <= groups:
        raise AuditError(
            f"{len(outcomes)} judged of {informative} informative among {groups} groups is impossible; "
            "each is at most the next"
        )
    return outcomes
