"""Looking at groups one page at a time: texts, outputs, answers, and why a satisfaction is false.

For adjudicators and managers: this is what must never reach an annotator, so every function asks for the role. An
adjudicator, who decides, sees no group of which an answer is still to come (`awaits_decision`). Pages go by key (group,
system) and never count or load everything, so a million groups browse like a hundred.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, RowMapping, Select, String, and_, cast, exists, select, tuple_

from audit.errors import AuditError, Refused
from audit.false_satisfaction.questions import contents, group_answers, question_ids, source_input
from audit.false_satisfaction.resolution import (
    Drawn,
    Step,
    answer_of,
    carry_of,
    known_answers,
    satisfied_groups,
    settle_group,
)
from audit.judging.accounts import reading_as, require
from audit.judging.asides import awaits_decision
from audit.messages import message
from audit.relations import COUNTED, Outcome, name_order
from audit.store import rows_among
from audit.store.core import (
    answer,
    draw,
    group,
    input_table,
    member,
    output,
    question,
    relation,
    source,
    study,
    system,
    verdict,
)
from audit.tasks import Input, Output, get_task
from audit.tasks.questions import ABOUT_OUTPUTS, BROKEN, HOLDS, asks_pairs

READERS = ("adjudicator", "manager")
SETTLED = ("false", "true", "waiting")
"""States of drawn groups: what their answers say."""
STATES = (*SETTLED, "undrawn", "violated", "inapplicable", "error", "rejected")
"""`undrawn` is a satisfied group that is in no sample; the last four are the runner's outcomes."""
_BATCH = 200
_FARTHEST = 4_000
"""Drawn groups that one call looks at in search of a state."""

Cursor = tuple[int, int]
"""(group id, system id) of the last line that was looked at."""


@dataclass(frozen=True)
class GroupFilter:
    """Which groups to show, by ids and state; None: all. `search` is in one of their texts, in any case; `#17` stands
    for the input of question 17."""

    study: int | None = None
    relation: int | None = None
    system: int | None = None
    state: str | None = None
    search: str = ""


class Line(NamedTuple):
    """One group of one system, in a list, with the source's text."""

    group_id: int
    system_id: int
    relation: str
    system: str
    row: str
    state: str
    text: str


class Page(NamedTuple):
    """Lines in the order of their keys; `next` goes on from here, None: there are no more."""

    lines: tuple[Line, ...]
    next: Cursor | None


class Part(NamedTuple):
    """One member of a group, with the system's output and the answer about it.

    `allowed` has the right labels, empty where nobody knows; `origin` is adjudicated, people, gold, `carried ORIGIN` or
    empty. `wrong` says it of the output; None where that is not known, or the member does not count (a probe).
    `question` is the number of the question that asks about it; None where nobody is asked.
    """

    role: str
    input: Input
    output: Output | None
    allowed: tuple[str, ...]
    origin: str
    wrong: bool | None
    question: int | None


class Detail(NamedTuple):
    """One group of one system in full, its parts in the order of the group.

    `holds` says whether the relation holds in it: holds, broken, waiting, or None where nobody was asked;
    `holds_origin` is adjudicated, people, or empty.
    """

    corpus: str
    task: str
    relation: str
    system: str
    version: str
    row: str
    value: float | None
    reason: str | None
    state: str
    parts: tuple[Part, ...]
    holds: str | None
    holds_origin: str


def choices(engine: Engine, account_id: int) -> tuple[dict[int, str], dict[int, str]]:
    """Return the relations and the systems of the database, by id; with the version where a name stands for several.
    Raises NotAllowed."""
    with reading_as(engine, account_id, *READERS) as connection:
        relations, systems = (
            connection.execute(select(of.c.id, of.c.name, of.c.version)).all() for of in (relation, system)
        )
    relations = sorted(relations, key=lambda row: (name_order(row.name), row.id))
    return _names(relations), _names(sorted(systems, key=lambda row: (row.name, row.id)))


def _names(rows: Sequence[Any]) -> dict[int, str]:
    names = [row.name for row in rows]
    return {
        row.id: row.name if names.count(row.name) == 1 else f"{row.name} (version {row.version}, {row.id})"
        for row in rows
    }


