"""Which groups of a draw count: what counts may not depend on what the answers were.

One wrong output settles a group as false; a true satisfaction needs an answer for each member. So a group that is false
by its source's answer would have waited for its follow-ups, had that answer been another one. Such a group is
*contingent*: it counts only where the answers that were not needed would have been there by now, because people are
asked for them and have got that far. A cell's estimate uses the longest beginning of its draw, in the order of ranks,
in which every group counts. Gold labels of sources under a relation that does not carry every label ask nobody: there
no beginning counts, and the draw gives bounds. So it is where people have settled more groups behind the beginning than
there are in it: what stays open for long is what is hard.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, or_, select

from audit.annotation.answers import PEOPLE
from audit.annotation.questions import ABOUT_OUTPUTS, Asked
from audit.false_satisfaction.settling import Settled, State, carries_all
from audit.store import table_of, tables


@dataclass(frozen=True)
class Beginning:
    """How one cell's draw stands, given in the order of ranks.

    judged, false: groups of the beginning that counts, and the false satisfactions among them.
    drawn, drawn_false, drawn_open: of the whole draw, whatever counts: groups, false ones, ones that wait.
    behind: groups behind the beginning that answers of people settled. first: what the first group that waits
    behind it waits for. counts: whether each group's state may count.
    """

    judged: int
    false: int
    drawn: int
    drawn_false: int
    drawn_open: int
    behind: int
    first: Asked | None
    counts: tuple[bool, ...]


@dataclass(frozen=True)
class Process:
    """How answers come about.

    passed: what is asked in questions that people are through with: they have all the votes they want, or were flagged.
    Whatever waits for one of them waits for an adjudicator, not for its turn. gold: by task, the labels that gold says;
    a relation that carries these carries whatever gold answers.
    """

    passed: frozenset[Asked] = frozenset()
    gold: Mapping[str, frozenset[str]] = field(default_factory=dict)


def beginnings(
    cells: Sequence[Sequence[Settled]], process: Process | None = None, together: bool = False
) -> list[Beginning]:
    """The beginnings of all cells of one relation in one sample, each given in the order of ranks.

    `together`: the cells are one list, as the design `informative` draws them, so they end together.
    """
    process = process or Process()
    groups = [one for cell in cells for one in cell]
    waiting = [one for one in groups if one.state is State.WAITING]
    reached = min((one.drawn.rank for one in waiting if not process.passed.issuperset(one.waits_for)), default=math.inf)
    steps = {step for one in groups for step, origin in enumerate(one.origins) if origin in PEOPLE}

    def counts(one: Settled) -> bool:
        if one.state is State.WAITING:
            return False
        if not one.contingent or _carried_by_gold(one, process.gold):
            return True
        if steps.issuperset(one.contingent):
            return one.drawn.rank < reached
        return not waiting and one.decided_by in PEOPLE

    counting = [tuple(counts(one) for one in cell) for cell in cells]
    ends = [
        next((one.drawn.rank for one, good in zip(cell, flags, strict=True) if not good), math.inf)
        for cell, flags in zip(cells, counting, strict=True)
    ]
    if together:
        ends = [min(ends, default=math.inf)] * len(cells)
    return [_beginning(*one, together) for one in zip(cells, ends, counting, strict=True)]


def read_process(connection: Connection) -> Process:
    """How answers come about in this database."""
    question, aside = table_of(tables.Question), table_of(tables.Aside)
    flagged = select(aside.c.question_id).where(aside.c.kind == "flag")
    query = select(question.c.task, question.c.input_id, question.c.output).where(
        question.c.kind.in_(ABOUT_OUTPUTS), or_(question.c.filled, question.c.id.in_(flagged))
    )
    passed = frozenset((str(task), int(input_id), output) for task, input_id, output in connection.execute(query))
    return Process(passed, gold_labels(connection))


def gold_labels(connection: Connection, studies: Sequence[int] | None = None) -> dict[str, frozenset[str]]:
    """The labels that the gold of these studies (ids; None: of all) has, by task."""
    source, study = table_of(tables.Source), table_of(tables.Study)
    query = (
        select(study.c.task, source.c.gold)
        .join(source, source.c.study_id == study.c.id)
        .where(source.c.gold.is_not(None))
        .distinct()
    )
    if studies is not None:
        query = query.where(study.c.id.in_(studies))
    labels: dict[str, set[str]] = {}
    for task, label in connection.execute(query):
        labels.setdefault(str(task), set()).add(str(label))
    return {task: frozenset(some) for task, some in labels.items()}


def _carried_by_gold(one: Settled, gold: Mapping[str, frozenset[str]]) -> bool:
    """Whether gold answered a group and the relation carries whatever gold could have said."""
    labels = gold.get(one.drawn.task)
    return bool(labels) and all(one.origins) and one.decided_by == "gold" and carries_all(one.drawn.carry, labels)


def _beginning(cell: Sequence[Settled], end: float, counts: tuple[bool, ...], together: bool) -> Beginning:
    inside = [one for one in cell if one.drawn.rank < end]
    by_people = [one.state is not State.WAITING and any(origin in PEOPLE for origin in one.origins) for one in cell]
    if not together and sum(by_people[len(inside) :]) > len(inside):
        # What stays open is what is hard, and the run before the first hard one is as biased as what is settled of all.
        inside = []
    rest = cell[len(inside) :]
    return Beginning(
        len(inside),
        sum(one.state is State.FALSE for one in inside),
        len(cell),
        sum(one.state is State.FALSE for one in cell),
        sum(one.state is State.WAITING for one in cell),
        sum(by_people[len(inside) :]),
        next((one.waits_for[0] for one in rest if one.waits_for), None),
        counts,
    )
