"""Which questions are worth asking: those that a drawn group waits for, the best ranks first; audits after them.

Questions about inputs settle whether satisfactions are false; questions about groups, whether relations hold in them.
Both have their group's rank as priority, so that the two kinds of answer reach equally far down each cell's list.

Audits of follow-ups stand behind everything that groups wait for. They settle nothing, so who stops early has lost no
estimate; and a follow-up that comes right after its source would be answered from memory of it, which hides the very
error that is to be measured: behind the queue, the source is long ago.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, Engine, func, select

from audit.annotation.checking import put_checks
from audit.annotation.questions import (
    BEHIND,
    Wanted,
    close_questions,
    open_group_questions,
    open_questions,
    question_ids,
)
from audit.false_satisfaction.auditing import agreed_answers, audited_follow_ups, reach_of
from audit.false_satisfaction.group_answers import rank_of_group_question, wanted_groups
from audit.false_satisfaction.settling import Drawn, State, drawn_groups, known_answers, settle_group
from audit.store import pieces, table_of, tables, writing

Ranks = dict[tuple[str, int], int]
"""(task, input) -> the best rank of a group that asks for it."""


@dataclass(frozen=True)
class Asked:
    """Questions by why they are asked: for groups that wait, for audits of follow-ups, for spot checks."""

    waiting: Ranks = field(default_factory=dict)
    audits: Ranks = field(default_factory=dict)
    checks: Ranks = field(default_factory=dict)

    def priorities(self) -> Ranks:
        """Priorities of the annotators' questions: audits behind those that groups wait for."""
        return {key: BEHIND + rank for key, rank in self.audits.items()} | self.waiting


def refresh(engine: Engine) -> int:
    """Bring the queues up to date with all samples and answers; returns how many questions drawn groups wait for.

    Run after drawing, gold and imports.
    """
    with engine.begin() as connection:
        samples = _samples(connection)
        asked = _asked(connection, samples)
        wanted = asked.priorities()
        table = table_of(tables.Question)
        waiting = {
            (row.task, row.input_id)
            for row in connection.execute(select(table).where(table.c.priority.is_not(None), table.c.kind == "input"))
        }
        for task in {task for task, _ in wanted} | {task for task, _ in waiting}:
            needed = {given: rank for (of, given), rank in wanted.items() if of == task}
            stale = {given for of, given in waiting if of == task} - set(needed)
            close_questions(connection, question_ids(connection, task, stale).values())
            _open(connection, samples, task, needed)
        put_checks(connection, _by_question(connection, asked.checks))
        return len(asked.waiting) + _refresh_groups(connection, samples)


def open_audits(engine: Engine) -> int:
    """How many questions are open only to audit what relations carry."""
    table = table_of(tables.Question)
    with engine.connect() as connection:
        query = select(func.count()).select_from(table).where(table.c.priority >= BEHIND)
        return int(connection.execute(query).scalar() or 0)


def refresh_around(engine: Engine, question_id: int) -> None:
    """Bring the queue up to date after this question's answer has changed: only what the answer can touch."""
    question, member = table_of(tables.Question), table_of(tables.Member)
    with writing(engine) as connection:
        asked = connection.execute(
            select(question.c.task, question.c.kind, question.c.input_id).where(question.c.id == question_id)
        ).one()
        samples = _samples(connection)
        if asked.kind == "group":
            # Whether a relation holds settles no label, and no label says whether it holds: only this one changes.
            rank = rank_of_group_question(connection, question_id, samples)
            connection.execute(question.update().where(question.c.id == question_id).values(priority=rank))
            return
        touched = _groups_with(connection, {int(asked.input_id)})
        inputs: set[int] = {int(asked.input_id)}
        for piece in pieces(touched):
            query = select(member.c.input_id).where(member.c.group_id.in_(piece), member.c.role != "probe")
            inputs |= {int(row[0]) for row in connection.execute(query)}
        found = _asked(connection, samples, _groups_with(connection, inputs))
        needed = {given: rank for (task, given), rank in found.priorities().items() if task == asked.task}
        questions = question_ids(connection, asked.task, inputs)
        close_questions(connection, [id for given, id in questions.items() if given not in needed])
        _open(connection, samples, asked.task, {given: needed[given] for given in inputs & set(needed)})
        checks = {key: rank for key, rank in found.checks.items() if key[0] == asked.task and key[1] in inputs}
        put_checks(connection, {questions[given]: rank for (_, given), rank in checks.items()}, questions.values())


