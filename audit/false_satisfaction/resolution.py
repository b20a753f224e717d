"""The rule: which drawn groups are settled, which of them are false, and which questions the others wait for.

One wrong output settles a group as false; a true satisfaction needs an answer for each of its members. A member's
answer is the direct one (adjudicated before people before gold), or else what its relation carries from the source's.

An answer is about an input, or, where a task has people judge each output (kind `pair`), about an input and the very
output that the system gave: one answer then holds for all systems that gave that output. What is carried to a follow-up
says something of its output only where the two outputs correspond. They do in every drawn group: a satisfied group of
the relations between texts is exactly one whose outputs correspond, Replace(sum(Ts)) = sum(Tf).
"""

import json
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal, cast

from sqlalchemy import Connection, FromClause, Row, Select, and_, literal, select

from audit.registry import warn_once
from audit.relations import COUNTED, Outcome, find_relation
from audit.relations.base import Carry, Seen, declared, nothing
from audit.relations.composition import parts_of
from audit.sampling.samples import drawn_pairs
from audit.store import rows_among, table_of, tables
from audit.store.brought import absent
from audit.tasks import Input, Output, base_of, get_task
from audit.tasks.questions import ABOUT_OUTPUTS, ORIGINS, Subject, asks_pairs

CARRIES = "carries"
"""The parameter of an imported relation that says what it carries."""
CARRIED = "carried"
"""Begins the origin of an answer that a relation carries from the source: `carried people`."""
Whose = Literal["both", "people", "gold"]
ALLOWED: Mapping[Whose, tuple[str, ...]] = {"gold": ("gold",), "people": ("adjudicated", "people"), "both": ORIGINS}


class State(IntEnum):
    """The state of a drawn (satisfied) group of one system."""

    TRUE = 0
    FALSE = 1
    WAITING = 2


@dataclass(frozen=True, slots=True)
class Step:
    """One counted member of a drawn group with the output of the group's system."""

    role: str
    input_id: int
    output: Output
    input: Input | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """One drawn group of one cell."""

    task: str
    relation: str
    relation_id: int
    system_id: int
    rank: int
    group_id: int
    steps: tuple[Step, ...]
    sample_id: int = 0
    corresponds: bool = True
    """Whether what is carried says something of the follow-ups' outputs. Only of a violated group, which is never drawn
    but can be looked at, whose task has people judge each output, it does not."""
    params: str = "{}"
    """The relation's parameters, as stored: of an imported relation, what it was declared to carry."""
    looked_up: Carry | None = field(default=None, compare=False, repr=False)
    """What the relation carries, where that was looked up for many groups at once."""

    @property
    def carry(self) -> Carry:
        """What the relation carries."""
        return self.looked_up or carry_of(self.task, self.relation, self.params)

    def subject(self, step: Step) -> Subject:
        """The subject of the question whose answer says whether this step's output is right."""
        return self.task, step.input_id, step.output.text if asks_pairs(self.task) else None


@dataclass(frozen=True, slots=True)
class Settled:
    """A drawn group, its state, the subjects of the questions it waits for, and the step that made it false."""

    drawn: Drawn
    state: State
    waits_for: tuple[Subject, ...] = ()
    wrong_step: int | None = None
    origins: tuple[str, ...] = ()
    """Where each counted member's answer came from: an origin, `carried ORIGIN`, or `` (none)."""

    @property
    def decided_by(self) -> str:
        """The origin of the answer that settled it: the wrong output's, or the source's."""
        return self.origins[self.wrong_step or 0].removeprefix(f"{CARRIED} ")


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """The answer that counts for a question, and its origin."""

    allowed: frozenset[str]
    origin: str


def known_answers(
    connection: Connection,
    whose: Whose = "both",
    inputs: Collection[int] | None = None,
) -> dict[Subject, KnownAnswer]:
    """The answer that counts, by subject, from the origins of `whose`; about these inputs (None: about all).

    Of several origins the first in `ORIGINS` counts.
    """
    question, answer = table_of(tables.Question), table_of(tables.Answer)
    query = (
        select(question.c.task, question.c.input_id, question.c.output, answer.c.origin, answer.c.allowed)
        .join(answer, answer.c.question_id == question.c.id)
        .where(question.c.kind.in_(ABOUT_OUTPUTS), answer.c.origin.in_(ALLOWED[whose]))
    )
    rows: Iterable[Row[*tuple[Any, ...]]]
    if inputs is None:
        rows = connection.execute(query)
    else:
        rows = rows_among(connection, query, question.c.input_id, sorted(inputs))
    answers: dict[Subject, KnownAnswer] = {}
    for task, input_id, output, origin, allowed in rows:
        subject = (task, input_id, output)
        before = answers.get(subject)
        if before is None or ORIGINS.index(origin) < ORIGINS.index(before.origin):
            answers[subject] = KnownAnswer(frozenset(allowed), origin)
    return answers


