"""Which groups tell the compared systems of a relation apart, in the order in which they are drawn.

A group compares systems when it applies to all that were checked under its relation. Where all of them satisfy it with
identical outputs, or none does, it adds exactly 0 to every difference of their SR_g; the others are informative. The
design `informative` draws those alone, for all systems at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, case, func, select, true

from audit.relations import COUNTED, Outcome
from audit.sampling.designs import Numbers
from audit.statistics.paired import informative
from audit.store import Checked, integers, table_of, tables
from audit.store.ids import group_ids


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


class Apart:
    """The inputs on which systems do not all say the same: looked up once for some systems, whatever study asks."""

    def __init__(self, connection: Connection):
        self._connection = connection
        self._found: dict[tuple[int, ...], np.ndarray] = {}

    def of(self, systems: tuple[int, ...], inputs: np.ndarray) -> np.ndarray:
        """Which of these inputs (ids) are such: bool of the same shape. The first time it looks at every output."""
        if systems not in self._found:
            told = self._ids(systems)
            self._found[systems] = known = np.zeros(int(told.max(initial=0)) + 1, bool)
            known[told] = True
        known = self._found[systems]
        return np.asarray(known[np.minimum(inputs, len(known) - 1)] & (inputs < len(known)))

    def _ids(self, systems: tuple[int, ...]) -> np.ndarray:
        output, system = table_of(tables.Output), table_of(tables.System)
        said: Any = func.coalesce(output.c.label, output.c.text)
        if {int(row[0]) for row in self._connection.execute(select(system.c.id))} - set(systems):
            said = case((output.c.system_id.in_(systems), said))
        # Where nobody said anything that compares, as with scores alone, they are not taken to say the same.
        differ = func.coalesce(func.min(said) < func.max(said), true())
        told = select(output.c.input_id).group_by(output.c.input_id).having(differ)
        return integers(self._connection, told)[:, 0]


def compared_groups(
    connection: Connection, checks: Checked, study: int, numbers: Numbers, apart: Apart
) -> Iterator[Compared]:
    """The comparison under every relation of a study that makes groups for two systems or more, by relation id.

    Compared are the systems with a satisfied or violated group under the relation; `checks` hold the study's.
    """
    differing: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
    inputs: tuple[np.ndarray, np.ndarray] | None = None
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
        if systems not in differing:
            inputs = _inputs(connection, study, checks.source[of_study]) if inputs is None else inputs
            of_sources, of_groups = (np.sort(some[apart.of(systems, some[:, 1]), 0]) for some in inputs)
            differing[systems] = of_sources, of_groups
        group, (sources, groups) = checks.groups(rows)[:, columns], differing[systems]
        identical = ~checks.own[rows] & ~_among(source, sources) & ~_among(group[:, 0], groups)
        decides = informative(satisfied, np.where(identical[:, None], 0, np.arange(len(systems))))
        yield Compared(study, relation, systems, number, source, group, satisfied, decides)


def alone_under(checks: Checked) -> list[int]:
    """Ids of the relations, ascending, under which fewer than two systems have a satisfied or violated group.

    `checks` are those of one study.
    """
    applies = (checks.outcome == Outcome.SATISFIED) | (checks.outcome == Outcome.VIOLATED)
    relations, place = np.unique(checks.relation, return_inverse=True)
    systems = sum((np.bincount(place[of], minlength=len(relations)) > 0).astype(int) for of in applies.T)
    return [int(one) for one in relations[np.broadcast_to(systems, relations.shape) < 2]]


def informative_lists(connection: Connection, checks: Checked, study: int, seed: int) -> Iterator[pd.DataFrame]:
    """The whole list of every relation that compares systems, for the design `informative`, relation by relation.

    Columns relation_id, system_id, rank, group_id, source: a line for each system that satisfies an informative group,
    and the rank (from 1) is the group's among the relation's informative ones, the same for all systems. A list may be
    empty.
    """
    numbers = Numbers.of_study(connection, study, seed)
    for one in compared_groups(connection, checks, study, numbers, Apart(connection)):
        at, column = np.nonzero(one.satisfied & one.informative[:, None])
        columns = {
            "relation_id": np.full(len(at), one.relation),
            "system_id": np.array(one.systems)[column],
            "rank": np.cumsum(one.informative)[at],
            "group_id": one.group[at, column],
            "source": one.source[at],
        }
        yield pd.DataFrame(columns)


def _inputs(connection: Connection, study: int, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inputs of a study's sources, and of the other counted members of these sources' groups: columns source or group,
    and input (ids). A member that is the group's source is not read again for each of its groups."""
    member, source = table_of(tables.Member), table_of(tables.Source)
    others = [role for role in COUNTED if role != "source"]
    return (
        integers(connection, select(source.c.id, source.c.input_id).where(source.c.study_id == study)),
        integers(
            connection,
            select(member.c.group_id, member.c.input_id).where(
                member.c.group_id.between(*group_ids(sources.min(), sources.max())), member.c.role.in_(others)
            ),
        ),
    )


def _among(values: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    """Which values are among the others; `numpy.isin` would work those out anew for every relation."""
    if not len(ascending):
        return np.zeros(len(values), bool)
    place = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return np.asarray(ascending[place] == values)
