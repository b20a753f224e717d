"""The groups behind a report's counts, with their sources: what bootstraps over sources and paired comparisons need."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, and_, case, func, select

from audit.false_satisfaction.cells import CELL, Counted
from audit.false_satisfaction.settling import COUNTED, State
from audit.relations import Outcome
from audit.sampling.designs import shared
from audit.statistics.paired import informative
from audit.store import pieces, table_of, tables

NAMES = ["study", "task", "relation", "system"]


@dataclass(frozen=True)
class Shared:
    """The groups of one relation that apply to every system that was checked under it.

    `genuine` (groups, systems) is 1 where a satisfaction is genuine, 0 where it is false or violated, NaN where that is
    not settled or lies behind the settled beginning of the draw; `decides` (groups,) is False where a group adds 0 to
    every difference. What `audit.statistics.paired.paired_differences` takes.
    """

    study: int
    task: str
    relation: str
    systems: tuple[str, ...]
    genuine: np.ndarray
    decides: np.ndarray


def judged_groups(engine: Engine, counted: Counted) -> pd.DataFrame:
    """The settled beginnings of all draws: columns study, task, relation, system, source (its id), false (0 or 1)."""
    judged = counted.drawn[counted.drawn["judged"]].merge(counted.keys, on=CELL)
    source = _sources(engine, judged["group_id"])
    return judged.assign(source=source, false=(judged["state"] == State.FALSE).astype(int))[[*NAMES, "source", "false"]]


def spot_checked_groups(engine: Engine, counted: Counted) -> pd.DataFrame:
    """The groups whose deciding answers were checked: columns study, task, relation, system, source, protocol, checked.

    The last two are 1 for a false satisfaction, by the protocol's answers and by the checked ones.
    """
    checks = counted.audited.checks.merge(counted.keys, on=CELL)
    return checks.assign(source=_sources(engine, checks["group_id"]))[[*NAMES, "source", "protocol", "checked"]]


def _sources(engine: Engine, group_ids: pd.Series) -> pd.Series:
    """The id of each group's source."""
    group = table_of(tables.Group)
    sources: dict[int, int] = {}
    with engine.connect() as connection:
        for piece in pieces(sorted(set(group_ids.tolist()))):
            found = connection.execute(select(group.c.id, group.c.source_id).where(group.c.id.in_(piece)))
            sources.update((int(row[0]), int(row[1])) for row in found)
    return group_ids.map(sources)


def checked_groups(engine: Engine, counted: Counted) -> pd.DataFrame:
    """All groups that are in a rate: columns study, task, relation, system, source (its id), satisfied (0 or 1)."""
    with engine.connect() as connection:
        checked = _verdicts(connection, [int(str(one["id"])) for one in counted.studies])
    return checked.merge(counted.keys, on=CELL)[[*NAMES, "source", "satisfied"]]


def shared_groups(engine: Engine, counted: Counted) -> list[Shared]:
    """Per relation with two systems or more, the groups that apply to all of them; in the order of studies and cells.

    Only samples of the design `shared` tell: there a source has one random number in all cells, so that the sources up
    to the smallest last number of any cell are a random sample whose groups are drawn for every system that satisfies
    them. Of those, the longest beginning counts in which every group that decides is settled for all.
    """
    designs = {one["study_id"]: one for one in counted.samples if one["design"] == "shared"}
    if not designs:
        return []
    source = table_of(tables.Source)
    with engine.connect() as connection:
        studies = [int(str(study)) for study in designs]
        verdicts = _verdicts(connection, studies)
        named = connection.execute(select(source.c.id, source.c.row).where(source.c.study_id.in_(studies)))
        rows = {int(row[0]): str(row[1]) for row in named}
        agreed: dict[tuple[int, ...], set[int]] = {}
        found = []
        for (study, relation), keys in counted.keys.groupby(["study_id", "relation_id"], sort=False):
            if study not in designs:
                continue
            checked = verdicts[(verdicts["study_id"] == study) & (verdicts["relation_id"] == relation)]
            systems = tuple(one for one in keys["system_id"] if (checked["system_id"] == one).any())
            if len(systems) < 2:
                continue
            if systems not in agreed:
                agreed[systems] = _agreed(connection, systems)
            drawn = counted.drawn[(counted.drawn["study_id"] == study) & (counted.drawn["relation_id"] == relation)]
            numbers = shared(pd.DataFrame({"row": checked["source"].map(rows)}), int(str(designs[study]["seed"])))
            genuine, decides = _matrix(checked.assign(number=numbers), drawn, systems, agreed[systems])
            names = keys.set_index("system_id").loc[list(systems)]
            found.append(
                Shared(
                    int(study),
                    str(names["task"].iloc[0]),
                    str(names["relation"].iloc[0]),
                    tuple(names["system"]),
                    genuine,
                    decides,
                )
            )
    return found


