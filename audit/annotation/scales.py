"""Which texts people rate: the questions of the validity study (`audit.sampling.validity`), mixed and blind.

Each drawn pair asks for both scales of its source and of its follow-up. A text is asked about once, whoever has it, and
nothing of a question says which of the two it is; the order follows a hash of the texts, so that originals and
follow-ups are mixed. The scales of one text come one after the other.
"""

from typing import Any

from sqlalchemy import Connection, bindparam, select

from audit.annotation.answers import SCALES, settle
from audit.annotation.assignments import from_column, in_column
from audit.annotation.questions import BEHIND, close_questions, question_key
from audit.keys import uniform
from audit.store import insert_new, pieces, rows_among, tables
from audit.store.core import input_table, member, question, study, validity_draw, validity_study

_PLACES = 100_000_000
"""Different places of the random order: as many as fit behind audits into a number of 31 bits."""
_CHANGES = ("priority", "waits", "studies", "annotators")


def drawn_members(connection: Connection, studies: list[int] | None = None) -> list[Any]:
    """The texts of drawn pairs: rows with study_id, relation_id, rank, group_id, role (source, follow_up) and input_id.

    Of all studies with a validity study, ended ones included, or of these.
    """
    query = select(validity_draw).order_by(validity_draw.c.study_id, validity_draw.c.relation_id, validity_draw.c.rank)
    if studies is not None:
        query = query.where(validity_draw.c.study_id.in_(studies))
    drawn = connection.execute(query).all()
    members = select(member.c.group_id, member.c.step, member.c.role, member.c.input_id)
    sources: dict[int, int] = {}
    steps: dict[tuple[int, int], int] = {}
    for row in rows_among(connection, members, member.c.group_id, sorted({row.group_id for row in drawn})):
        if row.role == "source":
            sources.setdefault(row.group_id, row.input_id)
        steps[row.group_id, row.step] = row.input_id
    return [
        {"study_id": row.study_id, "relation_id": row.relation_id, "rank": row.rank, "group_id": row.group_id}
        | {"role": role, "input_id": input_id}
        for row in drawn
        for role, input_id in (("source", sources[row.group_id]), ("follow_up", steps[row.group_id, row.step]))
    ]


def wanted_ratings(connection: Connection) -> dict[bytes, dict[str, Any]]:
    """The questions on scales that validity studies ask now, as rows of `question`, by key."""
    asked = {
        row.study_id: row
        for row in connection.execute(
            select(validity_study, study.c.task)
            .join(study, study.c.id == validity_study.c.study_id)
            .where(validity_study.c.ended_at.is_(None), validity_study.c.asks != "groups")
        )
    }
    wanted: dict[bytes, dict[str, Any]] = {}
    if not asked:
        return wanted
    drawn = drawn_members(connection, sorted(asked))
    ids = sorted({row["input_id"] for row in drawn})
    keys = {
        row.id: bytes(row.key)
        for row in rows_among(connection, select(input_table.c.id, input_table.c.key), input_table.c.id, ids)
    }
    for row in drawn:
        terms = asked[row["study_id"]]
        input_key = keys[row["input_id"]]
        place = int(uniform("rating", input_key.hex()) * _PLACES)
        priority = place - 2 * _PLACES if terms.first else 2 * BEHIND + place
        for kind in SCALES:
            key = question_key(terms.task, kind, input_key)
            entry = wanted.setdefault(
                key,
                {
                    "task": terms.task,
                    "kind": kind,
                    "input_id": row["input_id"],
                    "annotators": terms.annotators,
                    "priority": priority,
                    "waits": 0,
                    "studies": "",
                },
            )
            entry["waits"] += 1
            entry["studies"] = in_column([*from_column(entry["studies"]), row["study_id"]])
            entry["annotators"] = max(entry["annotators"], terms.annotators)
            entry["priority"] = min(entry["priority"], priority)
    return wanted


def update_ratings(connection: Connection) -> None:
    """Open the questions that validity studies ask, and close the others: a step of `audit.judging.unit`.

    A question that has ratings keeps at least as many people as it had.
    """
    wanted = wanted_ratings(connection)
    stored = {
        bytes(row["key"]): row
        for row in connection.execute(select(question).where(question.c.kind.in_(SCALES))).mappings()
    }
    idle = [row["id"] for key, row in stored.items() if key not in wanted and row["priority"] is not None]
    close_questions(connection, idle)
    insert_new(connection, tables.Question, [{"key": key} | row for key, row in wanted.items() if key not in stored])
    changes, to_settle = [], []
    for key, row in stored.items():
        if key not in wanted:
            continue
        target = {name: wanted[key][name] for name in _CHANGES}
        target["annotators"] = max(target["annotators"], row["annotators"])
        if any(row[name] != target[name] for name in _CHANGES):
            changes.append({f"new_{name}": value for name, value in target.items()} | {"question": row["id"]})
        if row["annotators"] != target["annotators"]:
            to_settle.append(int(row["id"]))
    if changes:
        statement = question.update().where(question.c.id == bindparam("question"))
        changes.sort(key=lambda change: int(change["question"]))
        connection.execute(statement.values(**{name: bindparam(f"new_{name}") for name in _CHANGES}), changes)
    for piece in pieces(to_settle):
        settle(connection, piece)
