"""Checked and judged groups by a property of their sources, such as the gold label: what a study calls topics."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, select

from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.cells import ALONE, Clusters, Counted
from audit.messages import message
from audit.relations import Outcome
from audit.relations.registry import name_order
from audit.store import snapshot, table_of, tables
from audit.tasks import get_task

GOLD = "gold"
MOST = 50
"""Different values of a property that still are topics."""


@dataclass(frozen=True)
class StudyTopics:
    """The topics of one study; `names` in their order, codes count from 0, and what has no topic has the code after.

    `sources` (sources,) are ids, ascending, `code` (sources,) their topics. `cells` has a row per (relation, system,
    topic) with groups in a rate, columns study, task, relation, system, topic (code), satisfied and violated, wrong and
    size. `sums` has a row per (system, topic): columns system, topic, `sources` (how many have such a group),
    `violated` and `groups`, the latter two arrays over the clusters of the topic's sources, as
    `audit.statistics.intervals.clustered_rate` takes them; wrong and size of `cells` are the same of the cell.
    """

    study: int
    names: tuple[str, ...]
    sources: np.ndarray
    code: np.ndarray
    cells: pd.DataFrame
    sums: pd.DataFrame

    def topic_of(self, source: np.ndarray) -> np.ndarray:
        """Codes of the topics of these sources (ids)."""
        return np.asarray(self.code[np.searchsorted(self.sources, source)])


@dataclass(frozen=True)
class Topics:
    """The property and its topics by study; studies whose sources have no value of it are absent."""

    by: str
    studies: Mapping[int, StudyTopics]


def count_topics(database: Engine | Connection, counted: Counted, by: str, clusters: Clusters = ALONE) -> Topics:
    """Every group that is in a rate, by `gold` or by an attribute of its source.

    Raises UnknownName for an attribute that no source has (`gold`: AuditError), and AuditError for one with more than
    50 values.
    """
    topics_by_study: dict[int, StudyTopics] = {}
    attributes: set[str] = set()
    with snapshot(database) as connection:
        for row in counted.studies:
            study = int(str(row["id"]))
            sources, values, others = _values(connection, study, by)
            attributes |= others
            names = _names(values, by, row)
            if names:
                code_of = {name: index for index, name in enumerate(names)}
                code = np.array([len(names) if value is None else code_of[_text(value)] for value in values], int)
                topics_by_study[study] = _counted(counted, study, names, sources, code, clusters)
    if not topics_by_study:
        if by == GOLD:
            raise AuditError(message("topics.no_gold"), parameter="by")
        raise UnknownName("attribute", by, [GOLD, *attributes])
    return Topics(by, topics_by_study)


def _values(connection: Connection, study: int, by: str) -> tuple[np.ndarray, list[str | None], set[str]]:
    """Ids of a study's sources, ascending, their values, and the names of attributes that there are."""
    source = table_of(tables.Source)
    column = source.c.gold if by == GOLD else source.c.attributes
    rows = connection.execute(select(source.c.id, column).where(source.c.study_id == study).order_by(source.c.id)).all()
    ids = np.array([row[0] for row in rows], np.int64)
    if by == GOLD:
        return ids, [row[1] for row in rows], set()
    attributes = {str(name) for row in rows for name in row[1]}
    values = [row[1].get(by) for row in rows]
    return ids, [value if value and value.strip() else None for value in values], attributes


def _names(values: list[str | None], by: str, study: Mapping[str, object]) -> tuple[str, ...]:
    """The topics in their order: labels as the task has them, numbers as numbers, all else by name."""
    names = {_text(value) for value in values if value is not None}
    if len(names) > MOST:
        raise AuditError(
            message("topics.many_values", by=by, corpus=study["corpus"], study=study["id"], count=len(names), most=MOST)
        )
    labels = [label for label in get_task(str(study["task"])).labels if label in names] if by == GOLD else []
    return (*labels, *sorted(names - set(labels), key=name_order))


def _text(value: str) -> str:
    """A value as the name of a topic, on one line."""
    return " ".join(value.split())


def _counted(
    counted: Counted,
    study: int,
    names: tuple[str, ...],
    sources: np.ndarray,
    code: np.ndarray,
    clusters: Clusters,
) -> StudyTopics:
    checks = counted.checks.of(study)
    topics = len(names) + 1
    topic = code[np.searchsorted(sources, checks.source)]
    relation_ids, relation = np.unique(checks.relation, return_inverse=True)
    cluster = np.unique(clusters.of(checks.source), return_inverse=True)[1]
    number = int(cluster.max(initial=-1)) + 1
    keys = counted.keys[counted.keys["study_id"] == study]
    name_of = {(row.relation_id, row.system_id): row for row in keys.itertuples()}
    cells: list[dict[str, Any]] = []
    sums: list[dict[str, Any]] = []
    for index, system in enumerate(checks.systems):
        satisfied, violated = (checks.outcome[:, index] == kind for kind in (Outcome.SATISFIED, Outcome.VIOLATED))
        if not (satisfied.any() or violated.any()):
            continue
        pair, shape = relation * topics + topic, (len(relation_ids), topics)
        yes, no = (
            np.bincount(pair[rows], minlength=shape[0] * topics).reshape(shape) for rows in (satisfied, violated)
        )
        for row, column in np.argwhere(yes + no > 0).tolist():
            key = name_of[int(relation_ids[row]), system]
            cell: dict[str, Any] = {"study": study}
            cell |= {"task": key.task, "relation": key.relation, "system": key.system, "topic": column}
            in_topic = pair == row * topics + column
            parts = (
                np.bincount(cluster[in_topic & mask], minlength=number) for mask in (violated, violated | satisfied)
            )
            wrong, size = parts
            cell["wrong"], cell["size"] = wrong[size > 0], size[size > 0]
            cells.append(cell | {"satisfied": int(yes[row, column]), "violated": int(no[row, column])})
        for column in range(topics):
            own = (topic == column) & (violated | satisfied)
            if own.any():
                label = next(str(row.system) for row in name_of.values() if row.system_id == system)
                wrong, size = (np.bincount(cluster[mask], minlength=number) for mask in (own & violated, own))
                counts: dict[str, Any] = {"sources": len(np.unique(checks.source[own]))}
                counts |= {"violated": wrong[size > 0], "groups": size[size > 0]}
                sums.append({"system": label, "topic": column} | counts)
    columns = ["study", "task", "relation", "system", "topic", "satisfied", "violated", "wrong", "size"]
    return StudyTopics(
        study,
        names,
        sources,
        code,
        pd.DataFrame(cells, columns=columns),
        pd.DataFrame(sums, columns=["system", "topic", "sources", "violated", "groups"]),
    )
