"""Similarity of two texts: a number from 0 (nothing in common) to 1 (the same), read in five intervals.

Source: Jin, Ding, Zhou (Mathematics 10(8), 1276, 2022), section 4.1, whose intervals are closed at both ends: [0, .2]
zero, [.2, .4] weak, [.4, .6] regulated, [.6, .8] strong, [.8, 1] perfect. A score on a bound lies in the upper one
here."""

import math

from audit.errors import BadOutput
from audit.tasks.base import Output

LEVELS = ("zero", "weak", "regulated", "strong", "perfect")
"""The five intervals, from the lowest, each closed below and open above but the last."""
_BOUNDS = (0.2, 0.4, 0.6, 0.8)
_TOLERANCE = 1e-9  # Tolerance for a score's last bits: 0.19999999999999996 counts as 0.2


def level_of(score: float) -> str:
    """Return the interval in which a score from 0 to 1 lies."""
    return LEVELS[sum(score >= bound - _TOLERANCE for bound in _BOUNDS)]


def read_similarity(output: Output) -> Output:
    """Return the score with its interval as the label. Raises BadOutput for one that is not from 0 to 1."""
    score = output.score
    if score is None or not math.isfinite(score) or not 0 <= score <= 1:
        raise BadOutput(f"similarity {score!r} is not a number from 0 to 1")
    return Output(level_of(score), score)
