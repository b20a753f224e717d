"""What the page reminds an annotator of, with a question that they have had on their screen before."""

from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, bindparam, exists, select

from audit.annotation.deferral import BACK, FLAG, SKIP, midnight
from audit.annotation.hidden import FIRST
from audit.store import table_of, tables
from audit.store.copying import in_utc


class Before(NamedTuple):
    """An answer of somebody's that a manager let go stale."""

    guideline: int
    reason: str


class Remembered(NamedTuple):
    """What this annotator did with a question, as far as its page says so; never their answer."""

    skipped: bool
    """Whether they skipped it today (UTC)."""
    sent_back: str | None
    """What an adjudicator wrote when sending back their flag; empty: nothing; None: no flag of theirs was sent back."""
    stale: Before | None
    """The guideline of their answer that went stale, and why; None where none of theirs went stale last."""


NOTHING = Remembered(False, None, None)


def remembered(connection: Connection, account_id: int, question_id: int) -> Remembered:
    """Of a question on this annotator's screen."""
    given = {"question": question_id, "account": account_id}
    rows = connection.execute(_asides(), given).all()
    last = connection.execute(_last_judgement(), given).first()
    since, skipped, flagged, remark = midnight(tables.now()), False, False, None
    for whose, kind, comment, at in rows:
        if whose == account_id:
            skipped = skipped or (kind == SKIP and in_utc(at) >= since)
            flagged = flagged or kind == FLAG
        if kind == BACK and flagged:
            remark = str(comment or "")
    gone = last is not None and last.withdrawn_by is not None
    return Remembered(skipped, remark, Before(int(last.guideline), str(last.comment or "")) if last and gone else None)


def may_be_remembered() -> ColumnElement[bool]:
    """Condition on `question`: somebody put it aside, or let an answer to it go stale. Nothing is remembered of others,
    which are most."""
    question, aside = table_of(tables.Question), table_of(tables.Aside)
    judgement = table_of(tables.Judgement).alias("gone")
    stale = exists().where(judgement.c.question_id == question.c.id, judgement.c.withdrawn_by.is_not(None))
    return exists().where(aside.c.question_id == question.c.id) | stale


# Statements are made once: every question that is shown asks them.


@cache
def _asides() -> Select[Any]:
    """What was done with a question instead of answering it, oldest first; nothing of most."""
    aside = table_of(tables.Aside)
    columns = (aside.c.annotator_id, aside.c.kind, aside.c.comment, aside.c.at)
    return select(*columns).where(aside.c.question_id == bindparam("question")).order_by(aside.c.id)


@cache
def _last_judgement() -> Select[Any]:
    judgement = table_of(tables.Judgement)
    mine = (judgement.c.question_id == bindparam("question")) & (judgement.c.annotator_id == bindparam("account"))
    return (
        select(judgement.c.guideline, judgement.c.comment, judgement.c.withdrawn_by)
        .where(mine, judgement.c.round == FIRST)
        .order_by(judgement.c.id.desc())
        .limit(1)
    )
