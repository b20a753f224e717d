"""Inspections: under the protocol `shown` an adjudicator looks over what people agree on, seeing all they said.

In the study one student identified false satisfactions, three others validated them, and a co-author inspected the
results at last (Jiang, Chen and Wang 2022, section 6.1.2). An answer counts as soon as people agree; an inspection
confirms or changes it, as an adjudication like others: append-only, and before the people's answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, Select, exists, func, select

from audit.annotation.accounts import ADJUDICATORS, ROLES, require
from audit.annotation.answers import Vote, counting_votes, is_adjudicated
from audit.annotation.checking import first_of
from audit.annotation.judging import store_adjudication
from audit.annotation.queue import Shown, show
from audit.errors import Refused
from audit.sampling.protocols import SHOWN
from audit.store import table_of, tables

REASON = "inspection"
"""Begins the reason of every adjudication that is one; what the inspector writes comes after it."""


@dataclass(frozen=True)
class Inspection:
    """A question on which people agree, each but the first having seen the answers before, with their votes."""

    shown: Shown
    votes: list[Vote]


def next_inspection(engine: Engine, account_id: int, later: Sequence[int] = ()) -> Inspection | None:
    """The inspection that has waited longest for this account; None: there is none.

    Never a question that they ever judged themselves. Those of `later` come last, in this order. Raises NotAllowed.
    """
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        first = first_of(connection, _waiting(account_id), table_of(tables.Question).c.id, later)
        if first is None:
            return None
        votes = [vote for vote in counting_votes(connection, [first]) if vote.role in ROLES]
        return Inspection(show(connection, first), votes)


def inspections_left(engine: Engine, account_id: int) -> int | None:
    """How many inspections wait for this account; None: no question has the protocol `shown`. Raises NotAllowed."""
    question = table_of(tables.Question)
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        if not connection.execute(select(question.c.id).where(question.c.protocol == SHOWN).limit(1)).first():
            return None
        waiting = _waiting(account_id).order_by(None).subquery()
        return int(connection.execute(select(func.count()).select_from(waiting)).scalar() or 0)


def inspect(engine: Engine, account_id: int, question_id: int, allowed: Sequence[str], remark: str = "") -> None:
    """Confirm what people agree on, or change it; `allowed` are the right labels, and a change needs a remark.

    Raises NotAllowed, or Refused where the question does not wait for an inspection, the account judged it, or the
    labels cannot be taken.
    """
    question, answer = table_of(tables.Question), table_of(tables.Answer)
    with engine.begin() as connection:
        # The question is held before anything is read: of two inspectors with it on their screens, the second finds
        # that it does not wait any more.
        hold = question.update().where(question.c.id == question_id).values(protocol=question.c.protocol)
        connection.execute(hold)
        require(connection, account_id, *ADJUDICATORS)
        mine = _judged_by(account_id).where(table_of(tables.Judgement).c.question_id == question_id)
        if connection.execute(mine.limit(1)).first():
            raise Refused("you judged this question yourself; somebody else must inspect it")
        if not connection.execute(_waiting(account_id).where(question.c.id == question_id)).first():
            raise Refused("this question does not wait for an inspection any more; take the next one")
        agreed = connection.execute(
            select(answer.c.allowed).where(answer.c.question_id == question_id, answer.c.origin == "people")
        ).scalar_one()
        remark = remark.strip()
        if allowed and set(allowed) != set(agreed) and not remark:
            raise Refused("say why you change what people agree on: the reason is kept with the answer")
        store_adjudication(connection, account_id, question_id, allowed, f"{REASON}: {remark}" if remark else REASON)


def _waiting(account_id: int) -> Select[Any]:
    """The questions that wait for this account's inspection, by when they were last answered.

    What is to be spot-checked is left to that check, for which nobody may have seen the votes.
    """
    question, answer, judgement = table_of(tables.Question), table_of(tables.Answer), table_of(tables.Judgement)
    check = table_of(tables.SpotCheck)
    last = select(func.max(judgement.c.id)).where(judgement.c.question_id == question.c.id).scalar_subquery()
    return (
        select(question.c.id)
        .join(answer, (answer.c.question_id == question.c.id) & (answer.c.origin == "people"))
        .where(question.c.protocol == SHOWN, question.c.filled.is_(True))
        .where(~is_adjudicated(question.c.id))
        .where(~exists().where(check.c.question_id == question.c.id))
        .where(question.c.id.not_in(_judged_by(account_id)))
        .order_by(last, question.c.id)
    )


def _judged_by(account_id: int) -> Select[Any]:
    """Questions that this account ever judged, an answer taken back included."""
    judgement = table_of(tables.Judgement)
    return select(judgement.c.question_id).where(judgement.c.annotator_id == account_id)
