"""Designs: in which order the satisfied groups of a cell are drawn. A new design is one function and one line.

Every source has a number in a cell; a cell's sample is its satisfied groups whose sources have the smallest ones. As
there is one group per (relation, source, system), each cell's sample is a simple random sample without replacement, and
drawing more goes on down the same list. A design says what the numbers of a cell are drawn from, besides the seed and
the source's row in its corpus: cells for which it says the same share their numbers.
"""

from collections.abc import Callable, Mapping

import numpy as np
from sqlalchemy import Connection, select

from audit.errors import UnknownName
from audit.keys import uniforms
from audit.store import table_of, tables

Design = Callable[[str, str], tuple[str, ...]]
"""(names of a cell's relation and system) -> what its numbers are drawn from."""


def shared(relation: str, system: str) -> tuple[str, ...]:
    """Permanent random numbers: one u per source, the same in every cell, so that samples overlap as much as they can.

    Source: Ohlsson, "Coordination of samples using permanent random numbers" (Business Survey Methods, 1995).
    """
    return ()


def simple(relation: str, system: str) -> tuple[str, ...]:
    """An independent simple random sample per cell, as the study drew its 1 % (Jiang et al. 2022, section 6.1.2)."""
    return relation, system


DESIGNS: dict[str, Design] = {"shared": shared, "simple": simple}
INFORMATIVE = "informative"
"""The design that lists the groups of a relation, not of a cell (`audit.sampling.informative`), for comparisons."""


def get_design(name: str) -> Design:
    """The design of this name that lists each cell's groups. Raises UnknownName, which lists all designs."""
    if name not in DESIGNS:
        raise UnknownName("design", name, [*DESIGNS, INFORMATIVE])
    return DESIGNS[name]


class Numbers:
    """Random numbers of a study's sources under a seed, and the sources in their order.

    They are worked out once for cells that share them, and anew where a cell has its own. `rows` has the row in the
    corpus of each source (its id). Sources with equal numbers are in the order of their rows.

    >>> numbers = Numbers({1: "a", 2: "b"}, seed=0)
    >>> numbers.of(np.array([2, 1])).round(3).tolist()
    [0.487, 0.761]
    """

    def __init__(self, rows: Mapping[int, str], seed: int):
        self._ids = np.array(sorted(rows), np.int64)
        self._rows = [rows[id] for id in self._ids.tolist()]
        self._seed = seed
        self._numbers: dict[tuple[str, ...], np.ndarray] = {}

    @classmethod
    def of_study(cls, connection: Connection, study: int, seed: int) -> "Numbers":
        """Of the sources of a study."""
        source = table_of(tables.Source)
        found = connection.execute(select(source.c.id, source.c.row).where(source.c.study_id == study))
        return cls({int(row[0]): str(row[1]) for row in found}, seed)

    def of(self, sources: np.ndarray, parts: tuple[str, ...] = ()) -> np.ndarray:
        """The number of each of these sources (ids), drawn from what a design says; the default is `shared`'s."""
        return self._of(parts)[np.searchsorted(self._ids, sources)]

    def order(self, sources: np.ndarray, parts: tuple[str, ...] = ()) -> np.ndarray:
        """Places of these sources (ids) in the order of their numbers.

        >>> Numbers({1: "a", 2: "b"}, seed=0).order(np.array([1, 2]))
        array([1, 0])
        """
        places = np.searchsorted(self._ids, sources)
        numbers = self._of(parts)[places]
        order = np.argsort(numbers, kind="stable")
        if (np.diff(numbers[order]) == 0).any():
            rows = [self._rows[place] for place in places.tolist()]
            order = np.array(sorted(range(len(rows)), key=lambda at: (numbers[at], rows[at])), np.int64)
        return order

    def _of(self, parts: tuple[str, ...]) -> np.ndarray:
        if parts not in self._numbers:
            self._numbers = {parts: np.fromiter(uniforms(self._rows, self._seed, *parts), float, len(self._rows))}
        return self._numbers[parts]
