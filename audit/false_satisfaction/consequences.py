"""What hangs on a question: the drawn groups that its answer settles, and the rankings that it decides.

For the order in which adjudicators settle disputes. Each label that a question may get is tried: its groups are settled
as if it were the answer, their cells counted anew by the rule of settled beginnings, and best system and order of each
relation, over its common groups as in a report, compared between the labels. Nothing here is part of judging, and
nothing of it says which label favours whom: that would sway whoever settles the dispute.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine, select

from audit.annotation.accounts import ADJUDICATORS, require
from audit.annotation.questions import Asked, labels_of
from audit.false_satisfaction.beginnings import Process, beginnings, read_process
from audit.false_satisfaction.cells import CELL, count
from audit.false_satisfaction.groups import Comparison, comparisons
from audit.false_satisfaction.settling import Drawn, Known, Settled, drawn_groups, known_answers, settle_group
from audit.sampling.designs import INFORMATIVE
from audit.statistics.comparison import Common
from audit.statistics.orders import changing_places
from audit.store import pieces, table_of, tables

Place = tuple[int, int]
"""Number of a cell, and of a group in its draw."""


@dataclass(frozen=True)
class Ranking:
    """A relation of a study whose ranking hangs on a question, and the systems that it could put first."""

    study: int
    relation: str
    systems: tuple[str, ...]


@dataclass(frozen=True)
class Consequence:
    """What hangs on one question. `pairs` counts drawn (group, system) pairs whose state its answer decides.

    `relations` and `systems` are those of the pairs, by name. `winners` are relations whose best system depends on the
    answer, `orders` those of which only the order does; of these `systems` are the ones that change places.
    """

    question_id: int
    pairs: int = 0
    relations: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    winners: tuple[Ranking, ...] = ()
    orders: tuple[Ranking, ...] = ()
    priority: int | None = None

    @property
    def urgency(self) -> tuple[int, int, int, bool, int, int]:
        """Sorts the most consequential first: winners, then orders, then pairs, then the best rank of a group."""
        rank = self.priority
        return -len(self.winners), -len(self.orders), -self.pairs, rank is None, rank or 0, self.question_id


@dataclass(frozen=True)
class _Cell:
    study: int
    relation_id: int
    relation: str
    system: str
    informative: bool
    """Whether it was drawn for comparisons."""
    drawn: Sequence[Drawn]


@dataclass(frozen=True)
class Stakes:
    """The drawn groups of all cells, read once: what a question's answer can touch. Answers are not in it.

    Made by `read_stakes`; it holds until something is run or drawn.
    """

    cells: Sequence[_Cell]
    containing: Mapping[Asked, Sequence[Place]]
    """What is asked -> the groups of which a counted member asks it."""
    compared: Mapping[tuple[int, int], tuple[Comparison, Sequence[int]]]
    """(study, relation id) -> how its systems are compared, and numbers of its cells, whose groups come in this order.
    A relation under which one system alone was checked is not there."""


def read_stakes(engine: Engine, account_id: int) -> Stakes:
    """The drawn groups with what is observed of their cells, of the sample that each study's report uses.

    Raises NotAllowed for anyone but adjudicators and managers, and AuditError where nothing was checked yet.
    """
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
    counted = count(engine)
    drawn: dict[tuple[int, int, int], list[Drawn]] = {}
    with engine.connect() as connection:
        for sample in counted.samples:
            for one in drawn_groups(connection, [int(str(sample["id"]))]):
                key = (int(str(sample["study_id"])), one.relation_id, one.system_id)
                drawn.setdefault(key, []).append(one)
    informative = {int(str(one["study_id"])) for one in counted.samples if one["design"] == INFORMATIVE}
    cells: list[_Cell] = []
    containing: dict[Asked, list[Place]] = {}
    number: dict[tuple[int, int, int], int] = {}
    for row in counted.keys[[*CELL, "relation", "system"]].to_dict("records"):
        study, relation, system = (int(row[name]) for name in CELL)
        some = drawn.get((study, relation, system), [])
        number[study, relation, system] = len(cells)
        for place, one in enumerate(some):
            for asked in dict.fromkeys(one.asked(step) for step in one.steps):
                containing.setdefault(asked, []).append((len(cells), place))
        cells.append(_Cell(study, relation, str(row["relation"]), str(row["system"]), study in informative, some))
    compared = {}
    for comparison in comparisons(engine, counted):
        study, relation = comparison.study, comparison.of.relation
        systems = counted.drawn["system_id"].iloc[comparison.drawn].drop_duplicates()
        compared[study, relation] = comparison, [number[study, relation, int(system)] for system in systems]
    return Stakes(cells, containing, compared)


def consequences(
    engine: Engine, account_id: int, question_ids: Collection[int], stakes: Stakes | None = None
) -> list[Consequence]:
    """What hangs on each of these questions, the most consequential first.

    Answers count as in a report by people and gold. A question about a group decides no label: `pairs` are those that
    audit its relation by it then, and no ranking hangs on it. `stakes` saves reading the groups again. Raises
    NotAllowed, and AuditError where nothing was checked yet.
    """
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        rows = _questions(connection, question_ids)
        known, process = known_answers(connection), read_process(connection)
        audited = _audited(connection, {int(row.group_id) for row in rows if row.kind == "group"})
    if stakes is None:
        stakes = read_stakes(engine, account_id)
    settled = [[settle_group(one, known) for one in cell.drawn] for cell in stakes.cells]
    found = []
    for row in rows:
        if row.kind == "group":
            pairs, relations, systems = audited.get(int(row.group_id), (0, (), ()))
            found.append(Consequence(int(row.id), pairs, relations, systems, priority=row.priority))
        else:
            found.append(_of_answer(stakes, settled, known, process, row))
    return sorted(found, key=lambda one: one.urgency)


def _of_answer(
    stakes: Stakes,
    settled: list[list[Settled]],
    known: Mapping[Asked, Known],
    process: Process,
    row: Any,
) -> Consequence:
    """Try every label as the answer about an input, or about an input and an output."""
    asked: Asked = (str(row.task), int(row.input_id), row.output)
    places = stakes.containing.get(asked, ())
    trials: list[dict[Place, Settled]] = []
    for label in labels_of(row.task, row.kind):
        # Settling reads the answers about a group's members only, so a copy of those is enough.
        told = Known(frozenset({label}), "adjudicated")
        trial: dict[Place, Settled] = {}
        for cell, place in places:
            one = stakes.cells[cell].drawn[place]
            about = [one.asked(step) for step in one.steps]
            answers = {key: known[key] for key in about if key in known}
            trial[cell, place] = settle_group(one, answers | {asked: told})
        trials.append(trial)
    hang = [at for at in places if len({trial[at].state for trial in trials}) > 1]
    touched = [stakes.cells[cell] for cell, _ in hang]
    # Labels that make the same of every group, as two wrong ones mostly do, are one trial.
    different = {
        tuple((one.state, one.waits_for, one.origins, one.contingent) for one in trial.values()): trial
        for trial in trials
    }
    winners, orders = [], []
    for key in dict.fromkeys((cell.study, cell.relation_id) for cell in touched):
        if key not in stakes.compared:
            continue
        comparison, cells = stakes.compared[key]
        commons = [_common(comparison, cells, settled, process, trial) for trial in different.values()]
        first = {best for one in commons if (best := tuple(one.orders["best_genuine"]))}
        if len(first) > 1:
            systems = sorted({system for one in first for system in one})
            winners.append(Ranking(key[0], comparison.relation, tuple(systems)))
        elif moved := changing_places([_known(one) for one in commons]):
            orders.append(Ranking(key[0], comparison.relation, tuple(sorted(moved))))
    return Consequence(
        int(row.id),
        len(hang),
        tuple(dict.fromkeys(cell.relation for cell in touched)),
        tuple(sorted({cell.system for cell in touched})),
        tuple(winners),
        tuple(orders),
        row.priority,
    )


def _common(
    comparison: Comparison,
    cells: Sequence[int],
    settled: list[list[Settled]],
    process: Process,
    trial: Mapping[Place, Settled],
) -> Common:
    """The common groups of a relation, with the settled groups of a trial in the place of those of today."""
    now = [[trial.get((cell, place), one) for place, one in enumerate(settled[cell])] for cell in cells]
    found = beginnings(now, process, comparison.design == INFORMATIVE)
    return comparison.common(
        np.array([int(one.state) for cell in now for one in cell], int),
        np.array([good for one in found for good in one.counts], bool),
        np.array([place < one.judged for one in found for place in range(len(one.counts))], bool),
    )


def _known(common: Common) -> dict[str, float]:
    """SR_g of the systems that have it, up to a constant."""
    _, genuine = common.rates(relative=True)
    return {system: float(rate) for system, rate in zip(common.systems, genuine, strict=True) if not np.isnan(rate)}


def _questions(connection: Connection, ids: Collection[int]) -> list[Any]:
    question = table_of(tables.Question)
    columns = [question.c[name] for name in ("id", "task", "kind", "input_id", "output", "group_id", "priority")]
    return [
        row
        for piece in pieces(sorted(set(ids)))
        for row in connection.execute(select(*columns).where(question.c.id.in_(piece)))
    ]


def _audited(
    connection: Connection, groups: Collection[int]
) -> dict[int, tuple[int, tuple[str, ...], tuple[str, ...]]]:
    """Of groups that people are asked about: how many drawn pairs they stand for, under which relations and systems."""
    draw, relation, system = (table_of(model) for model in (tables.AuditDraw, tables.Relation, tables.System))
    found: dict[int, list[tuple[str, str]]] = {}
    for piece in pieces(sorted(groups)):
        query = (
            select(draw.c.group_id, relation.c.name, system.c.name)
            .join(relation, relation.c.id == draw.c.relation_id)
            .join(system, system.c.id == draw.c.system_id)
            .where(draw.c.group_id.in_(piece))
        )
        for group, of, by in connection.execute(query):
            found.setdefault(int(group), []).append((str(of), str(by)))
    return {
        group: (len(pairs), tuple(sorted({of for of, _ in pairs})), tuple(sorted({by for _, by in pairs})))
        for group, pairs in found.items()
    }
