"""Counts of groups in which their relation holds or does not, per cell and per relation, by settled beginnings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from operator import itemgetter

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, select

from audit.annotation.questions import HOLDS
from audit.false_satisfaction.cells import ALONE, CELL, Clusters, Counted
from audit.false_satisfaction.questions import AuditGroup, Content, audit_groups, contents, group_answers
from audit.false_satisfaction.resolution import KnownAnswer, State, Whose
from audit.relations import Outcome
from audit.statistics.corrected import COUNTS
from audit.store import rows_among, snapshot, table_of, tables
from audit.store.bulk import LIMIT

UNITS = ["task", "study", "relation", "broken", "satisfied", "violated", "pi", "cluster"]
GROUPS = ["kind", "broken", "cluster"]
RelationKey = tuple[str, object, str]
"""(task, study, relation), as in a report."""


@dataclass(frozen=True)
class Holds:
    """Counts of the groups of which people were asked whether the relation holds.

    `cells` has the columns of `CELL` and the counts of `audit.statistics.corrected.COUNTS`, one row a cell of which
    groups were asked about. `units` has a row per different group in a settled beginning of some cell: columns of
    `UNITS`, with broken (the relation does not hold), satisfied and violated (for one system or more) as truth values,
    pi, the probability that some cell's settled beginning reached it, and the cluster of its source. `groups` has the
    groups behind the counts of `cells`: columns of `CELL` and `GROUPS`, kind being genuine, false or violated.
    `waiting` has, for each relation of which groups were asked about, how many different questions nobody has settled;
    `open` is how many these are over all relations.
    """

    cells: pd.DataFrame
    units: pd.DataFrame
    groups: pd.DataFrame
    waiting: Mapping[RelationKey, int]
    open: int


@dataclass(frozen=True)
class _List:
    """One list of one cell: its groups that are asked about, its settled beginning, and how many groups it has."""

    cell: tuple[int, int, int]
    relation: RelationKey
    outcome: Outcome
    groups: list[AuditGroup]
    settled: list[tuple[AuditGroup, bool]]
    size: int

    @property
    def share(self) -> float:
        """The share of the list that is settled."""
        return len(self.settled) / self.size


def count_holds(
    database: Engine | Connection, counted: Counted, whose: Whose = "both", clusters: Clusters = ALONE
) -> Holds:
    """Count for the cells and samples of `counted`.

    Of each cell's list of satisfied or of violated groups the longest beginning counts in which every group is judged;
    of satisfied ones, the shares among true and false satisfactions are those of the beginning in which that is
    settled, too.
    """
    studies = {sample["id"]: sample["study_id"] for sample in counted.samples}
    with snapshot(database) as connection:
        audited = audit_groups(connection, studies)
        content_of = contents(connection, {group.group_id for group in audited})
        answers = group_answers(connection, whose)
        outcomes = _outcomes(connection, sorted(content_of))
    totals = counted.cells[["task", "study", "relation", "satisfied", "violated"]].join(counted.keys[CELL])
    totals = totals.set_index(CELL)
    lists: list[_List] = []
    for (sample, relation, system, outcome), members in groupby(audited, key=itemgetter(0, 1, 2, 3)):
        cell = (studies[sample], relation, system)
        row = totals.loc[cell]
        groups = list(members)
        size = int(row["satisfied" if outcome is Outcome.SATISFIED else "violated"])
        key: RelationKey = (str(row["task"]), int(row["study"]), str(row["relation"]))
        lists.append(_List(cell, key, outcome, groups, _beginning(groups, content_of, answers), size))
    waiting: dict[RelationKey, set[Content]] = {}
    for cell_list in lists:
        unresolved = {content_of[group.group_id] for group in cell_list.groups} - set(answers)
        waiting.setdefault(cell_list.relation, set()).update(unresolved)
    sources = {group: group // LIMIT**2 for group in sorted(content_of)}
    cluster_of = dict(zip(sources, clusters.of(np.array(list(sources.values()), np.int64)).tolist(), strict=True))
    cells, groups_of = _cells(lists, counted.drawn, cluster_of)
    return Holds(
        cells,
        pd.DataFrame(_units(lists, content_of, sources, cluster_of, outcomes), columns=UNITS),
        groups_of,
        {key: len(contents_waiting) for key, contents_waiting in waiting.items()},
        len(set().union(*waiting.values())),
    )


def _cells(
    lists: Sequence[_List], drawn: pd.DataFrame, clusters: Mapping[int, int]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of `Holds.cells`, and of `Holds.groups`; `clusters` has that of each group."""
    judged = drawn[drawn["judged"]]
    states = {cell: dict(zip(part["group_id"], part["state"], strict=True)) for cell, part in judged.groupby(CELL)}
    counts: dict[tuple[int, int, int], dict[str, int]] = {}
    group_rows: list[tuple[object, ...]] = []
    for cell_list in lists:
        row = counts.setdefault(cell_list.cell, dict.fromkeys(COUNTS, 0))
        row["holds_judged"] += len(cell_list.settled)
        for group, holds in cell_list.settled:
            kind = "violated"
            if cell_list.outcome is Outcome.SATISFIED:
                state = states.get(cell_list.cell, {}).get(group.group_id)
                if state is None:
                    break  # here the beginning ends in which both are settled
                kind = "false" if state == State.FALSE else "genuine"
            row[f"audited_{kind}"] += 1
            row[f"broken_{kind}"] += not holds
            group_rows.append((*cell_list.cell, kind, int(not holds), clusters[group.group_id]))
    rows = [dict(zip(CELL, cell, strict=True)) | row for cell, row in counts.items()]
    return pd.DataFrame(rows, columns=[*CELL, *COUNTS]), pd.DataFrame(group_rows, columns=[*CELL, *GROUPS])


