"""Which groups tell the compared systems of a relation apart, in the order in which they are drawn.

A group compares systems when it applies to all that were checked under its relation. Where all of them satisfy it with
identical outputs, or none does, it adds exactly 0 to every difference of their SR_g; the others are informative. The
design `informative` draws those alone, for all systems at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sqlalchemy import Connection, case, func, select

from audit.keys import uniform
from audit.relations import COUNTED, Outcome
from audit.statistics.paired import informative
from audit.store import Checked, integers, table_of, tables
from audit.store.ids import LIMIT


@dataclass(frozen=True, slots=True)
class Compared:
    """The groups of one relation that apply to every system checked under it (two or more), in the drawn order.

    `number` and `source` (groups,) are the sources' random numbers, ascending, and ids; `group` (groups, systems) ids
    of groups; `satisfied` (groups, systems) is bool; `informative` (groups,) is False where a group adds 0 to every
    difference. `systems` are the ids of the columns.
    """

    study: int
    relation: int
    systems: tuple[int, ...]
    number: np.ndarray
    source: np.ndarray
    group: np.ndarray
    satisfied: np.ndarray
    informative: np.ndarray


class Numbers:
    """Permanent random numbers of sources under a sample's seed, worked out once for each source."""

    def __init__(self, connection: Connection, study: int, seed: int):
        source = table_of(tables.Source)
        found = connection.execute(select(source.c.id, source.c.row).where(source.c.study_id == study))
        self._rows = {int(row[0]): str(row[1]) for row in found}
        self._seed = seed
        self._known: dict[int, float] = {}

    def of(self, sources: np.ndarray) -> np.ndarray:
        """The number of each of these sources (ids), as the design `shared` draws it."""
        wanted = sources.tolist()
        for source in wanted:
            if source not in self._known:
                self._known[source] = uniform(self._seed, self._rows[source])
        return np.fromiter(map(self._known.__getitem__, wanted), float, len(wanted))


def compared_groups(connection: Connection, checks: Checked, study: int, numbers: Numbers) -> Iterator[Compared]:
    """The comparison under every relation of a study that makes groups for two systems or more, by relation id.

    Compared are the systems with a satisfied or violated group under the relation; `checks` hold the study's.
    """
    alike: dict[tuple[int, ...], np.ndarray] = {}
    of_study = np.flatnonzero(checks.study == study)
    for relation in np.unique(checks.relation[of_study]).tolist():
        rows = of_study[checks.relation[of_study] == relation]
        outcome = checks.outcome[rows]
        satisfied = outcome == Outcome.SATISFIED
        applies = satisfied | (outcome == Outcome.VIOLATED)
        columns = np.flatnonzero(applies.any(axis=0))
        if len(columns) < 2:
            continue
        systems = tuple(checks.systems[at] for at in columns)
        everywhere = applies[:, columns].all(axis=1)
        rows, satisfied = rows[everywhere], satisfied[np.ix_(everywhere, columns)]
        source = checks.source[rows]
        number = numbers.of(source)
        order = np.lexsort((source, number))
        rows, satisfied, source, number = rows[order], satisfied[order], source[order], number[order]
        if systems not in alike:
            alike[systems] = _differing(connection, systems, checks, study)
        group = checks.groups(rows)[:, columns]
        identical = ~checks.own[rows] & ~_among(group[:, 0], alike[systems])
        decides = informative(satisfied, np.where(identical[:, None], 0, np.arange(len(systems))))
        yield Compared(study, relation, systems, number, source, group, satisfied, decides)


def informative_lists(connection: Connection, checks: Checked, study: int, seed: int) -> tuple[pd.DataFrame, set[int]]:
    """The whole list of every relation that compares systems, for the design `informative`, and those relations' ids.

    Columns relation_id, system_id, rank, group_id, row: a line for each system that satisfies an informative group, and
    the rank (from 1) is the group's among the relation's informative ones, the same for all systems.
    """
    numbers = Numbers(connection, study, seed)
    parts, relations = [np.empty((5, 0), np.int64)], set()
    for one in compared_groups(connection, checks, study, numbers):
        relations.add(one.relation)
        at, column = np.nonzero(one.satisfied & one.informative[:, None])
        system, rank = np.array(one.systems)[column], np.cumsum(one.informative)[at]
        parts.append(np.stack([np.full(len(at), one.relation), system, rank, one.group[at, column], one.source[at]]))
    names = ["relation_id", "system_id", "rank", "group_id", "row"]
    return pd.DataFrame(dict(zip(names, np.concatenate(parts, axis=1), strict=True))), relations


def _differing(connection: Connection, systems: Sequence[int], checks: Checked, study: int) -> np.ndarray:
    """Ids of groups, ascending, that have a counted member on which these systems do not all say the same."""
    output, member = table_of(tables.Output), table_of(tables.Member)
    said = case((output.c.system_id.in_(systems), func.coalesce(output.c.label, output.c.text)))
    same = integers(
        connection,
        select(output.c.input_id).group_by(output.c.input_id).having(func.min(said) == func.max(said)),
    )[:, 0]
    sources = checks.source[checks.study == study]
    least, most = int(sources.min()) * LIMIT**2, (int(sources.max()) + 1) * LIMIT**2
    parts = integers(
        connection,
        select(member.c.group_id, member.c.input_id).where(
            member.c.group_id >= least, member.c.group_id < most, member.c.role.in_(COUNTED)
        ),
    )
    if not len(parts):
        return np.empty(0, np.int64)
    agreed = np.zeros(max(int(parts[:, 1].max()), int(same.max(initial=0))) + 1, bool)
    agreed[same] = True
    return np.sort(parts[~agreed[parts[:, 1]], 0])


def _among(values: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    """Which values are among the others; `numpy.isin` would work those out anew for every relation."""
    if not len(ascending):
        return np.zeros(len(values), bool)
    place = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return np.asarray(ascending[place] == values)
