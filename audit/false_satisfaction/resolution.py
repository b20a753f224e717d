"""The rule: which drawn groups are settled, which of them are false, and which questions the others wait for.

One wrong output settles a group as false; a true satisfaction needs an answer for each of its members. A member's
answer is the direct one (adjudicated before people before gold), or else what its relation carries from the source's.

An answer is about an input, or, where a task has people judge each output (kind `pair`), about an input and the very
output that the system gave: one answer then holds for all systems that gave that output. What is carried to a follow-up
says something of its output only where the two outputs correspond. They do in every drawn group: a satisfied group of
the relations between texts is exactly one whose outputs correspond, Replace(sum(Ts)) = sum(Tf).
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

from sqlalchemy import Connection, String, Subquery, and_, cast, literal, select

from audit.registry import warn_once
from audit.relations import COUNTED, Outcome, find_relation
from audit.relations.base import Carry, Seen, declared, nothing
from audit.relations.composition import parts_of
from audit.sampling.samples import drawn_pairs
from audit.store import rows_among
from audit.store.brought import absent
from audit.store.core import answer, group, input_table, member, output, question, relation, source, study, verdict
from audit.tasks import Input, Output, base_of, get_task
from audit.tasks.questions import ABOUT_OUTPUTS, ORIGINS, Subject, asks_pairs

CARRIED = "carried"
"""Begins the origin of an answer that a relation carries from the source: `carried people`."""
Whose = Literal["both", "people", "gold"]
ALLOWED: Mapping[Whose, tuple[str, ...]] = {"gold": ("gold",), "people": ("adjudicated", "people"), "both": ORIGINS}


class State(IntEnum):
    """The state of a satisfied group of one system; a waiting one that was given up is open."""

    TRUE = 0
    FALSE = 1
    WAITING = 2


@dataclass(frozen=True, slots=True)
class Step:
    """One counted member of a group with the output of the group's system."""

    role: str
    input_id: int
    output: Output
    input: Input | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """One group of one cell, drawn or not, and what its relation carries.

    `corresponds`: whether what is carried says something of the follow-ups' outputs. Only of a violated group, which is
    never drawn but can be looked at, whose task has people judge each output, it does not.
    """

    task: str
    relation: str
    relation_id: int
    system_id: int
    rank: int
    group_id: int
    steps: tuple[Step, ...]
    carry: Carry
    sample_id: int = 0
    corresponds: bool = True

    def subject(self, step: Step) -> Subject:
        """The subject of the question whose answer says whether this step's output is right."""
        return self.task, step.input_id, step.output.text if asks_pairs(self.task) else None

    @property
    def source(self) -> Step | None:
        """The source among the steps."""
        return next((step for step in self.steps if step.role == "source"), None)


@dataclass(frozen=True, slots=True)
class Settled:
    """A group, its state, the subjects of the questions it waits for, and the step that made it false. `origins` says
    where each counted member's answer came from: an origin, `carried ORIGIN`, or `` (none)."""

    drawn: Drawn
    state: State
    waits_for: tuple[Subject, ...] = ()
    wrong_step: int | None = None
    origins: tuple[str, ...] = ()

    @property
    def decided_by(self) -> str:
        """The origin of the answer that settled it: the wrong output's, or the source's."""
        return self.origins[self.wrong_step or 0].removeprefix(f"{CARRIED} ")


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """The answer that counts for a question, and its origin."""

    allowed: frozenset[str]
    origin: str


Answers = Mapping[Subject, KnownAnswer]


def settle_group(drawn: Drawn, answers: Answers) -> Settled:
    """Apply the rule to one group."""
    about_source, counting = drawn.source, [answer_of(drawn, step, answers) for step in drawn.steps]
    origins = tuple(counts.origin if counts else "" for counts in counting)
    if (number := wrong_step(drawn, [counts.allowed if counts else None for counts in counting])) is not None:
        return Settled(drawn, State.FALSE, (), number, origins)
    if all(origins):
        return Settled(drawn, State.TRUE, origins=origins)
    # The answer about the source may be carried, so follow-ups wait for it first.
    asks_all = never_carries(drawn.carry, drawn.task) or (about_source and drawn.subject(about_source) in answers)
    waiting = (step for step, origin in zip(drawn.steps, origins, strict=True) if not origin)
    waits_for = dict.fromkeys(drawn.subject(step) for step in waiting if asks_all or step is about_source)
    return Settled(drawn, State.WAITING, tuple(waits_for), origins=origins)


