"""Cluster bootstrap over sources: how the rates of cells vary together when sources are drawn again.

Groups that share a source are not independent: one hard sentence is wrong for several systems under several
relations. So whole sources are resampled, with every group that they are in.
"""

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from audit.errors import AuditError

DRAWS = 2000
CHUNK = 40
"""Draws that are worked on at once: memory is sources x CHUNK x 4 bytes."""


def replicates(
    source: np.ndarray, cell: np.ndarray, value: np.ndarray, cells: int, draws: int = DRAWS, seed: int = 0
) -> np.ndarray:
    """Means of `value` per cell in `draws` resamples of the sources; float array (draws, cells), NaN for an empty cell.

    `source` and `cell` are integer codes from 0, one a group (a source may be in many cells), `value` is a number per
    group, such as 1 for a false satisfaction. Sources are resampled with replacement, as many as there are. What
    happens is the same for two sources with the same groups and values, so those are counted once with their number.
    Raises AuditError on arrays of different lengths or codes out of range. Source: Davison and Hinkley, Bootstrap
    Methods and their Application (1997), section 3.8; Field and Welsh, JRSS B 69 (2007).

    >>> found = replicates(np.array([0, 0, 1, 2]), np.array([0, 1, 0, 0]), np.array([1, 0, 1, 1]), 2, draws=5)
    >>> found.shape, found[:, 0].tolist()
    ((5, 2), [1.0, 1.0, 1.0, 1.0, 1.0])
    """
    source, cell, value = np.asarray(source), np.asarray(cell), np.asarray(value, float)
    if not len(source) == len(cell) == len(value):
        raise AuditError(
            f"{len(source)} sources, {len(cell)} cells and {len(value)} values; needed is one of each for every group"
        )
    if len(cell) and not (cell.min() >= 0 and cell.max() < cells and source.min() >= 0):
        raise AuditError(f"codes must lie between 0 and {cells - 1} for cells, and be 0 or more for sources")
    if not len(source):
        return np.full((draws, cells), np.nan)
    size, total, times = _patterns(source, cell, value, cells)
    rng = np.random.default_rng(seed)
    sources = int(times.sum())
    distinct = len(times)
    found = np.full((draws, cells), np.nan)
    for start in range(0, draws, CHUNK):
        width = min(CHUNK, draws - start)
        if distinct == sources:
            times_drawn = np.empty((width, distinct), np.float32)
            for row in range(width):
                times_drawn[row] = np.bincount(rng.integers(distinct, size=sources, dtype=np.int32), minlength=distinct)
            weights = np.ascontiguousarray(times_drawn.T)
        else:
            weights = rng.multinomial(sources, times / sources, size=width).T.astype(np.float32)
        counted, summed = (size @ weights).T, (total @ weights).T
        np.divide(summed, counted, out=found[start : start + width], where=counted > 0)
    return found


def correlations(found: np.ndarray) -> np.ndarray:
    """Correlations between the cells' replicates; float array (cells, cells) with a diagonal of 1.

    `found` has shape (draws, cells). A cell without variation (nothing false, everything judged false) correlates with
    nothing: 0, as its interval says how little is known there.

    >>> correlations(np.array([[0.0, 0.0, 1.0], [1.0, 2.0, 1.0]])).round(6).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    means = np.nanmean(np.where(np.isnan(found).all(axis=0), 0.0, found), axis=0)
    centred = np.where(np.isnan(found), 0.0, found - means)
    spread = np.sqrt((centred**2).sum(axis=0))
    moving = spread > 1e-12 * max(1, len(found))
    unit = np.where(moving, centred / np.where(moving, spread, 1.0), 0.0)
    together = np.clip(unit.T @ unit, -1.0, 1.0)
    np.fill_diagonal(together, 1.0)
    return together


def _patterns(source: np.ndarray, cell: np.ndarray, value: np.ndarray, cells: int) -> tuple[Any, Any, np.ndarray]:
    """Sparse (cells, patterns) matrices of group counts and value sums, and how many sources have each pattern."""
    _, source = np.unique(source, return_inverse=True)
    sources = int(source.max()) + 1
    shape = (sources, cells)
    size = csr_array((np.ones(len(source)), (source, cell)), shape=shape)
    total = csr_array((value, (source, cell)), shape=shape)
    size.sum_duplicates()
    total.sum_duplicates()
    total.eliminate_zeros()  # most groups are not false, and what is not stored costs nothing
    # Sources with equal rows have equal sums over random keys; that two others meet in 2 x 53 bits is not to be feared.
    rng = np.random.default_rng(12345)
    keys = [rng.random(cells), rng.random(cells)]
    marks = pd.DataFrame(
        {"a": size @ keys[0], "b": size @ keys[1], "c": total @ keys[0], "d": total @ keys[1]}
    ).groupby(["a", "b", "c", "d"], sort=False)
    first = np.flatnonzero(marks.cumcount().to_numpy() == 0)
    times = np.bincount(marks.ngroup().to_numpy())
    if len(first) > sources // 2:  # too few repeat for the counts to be worth their cost
        first, times = np.arange(sources), np.ones(sources, int)
    return (
        csr_array(size[first].T, dtype=np.float32),
        csr_array(total[first].T, dtype=np.float32),
        times,
    )
