"""Counts of groups in which their relation holds or does not, per cell and per relation, by settled beginnings."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, select

from audit.annotation.questions import HOLDS
from audit.false_satisfaction.cells import ALONE, CELL, Clusters, Counted
from audit.false_satisfaction.questions import AskedGroup, Content, asked_groups, contents, known_holds
from audit.false_satisfaction.resolution import Known, State, Whose
from audit.relations import Outcome
from audit.statistics.corrected import COUNTS
from audit.store import pieces, table_of, tables

UNITS = ["task", "study", "relation", "broken", "satisfied", "violated", "pi", "cluster"]
GROUPS = ["kind", "broken", "cluster"]
RelationKey = tuple[str, object, str]
"""(task, study, relation), as in a report."""


@dataclass(frozen=True)
class Holds:
    """What people found of the groups that they were asked about.

    `cells` has the columns of `CELL` and the counts of `audit.statistics.corrected.COUNTS`, one row a cell of which
    groups were asked about. `units` has a row per different group in a settled beginning of some cell: columns of
    `UNITS`, with broken (the relation does not hold), satisfied and violated (for one system or more) as truth values,
    pi, the probability that some cell's settled beginning reached it, and the cluster of its source. `groups` has the
    groups behind the counts of `cells`: columns of `CELL` and `GROUPS`, kind being genuine, false or violated.
    `waiting` has, for each relation of which groups were asked about, how many different questions nobody has settled.
    """

    cells: pd.DataFrame
    units: pd.DataFrame
    groups: pd.DataFrame
    waiting: Mapping[RelationKey, int]


@dataclass(frozen=True)
class _List:
    """One list of one cell: its groups that are asked about, its settled beginning, and how many groups it has."""

    cell: tuple[int, int, int]
    relation: RelationKey
    outcome: Outcome
    asked: list[AskedGroup]
    settled: list[tuple[AskedGroup, bool]]
    size: int

    @property
    def share(self) -> float:
        """The share of the list that is settled."""
        return len(self.settled) / self.size


def count_holds(engine: Engine, counted: Counted, whose: Whose = "both", clusters: Clusters = ALONE) -> Holds:
    """Count for the cells and samples of `counted`.

    Of each cell's list of satisfied or of violated groups the longest beginning counts in which every group is judged;
    of satisfied ones, the shares among true and false satisfactions are those of the beginning in which that is
    settled, too.
    """
    designs = {int(str(one["id"])): str(one["design"]) for one in counted.samples}
    studies = {int(str(one["id"])): int(str(one["study_id"])) for one in counted.samples}
    with engine.connect() as connection:
        asked = asked_groups(connection, designs)
        made_of = contents(connection, {one.group_id for one in asked})
        known = known_holds(connection, whose)
        sources = _sources(connection, sorted(made_of))
        outcomes = _outcomes(connection, sorted(made_of))
    totals = counted.cells[["task", "study", "relation", "satisfied", "violated"]].join(counted.keys[CELL])
    totals = totals.set_index(CELL)
    lists: list[_List] = []
    for (sample, relation, system, outcome), some in groupby(
        asked, key=lambda one: (one.sample_id, one.relation_id, one.system_id, one.outcome)
    ):
        cell = (studies[sample], relation, system)
        of = totals.loc[cell]
        groups = list(some)
        size = int(of["satisfied" if outcome is Outcome.SATISFIED else "violated"])
        key: RelationKey = (str(of["task"]), int(of["study"]), str(of["relation"]))
        lists.append(_List(cell, key, outcome, groups, _beginning(groups, made_of, known), size))
    waiting: dict[RelationKey, set[Content]] = {}
    for one in lists:
        open_ones = {made_of[group.group_id] for group in one.asked} - set(known)
        waiting.setdefault(one.relation, set()).update(open_ones)
    independent = {study for sample, study in studies.items() if designs[sample] == "simple"}
    of_source = dict(zip(sources, clusters.of(np.array(list(sources.values()), np.int64)).tolist(), strict=True))
    cells, groups_of = _cells(lists, counted.drawn, of_source)
    return Holds(
        cells,
        pd.DataFrame(_units(lists, made_of, sources, of_source, outcomes, independent), columns=UNITS),
        groups_of,
        {key: len(some) for key, some in waiting.items()},
    )


def _cells(
    lists: Sequence[_List], drawn: pd.DataFrame, clusters: Mapping[int, int]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of `Holds.cells`, and of `Holds.groups`; `clusters` has that of each group."""
    judged = drawn[drawn["judged"]]
    states = {cell: dict(zip(some["group_id"], some["state"], strict=True)) for cell, some in judged.groupby(CELL)}
    counts: dict[tuple[int, int, int], dict[str, int]] = {}
    found: list[tuple[object, ...]] = []
    for one in lists:
        row = counts.setdefault(one.cell, dict.fromkeys(COUNTS, 0))
        row["holds_judged"] += len(one.settled)
        for group, holds in one.settled:
            kind = "violated"
            if one.outcome is Outcome.SATISFIED:
                state = states.get(one.cell, {}).get(group.group_id)
                if state is None:
                    break  # here the beginning ends in which both are settled
                kind = "false" if state == State.FALSE else "genuine"
            row[f"audited_{kind}"] += 1
            row[f"broken_{kind}"] += not holds
            found.append((*one.cell, kind, int(not holds), clusters[group.group_id]))
    rows = [dict(zip(CELL, cell, strict=True)) | row for cell, row in counts.items()]
    return pd.DataFrame(rows, columns=[*CELL, *COUNTS]), pd.DataFrame(found, columns=[*CELL, *GROUPS])


