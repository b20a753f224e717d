"""What annotators do: judge, undo, change, skip, flag, train. An answer is acknowledged after its commit; history is
append-only, and a question that is put off is no vote."""

from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import takewhile
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, Connection, Engine, Row, Select, bindparam, delete, select
from sqlalchemy.sql.dml import ReturningDelete

from audit.errors import Refused
from audit.judging.accounts import ROLES, reading_as, require
from audit.judging.answers import WITHDRAWN, is_adjudicated, is_counted
from audit.judging.asides import FLAG, SKIP, add_row, check_comment
from audit.judging.control_questions import PASS
from audit.judging.order import FIRST
from audit.judging.own_answers import OwnAnswer, counted_answer
from audit.judging.queue import Shown, lease_question, show
from audit.judging.settings import settings_of
from audit.judging.training import Attempt, needs_training, round_of, write_attempt
from audit.judging.unit import Work, check_answer, unit_of_work
from audit.messages import message
from audit.store import reading, tables
from audit.store.core import judgement, lease, question
from audit.tasks.questions import SCALES, in_order, labels_of

UNDOS = 10  # Answers that can be undone one after the other


class Undone(NamedTuple):
    """The judgement that an annotator withdrew last; `in_a_row`: of how many without one given since."""

    question_id: int
    task: str
    answer: str
    in_a_row: int
    comment: str = ""


def judge(
    engine: Engine,
    account_id: int,
    question_id: int,
    answer: str,
    *,
    shown_at: datetime | None = None,
    comment: str | None = None,
    client: str | None = None,
    repeatable: bool = False,
) -> int:
    """Store one judgement, with what follows from it, and return its id. Raises Refused where the answer cannot be
    taken. `repeatable`: where it is this annotator's last judgement already, its id is returned, for a program that
    sends it again since the reply was lost."""
    params = {"question": question_id, "account": account_id}
    with unit_of_work(engine, account_id, *ROLES) as work:
        held = work.hold(question_id)
        lease = work.connection.execute(_end_lease(), params).first()
        question = check_answer(held, question_id, answer, comment)
        if lease is None:
            last = _last(work.connection, account_id) if repeatable else None
            if last is None or (last.question_id, last.answer, last.comment) != (question_id, answer, comment):
                raise Refused(message("refused.not_leased"))
            return int(last.id)
        if work.connection.execute(_own_answer(), {**params, "round": lease.round}).first():
            raise Refused(message("refused.answered"))
        seen = {"shown_at": shown_at, "compared": lease.compared, "client": client}
        return work.judge(question, answer, lease.round, comment=comment, **seen)


def change(
    engine: Engine,
    account_id: int,
    question_id: int,
    answer: str,
    *,
    shown_at: datetime | None = None,
    comment: str | None = None,
    client: str | None = None,
) -> OwnAnswer:
    """Give this annotator's own answer to a question another label or comment, by the guideline in force now; returns
    what it was before. Raises Refused where it is not in their list, where it is closed, and before the training round
    is passed."""
    with unit_of_work(engine, account_id, *ROLES) as work:
        question = check_answer(work.hold(question_id), question_id, answer, comment)
        if needs_training(work.connection, work.account, settings_of(work.connection)):
            raise Refused(message("refused.training_first"))
        before = counted_answer(work.connection, account_id, question_id)
        if before.closed is not None:
            raise Refused(message("refused.closed_settled"))
        if (answer, comment or "") != (before.answer, before.comment):
            seen = {"shown_at": shown_at, "compared": before.compared, "client": client}
            work.judge(question, answer, before.round, comment=comment or None, supersedes=before.id, **seen)
        return before