def _units(
    lists: Sequence[_List],
    content_of: Mapping[int, Content],
    sources: Mapping[int, int],
    clusters: Mapping[int, int],
    outcomes: Mapping[int, set[tuple[int, Outcome]]],
) -> list[tuple[object, ...]]:
    """Rows of `Holds.units`."""
    reached: dict[tuple[RelationKey, int, Content], tuple[bool, list[float], set[int]]] = {}
    for cell_list in lists:
        for group, holds in cell_list.settled:
            unit = (cell_list.relation, sources[group.group_id], content_of[group.group_id])
            _, by, groups = reached.setdefault(unit, (holds, [], set()))
            by.append(cell_list.share)
            groups.add(group.group_id)
    rows: list[tuple[object, ...]] = []
    for (key, _, _content), (holds, by, groups) in reached.items():
        cells_of_unit = {pair for group in groups for pair in outcomes[group]}
        # One random number in all cells: the group was reached if the list that goes farthest reached it.
        pi = max(by)
        observed = {outcome for _, outcome in cells_of_unit}
        cluster = clusters[min(groups)]
        rows.append((*key, not holds, Outcome.SATISFIED in observed, Outcome.VIOLATED in observed, pi, cluster))
    return rows


def _beginning(
    groups: list[AuditGroup], content_of: Mapping[int, Content], answers: Mapping[Content, KnownAnswer]
) -> list[tuple[AuditGroup, bool]]:
    """The longest beginning of one list in which every group is judged, each with whether the relation holds."""
    judged = takewhile(lambda group: content_of[group.group_id] in answers, groups)
    return [(group, HOLDS in answers[content_of[group.group_id]].allowed) for group in judged]


def _outcomes(connection: Connection, groups: list[int]) -> dict[int, set[tuple[int, Outcome]]]:
    """For which systems each group is satisfied or violated."""
    verdict = table_of(tables.Verdict)
    inside = (int(Outcome.SATISFIED), int(Outcome.VIOLATED))
    query = select(verdict.c.group_id, verdict.c.system_id, verdict.c.outcome).where(verdict.c.outcome.in_(inside))
    outcomes: dict[int, set[tuple[int, Outcome]]] = {}
    for group, system, outcome in rows_among(connection, query, verdict.c.group_id, groups):
        outcomes.setdefault(group, set()).add((system, Outcome(outcome)))
    return outcomes
