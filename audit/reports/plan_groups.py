"""What `audit plan` needs of a database, as arrays: beginnings of lists, questions, outputs that are the same."""

from collections.abc import Collection

import numpy as np
import pandas as pd
from sqlalchemy import Connection, and_, case, select

from audit.false_satisfaction.cells import CELL, Counted
from audit.false_satisfaction.settling import carry_of
from audit.relations import COUNTED
from audit.sampling.draw import cell_lists
from audit.store import integers, table_of, tables
from audit.store.ids import LIMIT, group_ids

_ROWS = 50_000
"""Outputs that are held as Python objects at once."""


def seeds_of(counted: Counted, designs: Collection[str]) -> dict[int, int]:
    """By study, the seed of its sample of one of these designs, or else the study's."""
    seeds = {int(str(one["id"])): int(str(one["seed"])) for one in counted.studies}
    drawn = [one for one in counted.samples if one["design"] in designs]
    return seeds | {int(str(one["study_id"])): int(str(one["seed"])) for one in drawn}


def beginnings(connection: Connection, counted: Counted, design: str, lengths: np.ndarray) -> pd.DataFrame:
    """The first satisfied groups of every cell under a design: columns cell, rank (from 1), group_id.

    A cell is named by its place in `counted.cells`; `lengths` (cells,) says how many groups of each there are at most.
    """
    place = {tuple(cell): at for at, cell in enumerate(counted.keys[CELL].to_numpy().tolist())}
    found = [pd.DataFrame({name: np.empty(0, np.int64) for name in ("cell", "rank", "group_id")})]
    for study, seed in seeds_of(counted, [design]).items():
        for one in cell_lists(connection, counted.checks.of(study), study, design, seed):
            cell = place[study, int(one["relation_id"].iloc[0]), int(one["system_id"].iloc[0])]
            first = one.iloc[: int(lengths[cell])]
            found.append(first[["rank", "group_id"]].assign(cell=cell))
    return pd.concat(found, ignore_index=True)


def questions(connection: Connection, counted: Counted) -> pd.DataFrame:
    """Columns group_id, question, ordered by group: the inputs that must be asked about to settle it, at most."""
    member, relation = table_of(tables.Member), table_of(tables.Relation)
    rows = connection.execute(select(relation.c.id, relation.c.task, relation.c.name))
    carried = [int(id) for id, task, name in rows if carry_of(str(task), str(name)).preserves_truth]
    sources = counted.checks.source
    if not len(sources):
        return pd.DataFrame({"group_id": np.empty(0, np.int64), "question": np.empty(0, np.int64)})
    query = (
        select(member.c.group_id, member.c.input_id, case((member.c.role == "source", 1), else_=0))
        .where(
            member.c.group_id.between(*group_ids(sources.min(), sources.max())),
            member.c.role.in_(COUNTED),
        )
        .order_by(member.c.group_id)
    )
    found = integers(connection, query)
    asked = (found[:, 2] == 1) | ~np.isin(found[:, 0] // LIMIT % LIMIT, carried)
    return pd.DataFrame({"group_id": found[asked, 0], "question": found[asked, 1]})


def asked_of(asked: pd.DataFrame, groups: np.ndarray) -> set[int]:
    """The questions of these groups; `asked` is what `questions` returns.

    >>> asked_of(pd.DataFrame({"group_id": [1, 1, 4], "question": [7, 8, 9]}), np.array([4, 2]))
    {9}
    """
    group, question = asked["group_id"].to_numpy(), asked["question"].to_numpy()
    first, number = np.searchsorted(group, groups), np.searchsorted(group, groups, "right")
    number -= first
    places = np.repeat(first - np.cumsum(number) + number, number) + np.arange(number.sum())
    return set(question[places].tolist())


def output_codes(connection: Connection, study: int, relation_id: int) -> pd.DataFrame:
    """Columns group_id, system_id, code: equal codes for identical outputs on identical inputs of all members."""
    group, member, output = table_of(tables.Group), table_of(tables.Member), table_of(tables.Output)
    verdict = table_of(tables.Verdict)
    query = (
        select(
            group.c.id,
            verdict.c.system_id,
            member.c.step,
            member.c.input_id,
            output.c.attempt,
            output.c.label,
            output.c.text,
        )
        .join(verdict, verdict.c.group_id == group.c.id)
        .join(member, and_(member.c.group_id == group.c.id, member.c.role.in_(COUNTED)))
        .join(output, and_(output.c.system_id == verdict.c.system_id, output.c.input_id == member.c.input_id))
        .where(group.c.study_id == study, group.c.relation_id == relation_id)
    )
    codes: dict[tuple[str | None, str | None], int] = {}
    parts = [np.empty((0, 6), np.int64)]
    for some in connection.execute(query, execution_options={"yield_per": _ROWS}).partitions():
        rows = [(*row[:5], codes.setdefault((row[5], row[6]), len(codes))) for row in some]
        parts.append(np.array(rows, np.int64))
    key = ["group_id", "system_id", "step"]
    rows = pd.DataFrame(np.concatenate(parts), columns=[*key, "input_id", "attempt", "said"])
    rows = rows.sort_values([*key, "attempt"], kind="stable").drop_duplicates(key, keep="last")
    rows["code"] = pd.util.hash_pandas_object(rows[["step", "input_id", "said"]], index=False)
    return rows.groupby(["group_id", "system_id"], sort=False)["code"].sum().reset_index()
