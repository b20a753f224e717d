"""A manager sends questions to the adjudicators: they are flagged, with a comment."""

from collections.abc import Sequence

from sqlalchemy import Engine, delete, select

from audit.annotation.accounts import require
from audit.annotation.aside import FLAG, add_row, check_comment, is_flagged
from audit.errors import Refused
from audit.store import table_of, tables


def refer(engine: Engine, account_id: int, question_ids: Sequence[int], comment: str) -> int:
    """Flag these questions, but for those that are flagged and wait already; returns how many were flagged.

    Raises NotAllowed for anyone but a manager; Refused for a question that there is not, an empty comment or one that
    is too long, and where all of them wait already.
    """
    question, lease = table_of(tables.Question), table_of(tables.Lease)
    with engine.begin() as connection:
        # A write first: of two managers who send the same question, the second finds it sent.
        connection.execute(delete(lease).where(lease.c.expires_at < tables.now()))
        require(connection, account_id, "manager")
        if not comment.strip():
            raise Refused("say in the comment what an adjudicator should look at, then flag the question")
        check_comment(comment)
        known = {
            int(row[0]) for row in connection.execute(select(question.c.id).where(question.c.id.in_(question_ids)))
        }
        if missing := [id for id in question_ids if id not in known]:
            raise Refused(f"there is no question {missing[0]}")
        flagged = select(question.c.id).where(question.c.id.in_(question_ids), is_flagged())
        waiting = {int(row[0]) for row in connection.execute(flagged)}
        new = [id for id in dict.fromkeys(question_ids) if id not in waiting]
        if not new:
            raise Refused("these questions are with the adjudicators already")
        for id in new:
            add_row(connection, account_id, id, FLAG, comment.strip())
    return len(new)
