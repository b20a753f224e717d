"""What others answered before, for questions under the protocol `shown`: who validates sees it, without names.

A lease remembers in `saw` the last first-pass judgement of somebody else that was there when the question was shown;
what counted up to it is on the screen. A judgement takes it over, so that the history tells who judged blind and who
saw what. Questions under the protocol `blind`, and whoever answers first, have null there and are shown nothing.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Insert,
    Select,
    Update,
    and_,
    bindparam,
    delete,
    exists,
    func,
    or_,
    select,
)

from audit.annotation.answers import by_people, counts
from audit.sampling.protocols import SHOWN
from audit.store import table_of, tables


@dataclass(frozen=True)
class Earlier:
    """What somebody else answered, and the comment to it: never who."""

    answer: str
    comment: str | None


def earlier_answers(connection: Connection, question_id: int, account_id: int) -> tuple[Earlier, ...]:
    """What this account is shown of others' answers with the question that it has leased, oldest first."""
    given = {"question": question_id, "account": account_id}
    return tuple(Earlier(str(row[0]), row[1]) for row in connection.execute(_earlier(), given))


@cache
def _earlier() -> Select[Any]:
    judgement, lease = table_of(tables.Judgement), table_of(tables.Lease)
    mine = (lease.c.question_id == bindparam("question")) & (lease.c.annotator_id == bindparam("account"))
    return (
        select(judgement.c.answer, judgement.c.comment)
        .join(lease, lease.c.question_id == judgement.c.question_id)
        .where(mine, judgement.c.id <= lease.c.saw)
        .where(_by_others(judgement, lease.c.annotator_id), counts(judgement))
        .order_by(judgement.c.id)
    )


def one_at_a_time(someone_looks: ColumnElement[bool]) -> ColumnElement[bool]:
    """Condition on `question`: under the protocol `shown` nobody else looks at it now, for the next must see the
    answer of whoever does."""
    question = table_of(tables.Question)
    return or_(question.c.protocol != SHOWN, ~someone_looks)


def lend(connection: Connection, question_id: int, account_id: int, until: datetime, round: int = 1) -> None:
    """Lease a question, and remember what is shown with it: of others nothing but in the first pass."""
    given = {"question": question_id, "account": account_id, "until": until}
    connection.execute(_lent(round), given)


@cache
def _lent(round: int) -> Insert:
    lease = table_of(tables.Lease)
    return lease.insert().values(
        question_id=bindparam("question"),
        annotator_id=bindparam("account"),
        expires_at=bindparam("until"),
        round=round,
        saw=seen().scalar_subquery() if round == 1 else None,
    )


@cache
def look_again() -> Update:
    """The lease of `account` on `question`, with what is shown now: it is shown again, and answers may have changed."""
    lease = table_of(tables.Lease)
    mine = and_(lease.c.question_id == bindparam("question"), lease.c.annotator_id == bindparam("account"))
    return lease.update().where(mine, lease.c.round == 1).values(saw=seen().scalar_subquery())


@cache
def seen() -> Select[Any]:
    """What `saw` is for `account` and `question` now; null under the protocol `blind`, and where nothing counts."""
    question, judgement = table_of(tables.Question), table_of(tables.Judgement)
    standing = judgement.alias("standing")
    me: Any = bindparam("account")
    something = exists().where(standing.c.question_id == question.c.id, _by_others(standing, me), counts(standing))
    return (
        select(func.max(judgement.c.id))
        .select_from(question.join(judgement, judgement.c.question_id == question.c.id))
        .where(question.c.id == bindparam("question"), question.c.protocol == SHOWN)
        .where(_by_others(judgement, me), something)
    )


def seen_by_somebody(connection: Connection, question_id: int, judgement_id: int) -> bool:
    """Whether an answer that counts was given to this question by somebody who saw this judgement."""
    judgement = table_of(tables.Judgement)
    query = select(judgement.c.id).where(judgement.c.question_id == question_id, judgement.c.saw >= judgement_id)
    return connection.execute(query.where(counts(judgement)).limit(1)).first() is not None


def take_from_others(connection: Connection, question_id: int, account_id: int) -> None:
    """End the leases of others on a question under the protocol `shown`: what they were shown counts no more."""
    question, lease = table_of(tables.Question), table_of(tables.Lease)
    is_shown = exists().where(question.c.id == lease.c.question_id, question.c.protocol == SHOWN)
    others = and_(lease.c.question_id == question_id, lease.c.annotator_id != account_id, lease.c.round == 1)
    connection.execute(delete(lease).where(others, is_shown))


def _by_others(judgement: Any, me: Any) -> ColumnElement[bool]:
    """Condition: a judgement of the first pass by a person who is not this account."""
    return and_(judgement.c.round == 1, judgement.c.annotator_id != me, by_people(judgement))