def carrying(connection: Connection) -> list[int]:
    """Return the relations (ids) that carry every answer about a source to its follow-ups, so that the answer settles
    their groups whatever it is."""
    table = table_of(tables.Relation)
    rows = connection.execute(select(table.c.id, table.c.task, table.c.name, table.c.params))
    return [id for id, task, name, params in rows if carries_every_label(carry_of(task, name, params), task)]


def drawn_groups(
    connection: Connection, studies: Iterable[int] | None, group_ids: Collection[int] | None = None
) -> Iterator[Drawn]:
    """Drawn groups of these studies (None: of all), or those of `group_ids` among them.

    They come study by study, cell by cell, in the order of their rank.
    """
    pairs = drawn_pairs(carrying(connection))
    order = (pairs.c.sample_id, pairs.c.relation_id, pairs.c.system_id, pairs.c.rank, pairs.c.group_id)
    query = _with_outputs(pairs).order_by(*order, table_of(tables.Member).c.step, table_of(tables.Output).c.attempt)
    if studies is not None:
        query = query.where(pairs.c.sample_id.in_(list(studies)))
    if group_ids is None:
        rows = list(connection.execute(query))
    else:
        rows = list(rows_among(connection, query, pairs.c.group_id, sorted(group_ids)))
    yield from _of_rows(connection, rows)


def satisfied_groups(
    connection: Connection,
    study: int | None = None,
    relation: int | None = None,
    outcome: Outcome = Outcome.SATISFIED,
    *,
    system: int | None = None,
    groups: Collection[int] | None = None,
) -> Iterator[Drawn]:
    """Every satisfied group, of a study, a relation, a system or among `groups` (ids) where these are given, for each
    system that satisfies it, drawn or not; or every one of another outcome.

    Their rank and sample are 0; they come system by system, in the order of their ids.
    """
    verdict, group = table_of(tables.Verdict), table_of(tables.Group)
    wanted = ((group.c.study_id, study), (group.c.relation_id, relation), (verdict.c.system_id, system))
    conditions = [column == id for column, id in wanted if id is not None]
    found = (
        select(
            literal(0).label("sample_id"), group.c.relation_id, verdict.c.system_id, literal(0).label("rank"),
            group.c.id.label("group_id"),
        )
        .join(verdict, and_(verdict.c.group_id == group.c.id, verdict.c.outcome == int(outcome)))
        .where(*conditions)
        .subquery()
    )  # fmt: skip
    query = _with_outputs(found)
    order = (found.c.system_id, found.c.group_id, table_of(tables.Member).c.step, table_of(tables.Output).c.attempt)
    query = query.order_by(*order)
    if groups is None:
        rows = list(connection.execute(query))
    else:
        rows = list(rows_among(connection, query, found.c.group_id, sorted(groups)))
    yield from _of_rows(connection, rows)


def _of_rows(connection: Connection, rows: Sequence[Any]) -> Iterator[Drawn]:
    """The groups in rows of `_with_outputs`, those of a group beside each other."""
    # The rows' values by place, in the order of `_with_outputs`: by name takes longer than everything else here.
    carries = {key: carry_of(*key) for key in {row[-3:] for row in rows}}
    reading = {key for key, carry in carries.items() if carry.reads}
    inputs = _inputs(connection, {row[7] for row in rows if row[-3:] in reading} if reading else set())
    for key, group_rows in groupby(rows, key=itemgetter(0, 1, 2, 3, 4, -3, -2, -1)):
        sample_id, relation_id, system_id, rank, group_id, task, name, params = key
        steps: dict[int, Step] = {}
        for step, role, input_id, label, score, text, error in (row[5:12] for row in group_rows):
            # Ordered by attempt: the last one stays.
            steps[step] = Step(role, input_id, Output(label, score, text, error), inputs.get(input_id))
        carry, parts = carries[task, name, params], tuple(steps.values())
        yield Drawn(
            task, name, relation_id, system_id, rank, group_id, parts, sample_id, params=params, looked_up=carry
        )


def _with_outputs(groups: FromClause) -> Select[Any]:
    """The members of groups of systems with their outputs; `groups` has the columns of a draw. Callers read the columns
    by their place."""
    member, output, relation = table_of(tables.Member), table_of(tables.Output), table_of(tables.Relation)
    return (
        select(
            groups.c.sample_id,
            groups.c.relation_id,
            groups.c.system_id,
            groups.c.rank,
            groups.c.group_id,
            member.c.step,
            member.c.role,
            member.c.input_id,
            output.c.label,
            output.c.score,
            output.c.text,
            output.c.error,
            relation.c.task,
            relation.c.name,
            relation.c.params,
        )
        .select_from(groups)
        .join(relation, relation.c.id == groups.c.relation_id)
        .join(member, and_(member.c.group_id == groups.c.group_id, member.c.role.in_(COUNTED)))
        .join(output, and_(output.c.system_id == groups.c.system_id, output.c.input_id == member.c.input_id))
    )


def _inputs(connection: Connection, ids: Collection[int]) -> dict[int, Input]:
    table = table_of(tables.Input)
    query = select(table.c.id, table.c.texts, table.c.languages)
    rows = rows_among(connection, query, table.c.id, ids)
    return {id: Input.stored(texts, languages) for id, texts, languages in rows}