def browse(
    engine: Engine, account_id: int, filters: GroupFilter = GroupFilter(), after: Cursor | None = None, size: int = 25
) -> Page:
    """Return the next groups that match. Raises NotAllowed, and AuditError for an unknown state.

    A page may hold fewer than `size` lines and still have a `next`: what people's answers say of a group is worked
    out, not stored, so one call looks at 4,000 drawn groups at most. An adjudicator gets none that awaits a decision.
    """
    if filters.state is not None and filters.state not in STATES:
        raise AuditError(message("wrong.choice", what="state", value=filters.state, allowed=STATES))
    at_once, lines = _BATCH if filters.state in SETTLED else size + 1, list[Line]()
    with engine.connect() as connection:
        query = _matching(filters).order_by(verdict.c.group_id, verdict.c.system_id).limit(at_once)
        if require(connection, account_id, *READERS).role == "adjudicator":  # who decides without knowing outputs
            query = query.where(~_awaits_decision())
        for _ in range(0, _FARTHEST, at_once):
            key = tuple_(verdict.c.group_id, verdict.c.system_id)
            next_ones = query if after is None else query.where(key > tuple_(*after))
            batch = connection.execute(next_ones).mappings().all()
            states = _states(connection, batch)
            for row in batch:
                if len(lines) == size:
                    return Page(tuple(lines), after)
                after = row["group_id"], row["system_id"]
                if filters.state in (None, states[after]):
                    names = {name: row[name] for name in ("relation", "system", "row")}
                    lines.append(Line(*after, **names, state=states[after], text=" ".join(row["texts"])))
            if len(batch) < at_once:
                return Page(tuple(lines), None)
    return Page(tuple(lines), after)


def detail(engine: Engine, account_id: int, group_id: int, system_id: int) -> Detail:
    """Return one group of one system in full.

    Raises NotAllowed, AuditError where there is none, and Refused for an adjudicator where it awaits a decision.
    """
    with engine.connect() as connection:
        blind = require(connection, account_id, *READERS).role == "adjudicator"
        key = (verdict.c.group_id == group_id, verdict.c.system_id == system_id)
        row = connection.execute(_query().where(*key)).mappings().first()
        if row is None:
            raise AuditError(f"there is no group {group_id} of system {system_id}")
        if blind and awaiting(connection, [group_id]):
            raise Refused(message("refused.blind"))
        state = _states(connection, [row])[group_id, system_id]
        parts, (holds, origin) = _parts(connection, row), _holds(connection, group_id)
    names = {name: row[name] for name in ("corpus", "task", "relation", "system", "version", "row", "value", "reason")}
    return Detail(**names, state=state, parts=parts, holds=holds, holds_origin=origin)


def awaiting(connection: Connection, group_ids: Iterable[int]) -> set[int]:
    """Return which of these groups await a decision: about one of their texts, an output, or whether the relation
    holds."""
    of_group = (relation.c.id == group.c.relation_id, source.c.id == group.c.source_id)
    query = select(group.c.id).join(relation, of_group[0]).join(source, of_group[1]).where(_awaits_decision())
    return {row.id for row in rows_among(connection, query, group.c.id, sorted(set(group_ids)))}


def _awaits_decision() -> ColumnElement[bool]:
    """Condition on a query with `group`, `relation` and `source`: a question about the group awaits a decision.

    Any question of its task about one of its inputs counts, whatever output it asks about: which of the groups are
    left out must not tell whose output that is.
    """
    other = group.alias("other_group")
    of_members = exists().where(
        member.c.group_id == group.c.id,
        question.c.input_id == member.c.input_id,
        question.c.task == relation.c.task,
        question.c.kind.in_(ABOUT_OUTPUTS),
        awaits_decision(),
    )
    of_group = exists().where(
        question.c.kind == "group",
        question.c.input_id == source.c.input_id,
        other.c.id == question.c.group_id,
        other.c.relation_id == group.c.relation_id,
        awaits_decision(),
    )
    return of_members | of_group


def _query() -> Select[Any]:
    return (
        select(
            *(verdict.c[name] for name in ("group_id", "system_id", "outcome", "value", "reason")),
            *(study.c.corpus, relation.c.task, relation.c.params, relation.c.name.label("relation")),
            *(group.c.relation_id, system.c.name.label("system"), system.c.version, source.c.row),
            *(input_table.c.texts, _drawn().label("drawn")),
        )
        .join(group, group.c.id == verdict.c.group_id)
        .join(study, study.c.id == group.c.study_id)
        .join(relation, relation.c.id == group.c.relation_id)
        .join(system, system.c.id == verdict.c.system_id)
        .join(source, source.c.id == group.c.source_id)
        .join(input_table, input_table.c.id == source.c.input_id)
    )


def _drawn() -> ColumnElement[bool]:
    """Condition: the source of the group of the outer query is drawn, or answered, for example by gold."""
    is_drawn = exists().where(draw.c.source_id == group.c.source_id, draw.c.relation_id.in_((0, group.c.relation_id)))
    return is_drawn | exists().where(
        source.c.id == group.c.source_id,
        question.c.input_id == source.c.input_id,
        answer.c.question_id == question.c.id,
    )


