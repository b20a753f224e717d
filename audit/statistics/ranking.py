"""How sure a ranking of systems is: P(best), rank intervals, homogeneous subsets, and whether the order holds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audit.statistics.letters import compact_letters
from audit.statistics.orders import TIED
from audit.statistics.paired import holm


@dataclass(frozen=True, slots=True)
class Ranked:
    """One system in a ranking."""

    p_best: float
    rank_low: int
    rank_high: int
    letters: str


def rank_systems(draws: np.ndarray, delta: float = 0.0, confidence: float = 0.95) -> list[Ranked]:
    """The ranking of systems from joint draws of their rates, in the order of the columns.

    `draws` is a float array (draws, systems) without NaN. A system is better than another when its rate is higher by
    more than `delta`; below that they count as equal. `p_best` is the share of draws in which nobody is better (ties
    count for each). The rank is 1 + the number of better systems; `rank_low` to `rank_high` holds it in at least
    `confidence` of the draws, a system at a time. Systems share a letter where P(better) of neither over the other
    reaches 1 - (1 - confidence) / 2, after Holm's adjustment for all pairs; letters start at the highest mean rate.
    Source: Gelman et al., Bayesian Data Analysis (2013), section 5.6, for ranks from posterior draws.

    >>> rank_systems(np.array([[0.9, 0.5, 0.5], [0.8, 0.4, 0.6]]))[0]
    Ranked(p_best=1.0, rank_low=1, rank_high=1, letters='a')
    """
    better = draws[:, None, :] - draws[:, :, None] > delta + TIED  # better[d, a, b]: b is better than a
    ranks = 1 + better.sum(axis=2)
    risk = (1 - confidence) / 2
    lows = np.quantile(ranks, risk, axis=0, method="inverted_cdf")
    highs = np.quantile(ranks, 1 - risk, axis=0, method="inverted_cdf")
    letters = _letters(draws, better.mean(axis=0), confidence)
    return [
        Ranked(float(best), int(low), int(high), text)
        for best, low, high, text in zip((ranks == 1).mean(axis=0), lows, highs, letters, strict=True)
    ]


def _letters(draws: np.ndarray, better: np.ndarray, confidence: float) -> list[str]:
    systems = draws.shape[1]
    order = np.argsort(-draws.mean(axis=0), kind="stable")
    pairs = [(one, other) for at, one in enumerate(order) for other in order[at + 1 :]]
    adjusted = holm([min(1.0, 2 * (1 - max(better[one, other], better[other, one]))) for one, other in pairs])
    differ = np.zeros((systems, systems), bool)
    place = {int(system): at for at, system in enumerate(order)}
    for (one, other), p in zip(pairs, adjusted, strict=True):
        differ[place[int(one)], place[int(other)]] = differ[place[int(other)], place[int(one)]] = p <= 1 - confidence
    found = compact_letters(differ)
    return [found[place[system]] for system in range(systems)]


def p_flip(draws: np.ndarray, observed: Sequence[float], genuine: Sequence[float], delta: float = 0.0) -> float | None:
    """P(the genuine order of the system reported as best and its rival is the other way round).

    `draws` (draws, systems) as in `rank_systems`; `observed` and `genuine` are the estimated rates. The rival is the
    system with the highest genuine rate among those that are not reported as best; it must be better than every one
    that is (there are several where they tie) by more than `delta`. None where there is no rival.

    >>> p_flip(np.array([[0.6, 0.7], [0.6, 0.5]]), [0.9, 0.8], [0.6, 0.65])
    0.5
    """
    before = np.asarray(observed, float)
    best = before >= before.max() - TIED
    if best.all():
        return None
    rival = int(np.argmax(np.where(best, -np.inf, np.asarray(genuine, float))))
    return float((draws[:, [rival]] - draws[:, best] > delta + TIED).all(axis=1).mean())


def kendall_tau_b(one: Sequence[float], other: Sequence[float], delta: float = 0.0) -> float | None:
    """Kendall's tau-b between two lists of rates of the same systems; values within `delta` are tied.

    1: the same order, -1: the reverse. None where it is not defined: fewer than two systems, or one of the lists ties
    them all. Source: Kendall, Biometrika 33 (1945).

    >>> round(kendall_tau_b([0.9, 0.8, 0.7], [0.9, 0.6, 0.7]), 4)
    0.3333
    """
    signs = [_signs(values, delta) for values in (one, other)]
    scale = np.sqrt(float((signs[0] ** 2).sum()) * float((signs[1] ** 2).sum()))
    return float((signs[0] * signs[1]).sum() / scale) if scale else None


def _signs(values: Sequence[float], delta: float) -> np.ndarray:
    rates = np.asarray(values, float)
    differences = rates[:, None] - rates[None, :]
    return np.where(np.abs(differences) <= delta + TIED, 0.0, np.sign(differences))[np.triu_indices(len(rates), 1)]
