"""Judging, undoing and adjudicating. An answer is acknowledged after its commit; history is append-only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import takewhile
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Engine,
    Row,
    Select,
    bindparam,
    delete,
    select,
)
from sqlalchemy.sql.dml import ReturningDelete

from audit.annotation.accounts import ADJUDICATORS, ROLES, require
from audit.annotation.answers import UNSURE, WITHDRAWN, counts, is_adjudicated, settle
from audit.annotation.aside import check_comment
from audit.annotation.earlier import lend, seen, seen_by_somebody, take_from_others
from audit.annotation.guidelines import guideline_of
from audit.annotation.hidden import FIRST
from audit.annotation.questions import BROKEN, HOLDS, labels_of
from audit.annotation.queue import LEASE
from audit.annotation.reasons import check_reason
from audit.errors import Refused
from audit.sampling.protocols import SHOWN
from audit.store import table_of, tables, writing

OnChange = Callable[[Engine, int], None]
"""What is to be done when a question has another answer: the queue around it may ask for more, or for less."""
UNDOS = 10
"""Answers that can be undone one after the other."""


@dataclass(frozen=True)
class Undone:
    """The judgement that an annotator withdrew last."""

    question_id: int
    answer: str
    in_a_row: int
    """How many were withdrawn one after the other, with none given since: 1 to `UNDOS`."""


def judge(
    engine: Engine,
    account_id: int,
    question_id: int,
    answer: str,
    *,
    shown_at: datetime | None = None,
    comment: str | None = None,
    client: str | None = None,
    on_change: OnChange | None = None,
) -> int:
    """Store one judgement and return its id. Raises NotAllowed, or Refused where the answer cannot be taken.

    `client` is what `audit.annotation.clients` says of the program it was given with. `on_change` is called with the
    engine and the question after the commit, where the question has another answer than before: most judgements leave
    it open, and then nothing else has changed either.
    """
    judgement = table_of(tables.Judgement)
    given = {"question": question_id, "account": account_id}
    with writing(engine) as connection:
        # The question before its lease, as claims do (`audit.annotation.queue`): no two wait for each other.
        asked = connection.execute(_lock(), given).first()
        held = connection.execute(_give_back(), given).first()
        require(connection, account_id, *ROLES)
        task, kind = _check(asked, question_id, answer, comment)
        if held is None:
            raise Refused("this question is not leased to you, or the lease has expired; take the next one")
        blind = held.saw is None and asked is not None and asked.protocol != SHOWN
        if held.round == FIRST and not blind and held.saw != connection.execute(seen(), given).scalar():
            raise Refused(
                "what others answered to this question has changed since it was shown to you; look at it again"
            )
        if connection.execute(_mine(), {**given, "round": held.round}).first():
            raise Refused("you have answered this question already; undo that answer to give another")
        row = {
            "question_id": question_id,
            "annotator_id": account_id,
            "round": held.round,
            "answer": answer,
            "comment": comment,
            "guideline": guideline_of(task, kind).version,
            "shown_at": shown_at,
            "decided_at": tables.now(),
            "saw": held.saw,
            "client": client,
        }
        key = connection.execute(judgement.insert(), row).inserted_primary_key
        changed = settle(connection, [question_id])
    if changed and on_change:
        on_change(engine, question_id)
    return int(key[0]) if key else 0


def undo(
    engine: Engine, account_id: int, *, client: str | None = None, on_change: OnChange | None = None
) -> int | None:
    """Withdraw this annotator's last judgement and lease its question to them again; returns the question's id.

    None where there is nothing to undo. The judgement stays in the history, superseded by a row `withdrawn`.
    `on_change` is as in `judge`.
    Raises Refused when an adjudicator has settled the question since, when somebody has answered it who saw the answer,
    and after `UNDOS` in a row.
    """
    judgement, lease = table_of(tables.Judgement), table_of(tables.Lease)
    with writing(engine) as connection:
        connection.execute(delete(lease).where(lease.c.annotator_id == account_id))
        require(connection, account_id, *ROLES)
        last = select(judgement).where(_by(account_id)).order_by(judgement.c.id.desc()).limit(1)
        row = connection.execute(last).mappings().first()
        if row is None:
            return None
        if len(_withdrawn_last(connection, account_id)) == UNDOS:
            raise Refused(f"the last {UNDOS} answers are undone already; answer a question before you undo more")
        question_id = int(row["question_id"])
        asked = table_of(tables.Question)
        asking = select(asked.c.id).where(asked.c.id == question_id).with_for_update(key_share=True)
        connection.execute(asking).first()
        standing_still = select(judgement.c.id).where(judgement.c.id == row["id"], _by(account_id))
        if connection.execute(standing_still).first() is None:
            raise Refused("a manager has just let that answer go stale; its question comes to you again")
        # An adjudication settles first answers; refusing another one would tell that it was a hidden question.
        if row["round"] == FIRST and connection.execute(select(is_adjudicated(question_id))).scalar():
            raise Refused("an adjudicator has settled this question since; it cannot be undone")
        if row["round"] == FIRST:
            take_from_others(connection, question_id, account_id)
        if row["round"] == FIRST and seen_by_somebody(connection, question_id, int(row["id"])):
            raise Refused("somebody has answered this question since, seeing your answer; it cannot be undone")
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
        connection.execute(judgement.insert(), withdrawn)
        changed = settle(connection, [question_id])
        lend(connection, question_id, account_id, tables.now() + LEASE, row["round"])
    if changed and on_change:
        on_change(engine, question_id)
    return question_id


def undone(engine: Engine, account_id: int) -> Undone | None:
    """What this annotator undid last; None where they have judged since, or never undid. Raises NotAllowed."""
    judgement = table_of(tables.Judgement)
    with engine.connect() as connection:
        require(connection, account_id, *ROLES)
        rows = _withdrawn_last(connection, account_id)
        if not rows:
            return None
        question_id, superseded = rows[0]
        answer = connection.execute(select(judgement.c.answer).where(judgement.c.id == superseded)).scalar_one()
        return Undone(question_id, str(answer), len(rows))


def adjudicate(
    engine: Engine, account_id: int, question_id: int, allowed: Sequence[str], reason: str, code: str | None = None
) -> int:
    """Settle a question: its allowed labels and why; returns the adjudication's id.

    `code` is a word of `audit.annotation.reasons.REASONS`; `reason` may be empty with any but `other`. A question can
    be adjudicated again, and the last one counts. Raises NotAllowed or Refused.
    """
    with engine.begin() as connection:
        require(connection, account_id, *ADJUDICATORS)
        return store_adjudication(connection, account_id, question_id, allowed, reason, code)


def store_adjudication(
    connection: Connection,
    account_id: int,
    question_id: int,
    allowed: Sequence[str],
    reason: str,
    code: str | None = None,
) -> int:
    """Append an adjudication and settle its question; the caller has asked for the role. Raises Refused."""
    if not allowed:
        raise Refused("choose at least one label")
    check_comment(reason)
    check_reason(code, reason)
    asked = connection.execute(_kind(), {"question": question_id}).first()
    for label in allowed:
        if label == UNSURE:
            raise Refused("an adjudicator's answer must be a label; leave the question open instead")
        task, kind = _check(asked, question_id, label, reason)
    if set(allowed) == {HOLDS, BROKEN}:
        raise Refused("choose one: a relation holds in a group, or it does not")
    row = {
        "question_id": question_id,
        "annotator_id": account_id,
        "allowed": sorted(set(allowed)),
        "reason": reason.strip(),
        "code": code,
        "guideline": guideline_of(task, kind).version,
        "decided_at": tables.now(),
    }
    key = connection.execute(table_of(tables.Adjudication).insert(), row).inserted_primary_key
    settle(connection, [question_id])
    return int(key[0]) if key else 0


def _withdrawn_last(connection: Connection, account_id: int) -> list[tuple[int, int]]:
    """The withdrawals at the end of this annotator's history, at most `UNDOS`, the last first: question, judgement.

    What a manager let go stale is no undo of theirs, and does not stand between two of them.
    """
    judgement = table_of(tables.Judgement)
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


def _check(asked: Row[Any] | None, question_id: int, answer: str, comment: str | None) -> tuple[str, str]:
    """Task and kind of the question, `_kind` of it, if it can be answered so. Raises Refused."""
    if asked is None:
        raise Refused(f"there is no question {question_id}")
    labels = labels_of(asked.task, asked.kind)
    if answer not in (*labels, UNSURE):
        raise Refused(f"answer {answer[:40]!r} is not one of {', '.join(labels)}, {UNSURE}")
    check_comment(comment)
    return str(asked.task), str(asked.kind)


# Statements are made once: every judgement asks them, and putting one together takes longer than its answer.
# `question` and `account` are given with each call.


@cache
def _lock() -> Select[Any]:
    """The same, locked."""
    return _kind().with_for_update(key_share=True)


@cache
def _give_back() -> ReturningDelete[Any]:
    """The lease of this question to this account, taken away."""
    lease = table_of(tables.Lease)
    mine = (lease.c.question_id == bindparam("question")) & (lease.c.annotator_id == bindparam("account"))
    return delete(lease).where(mine).returning(lease.c.round, lease.c.saw)


@cache
def _mine() -> Select[Any]:
    """What this account has answered to the question in the pass `round`, and counts."""
    judgement = table_of(tables.Judgement)
    same = (judgement.c.question_id == bindparam("question")) & (judgement.c.round == bindparam("round"))
    return select(judgement.c.id).where(same, _by(bindparam("account")))


@cache
def _kind() -> Select[Any]:
    """What is asked in the question, and by which protocol."""
    question = table_of(tables.Question)
    columns = (question.c.task, question.c.kind, question.c.protocol)
    return select(*columns).where(question.c.id == bindparam("question"))


def _by(account_id: int | BindParameter[Any]) -> ColumnElement[bool]:
    """Condition: a judgement of this annotator that counts, in any pass; what was said in training is none."""
    judgement = table_of(tables.Judgement)
    return (judgement.c.annotator_id == account_id) & (judgement.c.round >= FIRST) & counts(judgement)
