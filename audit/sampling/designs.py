"""Designs: in which order the satisfied groups of a cell are drawn. A new design is one function and one line.

A design gives every candidate a number; a cell's sample is its candidates with the smallest ones. As there is one
group per (relation, source, system), each cell's sample is a simple random sample without replacement, and drawing
more goes on down the same list.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from audit.errors import UnknownName
from audit.keys import uniform

Design = Callable[[pd.DataFrame, int], np.ndarray]
"""(candidates with columns relation, system, row; sample seed) -> one number in [0, 1) per candidate."""


def shared(candidates: pd.DataFrame, seed: int) -> np.ndarray:
    """Permanent random numbers: one u per source, the same in every cell, so that samples overlap as much as they can.

    Source: Ohlsson, "Coordination of samples using permanent random numbers" (Business Survey Methods, 1995).
    """
    rows = pd.unique(candidates["row"])
    numbers = pd.Series([uniform(seed, row) for row in rows], index=rows)
    return candidates["row"].map(numbers).to_numpy(float)


def simple(candidates: pd.DataFrame, seed: int) -> np.ndarray:
    """An independent simple random sample per cell, as the study drew its 1 % (Jiang et al. 2022, section 6.1.2)."""
    columns = zip(candidates["relation"], candidates["system"], candidates["row"], strict=True)
    return np.fromiter((uniform(seed, *cell) for cell in columns), float, len(candidates))


DESIGNS: dict[str, Design] = {"shared": shared, "simple": simple}
INFORMATIVE = "informative"
"""The design that lists the groups of a relation, not of a cell (`audit.sampling.informative`), for comparisons."""


def get_design(name: str) -> Design:
    """The design of this name that lists each cell's groups. Raises UnknownName, which lists all designs."""
    if name not in DESIGNS:
        raise UnknownName("design", name, [*DESIGNS, INFORMATIVE])
    return DESIGNS[name]


def first(candidates: pd.DataFrame, order: np.ndarray, sizes: Callable[[int], int]) -> pd.DataFrame:
    """The first candidates of each cell in the order of their numbers.

    `candidates` has columns relation_id, system_id, row and any others; `sizes` maps a cell's number of candidates to
    the number to draw. Returns the drawn rows with columns rank (from 1) and pi (inclusion probability) added,
    ordered by relation_id, system_id, rank.

    >>> frame = pd.DataFrame({"relation_id": [1, 1], "system_id": [1, 1], "row": ["a", "b"]})
    >>> list(first(frame, np.array([0.9, 0.1]), lambda n: 1)["row"])
    ['b']
    """
    ranked = candidates.assign(_number=order).sort_values(
        ["relation_id", "system_id", "_number", "row"], kind="stable", ignore_index=True
    )
    cells = ranked.groupby(["relation_id", "system_id"], sort=False)["row"]
    ranked["rank"] = cells.cumcount() + 1
    size = cells.transform("size")
    wanted = size.map({n: min(n, sizes(n)) for n in size.unique()})
    ranked["pi"] = wanted / size
    return ranked[ranked["rank"] <= wanted].drop(columns="_number").reset_index(drop=True)