def wrong_step(drawn: Drawn, right: Sequence[Set[str] | None]) -> int | None:
    """Return the number of the first step whose output is wrong, which makes the group a false satisfaction, given the
    labels that are `right` about each step; None, and no label, say nothing of a step."""
    is_wrong, steps = get_task(drawn.task).is_wrong, zip(drawn.steps, right, strict=True)
    return next(
        (number for number, (step, labels) in enumerate(steps) if labels and is_wrong(step.output, labels)), None
    )


def answer_of(drawn: Drawn, step: Step, answers: Answers) -> KnownAnswer | None:
    """The answer about one step: the direct one, or else what the relation carries from the source's."""
    return answers.get(drawn.subject(step)) or carried_to(drawn, step, answers)


def carried_to(drawn: Drawn, step: Step, answers: Answers) -> KnownAnswer | None:
    """What the relation carries from the answer about the source to this step, whatever is known of it directly."""
    of = drawn.source
    if of is None or step is of or not drawn.corresponds or (of_source := answers.get(drawn.subject(of))) is None:
        return None
    allowed = carried_labels(drawn, step, of, of_source.allowed)
    return KnownAnswer(allowed, f"{CARRIED} {of_source.origin}") if allowed else None


def carried_labels(drawn: Drawn, step: Step, of: Step, labels: Set[str]) -> frozenset[str] | None:
    """The labels that the relation carries to a step where these are right about its source; None: it carries none."""
    if not drawn.carry.reads:
        return drawn.carry(labels)
    return drawn.carry(
        labels,
        *(
            None if member_step.input is None else Seen(member_step.input, member_step.output)
            for member_step in (of, step)
        ),
    )


# What relations carry.


def carry_of(task: str, name: str, params: str = "{}") -> Carry:
    """What a relation carries: as its parameters declare, else as the registered one does; nothing where there is
    neither."""
    if params != "{}" and (carry := _declared(params)) is not None:
        return carry
    registered = find_relation(base_of(task), name)
    for part in parts_of(name):
        if missing := absent("relation", f"{base_of(task)}/{part}"):
            warn_once(missing)
    return registered.carry if registered else nothing


@cache
def _declared(params: str) -> Carry | None:
    carries = json.loads(params).get("carries")
    return None if carries is None else declared(carries)


def carries_of(connection: Connection) -> dict[int, Carry]:
    """What each relation carries, by its id."""
    rows = connection.execute(select(relation.c.id, relation.c.task, relation.c.name, relation.c.params))
    return {id: carry_of(*key) for id, *key in rows}


@cache
def carries_all(carry: Carry, labels: frozenset[str]) -> bool:
    """Whether each of these labels about the source is carried, without looking at texts."""
    return not carry.reads and all(carry({label}) is not None for label in labels)


@cache
def never_carries(carry: Carry, task: str) -> bool:
    """Whether no answer at all is carried, so that every member must be asked about."""
    return not carry.reads and all(carry({label}) is None for label in get_task(task).labels)


def carrying(connection: Connection) -> list[int]:
    """Return the relations (ids) that carry every answer about a source to its follow-ups, so that the answer settles
    their groups whatever it is."""
    tasks = dict(connection.execute(select(relation.c.id, relation.c.task)).all())
    carries = carries_of(connection).items()
    return [id for id, carry in carries if carries_all(carry, frozenset(get_task(tasks[id]).labels))]


# Answers and groups as they are stored.


def known_answers(
    connection: Connection, whose: Whose = "both", inputs: Collection[int] | None = None
) -> dict[Subject, KnownAnswer]:
    """The answer that counts, by subject, from the origins of `whose`; about these inputs (None: about all).

    Of several origins the first in `ORIGINS` counts.
    """
    columns = (question.c.task, question.c.input_id, question.c.output, answer.c.origin)
    query = (
        select(*columns, cast(answer.c.allowed, String))
        .join(answer, answer.c.question_id == question.c.id)
        .where(question.c.kind.in_(ABOUT_OUTPUTS), answer.c.origin.in_(ALLOWED[whose]))
    )
    about = question.c.input_id
    rows: Iterable[Any] = (
        connection.execute(query) if inputs is None else rows_among(connection, query, about, sorted(inputs))
    )
    first_last = sorted(rows, key=lambda row: ORIGINS.index(row[3]), reverse=True)
    return {(task, id, said): _answer(allowed, origin) for task, id, said, origin, allowed in first_last}


@cache
def _answer(allowed: str, origin: str) -> KnownAnswer:
    return KnownAnswer(frozenset(json.loads(allowed)), origin)


