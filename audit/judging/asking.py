"""Opening and closing questions: how the queue follows from samples and answers. A step of `audit.judging.unit`."""

from collections.abc import Collection, Iterable
from dataclasses import asdict
from functools import cache
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, bindparam, func, select, union

from audit.false_satisfaction.questions import (
    Wanted,
    groups_with,
    wanted_about,
    wanted_groups,
    wanted_questions,
)
from audit.judging.answers import by_people, settle
from audit.store import insert_new, pieces, rows_among, tables
from audit.store.bulk import LIMIT
from audit.store.core import draw, group, input_table, judgement, member, question, sample, source, study
from audit.tasks.questions import ABOUT_OUTPUTS, Subject, kind_of, question_key

_TERMS = ("priority", "waits", "source_input_id", "study_id", "annotators")
"""The columns that say how a question is asked; the others say what it is, and never change."""
_FEW = 200  # Changed answers up to which the queue is brought up to date around each; more are no dearer all at once


def make_questions(connection: Connection, subjects: Iterable[Subject]) -> tuple[dict[Subject, int], int]:
    """Make the questions about these subjects that do not exist; nobody is asked them before a round wants them.
    Returns the ids of all, and how many are new."""
    wanted = list(dict.fromkeys(subjects))
    columns = select(input_table.c.id, input_table.c.key)
    inputs = rows_among(connection, columns, input_table.c.id, sorted({input_id for _, input_id, _ in wanted}))
    key_of = {row.id: bytes(row.key) for row in inputs}
    people = connection.execute(select(func.max(sample.c.annotators))).scalar() or 2  # as the last sample did
    keys = {question_key(task, kind_of(output), key_of[id], output): (task, id, output) for task, id, output in wanted}
    rows = [
        {"key": key, "task": task, "kind": kind_of(output), "input_id": id, "output": output, "annotators": people}
        for key, (task, id, output) in keys.items()
    ]
    added = insert_new(connection, tables.Question, rows)
    return {keys[key]: int(row["id"]) for key, row in _stored(connection, keys).items()}, added


def open_questions(connection: Connection, questions: Iterable[Wanted]) -> None:
    """Bring these questions into the queue: insert what is missing and change what differs. One that somebody has
    judged keeps at least as many annotators as it had."""
    wanted = {question.key: asdict(question) for question in questions}
    stored = _stored(connection, wanted)
    if missing := [row for key, row in wanted.items() if key not in stored]:
        insert_new(connection, tables.Question, missing)
        stored |= _stored(connection, [row["key"] for row in missing])  # another process may have been faster
    others = [row["id"] for key, row in stored.items() if row["annotators"] != wanted[key]["annotators"]]
    query = select(judgement.c.question_id).where(judgement.c.round == 1, by_people(judgement))
    judged = {row.question_id for row in rows_among(connection, query, judgement.c.question_id, others)}
    changed, to_settle = list[dict[str, Any]](), list[int]()
    # In one order, so that no two processes wait for each other's rows.
    for key, row in sorted(stored.items(), key=lambda entry: int(entry[1]["id"])):
        target = {name: wanted[key][name] for name in _TERMS}
        if row["id"] in judged:
            target["annotators"] = max(row["annotators"], target["annotators"])
        if any(row[name] != target[name] for name in _TERMS):
            changed.append({f"new_{name}": value for name, value in target.items()} | {"question": row["id"]})
        if row["annotators"] != target["annotators"]:
            to_settle.append(row["id"])
    if changed:
        statement = question.update().where(question.c.id == bindparam("question"))
        connection.execute(statement.values(**{name: bindparam(f"new_{name}") for name in _TERMS}), changed)
    settle(connection, to_settle)


def _stored(connection: Connection, keys: Iterable[bytes]) -> dict[bytes, RowMapping]:
    """The stored rows of these questions, by key; those that are not there are absent."""
    rows = rows_among(connection, select(question), question.c.key, keys)
    return {bytes(row.key): row._mapping for row in rows}


def close_questions(connection: Connection, question_ids: Iterable[int]) -> None:
    """Take questions out of the queue: nothing waits for them any more."""
    for piece in pieces(question_ids):
        connection.execute(question.update().where(question.c.id.in_(piece)).values(priority=None, waits=0))


