"""Who reads what: a question is for people who know all of its languages."""

from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, exists, func, literal, select, true

from audit.store import table_of, tables


def languages_of(connection: Connection, account_id: int, lock: bool = False) -> tuple[str, ...]:
    """Codes of the languages that an account reads, sorted; none: all. `lock` keeps others from changing it."""
    joined = connection.execute(_joined(lock), {"account": account_id}).scalar() or ""
    return tuple(sorted(code for code in joined.split(",") if code))


@cache
def _joined(lock: bool) -> Select[Any]:
    annotator = table_of(tables.Annotator)
    query = select(annotator.c.languages).where(annotator.c.id == bindparam("account"))
    return query.with_for_update(key_share=True) if lock else query


def readable(question: Any, codes: tuple[str, ...]) -> ColumnElement[bool]:
    """Condition on a question of the outer query: who reads `codes` (none: all) reads every text of it.

    Of a question about a group, every member that is shown. Codes are compared letter for letter: who reads `zh` and
    `zh-TW` has both.
    """
    if not codes:
        return true()
    given = table_of(tables.Input).alias("given")
    member, part = table_of(tables.Member).alias("part"), table_of(tables.Input).alias("part_input")
    its_input = exists().where(given.c.id == question.c.input_id, _known(given.c.languages, codes))
    strange = exists().where(
        member.c.group_id == question.c.group_id,
        member.c.role != "probe",
        part.c.id == member.c.input_id,
        ~_known(part.c.languages, codes),
    )
    return and_(its_input, ~strange)


def _known(joined: ColumnElement[str], codes: tuple[str, ...]) -> ColumnElement[bool]:
    """Condition: nothing is left of codes joined by commas when the known ones are taken out.

    Commas are doubled first, `,en,,en,`, so that neighbours do not share one.
    """
    rest: ColumnElement[str] = literal(",") + func.replace(joined, ",", ",,") + literal(",")
    for code in codes:
        rest = func.replace(rest, f",{code},", "")
    return rest == ""