def _refresh_groups(connection: Connection, samples: dict[int, int]) -> int:
    """Open the questions about groups that nobody has settled, and close the others; returns how many are open."""
    table = table_of(tables.Question)
    wanted = wanted_groups(connection, samples)
    keys = {one.key for one in wanted}
    query = select(table.c.id, table.c.key).where(table.c.kind == "group", table.c.priority.is_not(None))
    close_questions(connection, [int(row[0]) for row in connection.execute(query).all() if bytes(row[1]) not in keys])
    open_group_questions(connection, wanted, annotators=max(samples.values(), default=2))
    return len(wanted)


def _samples(connection: Connection) -> dict[int, int]:
    """Annotators per question by sample."""
    table = table_of(tables.Sample)
    return {int(row[0]): int(row[1]) for row in connection.execute(select(table.c.id, table.c.annotators))}


def _groups_with(connection: Connection, inputs: Iterable[int]) -> set[int]:
    """Drawn groups that have one of these inputs."""
    member, draw = table_of(tables.Member), table_of(tables.Draw)
    found: set[int] = set()
    for piece in pieces(inputs):
        query = select(member.c.group_id).join(draw, draw.c.group_id == member.c.group_id)
        found |= {int(row[0]) for row in connection.execute(query.where(member.c.input_id.in_(piece)))}
    return found


def _asked(connection: Connection, samples: Iterable[int], group_ids: Collection[int] | None = None) -> Asked:
    """What these groups of the samples, or all, ask for."""
    groups: Iterable[Drawn] = drawn_groups(connection, samples, group_ids)
    around: set[int] | None = None
    relations: set[int] | None = None
    if group_ids is not None:
        # Around one question only the answers of its groups are read: this is done after every judgement.
        groups = list(groups)
        around = {step.input_id for drawn in groups for step in drawn.steps}
        relations = {drawn.relation_id for drawn in groups}
    known = known_answers(connection, inputs=around)
    reach = reach_of(connection, samples, relations)
    found = Asked()
    for drawn in groups:
        settled = settle_group(drawn, known)
        if settled.state is State.WAITING:
            _note(found.waiting, drawn, settled.waits_for)
        elif reach.asks(drawn):
            _note(found.audits, drawn, audited_follow_ups(settled))
        if reach.checks(drawn):
            _note(found.checks, drawn, agreed_answers(drawn, known))
    return found


def _note(ranks: Ranks, drawn: Drawn, inputs: Iterable[int]) -> None:
    for given in inputs:
        key = (drawn.task, given)
        ranks[key] = min(drawn.rank, ranks.get(key, drawn.rank))


def _by_question(connection: Connection, ranks: Mapping[tuple[str, int], int]) -> dict[int, int]:
    """Question id -> rank."""
    found: dict[int, int] = {}
    for task in {task for task, _ in ranks}:
        ids = question_ids(connection, task, {given for of, given in ranks if of == task})
        found.update((ids[given], rank) for (of, given), rank in ranks.items() if of == task)
    return found


def _open(connection: Connection, samples: dict[int, int], task: str, needed: dict[int, int]) -> None:
    table = table_of(tables.Input)
    keys: dict[int, bytes] = {}
    for piece in pieces(needed):
        query = select(table.c.id, table.c.key).where(table.c.id.in_(piece))
        keys.update((int(row[0]), bytes(row[1])) for row in connection.execute(query))
    wanted = [Wanted(given, keys[given], rank) for given, rank in needed.items()]
    open_questions(connection, task, wanted, annotators=max(samples.values(), default=2))
