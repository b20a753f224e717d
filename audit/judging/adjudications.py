"""What adjudicators settle: disputes, and what they settled lately and change.

An adjudication is append-only, and counts before the people's answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Engine, exists, select

from audit.errors import Refused
from audit.judging.accounts import ADJUDICATORS, reading_as
from audit.judging.answers import is_adjudicated, is_disputed, is_vote, stands
from audit.judging.asides import BACK, FLAG, add_row, check_comment, is_flagged, taken_back
from audit.judging.causes import check_reason
from audit.judging.queue import Shown, show
from audit.judging.unit import Work, check_answer, unit_of_work
from audit.keys import digest
from audit.messages import message
from audit.store.core import adjudication, aside, count_rows, judgement, question
from audit.tasks.questions import BROKEN, HOLDS, UNSURE

LAST = 10
"""Adjudications that can be changed."""


@dataclass(frozen=True)
class Adjudicated:
    """A question that this adjudicator settled, as they settled it last."""

    id: int
    shown: Shown
    allowed: tuple[str, ...]
    code: str | None
    reason: str
    decided_at: datetime


def adjudicate(
    engine: Engine,
    account_id: int,
    question_id: int,
    allowed: Sequence[str],
    reason: str,
    code: str | None = None,
    *,
    only_open: bool = False,
) -> int:
    """Settle a question: its allowed labels and why; returns the adjudication's id.

    `code` is a word of `audit.judging.causes.REASONS`; `reason` may be empty with any but `other`. A question can
    be adjudicated again, and the last one counts; with `only_open` one that was adjudicated and not flagged since is
    refused, but for the same decision of the same account, whose id is returned. Raises NotAllowed or Refused.
    """
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        if only_open:
            work.hold(question_id)  # of two adjudicators with it on their screens, the second finds that it is settled
            closed = is_adjudicated(question.c.id) & ~is_flagged()
            if work.connection.execute(select(question.c.id).where(question.c.id == question_id, closed)).first():
                last = select(adjudication).where(adjudication.c.question_id == question_id)
                row = work.connection.execute(last.order_by(adjudication.c.id.desc()).limit(1)).one()
                decided = (row.annotator_id, list(row.allowed), row.reason, row.code)
                if decided == (account_id, sorted(set(allowed)), reason.strip(), code):
                    return int(row.id)
                raise Refused(message("refused.settled_meanwhile"))
        return _adjudicate(work, question_id, allowed, reason, code)


def my_adjudications(engine: Engine, account_id: int) -> list[Adjudicated]:
    """The last questions that this account settled and nobody has settled since, the newest first; at most `LAST`.

    Raises NotAllowed.
    """
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        return _latest_adjudications(connection, account_id)


def change_adjudication(
    engine: Engine,
    account_id: int,
    adjudication_id: int,
    allowed: Sequence[str],
    reason: str,
    code: str | None = None,
    of_question: int | None = None,
) -> int:
    """Settle one of the last questions anew; returns the new adjudication's id. The old one stays in the history.

    Raises NotAllowed, and Refused where it is not one of the last, is about another question than `of_question` (None:
    any), or the answer cannot be taken (`adjudicate`).
    """
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        question_id = work.connection.execute(
            select(adjudication.c.question_id).where(adjudication.c.id == adjudication_id)
        ).scalar()
        if question_id is not None:
            work.hold(int(question_id))  # what somebody else settles meanwhile is seen below
        before = next(
            (entry for entry in _latest_adjudications(work.connection, account_id) if entry.id == adjudication_id), None
        )
        if before is None or of_question not in (None, before.shown.id):
            raise Refused(message("refused.not_recent", most=LAST))
        return _adjudicate(work, before.shown.id, allowed, reason, code)


def take_back(engine: Engine, account_id: int) -> Adjudicated | None:
    """Take back what this account settled last, so that the question waits for a decision again; returns what it was.

    None where nothing of theirs stands, or somebody has settled it since. What was decided stays in the history; a row
    that allows no label takes it back. Raises NotAllowed, and Refused after `LAST` in a row.
    """
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        newest = select(adjudication.c.question_id).where(_own(account_id)).order_by(adjudication.c.id.desc()).limit(1)
        question_id = work.connection.execute(newest).scalar()
        if question_id is None:
            return None
        held = work.hold(int(question_id))
        before = next(iter(_latest_adjudications(work.connection, account_id)), None)
        if before is None or held is None or before.shown.id != question_id:
            return None  # somebody else was faster
        last = select(adjudication.c.allowed).where(adjudication.c.annotator_id == account_id)
        rows = work.connection.execute(last.order_by(adjudication.c.id.desc()).limit(LAST)).scalars().all()
        if len(rows) == LAST and not any(rows):
            raise Refused(message("refused.undone_enough", most=LAST))
        work.decide(held, [], "")
        return before


def _adjudicate(work: Work, question_id: int, allowed: Sequence[str], reason: str, code: str | None = None) -> int:
    """Append an adjudication, if it can be taken. Raises Refused."""
    if not allowed:
        raise Refused(message("refused.no_label"))
    check_comment(reason)
    check_reason(code, reason)
    held = work.hold(question_id)
    for label in allowed:
        if label == UNSURE:
            raise Refused(message("refused.unsure_adjudicator"))
        check_answer(held, question_id, label, reason)
    if set(allowed) == {HOLDS, BROKEN}:
        raise Refused(message("refused.choose_one"))
    return work.decide(held, allowed, reason, code)


def _latest_adjudications(connection: Connection, account_id: int) -> list[Adjudicated]:
    query = select(adjudication).where(_own(account_id)).order_by(adjudication.c.id.desc()).limit(LAST)
    adjudications = []
    for row in connection.execute(query).all():
        shown = show(connection, row.question_id)
        allowed = tuple(label for label in shown.labels if label in row.allowed)
        adjudications.append(Adjudicated(row.id, shown, allowed, row.code, row.reason, row.decided_at))
    return adjudications


def _own(account_id: int) -> ColumnElement[bool]:
    """Condition: an adjudication of this account that counts."""
    return (adjudication.c.annotator_id == account_id) & stands(adjudication)


# Questions on which people disagree, and what they said, without names.
#
# Who said what could sway an adjudicator, so opinions are numbered: in another order for each question, one that
# follows neither the accounts nor the time.


@dataclass(frozen=True)
class Opinion:
    """What one person said of a question. `number` stands for the name, from 1, on this question only."""

    number: int
    answer: str | None
    """The label or `unsure`; None: they flagged the question and did not answer it."""
    comment: str | None = None
    """What they wrote to their answer."""
    flags: tuple[str, ...] = ()
    """What they wrote to their flags, oldest first."""


def open_disputes(connection: Connection) -> list[int]:
    """Questions that have all their votes, that these do not settle, and that nobody has adjudicated; by priority."""
    return _by_priority(connection, is_disputed())


def _by_priority(connection: Connection, condition: ColumnElement[bool]) -> list[int]:
    order = (question.c.priority.is_(None), question.c.priority, question.c.id)
    return list(connection.execute(select(question.c.id).where(condition).order_by(*order)).scalars())


def disputes(engine: Engine, account_id: int) -> list[int]:
    """Ids of the disputed questions that nobody has adjudicated, most wanted first. Raises NotAllowed."""
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        return open_disputes(connection)


def opinions(engine: Engine, account_id: int, question_id: int) -> list[Opinion]:
    """What people said of a question, numbered without names. Raises NotAllowed."""
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        return _people(connection, question_id)


def _people(connection: Connection, question_id: int) -> list[Opinion]:
    """Everybody who answered or flagged the question, in the order of their numbers: an order of this question's own,
    the same each time."""
    of_question = judgement.c.question_id == question_id
    votes = {
        row.annotator_id: row for row in connection.execute(select(judgement).where(of_question, is_vote(judgement)))
    }
    flags: dict[int, list[str]] = {}
    own = (aside.c.question_id == question_id, aside.c.kind == FLAG, ~exists().where(taken_back(aside)))
    for row in connection.execute(select(aside).where(*own).order_by(aside.c.id)):
        flags.setdefault(row.annotator_id, []).append(row.comment or "")
    ids = sorted({*votes, *flags}, key=lambda id: digest("opinion", str(question_id), str(id)))
    opinions = []
    for number, id in enumerate(ids, start=1):
        vote = votes.get(id)
        answer, comment = (vote.answer, vote.comment) if vote else (None, None)
        opinions.append(Opinion(number, answer, comment, tuple(flags.get(id, ()))))
    return opinions


# Flagged questions, which adjudicators settle or send back.


def flagged_ids(engine: Engine, account_id: int) -> list[int]:
    """Return the flagged questions to which no adjudicator has replied, most wanted first. Raises NotAllowed."""
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        return _by_priority(connection, is_flagged())


def flags_left(engine: Engine, account_id: int) -> int:
    """Count the flagged questions that wait for a reply. Raises NotAllowed."""
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        return count_rows(connection, question, is_flagged())


def send_back(engine: Engine, account_id: int, question_id: int, remark: str = "") -> None:
    """Give a flagged question back to the annotators who flagged it, with a remark that they see above it.

    Raises NotAllowed, or Refused where the question is not flagged any more or the remark is too long.
    """
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        work.hold(question_id)  # of two adjudicators with it on their screens, the second finds it replied to
        check_comment(remark)
        if not count_rows(work.connection, question, question.c.id == question_id, is_flagged()):
            raise Refused(message("refused.not_flagged"))
        add_row(work.connection, account_id, question_id, BACK, remark.strip())
