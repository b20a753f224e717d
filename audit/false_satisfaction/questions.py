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
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, Select, bindparam, case, delete, func, select, union

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
from audit.store import pieces, table_of, tables, upsert

Asks = dict[Asked, Ask]
"""What is asked -> how the groups that ask for it ask."""
_FEW = 200
"""Changed answers up to which the queue is brought up to date around each; more are no dearer all at once."""


@dataclass(frozen=True)
class Wishes:
    """Questions by why they are asked: for groups that wait, for audits of follow-ups, for spot checks."""

    waiting: Asks = field(default_factory=dict)
    audits: Asks = field(default_factory=dict)
    checks: Asks = field(default_factory=dict)

    def in_queue(self) -> Asks:
        """The annotators' questions: audits behind those that groups wait for."""
        return {key: one.behind() for key, one in self.audits.items()} | self.waiting


def update_queue(connection: Connection, changed: Collection[int] | None = None) -> None:
    """Bring the queues up to date after these questions' answers have changed: only what they can touch; None: all.

    A step of `audit.judging.unit`, which has locked what this reads and writes (`lock_around`, `lock_queue`).
    """
    if changed is None or len(changed) > _FEW:
        _update_all(connection)
        return
    question = table_of(tables.Question)
    columns = select(question.c.id, question.c.task, question.c.kind, question.c.input_id)
    rows = [
        row for piece in pieces(sorted(changed)) for row in connection.execute(columns.where(question.c.id.in_(piece)))
    ]
    samples = terms_of(connection)
    about: dict[str, set[int]] = {}
    for row in rows:
        if row.kind == "group":
            # Whether a relation holds settles no label, and no label says whether it holds: only this one changes.
            _update_group(connection, int(row.id), samples)
        else:
            about.setdefault(str(row.task), set()).add(int(row.input_id))
    for task, inputs in about.items():
        _update_around(connection, samples, task, inputs)


def _update_all(connection: Connection) -> None:
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
    _put_checks(connection, _by_question(connection, ranks))
    _update_groups(connection, samples)


def _update_around(connection: Connection, samples: Mapping[int, Terms], task: str, about: Collection[int]) -> None:
    """The questions about the inputs of all drawn groups that have one of `about`."""
    inputs = _inputs_around(connection, about)
    questions = question_ids(connection, task, inputs)
    found = _asked(connection, samples, _groups_with(connection, inputs))
    needed = {key: one for key, one in found.in_queue().items() if key[0] == task and key[1] in inputs}
    close_questions(connection, [id for key, id in questions.items() if key not in needed])
    _open(connection, samples, task, needed)
    checks = {key: one.rank for key, one in found.checks.items() if key[0] == task and key[1] in inputs}
    _put_checks(connection, {questions[key]: rank for key, rank in checks.items()}, questions.values())


@dataclass(frozen=True)
class Difference:
    """How the queues differ from what they should be: ids of questions, in their order."""

    misplaced: tuple[int, ...] = ()
    """Wanted, and not in the queue or not in their place."""
    idle: tuple[int, ...] = ()
    """In the queue, and nobody wants them."""
    checks: tuple[int, ...] = ()
    """Agreed answers that should wait for an adjudicator's check and do not, or the other way round."""
    absent: int = 0
    """Wanted, and never made: these have no id."""


def queue_difference(connection: Connection) -> Difference:
    """Compare the queues with what all samples and answers make of them; writes nothing."""
    table, check = table_of(tables.Question), table_of(tables.SpotCheck)
    samples = terms_of(connection)
    asked = _asked(connection, samples)
    wanted: dict[Any, tuple[int, int]] = {key: (one.rank, one.waits) for key, one in asked.in_queue().items()}
    wanted |= {one.key: (one.priority, one.waits) for one in wanted_groups(connection, samples)}
    query = select(
        table.c.id, table.c.kind, table.c.key, table.c.task, table.c.input_id, table.c.output,
        table.c.priority, table.c.waits,
    ).order_by(table.c.id)  # fmt: skip
    misplaced, idle = [], []
    for id, kind, key, *about, priority, waits in connection.execute(query):
        should = wanted.pop(bytes(key) if kind == "group" else tuple(about), None)
        if should is not None and should != (priority, waits):
            misplaced.append(int(id))
        elif should is None and priority is not None:
            idle.append(int(id))
    stored = {int(id): int(rank) for id, rank in connection.execute(select(check.c.question_id, check.c.priority))}
    checks = _by_question(connection, {key: one.rank for key, one in asked.checks.items()})
    other = {id for id, _ in stored.items() ^ checks.items()}
    return Difference(tuple(misplaced), tuple(idle), tuple(sorted(other)), len(wanted))


