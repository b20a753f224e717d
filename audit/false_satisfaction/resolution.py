"""The rule: which drawn groups are settled, which of them are false, and which questions the others wait for.

One wrong output settles a group as false; a true satisfaction needs an answer for each of its members. A member's
answer is the direct one (adjudicated before people before gold), or else what its relation carries from the source's.

An answer is about an input, or, where a task has people judge each output (kind `pair`), about an input and the very
output that the system gave: one answer then holds for all systems that gave that output. What is carried to a follow-up
says something of its output only where the two outputs correspond. They do in every drawn group: a satisfied group of
the relations between texts is exactly one whose outputs correspond, Replace(sum(Ts)) = sum(Tf).
"""

import json
import math
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal, TypedDict, cast

from sqlalchemy import Connection, FromClause, Row, Select, and_, literal, or_, select

from audit.annotation.answers import ORIGINS, PEOPLE
from audit.annotation.questions import ABOUT_OUTPUTS, Subject, asks_pairs
from audit.registry import warn_once
from audit.relations import COUNTED, Outcome, find_relation
from audit.relations.base import Carry, Seen, declared, nothing
from audit.relations.composition import parts_of
from audit.store import rows_among, table_of, tables
from audit.store.brought import absent
from audit.tasks import Input, Output, base_of, get_task

