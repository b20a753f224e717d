"""Which groups people are asked about themselves: the first satisfied and the first violated ones of each cell.

The satisfied ones are a beginning of the cell's own draw, so that whether a group is a false satisfaction and whether
its relation holds become known of the same groups; the violated ones are in the order of the same design. With the
design `shared` systems share these groups, and a question serves them all.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from sqlalchemy import Connection, delete, select

from audit.relations import Outcome
from audit.store import insert_new, integers, table_of, tables

_CELL = ["relation_id", "system_id"]


def draw_group_audits(
    connection: Connection, sample_id: int, number: int, lists: Iterable[tuple[Outcome, pd.DataFrame]]
) -> int:
    """Store the first `number` groups of each list as asked about; returns how many different groups are now.

    A list has the groups of a cell that are satisfied, or violated: a frame with the columns relation_id, system_id,
    rank (from 1) and group_id, ordered by rank; of the satisfied groups those that are drawn for judging, of the
    violated ones all. What was asked about stays: where a list has grown since, the audit is the shortest beginning
    that holds all of it.
    """
    table = table_of(tables.AuditDraw)
    columns = [*_CELL, "outcome"]
    query = select(*(table.c[name] for name in (*columns, "group_id"))).where(table.c.sample_id == sample_id)
    before: dict[tuple[int, ...], list[int]] = {}
    for *place, group in integers(connection, query).tolist():
        before.setdefault(tuple(place), []).append(group)
    asked = [pd.DataFrame({name: np.empty(0, int) for name in (*columns, "rank", "group_id")})]
    for outcome, groups in lists:
        place = (*(int(groups[name].iloc[0]) for name in _CELL), int(outcome))
        kept = groups.loc[groups["group_id"].isin(before.get(place, ())), "rank"]
        length = max(number, int(kept.max()) if len(kept) else 0)
        asked.append(groups.loc[groups["rank"] <= length, [*_CELL, "rank", "group_id"]].assign(outcome=int(outcome)))
    rows = pd.concat(asked, ignore_index=True).assign(sample_id=sample_id)
    connection.execute(delete(table).where(table.c.sample_id == sample_id))
    insert_new(connection, tables.AuditDraw, dict(rows.items()))
    return int(rows["group_id"].nunique())
