"""How often systems are right about the sources themselves, where the corpus has gold labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, Engine, case, func, select

from audit.false_satisfaction.cells import Counted
from audit.messages import message
from audit.sampling.designs import has_clear_gold
from audit.statistics.intervals import effective_size_of_sums
from audit.store import snapshot, table_of, tables
from audit.tasks import get_task

NO_GOLD = message("no_rate.no_gold")
PAIRS = "outputs of this task are judged one by one: a corpus has references, which are a proxy and never gold"


@dataclass(frozen=True, slots=True)
class SystemAccuracy:
    """One system: how many sources with a gold label it has an output for, and on how many of them it is right.

    `worth` is how many outputs would say as much for sources to come if each were of a document of its own; None: all.
    """

    system: str
    outputs: int
    right: int
    worth: float | None = None


@dataclass(frozen=True, slots=True)
class RightOutputs:
    """One study: how many of its sources have a gold label, and its systems by name; or the reason why there is none.

    Systems have outputs for the sources of groups: what no relation applied to was not executed.
    """

    study: int
    sources: int
    systems: tuple[SystemAccuracy, ...]
    reason: str | None = None


def right_outputs(database: Engine | Connection, counted: Counted) -> list[RightOutputs]:
    """The accuracy of every system on the gold labels of every study, as counts; a source that failed is no output.

    A row of the corpus counts once, and not where rows give its text different labels. Right is what
    `Task.is_wrong` does not call wrong, given the gold label as the only answer: the same label.
    """
    keys = counted.keys[["study_id", "system_id", "system"]].drop_duplicates()
    with snapshot(database) as connection:
        return [
            _of_study(connection, study["id"], study["task"], keys[keys["study_id"] == study["id"]].values)
            for study in counted.studies
        ]


def _of_study(connection: Connection, study: int, task: str, systems: Sequence[Sequence[object]]) -> RightOutputs:
    if get_task(task).question_kind == "pair":
        return RightOutputs(study, 0, (), PAIRS)
    source, output = table_of(tables.Source), table_of(tables.Output)
    labelled = (has_clear_gold(study),)
    sources = int(connection.execute(select(func.count()).select_from(source).where(*labelled)).scalar_one())
    if not sources:
        return RightOutputs(study, 0, (), NO_GOLD)
    names = {int(str(id)): str(name) for _, id, name in systems}
    # Counted where they are, and by system alone, which is twice as quick. Only what failed is executed again, so that
    # nobody has two outputs without an error. A task of inputs calls wrong what has not an allowed label.
    right = func.sum(case((output.c.label == source.c.gold, 1), else_=0))
    query = (
        select(output.c.system_id, source.c.cluster, func.count(), right)
        .join(source, source.c.input_id == output.c.input_id)
        .where(*labelled, output.c.error.is_(None))
        .group_by(output.c.system_id, source.c.cluster)
    )
    counts: dict[int, list[tuple[int, int]]] = {}
    for system, cluster, number, hits in connection.execute(query):
        # Sources that name no cluster are each their own.
        alone = [(1, 1)] * hits + [(1, 0)] * (number - hits) if cluster is None else [(number, hits)]
        counts.setdefault(system, []).extend(alone)
    of_systems = (_accuracy(name, counts.get(id, [])) for id, name in sorted(names.items()))
    return RightOutputs(study, sources, tuple(of_systems))


def _accuracy(system: str, clusters: list[tuple[int, int]]) -> SystemAccuracy:
    size, right = np.array(clusters, int).reshape(-1, 2).T
    worth = None if (size == 1).all() else effective_size_of_sums(right, size)
    return SystemAccuracy(system, int(size.sum()), int(right.sum()), worth)
