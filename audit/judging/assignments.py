"""Who works on which studies: everybody on all of them, but for accounts that a manager has assigned to some.

Parts of the transactions that change accounts and choose questions; those ask for the role.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Text, and_, cast, delete, exists, literal, or_, select

from audit.errors import AuditError
from audit.messages import message
from audit.store.core import assignment, question, study


def in_column(studies: Iterable[int]) -> str:
    """Ids of studies as the column `question.studies` has them.

    >>> in_column([12, 1]), in_column([])
    (',1,12,', '')
    """
    ids = ",".join(map(str, sorted(set(studies))))
    return f",{ids}," if ids else ""


def from_column(joined: str | None) -> tuple[int, ...]:
    """Ids of studies from a column that has them joined by commas.

    >>> from_column(",1,12,"), from_column("")
    ((1, 12), ())
    """
    return tuple(int(id) for id in (joined or "").split(",") if id)


def is_assigned(account: ColumnElement[int], question: Any = question) -> ColumnElement[bool]:
    """Condition on `question`, or an alias of it: this account works on a study of which a drawn group waits for it, or
    on all."""
    own = assignment.alias("assigned")
    mine = own.c.annotator_id == account
    asks = question.c.studies.like(literal("%,") + cast(own.c.study_id, Text) + literal(",%"))
    return or_(~exists().where(mine), exists().where(and_(mine, asks)))


def checked_studies(connection: Connection, studies: Collection[int]) -> list[int]:
    """The ids in their order, each once. Raises AuditError for one that is no study's."""
    ids = sorted(set(studies))
    there = set(connection.execute(select(study.c.id).where(study.c.id.in_(ids))).scalars())
    if absent := [id for id in ids if id not in there]:
        raise AuditError(message("account.no_study", id=absent[0]))
    return ids


def assign(connection: Connection, account_id: int, studies: Collection[int]) -> None:
    """Have an account work on these studies alone; none: on all. Raises AuditError for one that there is not."""
    ids = checked_studies(connection, studies)
    connection.execute(delete(assignment).where(assignment.c.annotator_id == account_id))
    if ids:
        connection.execute(assignment.insert(), [{"annotator_id": account_id, "study_id": id} for id in ids])


def assignments_of(connection: Connection, accounts: Sequence[int] | None = None) -> dict[int, tuple[int, ...]]:
    """The studies of each account (an id) that is assigned to some; of these accounts, or of all."""
    query = select(assignment.c.annotator_id, assignment.c.study_id).order_by(*assignment.primary_key)
    if accounts is not None:
        query = query.where(assignment.c.annotator_id.in_(accounts))
    studies: dict[int, tuple[int, ...]] = {}
    for account, id in connection.execute(query):
        studies[account] = (*studies.get(account, ()), id)
    return studies