def carry_of(task: str, relation: str, params: str = "{}") -> Carry:
    """What a relation carries: as its parameters declare, else as the registered one does; nothing where there is
    neither."""
    if params != "{}" and (carry := _declared(params)) is not None:
        return carry
    registered = find_relation(base_of(task), relation)
    for part in parts_of(relation):
        if missing := absent("relation", f"{base_of(task)}/{part}"):
            warn_once(missing)
    return registered.carry if registered else nothing


@cache
def _declared(params: str) -> Carry | None:
    carries = json.loads(params).get(CARRIES)
    return None if carries is None else declared(carries)


@cache
def carries_all(carry: Carry, labels: frozenset[str]) -> bool:
    """Whether each of these labels about the source is carried, without looking at texts."""
    return not carry.reads and all(carry({label}) is not None for label in labels)


@cache
def carries_every_label(carry: Carry, task: str) -> bool:
    """Whether whatever the source's answer may be is carried, without looking at texts."""
    return carries_all(carry, frozenset(get_task(task).labels))


@cache
def never_carries(carry: Carry, task: str) -> bool:
    """Whether no answer at all is carried, so that every member must be asked about."""
    return not carry.reads and all(carry({label}) is None for label in get_task(task).labels)


def supposing(
    answers: Mapping[Subject, KnownAnswer], instead: Mapping[Subject, KnownAnswer | None]
) -> Mapping[Subject, KnownAnswer | None]:
    """The answers with others in the place of some; None: as if there were none. What `settle_group` makes of a group
    by them says what hangs on these."""
    return ChainMap({**instead}, cast("dict[Subject, KnownAnswer | None]", answers))


def settle_group(drawn: Drawn, answers: Mapping[Subject, KnownAnswer | None]) -> Settled:
    """Apply the rule to one drawn group."""
    task = get_task(drawn.task)
    pairs = task.question_kind == "pair"
    source = source_of(drawn)
    about_source = answers.get(drawn.subject(source)) if source else None
    waits_for: list[Subject] = []
    origins: list[str] = []
    wrong: int | None = None
    for number, step in enumerate(drawn.steps):
        # As `Drawn.subject`, but its task is looked up once: there are millions of steps.
        subject = (drawn.task, step.input_id, step.output.text if pairs else None)
        answer = answers.get(subject)
        if answer is None:
            answer = carried_to(drawn, step, source, about_source)
        origins.append(answer.origin if answer else "")
        if answer is None:
            carry = drawn.carry
            if step is source or about_source is not None or never_carries(carry, drawn.task):
                waits_for.append(subject)
        elif wrong is None and task.is_wrong(step.output, answer.allowed):
            wrong = number
    if wrong is not None:
        return Settled(drawn, State.FALSE, (), wrong, tuple(origins))
    if all(origins):
        return Settled(drawn, State.TRUE, origins=tuple(origins))
    return Settled(drawn, State.WAITING, tuple(dict.fromkeys(waits_for)), origins=tuple(origins))


def answer_of(drawn: Drawn, step: Step, answers: Mapping[Subject, KnownAnswer]) -> KnownAnswer | None:
    """The answer about one step: the direct one, or else what the relation carries from the source's."""
    source = source_of(drawn)
    about_source = answers.get(drawn.subject(source)) if source else None
    return answers.get(drawn.subject(step)) or carried_to(drawn, step, source, about_source)


def source_of(drawn: Drawn) -> Step | None:
    """The source among a group's steps."""
    return next((step for step in drawn.steps if step.role == "source"), None)


def carried_to(drawn: Drawn, step: Step, source: Step | None, about_source: KnownAnswer | None) -> KnownAnswer | None:
    """What the relation carries from the answer about the source to this step, whatever is known of it directly."""
    if step is source or source is None or about_source is None or not drawn.corresponds:
        return None
    allowed = carried_labels(drawn, step, source, about_source.allowed)
    return KnownAnswer(allowed, f"{CARRIED} {about_source.origin}") if allowed else None


def carried_labels(drawn: Drawn, step: Step, source: Step, about_source: Set[str]) -> frozenset[str] | None:
    """The labels that the relation carries to a step where these are right about the source; None: it carries none."""
    if not drawn.carry.reads:
        return drawn.carry(about_source)
    return drawn.carry(about_source, _seen(source), _seen(step))


def _seen(step: Step) -> Seen | None:
    return None if step.input is None else Seen(step.input, step.output)


def subjects_of(connection: Connection, kinds: Collection[str] = ABOUT_OUTPUTS) -> dict[int, Subject]:
    """What each question of these kinds is about, by its id."""
    question = table_of(tables.Question)
    columns = (question.c.id, question.c.task, question.c.input_id, question.c.output)
    rows = connection.execute(select(*columns).where(question.c.kind.in_(kinds)))
    return {id: (task, input_id, output) for id, task, input_id, output in rows}


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
        labels.setdefault(task, set()).add(label)
    return {task: frozenset(golds) for task, golds in labels.items()}
