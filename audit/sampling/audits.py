"""What people are asked about a sample beyond what settles it: groups, follow-ups, and answers checked again."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sqlalchemy import Connection, delete, select

from audit.errors import AuditError
from audit.relations import Outcome
from audit.store import insert_new, integers, table_of, tables


@dataclass(frozen=True)
class Audits:
    """How much is audited of a sample: whole groups by number, follow-ups and answers by share of each cell's draw.

    Raises AuditError for a negative number and for shares outside 0 to 1.
    """

    groups: int = 0
    follow_ups: float = 0.0
    answers: float = 0.0

    def __post_init__(self) -> None:
        if self.groups < 0:
            raise AuditError(
                f"audit_groups {self.groups}: must be 0 or more groups of each cell and outcome",
                parameter="audit_groups",
            )
        for name, share in (("audit_follow_ups", self.follow_ups), ("audit_answers", self.answers)):
            if not 0 <= share <= 1:
                raise AuditError(f"{name} {share}: must be a share from 0 to 1 of each cell's draw", parameter=name)

    def beside(self, other: "Audits") -> "Audits":
        """Both: what was asked for once is not taken back by asking for less.

        >>> Audits(groups=5).beside(Audits(groups=3, answers=0.1))
        Audits(groups=5, follow_ups=0.0, answers=0.1)
        """
        return Audits(
            max(self.groups, other.groups),
            max(self.follow_ups, other.follow_ups),
            max(self.answers, other.answers),
        )


def audits_of(connection: Connection, sample_id: int) -> Audits:
    """What is audited of a sample."""
    table = table_of(tables.Audit)
    query = select(table.c.groups, table.c.follow_ups, table.c.answers).where(table.c.sample_id == sample_id)
    row = connection.execute(query).first()
    return Audits(*row) if row else Audits()


def keep_audits(connection: Connection, sample_id: int, wanted: Audits) -> Audits:
    """Store what is audited of a sample, and return it: at least what was stored before."""
    table = table_of(tables.Audit)
    now = audits_of(connection, sample_id).beside(wanted)
    values = {"groups": now.groups, "follow_ups": now.follow_ups, "answers": now.answers}
    insert_new(connection, tables.Audit, [{"sample_id": sample_id} | values])
    connection.execute(table.update().where(table.c.sample_id == sample_id).values(**values))
    return now


# Which groups people are asked about themselves: the first satisfied and the first violated ones of each cell.
#
# The satisfied ones are a beginning of the cell's own draw, so that whether a group is a false satisfaction and whether
# its relation holds become known of the same groups; the violated ones are in the order of the same design. With the
# design `shared` systems share these groups, and a question serves them all.

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
    beginnings = [pd.DataFrame({name: np.empty(0, int) for name in (*columns, "rank", "group_id")})]
    for outcome, groups in lists:
        place = (*(int(groups[name].iloc[0]) for name in _CELL), int(outcome))
        drawn_ranks = groups.loc[groups["group_id"].isin(before.get(place, ())), "rank"]
        length = max(number, int(drawn_ranks.max()) if len(drawn_ranks) else 0)
        beginnings.append(
            groups.loc[groups["rank"] <= length, [*_CELL, "rank", "group_id"]].assign(outcome=int(outcome))
        )
    rows = pd.concat(beginnings, ignore_index=True).assign(sample_id=sample_id)
    connection.execute(delete(table).where(table.c.sample_id == sample_id))
    insert_new(connection, tables.AuditDraw, dict(rows.items()))
    return int(rows["group_id"].nunique())
