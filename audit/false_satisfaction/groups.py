"""The groups behind a report's counts, with their sources: what roll-ups and paired comparisons need."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine

from audit.false_satisfaction.cells import ALONE, CELL, Clusters, Counted, source_clusters
from audit.false_satisfaction.resolution import State
from audit.relations import Outcome
from audit.sampling.designs import COMPARING, SHARED, Numbers
from audit.sampling.draw import Compared, DifferingInputs, compared_groups
from audit.statistics.comparison import Common, unsettled
from audit.store import snapshot
from audit.store.bulk import LIMIT

NAMES = ["study", "task", "relation", "system"]
PLACES = [*NAMES, "source", "cluster"]
"""Columns of every frame of groups: the names of the cell, the source (its id) and the code of its cluster."""


@dataclass(frozen=True)
class Shared:
    """How the systems that were checked under one relation are compared."""

    study: int
    task: str
    relation: str
    common: Common


def judged_groups(counted: Counted, clusters: Clusters = ALONE) -> pd.DataFrame:
    """The settled beginnings of all draws that are random samples of their cells' satisfied groups.

    Columns of `PLACES`, and false (0 or 1). Samples of the design `informative` are none, and are left out.
    """
    judged = random_beginnings(counted)
    return _placed(judged.assign(false=(judged["state"] == State.FALSE).astype(int)), counted, clusters, "false")


def bounded_groups(counted: Counted, clusters: Clusters = ALONE) -> pd.DataFrame:
    """The whole draws of the cells that have bounds only, as no beginning of theirs counts.

    Columns as of `judged_groups`, and open (1: it waits). Samples of the design `informative` are left out.
    """
    cells = counted.keys[(counted.cells["judged"] == 0) & counted.keys["study_id"].isin(_random_studies(counted))]
    drawn = counted.drawn.merge(cells[CELL], on=CELL)
    kinds = {"false": drawn["state"] == State.FALSE, "open": drawn["state"] == State.WAITING}
    return _placed(drawn.assign(**{name: 1 * flags for name, flags in kinds.items()}), counted, clusters, *kinds)


def spot_checked_groups(counted: Counted, clusters: Clusters = ALONE) -> pd.DataFrame:
    """The groups whose deciding answers were checked: columns of `PLACES`, protocol, checked.

    The last two are 1 for a false satisfaction, by the protocol's answers and by the checked ones.
    """
    return _placed(counted.audited.checks, counted, clusters, "protocol", "checked")


def random_beginnings(counted: Counted) -> pd.DataFrame:
    """The rows of `counted.drawn` in the settled beginnings that are random samples of their cells."""
    return counted.drawn[counted.drawn["judged"] & counted.drawn["study_id"].isin(_random_studies(counted))]


def source_of_group(group_id: pd.Series) -> np.ndarray:
    """The sources (ids) of groups (ids)."""
    return np.asarray(group_id.to_numpy(np.int64) // LIMIT**2)


def _random_studies(counted: Counted) -> list[int]:
    """The studies whose samples are random samples of their cells' satisfied groups."""
    return [sample["study_id"] for sample in counted.samples if sample["design"] not in COMPARING]


def _placed(groups: pd.DataFrame, counted: Counted, clusters: Clusters, *values: str) -> pd.DataFrame:
    """Rows with the columns of `CELL`, group_id and `values` -> those of `PLACES` and `values`."""
    groups = groups.merge(counted.keys, on=CELL)
    source = source_of_group(groups["group_id"])
    return groups.assign(source=source, cluster=clusters.of(source))[[*PLACES, *values]]


