"""Audits of a drawn group: follow-ups asked about although an answer is carried to them, and answers checked again.

Neither unsettles a group. A follow-up is audited only in a group in which every member has an answer, so that its own
answer takes the place of the carried one and no member is left open; and while it waits or is disputed the carried
answer stands. A spot check may correct an answer, and its groups are then settled anew with it.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, func, select

from audit.annotation.questions import Asked
from audit.false_satisfaction.settling import (
    CARRIED,
    Drawn,
    Known,
    Settled,
    State,
    carried_to,
    settle_group,
    source_of,
)
from audit.sampling.audits import audits_of
from audit.store import table_of, tables
from audit.tasks import get_task

Cell = tuple[int, int, int]
"""(sample, relation, system)"""
Answers = Mapping[Asked, Known]


@dataclass(frozen=True)
class Reach:
    """The last rank of each cell's draw whose follow-ups, or whose answers, are audited; absent: none is."""

    follow_ups: Mapping[Cell, int] = field(default_factory=dict)
    answers: Mapping[Cell, int] = field(default_factory=dict)

    def asks(self, drawn: Drawn) -> bool:
        """Whether carried answers of this group are audited."""
        return drawn.rank <= self.follow_ups.get(_cell(drawn), 0)

    def checks(self, drawn: Drawn) -> bool:
        """Whether agreed answers of this group are checked."""
        return drawn.rank <= self.answers.get(_cell(drawn), 0)


def reach_of(connection: Connection, samples: Iterable[int], relations: Collection[int] | None = None) -> Reach:
    """How far the audits of these samples reach: the first ceil(share x drawn) groups of each cell's draw."""
    draw = table_of(tables.Draw)
    follow_ups: dict[Cell, int] = {}
    answers: dict[Cell, int] = {}
    for sample in samples:
        audits = audits_of(connection, sample)
        if not (audits.follow_ups or audits.answers):
            continue
        query = (
            select(draw.c.relation_id, draw.c.system_id, func.max(draw.c.rank))
            .where(draw.c.sample_id == sample)
            .group_by(draw.c.relation_id, draw.c.system_id)
        )
        if relations is not None:
            query = query.where(draw.c.relation_id.in_(sorted(relations)))
        for relation, system, number in connection.execute(query):
            follow_ups[sample, relation, system] = beginning(audits.follow_ups, number)
            answers[sample, relation, system] = beginning(audits.answers, number)
    return Reach(follow_ups, answers)


def beginning(share: float, drawn: int) -> int:
    """How many of `drawn` groups an audit of this share has.

    >>> beginning(0.1, 60), beginning(0.1, 61), beginning(0.0, 60)
    (6, 7, 0)
    """
    return math.ceil(round(share * drawn, 9))


def audited_follow_ups(settled: Settled) -> list[Asked]:
    """What to ask about in an audited group: those to which an answer is carried, once every member has one."""
    if not all(settled.origins):
        return []
    steps = zip(settled.drawn.steps, settled.origins, strict=True)
    return [settled.drawn.asked(step) for step, origin in steps if origin.startswith(CARRIED)]


def agreed_answers(drawn: Drawn, known: Answers) -> list[Asked]:
    """Questions of a group whose answer is what people agreed on, and nobody adjudicated: what a spot check asks."""
    asked = [drawn.asked(step) for step in drawn.steps]
    return [one for one in asked if (found := known.get(one)) and found.origin == "people"]


def rests_on_carried(settled: Settled, known: Answers) -> bool:
    """Whether another carried answer would change the state of a settled group.

    A true satisfaction rests on all its answers; a false one only where no output is wrong by a direct answer.
    """
    if settled.state is State.WAITING or not any(origin.startswith(CARRIED) for origin in settled.origins):
        return False
    if settled.state is State.TRUE:
        return True
    task = get_task(settled.drawn.task)
    direct = ((step, known.get(settled.drawn.asked(step))) for step in settled.drawn.steps)
    return not any(answer and task.is_wrong(step.output, answer.allowed) for step, answer in direct)


