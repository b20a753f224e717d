"""`audit report`: the report of what a database holds, with the signature that reproduces it."""

import json
from typing import Any

from sqlalchemy import Engine, func, select

import audit
from audit.annotation.answers import ORIGINS
from audit.false_satisfaction.cells import Counted, count
from audit.false_satisfaction.settling import ALLOWED, Whose
from audit.reports.build import Report, build_report
from audit.statistics.intervals import get_method
from audit.store import table_of, tables
from audit.tasks import get_task

INTERVAL = "auto"


def study_report(engine: Engine, whose: Whose = "both", study: int | None = None, design: str | None = None) -> Report:
    """The report of one study, or of all in the database; `whose` answers count: gold's, people's or both.

    Per study the sample drawn last counts, or the last one of `design`. Raises AuditError where nothing was run yet.
    """
    counted = count(engine, whose, study, design)
    return build_report(
        counted.cells, signature(engine, counted, whose), waiting=counted.waiting, interval=get_method(INTERVAL)
    )


def signature(engine: Engine, counted: Counted, whose: Whose) -> dict[str, Any]:
    """Versions, seeds, design, answers and estimator: with these, the same numbers come out again. Holds no times."""
    studies = [int(str(one["id"])) for one in counted.studies]
    group, verdict = table_of(tables.Group), table_of(tables.Verdict)
    relation, system = table_of(tables.Relation), table_of(tables.System)
    question, answer = table_of(tables.Question), table_of(tables.Answer)
    with engine.connect() as connection:
        relation_ids = select(group.c.relation_id).where(group.c.study_id.in_(studies)).distinct()
        system_ids = (
            select(verdict.c.system_id)
            .join(group, group.c.id == verdict.c.group_id)
            .where(group.c.study_id.in_(studies))
        )
        relations = connection.execute(
            select(relation).where(relation.c.id.in_(relation_ids)).order_by(relation.c.id)
        ).mappings()
        systems = connection.execute(
            select(system).where(system.c.id.in_(system_ids.distinct())).order_by(system.c.name, system.c.id)
        ).mappings()
        by_origin = (
            select(answer.c.origin, func.count())
            .join(question, question.c.id == answer.c.question_id)
            .where(answer.c.origin.in_(ALLOWED[whose]))
            .group_by(answer.c.origin)
        )
        answers = {str(row[0]): int(row[1]) for row in connection.execute(by_origin)}
        used = [
            {"name": row["name"], "version": row["version"], "params": json.loads(row["params"])} for row in relations
        ]
        run = [
            {"name": row["name"], "version": row["version"], "settings": json.loads(row["settings"])} for row in systems
        ]
        binary = answers.get("gold", 0) > 0 and _gold_lacks_a_label(connection, studies)
    return {
        "audit": audit.__version__,
        "studies": [dict(one) for one in counted.studies],
        "samples": [{name: value for name, value in one.items() if name != "id"} for one in counted.samples],
        "systems": run,
        "relations": used,
        "answers": {"whose": whose} | {origin: answers[origin] for origin in ORIGINS if origin in answers},
        "estimator": "longest settled beginning of each cell's draw",
        "interval": INTERVAL,
        "confidence": 0.95,
        "target": "the satisfied groups of this corpus",
        "notes": ["Gold has two classes, so every neutral output of a system counts as wrong wherever gold answers."]
        if binary
        else [],
    }


def _gold_lacks_a_label(connection: Any, studies: list[int]) -> bool:
    source, study = table_of(tables.Source), table_of(tables.Study)
    query = (
        select(study.c.task, source.c.gold)
        .join(source, source.c.study_id == study.c.id)
        .where(study.c.id.in_(studies), source.c.gold.is_not(None))
        .distinct()
    )
    found: dict[str, set[str]] = {}
    for task, label in connection.execute(query):
        found.setdefault(task, set()).add(label)
    return any(set(get_task(task).labels) - labels for task, labels in found.items())
