"""Every check of a study at once: one row a source under a relation, one column a system, as arrays.

A database holds millions of verdicts, and a report looks at all of them. One row a verdict, as a Python object, would
take seconds and gigabytes; here the database puts a group's verdicts side by side, and NumPy takes them as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, case, func, select

from audit.store import tables
from audit.store.bulk import pieces, table_of
from audit.store.ids import LIMIT

UNCHECKED = -1


@dataclass(frozen=True, slots=True)
class Checked:
    """The checks of some studies, ordered by source and relation.

    `study`, `relation` and `source` (rows,) are ids; `outcome` (rows, systems) of int8 is a number of
    `audit.relations.Outcome`, or `UNCHECKED` where the system has no verdict; `own` (rows,) tells where each system has
    a group of its own. `systems` are the ids of the columns: all that have a verdict in these studies.
    """

    systems: tuple[int, ...]
    study: np.ndarray
    relation: np.ndarray
    source: np.ndarray
    own: np.ndarray
    outcome: np.ndarray

    def groups(self, rows: np.ndarray) -> np.ndarray:
        """Ids of the groups of these rows, one column a system: (rows, systems) of int64."""
        base = (self.source[rows] * LIMIT + self.relation[rows]) * LIMIT
        return np.asarray(base[:, None] + np.where(self.own[rows][:, None], np.array(self.systems, np.int64), 0))


def integers(connection: Connection, query: Select[Any]) -> np.ndarray:
    """What a query of whole numbers returns (no nulls), as an array (rows, columns) of int64.

    The driver's own cursor is read: SQLAlchemy's row objects would take twice the time.
    """
    cursor = connection.execute(query).cursor
    if cursor is None:  # what returns no rows has no cursor; a SELECT always has one
        return np.empty((0, len(query.selected_columns)), np.int64)
    return np.fromiter(iter(cursor.fetchone, None), np.dtype((np.int64, len(query.selected_columns))))


def checked(connection: Connection, studies: Sequence[int]) -> Checked:
    """All verdicts of these studies. Errors are checks, too: `outcome` says what each one found."""
    source, verdict = table_of(tables.Source), table_of(tables.Verdict)
    of = [
        integers(connection, select(source.c.id, source.c.study_id).where(source.c.study_id.in_(piece)))
        for piece in pieces(studies)
    ]
    places = np.concatenate([np.empty((0, 2), np.int64), *of])
    places = places[np.argsort(places[:, 0])]
    systems = integers(connection, select(table_of(tables.System).c.id).order_by("id"))[:, 0]
    if not len(places):
        nothing = np.empty(0, np.int64)
        return Checked((), nothing, nothing, nothing, np.empty(0, bool), np.empty((0, 0), np.int8))
    # A group's id begins with its source's, so that the studies' groups lie between these two.
    least, most = int(places[0, 0]) * LIMIT**2, (int(places[-1, 0]) + 1) * LIMIT**2
    beside = [
        func.coalesce(func.max(case((verdict.c.system_id == int(system), verdict.c.outcome))), UNCHECKED)
        for system in systems
    ]
    wide = integers(
        connection,
        select(verdict.c.group_id, *beside)
        .where(verdict.c.group_id >= least, verdict.c.group_id < most)
        .group_by(verdict.c.group_id),
    )
    group, outcome = wide[:, 0], wide[:, 1:].astype(np.int8)
    del wide
    order = np.argsort(group, kind="stable")
    group, outcome = group[order], outcome[order]
    place = np.searchsorted(places[:, 0], group // LIMIT**2)
    inside = places[np.minimum(place, len(places) - 1), 0] == group // LIMIT**2
    group, outcome, place = group[inside], outcome[inside], place[inside]
    own = group % LIMIT > 0
    if own.any():
        # Groups of one source and relation, each for one system, become one row.
        first = np.flatnonzero(np.diff(group // LIMIT, prepend=-1))
        outcome = np.maximum.reduceat(outcome, first, axis=0)
        group, own, place = group[first], own[first], place[first]
    present = (outcome != UNCHECKED).any(axis=0)
    return Checked(
        tuple(int(one) for one in systems[present]),
        places[place, 1],
        group // LIMIT % LIMIT,
        group // LIMIT**2,
        own,
        outcome[:, present],
    )
