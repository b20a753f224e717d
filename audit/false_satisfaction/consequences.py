"""What hangs on a question: the drawn groups that its answer settles, and the rankings that it decides.

For the order in which adjudicators settle disputes. Each label that a question may get is tried: its groups are settled
as if it were the answer, their cells counted anew by the rule of settled beginnings, and best system and order of each
relation compared between the labels. Nothing here is part of judging, and nothing of it says which label favours whom:
that would sway whoever settles the dispute.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sqlalchemy import Connection, Engine, select

from audit.annotation.accounts import ADJUDICATORS, require
from audit.annotation.questions import Asked, labels_of
from audit.false_satisfaction.beginnings import Process, beginnings, read_process
from audit.false_satisfaction.cells import CELL, count
from audit.false_satisfaction.settling import Drawn, Known, Settled, drawn_groups, known_answers, settle_group
from audit.sampling.designs import INFORMATIVE
from audit.statistics.orders import TIED
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
    sr_observed: float
    """NaN where nothing was satisfied or violated."""
    informative: bool
    """Whether it was drawn for comparisons: its beginning is the relation's, and only differences mean something."""
    drawn: Sequence[Drawn]


@dataclass(frozen=True)
class Stakes:
    """The drawn groups of all cells, read once: what a question's answer can touch. Answers are not in it.

    Made by `read_stakes`; it holds until something is run or drawn.
    """

    cells: Sequence[_Cell]
    containing: Mapping[Asked, Sequence[Place]]
    """What is asked -> the groups of which a counted member asks it."""
    of_relation: Mapping[tuple[int, int], Sequence[int]]
    """(study, relation id) -> numbers of its cells."""


def read_stakes(engine: Engine, account_id: int) -> Stakes:
    """The drawn groups with what is observed of their cells, of the sample that each study's report uses.

    Raises NotAllowed for anyone but adjudicators and managers, and AuditError where nothing was checked yet.
    """
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
    counted = count(engine)
    drawn: dict[tuple[int, int, int], list[Drawn]] = {}
    designs = {int(str(one["study_id"])): one["design"] for one in counted.samples}
    with engine.connect() as connection:
        for sample in counted.samples:
            for one in drawn_groups(connection, [int(str(sample["id"]))]):
                key = (int(str(sample["study_id"])), one.relation_id, one.system_id)
                drawn.setdefault(key, []).append(one)
    cells: list[_Cell] = []
    containing: dict[Asked, list[Place]] = {}
    of_relation: dict[tuple[int, int], list[int]] = {}
    numbers = counted.cells[["satisfied", "violated"]].join(counted.keys[[*CELL, "relation", "system"]])
    for row in numbers.to_dict("records"):
        study, relation, system = (int(row[name]) for name in CELL)
        checked = int(row["satisfied"]) + int(row["violated"])
        some = drawn.get((study, relation, system), [])
        of_relation.setdefault((study, relation), []).append(len(cells))
        for place, one in enumerate(some):
            for asked in dict.fromkeys(one.asked(step) for step in one.steps):
                containing.setdefault(asked, []).append((len(cells), place))
        observed = int(row["satisfied"]) / checked if checked else float("nan")
        alone = designs.get(study) == INFORMATIVE
        cells.append(_Cell(study, relation, str(row["relation"]), str(row["system"]), observed, alone, some))
    return Stakes(cells, containing, of_relation)


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
    winners, orders = [], []
    for study, relation in dict.fromkeys((cell.study, cell.relation_id) for cell in touched):
        cells = stakes.of_relation[study, relation]
        rates = [_rates(stakes, cells, settled, process, trial) for trial in trials]
        name = stakes.cells[cells[0]].relation
        most = {stakes.cells[cell].system: stakes.cells[cell].sr_observed for cell in cells}
        best = [_best(one, {} if stakes.cells[cells[0]].informative else most) for one in rates]
        first = {one for one in best if one}
        if len(first) > 1:
            winners.append(Ranking(study, name, tuple(sorted({system for one in first for system in one}))))
        elif moved := _moved(rates):
            orders.append(Ranking(study, name, tuple(sorted(moved))))
    return Consequence(
        int(row.id),
        len(hang),
        tuple(dict.fromkeys(cell.relation for cell in touched)),
        tuple(sorted({cell.system for cell in touched})),
        tuple(winners),
        tuple(orders),
        row.priority,
    )


def _rates(
    stakes: Stakes,
    cells: Sequence[int],
    settled: list[list[Settled]],
    process: Process,
    trial: Mapping[Place, Settled],
) -> dict[str, float | None]:
    """SR_g of each system of a relation; None: not known. Of comparisons, the genuine groups of the beginning."""
    now = [[trial.get((cell, place), one) for place, one in enumerate(settled[cell])] for cell in cells]
    rates: dict[str, float | None] = {}
    for cell, beginning in zip(cells, beginnings(now, process, stakes.cells[cells[0]].informative), strict=True):
        of = stakes.cells[cell]
        genuine = beginning.judged - beginning.false
        if of.sr_observed != of.sr_observed:
            continue
        if of.informative:
            rates[of.system] = float(genuine)
        elif beginning.judged:
            rates[of.system] = of.sr_observed * genuine / beginning.judged
        else:
            # Whoever satisfies nothing has SR_g = 0 without being judged.
            rates[of.system] = 0.0 if of.sr_observed == 0 else None
    return rates


def _best(rates: Mapping[str, float | None], most: Mapping[str, float]) -> tuple[str, ...]:
    """The best systems; empty while one without a rate may reach them, with all that it satisfies (`most`)."""
    known = {system: rate for system, rate in rates.items() if rate is not None}
    top = max(known.values(), default=0.0)
    if len(rates) < 2 or any(most.get(system, 1.0) >= top - TIED for system in rates.keys() - known.keys()):
        return ()
    return tuple(sorted(system for system, rate in known.items() if top - rate <= TIED))


def _moved(rates: Sequence[Mapping[str, float | None]]) -> set[str]:
    """Systems of pairs that compare differently under two of the trials, of those whose rates are known in both."""
    found: set[str] = set()
    for one, other in combinations(rates[0], 2):
        signs = {_sign(a - b) for trial in rates if (a := trial[one]) is not None and (b := trial[other]) is not None}
        if len(signs) > 1:
            found |= {one, other}
    return found


def _sign(difference: float) -> int:
    return 0 if abs(difference) <= TIED else 1 if difference > 0 else -1


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
