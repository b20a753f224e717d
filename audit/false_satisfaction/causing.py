"""Giving causes to false satisfactions: which ones come next, what can be proposed, and storing what somebody says.

Causes are given down each cell's list: its false satisfactions in the order of their rank, as far as its settled
beginning goes. That beginning is a simple random sample of the cell's satisfied groups, so the first false ones in it
are one of the cell's false satisfactions, and shares of causes estimate the cell's.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, false, select

from audit.annotation.accounts import ADJUDICATORS, require
from audit.annotation.causes import (
    TAKEN_BACK,
    Pair,
    add_cause,
    check_cause,
    last_given,
    standing_causes,
)
from audit.errors import Refused
from audit.false_satisfaction.consequences import Stakes, read_stakes
from audit.false_satisfaction.settling import State, drawn_groups, known_answers, settle_group
from audit.store import table_of, tables


@dataclass(frozen=True)
class Falses:
    """The false satisfactions of the settled beginnings, evenly down the lists of all cells, and those without a cause.

    Pairs are (group, system). Cells that were drawn for comparisons only have none: they are no sample of a cell.
    """

    all: tuple[Pair, ...]
    without: tuple[Pair, ...]


def false_satisfactions(engine: Engine, account_id: int, stakes: Stakes | None = None) -> Falses:
    """The false satisfactions to which causes can be given, the next ones first; by answers of people and gold.

    `stakes` (`audit.false_satisfaction.consequences`) saves reading the drawn groups again. Raises NotAllowed, and
    AuditError where nothing was checked yet.
    """
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        known, causes = known_answers(connection), standing_causes(connection)
    stakes = stakes or read_stakes(engine, account_id)
    found: list[tuple[int, int, Pair]] = []
    for cell in stakes.cells:
        if cell.informative:
            continue
        for one in cell.drawn:
            state = settle_group(one, known).state
            if state is State.WAITING:
                break
            if state is State.FALSE:
                found.append((one.rank, one.relation_id, (one.group_id, one.system_id)))
    # Cells share the numbers of their sources, so systems that are wrong on one group mostly stand side by side.
    pairs = tuple(pair for _, _, pair in sorted(found))
    return Falses(pairs, tuple(pair for pair in pairs if pair not in causes))


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
            raise Refused("this is not a false satisfaction any more; take the next one")
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


def proposed(wrong: Collection[bool | None], wanted: Collection[Collection[str]], given: Collection[str]) -> str | None:
    """The cause that can be derived, which is only ever proposed; None: look at it.

    `wrong` says of each counted member whether its output is wrong, `wanted` has the allowed labels of each wrong one,
    `given` every label that the system ever gave. Where none of the allowed ones of some member is among these, the
    system cannot be right: `label_range`. Else, where every output is wrong: `all_wrong`.

    >>> proposed([True, True], [{"neutral"}, {"neutral"}], {"positive", "negative"})
    'label_range'
    >>> proposed([True, True], [{"negative"}, {"negative"}], {"positive", "negative"})
    'all_wrong'
    >>> proposed([True, False], [{"negative"}], {"positive", "negative"}) is None
    True
    """
    if any(allowed and not set(allowed) & set(given) for allowed in wanted):
        return "label_range"
    return "all_wrong" if wrong and all(wrong) else None


def cause_of(engine: Engine, account_id: int, group_id: int, system_id: int) -> tuple[str, str | None] | None:
    """Code and comment of the cause that counts; None: none was given. Raises NotAllowed."""
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        found = standing_causes(connection, group_id).get((group_id, system_id))
        return None if found is None else (found.code, found.comment)


def _is_false(connection: Connection, group_id: int, system_id: int) -> bool:
    """Whether the group is drawn for this system and false by the answers of people and gold."""
    some = [one for one in drawn_groups(connection, None, [group_id]) if one.system_id == system_id]
    known = known_answers(connection, inputs={step.input_id for one in some for step in one.steps})
    return any(settle_group(one, known).state is State.FALSE for one in some)
