"""The groups behind a report's counts, with their sources: what roll-ups and paired comparisons need."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sqlalchemy import Engine

from audit.false_satisfaction.cells import CELL, Counted
from audit.false_satisfaction.clusters import ALONE, Clusters, source_clusters
from audit.false_satisfaction.settling import State
from audit.relations import Outcome
from audit.sampling.designs import INFORMATIVE, Numbers
from audit.sampling.informative import Apart, Compared, compared_groups
from audit.store.ids import LIMIT

NAMES = ["study", "task", "relation", "system"]


@dataclass(frozen=True)
class Shared:
    """The groups of one relation that apply to every system that was checked under it.

    `genuine` (groups, systems) is 1 where a satisfaction is genuine, 0 where it is false or violated, NaN where that is
    not settled or lies behind the settled beginning of the draw; `decides` (groups,) is False where a group adds 0 to
    every difference; `cluster` (groups,) has codes of the sources' clusters. What
    `audit.statistics.paired.paired_differences` takes. `alone` tells that these groups were
    drawn for comparisons only (design `informative`), so that they are all there is to rank by.
    """

    study: int
    task: str
    relation: str
    systems: tuple[str, ...]
    genuine: np.ndarray
    decides: np.ndarray
    cluster: np.ndarray
    alone: bool = False


def judged_groups(counted: Counted, clusters: Clusters = ALONE) -> pd.DataFrame:
    """The settled beginnings of all draws that are random samples of their cells' satisfied groups.

    Columns study, task, relation, system, source (its id), cluster (its code), false (0 or 1). Samples of the design
    `informative` are none, and are left out.
    """
    judged = random_beginnings(counted).merge(counted.keys, on=CELL)
    false = (judged["state"] == State.FALSE).astype(int)
    source = judged["group_id"].to_numpy(np.int64) // LIMIT**2
    found = judged.assign(source=source, cluster=clusters.of(source), false=false)
    return found[[*NAMES, "source", "cluster", "false"]]


def spot_checked_groups(counted: Counted) -> pd.DataFrame:
    """The groups whose deciding answers were checked: columns study, task, relation, system, source, protocol, checked.

    The last two are 1 for a false satisfaction, by the protocol's answers and by the checked ones.
    """
    checks = counted.audited.checks.merge(counted.keys, on=CELL)
    return checks.assign(source=checks["group_id"] // LIMIT**2)[[*NAMES, "source", "protocol", "checked"]]


def random_beginnings(counted: Counted) -> pd.DataFrame:
    """The rows of `counted.drawn` in the settled beginnings that are random samples of their cells."""
    cells = [one["study_id"] for one in counted.samples if one["design"] != INFORMATIVE]
    return counted.drawn[counted.drawn["judged"] & counted.drawn["study_id"].isin(cells)]


def checked_groups(counted: Counted, clusters: Clusters = ALONE) -> pd.DataFrame:
    """All groups that are in a rate: columns study, task, relation, system, source (its id), cluster (its
    code), satisfied (0 or 1)."""
    checks, keys = counted.checks, counted.keys.reset_index(drop=True)
    cell = pd.Series(keys.index, index=pd.MultiIndex.from_frame(keys[CELL]))
    place = checks.study * LIMIT + checks.relation
    nothing = np.empty(0, int)
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = [(nothing, nothing, nothing)]
    for at, system in enumerate(checks.systems):
        outcome = checks.outcome[:, at]
        rows = np.flatnonzero((outcome == Outcome.SATISFIED) | (outcome == Outcome.VIOLATED))
        pairs, code = np.unique(place[rows], return_inverse=True)
        number = np.array([cell[pair // LIMIT, pair % LIMIT, system] for pair in pairs.tolist()], int)
        parts.append((number[code], checks.source[rows], (outcome[rows] == Outcome.SATISFIED).astype(int)))
    number, source, satisfied = (np.concatenate(one) for one in zip(*parts, strict=True))
    # Categories: a million names would each be an object.
    named = {name: pd.Categorical.from_codes(*_codes(keys[name], number)) for name in NAMES}
    return pd.DataFrame(named | {"source": source, "cluster": clusters.of(source), "satisfied": satisfied})


def shared_groups(engine: Engine, counted: Counted) -> list[Shared]:
    """Per relation with two systems or more, the groups that apply to all of them; in the order of studies and cells.

    Samples of the designs `shared` and `informative` tell: there a source has one random number in all cells, so that
    the sources up to the smallest last number of any cell are a random sample whose groups are drawn for every system
    that satisfies them. Of those, the longest beginning counts in which every group that decides is settled for all.
    """
    designs = {int(str(one["study_id"])): one for one in counted.samples if one["design"] in ("shared", INFORMATIVE)}
    found = []
    names = {tuple(row[:3]): row[3:] for row in counted.keys[[*CELL, "task", "relation", "system"]].values.tolist()}
    with engine.connect() as connection:
        apart, clusters = Apart(connection), source_clusters(connection, designs)
        for study, sample in designs.items():
            numbers = Numbers.of_study(connection, study, int(str(sample["seed"])))
            for one in compared_groups(connection, counted.checks, study, numbers, apart):
                of = counted.drawn["study_id"].eq(study) & counted.drawn["relation_id"].eq(one.relation)
                alone = sample["design"] == INFORMATIVE
                genuine = _genuine(one, counted, counted.drawn[of], numbers, alone)
                cells = [names[study, one.relation, system] for system in one.systems]
                systems = tuple(str(cell[2]) for cell in cells)
                cluster = clusters.of(one.source)
                found.append(Shared(study, cells[0][0], cells[0][1], systems, genuine, one.informative, cluster, alone))
    return found


def _genuine(one: Compared, counted: Counted, drawn: pd.DataFrame, numbers: Numbers, alone: bool) -> np.ndarray:
    """What is genuine under one relation, NaN from the first deciding group on that is not settled for all systems."""
    genuine = np.where(one.satisfied, np.nan, 0.0)
    source = drawn["group_id"].to_numpy(np.int64) // LIMIT**2
    order = np.argsort(one.source)
    place = np.searchsorted(one.source, source, sorter=order)
    place = order[np.minimum(place, len(order) - 1)] if len(order) else place
    column = drawn["system_id"].map({system: at for at, system in enumerate(one.systems)})
    inside = column.notna().to_numpy() & (place < len(one.source))
    inside[inside] &= one.source[place[inside]] == source[inside]
    settled = inside & drawn["counts"].to_numpy()
    genuine[place[settled], column[settled].astype(int)] = drawn.loc[settled, "state"] == State.TRUE
    decides = one.informative
    behind = np.zeros(len(decides), bool) if alone else one.number > _reach(one, counted, drawn, numbers, source)
    stop = np.flatnonzero(decides & (np.isnan(genuine).any(axis=1) | behind))
    if len(stop):
        genuine[stop[0] :] = np.nan
    return genuine


def _reach(one: Compared, counted: Counted, drawn: pd.DataFrame, numbers: Numbers, source: np.ndarray) -> float:
    """The smallest last number of the cells that are not drawn whole: up to it every satisfied group is drawn."""
    checks = counted.checks
    of = (checks.study == one.study) & (checks.relation == one.relation)
    reach = 1.0
    for system in one.systems:
        mine = (drawn["system_id"] == system).to_numpy()
        if mine.sum() < (checks.outcome[of, checks.systems.index(system)] == Outcome.SATISFIED).sum():
            reach = min(reach, float(numbers.of(source[mine]).max(initial=-1.0)))
    return reach


def _codes(names: pd.Series, number: np.ndarray) -> tuple[np.ndarray, pd.Index]:
    """Codes of the names of cells by their numbers, and the names."""
    code, values = pd.factorize(names)
    return code[number], pd.Index(values)