def drawn_groups(
    connection: Connection, studies: Iterable[int] | None, group_ids: Collection[int] | None = None
) -> Iterator[Drawn]:
    """Drawn groups of these studies (None: of all), or those of `group_ids` among them.

    They come study by study, cell by cell, in the order of their rank.
    """
    pairs = drawn_pairs(carrying(connection))
    conditions = [] if studies is None else [pairs.c.sample_id.in_(list(studies))]
    yield from _groups(connection, pairs, conditions, group_ids, "sample_id", "relation_id", "system_id", "rank")


def satisfied_groups(
    connection: Connection,
    study_id: int | None = None,
    relation_id: int | None = None,
    outcome: Outcome = Outcome.SATISFIED,
    *,
    system: int | None = None,
    groups: Collection[int] | None = None,
) -> Iterator[Drawn]:
    """Every satisfied group, of a study, a relation, a system or among `groups` (ids) where these are given, for each
    system that satisfies it, drawn or not; or every one of another outcome.

    Their rank and sample are 0; they come system by system, in the order of their ids.
    """
    wanted = ((group.c.study_id, study_id), (group.c.relation_id, relation_id), (verdict.c.system_id, system))
    columns = (group.c.relation_id, verdict.c.system_id, group.c.id.label("group_id"))
    chosen = (
        select(literal(0).label("sample_id"), literal(0).label("rank"), *columns)
        .join(verdict, and_(verdict.c.group_id == group.c.id, verdict.c.outcome == int(outcome)))
        .where(*(column == id for column, id in wanted if id is not None))
        .subquery()
    )
    yield from _groups(connection, chosen, (), groups, "system_id")


def _groups(
    connection: Connection, chosen: Subquery, conditions: Sequence[Any], ids: Collection[int] | None, *order: str
) -> Iterator[Drawn]:
    """These groups (`chosen` has the columns of `drawn_pairs`) of systems with their members and outputs."""
    query = (
        select(
            *(chosen.c[name] for name in ("sample_id", "relation_id", "system_id", "rank", "group_id")),
            *(relation.c.task, relation.c.name, relation.c.params),
            *(member.c.step, member.c.role, member.c.input_id),
            *(output.c.label, output.c.score, output.c.text, output.c.error),
        )
        .select_from(chosen)
        .join(relation, relation.c.id == chosen.c.relation_id)
        .join(member, and_(member.c.group_id == chosen.c.group_id, member.c.role.in_(COUNTED)))
        .join(output, and_(output.c.system_id == chosen.c.system_id, output.c.input_id == member.c.input_id))
        .where(*conditions)
        .order_by(*(chosen.c[name] for name in (*order, "group_id")), member.c.step, output.c.attempt)
    )
    # Values by place: by name takes longer than everything else here.
    rows: list[Any] = list(
        connection.execute(query) if ids is None else rows_among(connection, query, chosen.c.group_id, sorted(ids))
    )
    carries = {key: carry_of(*key) for key in {row[5:8] for row in rows}}
    inputs = inputs_of(connection, {row[10] for row in rows if carries[row[5:8]].reads})
    for key, of_group in groupby(rows, key=itemgetter(*range(8))):
        sample_id, relation_id, system_id, rank, group_id, task, name, _ = key
        # Ordered by attempt: the last one stays.
        steps = {row[8]: Step(row[9], row[10], Output(*row[11:]), inputs.get(row[10])) for row in of_group}
        place = (relation_id, system_id, rank, group_id)
        yield Drawn(task, name, *place, tuple(steps.values()), carries[key[5:]], sample_id)


def inputs_of(connection: Connection, ids: Collection[int]) -> dict[int, Input]:
    """Inputs by their ids."""
    columns = select(input_table.c.id, input_table.c.texts, input_table.c.languages)
    rows = rows_among(connection, columns, input_table.c.id, sorted(ids))
    return {id: Input.stored(texts, languages) for id, texts, languages in rows}


def subjects_of(connection: Connection, kinds: Collection[str] = ABOUT_OUTPUTS) -> dict[int, Subject]:
    """What each question of these kinds is about, by its id."""
    columns = (question.c.id, question.c.task, question.c.input_id, question.c.output)
    rows = connection.execute(select(*columns).where(question.c.kind.in_(kinds)))
    return {id: (task, input_id, output) for id, task, input_id, output in rows}


def gold_labels(connection: Connection, studies: Sequence[int]) -> dict[str, frozenset[str]]:
    """The labels that the gold of these studies (ids) has, by task."""
    query = select(study.c.task, source.c.gold).join(source, source.c.study_id == study.c.id).distinct()
    labels: dict[str, frozenset[str]] = {}
    for task, label in connection.execute(query.where(source.c.gold.is_not(None), study.c.id.in_(studies))):
        labels[task] = labels.get(task, frozenset()) | {label}
    return labels