CARRIES = "carries"
"""The parameter of an imported relation that says what it carries."""
CARRIED = "carried"
"""Begins the origin of an answer that a relation carries from the source: `carried people`."""
Whose = Literal["gold", "people", "both"]
ALLOWED: Mapping[Whose, tuple[str, ...]] = {"gold": ("gold",), "people": ("adjudicated", "people"), "both": ORIGINS}
PROTOCOL = ("people", "adjudicated", "gold")
"""Precedence of answers as the protocol left them: what people agreed on goes before what a spot check made of it."""


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
    contingent: tuple[int, ...] = ()
    """Of a settled group, the steps that would have no answer had another answer come out otherwise: those without a
    direct one to which the relation does not carry every answer that the source could have had."""

    @property
    def decided_by(self) -> str:
        """The origin of the answer without which a contingent group would wait: the wrong output's, or the source's."""
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
    precedence: Sequence[str] = ORIGINS,
) -> dict[Subject, KnownAnswer]:
    """The answer that counts, by subject, from the origins of `whose`; about these inputs (None: about all).

    Of several origins the first in `precedence` counts.
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
        if before is None or precedence.index(origin) < precedence.index(before.origin):
            answers[subject] = KnownAnswer(frozenset(allowed), origin)
    return answers


def drawn_groups(
    connection: Connection, samples: Iterable[int] | None, group_ids: Collection[int] | None = None
) -> Iterator[Drawn]:
    """Drawn groups of these samples (None: of all), or those of `group_ids` among them.

    They come sample by sample, cell by cell, in the order of their rank.
    """
    query = _drawn_query(samples)
    if group_ids is None:
        rows = list(connection.execute(query))
    else:
        rows = list(rows_among(connection, query, table_of(tables.Draw).c.group_id, sorted(group_ids)))
    yield from _of_rows(connection, rows)


def satisfied_groups(
    connection: Connection,
    study: int,
    relation: int,
    outcome: Outcome = Outcome.SATISFIED,
    *,
    system: int | None = None,
    groups: Collection[int] | None = None,
) -> Iterator[Drawn]:
    """Every satisfied group of a study under a relation (ids), for each system that satisfies it, drawn or not; or
    every one of another outcome; of one system, or some groups alone, where these are given.

    Their rank and sample are 0; they come system by system, in the order of their ids.
    """
    verdict, group = table_of(tables.Verdict), table_of(tables.Group)
    of_system = [] if system is None else [verdict.c.system_id == system]
    found = (
        select(
            literal(0).label("sample_id"), group.c.relation_id, verdict.c.system_id, literal(0).label("rank"),
            group.c.id.label("group_id"),
        )
        .join(verdict, and_(verdict.c.group_id == group.c.id, verdict.c.outcome == int(outcome)))
        .where(group.c.study_id == study, group.c.relation_id == relation, *of_system)
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


def _drawn_query(samples: Iterable[int] | None) -> Select[Any]:
    """A row per counted member and attempt of every drawn group, as `_of_rows` takes them."""
    draw, member, output = table_of(tables.Draw), table_of(tables.Member), table_of(tables.Output)
    query = _with_outputs(draw).order_by(
        draw.c.sample_id, draw.c.relation_id, draw.c.system_id, draw.c.rank, member.c.step, output.c.attempt
    )
    return query if samples is None else query.where(draw.c.sample_id.in_(list(samples)))


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
    contingent: list[int] = []
    wrong: int | None = None
    for number, step in enumerate(drawn.steps):
        # As `Drawn.subject`, but its task is looked up once: there are millions of steps.
        subject = (drawn.task, step.input_id, step.output.text if pairs else None)
        answer = answers.get(subject)
        if answer is None:
            answer = carried_to(drawn, step, source, about_source)
            if not _carried_whatever(drawn, step, source, about_source):
                contingent.append(number)
        origins.append(answer.origin if answer else "")
        if answer is None:
            carry = drawn.carry
            if step is source or about_source is not None or never_carries(carry, drawn.task):
                waits_for.append(subject)
        elif wrong is None and task.is_wrong(step.output, answer.allowed):
            wrong = number
    if wrong is not None:
        return Settled(drawn, State.FALSE, (), wrong, tuple(origins), tuple(contingent))
    if all(origins):
        return Settled(drawn, State.TRUE, origins=tuple(origins), contingent=tuple(contingent))
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


def _carried_whatever(drawn: Drawn, step: Step, source: Step | None, about_source: KnownAnswer | None) -> bool:
    """Whether this step would have a carried answer whatever were the one about the source, which there is."""
    if step is source or source is None or about_source is None or not drawn.corresponds:
        return False
    if not drawn.carry.reads:
        return carries_every_label(drawn.carry, drawn.task)
    return all(carried_labels(drawn, step, source, {label}) is not None for label in get_task(drawn.task).labels)


def _seen(step: Step) -> Seen | None:
    return None if step.input is None else Seen(step.input, step.output)


# Which groups of a draw count: what counts may not depend on what the answers were.
#
# One wrong output settles a group as false; a true satisfaction needs an answer for each member. So a group that is
# false by its source's answer would have waited for its follow-ups, had that answer been another one. Such a group is
# *contingent*: it counts only where the answers that were not needed would have been there by now, because people are
# asked for them and have got that far. A cell's estimate uses the longest beginning of its draw, in the order of ranks,
# in which every group counts. Gold labels of sources under a relation that does not carry every label ask nobody: there
# no beginning counts, and the draw gives bounds. So it is where people have settled more groups behind the beginning
# than there are in it: what stays open for long is what is hard.


@dataclass(frozen=True)
class Beginning:
    """How one cell's draw stands, given in the order of ranks.

    judged, false: groups of the beginning that counts, and the false satisfactions among them.
    drawn, drawn_false, drawn_open: of the whole draw, whatever counts: groups, false ones, ones that wait.
    behind: groups behind the beginning that answers of people settled. first: what the first group that waits
    behind it waits for. counts: whether each group's state may count.
    """

    judged: int
    false: int
    drawn: int
    drawn_false: int
    drawn_open: int
    behind: int
    first: Subject | None
    counts: tuple[bool, ...]


@dataclass(frozen=True)
class Process:
    """How answers come about.

    passed: subjects of the questions that people are through with: they have all the votes they want, or were flagged.
    Whatever waits for one of them waits for an adjudicator, not for its turn. gold: by task, the labels that gold says;
    a relation that carries these carries whatever gold answers. gold_of: the same by study (id), for those with gold of
    their own.
    """

    passed: frozenset[Subject] = frozenset()
    gold: Mapping[str, frozenset[str]] = field(default_factory=dict)
    gold_of: Mapping[int, Mapping[str, frozenset[str]]] = field(default_factory=dict)

    def of_study(self, study: int) -> "Process":
        """The same for one study: the gold of others decides nothing there, unless it has none itself."""
        return replace(self, gold={**self.gold, **self.gold_of.get(study, {})})


def beginnings(
    cells: Sequence[Sequence[Settled]], process: Process | None = None, one_list: bool = False
) -> list[Beginning]:
    """The beginnings of all cells of one relation in one sample, each given in the order of ranks.

    `one_list`: the cells are one list, as the design `informative` draws them, so they end together.
    """
    process = process or Process()
    groups = [group for cell in cells for group in cell]
    waiting = [group for group in groups if group.state is State.WAITING]
    reached = min(
        (group.drawn.rank for group in waiting if not process.passed.issuperset(group.waits_for)), default=math.inf
    )
    steps = {step for group in groups for step, origin in enumerate(group.origins) if origin in PEOPLE}

    def counts(group: Settled) -> bool:
        if group.state is State.WAITING:
            return False
        if not group.contingent or _carried_by_gold(group, process.gold):
            return True
        if steps.issuperset(group.contingent):
            return group.drawn.rank < reached
        return not waiting and group.decided_by in PEOPLE

    counting = [tuple(counts(group) for group in cell) for cell in cells]
    ends = [
        next((group.drawn.rank for group, is_counted in zip(cell, flags, strict=True) if not is_counted), math.inf)
        for cell, flags in zip(cells, counting, strict=True)
    ]
    if one_list:
        ends = [min(ends, default=math.inf)] * len(cells)
    return [_beginning(*parts, one_list) for parts in zip(cells, ends, counting, strict=True)]


class Vocabularies(TypedDict):
    """The labels that gold has: by task, and by study (id) and task."""

    gold: dict[str, frozenset[str]]
    gold_of: dict[int, dict[str, frozenset[str]]]


def read_process(connection: Connection) -> Process:
    """How answers come about in this database."""
    question, aside = table_of(tables.Question), table_of(tables.Aside)
    flagged = select(aside.c.question_id).where(aside.c.kind == "flag")
    query = select(question.c.task, question.c.input_id, question.c.output).where(
        question.c.kind.in_(ABOUT_OUTPUTS), or_(question.c.filled, question.c.id.in_(flagged))
    )
    passed = frozenset((task, input_id, output) for task, input_id, output in connection.execute(query))
    return Process(passed, **vocabularies(connection))


def vocabularies(connection: Connection) -> "Vocabularies":
    """The labels that gold has, for `Process`: `gold` by task, `gold_of` by study (id) and task."""
    source, study = table_of(tables.Source), table_of(tables.Study)
    query = (
        select(study.c.id, study.c.task, source.c.gold)
        .join(source, source.c.study_id == study.c.id)
        .where(source.c.gold.is_not(None))
        .distinct()
    )
    gold: dict[str, frozenset[str]] = {}
    gold_of: dict[int, dict[str, frozenset[str]]] = {}
    for id, task, label in connection.execute(query):
        for labels in (gold, gold_of.setdefault(id, {})):
            labels[task] = labels.get(task, frozenset()) | {label}
    return {"gold": gold, "gold_of": gold_of}


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


def _carried_by_gold(settled: Settled, gold: Mapping[str, frozenset[str]]) -> bool:
    """Whether gold answered a group and the relation carries whatever gold could have said."""
    labels = gold.get(settled.drawn.task)
    return (
        bool(labels)
        and all(settled.origins)
        and settled.decided_by == "gold"
        and carries_all(settled.drawn.carry, labels)
    )


def _beginning(cell: Sequence[Settled], end: float, counts: tuple[bool, ...], one_list: bool) -> Beginning:
    inside = [settled for settled in cell if settled.drawn.rank < end]
    by_people = [
        settled.state is not State.WAITING and any(origin in PEOPLE for origin in settled.origins) for settled in cell
    ]
    if not one_list and sum(by_people[len(inside) :]) > len(inside):
        # What stays open is what is hard, and the run before the first hard one is as biased as what is settled of all.
        inside = []
    rest = cell[len(inside) :]
    return Beginning(
        len(inside),
        sum(settled.state is State.FALSE for settled in inside),
        len(cell),
        sum(settled.state is State.FALSE for settled in cell),
        sum(settled.state is State.WAITING for settled in cell),
        sum(by_people[len(inside) :]),
        next((settled.waits_for[0] for settled in rest if settled.waits_for), None),
        counts,
    )
