"""Judging, undoing and adjudicating. An answer is acknowledged after its commit; history is append-only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

from sqlalchemy import ColumnElement, Connection, Engine, delete, exists, select

from audit.annotation.accounts import ROLES, require
from audit.annotation.answers import UNSURE, WITHDRAWN, Vote, counting_votes, is_adjudicated, settle, standing
from audit.annotation.aside import check_comment
from audit.annotation.guidelines import guideline_of
from audit.annotation.questions import BROKEN, HOLDS, labels_of
from audit.annotation.queue import LEASE, Shown, show
from audit.errors import Refused
from audit.store import table_of, tables

UNDOS = 10
"""Answers that can be undone one after the other."""


@dataclass(frozen=True)
class Undone:
    """The judgement that an annotator withdrew last."""

    question_id: int
    answer: str
    in_a_row: int
    """How many were withdrawn one after the other, with none given since: 1 to `UNDOS`."""


@dataclass(frozen=True)
class Disputed:
    """A question whose votes do not agree, with the votes, for an adjudicator."""

    shown: Shown
    votes: list[Vote]


def judge(
    engine: Engine,
    account_id: int,
    question_id: int,
    answer: str,
    *,
    shown_at: datetime | None = None,
    comment: str | None = None,
    client: str | None = None,
) -> int:
    """Store one judgement and return its id. Raises NotAllowed, or Refused where the answer cannot be taken.

    `client` is what `audit.annotation.clients` says of the program it was given with.
    """
    lease, judgement = table_of(tables.Lease), table_of(tables.Judgement)
    with engine.begin() as connection:
        # The question before its lease, as claims do (`audit.annotation.queue`): no two wait for each other.
        asked = table_of(tables.Question)
        asking = select(asked.c.id).where(asked.c.id == question_id).with_for_update(key_share=True)
        # Read to its end: SQLite would hold on to what it has seen so far, and refuse to write after another wrote.
        connection.execute(asking).first()
        held = connection.execute(
            delete(lease).where(lease.c.question_id == question_id, lease.c.annotator_id == account_id)
        ).rowcount
        require(connection, account_id, *ROLES)
        task, kind = _check(connection, question_id, answer, comment)
        if not held:
            raise Refused("this question is not leased to you, or the lease has expired; take the next one")
        mine = select(judgement.c.id).where(judgement.c.question_id == question_id, _by(account_id))
        if connection.execute(mine).first():
            raise Refused("you have answered this question already; undo that answer to give another")
        row = {
            "question_id": question_id,
            "annotator_id": account_id,
            "round": 1,
            "answer": answer,
            "comment": comment,
            "guideline": guideline_of(task, kind).version,
            "shown_at": shown_at,
            "decided_at": tables.now(),
            "client": client,
        }
        key = connection.execute(judgement.insert(), row).inserted_primary_key
        settle(connection, [question_id])
        return int(key[0]) if key else 0


def undo(engine: Engine, account_id: int, *, client: str | None = None) -> int | None:
    """Withdraw this annotator's last judgement and lease its question to them again; returns the question's id.

    None where there is nothing to undo. The judgement stays in the history, superseded by a row `withdrawn`.
    Raises Refused when an adjudicator has settled the question since, and after `UNDOS` in a row.
    """
    judgement, lease = table_of(tables.Judgement), table_of(tables.Lease)
    with engine.begin() as connection:
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
        connection.execute(select(asked.c.id).where(asked.c.id == question_id).with_for_update(key_share=True)).first()
        if (
            connection.execute(select(judgement.c.id).where(judgement.c.id == row["id"], _by(account_id))).first()
            is None
        ):
            raise Refused("a manager has just let that answer go stale; its question comes to you again")
        if connection.execute(select(is_adjudicated(question_id))).scalar():
            raise Refused("an adjudicator has settled this question since; it cannot be undone")
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
        settle(connection, [question_id])
        connection.execute(
            lease.insert(),
            {"question_id": question_id, "annotator_id": account_id, "expires_at": tables.now() + LEASE},
        )
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


def disputed(engine: Engine, account_id: int) -> list[Disputed]:
    """Questions whose votes do not agree and that nobody has adjudicated, most wanted first. For adjudicators."""
    question = table_of(tables.Question)
    with engine.connect() as connection:
        require(connection, account_id, "adjudicator", "manager")
        judged = select(table_of(tables.Judgement).c.question_id).distinct()
        query = (
            select(question.c.id, question.c.annotators)
            .where(question.c.id.in_(judged), ~is_adjudicated(question.c.id))
            .order_by(question.c.priority.is_(None), question.c.priority, question.c.id)
        )
        wanted = {int(row[0]): int(row[1]) for row in connection.execute(query)}
        votes: dict[int, list[Vote]] = {id: [] for id in wanted}
        for vote in counting_votes(connection, wanted):
            if vote.role in ROLES:
                votes[vote.question_id].append(vote)
        return [
            Disputed(show(connection, id), votes[id])
            for id in wanted
            if standing([vote.answer for vote in votes[id]], wanted[id]) == "disputed"
        ]


def adjudicate(engine: Engine, account_id: int, question_id: int, allowed: Sequence[str], reason: str) -> None:
    """Settle a question: its allowed labels and why. Raises NotAllowed or Refused."""
    with engine.begin() as connection:
        require(connection, account_id, "adjudicator", "manager")
        store_adjudication(connection, account_id, question_id, allowed, reason)


def store_adjudication(
    connection: Connection, account_id: int, question_id: int, allowed: Sequence[str], reason: str
) -> None:
    """Append an adjudication and settle its question; the caller has asked for the role. Raises Refused."""
    if not allowed:
        raise Refused("choose at least one label")
    check_comment(reason)
    if not reason.strip():
        raise Refused("say why: the reason is kept with the answer")
    for label in allowed:
        if label == UNSURE:
            raise Refused("an adjudicator's answer must be a label; leave the question open instead")
        _check(connection, question_id, label, reason)
    if set(allowed) == {HOLDS, BROKEN}:
        raise Refused("choose one: a relation holds in a group, or it does not")
    row = {
        "question_id": question_id,
        "annotator_id": account_id,
        "allowed": sorted(set(allowed)),
        "reason": reason.strip(),
        "decided_at": tables.now(),
    }
    connection.execute(table_of(tables.Adjudication).insert(), row)
    settle(connection, [question_id])


def _withdrawn_last(connection: Connection, account_id: int) -> list[tuple[int, int]]:
    """The withdrawals at the end of this annotator's history, at most `UNDOS`, the last first: question, judgement.

    What a manager let go stale is no undo of theirs, and does not stand between two of them.
    """
    judgement = table_of(tables.Judgement)
    query = (
        select(judgement.c.answer, judgement.c.question_id, judgement.c.supersedes)
        .where(judgement.c.annotator_id == account_id, judgement.c.withdrawn_by.is_(None))
        .order_by(judgement.c.id.desc())
        .limit(UNDOS)
    )
    rows = takewhile(lambda row: row[0] == WITHDRAWN, connection.execute(query))
    return [(int(question_id), int(superseded)) for _, question_id, superseded in rows]


def _check(connection: Connection, question_id: int, answer: str, comment: str | None) -> tuple[str, str]:
    """Task and kind of the question, if it can be answered so. Raises Refused."""
    question = table_of(tables.Question)
    row = connection.execute(select(question.c.task, question.c.kind).where(question.c.id == question_id)).first()
    if row is None:
        raise Refused(f"there is no question {question_id}")
    labels = labels_of(*row)
    if answer not in (*labels, UNSURE):
        raise Refused(f"answer {answer[:40]!r} is not one of {', '.join(labels)}, {UNSURE}")
    check_comment(comment)
    return str(row[0]), str(row[1])


def _by(account_id: int) -> ColumnElement[bool]:
    """Condition: a judgement of this annotator that counts."""
    judgement = table_of(tables.Judgement)
    later = judgement.alias("later_by")
    return (
        (judgement.c.annotator_id == account_id)
        & (judgement.c.answer != WITHDRAWN)
        & ~exists().where(later.c.supersedes == judgement.c.id)
    )
