"""Which system looks best for one relation, and which is (Jiang et al. 2022, section 6.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import ascii_letters
from typing import TypedDict, TypeVar

import numpy as np
import pandas as pd

from audit.errors import AuditError

TIED = 1e-12
"""Rates closer than this are equal: what is left are the last bits of a product."""

Name = TypeVar("Name", str, int)


class Orders(TypedDict):
    """Systems of one relation before and after correction, best first, ties by name."""

    order_observed: list[str]
    order_genuine: list[str]
    best_observed: list[str]
    best_genuine: list[str]
    order_changes: bool
    best_changes: bool


def compare_orders(frame: pd.DataFrame) -> Orders:
    """Order and best systems by observed and by genuine satisfaction rate.

    `frame` has the columns system, sr_observed, sr_genuine, one row a system; NaN where a rate is unknown. The lists
    hold the systems whose rate is known; `best_*` lists ties. As SR_g is at most SR_o, a system without a genuine rate
    can still be ruled out as the best; while one cannot, `best_genuine` is empty: nobody knows who is best.
    `best_changes` where the best before and the best after are known and share no system, `order_changes` where any
    pair of systems that have both rates compares differently, a tie made or broken included.

    >>> frame = pd.DataFrame({"system": ["a", "b"], "sr_observed": [0.8, 0.9], "sr_genuine": [0.7, 0.6]})
    >>> compare_orders(frame)["best_observed"], compare_orders(frame)["best_genuine"]
    (['b'], ['a'])
    """
    observed = _rates_of(frame, "sr_observed")
    genuine = _rates_of(frame, "sr_genuine")
    best_before, best_after = best_of(observed), best_of(genuine)
    # Whoever has no genuine rate yet may still reach the observed one.
    if any(observed[system] >= max(genuine.values(), default=0.0) - TIED for system in set(observed) - set(genuine)):
        best_after = []
    return {
        "order_observed": _order(observed),
        "order_genuine": _order(genuine),
        "best_observed": best_before,
        "best_genuine": best_after,
        "order_changes": bool(changing_places([observed, genuine])),
        "best_changes": bool(best_after) and not set(best_before) & set(best_after),
    }


def changing_places(rates: Sequence[Mapping[str, float]]) -> set[str]:
    """The systems of pairs that compare differently under some of these rates, of those that know both systems.

    >>> sorted(changing_places([{"a": 0.9, "b": 0.8, "c": 0.1}, {"a": 0.7, "b": 0.7}]))
    ['a', 'b']
    """
    changing: set[str] = set()
    for first, second in combinations(sorted(set().union(*rates)), 2):
        if len({_sign(rate[first] - rate[second]) for rate in rates if first in rate and second in rate}) > 1:
            changing |= {first, second}
    return changing


def order_where_known(frame: pd.DataFrame, rate: str) -> tuple[list[str], list[str]] | None:
    """(order, best) of the systems by one rate, best first, ties by name; None while a system has none.

    `frame` has the columns system, sr_observed and `rate`, one row a system. Systems without an observed rate, to which
    the relation applied nowhere, are left out.

    >>> frame = pd.DataFrame({"system": ["a", "b"], "sr_observed": [0.8, 0.9], "sr_genuine": [0.7, 0.6]})
    >>> order_where_known(frame, "sr_genuine")
    (['a', 'b'], ['a'])
    """
    rates = _rates_of(frame, rate)
    observed = _rates_of(frame, "sr_observed")
    if not observed or set(observed) - set(rates):
        return None
    return _order(rates), best_of(rates)


def _rates_of(frame: pd.DataFrame, column: str) -> dict[str, float]:
    rates = zip(frame["system"], frame[column], strict=True)
    return {str(system): float(rate) for system, rate in rates if not pd.isna(rate)}


def _order(rates: dict[str, float]) -> list[str]:
    # Rounding first lets tied systems fall back on their names.
    return sorted(rates, key=lambda system: (-round(rates[system], 12), system))


def best_of(rates: Mapping[Name, float]) -> list[Name]:
    """Whoever has the highest rate, in order; all that are tied.

    >>> best_of({"b": 0.5, "a": 0.5, "c": 0.4})
    ['a', 'b']
    """
    top = max(rates.values(), default=0.0)
    return sorted(name for name, rate in rates.items() if top - rate <= TIED)


def _sign(difference: float) -> int:
    return 0 if abs(difference) <= TIED else 1 if difference > 0 else -1


# Homogeneous subsets: systems that share a letter are not told apart (compact letter display).


def compact_letters(differ: np.ndarray) -> list[str]:
    """A string of letters per item: two items share a letter exactly where `differ` is false for them.

    `differ` is a symmetric boolean array (items, items), items in the order in which letters are given out, the best
    first. As few letters as insert-and-absorb finds, no item with a letter that says nothing new. After z come A to Z,
    then (53), (54) and so on. Raises AuditError where `differ` is not square and symmetric. Source: Piepho, Journal of
    Computational and Graphical Statistics 13 (2004).

    >>> compact_letters(np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]], bool))
    ['ab', 'a', 'b']
    """
    differ = np.asarray(differ, bool)
    if differ.ndim != 2 or differ.shape[0] != differ.shape[1] or (differ != differ.T).any() or differ.diagonal().any():
        raise AuditError(f"differences of shape {differ.shape} must be square, symmetric and false on the diagonal")
    items = len(differ)
    subsets: list[frozenset[int]] = [frozenset(range(items))] if items else []
    for first, second in zip(*np.nonzero(np.triu(differ)), strict=True):
        insertions = [subset for subset in subsets if first in subset and second in subset]
        subsets = [subset for subset in subsets if subset not in insertions]
        for subset in insertions:
            subsets += [subset - {int(second)}, subset - {int(first)}]
        # Absorb: a subset inside another says nothing that the other does not say.
        unique = list(dict.fromkeys(subsets))
        subsets = [subset for subset in unique if not any(subset < larger for larger in unique)]
    subsets = _without_idle(sorted(subsets, key=sorted))
    return [
        "".join(_letter(number) for number, subset in enumerate(subsets) if item in subset) for item in range(items)
    ]


def _without_idle(subsets: list[frozenset[int]]) -> list[frozenset[int]]:
    """Leave out subsets all of whose pairs (or whose only item) are together in other subsets too."""
    needed = list(subsets)
    for subset in reversed(subsets):
        others = [other for other in needed if other != subset]
        if all(any({first, second} <= other for other in others) for first in subset for second in subset):
            needed = others
    return needed


def _letter(number: int) -> str:
    return ascii_letters[number] if number < len(ascii_letters) else f"({number + 1})"


# How sure a ranking of systems is: P(best) and rank intervals from draws, letters from tests of each two.


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
    for first, second in apart:
        differ[place[first], place[second]] = differ[place[second], place[first]] = True
    return dict(zip(order, compact_letters(differ), strict=True))


# One ranking from weights over relations, and how far the weights can move before another system wins.


@dataclass(frozen=True, slots=True)
class Move:
    """The smallest move of weights (which sum to 1) that makes `rival` at least draw level with the winner.

    `distance` is the sum of |new - old|, `weights` are the new ones. `rival` is a row of the rates.
    """

    rival: int
    distance: float
    weights: tuple[float, ...]


def normalised(weights: Sequence[float]) -> np.ndarray:
    """Weights that sum to 1. Raises AuditError where one is negative or not finite, or all are 0.

    >>> normalised([1, 3]).tolist()
    [0.25, 0.75]
    """
    values = np.asarray(weights, float)
    if not np.isfinite(values).all() or (values < 0).any():
        raise AuditError("a weight is negative or not a number; a weight is 0 or more")
    if not values.sum() > 0:
        raise AuditError("all weights are 0; give at least one relation a weight above 0")
    return np.asarray(values / values.sum())


def smallest_move(rates: np.ndarray, weights: np.ndarray, winner: int, delta: float = 0.0) -> Move | None:
    """The nearest weights, by the sum of absolute changes, at which the winner's lead over some system is gone.

    `rates` (systems, relations) are SR_g; NaN where a system has none: a rival is compared on the relations that both
    have, and cannot be where it lacks one that has a weight. `weights` (relations,) sum to 1, and so do the new ones.
    The lead is gone where the rival's weighted rate is as high (or, with `delta`, `delta` higher). The linear programme
    is solved exactly by taking weight from where the winner leads most and giving it to where the rival does. None
    where no weights can do it: the winner is ahead everywhere.

    >>> smallest_move(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([0.75, 0.25]), 0)
    Move(rival=1, distance=0.5, weights=(0.5, 0.5))
    """
    best: Move | None = None
    for rival, leads in _rivals(rates, weights, winner):
        where = np.flatnonzero(~np.isnan(leads))
        target = int(where[np.argmin(leads[where])])
        missing = float(weights[where] @ leads[where]) + delta
        moved = np.array(weights, float)
        for relation in where[np.argsort(-leads[where], kind="stable")]:
            gain = leads[relation] - leads[target]
            if missing <= TIED or gain <= 0:
                break
            amount = min(float(moved[relation]), missing / gain)
            moved[relation] -= amount
            moved[target] += amount
            missing -= amount * gain
        if missing > TIED:
            continue
        distance = float(np.abs(moved - weights).sum())
        if best is None or distance < best.distance - TIED:
            best = Move(rival, distance, tuple(moved.tolist()))
    return best


def _rivals(rates: np.ndarray, weights: np.ndarray, winner: int) -> list[tuple[int, np.ndarray]]:
    """(rival, the winner's lead per relation) of every system that has a rate wherever there is weight."""
    rivals = []
    for rival in range(len(rates)):
        leads = np.asarray(rates[winner] - rates[rival], float)
        if rival != winner and not np.isnan(leads[np.asarray(weights) > 0]).any():
            rivals.append((rival, leads))
    return rivals