def _matrix(
    checked: pd.DataFrame, drawn: pd.DataFrame, systems: Sequence[int], agreed: set[int]
) -> tuple[np.ndarray, np.ndarray]:
    """`genuine` and `decides` of one relation, rows in the order of the sources' random numbers."""
    states = drawn[["system_id", "group_id", "state"]]
    every = checked.merge(states, how="left", on=["system_id", "group_id"])
    reach = 1.0
    for system in systems:
        cell = every[(every["system_id"] == system) & (every["satisfied"] == 1)]
        if cell["state"].isna().any():
            reach = min(reach, cell.loc[cell["state"].notna(), "number"].max() if cell["state"].notna().any() else -1.0)
    # Settled: a violation is no genuine satisfaction; of satisfactions, the state says.
    every["genuine"] = np.where(
        every["satisfied"] == 0, 0.0, every["state"].map({int(State.TRUE): 1.0, int(State.FALSE): 0.0})
    )
    wide = every.pivot(index=["number", "source"], columns="system_id", values=["satisfied", "genuine"])
    wide = wide.sort_index()
    satisfied, genuine = (wide[name].reindex(columns=systems).to_numpy(float) for name in ("satisfied", "genuine"))
    everywhere = ~np.isnan(satisfied).any(axis=1)
    satisfied, genuine = satisfied[everywhere] == 1, genuine[everywhere]
    numbers = wide.index.get_level_values("number").to_numpy()[everywhere]
    alike = _alike(checked, wide.index.get_level_values("source")[everywhere], agreed)
    outputs = np.where(alike[:, None], 0, np.arange(len(systems)))
    decides = informative(satisfied, outputs)
    stop = np.flatnonzero(decides & (np.isnan(genuine).any(axis=1) | (numbers > reach)))
    if len(stop):
        genuine[stop[0] :] = np.nan
    return genuine, decides


def _alike(checked: pd.DataFrame, sources: pd.Index, agreed: set[int]) -> np.ndarray:
    """Which sources have one group for all systems, all of whose outputs are the same for all of them."""
    by_source = checked.groupby("source")["group_id"].agg(["min", "max"]).loc[sources]
    one = (by_source["min"] == by_source["max"]).to_numpy()
    return one & by_source["min"].isin(agreed).to_numpy()


def _agreed(connection: Connection, systems: Sequence[int]) -> set[int]:
    """Groups on all of whose counted members these systems returned the same label (or text)."""
    output, member = table_of(tables.Output), table_of(tables.Member)
    same = (
        select(output.c.input_id)
        .where(output.c.system_id.in_(systems))
        .group_by(output.c.input_id)
        .having(func.count(func.coalesce(output.c.label, output.c.text).distinct()) == 1)
        .subquery()
    )
    query = (
        select(member.c.group_id)
        .join(same, same.c.input_id == member.c.input_id, isouter=True)
        .where(member.c.role.in_(COUNTED))
        .group_by(member.c.group_id)
        .having(func.min(case((same.c.input_id.is_(None), 0), else_=1)) == 1)
    )
    return {int(row[0]) for row in connection.execute(query)}


def _verdicts(connection: Connection, studies: Sequence[int]) -> pd.DataFrame:
    """Columns study_id, relation_id, system_id, group_id, source, satisfied; groups that are in a rate."""
    group, verdict = table_of(tables.Group), table_of(tables.Verdict)
    inside = (int(Outcome.SATISFIED), int(Outcome.VIOLATED))
    query = (
        select(
            group.c.study_id, group.c.relation_id, verdict.c.system_id, group.c.id, group.c.source_id, verdict.c.outcome
        )
        .join(verdict, and_(verdict.c.group_id == group.c.id, verdict.c.outcome.in_(inside)))
        .where(group.c.study_id.in_(studies))
    )
    found = pd.DataFrame(
        [tuple(row) for row in connection.execute(query)], columns=[*CELL, "group_id", "source", "outcome"]
    )
    return found.assign(satisfied=(found.pop("outcome") == int(Outcome.SATISFIED)).astype(int))
