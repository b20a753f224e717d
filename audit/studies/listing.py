"""The studies of a database, each with the name that people know it by: its plan's, or else its corpus and number."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Engine, exists, func, select

from audit.judging.accounts import reading_as
from audit.store import table_of, tables
from audit.store.copying import in_utc
from audit.studies.versions import all_versions, belongs


@dataclass(frozen=True)
class ListedStudy:
    """A study as pages list it; `systems` and `relations` are how many were run, `sources` how many rows it has."""

    id: int
    corpus: str
    task: str
    plan: str | None
    """The plan that the study carries out; None: it was run without one."""
    began: datetime
    sources: int
    systems: int
    relations: int
    drawn: int
    """Sources drawn for judging."""
    answered: bool
    """Whether one of its texts has an answer, gold's included."""
    names_it: bool
    """Whether the plan's name stands for this study alone."""


def list_studies(engine: Engine, by: int) -> list[ListedStudy]:
    """All studies in the order of their numbers, for adjudicators and managers. Raises NotAllowed for others."""
    with reading_as(engine, by, "adjudicator", "manager") as connection:
        return studies_of(connection)


def studies_of(connection: Connection) -> list[ListedStudy]:
    """All studies in the order of their numbers."""
    study, source, progress, draw = (
        table_of(model) for model in (tables.Study, tables.Source, tables.Progress, tables.Draw)
    )
    rows = connection.execute(select(study).order_by(study.c.id)).mappings().all()
    sources = _numbers(connection, select(source.c.study_id, func.count()).group_by(source.c.study_id))
    counted = select(progress.c.study_id, func.count(progress.c.system_id.distinct()))
    systems = _numbers(connection, counted.group_by(progress.c.study_id))
    counted = select(progress.c.study_id, func.count(progress.c.relation_id.distinct()))
    relations = _numbers(connection, counted.group_by(progress.c.study_id))
    counted = select(draw.c.study_id, func.count(draw.c.source_id.distinct()))
    drawn = _numbers(connection, counted.group_by(draw.c.study_id))
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
            plan := named[row["id"]],
            in_utc(row["created_at"]),
            sources.get(row["id"], 0),
            systems.get(row["id"], 0),
            relations.get(row["id"], 0),
            drawn.get(row["id"], 0),
            _answered(connection, row["id"]),
            plan is not None and times[plan] == 1,
        )
        for row in rows
    ]


def first_choice(studies: Sequence[ListedStudy]) -> ListedStudy | None:
    """The study that is shown at first: the newest with answers, or else the newest; None where there are none."""
    return max(studies, key=lambda study: (study.answered, study.drawn > 0, study.id), default=None)


def _numbers(connection: Connection, query: object) -> dict[int, int]:
    return {int(id): int(number) for id, number in connection.execute(query)}  # type: ignore[call-overload]


def _answered(connection: Connection, study: int) -> bool:
    """Whether a source of this study has an answer."""
    source, question, answer = (table_of(model) for model in (tables.Source, tables.Question, tables.Answer))
    query = (
        select(source.c.id)
        .join(question, question.c.input_id == source.c.input_id)
        .where(source.c.study_id == study, exists().where(answer.c.question_id == question.c.id))
        .limit(1)
    )
    return connection.execute(query).first() is not None
