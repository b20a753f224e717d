"""How much two different labels agree: matrices of labels x labels, 1 on the diagonal, 0 for the farthest apart.

Source: Gwet, Handbook of Inter-Rater Reliability (4th edition, 2014), chapter 3; the two are those of Cohen (1968),
with the values of the labels in place of their positions, so that a label that nobody used changes nothing.
"""

from collections.abc import Callable

import numpy as np


def linear(values: np.ndarray) -> np.ndarray:
    """Agreement falls with the distance of the values (q,): 1 - |x - y| / (max - min).

    >>> linear(np.array([1.0, 2.0, 5.0]))[0].tolist()
    [1.0, 0.75, 0.0]
    """
    return 1 - _distances(values)


def quadratic(values: np.ndarray) -> np.ndarray:
    """Agreement falls with the square of the distance of the values (q,).

    >>> quadratic(np.array([1.0, 2.0, 5.0]))[0].tolist()
    [1.0, 0.9375, 0.0]
    """
    return 1 - _distances(values) ** 2


WEIGHTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"linear": linear, "quadratic": quadratic}
"""Weights by the name that the suite calls a level."""


def _distances(values: np.ndarray) -> np.ndarray:
    width = np.ptp(values)
    return np.abs(values[:, None] - values[None, :]) / (width or 1.0)