def undo(engine: Engine, account_id: int, *, client: str | None = None, only: int | None = None) -> int | None:
    """Withdraw this annotator's last judgement by a row `withdrawn`, and lease its question to them again; returns the
    question's id, None where there is nothing to undo. `only` is the judgement that is meant: any other is refused, and
    one that is withdrawn already changes nothing. Raises Refused when an adjudicator has settled the question since,
    and after `UNDOS` in a row."""
    with unit_of_work(engine, account_id, *ROLES) as work:
        connection = work.connection
        row = _last(connection, account_id)
        if only is not None and (row is None or row.id != only):
            own = (judgement.c.annotator_id == account_id) & (judgement.c.answer == WITHDRAWN)
            again = select(judgement.c.question_id).where(own, judgement.c.supersedes == only)
            if (before := connection.execute(again).scalar()) is None:
                raise Refused(message("refused.not_last", id=only))
            return int(before)
        if row is not None:
            work.hold(row.question_id)
        connection.execute(delete(lease).where(lease.c.annotator_id == account_id))
        if row is None:
            return None
        if len(_withdrawn_last(connection, account_id)) == UNDOS:
            raise Refused(message("refused.undone_enough", most=UNDOS))
        if _last(connection, account_id) != row:  # on PostgreSQL: a manager was faster
            raise Refused(message("refused.went_stale"))
        # An adjudication settles first answers; refusing another one would tell that it was a hidden question.
        if row.round == FIRST and connection.execute(select(is_adjudicated(row.question_id))).scalar():
            raise Refused(message("refused.settled"))
        same = {name: row._mapping[name] for name in ("question_id", "annotator_id", "round", "guideline")}
        withdrawn = {"answer": WITHDRAWN, "decided_at": tables.now(), "supersedes": row.id, "client": client}
        work.add(tables.Judgement, [same | withdrawn])
        lease_question(connection, row.question_id, account_id, row.round, row.compared)
        return int(row.question_id)


def undone(engine: Engine, account_id: int) -> Undone | None:
    """Return the judgement that this annotator undid last; None where they have judged since. Raises NotAllowed."""
    with reading_as(engine, account_id, *ROLES) as connection:
        if not (rows := _withdrawn_last(connection, account_id)):
            return None
        columns = (judgement.c.question_id, question.c.task, judgement.c.answer, judgement.c.comment)
        query = select(*columns).join(question, question.c.id == judgement.c.question_id)
        id, task, answer, comment = connection.execute(query.where(judgement.c.id == rows[0].supersedes)).one()
        return Undone(id, task, answer, len(rows), comment or "")


def _withdrawn_last(connection: Connection, account_id: int) -> list[Row[Any]]:
    """The withdrawals at the end of this annotator's history, at most `UNDOS`, the last first. What a manager let go
    stale is no undo of theirs, and does not stand between two of them."""
    own = (judgement.c.annotator_id == account_id, judgement.c.withdrawn_by.is_(None), judgement.c.round >= FIRST)
    columns = (judgement.c.answer, judgement.c.supersedes)
    query = select(*columns).where(*own).order_by(judgement.c.id.desc()).limit(UNDOS)
    return list(takewhile(lambda row: row.answer == WITHDRAWN, connection.execute(query)))


def _last(connection: Connection, account_id: int) -> Row[Any] | None:
    """This annotator's last judgement that counts, in any pass but training."""
    query = select(judgement).where(_counts_for(account_id)).order_by(judgement.c.id.desc()).limit(1)
    return connection.execute(query).first()


# Statements are cached: every judgement runs them, and building one takes longer than running it.
# `question` and `account` are bound at each call.


@cache
def _end_lease() -> ReturningDelete[Any]:
    """The lease of this question to this account, taken away."""
    own = (lease.c.question_id == bindparam("question")) & (lease.c.annotator_id == bindparam("account"))
    return delete(lease).where(own).returning(lease.c.round, lease.c.compared)


@cache
def _own_answer() -> Select[Any]:
    """This account's counted answer to the question in the pass `round`."""
    same = (judgement.c.question_id == bindparam("question")) & (judgement.c.round == bindparam("round"))
    return select(judgement.c.id).where(same, _counts_for(bindparam("account")))


def _counts_for(account_id: int | BindParameter[Any]) -> ColumnElement[bool]:
    """Condition: a counted judgement of this annotator, in any pass but training."""
    return (judgement.c.annotator_id == account_id) & (judgement.c.round >= FIRST) & is_counted(judgement)


# Putting questions off: skipped for the day, or flagged for an adjudicator, who settles them or sends them back.


def skip(engine: Engine, account_id: int, question_id: int) -> None:
    """Put a question behind for this annotator until tomorrow (UTC), and give its lease back. It comes again today only
    when nothing else is left. Raises NotAllowed, or Refused where it is not leased to them."""
    with unit_of_work(engine, account_id, *ROLES) as work:
        _put_off(work, account_id, question_id, SKIP, None)


