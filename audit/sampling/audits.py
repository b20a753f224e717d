"""What people are asked about a sample beyond what settles it: follow-ups, and answers checked again."""

from dataclasses import dataclass

from sqlalchemy import Connection, select

from audit.errors import AuditError
from audit.store import insert_new, table_of, tables


@dataclass(frozen=True)
class Audits:
    """How much is audited of a sample: follow-ups and answers, by share of each cell's draw.

    Raises AuditError for shares outside 0 to 1.
    """

    follow_ups: float = 0.0
    answers: float = 0.0

    def __post_init__(self) -> None:
        for name, share in (("audit_follow_ups", self.follow_ups), ("audit_answers", self.answers)):
            if not 0 <= share <= 1:
                raise AuditError(f"{name} {share}: must be a share from 0 to 1 of each cell's draw", parameter=name)

    def beside(self, other: "Audits") -> "Audits":
        """Both: what was asked for once is not taken back by asking for less.

        >>> Audits(follow_ups=0.2).beside(Audits(follow_ups=0.1, answers=0.1))
        Audits(follow_ups=0.2, answers=0.1)
        """
        return Audits(max(self.follow_ups, other.follow_ups), max(self.answers, other.answers))


def audits_of(connection: Connection, sample_id: int) -> Audits:
    """What is audited of a sample."""
    table = table_of(tables.Audit)
    query = select(table.c.follow_ups, table.c.answers).where(table.c.sample_id == sample_id)
    row = connection.execute(query).first()
    return Audits(*row) if row else Audits()


def keep_audits(connection: Connection, sample_id: int, wanted: Audits) -> Audits:
    """Store what is audited of a sample, and return it: at least what was stored before."""
    table = table_of(tables.Audit)
    now = audits_of(connection, sample_id).beside(wanted)
    values = {"follow_ups": now.follow_ups, "answers": now.answers}
    insert_new(connection, tables.Audit, [{"sample_id": sample_id} | values])
    connection.execute(table.update().where(table.c.sample_id == sample_id).values(**values))
    return now
