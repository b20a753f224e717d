"""The studies of a database, each with the name that people know it by: its plan's, or else its corpus and number."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, func, select

from audit.judging.accounts import reading_as
from audit.store.copying import in_utc
from audit.store.core import answer, draw, progress, question, source, study
from audit.studies.versions import all_versions, belongs


@dataclass(frozen=True)
class ListedStudy:
    """A study as pages list it.

    `plan` is the one that it carries out (None: it was run without one), and `names_it` whether that one's name stands
    for this study alone. `systems` and `relations` are how many were run, `sources` how many rows it has, `drawn` those
    drawn for judging; `answered` says whether one of them has an answer, gold's included.
    """

    id: int
    corpus: str
    task: str
    plan: str | None
    began: datetime
    sources: int
    systems: int
    relations: int
    drawn: int
    answered: bool
    names_it: bool


def list_studies(engine: Engine, by: int) -> list[ListedStudy]:
    """All studies in the order of their numbers, for adjudicators and managers. Raises NotAllowed for others."""
    with reading_as(engine, by, "adjudicator", "manager") as connection:
        return _studies(connection)


def _studies(connection: Connection) -> list[ListedStudy]:
    def distinct(column: ColumnElement[int], what: ColumnElement[int]) -> dict[int, int]:
        query = select(column, func.count(what.distinct())).group_by(column)
        rows: Iterable[Any] = connection.execute(query)
        return {int(id): int(number) for id, number in rows}

    rows = connection.execute(select(study).order_by(study.c.id)).mappings().all()
    sources = distinct(source.c.study_id, source.c.id)
    systems = distinct(progress.c.study_id, progress.c.system_id)
    relations = distinct(progress.c.study_id, progress.c.relation_id)
    drawn = distinct(draw.c.study_id, draw.c.source_id)
    plans = all_versions(connection)
    named = {
        row["id"]: next(
            (name for name, history in plans.items() if any(belongs(dict(row), v.content) for v in history)), None
        )
        for row in rows
    }
    times = Counter(named.values())
    return [
        ListedStudy(
            row["id"],
            row["corpus"],
            row["task"],
            named[row["id"]],
            in_utc(row["created_at"]),
            sources.get(row["id"], 0),
            systems.get(row["id"], 0),
            relations.get(row["id"], 0),
            drawn.get(row["id"], 0),
            _answered(connection, row["id"]),
            named[row["id"]] is not None and times[named[row["id"]]] == 1,
        )
        for row in rows
    ]


def first_choice(studies: Sequence[ListedStudy]) -> ListedStudy | None:
    """The study that is shown at first: the newest with answers, or else the newest; None where there are none."""
    return max(studies, key=lambda study: (study.answered, study.drawn > 0, study.id), default=None)


def _answered(connection: Connection, study_id: int) -> bool:
    query = (
        select(source.c.id)
        .join(question, question.c.input_id == source.c.input_id)
        .join(answer, answer.c.question_id == question.c.id)
        .where(source.c.study_id == study_id)
    )
    return connection.execute(query.limit(1)).first() is not None
