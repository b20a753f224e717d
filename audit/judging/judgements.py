"""Judging, undoing and changing. An answer is acknowledged after its commit; history is append-only."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import takewhile
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Connection, Engine, Select, bindparam, delete, select
from sqlalchemy.sql.dml import ReturningDelete

from audit.errors import Refused
from audit.judging.accounts import ROLES, reading_as
from audit.judging.answers import WITHDRAWN, is_adjudicated, is_counted
from audit.judging.control_questions import FIRST, needs_training
from audit.judging.own_answers import OwnAnswer, counted_answer
from audit.judging.queue import lease_question
from audit.judging.settings import settings_of
from audit.judging.unit import check_answer, unit_of_work
from audit.messages import message
from audit.store import tables
from audit.store.core import judgement, lease, question

UNDOS = 10
"""Answers that can be undone one after the other."""


@dataclass(frozen=True)
class Undone:
    """The judgement that an annotator withdrew last."""

    question_id: int
    task: str
    answer: str
    in_a_row: int
    """How many were withdrawn one after the other, with none given since: 1 to `UNDOS`."""
    comment: str = ""
    """What was written to it: it goes back into the field."""


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
    """Store one judgement and return its id. Raises NotAllowed, or Refused where the answer cannot be taken.

    `repeatable`: where it is this annotator's last judgement already, with the same answer and comment, nothing is
    stored and its id is returned, for a program that sends it again since the reply to it was lost.
    `client` is what `audit.judging.answers` says of the program it was given with. Where the question has another
    answer than before, the queue around it follows; most judgements leave it open, and then nothing else changes.
    """
    params = {"question": question_id, "account": account_id}
    with unit_of_work(engine, account_id, *ROLES) as work:
        connection = work.connection
        held = work.hold(question_id)
        lease = connection.execute(_end_lease(), params).first()
        question = check_answer(held, question_id, answer, comment)
        if lease is None:
            last = connection.execute(_last_answer(), params).first() if repeatable else None
            if last is not None and tuple(last)[1:] == (question_id, answer, comment):
                return int(last.id)
            raise Refused(message("refused.not_leased"))
        if connection.execute(_own_answer(), {**params, "round": lease.round}).first():
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
    """Give this annotator's own answer to a question another label, or another comment; returns what it was before.

    What was answered stays in the history, superseded by a judgement of the same pass, by the guideline in force now;
    where nothing is another, nothing is stored. Raises NotAllowed; Refused where there is no such answer in their list
    (`audit.judging.own_answers`), where it is closed, and for whoever must pass the training round first.
    """
    with unit_of_work(engine, account_id, *ROLES) as work:
        connection = work.connection
        question = check_answer(work.hold(question_id), question_id, answer, comment)
        if needs_training(connection, work.who, settings_of(connection)):
            raise Refused(message("refused.training_first"))
        before = counted_answer(connection, account_id, question_id)
        if before is None:
            raise Refused(message("refused.no_own_answer", id=question_id))
        if before.closed is not None:
            raise Refused(message(f"refused.closed_{before.closed}"))
        if (answer, comment or "") == (before.answer, before.comment):
            return before
        seen = {"shown_at": shown_at, "compared": before.compared, "client": client}
        work.judge(question, answer, before.round, comment=comment or None, supersedes=before.id, **seen)
        return before


def undo(engine: Engine, account_id: int, *, client: str | None = None, only: int | None = None) -> int | None:
    """Withdraw this annotator's last judgement and lease its question to them again; returns the question's id.

    `only` is the id of the judgement that is meant: any other is refused, and where that one is withdrawn already,
    nothing changes, so that undoing twice undoes once.
    None where there is nothing to undo. The judgement stays in the history, superseded by a row `withdrawn`.
    Raises Refused when an adjudicator has settled the question since, and after `UNDOS` in a row.
    """
    with unit_of_work(engine, account_id, *ROLES) as work:
        connection = work.connection
        last = select(judgement).where(_counts_for(account_id)).order_by(judgement.c.id.desc()).limit(1)
        row = connection.execute(last).mappings().first()
        if row is not None:
            work.hold(int(row["question_id"]))
        if only is not None and (row is None or row["id"] != only):
            own = (judgement.c.annotator_id == account_id) & (judgement.c.answer == WITHDRAWN)
            again = select(judgement.c.question_id).where(own, judgement.c.supersedes == only)
            if (before := connection.execute(again).scalar()) is None:
                raise Refused(message("refused.not_last", id=only))
            return int(before)
        connection.execute(delete(lease).where(lease.c.annotator_id == account_id))
        if row is None:
            return None
        if len(_withdrawn_last(connection, account_id)) == UNDOS:
            raise Refused(message("refused.undone_enough", most=UNDOS))
        question_id = int(row["question_id"])
        still_counted = select(judgement.c.id).where(judgement.c.id == row["id"], _counts_for(account_id))
        if connection.execute(still_counted).first() is None:
            raise Refused(message("refused.went_stale"))
        # An adjudication settles first answers; refusing another one would tell that it was a hidden question.
        if row["round"] == FIRST and connection.execute(select(is_adjudicated(question_id))).scalar():
            raise Refused(message("refused.settled"))
        withdrawn = {
            "question_id": question_id,
            "annotator_id": account_id,
            "round": row["round"],
            "answer": WITHDRAWN,
            "guideline": row["guideline"],
            "decided_at": tables.now(),
            "supersedes": row["id"],
            "client": client,
        }
        work.add(tables.Judgement, [withdrawn])
        lease_question(connection, question_id, account_id, row["round"], row["compared"])
        return question_id


def undone(engine: Engine, account_id: int) -> Undone | None:
    """The judgement that this annotator undid last; None where they have judged since. Raises NotAllowed."""
    with reading_as(engine, account_id, *ROLES) as connection:
        rows = _withdrawn_last(connection, account_id)
        if not rows:
            return None
        question_id, superseded = rows[0]
        query = (
            select(judgement.c.answer, question.c.task, judgement.c.comment)
            .join(question, question.c.id == judgement.c.question_id)
            .where(judgement.c.id == superseded)
        )
        answer, task, comment = connection.execute(query).one()
        return Undone(question_id, str(task), str(answer), len(rows), str(comment or ""))


def _withdrawn_last(connection: Connection, account_id: int) -> list[tuple[int, int]]:
    """The withdrawals at the end of this annotator's history, at most `UNDOS`, the last first: question, judgement.

    What a manager let go stale is no undo of theirs, and does not stand between two of them.
    """
    query = (
        select(judgement.c.answer, judgement.c.question_id, judgement.c.supersedes)
        .where(
            judgement.c.annotator_id == account_id,
            judgement.c.withdrawn_by.is_(None),
            judgement.c.round >= FIRST,
        )
        .order_by(judgement.c.id.desc())
        .limit(UNDOS)
    )
    rows = takewhile(lambda row: row[0] == WITHDRAWN, connection.execute(query))
    return [(int(question_id), int(superseded)) for _, question_id, superseded in rows]


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


@cache
def _last_answer() -> Select[Any]:
    """This account's last counted judgement, of whatever question."""
    columns = (judgement.c.id, judgement.c.question_id, judgement.c.answer, judgement.c.comment)
    return select(*columns).where(_counts_for(bindparam("account"))).order_by(judgement.c.id.desc()).limit(1)


def _counts_for(account_id: int | BindParameter[Any]) -> ColumnElement[bool]:
    """Condition: a counted judgement of this annotator, in any pass but training."""
    return (judgement.c.annotator_id == account_id) & (judgement.c.round >= FIRST) & is_counted(judgement)
