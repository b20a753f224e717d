"""Causes of false satisfactions: which ones come next, and storing what people say."""

from typing import NamedTuple

import numpy as np
from sqlalchemy import Engine

from audit.errors import Refused
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.resolution import (
    State,
    known_answers,
    satisfied_groups,
    settle_group,
)
from audit.judging.accounts import ADJUDICATORS, reading_as, require
from audit.judging.causes import TAKEN_BACK, Pair, add_cause, check_cause, current_causes, last_given
from audit.messages import message
from audit.store import writing
from audit.studies.browse import awaiting


class FalseSatisfactions(NamedTuple):
    """The false satisfactions that count, evenly down the lists of all cells, and those without a cause: pairs of
    (group, system)."""

    all: tuple[Pair, ...]
    without: tuple[Pair, ...]


def false_satisfactions(engine: Engine, account_id: int) -> FalseSatisfactions:
    """Return the false satisfactions to which causes can be given, the next ones first; by answers of people and gold.

    An adjudicator is not given those of which something awaits a decision: they come later. Raises NotAllowed, and
    AuditError where nothing was checked yet.
    """
    with engine.connect() as connection:
        account = require(connection, account_id, *ADJUDICATORS)
        causes = current_causes(connection)
    counted = count(engine)
    u = np.concatenate([population.u for population in counted.populations.values()])
    at = np.flatnonzero(counted.judged.false == 1)
    # Cells share the numbers of their sources, so systems that are wrong on one group mostly stand side by side.
    at = at[np.lexsort((counted.system[at], counted.group[at], u[counted.judged.source[at]]))]
    pairs = tuple(zip(counted.group[at].tolist(), counted.system[at].tolist(), strict=True))
    without, hidden = [pair for pair in pairs if pair not in causes], set[int]()
    if account.role == "adjudicator":
        with engine.connect() as connection:
            hidden = awaiting(connection, {group_id for group_id, _ in without})
    return FalseSatisfactions(pairs, tuple(pair for pair in without if pair[0] not in hidden))


def give_cause(engine: Engine, account_id: int, group_id: int, system_id: int, code: str, comment: str = "") -> int:
    """Store why this group is falsely satisfied by this system; return the row's id. The last one given counts.

    Raises NotAllowed, and Refused for an unknown code, `other` without a comment, and a pair that is no false
    satisfaction (any more).
    """
    with writing(engine) as connection:
        require(connection, account_id, *ADJUDICATORS)
        check_cause(code, comment)
        groups = list(satisfied_groups(connection, system=system_id, groups=[group_id]))
        answers = known_answers(connection, inputs={step.input_id for of in groups for step in of.steps})
        if not any(settle_group(of, answers).state is State.FALSE for of in groups):
            raise Refused(message("refused.not_false"))
        return add_cause(connection, account_id, (group_id, system_id), code, comment.strip())


def take_back_cause(engine: Engine, account_id: int) -> Pair | None:
    """Take this account's last cause back and return its (group, system); None where there is none. Raises NotAllowed.

    Both rows stay in the history; a cause that somebody gave before counts again.
    """
    with writing(engine) as connection:
        require(connection, account_id, *ADJUDICATORS)
        if (pair := last_given(connection, account_id)) is not None:
            add_cause(connection, account_id, pair, TAKEN_BACK, None)
        return pair


def cause_of(engine: Engine, account_id: int, group_id: int, system_id: int) -> tuple[str, str | None] | None:
    """Return code and comment of the cause that counts; None: none was given. Raises NotAllowed."""
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        cause = current_causes(connection, group_id).get((group_id, system_id))
        return None if cause is None else (cause.code, cause.comment)
