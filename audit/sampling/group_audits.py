"""Which groups people are asked about themselves: the first satisfied and the first violated ones of each cell.

The satisfied ones are a beginning of the cell's own draw, so that whether a group is a false satisfaction and whether
its relation holds become known of the same groups; the violated ones are in the order of the same design. With the
design `shared` systems share these groups, and a question serves them all.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from sqlalchemy import Connection, delete, select

from audit.relations import Outcome
from audit.store import insert_new, table_of, tables

_CELL = ["relation_id", "system_id"]


def draw_group_audits(
    connection: Connection, sample_id: int, number: int, lists: Mapping[Outcome, pd.DataFrame]
) -> int:
    """Store the first `number` groups of each list as asked about; returns how many different groups are now.

    `lists` has, for satisfied and violated, a frame with the columns relation_id, system_id, rank (from 1) and
    group_id, ordered by rank within each cell: of the satisfied groups those that are drawn for judging, of the
    violated ones all. What was asked about stays: where a list has grown since, the audit is the shortest beginning
    that holds all of it.
    """
    table = table_of(tables.AuditDraw)
    columns = [*_CELL, "outcome", "group_id"]
    query = select(*(table.c[name] for name in columns)).where(table.c.sample_id == sample_id)
    before = pd.DataFrame(connection.execute(query).mappings().all(), columns=columns)
    asked = []
    for outcome, groups in lists.items():
        kept = before.loc[before["outcome"] == int(outcome), [*_CELL, "group_id"]].assign(kept=True)
        every = groups[[*_CELL, "rank", "group_id"]].merge(kept, how="left", on=[*_CELL, "group_id"])
        every["last"] = every["rank"].where(every["kept"].notna(), 0)
        length = np.maximum(number, every.groupby(_CELL)["last"].transform("max"))
        asked.append(every[every["rank"] <= length].assign(outcome=int(outcome), sample_id=sample_id))
    rows = pd.concat(asked, ignore_index=True)[["sample_id", *_CELL, "outcome", "rank", "group_id"]]
    connection.execute(delete(table).where(table.c.sample_id == sample_id))
    insert_new(connection, tables.AuditDraw, [{str(k): v for k, v in row.items()} for row in rows.to_dict("records")])
    return int(rows["group_id"].nunique())
