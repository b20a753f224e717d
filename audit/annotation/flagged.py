"""Questions that annotators flagged, for adjudicators: they settle them, or send them back."""

from sqlalchemy import Engine, delete, func, select

from audit.annotation.accounts import ADJUDICATORS, require
from audit.annotation.aside import BACK, add_row, check_comment, is_flagged
from audit.errors import Refused
from audit.store import table_of, tables


def flagged_ids(engine: Engine, account_id: int) -> list[int]:
    """Flagged questions to which no adjudicator has replied, most wanted first. Raises NotAllowed."""
    question = table_of(tables.Question)
    query = (
        select(question.c.id)
        .where(is_flagged())
        .order_by(question.c.priority.is_(None), question.c.priority, question.c.id)
    )
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        return [int(row[0]) for row in connection.execute(query)]


def flags_left(engine: Engine, account_id: int) -> int:
    """How many flagged questions wait for a reply. Raises NotAllowed."""
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        query = select(func.count()).select_from(table_of(tables.Question)).where(is_flagged())
        return int(connection.execute(query).scalar() or 0)


def send_back(engine: Engine, account_id: int, question_id: int, remark: str = "") -> None:
    """Give a flagged question back to the annotators who flagged it, with a remark that they see above it.

    Raises NotAllowed, or Refused where the question is not flagged any more or the remark is too long.
    """
    question, lease = table_of(tables.Question), table_of(tables.Lease)
    with engine.begin() as connection:
        # A write first: of two adjudicators with the same question on their screens, the second finds it replied to.
        connection.execute(delete(lease).where(lease.c.expires_at < tables.now()))
        require(connection, account_id, *ADJUDICATORS)
        check_comment(remark)
        if not connection.execute(select(question.c.id).where(question.c.id == question_id, is_flagged())).first():
            raise Refused("this question is not flagged any more; take the next one")
        add_row(connection, account_id, question_id, BACK, remark.strip())
