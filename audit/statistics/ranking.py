"""How sure a ranking of systems is: P(best) and rank intervals from draws, letters from tests of each two."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audit.statistics.letters import compact_letters
from audit.statistics.orders import TIED


@dataclass(frozen=True, slots=True)
class Ranked:
    """One system in a ranking."""

    p_best: float
    rank_low: int
    rank_high: int


def rank_systems(draws: np.ndarray, delta: float = 0.0, confidence: float = 0.95) -> list[Ranked]:
    """The ranking of systems from joint draws of their rates, in the order of the columns.

    `draws` is a float array (draws, systems) without NaN. A system is better than another when its rate is higher by
    more than `delta`; below that they count as equal. `p_best` is the share of draws in which nobody is better (ties
    count for each). The rank is 1 + the number of better systems; `rank_low` to `rank_high` holds it in at least
    `confidence` of the draws, a system at a time.
    Source: Gelman et al., Bayesian Data Analysis (2013), section 5.6, for ranks from posterior draws.

    >>> rank_systems(np.array([[0.9, 0.5, 0.5], [0.8, 0.4, 0.6]]))[0]
    Ranked(p_best=1.0, rank_low=1, rank_high=1)
    """
    better = draws[:, None, :] - draws[:, :, None] > delta + TIED  # better[d, a, b]: b is better than a
    ranks = 1 + better.sum(axis=2)
    risk = (1 - confidence) / 2
    lows = np.quantile(ranks, risk, axis=0, method="inverted_cdf")
    highs = np.quantile(ranks, 1 - risk, axis=0, method="inverted_cdf")
    return [
        Ranked(float(best), int(low), int(high))
        for best, low, high in zip((ranks == 1).mean(axis=0), lows, highs, strict=True)
    ]


def letters_of(order: Sequence[str], apart: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Letters of systems, given best first: two share a letter exactly where they are not told `apart`.

    >>> letters_of(["x", "y", "z"], [("x", "z")])
    {'x': 'a', 'y': 'ab', 'z': 'b'}
    """
    place = {system: at for at, system in enumerate(order)}
    differ = np.zeros((len(order), len(order)), bool)
    for one, other in apart:
        differ[place[one], place[other]] = differ[place[other], place[one]] = True
    return dict(zip(order, compact_letters(differ), strict=True))
