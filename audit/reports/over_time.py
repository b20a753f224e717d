"""How numbers firmed up while people judged: rates and the ranking, and agreement."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Engine, select

from audit.annotation.ratings import Kind, Rated, stored_ratings
from audit.errors import AuditError
from audit.false_satisfaction.cells import CELL, Counted
from audit.false_satisfaction.clusters import Clusters, source_clusters
from audit.false_satisfaction.groups import (
    Comparison,
    Shared,
    checked_groups,
    comparisons,
    judged_groups,
    shared_groups,
)
from audit.false_satisfaction.history import POINTS, replay
from audit.false_satisfaction.settling import Whose
from audit.reports.agreement import agreement_report
from audit.reports.build import CommonBy, Groups, Report, build_report
from audit.statistics.agreement import Ratings
from audit.statistics.agreement.label_pairs import label_pairs
from audit.store import table_of, tables

RATES = ("judged", "sr_observed", "fs_rate", "fs_low", "fs_high", "sr_genuine", "sr_genuine_low", "sr_genuine_high")
PERIODS = 8
"""Stretches of the judging in which agreement is measured."""
LEAST = 10
"""Items a stretch has at least: agreement on fewer says nothing."""


def history_report(
    engine: Engine, whose: Whose = "both", study: int | None = None, points: int = POINTS
) -> dict[str, Any]:
    """Rates of every cell and the ranking of every relation at points of the history of judging, as a JSON document.

    `points` has how much people had given at each; `relations` has for each relation its systems in the order of the
    report, and for each system lists with one entry a point: those of `RATES`, and p_best. `winner` is the system with
    the highest p_best at the last point (None where the ranking is not known). At the last point all numbers are those
    of the report with default settings. Raises AuditError where there is nothing to report.
    """
    reached: list[dict[str, Any]] = []
    relations: dict[tuple[str, object, str], dict[str, Any]] = {}
    compared: Sequence[Comparison] | None = None
    checked: pd.DataFrame | None = None
    for point in replay(engine, whose, study, points):
        if checked is None or compared is None:  # what was checked, and what is compared, is the same at all points
            with engine.connect() as connection:
                clusters = source_clusters(connection, [int(str(one["id"])) for one in point.counted.studies])
            checked = checked_groups(point.counted, clusters)
            compared = comparisons(engine, point.counted)
        report = _report(point.counted, clusters, checked, shared_groups(point.counted, compared))
        for entry in report["relations"]:
            key = (entry["task"], entry["study"], entry["relation"])
            relations.setdefault(key, {"corpus": entry["corpus"], "systems": {}})
        for system, numbers, key in _systems(report):
            into = relations[key]["systems"].setdefault(system, {name: [] for name in (*RATES, "p_best")})
            for name, value in numbers.items():
                into[name].append(value)
        reached.append(
            {
                "judgements": point.judgements,
                "adjudications": point.adjudications,
                "until": point.until.isoformat() if point.until else None,
                "answers": point.answers,
                "judged": int(point.counted.cells["judged"].sum()),
            }
        )
    return {
        "points": reached,
        "relations": [
            {
                "task": task,
                "study": number,
                "corpus": one["corpus"],
                "relation": relation,
                "systems": [{"system": name} | lists for name, lists in one["systems"].items()],
                **_winner(one["systems"]),
            }
            for (task, number, relation), one in relations.items()
        ],
    }


def _report(counted: Counted, clusters: Clusters, checked: pd.DataFrame, shared: Sequence[Shared]) -> Report:
    """The report of the counts at a point, with default settings; without roll-ups of audits and notes."""
    common: CommonBy = {(one.task, one.study, one.relation): one.common for one in shared}
    return build_report(
        counted.cells.join(counted.keys[CELL]),
        {},
        groups=Groups(judged_groups(counted, clusters), checked, common=common),
    )


def _systems(report: Report) -> Iterator[tuple[str, dict[str, Any], tuple[str, Any, str]]]:
    chances = {
        (one["task"], one["study"], one["relation"], entry["system"]): entry["p_best"]
        for one in report["relations"]
        for entry in one["ranking"]
    }
    for cell in report["cells"]:
        key = (cell["task"], cell["study"], cell["relation"])
        numbers = {name: cell[name] for name in RATES} | {"p_best": chances.get((*key, cell["system"]))}
        yield cell["system"], numbers, key


def _winner(systems: dict[str, dict[str, list[Any]]]) -> dict[str, Any]:
    last = {name: lists["p_best"][-1] for name, lists in systems.items() if lists["p_best"][-1] is not None}
    if not last:
        return {"winner": None, "p_winner": None}
    best = max(last, key=lambda name: last[name])
    return {"winner": best, "p_winner": last[best]}


def agreement_over_time(rated: Rated, periods: int = PERIODS) -> dict[str, Any]:
    """The agreement of `agreement_report` with a part for each stretch of the judging, and which labels were mixed up.

    `rated.frame` is in the order in which ratings were given. Items that two or more judged are cut, in the order in
    which they were last judged, into at most `periods` stretches of equal length, of `LEAST` items or more; the values
    of `groups` are "1", "2", ... `confusions` has a row and a column a label, in the order of `labels`: how often one
    annotator gave the row's label where another gave the column's. Raises AuditError as `agreement_report` does.
    """
    parts = _stretches(rated.frame, periods)
    report = agreement_report(rated, by="period" if len(parts) else None, parts=parts if len(parts) else None)
    matrix = label_pairs(Ratings.of(rated.frame, rated.labels))
    return report | {"confusions": matrix.tolist()}


def _stretches(frame: pd.DataFrame, periods: int) -> pd.DataFrame:
    """Columns item and value (the number of its stretch, as text)."""
    placed = pd.DataFrame({"item": frame["item"].to_numpy(), "place": np.arange(len(frame))})
    found = placed.groupby("item")["place"].agg(["size", "max"])
    shared = found[found["size"] >= 2].sort_values("max")
    number = min(periods, len(shared) // LEAST)
    if number < 2:
        return pd.DataFrame({"item": [], "value": []})
    stretch = np.arange(len(shared)) * number // len(shared) + 1
    return pd.DataFrame({"item": shared.index, "value": stretch.astype(str)})


def stored_agreement(engine: Engine, by: int | None = None) -> list[dict[str, Any]]:
    """`agreement_over_time` for each task and kind of question that two people judged, with `task` and `kind`.

    For a manager (`by`, an account id; else NotAllowed) or for whoever has the database itself (None).
    """
    found = []
    for task, kind in _asked(engine):
        try:
            report = agreement_over_time(stored_ratings(engine, task, kind, by=by))
        except AuditError as problem:
            if type(problem) is not AuditError:
                raise
            continue  # fewer than two people have judged such questions
        found.append({"task": task, "kind": kind} | report)
    return found


def _asked(engine: Engine) -> Sequence[tuple[str, Kind]]:
    question = table_of(tables.Question)
    # About outputs or inputs first, then about groups.
    groups = question.c.kind == "group"
    query = select(question.c.task, question.c.kind).distinct().order_by(question.c.task, groups, question.c.kind)
    with engine.connect() as connection:
        return [(str(task), kind) for task, kind in connection.execute(query)]