def flag(engine: Engine, account_id: int, question_id: int, comment: str) -> None:
    """Show a question to the adjudicators with a comment; until they reply, this annotator is not asked it. Raises
    Refused where it is not leased to them or the comment is empty or too long."""
    with unit_of_work(engine, account_id, *ROLES) as work:
        of_kind = select(question.c.kind).where(question.c.id == question_id)
        _check_flag(work.connection.execute(of_kind).scalar(), comment.strip())
        _put_off(work, account_id, question_id, FLAG, comment.strip())


def _put_off(work: Work, account_id: int, question_id: int, kind: str, comment: str | None) -> None:
    if work.connection.execute(_end_lease(), {"question": question_id, "account": account_id}).first() is None:
        raise Refused(message("refused.not_leased"))
    add_row(work.connection, account_id, question_id, kind, comment)


def _check_flag(kind: str | None, comment: str) -> None:
    if not comment:
        raise Refused(message("refused.flag_needs_comment"))
    check_comment(comment)
    if kind in SCALES:
        raise Refused(message("refused.rating_flagged"))


def flag_answer(engine: Engine, account_id: int, question_id: int, comment: str) -> None:
    """Show a question that this annotator has answered to the adjudicators; the answer still counts. Raises Refused
    where it is not in their list, is flagged already or a rating, and for a comment that is empty or too long."""
    with unit_of_work(engine, account_id, *ROLES) as work:
        work.hold(question_id)
        own = counted_answer(work.connection, account_id, question_id)
        if own.flagged:
            raise Refused(message("refused.flagged_already"))
        _check_flag(own.kind, comment.strip())
        add_row(work.connection, account_id, question_id, FLAG, comment.strip())


# Training.


class Training(NamedTuple):
    """The page of an annotator who has not passed yet: where this attempt stands, the share of right answers that is
    needed, the attempt before, and the next question."""

    attempt: int
    answered: int
    questions: int
    right: int
    mark: float
    last: Attempt | None
    shown: Shown


class Feedback(NamedTuple):
    """What somebody reads after an answer in training; `finished` is the attempt, where this was its last answer."""

    question_id: int
    answer: str
    right: bool
    allowed: tuple[str, ...]
    explanation: str
    finished: Attempt | None


class JudgingMode(NamedTuple):
    """What an account does now: train first, or judge, with or without hidden questions, which nobody is told apart."""

    training: Training | None
    mixed: bool


def judging_mode(engine: Engine, account_id: int) -> JudgingMode:
    """Return whether this account is trained first, and where it stands. Raises NotAllowed if it may not judge."""
    with reading(engine) as connection:
        account = require(connection, account_id, *ROLES)
        settings = settings_of(connection)
        state = round_of(connection, account, settings)
        if state is None or state.passed:
            return JudgingMode(None, settings.hides)
        last = state.attempts[-1] if state.attempts else None
        progress = (len(state.attempts) + 1, len(state.given), len(state.questions), state.right, state.mark)
        return JudgingMode(Training(*progress, last, show(connection, state.following.id)), settings.hides)


def train(
    engine: Engine, account_id: int, question_id: int, answer: str, *, shown_at: datetime | None = None
) -> Feedback:
    """Store an answer in training and return what to say about it. "Unsure" is never right. Raises NotAllowed; Refused
    where the question is not the next one of this account's round, or the answer is none of its labels."""
    with unit_of_work(engine, account_id, *ROLES) as work:
        connection = work.connection
        # Of two windows of the same person, the second finds the question answered.
        account = require(connection, account_id, *ROLES, lock=True)
        state = round_of(connection, account, settings_of(connection))
        if state is None or state.passed:
            raise Refused(message("refused.no_training"))
        following = state.following
        if following.id != question_id:
            raise Refused(message("refused.not_next"))
        check_answer(following, question_id, answer, None)
        own = (judgement.c.annotator_id == account_id) & (judgement.c.question_id == question_id)
        before = select(judgement.c.id).where(own, judgement.c.round == PASS, is_counted(judgement))
        id = work.judge(following, answer, PASS, shown_at=shown_at, supersedes=connection.execute(before).scalar())
        state = replace(state, given={**state.given, question_id: answer})
        finished = write_attempt(connection, account_id, state, id)
    allowed = in_order(following.allowed, labels_of(following.task, following.kind))
    return Feedback(question_id, answer, answer in allowed, allowed, following.explanation, finished)
