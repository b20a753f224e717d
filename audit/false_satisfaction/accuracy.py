"""How often systems are right about the sources themselves, where the corpus has gold labels."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, func, select

from audit.false_satisfaction.cells import Counted
from audit.store import table_of, tables
from audit.tasks import Output, get_task

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
    the task does not call wrong (`Task.is_wrong`), given the gold label as the only answer.
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
    # Counted where they are: only what failed is executed again, so that nobody has two outputs without an error.
    query = (
        select(output.c.system_id, source.c.gold, output.c.label, func.count())
        .join(output, output.c.input_id == source.c.input_id)
        .where(*labelled, output.c.error.is_(None), output.c.system_id.in_(list(names)))
        .group_by(output.c.system_id, source.c.gold, output.c.label)
    )
    counts = {id: [0, 0] for id in names}
    for system, gold, label, number in connection.execute(query):
        counts[system][0] += number
        counts[system][1] += 0 if get_task(task).is_wrong(Output(label), {gold}) else number
    return RightOutputs(study, sources, tuple(Answered(name, *counts[id]) for id, name in sorted(names.items())))