class QueueLength(NamedTuple):
    """Questions in the queue: those that drawn groups wait for, and those that only audit what relations carry."""

    waiting: int
    audits: int


def queue_length(engine: Engine) -> QueueLength:
    """How many questions are in the queue now, of all samples."""
    table = table_of(tables.Question)
    behind = case((table.c.priority >= BEHIND, 1), else_=0)
    query = select(func.count(), func.coalesce(func.sum(behind), 0)).where(table.c.priority.is_not(None))
    with engine.connect() as connection:
        number, audits = connection.execute(query).one()
    return QueueLength(int(number) - int(audits), int(audits))


def lock_around(connection: Connection, question_id: int) -> None:
    """Keep others from changing an answer that has a drawn group in common with this question's, until the transaction
    ends: what they would put into the queue hangs on both.

    PostgreSQL locks the inputs of these groups, in the order of their ids so that no two processes wait for each other:
    inputs are there before their questions are. SQLite has one writer at a time (`audit.store.writing`).
    """
    if connection.dialect.name != "sqlite":
        connection.execute(_around(), {"question": question_id}).all()


def lock_queue(connection: Connection) -> None:
    """Keep others from changing any answer or question until the transaction ends; they go on reading.

    Call it first: whoever holds `lock_around` must not wait for this.
    """
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("LOCK TABLE input, question IN EXCLUSIVE MODE")


@cache
def _around() -> Select[Any]:
    """The inputs of all drawn groups that have the one of `question`, and itself, locked; none of one about a group."""
    question, given, draw = table_of(tables.Question), table_of(tables.Input), table_of(tables.Draw)
    member = table_of(tables.Member)
    other = member.alias("other")
    own = select(question.c.input_id).where(question.c.id == bindparam("question"), question.c.kind != "group")
    groups = (
        select(member.c.group_id)
        .join(draw, draw.c.group_id == member.c.group_id)
        .where(member.c.input_id == own.scalar_subquery())
    )
    around = select(other.c.input_id).where(other.c.group_id.in_(groups), other.c.role != "probe")
    locked = select(given.c.id).where(given.c.id.in_(union(own, around))).order_by(given.c.id)
    return locked.with_for_update(key_share=True)


def _inputs_around(connection: Connection, about: Collection[int]) -> set[int]:
    """The inputs of all drawn groups that have one of these, and themselves."""
    member = table_of(tables.Member)
    inputs = set(about)
    for piece in pieces(_groups_with(connection, about)):
        query = select(member.c.input_id).where(member.c.group_id.in_(piece), member.c.role != "probe")
        inputs |= {int(row[0]) for row in connection.execute(query)}
    return inputs


def _update_group(connection: Connection, question_id: int, samples: Mapping[int, Terms]) -> None:
    """The place in the queue of a question about a group."""
    question = table_of(tables.Question)
    ask = ask_of_group_question(connection, question_id, samples)
    values = {"priority": None, "waits": 0} if ask is None else {"priority": ask.rank, "waits": ask.waits}
    connection.execute(question.update().where(question.c.id == question_id).values(**values))


def _update_groups(connection: Connection, samples: Mapping[int, Terms]) -> None:
    """Open the questions about groups that nobody has settled, and close the others."""
    table = table_of(tables.Question)
    wanted = wanted_groups(connection, samples)
    keys = {one.key for one in wanted}
    query = select(table.c.id, table.c.key).where(table.c.kind == "group", table.c.priority.is_not(None))
    close_questions(connection, [int(row[0]) for row in connection.execute(query).all() if bytes(row[1]) not in keys])
    open_group_questions(connection, wanted, _most(samples))


def _put_checks(connection: Connection, wanted: Mapping[int, int], among: Iterable[int] | None = None) -> None:
    """See to it that exactly these questions (id -> priority) wait for a check, of those in `among`, or of all."""
    table = table_of(tables.SpotCheck)
    if among is None:
        among = [int(row[0]) for row in connection.execute(select(table.c.question_id))]
    for piece in pieces(sorted(set(among) - set(wanted))):
        connection.execute(delete(table).where(table.c.question_id.in_(piece)))
    rows = [{"question_id": id, "priority": rank} for id, rank in sorted(wanted.items())]
    upsert(connection, tables.SpotCheck, rows)


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
