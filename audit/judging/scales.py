"""Which texts people rate: the questions of the validity study (`audit.sampling.validity`), mixed and blind.

Each drawn pair asks for both scales of its source and of its follow-up. A text is asked about once, whoever has it, and
nothing of a question says which of the two it is; the order follows a hash of the texts, so that originals and
follow-ups are mixed. The scales of one text come one after the other.
"""

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select

from audit.judging.answers import SCALES
from audit.judging.assignments import from_column, in_column
from audit.judging.questions import BEHIND, Wanted, close_questions, open_questions, question_key
from audit.keys import uniform
from audit.store import rows_among
from audit.store.core import input_table, member, question, study, validity_draw, validity_study

_PLACES = 100_000_000
"""Different places of the random order: as many as fit behind audits into a number of 31 bits."""


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


def wanted_ratings(connection: Connection) -> dict[bytes, Wanted]:
    """Return the questions on scales that validity studies ask now, by key."""
    open_studies = (
        select(validity_study, study.c.task)
        .join(study, study.c.id == validity_study.c.study_id)
        .where(validity_study.c.ended_at.is_(None), validity_study.c.asks != "groups")
    )
    terms_of = {row.study_id: row for row in connection.execute(open_studies)}
    drawn = drawn_members(connection, sorted(terms_of)) if terms_of else []
    ids = sorted({row["input_id"] for row in drawn})
    rows = rows_among(connection, select(input_table.c.id, input_table.c.key), input_table.c.id, ids)
    keys = {row.id: bytes(row.key) for row in rows}
    wanted: dict[bytes, Wanted] = {}
    for row in drawn:
        terms, input_key = terms_of[row["study_id"]], keys[row["input_id"]]
        place = int(uniform("rating", input_key.hex()) * _PLACES)
        priority = place - 2 * _PLACES if terms.first else 2 * BEHIND + place
        for kind in SCALES:
            key = question_key(terms.task, kind, input_key)
            entry = wanted.get(key) or Wanted(
                terms.task, kind, key, row["input_id"], priority, waits=0, annotators=terms.annotators
            )
            wanted[key] = replace(
                entry,
                priority=min(entry.priority, priority),
                waits=entry.waits + 1,
                annotators=max(entry.annotators, terms.annotators),
                studies=in_column([*from_column(entry.studies), row["study_id"]]),
            )
    return wanted


def update_ratings(connection: Connection) -> None:
    """Open the questions that validity studies ask, and close the others: a step of `audit.judging.unit`."""
    wanted = wanted_ratings(connection)
    in_queue = select(question.c.id, question.c.key).where(
        question.c.kind.in_(SCALES), question.c.priority.is_not(None)
    )
    close_questions(connection, [id for id, key in connection.execute(in_queue).all() if bytes(key) not in wanted])
    open_questions(connection, wanted.values())
