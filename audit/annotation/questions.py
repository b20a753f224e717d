"""Questions, keyed by content: the same thing is asked once, whatever study, relation or system needs it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select

from audit.keys import digest
from audit.store import insert_new, pieces, table_of, tables
from audit.tasks import get_task

HOLDS, BROKEN = "holds", "broken"
"""What people may answer about a group: the relation holds here, or it does not."""

BEHIND = 1_000_000_000
"""Added to the rank of an audit, whose question no group waits for: its priority. Ranks stay below it."""


@dataclass(frozen=True)
class Wanted:
    """A question about an input that some drawn group waits for. `priority`: the best rank of such a group."""

    input_id: int
    input_key: bytes
    priority: int


@dataclass(frozen=True)
class WantedGroup:
    """A question about a group: does the relation hold here? `key` names its content, `input_id` is the source's."""

    task: str
    key: bytes
    group_id: int
    input_id: int
    priority: int


def labels_of(task: str, kind: str) -> tuple[str, ...]:
    """What people may answer to a question of this task and kind, in the order in which the app shows it.

    >>> labels_of("sentiment", "group")
    ('holds', 'broken')
    """
    return (HOLDS, BROKEN) if kind == "group" else get_task(task).labels


def question_key(task: str, kind: str, input_key: bytes, output: str | None = None) -> bytes:
    """16 bytes that name a question about an input, or about an input and an output, by its content."""
    return digest(task, kind, input_key.hex(), output or "", "")


def group_question_key(
    task: str, relation: str, version: str, params: str, members: Iterable[tuple[str, bytes]]
) -> bytes:
    """16 bytes that name the question about a group: its relation, and role and input key of its members in order.

    Groups of other studies, and of other systems, that have the same members under the same relation share it.
    """
    parts = (part for role, key in members for part in (role, key.hex()))
    return digest(task, "group", relation, version, params, *parts)


def open_questions(connection: Connection, task: str, wanted: Iterable[Wanted], annotators: int) -> None:
    """See to it that these questions exist and stand in the queue with their priority."""
    by_input = {one.input_id: one for one in wanted}
    rows = [
        {
            "key": question_key(task, "input", one.input_key),
            "task": task,
            "kind": "input",
            "input_id": one.input_id,
            "annotators": annotators,
        }
        for one in by_input.values()
    ]
    insert_new(connection, tables.Question, rows)
    table = table_of(tables.Question)
    statement = (
        table.update()
        .where(table.c.task == task, table.c.kind == "input", table.c.input_id == bindparam("input"))
        .values(priority=bindparam("rank"))
    )
    if by_input:
        connection.execute(statement, [{"input": one.input_id, "rank": one.priority} for one in by_input.values()])


def open_group_questions(connection: Connection, wanted: Iterable[WantedGroup], annotators: int) -> None:
    """See to it that these questions about groups exist and stand in the queue with their priority."""
    by_key = {one.key: one for one in wanted}
    rows = [
        {
            "key": one.key,
            "task": one.task,
            "kind": "group",
            "input_id": one.input_id,
            "group_id": one.group_id,
            "annotators": annotators,
        }
        for one in by_key.values()
    ]
    insert_new(connection, tables.Question, rows)
    table = table_of(tables.Question)
    statement = table.update().where(table.c.key == bindparam("named")).values(priority=bindparam("rank"))
    if by_key:
        connection.execute(statement, [{"named": one.key, "rank": one.priority} for one in by_key.values()])


def close_questions(connection: Connection, question_ids: Iterable[int]) -> None:
    """Take questions out of the queue: no drawn group waits for them any more."""
    table = table_of(tables.Question)
    for piece in pieces(question_ids):
        connection.execute(table.update().where(table.c.id.in_(piece)).values(priority=None))


def question_ids(connection: Connection, task: str, input_ids: Iterable[int]) -> Mapping[int, int]:
    """Question about an input, by input id; inputs without a question are absent."""
    table = table_of(tables.Question)
    found: dict[int, int] = {}
    for piece in pieces(input_ids):
        query = select(table.c.input_id, table.c.id).where(
            table.c.task == task, table.c.kind == "input", table.c.input_id.in_(piece)
        )
        found.update((int(row[0]), int(row[1])) for row in connection.execute(query))
    return found
