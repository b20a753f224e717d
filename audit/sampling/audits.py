"""What people are asked about a sample beyond what settles it: groups, follow-ups, and answers checked again."""

from dataclasses import dataclass

from sqlalchemy import Connection, select

from audit.errors import AuditError
from audit.store import insert_new, table_of, tables


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
            raise AuditError(f"--audit-groups {self.groups}: must be 0 or more groups of each cell and outcome")
        for option, share in (("--audit-follow-ups", self.follow_ups), ("--audit-answers", self.answers)):
            if not 0 <= share <= 1:
                raise AuditError(f"{option} {share}: must be a share from 0 to 1 of each cell's draw")

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
