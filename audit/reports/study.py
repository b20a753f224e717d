"""`audit report`: the report of what a database holds, with the signature that reproduces it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from sqlalchemy import Engine, func, select

import audit
from audit.annotation.answers import ORIGINS
from audit.false_satisfaction.cells import Counted, count
from audit.false_satisfaction.groups import Shared, checked_groups, judged_groups, shared_groups
from audit.false_satisfaction.settling import ALLOWED, Whose
from audit.reports.build import Groups, Report, build_report
from audit.reports.certainty import pair_entries
from audit.reports.preference import Weights
from audit.statistics import bootstrap, posterior
from audit.statistics.intervals import Target, get_method
from audit.statistics.paired import paired_differences
from audit.store import table_of, tables
from audit.tasks import get_task

INTERVAL = "auto"


@dataclass(frozen=True)
class Evidence:
    """What a report is computed from, read from the database once: methods, targets and weights can be tried on it.

    `made_from` is the part of the signature that is known already; `checked` is needed for the target `population`.
    """

    counted: Counted
    judged: pd.DataFrame
    checked: pd.DataFrame | None
    shared: Sequence[Shared]
    made_from: Mapping[str, Any]


def study_report(
    engine: Engine,
    whose: Whose = "both",
    study: int | None = None,
    design: str | None = None,
    *,
    interval: str = INTERVAL,
    target: Target = "corpus",
    delta: float = 0.0,
    weights: Weights | None = None,
) -> Report:
    """The report of one study, or of all in the database; `whose` answers count: gold's, people's or both.

    Per study the sample drawn last counts, or the last one of `design`. `interval` names a method of
    `audit.statistics.intervals.METHODS`; `target`, `delta` and `weights` as in `build_report`. Raises AuditError where
    nothing was run yet, and UnknownName for a method or a relation of `weights`.
    """
    get_method(interval)
    found = evidence(engine, whose, study, design, target)
    return report_of(found, interval=interval, target=target, delta=delta, weights=weights)


def evidence(
    engine: Engine,
    whose: Whose = "both",
    study: int | None = None,
    design: str | None = None,
    target: Target = "corpus",
) -> Evidence:
    """What `report_of` needs from the database; arguments as in `study_report`.

    Raises AuditError where nothing was run.
    """
    counted = count(engine, whose, study, design)
    return Evidence(
        counted,
        judged_groups(engine, counted),
        checked_groups(engine, counted) if target == "population" else None,
        shared_groups(engine, counted),
        signature(engine, counted, whose),
    )


def report_of(
    found: Evidence,
    *,
    interval: str = INTERVAL,
    target: Target = "corpus",
    delta: float = 0.0,
    weights: Weights | None = None,
) -> Report:
    """The report of what was read; arguments as in `study_report`, `target` the one that `found` was read for."""
    pairs: dict[tuple[str, object, str], list[dict[str, Any]]] = {
        (one.task, one.study, one.relation): pair_entries(
            one.systems, paired_differences(one.genuine, one.decides, target)
        )
        for one in found.shared
    }
    return build_report(
        found.counted.cells,
        dict(found.made_from) | how(interval, target, delta, weights),
        waiting=found.counted.waiting,
        interval=get_method(interval),
        target=target,
        delta=delta,
        groups=Groups(found.judged, found.checked, pairs),
        weights=weights,
    )


def how(interval: str | None, target: Target, delta: float, weights: Weights | None) -> dict[str, Any]:
    """The part of a signature that says how a report was computed; the notes come after it."""
    found: dict[str, Any] = {
        "interval": interval,
        "confidence": None if interval is None else 0.95,
        "target": target,
        "delta": delta,
        "draws": {"posterior": posterior.DRAWS, "bootstrap": bootstrap.DRAWS, "seed": 0},
    }
    return found | ({} if weights is None else {"weights": weights.source})


def signature(engine: Engine, counted: Counted, whose: Whose) -> dict[str, Any]:
    """Versions, seeds, design and answers: with these and `how`, the same numbers come out again. Holds no times."""
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
