"""Checked and judged groups by a property of their sources, such as the gold label: what a study calls topics."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, select

from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.cells import ALONE, Clusters, Counted, StudyRow
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
            study = row["id"]
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


def _names(values: list[str | None], by: str, study: StudyRow) -> tuple[str, ...]:
    """The topics in their order: labels as the task has them, numbers as numbers, all else by name."""
    names = {_text(value) for value in values if value is not None}
    if len(names) > MOST:
        raise AuditError(
            message("topics.many_values", by=by, corpus=study["corpus"], study=study["id"], count=len(names), most=MOST)
        )
    labels = [label for label in get_task(study["task"]).labels if label in names] if by == GOLD else []
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
    of_groups = pd.DataFrame(
        {
            "relation_id": checks.relation,
            "topic": code[np.searchsorted(sources, checks.source)],
            "source": checks.source,
            "cluster": clusters.of(checks.source),
        }
    )
    keys = counted.keys[counted.keys["study_id"] == study]
    name_of = {(row.relation_id, row.system_id): row for row in keys.itertuples()}
    cells: list[tuple[Any, ...]] = []
    sums: list[tuple[Any, ...]] = []
    for index, system in enumerate(checks.systems):
        violated = checks.outcome[:, index] == Outcome.VIOLATED
        in_rate = violated | (checks.outcome[:, index] == Outcome.SATISFIED)
        groups = of_groups[in_rate].assign(violated=violated[in_rate].astype(int))
        for (relation, topic), part in groups.groupby(["relation_id", "topic"]):
            key = name_of[relation, system]
            wrong, size = _by_cluster(part)
            numbers = (int(size.sum() - wrong.sum()), int(wrong.sum()), wrong, size)
            cells.append((study, key.task, key.relation, key.system, topic, *numbers))
        for topic, part in groups.groupby("topic"):
            label = next(row.system for row in name_of.values() if row.system_id == system)
            sums.append((label, topic, part["source"].nunique(), *_by_cluster(part)))
    columns = ["study", "task", "relation", "system", "topic", "satisfied", "violated", "wrong", "size"]
    return StudyTopics(
        study,
        names,
        sources,
        code,
        pd.DataFrame(cells, columns=columns),
        pd.DataFrame(sums, columns=["system", "topic", "sources", "violated", "groups"]),
    )


def _by_cluster(groups: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Violated groups, and groups, of each cluster."""
    counts = groups.groupby("cluster")["violated"].agg(["sum", "size"])
    return counts["sum"].to_numpy(), counts["size"].to_numpy()
