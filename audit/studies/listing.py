"""The studies of a database, each with the name that people know it by: its plan's, or else its corpus and number."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, exists, func, select

from audit.judging.accounts import reading_as
from audit.store.copying import in_utc
from audit.store.core import answer, draw, progress, question, source, study
from audit.studies.versions import all_versions, belongs


@dataclass(frozen=True)
class ListedStudy:
    """A study as pages list it.

    `sources` is how many rows it has, `systems` and `relations` how many were run, `drawn` the rows drawn for judging;
    `answered` says whether one of them has an answer, gold's included. `plan` is the one that it carries out (None: it
    was run without one), and `names_it` whether that one's name stands for this study alone.
    """

    id: int
    corpus: str
    task: str
    began: datetime
    sources: int
    systems: int
    relations: int
    drawn: int
    answered: bool
    plan: str | None
    names_it: bool


def list_studies(engine: Engine, by: int) -> list[ListedStudy]:
    """Return all studies in the order of their numbers, for adjudicators and managers. Raises NotAllowed for others."""
    counted = (source.c.id, progress.c.system_id, progress.c.relation_id, draw.c.source_id)
    numbers = [
        select(func.count(of.distinct())).where(of.table.c.study_id == study.c.id).scalar_subquery() for of in counted
    ]
    is_answered = exists().where(
        source.c.study_id == study.c.id,
        question.c.input_id == source.c.input_id,
        answer.c.question_id == question.c.id,
    )
    with reading_as(engine, by, "adjudicator", "manager") as connection:
        rows = connection.execute(select(study).order_by(study.c.id)).mappings().all()
        counts = connection.execute(select(*numbers, is_answered).select_from(study).order_by(study.c.id)).all()
        plans = all_versions(connection)
    named = [
        next((name for name, history in plans.items() if any(belongs(dict(row), v.content) for v in history)), None)
        for row in rows
    ]
    times = Counter(named)
    return [
        ListedStudy(
            row["id"], row["corpus"], row["task"], in_utc(row["created_at"]), of[0], of[1], of[2], of[3], bool(of[4]),
            plan, plan is not None and times[plan] == 1,
        )
        for row, of, plan in zip(rows, counts, named, strict=True)
    ]  # fmt: skip


def first_choice(studies: Sequence[ListedStudy]) -> ListedStudy | None:
    """Return the study that is shown at first: the newest with answers, or else the newest; None where there are
    none."""
    return max(studies, key=lambda study: (study.answered, study.drawn > 0, study.id), default=None)
