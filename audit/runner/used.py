"""What systems used to answer: tokens and money, as their outputs have it (`audit.tasks.Output.details`)."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select

from audit.messages import message
from audit.store import table_of, tables


def used_notes(connection: Connection, studies: Sequence[int], systems: Iterable[int] | None = None) -> list[str]:
    """Return a sentence for each system (of these ids) that says what it used for the inputs of groups of these
    studies."""
    group, member, output, system = (
        table_of(model) for model in (tables.Group, tables.Member, tables.Output, tables.System)
    )
    asked = (
        select(member.c.group_id)
        .join(group, group.c.id == member.c.group_id)
        .where(member.c.input_id == output.c.input_id, group.c.study_id.in_(studies))
        .exists()
    )
    tokens = [output.c.details["used", name].as_integer() for name in ("in", "out", "reasoning")]
    sums: list[ColumnElement[Any]] = [func.coalesce(func.sum(number), 0) for number in tokens]
    cost = func.sum(output.c.details["used", "cost"].as_float())
    query = (
        select(system.c.name, *sums, cost, func.max(output.c.details["used", "currency"].as_string()))
        .join(system, system.c.id == output.c.system_id)
        .where(output.c.details.is_not(None), tokens[0] > 0, asked)
        .group_by(system.c.id, system.c.name)
        .order_by(system.c.name)
    )
    if systems is not None:
        query = query.where(system.c.id.in_(list(systems)))
    return [
        message(
            f"note.used{'_at' * (cost is not None)}",
            system=name,
            tokens=read,
            answers=written,
            reasoning=thought,
            cost=float(cost or 0),
            currency=currency or "",
        )
        for name, read, written, thought, cost, currency in map(tuple, connection.execute(query))
    ]
