"""Which questions are worth asking: those that a drawn group waits for, the best ranks first; audits after them.

Questions about inputs settle whether satisfactions are false; questions about groups, whether relations hold in them.
Both have their group's rank as priority, so that the two kinds of answer reach equally far down each cell's list: an
estimate uses the longest settled beginning, to which an answer further down adds nothing yet. Within a rank those come
first for which most drawn (group, system) pairs wait: they settle most.

Audits of follow-ups stand behind everything that groups wait for. They settle nothing, so who stops early has lost no
estimate; and a follow-up that comes right after its source would be answered from memory of it, which hides the very
error that is to be measured: behind the queue, the source is long ago.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, func, select

from audit.annotation.checking import put_checks
from audit.annotation.questions import (
    ABOUT_OUTPUTS,
    BEHIND,
    Asked,
    Wanted,
    close_questions,
    open_group_questions,
    open_questions,
    question_ids,
)
from audit.false_satisfaction.asking import Ask, Asking
from audit.false_satisfaction.auditing import agreed_answers, audited_follow_ups, reach_of
from audit.false_satisfaction.group_answers import ask_of_group_question, wanted_groups
from audit.false_satisfaction.settling import Drawn, State, drawn_groups, known_answers, settle_group
from audit.sampling.protocols import Terms, terms_of
from audit.store import pieces, table_of, tables, writing

Asks = dict[Asked, Ask]
"""What is asked -> how the groups that ask for it ask."""


@dataclass(frozen=True)
class Wishes:
    """Questions by why they are asked: for groups that wait, for audits of follow-ups, for spot checks."""

    waiting: Asks = field(default_factory=dict)
    audits: Asks = field(default_factory=dict)
    checks: Asks = field(default_factory=dict)

    def in_queue(self) -> Asks:
        """The annotators' questions: audits behind those that groups wait for."""
        return {key: one.behind() for key, one in self.audits.items()} | self.waiting


def refresh(engine: Engine) -> int:
    """Bring the queues up to date with all samples and answers; returns how many questions drawn groups wait for.

    Run after drawing, gold and imports.
    """
    with writing(engine) as connection:
        _hold(connection)
        samples = terms_of(connection)
        asked = _asked(connection, samples)
        wanted = asked.in_queue()
        table = table_of(tables.Question)
        open_now = select(table.c.id, table.c.task, table.c.input_id, table.c.output).where(
            table.c.priority.is_not(None), table.c.kind.in_(ABOUT_OUTPUTS)
        )
        rows = connection.execute(open_now).all()
        close_questions(connection, [id for id, *of in rows if tuple(of) not in wanted])
        for task in {key[0] for key in wanted}:
            _open(connection, samples, task, {key: one for key, one in wanted.items() if key[0] == task})
        ranks = {key: one.rank for key, one in asked.checks.items()}
        put_checks(connection, _by_question(connection, ranks))
        return len(asked.waiting) + _refresh_groups(connection, samples)


def queue_differences(connection: Connection) -> tuple[int, int]:
    """How many wanted questions stand elsewhere in the queue than `refresh` would put them, or nowhere; and how many
    stand in it that nobody wants."""
    table = table_of(tables.Question)
    samples = terms_of(connection)
    asked = _asked(connection, samples).in_queue()
    places = {key: (one.rank, one.waits) for key, one in asked.items()}
    groups = {one.key: (one.priority, one.waits) for one in wanted_groups(connection, samples)}
    query = select(
        table.c.kind, table.c.key, table.c.task, table.c.input_id, table.c.output, table.c.priority, table.c.waits
    )
    idle = 0
    for kind, key, *about, priority, waits in connection.execute(query.where(table.c.priority.is_not(None))):
        wanted: dict[Any, tuple[int, int]] = groups if kind == "group" else places
        name = bytes(key) if kind == "group" else tuple(about)
        idle += name not in wanted
        if wanted.get(name) == (priority, waits):
            del wanted[name]
    return len(places) + len(groups), idle


def open_audits(engine: Engine) -> int:
    """How many questions are open only to audit what relations carry."""
    table = table_of(tables.Question)
    with engine.connect() as connection:
        query = select(func.count()).select_from(table).where(table.c.priority >= BEHIND)
        return int(connection.execute(query).scalar() or 0)


def refresh_around(engine: Engine, question_id: int) -> None:
    """Bring the queue up to date after this question's answer has changed: only what the answer can touch.

    Two at once, after two answers that touch one group, do it one after the other, so that the later one sees both.
    """
    question = table_of(tables.Question)
    with writing(engine) as connection:
        of = connection.execute(
            select(question.c.task, question.c.kind, question.c.input_id).where(question.c.id == question_id)
        ).one()
        if of.kind == "group":
            # Whether a relation holds settles no label, and no label says whether it holds: only this one changes.
            _hold(connection, {question_id})
            _refresh_group(connection, question_id)
            return
        inputs = _inputs_around(connection, int(of.input_id))
        questions = question_ids(connection, of.task, inputs)
        _hold(connection, questions.values())
        samples = terms_of(connection)
        found = _asked(connection, samples, _groups_with(connection, inputs))
        needed = {key: one for key, one in found.in_queue().items() if key[0] == of.task and key[1] in inputs}
        close_questions(connection, [id for key, id in questions.items() if key not in needed])
        _open(connection, samples, of.task, needed)
        checks = {key: one.rank for key, one in found.checks.items() if key[0] == of.task and key[1] in inputs}
        put_checks(connection, {questions[key]: rank for key, rank in checks.items()}, questions.values())


