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
from sqlalchemy import Connection, Engine, delete, false, select

from audit.annotation.accounts import ADJUDICATORS, require
from audit.annotation.causes import TAKEN_BACK, Pair, add_cause, check_cause, current_causes, last_given
from audit.annotation.questions import Subject, labels_of
from audit.errors import Refused
from audit.false_satisfaction.browse import awaiting
from audit.false_satisfaction.cells import CELL, count_drawn, states_of
from audit.false_satisfaction.groups import Comparison, comparisons
from audit.false_satisfaction.resolution import (
    Drawn,
    KnownAnswer,
    Process,
    Settled,
    State,
    beginnings,
    drawn_groups,
    known_answers,
    read_process,
    settle_group,
    supposing,
)
from audit.messages import message
from audit.sampling.designs import INFORMATIVE
from audit.statistics.comparison import Common
from audit.statistics.orders import changing_places
from audit.store import rows_among, table_of, tables

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
    containing: Mapping[Subject, Sequence[Place]]
    """Subject -> the groups of which a counted member has it."""
    compared: Mapping[tuple[int, int], tuple[Comparison, Sequence[int]]]
    """(study, relation id) -> how its systems are compared, and numbers of its cells, whose groups come in this order.
    A relation under which one system alone was checked is not there."""


def read_stakes(engine: Engine, account_id: int) -> Stakes:
    """The drawn groups with what is observed of their cells, of the sample that each study's report uses.

    Raises NotAllowed for anyone but adjudicators and managers, and AuditError where nothing was checked yet.
    """
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
    counted, drawn_cells = count_drawn(engine)
    drawn = {cell.key: [settled.drawn for settled in cell.settled] for cell in drawn_cells}
    informative = {sample["study_id"] for sample in counted.samples if sample["design"] == INFORMATIVE}
    cells: list[_Cell] = []
    containing: dict[Subject, list[Place]] = {}
    number: dict[tuple[int, int, int], int] = {}
    for row in counted.keys[[*CELL, "relation", "system"]].to_dict("records"):
        study, relation, system = (int(row[name]) for name in CELL)
        groups = drawn.get((study, relation, system), [])
        number[study, relation, system] = len(cells)
        for position, group in enumerate(groups):
            for subject in dict.fromkeys(group.subject(step) for step in group.steps):
                containing.setdefault(subject, []).append((len(cells), position))
        cells.append(_Cell(study, relation, str(row["relation"]), str(row["system"]), study in informative, groups))
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
        question = table_of(tables.Question)
        columns = ("id", "task", "kind", "input_id", "output", "group_id", "priority")
        query = select(*(question.c[name] for name in columns))
        rows = list(rows_among(connection, query, question.c.id, sorted(set(question_ids))))
        answers, process = known_answers(connection), read_process(connection)
        checked_by = _checked_by(connection, {row.group_id for row in rows if row.kind == "group"})
    if stakes is None:
        stakes = read_stakes(engine, account_id)
    settled = [[settle_group(group, answers) for group in cell.drawn] for cell in stakes.cells]
    result = []
    for row in rows:
        if row.kind == "group":
            pairs = checked_by.get(row.group_id, [])
            relations, systems = (tuple(sorted({pair[side] for pair in pairs})) for side in (0, 1))
            result.append(Consequence(row.id, len(pairs), relations, systems, priority=row.priority))
        else:
            result.append(_of_answer(stakes, settled, answers, process, row))
    return sorted(result, key=lambda consequence: consequence.urgency)


