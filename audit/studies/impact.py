"""What hangs on a disputed question, the drawn groups whose state its answer decides; and causes of false ones.

For the order in which adjudicators settle disputes: each label that a question may get is tried. Nothing of it says
which label favours whom: that would sway the adjudicator.
"""

from collections import ChainMap
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from sqlalchemy import Engine, select

from audit.errors import Refused
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.questions import groups_with
from audit.false_satisfaction.resolution import (
    Drawn,
    KnownAnswer,
    State,
    drawn_groups,
    known_answers,
    satisfied_groups,
    settle_group,
)
from audit.judging.accounts import ADJUDICATORS, reading_as, require
from audit.judging.causes import TAKEN_BACK, Pair, add_cause, check_cause, current_causes, last_given
from audit.messages import message
from audit.store import rows_among, writing
from audit.store.core import group, question, relation, system, verdict
from audit.studies.browse import awaiting
from audit.tasks.questions import Subject, labels_of


class Consequence(NamedTuple):
    """What hangs on one question: how many drawn (group, system) pairs its answer decides, their relations and systems
    by name, and the best rank of a group that asks it."""

    question_id: int
    pairs: int = 0
    relations: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    priority: int | None = None

    @property
    def urgency(self) -> tuple[int, bool, int, int]:
        """Sorts the most consequential first: most pairs, then the best rank of a group."""
        return -self.pairs, self.priority is None, self.priority or 0, self.question_id


def consequences(engine: Engine, account_id: int, question_ids: Collection[int]) -> list[Consequence]:
    """Return what hangs on each of these questions, the most consequential first.

    A question about a group decides no label: `pairs` are those that audit its relation by it then. Raises NotAllowed.
    """
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        rows = list(rows_among(connection, select(question), question.c.id, sorted(set(question_ids))))
        names = dict(connection.execute(select(system.c.id, system.c.name)).all())
        checked = (
            select(verdict.c.group_id, relation.c.name, verdict.c.system_id)
            .join(group, group.c.id == verdict.c.group_id)
            .join(relation, relation.c.id == group.c.relation_id)
        )
        asked = sorted({row.group_id for row in rows if row.kind == "group"})
        checks = list(rows_among(connection, checked, verdict.c.group_id, asked))
        around = groups_with(connection, {row.input_id for row in rows if row.kind != "group"})
        groups = list(drawn_groups(connection, None, around))
        answers = known_answers(connection, inputs={step.input_id for of in groups for step in of.steps})
    having: dict[Subject, list[Drawn]] = {}
    for of in groups:
        for subject in dict.fromkeys(of.subject(step) for step in of.steps):
            having.setdefault(subject, []).append(of)
    result = []
    for row in rows:
        if row.kind == "group":
            decided = [(name, system_id) for id, name, system_id in checks if id == row.group_id]
        else:
            subject = (row.task, row.input_id, row.output)
            asking = having.get(subject, [])
            # Where answers cannot be listed, a label that a system gave may be right.
            said = {step.output.label or "" for of in asking for step in of.steps}
            trials = [
                ChainMap({subject: KnownAnswer(frozenset({label}), "adjudicated")}, answers)
                for label in {*labels_of(row.task, row.kind), *said}
            ]
            states = [{settle_group(of, trial).state for trial in trials} for of in asking]
            decided = [(of.relation, of.system_id) for of, tried in zip(asking, states, strict=True) if len(tried) > 1]
        relations = tuple(sorted({name for name, _ in decided}))
        systems = tuple(sorted({names[system_id] for _, system_id in decided}))
        result.append(Consequence(row.id, len(decided), relations, systems, row.priority))
    return sorted(result, key=lambda consequence: consequence.urgency)


# Giving causes to false satisfactions: which ones come next, and storing what people say.


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