def checked_groups(counted: Counted, clusters: Clusters = ALONE) -> pd.DataFrame:
    """All groups that are in a rate: columns of `PLACES`, and satisfied (0 or 1)."""
    checks, keys = counted.checks, counted.keys.reset_index(drop=True)
    cell = pd.Series(keys.index, index=pd.MultiIndex.from_frame(keys[CELL]))
    pair_code = checks.study * LIMIT + checks.relation
    nothing = np.empty(0, int)
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = [(nothing, nothing, nothing)]
    for column, system in enumerate(checks.systems):
        outcome = checks.outcome[:, column]
        rows = np.flatnonzero((outcome == Outcome.SATISFIED) | (outcome == Outcome.VIOLATED))
        pairs, code = np.unique(pair_code[rows], return_inverse=True)
        number = np.array([cell[pair // LIMIT, pair % LIMIT, system] for pair in pairs.tolist()], int)
        parts.append((number[code], checks.source[rows], (outcome[rows] == Outcome.SATISFIED).astype(int)))
    number, source, satisfied = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    # Categories: a million names would each be an object.
    named = {name: pd.Categorical.from_codes(*_codes(keys[name], number)) for name in NAMES}
    return pd.DataFrame(named | {"source": source, "cluster": clusters.of(source), "satisfied": satisfied})


@dataclass(frozen=True)
class Comparison:
    """The groups of one relation that apply to all these systems, and where drawn groups lie among them: all but what
    answers make of these.

    `drawn` are the rows of `Counted.drawn` under the relation, which are the same whatever is answered: `inside`
    (drawn,) says which are common, `place` and `column` (drawn,) are their rows and their systems' columns among the
    common groups. `beyond` (groups,) says which of these lie behind what is drawn for every system that satisfies them.
    `pairs` compare each two of the systems that share more groups than all do.
    """

    study: int
    task: str
    relation: str
    systems: tuple[str, ...]
    of: Compared
    design: str | None
    cluster: np.ndarray
    drawn: np.ndarray
    inside: np.ndarray
    place: np.ndarray
    column: np.ndarray
    beyond: np.ndarray
    pairs: "tuple[Comparison, ...]" = ()

    def common(self, state: np.ndarray, counts: np.ndarray, judged: np.ndarray) -> Common:
        """The common groups as some answers settle them; arguments (drawn,) as the columns of `Counted.drawn`.

        Of any design the judged groups of a cell that are common are a random sample of its satisfied common ones.
        Samples of the designs `shared` and `informative` tell more: there a source has one random number in all cells,
        so that the sources up to the smallest last number of any cell are a random sample whose groups are drawn for
        every system that satisfies them. Of those, the longest beginning counts in which every group that decides is
        settled for all.
        """
        compared, systems = self.of, len(self.systems)
        random = self.inside & judged & (self.design not in COMPARING)
        paired = self.design in (SHARED, *COMPARING)
        settled = self.inside & counts if paired else random
        genuine = self._unjudged.copy()
        genuine[self.place[settled], self.column[settled]] = state[settled] == State.TRUE
        if paired:
            stop = np.flatnonzero(compared.informative & (unsettled(genuine) | self.beyond))
            if len(stop):
                genuine[stop[0] :] = np.nan
        return Common(
            self.systems,
            np.full(systems, len(compared.source)),
            self._satisfied,
            judged=np.bincount(self.column[random], minlength=systems),
            false=np.bincount(self.column[random & (state == State.FALSE)], minlength=systems),
            genuine=genuine,
            held=compared.satisfied,
            decides=compared.informative if paired else None,
            source=compared.source,
            cluster=self.cluster,
            pairs={(pair.systems[0], pair.systems[1]): pair.common(state, counts, judged) for pair in self.pairs},
        )

    @cached_property
    def _unjudged(self) -> np.ndarray:
        return np.where(self.of.satisfied, np.nan, 0.0)

    @cached_property
    def _satisfied(self) -> np.ndarray:
        return np.asarray(self.of.satisfied.sum(axis=0))

    def settled(self, drawn: pd.DataFrame) -> Common:
        """The common groups as they are settled in `Counted.drawn`, of whatever counts of the same samples."""
        rows = drawn.iloc[self.drawn]
        return self.common(rows["state"].to_numpy(), rows["counts"].to_numpy(bool), rows["judged"].to_numpy(bool))


def comparisons(
    database: Engine | Connection, counted: Counted, only: Collection[int] | None = None
) -> list[Comparison]:
    """The comparison of each relation with two systems or more, or with these (ids) `only`, in the order of studies and
    relations."""
    samples = {sample["study_id"]: sample for sample in counted.samples}
    names = {tuple(row[:3]): row[3:] for row in counted.keys[[*CELL, "task", "relation", "system"]].values.tolist()}
    result = []
    with snapshot(database) as connection:
        telling_apart = DifferingInputs(connection)
        studies = [study["id"] for study in counted.studies]
        clusters = source_clusters(connection, studies)
        for study in studies:
            sample = samples.get(study)
            numbers = Numbers.of_study(connection, study, sample["seed"] if sample else 0)
            design = sample["design"] if sample else None
            without = set() if design in COMPARING else unjudged_systems(counted, study)
            if only is not None:
                without = set(counted.checks.systems) - set(only)
            for several in compared_groups(connection, counted.checks, study, numbers, telling_apart, without):
                under = (counted.drawn["study_id"] == study) & (counted.drawn["relation_id"] == several[0].relation)
                drawn = counted.drawn[under]
                source = source_of_group(drawn["group_id"])
                found = []
                for compared in several:
                    cells = [names[study, compared.relation, system] for system in compared.systems]
                    beyond = np.zeros(len(compared.source), bool)
                    if design == SHARED:
                        reach = _reach(compared, counted, drawn["system_id"].to_numpy(), numbers.of(source))
                        beyond = compared.number > reach
                    comparison = Comparison(
                        study,
                        cells[0][0],
                        cells[0][1],
                        tuple(cell[2] for cell in cells),
                        compared,
                        design,
                        clusters.of(compared.source),
                        np.flatnonzero(under),
                        *_places(compared, source, drawn["system_id"]),
                        beyond,
                    )
                    found.append(comparison)
                result.append(replace(found[0], pairs=tuple(found[1:])))
    return result


def unjudged_systems(counted: Counted, study: int) -> set[int]:
    """Systems (ids) that satisfy groups of a study of which nobody has answered anything, where two others at least are
    judged: to compare those, they are left out. None else.
    """
    keys, drawn = counted.keys, counted.drawn[counted.drawn["study_id"] == study]
    of_study = (keys["study_id"] == study).to_numpy()
    satisfied = counted.cells["satisfied"].to_numpy()[of_study]
    satisfying = set(keys["system_id"][of_study][satisfied > 0].tolist())
    judged = set(drawn.loc[drawn["state"] != State.WAITING, "system_id"].tolist())
    return satisfying - judged if len(judged) > 1 else set()


def shared_groups(counted: Counted, compared: Sequence[Comparison]) -> list[Shared]:
    """The common groups of these comparisons as `counted` has them settled: counts of the samples of which they are."""
    return [
        Shared(comparison.study, comparison.task, comparison.relation, comparison.settled(counted.drawn))
        for comparison in compared
    ]


def _places(compared: Compared, source: np.ndarray, system: pd.Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whether drawn groups are common, their rows among the common groups, and their systems' columns."""
    order = np.argsort(compared.source)
    position = np.searchsorted(compared.source, source, sorter=order)
    position = order[np.minimum(position, len(order) - 1)] if len(order) else position
    column = system.map({system: index for index, system in enumerate(compared.systems)}).fillna(-1).to_numpy(int)
    inside = (column >= 0) & (position < len(compared.source))
    inside[inside] &= compared.source[position[inside]] == source[inside]
    return inside, position, column


def _reach(compared: Compared, counted: Counted, system: np.ndarray, number: np.ndarray) -> float:
    """The smallest last number of the cells that are not drawn whole: up to it every satisfied group is drawn.

    `system` and `number` are of the drawn groups.
    """
    checks = counted.checks
    under = (checks.study == compared.study) & (checks.relation == compared.relation)
    reach = 1.0
    for id in compared.systems:
        own = system == id
        if own.sum() < (checks.outcome[under, checks.systems.index(id)] == Outcome.SATISFIED).sum():
            reach = min(reach, float(number[own].max(initial=-1.0)))
    return reach


def _codes(names: pd.Series, number: np.ndarray) -> tuple[np.ndarray, pd.Index]:
    """Codes of the names of cells by their numbers, and the names."""
    code, values = pd.factorize(names)
    return code[number], pd.Index(values)
