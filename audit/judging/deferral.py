"""Putting questions off: skipped for the day, or flagged for an adjudicator, who settles them or sends them back.

What that means for the queue is in `audit.judging.asides`. No answer changes; a flag can be taken back, and a
manager sends questions to the adjudicators, flagged with a comment.
"""

from sqlalchemy import Engine, delete, exists, select

from audit.errors import Refused
from audit.judging.accounts import ADJUDICATORS, ROLES, reading_as
from audit.judging.answers import is_counted
from audit.judging.asides import BACK, FLAG, SKIP, UNFLAG, add_row, check_comment, is_flagged, taken_back
from audit.judging.own_answers import counted_answer
from audit.judging.queue import has_place, lease_question
from audit.judging.unit import Work, unit_of_work
from audit.messages import message
from audit.store import tables
from audit.store.core import aside, count_rows, judgement, lease, question
from audit.tasks.questions import SCALES


def skip(engine: Engine, account_id: int, question_id: int) -> None:
    """Put a question behind for this annotator until tomorrow (UTC), and give its lease back.

    It comes again today only when nothing else is left. Raises NotAllowed, or Refused where it is not leased to them.
    """
    with unit_of_work(engine, account_id, *ROLES) as work:
        _defer(work, account_id, question_id, SKIP, None)


def flag(engine: Engine, account_id: int, question_id: int, comment: str) -> None:
    """Show a question to the adjudicators with a comment; this annotator is not asked it while they have not replied.

    Others still are. Raises NotAllowed, or Refused where it is not leased to them or the comment is empty or too long.
    """
    with unit_of_work(engine, account_id, *ROLES) as work:
        _defer(work, account_id, question_id, FLAG, comment.strip())


def flag_answer(engine: Engine, account_id: int, question_id: int, comment: str) -> None:
    """Show a question that this annotator has answered to the adjudicators, with a comment; the answer still counts.

    Raises NotAllowed; Refused where no such answer is in their list (`audit.judging.own_answers`), where their flag
    of it waits already, for a rating, and where the comment is empty or too long.
    """
    with unit_of_work(engine, account_id, *ROLES) as work:
        work.hold(question_id)
        own = counted_answer(work.connection, account_id, question_id)
        if own is None:
            raise Refused(message("refused.no_own_answer", id=question_id))
        if own.flagged:
            raise Refused(message("refused.flagged_already"))
        _check_flag(own.kind, comment.strip())
        add_row(work.connection, account_id, question_id, FLAG, comment.strip())


def unflag(engine: Engine, account_id: int) -> int | None:
    """Take this annotator's last flag back and lease its question to them again; returns the question's id.

    None where they have judged since, an adjudicator has replied, or others have taken every place of the question:
    then there is no flag to undo, and nothing changes but that their lease is given back, as
    `audit.judging.judgements.undo` does. Raises NotAllowed.
    """
    with unit_of_work(engine, account_id, *ROLES) as work:
        connection = work.connection
        flags = (
            select(aside.c.question_id, aside.c.at)
            .where(aside.c.annotator_id == account_id, aside.c.kind == FLAG, ~exists().where(taken_back(aside)))
            .order_by(aside.c.id.desc())
            .limit(1)
        )
        last = connection.execute(flags).first()
        if last is not None:
            work.hold(int(last.question_id))
        connection.execute(delete(lease).where(lease.c.annotator_id == account_id))
        if last is None:
            return None
        judged_since = exists().where(judgement.c.annotator_id == account_id, judgement.c.decided_at >= last.at)
        # A hidden question waits for nobody, and a repeat was answered: neither is given as an ordinary one.
        own = (judgement.c.question_id == question.c.id) & (judgement.c.annotator_id == account_id)
        answered = exists().where(own, is_counted(judgement))
        question_id = int(last.question_id)
        waits = (question.c.id == question_id) & question.c.priority.is_not(None) & ~answered
        vacant = select(question.c.id).where(waits, is_flagged(account_id), ~judged_since, has_place())
        if connection.execute(vacant, {"account": account_id, "now": tables.now()}).first() is None:
            return None
        add_row(connection, account_id, question_id, UNFLAG, None)
        lease_question(connection, question_id, account_id)
        return question_id


def flag_taken_back(engine: Engine, account_id: int, question_id: int) -> str:
    """What this annotator wrote to the flag of the question that they took back last; empty where there is none.

    Raises NotAllowed.
    """
    own = (aside.c.annotator_id == account_id) & (aside.c.question_id == question_id)
    query = (
        select(aside.c.comment).where(own, aside.c.kind == FLAG, exists().where(taken_back(aside))).order_by(aside.c.id)
    )
    with reading_as(engine, account_id, *ROLES) as connection:
        return str(next(reversed(connection.execute(query).scalars().all()), None) or "")


def flagged_ids(engine: Engine, account_id: int) -> list[int]:
    """Flagged questions to which no adjudicator has replied, most wanted first. Raises NotAllowed."""
    query = (
        select(question.c.id)
        .where(is_flagged())
        .order_by(question.c.priority.is_(None), question.c.priority, question.c.id)
    )
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        return list(connection.execute(query).scalars())


def flags_left(engine: Engine, account_id: int) -> int:
    """The number of flagged questions that wait for a reply. Raises NotAllowed."""
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        return count_rows(connection, question, is_flagged())


def send_back(engine: Engine, account_id: int, question_id: int, remark: str = "") -> None:
    """Give a flagged question back to the annotators who flagged it, with a remark that they see above it.

    Raises NotAllowed, or Refused where the question is not flagged any more or the remark is too long.
    """
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        work.hold(question_id)  # of two adjudicators with it on their screens, the second finds it replied to
        check_comment(remark)
        flagged = select(question.c.id).where(question.c.id == question_id, is_flagged())
        if not work.connection.execute(flagged).first():
            raise Refused(message("refused.not_flagged"))
        add_row(work.connection, account_id, question_id, BACK, remark.strip())


def _defer(work: Work, account_id: int, question_id: int, kind: str, comment: str | None) -> None:
    # What is refused below is rolled back, the lease included.
    leases = work.connection.execute(
        delete(lease).where(lease.c.question_id == question_id, lease.c.annotator_id == account_id)
    ).rowcount
    if kind == FLAG:
        of_kind = select(question.c.kind).where(question.c.id == question_id)
        _check_flag(work.connection.execute(of_kind).scalar(), comment)
    if not leases:
        raise Refused(message("refused.not_leased"))
    add_row(work.connection, account_id, question_id, kind, comment)


def _check_flag(kind: str | None, comment: str | None) -> None:
    """Raises Refused unless a question of this kind may be flagged with this comment."""
    if not comment:
        raise Refused(message("refused.flag_needs_comment"))
    check_comment(comment)
    if kind in SCALES:
        raise Refused(message("refused.rating_flagged"))