def gold_labels(connection: Connection) -> dict[tuple[str, int], set[str]]:
    """Return the gold labels of sources by (task, input); several where rows with the same text have different ones."""
    query = select(study.c.task, source.c.input_id, source.c.gold).join(study, study.c.id == source.c.study_id)
    labels: dict[tuple[str, int], set[str]] = {}
    for task, input_id, label in connection.execute(query.where(source.c.gold.is_not(None)).distinct()):
        labels.setdefault((task, input_id), set()).add(label)
    return labels


# The queue after answers, samples or validity studies have changed.


def update_queue(connection: Connection, changed: Collection[int] | None = None) -> None:
    """Bring the queue up to date after these questions' answers have changed: only what they can touch; None: all. The
    caller has locked what this reads and writes (`lock_around`, `lock_queue`)."""
    columns = [question.c[name] for name in ("id", "key", "task", "kind", "input_id", "group_id")]
    if changed is None or len(changed) > _FEW:
        in_queue = select(*columns).where(question.c.priority.is_not(None))
        _replace(connection, connection.execute(in_queue).all(), wanted_questions(connection))
        return
    about: dict[str, set[int]] = {}
    for row in list(rows_among(connection, select(*columns), question.c.id, sorted(changed))):
        if row.kind == "group":
            # Whether a relation holds settles no label, and no label says whether it holds: only this one changes.
            relation = connection.execute(select(group.c.relation_id).where(group.c.id == row.group_id)).scalar_one()
            wanted = (entry for entry in wanted_groups(connection, relation) if entry.key == bytes(row.key))
            _replace(connection, [row], {entry.key: entry for entry in wanted})
        elif row.kind in ABOUT_OUTPUTS:
            about.setdefault(row.task, set()).add(row.input_id)
    for task, ids in about.items():
        inputs = _inputs_around(connection, ids)
        own = select(*columns).where(question.c.task == task, question.c.kind.in_(ABOUT_OUTPUTS))
        stored = list(rows_among(connection, own, question.c.input_id, sorted(inputs)))
        around = wanted_about(connection, groups_with(connection, inputs)).items()
        mine = {key: entry for key, entry in around if entry.task == task and entry.input_id in inputs}
        _replace(connection, stored, mine)


def _replace(connection: Connection, stored: Iterable[Any], wanted: dict[bytes, Wanted]) -> None:
    """Open the wanted questions, and close those stored ones that are not wanted."""
    close_questions(connection, [row.id for row in stored if bytes(row.key) not in wanted])
    open_questions(connection, wanted.values())


def _inputs_around(connection: Connection, about: Collection[int]) -> set[int]:
    """The inputs of all drawn groups that have one of these, and themselves."""
    other = member.alias("other")
    around = (
        select(other.c.input_id)
        .join(member, member.c.group_id == other.c.group_id)
        .join(draw, draw.c.source_id == member.c.group_id // LIMIT**2)
        .where(other.c.role != "probe")
        .distinct()
    )
    return {*about, *(row.input_id for row in rows_among(connection, around, member.c.input_id, about))}


def lock_around(connection: Connection, question_id: int) -> None:
    """Keep others from changing an answer that has a drawn group in common with this question's, until the transaction
    ends. PostgreSQL locks the inputs of these groups, by id so that no two processes wait for each other; SQLite has
    one writer."""
    if connection.dialect.name != "sqlite":
        connection.execute(_around(), {"question": question_id}).all()


def lock_queue(connection: Connection) -> None:
    """Keep others from changing any answer or question until the transaction ends; they go on reading. Call it first:
    whoever holds `lock_around` must not wait for this."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("LOCK TABLE input, question IN EXCLUSIVE MODE")


@cache
def _around() -> Select[Any]:
    """The inputs of all drawn groups that have the one of `question`, and itself, locked; none of a group or rating."""
    other = member.alias("other")
    own = select(question.c.input_id).where(question.c.id == bindparam("question"), question.c.kind.in_(ABOUT_OUTPUTS))
    groups = (
        select(member.c.group_id)
        .join(draw, draw.c.source_id == member.c.group_id // LIMIT**2)
        .where(member.c.input_id == own.scalar_subquery())
    )
    around = select(other.c.input_id).where(other.c.group_id.in_(groups), other.c.role != "probe")
    locked = select(input_table.c.id).where(input_table.c.id.in_(union(own, around))).order_by(input_table.c.id)
    return locked.with_for_update(key_share=True)