@dataclass(frozen=True, slots=True)
class Carried:
    """A follow-up of a group that has an answer of its own beside the carried one; `wrong`: they share no label."""

    group_id: int
    source: int
    follow_up: int
    wrong: bool


def audited_carries(some: Sequence[Settled], known: Answers, reach: Reach) -> list[Carried]:
    """What the audit of one cell's follow-ups found; the groups are given in the order of their ranks.

    It stops at the first group that is not settled, or that has a carried answer beside which there is none yet:
    counting whatever happens to be answered would favour follow-ups that other groups ask about.
    """
    found: list[Carried] = []
    for settled in some:
        drawn = settled.drawn
        if settled.state is State.WAITING or not reach.asks(drawn):
            break
        source = source_of(drawn)
        about_source = known.get(drawn.asked(source)) if source else None
        if source is None or not all(settled.origins):
            continue
        here = []
        for step in drawn.steps:
            carried = carried_to(drawn, step, source, about_source)
            if carried is None:
                continue
            own = known.get(drawn.asked(step))
            if own is None:
                return found
            wrong = own.allowed.isdisjoint(carried.allowed)
            here.append(Carried(drawn.group_id, source.input_id, step.input_id, wrong))
        found += here
    return found


@dataclass(frozen=True)
class Versions:
    """The answers as the protocol left them, as they count now, and of those only the adjudicated ones."""

    protocol: Answers
    known: Answers
    adjudicated: Answers

    @classmethod
    def of(cls, protocol: Answers, known: Answers) -> "Versions":
        """From all answers in both precedences."""
        return cls(protocol, known, {key: one for key, one in known.items() if one.origin == "adjudicated"})


@dataclass(frozen=True, slots=True)
class Checks:
    """The spot checks of one cell: its settled beginning by the protocol, and how much of that was checked."""

    judged: int
    false: int
    checked: tuple[tuple[int, bool, bool], ...]
    """(group, false by the protocol, false once checked) of each checked group, in the order of ranks."""


def checks_of_cell(drawn: Iterable[Drawn], answers: Versions, reach: Reach) -> Checks:
    """Count one cell's groups, given in the order of their ranks, by the protocol's answers and by checked ones.

    A group is checked when adjudicated answers alone settle it and no member has another direct answer that the
    protocol used and nobody checked. The checked groups are the longest beginning of such groups, within the reach of
    the audit and within the settled beginning: which groups are in it does not depend on what the checks found.
    """
    judged = false = 0
    checked: list[tuple[int, bool, bool]] = []
    going = True
    for one in drawn:
        state = settle_group(one, answers.protocol).state
        if state is State.WAITING:
            break
        judged += 1
        false += state is State.FALSE
        after = _checked(one, answers) if going and reach.checks(one) else State.WAITING
        going = going and after is not State.WAITING
        if going:
            checked.append((one.group_id, state is State.FALSE, after is State.FALSE))
    return Checks(judged, false, tuple(checked))


def _checked(drawn: Drawn, answers: Versions) -> State:
    """The state by adjudicated answers alone; WAITING where something is left to check."""
    settled = settle_group(drawn, answers.adjudicated)
    for step, origin in zip(drawn.steps, settled.origins, strict=True):
        if origin.startswith(CARRIED) and drawn.asked(step) in answers.known:
            return State.WAITING
    return settled.state


def checked_answers(drawn: Drawn, answers: Versions) -> Iterator[tuple[Asked, bool]]:
    """Each answer of a group that people agreed on and an adjudicator checked: what was asked, whether it was wrong.

    Wrong: the adjudicator allows no label that people agreed on.
    """
    for step in drawn.steps:
        key = drawn.asked(step)
        before, after = answers.protocol.get(key), answers.adjudicated.get(key)
        if before is not None and after is not None and before.origin == "people":
            yield key, before.allowed.isdisjoint(after.allowed)


def _cell(drawn: Drawn) -> Cell:
    return drawn.sample_id, drawn.relation_id, drawn.system_id