def _of_answer(
    stakes: Stakes,
    settled: list[list[Settled]],
    current: Mapping[Subject, KnownAnswer],
    process: Process,
    row: Any,
) -> Consequence:
    """Try every label as the answer about an input, or about an input and an output."""
    subject: Subject = (row.task, row.input_id, row.output)
    places = stakes.containing.get(subject, ())
    trials: list[dict[Place, Settled]] = []
    for label in labels_of(row.task, row.kind):
        answers = supposing(current, {subject: KnownAnswer(frozenset({label}), "adjudicated")})
        trials.append({(cell, at): settle_group(stakes.cells[cell].drawn[at], answers) for cell, at in places})
    decisive = [pair for pair in places if len({trial[pair].state for trial in trials}) > 1]
    touched = [stakes.cells[cell] for cell, _ in decisive]
    # Labels that make the same of every group, as two wrong ones mostly do, are one trial.
    different = {
        tuple(
            (outcome.state, outcome.waits_for, outcome.origins, outcome.contingent) for outcome in trial.values()
        ): trial
        for trial in trials
    }
    winners, orders = [], []
    for key in dict.fromkeys((cell.study, cell.relation_id) for cell in touched):
        if key not in stakes.compared:
            continue
        comparison, cells = stakes.compared[key]
        commons = [_common(comparison, cells, settled, process, trial) for trial in different.values()]
        first = {best for common in commons if (best := tuple(common.orders["best_genuine"]))}
        if len(first) > 1:
            systems = sorted({system for order in first for system in order})
            winners.append(Ranking(key[0], comparison.relation, tuple(systems)))
        elif moved := changing_places([_genuine_rates(common) for common in commons]):
            orders.append(Ranking(key[0], comparison.relation, tuple(sorted(moved))))
    return Consequence(
        row.id,
        len(decisive),
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
    now = [[trial.get((cell, position), group) for position, group in enumerate(settled[cell])] for cell in cells]
    of_cells = beginnings(now, process.of_study(comparison.study), comparison.design == INFORMATIVE)
    return comparison.common(**states_of(zip(now, of_cells, strict=True)))


def _genuine_rates(common: Common) -> dict[str, float]:
    """SR_g of the systems that have it, up to a constant."""
    _, genuine = common.rates(relative=True)
    return {system: float(rate) for system, rate in zip(common.systems, genuine, strict=True) if not np.isnan(rate)}


def _checked_by(connection: Connection, groups: Collection[int]) -> dict[int, list[tuple[str, str]]]:
    """Of each of these groups, the names of its relation and of each system that was checked on it."""
    verdict, group, relation, system = (
        table_of(model) for model in (tables.Verdict, tables.Group, tables.Relation, tables.System)
    )
    query = (
        select(verdict.c.group_id, relation.c.name, system.c.name)
        .join(group, group.c.id == verdict.c.group_id)
        .join(relation, relation.c.id == group.c.relation_id)
        .join(system, system.c.id == verdict.c.system_id)
    )
    pairs: dict[int, list[tuple[str, str]]] = {}
    for id, relation_name, system_name in rows_among(connection, query, verdict.c.group_id, sorted(groups)):
        pairs.setdefault(id, []).append((relation_name, system_name))
    return pairs


# Giving causes to false satisfactions: which ones come next, what can be proposed, and storing what somebody says.
#
# Causes are given down each cell's list: its false satisfactions in the order of their rank, as far as its settled
# beginning goes. That beginning is a simple random sample of the cell's satisfied groups, so the first false ones in it
# are one of the cell's false satisfactions, and shares of causes estimate the cell's.


@dataclass(frozen=True)
class FalseSatisfactions:
    """The false satisfactions of the settled beginnings, evenly down the lists of all cells, and those without a cause.

    Pairs are (group, system). Cells that were drawn for comparisons only have none: they are no sample of a cell.
    """

    all: tuple[Pair, ...]
    without: tuple[Pair, ...]


def false_satisfactions(engine: Engine, account_id: int, stakes: Stakes | None = None) -> FalseSatisfactions:
    """The false satisfactions to which causes can be given, the next ones first; by answers of people and gold.

    An adjudicator is not given those of which something awaits a decision, as a spot check does: they come later.
    `stakes` (`audit.false_satisfaction.impact`) saves reading the drawn groups again. Raises NotAllowed, and
    AuditError where nothing was checked yet.
    """
    with engine.connect() as connection:
        account = require(connection, account_id, *ADJUDICATORS)
        answers, causes = known_answers(connection), current_causes(connection)
    stakes = stakes or read_stakes(engine, account_id)
    ranked: list[tuple[int, int, Pair]] = []
    for cell in stakes.cells:
        if cell.informative:
            continue
        for group in cell.drawn:
            state = settle_group(group, answers).state
            if state is State.WAITING:
                break
            if state is State.FALSE:
                ranked.append((group.rank, group.relation_id, (group.group_id, group.system_id)))
    # Cells share the numbers of their sources, so systems that are wrong on one group mostly stand side by side.
    pairs = tuple(pair for _, _, pair in sorted(ranked))
    without = tuple(pair for pair in pairs if pair not in causes)
    if account.role == "adjudicator":
        with engine.connect() as connection:
            hidden = awaiting(connection, {group_id for group_id, _ in without})
        without = tuple(pair for pair in without if pair[0] not in hidden)
    return FalseSatisfactions(pairs, without)


def give_cause(engine: Engine, account_id: int, group_id: int, system_id: int, code: str, comment: str = "") -> int:
    """Store why this group is falsely satisfied by this system; returns the row's id. The last one given counts.

    Raises NotAllowed, and Refused for an unknown code, `other` without a comment, and a pair that is no drawn false
    satisfaction (any more).
    """
    with engine.begin() as connection:
        # A write first: SQLite then takes its lock here.
        connection.execute(delete(table_of(tables.Lease)).where(false()))
        require(connection, account_id, *ADJUDICATORS)
        check_cause(code, comment)
        if not _is_false(connection, group_id, system_id):
            raise Refused(message("refused.not_false"))
        return add_cause(connection, account_id, (group_id, system_id), code, comment.strip())


def take_back_cause(engine: Engine, account_id: int) -> Pair | None:
    """Take this account's last cause back and return its (group, system); None where there is none. Raises NotAllowed.

    Both rows stay in the history; a cause that somebody gave before counts again.
    """
    with engine.begin() as connection:
        connection.execute(delete(table_of(tables.Lease)).where(false()))
        require(connection, account_id, *ADJUDICATORS)
        pair = last_given(connection, account_id)
        if pair is not None:
            add_cause(connection, account_id, pair, TAKEN_BACK, None)
        return pair


def labels_given(engine: Engine, account_id: int, system_id: int) -> frozenset[str]:
    """Every label that a system ever gave in this database: its range, as far as one can see.

    It reads all outputs of the system, so keep what it returns. Raises NotAllowed.
    """
    output = table_of(tables.Output)
    query = select(output.c.label).where(output.c.system_id == system_id, output.c.label.is_not(None)).distinct()
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        return frozenset(str(row[0]) for row in connection.execute(query))


def proposed(
    wrong: Collection[bool | None], wanted: Collection[Collection[str]], labels: Collection[str]
) -> str | None:
    """The cause that can be derived, which is only ever proposed; None: look at it.

    `wrong` says of each counted member whether its output is wrong, `allowed` has the allowed labels of each wrong one,
    `labels` every label that the system ever gave. Where none of the allowed ones of some member is among these, the
    system cannot be right: `label_range`. Else, where every output is wrong: `all_wrong`.

    >>> proposed([True, True], [{"neutral"}, {"neutral"}], {"positive", "negative"})
    'label_range'
    >>> proposed([True, True], [{"negative"}, {"negative"}], {"positive", "negative"})
    'all_wrong'
    >>> proposed([True, False], [{"negative"}], {"positive", "negative"}) is None
    True
    """
    if any(allowed and not set(allowed) & set(labels) for allowed in wanted):
        return "label_range"
    return "all_wrong" if wrong and all(wrong) else None


def cause_of(engine: Engine, account_id: int, group_id: int, system_id: int) -> tuple[str, str | None] | None:
    """Code and comment of the cause that counts; None: none was given. Raises NotAllowed."""
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        cause = current_causes(connection, group_id).get((group_id, system_id))
        return None if cause is None else (cause.code, cause.comment)


def _is_false(connection: Connection, group_id: int, system_id: int) -> bool:
    """Whether the group is drawn for this system and false by the answers of people and gold."""
    groups = [group for group in drawn_groups(connection, None, [group_id]) if group.system_id == system_id]
    answers = known_answers(connection, inputs={step.input_id for group in groups for step in group.steps})
    return any(settle_group(group, answers).state is State.FALSE for group in groups)
