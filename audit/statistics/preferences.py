"""One ranking from weights over relations, and how far the weights can move before another system wins."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audit.errors import AuditError
from audit.statistics.orders import TIED


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
    found = []
    for rival in range(len(rates)):
        leads = np.asarray(rates[winner] - rates[rival], float)
        if rival != winner and not np.isnan(leads[np.asarray(weights) > 0]).any():
            found.append((rival, leads))
    return found
