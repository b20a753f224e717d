"""The groups behind a report's counts, with their sources: what roll-ups and paired comparisons need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sqlalchemy import Engine

from audit.false_satisfaction.cells import CELL, Counted
from audit.false_satisfaction.clusters import ALONE, Clusters, source_clusters
from audit.false_satisfaction.settling import State
from audit.relations import Outcome
from audit.sampling.designs import INFORMATIVE, Numbers
from audit.sampling.informative import Apart, Compared, compared_groups
from audit.statistics.comparison import Common
from audit.store.ids import LIMIT

NAMES = ["study", "task", "relation", "system"]


@dataclass(frozen=True)
class Shared:
    """The common groups of one relation: those that apply to every system that was checked under it."""

    study: int
    task: str
    relation: str
    common: Common


ComparedBy = Mapping[int, tuple[Numbers, Clusters, Sequence[Compared]]]
"""By study: the numbers and the clusters of its sources, and what its relations compare. No answer changes it."""


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


def bounded_groups(counted: Counted, clusters: Clusters = ALONE) -> pd.DataFrame:
    """The whole draws of the cells that have bounds only, as no beginning of theirs counts.

    Columns as of `judged_groups`, and open (1: it waits). Samples of the design `informative` are left out.
    """
    random = [one["study_id"] for one in counted.samples if one["design"] != INFORMATIVE]
    cells = counted.keys[(counted.cells["judged"] == 0) & counted.keys["study_id"].isin(random)]
    drawn = counted.drawn.merge(cells, on=CELL)
    source = drawn["group_id"].to_numpy(np.int64) // LIMIT**2
    kinds = {"false": drawn["state"] == State.FALSE, "open": drawn["state"] == State.WAITING}
    found = drawn.assign(source=source, cluster=clusters.of(source), **{name: 1 * one for name, one in kinds.items()})
    return found[[*NAMES, "source", "cluster", *kinds]]


def spot_checked_groups(counted: Counted, clusters: Clusters = ALONE) -> pd.DataFrame:
    """The groups whose deciding answers were checked: columns study, task, relation, system, source, cluster, protocol,
    checked.

    The last two are 1 for a false satisfaction, by the protocol's answers and by the checked ones.
    """
    checks = counted.audited.checks.merge(counted.keys, on=CELL)
    source = checks["group_id"].to_numpy(np.int64) // LIMIT**2
    found = checks.assign(source=source, cluster=clusters.of(source))
    return found[[*NAMES, "source", "cluster", "protocol", "checked"]]


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


def read_compared(engine: Engine, counted: Counted) -> ComparedBy:
    """What the relations of the counted studies compare, for `shared_groups`."""
    seeds = {int(str(one["study_id"])): int(str(one["seed"])) for one in counted.samples}
    found = {}
    with engine.connect() as connection:
        apart = Apart(connection)
        clusters = source_clusters(connection, [int(str(one["id"])) for one in counted.studies])
        for one in counted.studies:
            study = int(str(one["id"]))
            numbers = Numbers.of_study(connection, study, seeds.get(study, 0))
            relations = list(compared_groups(connection, counted.checks, study, numbers, apart))
            found[study] = numbers, clusters, relations
    return found


def shared_groups(engine: Engine, counted: Counted, compared: ComparedBy | None = None) -> list[Shared]:
    """Per relation with two systems or more, the groups that apply to all of them; in the order of studies and cells.

    Of any design the judged groups of a cell that are common are a random sample of its satisfied common ones. Samples
    of the designs `shared` and `informative` tell more: there a source has one random number in all cells, so that the
    sources up to the smallest last number of any cell are a random sample whose groups are drawn for every system that
    satisfies them. Of those, the longest beginning counts in which every group that decides is settled for all.
    `compared` saves reading what is compared again.
    """
    designs = {int(str(one["study_id"])): one["design"] for one in counted.samples}
    names = {tuple(row[:3]): row[3:] for row in counted.keys[[*CELL, "task", "relation", "system"]].values.tolist()}
    found = []
    for study, (numbers, clusters, relations) in (
        read_compared(engine, counted) if compared is None else compared
    ).items():
        design = designs.get(study)
        of_study = counted.drawn[counted.drawn["study_id"] == study]
        for one in relations:
            drawn = of_study[of_study["relation_id"] == one.relation]
            inside, place, column = _places(one, drawn)
            cells = [names[study, one.relation, system] for system in one.systems]
            random = inside & drawn["judged"].to_numpy() & (design != INFORMATIVE)
            false = random & (drawn["state"] == State.FALSE).to_numpy()
            common = Common(
                tuple(str(cell[2]) for cell in cells),
                np.full(len(cells), len(one.source)),
                one.satisfied.sum(axis=0),
                judged=np.bincount(column[random], minlength=len(cells)),
                false=np.bincount(column[false], minlength=len(cells)),
            )
            if design in ("shared", INFORMATIVE):
                genuine = _genuine(one, counted, drawn, numbers, design == INFORMATIVE, inside, place, column)
                common = replace(common, genuine=genuine, held=one.satisfied, decides=one.informative)
                common = replace(common, cluster=clusters.of(one.source))
            found.append(Shared(study, cells[0][0], cells[0][1], common))
    return found


def _places(one: Compared, drawn: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of drawn groups: whether they are common, their rows among the common groups, and their systems' columns."""
    source = drawn["group_id"].to_numpy(np.int64) // LIMIT**2
    order = np.argsort(one.source)
    place = np.searchsorted(one.source, source, sorter=order)
    place = order[np.minimum(place, len(order) - 1)] if len(order) else place
    column = drawn["system_id"].map({system: at for at, system in enumerate(one.systems)}).fillna(-1).to_numpy(int)
    inside = (column >= 0) & (place < len(one.source))
    inside[inside] &= one.source[place[inside]] == source[inside]
    return inside, place, column


def _genuine(
    one: Compared,
    counted: Counted,
    drawn: pd.DataFrame,
    numbers: Numbers,
    alone: bool,
    inside: np.ndarray,
    place: np.ndarray,
    column: np.ndarray,
) -> np.ndarray:
    """What is genuine under one relation, NaN from the first deciding group on that is not settled for all systems.

    `inside`, `place` and `column` of the drawn groups are those of `_places`.
    """
    genuine = np.where(one.satisfied, np.nan, 0.0)
    settled = inside & drawn["counts"].to_numpy()
    genuine[place[settled], column[settled]] = drawn.loc[settled, "state"] == State.TRUE
    decides = one.informative
    source = drawn["group_id"].to_numpy(np.int64) // LIMIT**2
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
