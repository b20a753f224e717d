"""What the audits of a report's samples found: follow-ups with an answer of their own, and groups that were checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from sqlalchemy import Connection

from audit.annotation.questions import Asked
from audit.false_satisfaction.auditing import (
    Answers,
    Checks,
    Versions,
    agreed_answers,
    audited_carries,
    audited_follow_ups,
    checked_answers,
    checks_of_cell,
    reach_of,
    rests_on_carried,
)
from audit.false_satisfaction.settling import PROTOCOL, Settled, State, Whose, known_answers
from audit.sampling.audits import audits_of
from audit.store.ids import LIMIT

CELL = ["study_id", "relation_id", "system_id"]


@dataclass(frozen=True)
class Audited:
    """Frames with the columns study_id, relation_id, system_id (a cell) and those named here, one row each."""

    cells: pd.DataFrame
    """A cell that was drawn: `rests_true` and `rests_false` (groups of its settled beginning that are true, or false,
    only by carried answers), `protocol_judged` and `protocol_false` (its settled beginning as the protocol left it)."""
    follow_ups: pd.DataFrame
    """An audited follow-up of a group: group_id, source and follow_up (input ids), wrong (0 or 1)."""
    checks: pd.DataFrame
    """A checked group: group_id, protocol and checked (1: a false satisfaction, by the protocol and once checked)."""
    answered: pd.DataFrame
    """An answer on which people agreed that an adjudicator checked, in the reach of the audit: source (that of the
    first group that has it; its id), wrong (0 or 1). Of no cell."""
    waiting: int
    """Questions that are open only to audit what relations carry."""
    checks_waiting: int
    """Agreed answers that wait for an adjudicator's check."""
    shares: Mapping[int, Mapping[str, float]]
    """Per study what is audited of its sample: the shares follow_ups and answers."""

    @property
    def answers(self) -> int:
        """How many answers were checked."""
        return len(self.answered)

    @property
    def answers_wrong(self) -> int:
        """How many of these were wrong."""
        return int(self.answered["wrong"].sum())


class Book:
    """Keeps what the audits found while the cells of a report are counted one after the other."""

    def __init__(
        self, connection: Connection, samples: Sequence[Mapping[str, object]], whose: Whose, known: Answers
    ) -> None:
        ids = [int(str(one["id"])) for one in samples]
        self._known = known
        self._reach = reach_of(connection, ids)
        audits = {int(str(one["study_id"])): audits_of(connection, int(str(one["id"]))) for one in samples}
        self._shares = {study: {"follow_ups": one.follow_ups, "answers": one.answers} for study, one in audits.items()}
        self._checked = any(one.answers for one in audits.values())
        protocol = known_answers(connection, whose, precedence=PROTOCOL) if self._checked else known
        self._versions = Versions.of(protocol, known)
        self._cells: list[tuple[object, ...]] = []
        self._follow_ups: list[tuple[object, ...]] = []
        self._checks: list[tuple[object, ...]] = []
        self._answers: dict[Asked, tuple[int, bool]] = {}
        self._waiting: set[Asked] = set()
        self._checks_waiting: set[Asked] = set()

    def add(self, cell: tuple[object, ...], some: Sequence[Settled], judged: int, false: int) -> None:
        """One cell's groups in the order of their ranks, of which the first `judged` count, `false` of them false."""
        resting = [one.state for one in some[:judged] if rests_on_carried(one, self._known)]
        # Without spot checks the protocol's answers are those that count: nothing to settle a second time.
        checks = Checks(judged, false, ())
        if self._checked:
            checks = checks_of_cell((one.drawn for one in some[:judged]), self._versions, self._reach)
        rests_false = sum(state is State.FALSE for state in resting)
        self._cells.append((*cell, len(resting) - rests_false, rests_false, checks.judged, checks.false))
        self._checks += [(*cell, group, int(before), int(after)) for group, before, after in checks.checked]
        self._follow_ups += [
            (*cell, one.group_id, one.source, one.follow_up, int(one.wrong))
            for one in audited_carries(some, self._known, self._reach)
        ]
        for one in some:
            drawn = one.drawn
            if self._reach.asks(drawn):
                self._waiting.update(audited_follow_ups(one))
            if self._reach.checks(drawn):
                self._checks_waiting.update(agreed_answers(drawn, self._known))
                for asked, wrong in checked_answers(drawn, self._versions):
                    self._answers.setdefault(asked, (drawn.group_id // LIMIT**2, wrong))

    def close(self, asked: set[Asked]) -> Audited:
        """All cells together; `asked` are the questions that drawn groups wait for: those are no audits."""
        columns = ["rests_true", "rests_false", "protocol_judged", "protocol_false"]
        return Audited(
            pd.DataFrame(self._cells, columns=[*CELL, *columns]),
            pd.DataFrame(self._follow_ups, columns=[*CELL, "group_id", "source", "follow_up", "wrong"]),
            pd.DataFrame(self._checks, columns=[*CELL, "group_id", "protocol", "checked"]),
            pd.DataFrame(list(self._answers.values()), columns=["source", "wrong"]).astype(int),
            len(self._waiting - asked),
            len(self._checks_waiting),
            self._shares,
        )
