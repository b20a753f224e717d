"""Taking a flag back: the last thing somebody did can be undone, whatever it was."""

from sqlalchemy import Connection, Engine, delete, exists, func, select

from audit.annotation.accounts import ROLES, require
from audit.annotation.answers import counting_votes, counts
from audit.annotation.aside import FLAG, UNFLAG, add_row, is_flagged, taken_back
from audit.annotation.earlier import lend
from audit.annotation.queue import LEASE
from audit.sampling.protocols import SHOWN
from audit.store import table_of, tables, writing


def unflag(engine: Engine, account_id: int) -> int | None:
    """Take this annotator's last flag back and lease its question to them again; returns the question's id.

    None where they have judged since, an adjudicator has replied, or others have taken every place of the question:
    then there is no flag to undo, and nothing changes but that their lease is given back, as
    `audit.annotation.judging.undo` does. Raises NotAllowed.
    """
    aside, judgement, lease = (table_of(model) for model in (tables.Aside, tables.Judgement, tables.Lease))
    question = table_of(tables.Question)
    with writing(engine) as connection:
        connection.execute(delete(lease).where(lease.c.annotator_id == account_id))
        require(connection, account_id, *ROLES)
        flags = (
            select(aside.c.question_id, aside.c.at)
            .where(aside.c.annotator_id == account_id, aside.c.kind == FLAG, ~exists().where(taken_back(aside)))
            .order_by(aside.c.id.desc())
            .limit(1)
        )
        last = connection.execute(flags).first()
        if last is None:
            return None
        since = select(func.count()).where(judgement.c.annotator_id == account_id, judgement.c.decided_at >= last.at)
        # A hidden question waits for nobody, and a repeat was answered: neither is given as an ordinary one.
        mine_of_it = (judgement.c.question_id == question.c.id) & (judgement.c.annotator_id == account_id)
        answered = exists().where(mine_of_it, counts(judgement))
        waits = (question.c.id == last.question_id) & question.c.priority.is_not(None) & ~answered
        mine = select(question.c.id).where(waits, is_flagged(account_id))
        if connection.execute(since).scalar() or connection.execute(mine).first() is None:
            return None
        question_id = int(last.question_id)
        if not _has_place(connection, question_id):
            return None
        add_row(connection, account_id, question_id, UNFLAG, None)
        lend(connection, question_id, account_id, tables.now() + LEASE)
        return question_id


def _has_place(connection: Connection, question_id: int) -> bool:
    """Whether the question wants more answers than others have given it or are about to give."""
    question, lease = table_of(tables.Question), table_of(tables.Lease)
    # The question before its leases, as claims do (`audit.annotation.queue`): nobody takes the place meanwhile.
    asked = select(question.c.annotators, question.c.protocol).where(question.c.id == question_id)
    wanted, protocol = connection.execute(asked.with_for_update(key_share=True)).one()
    looking = select(func.count()).where(lease.c.question_id == question_id, lease.c.expires_at >= tables.now())
    votes = [vote for vote in counting_votes(connection, [question_id]) if vote.role in ROLES]
    others = int(connection.execute(looking).scalar() or 0)
    return not (protocol == SHOWN and others) and len(votes) + others < wanted
