"""How often systems are right about the sources themselves, where these have gold labels or settled answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from sqlalchemy import Connection, Engine, func, select, true

from audit.false_satisfaction.cells import Counted
from audit.false_satisfaction.population import StudyRow
from audit.false_satisfaction.resolution import Whose, known_answers
from audit.sampling.samples import has_clear_gold
from audit.statistics.intervals import effective_size_of_sums
from audit.store import rows_among, snapshot
from audit.store.core import group, output, source
from audit.tasks import Output, get_task
from audit.tasks.entities import EntityTask, f1, matches, rates


@dataclass(frozen=True, slots=True)
class SystemAccuracy:
    """One system: of how many texts that have a label it has an output, and on how many of them it is right.

    `worth` is how many outputs would say as much for texts to come if each were of a document of its own; None: all.
    """

    system: str
    outputs: int
    right: int
    worth: float | None = None
    names: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Of entities, precision, recall and F1 by kind, and over `all` names."""


@dataclass(frozen=True, slots=True)
class RightOutputs:
    """One study and its systems by name; none where no source has a label, or people judge outputs one by one.

    Systems have outputs for the sources of groups: what no relation applied to was not executed.
    """

    study: int
    systems: tuple[SystemAccuracy, ...] = ()
    by: Literal["gold", "people"] = "gold"
    """Whose labels: the corpus's, or, where it has none, the answers of people that count. These are about sources of
    drawn groups alone: they compare systems on the same texts, and are no sample of the corpus."""


def right_outputs(database: Engine | Connection, counted: Counted, whose: Whose = "both") -> list[RightOutputs]:
    """The accuracy of every system on the sources of every study, as counts; a source that failed is no output.

    A text counts once, however many rows and groups it has, and not where rows give it different labels. Right is what
    `Task.is_wrong` does not call wrong, given the gold label as the only answer. A study without gold has the answers
    of people instead, unless `whose` is gold.
    """
    keys = counted.cells[["study_id", "system_id", "system"]].drop_duplicates()
    with snapshot(database) as connection:
        return [
            _of_study(connection, row, dict(keys[keys["study_id"] == row["id"]].values[:, 1:]), whose)
            for row in counted.studies
        ]


def _of_study(connection: Connection, row: StudyRow, systems: dict[int, str], whose: Whose) -> RightOutputs:
    study, task = row["id"], get_task(row["task"])
    by: Literal["gold", "people"] = "gold"
    answers: dict[int, list[tuple[str, str]]] = {}
    if task.question_kind == "pair":
        return RightOutputs(study)
    texts, rows = _by_gold(connection, study, row["imported"])
    if not texts and whose != "gold":
        by, (texts, rows) = "people", _by_people(connection, study, row["task"])
    if not texts:
        return RightOutputs(study)
    counts: dict[tuple[int, str | None], list[int]] = {}
    for system, cluster, number, allowed, said in rows:
        if isinstance(task, EntityTask):
            best = max(sorted(allowed), key=lambda answer: f1(*matches(str(said.label), answer)))
            answers.setdefault(system, []).extend([(str(said.label), best)] * number)
        of_cluster = counts.setdefault((system, cluster), [0, 0])
        of_cluster[0] += number
        of_cluster[1] += 0 if task.is_wrong(said, allowed) else number
    clusters: dict[int, list[tuple[int, int]]] = {id: [] for id in sorted(systems)}
    for (system, cluster), (number, hits) in counts.items():
        # Sources that name no cluster are each their own.
        alone = [(1, 1)] * hits + [(1, 0)] * (number - hits) if cluster is None else [(number, hits)]
        clusters.setdefault(system, []).extend(alone)
    right = tuple(_accuracy(str(systems[id]), clusters[id], rates(answers.get(id, ()))) for id in sorted(systems))
    return RightOutputs(study, right, by=by)


_Hits = list[tuple[int, str | None, int, frozenset[str], Output]]
"""System, cluster, and how many of its texts have this right answer and this output."""


def _by_gold(connection: Connection, study: int, imported: bool) -> tuple[int, _Hits]:
    """How many texts have a clear gold label, and what was said of them, counted where it is, which is twice as quick.
    Only what failed is executed again, so that nobody has two outputs without an error."""
    # In an imported study a row without groups is a follow-up that brought its own label.
    grouped = select(group.c.source_id).where(group.c.study_id == study)
    text = (
        select(source.c.input_id, func.min(source.c.gold).label("gold"), func.min(source.c.cluster).label("cluster"))
        .where(has_clear_gold(study), source.c.id.in_(grouped) if imported else true())
        .group_by(source.c.input_id)
        .subquery()
    )
    keys = (output.c.system_id, text.c.cluster, text.c.gold, output.c.label)
    query = (
        select(*keys, func.count())
        .join(text, text.c.input_id == output.c.input_id)
        .where(output.c.error.is_(None))
        .group_by(*keys)
        .order_by(*keys[:2])
    )
    texts = int(connection.execute(select(func.count()).select_from(text)).scalar_one())
    return texts, [
        (system, cluster, number, frozenset({gold}), Output(label))
        for system, cluster, gold, label, number in connection.execute(query)
    ]


def _by_people(connection: Connection, study: int, task: str) -> tuple[int, _Hits]:
    """How many texts people have settled, and what was said of each."""
    allowed = {
        input_id: answer.allowed
        for (of, input_id, about), answer in known_answers(connection, "people").items()
        if of == task and about is None
    }
    query = select(source.c.input_id, func.min(source.c.cluster)).where(source.c.study_id == study)
    clusters = dict(map(tuple, rows_among(connection, query.group_by(source.c.input_id), source.c.input_id, allowed)))
    columns = (output.c.system_id, output.c.input_id, output.c.label, output.c.score, output.c.text)
    said = rows_among(connection, select(*columns).where(output.c.error.is_(None)), output.c.input_id, clusters)
    return len(clusters), [(system, clusters[id], 1, allowed[id], Output(*values)) for system, id, *values in said]


def _accuracy(system: str, clusters: list[tuple[int, int]], names: Mapping[str, Mapping[str, float]]) -> SystemAccuracy:
    size, right = np.array(clusters, int).reshape(-1, 2).T
    worth = None if (size == 1).all() else effective_size_of_sums(right, size)
    return SystemAccuracy(system, int(size.sum()), int(right.sum()), worth, names)