def _matching(filters: GroupFilter) -> Select[Any]:
    chosen = [(group.c.study_id, filters.study), (group.c.relation_id, filters.relation)]
    chosen.append((verdict.c.system_id, filters.system))
    query = _query().where(*(column == value for column, value in chosen if value is not None))
    if filters.search:
        inputs = _found(filters.search)
        having = select(member.c.group_id).where(member.c.input_id.in_(inputs), member.c.role != "probe")
        query = query.where(group.c.id.in_(having))
    if filters.state in (*SETTLED, "undrawn"):
        drawn = _drawn() if filters.state in SETTLED else ~_drawn()
        query = query.where(verdict.c.outcome == int(Outcome.SATISFIED), drawn)
    elif filters.state is not None:
        query = query.where(verdict.c.outcome == int(Outcome[filters.state.upper()]))
    return query


def _found(search: str) -> Select[Any]:
    if re.fullmatch(r"#[0-9]{1,15}", search):
        return select(question.c.input_id).where(question.c.id == int(search[1:]))
    # Texts are stored as JSON: what is looked for is written as it is there. Signs of patterns are escaped.
    written = json.dumps(search, ensure_ascii=False)[1:-1]
    return select(input_table.c.id).where(cast(input_table.c.texts, String).icontains(written, autoescape=True))


def _states(connection: Connection, rows: Sequence[RowMapping]) -> dict[Cursor, str]:
    states, to_settle = dict[Cursor, str](), set[int]()
    for row in rows:
        satisfied = row["outcome"] == Outcome.SATISFIED
        name = "undrawn" if satisfied else Outcome(row["outcome"]).name.lower()
        states[row["group_id"], row["system_id"]] = name
        to_settle |= {row["group_id"]} if satisfied and row["drawn"] else set()
    if to_settle:
        drawn = list(satisfied_groups(connection, groups=to_settle))
        answers = known_answers(connection, "both", {step.input_id for of in drawn for step in of.steps})
        states |= {(of.group_id, of.system_id): settle_group(of, answers).state.name.lower() for of in drawn}
    return states


def _holds(connection: Connection, group_id: int) -> tuple[str | None, str]:
    """Whether the relation holds in a group by people's answer, and the answer's origin."""
    content = contents(connection, [group_id])[group_id]
    about = (question.c.kind == "group", question.c.input_id == source_input(content))
    questions = dict(connection.execute(select(question.c.group_id, question.c.id).where(*about)).all())
    same = [questions[id] for id, of in contents(connection, questions).items() if of == content]
    settled = group_answers(connection, questions=same[:1]).get(content)
    if settled is None:
        return ("waiting" if same else None), ""
    return (HOLDS if HOLDS in settled.allowed else BROKEN), settled.origin


def _parts(connection: Connection, row: RowMapping) -> tuple[Part, ...]:
    of_system = and_(output.c.input_id == member.c.input_id, output.c.system_id == row["system_id"])
    columns = ("attempt", "label", "score", "text", "error", "details")
    query = (
        select(member.c.step, member.c.role, member.c.input_id, input_table.c.texts, input_table.c.languages)
        .add_columns(*(output.c[name] for name in columns))
        .join(input_table, input_table.c.id == member.c.input_id)
        .outerjoin(output, of_system)
        .where(member.c.group_id == row["group_id"])
        .order_by(member.c.step, output.c.attempt)
    )
    # Ordered by attempt: the last one stays.
    members = {fields.step: fields for fields in connection.execute(query)}.values()
    inputs = {fields.input_id for fields in members}
    answers, questions = known_answers(connection, "both", inputs), question_ids(connection, row["task"], inputs)
    steps = [
        Step(of.role, of.input_id, Output.stored(of._mapping), Input.stored(of.texts, of.languages)) for of in members
    ]
    drawn = Drawn(
        **{name: row[name] for name in ("task", "relation", "relation_id", "system_id", "group_id")},
        rank=0,
        carry=carry_of(row["task"], row["relation"], row["params"]),
        steps=tuple(step for step in steps if step.role in COUNTED),
        corresponds=row["outcome"] == Outcome.SATISFIED or not asks_pairs(row["task"]),
    )
    parts = []
    for fields, step in zip(members, steps, strict=True):
        item = Input.stored(fields.texts, fields.languages)
        said = step.output if fields.attempt is not None else None
        if step.role not in COUNTED:
            parts.append(Part(step.role, item, said, (), "", None, None))
            continue
        right = answer_of(drawn, step, answers)
        allowed, origin = (right.allowed, right.origin) if right else (frozenset(), "")
        judged = said is not None and not said.error and allowed
        wrong = get_task(drawn.task).is_wrong(step.output, allowed) if judged else None
        number = questions.get(drawn.subject(step))
        parts.append(Part(step.role, item, said, tuple(sorted(allowed)), origin, wrong, number))
    return tuple(parts)
