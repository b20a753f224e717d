"""How often systems are right about the sources themselves, where the corpus has gold labels."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, case, func, select

from audit.false_satisfaction.cells import Counted
from audit.store import table_of, tables
from audit.tasks import get_task

NO_GOLD = "the corpus has no gold labels"
PAIRS = "outputs of this task are judged one by one: a corpus has references, which are a proxy and never gold"


@dataclass(frozen=True, slots=True)
class Answered:
    """One system: how many sources with a gold label it has an output for, and on how many of them it is right."""

    system: str
    outputs: int
    right: int


@dataclass(frozen=True, slots=True)
class RightOutputs:
    """One study: how many of its sources have a gold label, and its systems by name; or the reason why there is none.

    Systems have outputs for the sources of groups: what no relation applied to was not executed.
    """

    study: int
    sources: int
    systems: tuple[Answered, ...]
    reason: str | None = None


def right_outputs(engine: Engine, counted: Counted) -> list[RightOutputs]:
    """The accuracy of every system on the gold labels of every study, as counts; a source that failed is no output.

    A row of the corpus counts once, so of two rows with the same text and different labels one is wrong. Right is what
    `Task.is_wrong` does not call wrong, given the gold label as the only answer: the same label.
    """
    keys = counted.keys[["study_id", "system_id", "system"]].drop_duplicates()
    with engine.connect() as connection:
        return [
            _of_study(connection, int(str(one["id"])), str(one["task"]), keys[keys["study_id"] == one["id"]].values)
            for one in counted.studies
        ]


def _of_study(connection: Connection, study: int, task: str, systems: Sequence[Sequence[object]]) -> RightOutputs:
    if get_task(task).question_kind == "pair":
        return RightOutputs(study, 0, (), PAIRS)
    source, output = table_of(tables.Source), table_of(tables.Output)
    labelled = (source.c.study_id == study, source.c.gold.is_not(None))
    sources = int(connection.execute(select(func.count()).select_from(source).where(*labelled)).scalar_one())
    if not sources:
        return RightOutputs(study, 0, (), NO_GOLD)
    names = {int(str(id)): str(name) for _, id, name in systems}
    # Counted where they are, and by system alone, which is twice as quick. Only what failed is executed again, so that
    # nobody has two outputs without an error. A task of inputs calls wrong what has not an allowed label.
    right = func.sum(case((output.c.label == source.c.gold, 1), else_=0))
    query = (
        select(output.c.system_id, func.count(), right)
        .join(source, source.c.input_id == output.c.input_id)
        .where(*labelled, output.c.error.is_(None))
        .group_by(output.c.system_id)
    )
    counts = {system: (number, hits) for system, number, hits in connection.execute(query)}
    of_systems = (Answered(name, *map(int, counts.get(id, (0, 0)))) for id, name in sorted(names.items()))
    return RightOutputs(study, sources, tuple(of_systems))
