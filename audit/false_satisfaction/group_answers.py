"""Whether a relation holds in a group: which groups people are asked about, what they are made of, what was answered.

A question about a group is one question whatever study or system the group belongs to, so groups and questions meet
by content: the relation, and roles and inputs of the counted members in order.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd
from sqlalchemy import Connection, Engine, select

from audit.annotation.answers import ORIGINS
from audit.annotation.questions import WantedGroup, group_question_key
from audit.false_satisfaction.asking import Ask, Asking
from audit.false_satisfaction.settling import ALLOWED, COUNTED, Known, Whose
from audit.relations import Outcome
from audit.sampling.protocols import Terms
from audit.store import pieces, table_of, tables

Content = tuple[int, tuple[tuple[str, int], ...]]
"""(relation, ((role, input) of each counted member)); ids are of the database, where each content has one."""


@dataclass(frozen=True, slots=True)
class AskedGroup:
    """One group of one cell that people are asked about, by its rank among the satisfied or the violated ones."""

    sample_id: int
    relation_id: int
    system_id: int
    outcome: Outcome
    rank: int
    group_id: int


def asked_groups(connection: Connection, samples: Iterable[int], relation_id: int | None = None) -> list[AskedGroup]:
    """The groups of these samples that are asked about (of one relation, or of all), by cell, outcome and rank."""
    table = table_of(tables.AuditDraw)
    order = (table.c.sample_id, table.c.relation_id, table.c.system_id, table.c.outcome, table.c.rank)
    query = select(*order, table.c.group_id).where(table.c.sample_id.in_(list(samples))).order_by(*order)
    if relation_id is not None:
        query = query.where(table.c.relation_id == relation_id)
    return [
        AskedGroup(row.sample_id, row.relation_id, row.system_id, Outcome(row.outcome), row.rank, row.group_id)
        for row in connection.execute(query)
    ]


def contents(connection: Connection, group_ids: Collection[int]) -> dict[int, Content]:
    """What these groups are made of."""
    group, member = table_of(tables.Group), table_of(tables.Member)
    query = (
        select(group.c.id, group.c.relation_id, member.c.role, member.c.input_id)
        .join(member, member.c.group_id == group.c.id)
        .where(member.c.role.in_(COUNTED))
        .order_by(group.c.id, member.c.step)
    )
    found: dict[int, Content] = {}
    for piece in pieces(sorted(group_ids)):
        for id, relation, role, given in connection.execute(query.where(group.c.id.in_(piece))):
            before = found.get(int(id), (int(relation), ()))
            found[int(id)] = (before[0], (*before[1], (str(role), int(given))))
    return found


def known_holds(
    connection: Connection, whose: Whose = "both", questions: Collection[int] | None = None
) -> dict[Content, Known]:
    """The answer that counts about each group that was judged, of the origins asked for; of all, or of `questions`."""
    question, answer = table_of(tables.Question), table_of(tables.Answer)
    query = (
        select(question.c.group_id, answer.c.origin, answer.c.allowed)
        .join(answer, answer.c.question_id == question.c.id)
        .where(question.c.kind == "group", answer.c.origin.in_(ALLOWED[whose]))
    )
    if questions is not None:
        query = query.where(question.c.id.in_(list(questions)))
    rows = connection.execute(query).all()
    made_of = contents(connection, {int(row[0]) for row in rows})
    found: dict[Content, Known] = {}
    for group, origin, allowed in rows:
        before = found.get(made_of[group])
        if before is None or ORIGINS.index(origin) < ORIGINS.index(before.origin):
            found[made_of[group]] = Known(frozenset(allowed), origin)
    return found


def wanted_groups(connection: Connection, samples: Mapping[int, Terms]) -> list[WantedGroup]:
    """Questions about groups that nobody has settled, with how the groups of these samples ask them."""
    asked = asked_groups(connection, samples)
    made_of = contents(connection, {one.group_id for one in asked})
    known = known_holds(connection)
    asking: Asking[Content] = Asking(samples)
    shown: dict[Content, tuple[int, int]] = {}
    for one in asked:
        content = made_of[one.group_id]
        if content not in known:
            asking.note(content, one.sample_id, one.rank, one.group_id, one.system_id)
            shown[content] = min((one.rank, one.group_id), shown.get(content, (one.rank, one.group_id)))
    asks = asking.asks(connection)
    keys = _keys(connection, {given for _, members in asks for _, given in members})
    relation = table_of(tables.Relation)
    relations = {row["id"]: row for row in connection.execute(select(relation)).mappings()}
    found = []
    for (relation_id, members), ask in asks.items():
        group_id = shown[relation_id, members][1]
        of = relations[relation_id]
        named = group_question_key(
            of["task"], of["name"], of["version"], of["params"], [(role, keys[given]) for role, given in members]
        )
        source = next(given for role, given in members if role == "source")
        how = (ask.rank, ask.waits, ask.annotators, ask.protocol)
        found.append(WantedGroup(of["task"], named, group_id, source, *how))
    return found


def ask_of_group_question(connection: Connection, question_id: int, samples: Mapping[int, Terms]) -> Ask | None:
    """How groups of these samples ask this question; None where it is settled, or nobody asks any more."""
    question, answer = table_of(tables.Question), table_of(tables.Answer)
    if connection.execute(select(answer.c.origin).where(answer.c.question_id == question_id)).first():
        return None
    group_id = int(connection.execute(select(question.c.group_id).where(question.c.id == question_id)).scalar_one())
    content = contents(connection, [group_id])[group_id]
    source = next(given for role, given in content[1] if role == "source")
    member = table_of(tables.Member)
    asked = asked_groups(connection, samples, content[0])
    with_source: set[int] = set()
    for piece in pieces({one.group_id for one in asked}):
        query = select(member.c.group_id).where(member.c.group_id.in_(piece), member.c.input_id == source)
        with_source |= {int(row[0]) for row in connection.execute(query)}
    alike = contents(connection, with_source)
    asking: Asking[Content] = Asking(samples)
    for one in asked:
        if alike.get(one.group_id) == content:
            asking.note(content, one.sample_id, one.rank, one.group_id, one.system_id)
    return asking.asks(connection).get(content)


def attributed_groups(engine: Engine, by: Literal["relation", "system"]) -> pd.DataFrame:
    """Which relation or systems each question about a group serves: columns item (its id, text) and value."""
    question, sample = table_of(tables.Question), table_of(tables.Sample)
    named = table_of(tables.Relation) if by == "relation" else table_of(tables.System)
    with engine.connect() as connection:
        names = {int(row[0]): str(row[1]) for row in connection.execute(select(named.c.id, named.c.name))}
        questions = connection.execute(select(question.c.id, question.c.group_id).where(question.c.kind == "group"))
        items = {int(group): str(id) for id, group in questions}
        asked = asked_groups(connection, [int(row[0]) for row in connection.execute(select(sample.c.id))])
        made_of = contents(connection, {*items, *(one.group_id for one in asked)})
    served = {made_of[group]: item for group, item in items.items()}
    rows = {
        (served[made_of[one.group_id]], names[one.relation_id if by == "relation" else one.system_id])
        for one in asked
        if made_of[one.group_id] in served
    }
    return pd.DataFrame(sorted(rows), columns=["item", "value"])


def _keys(connection: Connection, inputs: Collection[int]) -> dict[int, bytes]:
    table = table_of(tables.Input)
    found: dict[int, bytes] = {}
    for piece in pieces(sorted(inputs)):
        query = select(table.c.id, table.c.key).where(table.c.id.in_(piece))
        found.update((int(row[0]), bytes(row[1])) for row in connection.execute(query))
    return found