def _hold(connection: Connection, question_ids: Iterable[int] | None = None) -> None:
    """Keep others from changing these questions, or all, until the transaction ends, before anything is read of them.

    SQLite has one writer at a time (`audit.store.writing`). On PostgreSQL the rows are locked, in the order of their
    ids so that no two processes wait for each other.
    """
    if connection.dialect.name == "sqlite":
        return
    question = table_of(tables.Question)
    query = select(question.c.id).order_by(question.c.id).with_for_update(key_share=True)
    if question_ids is None:
        connection.execute(query).all()
        return
    for piece in pieces(sorted(question_ids)):
        connection.execute(query.where(question.c.id.in_(piece))).all()


def _inputs_around(connection: Connection, input_id: int) -> set[int]:
    """The inputs of all drawn groups that have this one, and itself."""
    member = table_of(tables.Member)
    inputs = {input_id}
    for piece in pieces(_groups_with(connection, {input_id})):
        query = select(member.c.input_id).where(member.c.group_id.in_(piece), member.c.role != "probe")
        inputs |= {int(row[0]) for row in connection.execute(query)}
    return inputs


def _refresh_group(connection: Connection, question_id: int) -> None:
    """The place in the queue of a question about a group."""
    question = table_of(tables.Question)
    ask = ask_of_group_question(connection, question_id, terms_of(connection))
    values = {"priority": None, "waits": 0} if ask is None else {"priority": ask.rank, "waits": ask.waits}
    connection.execute(question.update().where(question.c.id == question_id).values(**values))


def _refresh_groups(connection: Connection, samples: Mapping[int, Terms]) -> int:
    """Open the questions about groups that nobody has settled, and close the others; returns how many are open."""
    table = table_of(tables.Question)
    wanted = wanted_groups(connection, samples)
    keys = {one.key for one in wanted}
    query = select(table.c.id, table.c.key).where(table.c.kind == "group", table.c.priority.is_not(None))
    close_questions(connection, [int(row[0]) for row in connection.execute(query).all() if bytes(row[1]) not in keys])
    open_group_questions(connection, wanted, _most(samples))
    return len(wanted)


def _most(samples: Mapping[int, Terms]) -> int:
    return max((one.annotators for one in samples.values()), default=2)


def _groups_with(connection: Connection, inputs: Iterable[int]) -> set[int]:
    """Drawn groups that have one of these inputs."""
    member, draw = table_of(tables.Member), table_of(tables.Draw)
    found: set[int] = set()
    for piece in pieces(inputs):
        query = select(member.c.group_id).join(draw, draw.c.group_id == member.c.group_id)
        found |= {int(row[0]) for row in connection.execute(query.where(member.c.input_id.in_(piece)))}
    return found


def _asked(connection: Connection, samples: Mapping[int, Terms], group_ids: Collection[int] | None = None) -> Wishes:
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
    waiting, audits, checks = (Asking[Asked](samples) for _ in range(3))
    for drawn in groups:
        settled = settle_group(drawn, known)
        if settled.state is State.WAITING:
            _note(waiting, drawn, settled.waits_for)
        elif reach.asks(drawn):
            _note(audits, drawn, audited_follow_ups(settled))
        if reach.checks(drawn):
            _note(checks, drawn, agreed_answers(drawn, known))
    return Wishes(waiting.asks(connection), audits.asks(connection), checks.asks(connection))


def _note(asking: Asking[Asked], drawn: Drawn, keys: Iterable[Asked]) -> None:
    for key in keys:
        asking.note(key, drawn.sample_id, drawn.rank, drawn.group_id, drawn.system_id)


def _by_question(connection: Connection, ranks: Mapping[Asked, int]) -> dict[int, int]:
    """Question id -> rank."""
    found: dict[int, int] = {}
    for task in {key[0] for key in ranks}:
        ids = question_ids(connection, task, {given for of, given, _ in ranks if of == task})
        found.update((ids[key], rank) for key, rank in ranks.items() if key[0] == task)
    return found


def _open(connection: Connection, samples: Mapping[int, Terms], task: str, needed: Mapping[Asked, Ask]) -> None:
    table = table_of(tables.Input)
    keys: dict[int, bytes] = {}
    for piece in pieces({given for _, given, _ in needed}):
        query = select(table.c.id, table.c.key).where(table.c.id.in_(piece))
        keys.update((int(row[0]), bytes(row[1])) for row in connection.execute(query))
    wanted = [
        Wanted(given, keys[given], one.rank, one.waits, one.annotators, one.protocol, output)
        for (_, given, output), one in needed.items()
    ]
    open_questions(connection, task, wanted, _most(samples))
