"""Spot checks: an adjudicator answers questions on which people agree, without seeing what they said.

What a check finds is an adjudication like others, append-only, and counts before the people's answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Select, delete, exists, func, select

from audit.annotation.accounts import ADJUDICATORS, require
from audit.annotation.judging import store_adjudication
from audit.annotation.queue import Shown, show
from audit.errors import Refused
from audit.store import pieces, table_of, tables, upsert

REASON = "spot check"
"""Reason of every adjudication that is one; a remark comes after it."""


def put_checks(connection: Connection, wanted: Mapping[int, int], among: Iterable[int] | None = None) -> None:
    """See to it that exactly these questions (id -> priority) wait for a check, of those in `among`, or of all."""
    table = table_of(tables.SpotCheck)
    if among is None:
        among = [int(row[0]) for row in connection.execute(select(table.c.question_id))]
    for piece in pieces(sorted(set(among) - set(wanted))):
        connection.execute(delete(table).where(table.c.question_id.in_(piece)))
    rows = [{"question_id": id, "priority": rank} for id, rank in sorted(wanted.items())]
    upsert(connection, tables.SpotCheck, rows)


def next_check(engine: Engine, account_id: int, later: Sequence[int] = ()) -> Shown | None:
    """The most wanted check for this adjudicator, as annotators saw the question; None: there is none.

    Never a question that they ever judged themselves. Those of `later` come last, in this order. Raises NotAllowed.
    """
    table = table_of(tables.SpotCheck)
    query = select(table.c.question_id).where(_open_for(account_id)).order_by(table.c.priority, table.c.question_id)
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        first = first_of(connection, query, table.c.question_id, later)
        return None if first is None else show(connection, first)


def first_of(connection: Connection, query: Select[Any], column: Any, later: Sequence[int]) -> int | None:
    """The first question of a query for ids, which `column` holds; those of `later` come last, in their order."""
    first = connection.execute(query.where(column.not_in(list(later))).limit(1)).scalar()
    if first is None:
        left = set(connection.execute(query.where(column.in_(list(later)))).scalars())
        first = next((id for id in later if id in left), None)
    return None if first is None else int(first)


def checks_left(engine: Engine, account_id: int) -> int:
    """How many checks wait that this adjudicator may make. Raises NotAllowed."""
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        query = select(func.count()).select_from(table_of(tables.SpotCheck)).where(_open_for(account_id))
        return int(connection.execute(query).scalar() or 0)


def check(engine: Engine, account_id: int, question_id: int, allowed: Sequence[str], remark: str = "") -> None:
    """Store what an adjudicator answers to a question on which people agree: the allowed labels.

    Raises NotAllowed, or Refused where there is nothing to check, the adjudicator judged the question as an annotator,
    or the labels cannot be taken.
    """
    table = table_of(tables.SpotCheck)
    with engine.begin() as connection:
        # A write first: of two adjudicators with the same question on their screens, the second finds it gone.
        there = connection.execute(delete(table).where(table.c.question_id == question_id)).rowcount
        require(connection, account_id, *ADJUDICATORS)
        answer = table_of(tables.Answer)
        agreed = (answer.c.question_id == question_id) & (answer.c.origin == "people")
        # An annotator may just have taken an answer back: what people do not agree on is for the disputes.
        if not there or not connection.execute(select(answer.c.origin).where(agreed)).first():
            raise Refused("this question does not wait for a check any more; take the next one")
        judgement = table_of(tables.Judgement)
        mine = (judgement.c.question_id == question_id) & (judgement.c.annotator_id == account_id)
        if connection.execute(select(judgement.c.id).where(mine)).first():
            raise Refused("you judged this question yourself; somebody else must check it")
        store_adjudication(connection, account_id, question_id, allowed, written_as_check(remark))


def written_as_check(remark: str) -> str:
    """The reason of an adjudication that is a spot check, with a remark or none.

    >>> written_as_check(" two meanings "), written_as_check("")
    ('spot check: two meanings', 'spot check')
    """
    remark = remark.strip()
    return f"{REASON}: {remark}" if remark else REASON


def is_check(code: str | None, reason: str) -> bool:
    """Whether an adjudication with this code and reason is a spot check.

    >>> is_check(None, "spot check: two meanings"), is_check("slip", "spot check")
    (True, False)
    """
    return code is None and (reason == REASON or reason.startswith(f"{REASON}: "))


def remark_of(reason: str) -> str:
    """The remark in the reason of a spot check.

    >>> remark_of("spot check: two meanings"), remark_of("spot check")
    ('two meanings', '')
    """
    return reason.removeprefix(REASON).removeprefix(": ")


def _open_for(account_id: int) -> ColumnElement[bool]:
    """Condition: this account never judged the question, not even to withdraw it."""
    table, judgement = table_of(tables.SpotCheck), table_of(tables.Judgement)
    mine = (judgement.c.question_id == table.c.question_id) & (judgement.c.annotator_id == account_id)
    return ~exists().where(mine)