def _units(
    lists: Sequence[_List],
    made_of: Mapping[int, Content],
    sources: Mapping[int, int],
    clusters: Mapping[int, int],
    outcomes: Mapping[int, set[tuple[int, Outcome]]],
    independent: set[int],
) -> list[tuple[object, ...]]:
    """Rows of `Holds.units`; in the studies `independent` each cell drew on its own."""
    shares = {(*one.cell, one.outcome): one.share for one in lists}
    reached: dict[tuple[RelationKey, int, Content], tuple[bool, list[float], set[int]]] = {}
    for one in lists:
        for group, holds in one.settled:
            unit = (one.relation, sources[group.group_id], made_of[group.group_id])
            _, by, groups = reached.setdefault(unit, (holds, [], set()))
            by.append(one.share)
            groups.add(group.group_id)
    rows: list[tuple[object, ...]] = []
    for (key, _, content), (holds, by, groups) in reached.items():
        where = {pair for group in groups for pair in outcomes[group]}
        study = int(str(key[1]))
        if study in independent:
            # The group was reached unless every list that has it stopped before it.
            missed = math.prod(1 - shares.get((study, content[0], *pair), 0.0) for pair in where)
            pi = 1 - missed
        else:
            # One random number in all cells: the group was reached if the list that goes farthest reached it.
            pi = max(by)
        found = {outcome for _, outcome in where}
        cluster = clusters[min(groups)]
        rows.append((*key, not holds, Outcome.SATISFIED in found, Outcome.VIOLATED in found, pi, cluster))
    return rows


def _beginning(
    groups: list[AskedGroup], made_of: Mapping[int, Content], known: Mapping[Content, Known]
) -> list[tuple[AskedGroup, bool]]:
    """The longest beginning of one list in which every group is judged, each with whether the relation holds."""
    found = []
    for one in groups:
        answer = known.get(made_of[one.group_id])
        if answer is None:
            break
        found.append((one, HOLDS in answer.allowed))
    return found


def _sources(connection: Connection, groups: list[int]) -> dict[int, int]:
    """The source of each group."""
    group = table_of(tables.Group)
    found: dict[int, int] = {}
    for piece in pieces(groups):
        query = select(group.c.id, group.c.source_id).where(group.c.id.in_(piece))
        found.update((int(row[0]), int(row[1])) for row in connection.execute(query))
    return found


def _outcomes(connection: Connection, groups: list[int]) -> dict[int, set[tuple[int, Outcome]]]:
    """For which systems each group is satisfied or violated."""
    verdict = table_of(tables.Verdict)
    inside = (int(Outcome.SATISFIED), int(Outcome.VIOLATED))
    found: dict[int, set[tuple[int, Outcome]]] = {}
    for piece in pieces(groups):
        query = select(verdict.c.group_id, verdict.c.system_id, verdict.c.outcome).where(
            verdict.c.group_id.in_(piece), verdict.c.outcome.in_(inside)
        )
        for group, system, outcome in connection.execute(query):
            found.setdefault(int(group), set()).add((int(system), Outcome(outcome)))
    return found
