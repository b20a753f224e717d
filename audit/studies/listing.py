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
    counted = {
        "sources": source.c.id,
        "systems": progress.c.system_id,
        "relations": progress.c.relation_id,
        "drawn": draw.c.source_id,
    }
    numbers = [
        select(func.count(of.distinct())).where(of.table.c.study_id == study.c.id).scalar_subquery().label(name)
        for name, of in counted.items()
    ]
    is_answered = exists().where(
        source.c.study_id == study.c.id,
        question.c.input_id == source.c.input_id,
        answer.c.question_id == question.c.id,
    )
    with reading_as(engine, by, "adjudicator", "manager") as connection:
        query = select(study, *numbers, is_answered.label("answered")).order_by(study.c.id)
        rows = [dict(row) for row in connection.execute(query).mappings()]
        plans = all_versions(connection)
    named = [
        next((name for name, history in plans.items() if any(belongs(row, of.content) for of in history)), None)
        for row in rows
    ]
    same, times = ("id", "corpus", "task", *counted), Counter(named)
    return [
        ListedStudy(
            **{name: row[name] for name in same}, began=in_utc(row["created_at"]), answered=bool(row["answered"]),
            plan=plan, names_it=plan is not None and times[plan] == 1,
        )
        for row, plan in zip(rows, named, strict=True)
    ]  # fmt: skip


def first_choice(studies: Sequence[ListedStudy]) -> ListedStudy | None:
    """Return the study that is shown at first: the newest with answers, or else the newest; None where there are
    none."""
    return max(studies, key=lambda study: (study.answered, study.drawn > 0, study.id), default=None)
