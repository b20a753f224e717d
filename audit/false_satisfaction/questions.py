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
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import pandas as pd
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    or_,
    select,
    true,
    union,
)

from audit.false_satisfaction.resolution import (
    ALLOWED,
    CARRIED,
    Drawn,
    KnownAnswer,
    Settled,
    State,
    Whose,
    carried_to,
    drawn_groups,
    known_answers,
    settle_group,
    source_of,
)
from audit.judging.answers import ORIGINS, SCALES
from audit.judging.assignments import in_column
from audit.judging.questions import (
    ABOUT_OUTPUTS,
    BEHIND,
    Subject,
    Wanted,
    close_questions,
    group_question_key,
    open_questions,
    question_ids,
)
from audit.judging.scales import update_ratings, wanted_ratings
from audit.keys import uniform
from audit.relations import COUNTED, Outcome
from audit.sampling.samples import Terms, terms_of
from audit.store import rows_among, table_of, tables
from audit.store.bulk import LIMIT
from audit.tasks import get_task

# How drawn groups ask a question: how urgently, how many of them, and of how many people.

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Ask:
    """How a question is asked by the groups that need it.

    `rank` is the best of a group that asks, `waits` the number of drawn (group, system) pairs that ask, `annotators`
    the most people that a sample wants, `studies` those of the groups that ask, as the column of a question has them.
    """

    rank: int
    waits: int
    annotators: int
    studies: str = ""

    def behind(self) -> "Ask":
        """The same, placed behind everything that groups wait for.

        >>> Ask(3, 2, 2).behind().rank
        1000000003
        """
        return replace(self, rank=BEHIND + self.rank)


class Asking(Generic[Key]):
    """Gathers, group by group, who asks for what; `terms` are those of the samples."""

    def __init__(self, terms: Mapping[int, Terms]) -> None:
        self._terms = terms
        self._best: dict[Key, int] = {}
        self._pairs: dict[Key, set[tuple[int, int]]] = {}
        self._annotators: dict[Key, int] = {}
        self._studies: dict[Key, set[int]] = {}

    def note(self, key: Key, sample: int, rank: int, group: int, system: int) -> None:
        """A drawn group of a system asks for this. A pair that two samples have drawn counts once."""
        self._best[key] = min(rank, self._best.get(key, rank))
        self._pairs.setdefault(key, set()).add((group, system))
        self._annotators[key] = max(self._terms[sample].annotators, self._annotators.get(key, 0))
        self._studies.setdefault(key, set()).add(self._terms[sample].study)

    def asks(self) -> dict[Key, Ask]:
        """How each question is asked, by its key."""
        return {
            key: Ask(rank, len(self._pairs[key]), self._annotators[key], in_column(self._studies[key]))
            for key, rank in self._best.items()
        }


# Whether a relation holds in a group of a validity study: what groups are made of, and what was answered about them.
#
# A question about a group is one question whatever study or system the group belongs to, so groups and questions meet
# by content: the relation, and roles and inputs of the counted members in order.

Content = tuple[int, tuple[tuple[str, int], ...]]
"""(relation, ((role, input) of each counted member)); ids are of the database, where each content has one."""


def contents(connection: Connection, group_ids: Collection[int]) -> dict[int, Content]:
    """The content of each of these groups, by id."""
    group, member = table_of(tables.Group), table_of(tables.Member)
    query = (
        select(group.c.id, group.c.relation_id, member.c.role, member.c.input_id)
        .join(member, member.c.group_id == group.c.id)
        .where(member.c.role.in_(COUNTED))
        .order_by(group.c.id, member.c.step)
    )
    result: dict[int, Content] = {}
    for id, relation, role, input_id in rows_among(connection, query, group.c.id, sorted(group_ids)):
        _, members = result.get(id, (relation, ()))
        result[id] = relation, (*members, (role, input_id))
    return result


def source_input(content: Content) -> int:
    """The input of the source of a group with this content (its id)."""
    return next(input_id for role, input_id in content[1] if role == "source")


def group_answers(
    connection: Connection, whose: Whose = "both", questions: Collection[int] | None = None
) -> dict[Content, KnownAnswer]:
    """The answer that counts about each group that was judged, of the origins asked for; of all, or of `questions`."""
    question, answer = table_of(tables.Question), table_of(tables.Answer)
    query = (
        select(question.c.group_id, answer.c.origin, answer.c.allowed)
        .join(answer, answer.c.question_id == question.c.id)
        .where(question.c.kind == "group", answer.c.origin.in_(ALLOWED[whose]))
    )
    if questions is not None:
        query = query.where(question.c.id.in_(list(questions)))
    rows = connection.execute(query).all()
    content_of = contents(connection, {row.group_id for row in rows})
    answers: dict[Content, KnownAnswer] = {}
    for group, origin, allowed in rows:
        before = answers.get(content_of[group])
        if before is None or ORIGINS.index(origin) < ORIGINS.index(before.origin):
            answers[content_of[group]] = KnownAnswer(frozenset(allowed), origin)
    return answers


def wanted_groups(connection: Connection, relation_id: int | None = None) -> list[Wanted]:
    """The questions that validity studies ask about groups (of one relation, or of all) and nobody has settled."""
    about, draw, relation = (table_of(model) for model in (tables.ValidityStudy, tables.ValidityDraw, tables.Relation))
    query = select(*(draw.c[name] for name in ("study_id", "relation_id", "rank", "group_id")), about.c.annotators)
    query = query.add_columns(about.c.first).join(about, about.c.study_id == draw.c.study_id)
    query = query.where(about.c.ended_at.is_(None), about.c.asks != "texts")
    if relation_id is not None:
        query = query.where(draw.c.relation_id == relation_id)
    drawn = connection.execute(query).all()
    if not drawn:
        return []
    content_of, answers = contents(connection, {row.group_id for row in drawn}), group_answers(connection)
    asking: dict[Content, list[Any]] = {}
    for row in drawn:
        if content_of[row.group_id] not in answers:
            asking.setdefault(content_of[row.group_id], []).append(row)
    keys = _input_keys(connection, {input_id for _, members in asking for _, input_id in members})
    relations = {row["id"]: row for row in connection.execute(select(relation)).mappings()}
    wanted = []
    for (id, members), rows in asking.items():
        task, name, version, params = (relations[id][name] for name in ("task", "name", "version", "params"))
        key = group_question_key(task, name, version, params, [(role, keys[input_id]) for role, input_id in members])
        first = min(rows, key=lambda row: (row.rank, row.group_id))
        rank = first.rank - (BEHIND if any(row.first for row in rows) else 0)
        people = max(row.annotators for row in rows)
        studies = in_column(sorted({row.study_id for row in rows}))
        source = source_input((id, members))
        terms = (rank, len(rows), people, studies, source)
        wanted.append(Wanted(task, "group", key, source, *terms, group_id=first.group_id))
    return wanted


def attributed_groups(engine: Engine, by: Literal["relation", "system"]) -> pd.DataFrame:
    """Which relation or systems each question about a group serves: columns item (its id, text) and value."""
    question, group, verdict = (table_of(model) for model in (tables.Question, tables.Group, tables.Verdict))
    named = table_of(tables.Relation) if by == "relation" else table_of(tables.System)
    of_question = select(question.c.id, named.c.name).where(question.c.kind == "group").distinct()
    if by == "relation":
        query = of_question.join(group, group.c.id == question.c.group_id).join(
            named, named.c.id == group.c.relation_id
        )
    else:
        query = of_question.join(verdict, verdict.c.group_id == question.c.group_id)
        query = query.join(named, named.c.id == verdict.c.system_id)
        query = query.where(verdict.c.outcome.in_((int(Outcome.SATISFIED), int(Outcome.VIOLATED))))
    with engine.connect() as connection:
        rows = sorted((str(id), str(name)) for id, name in connection.execute(query))
    return pd.DataFrame(rows, columns=["item", "value"])


def _input_keys(connection: Connection, inputs: Collection[int]) -> dict[int, bytes]:
    table = table_of(tables.Input)
    rows = rows_among(connection, select(table.c.id, table.c.key), table.c.id, sorted(inputs))
    return {id: bytes(key) for id, key in rows}


# Audits: follow-ups of some drawn groups are asked about although an answer is carried to them.
#
# A follow-up is audited only in a group in which every member has an answer, so that its own answer takes the place of
# the carried one and no member is left open; and while it waits or is disputed the carried answer stands.

Answers = Mapping[Subject, KnownAnswer]


def is_audited(drawn: Drawn, terms: Mapping[int, Terms]) -> bool:
    """Whether the follow-ups of a drawn group's source are audited: a random share of the sources."""
    share = terms[drawn.sample_id].follow_ups if drawn.sample_id in terms else 0.0
    return share > 0 and uniform("audited follow-ups", drawn.group_id // LIMIT**2) < share


def audited_follow_ups(settled: Settled) -> list[Subject]:
    """The subjects to ask about in an audited group: members with a carried answer, once every member has one."""
    if not all(settled.origins):
        return []
    steps = zip(settled.drawn.steps, settled.origins, strict=True)
    return [settled.drawn.subject(step) for step, origin in steps if origin.startswith(CARRIED)]


def rests_on_carried(settled: Settled, answers: Answers) -> bool:
    """Whether another carried answer would change the state of a settled group.

    A true satisfaction rests on all its answers; a false one only where no output is wrong by a direct answer.
    """
    if settled.state is State.WAITING or not any(origin.startswith(CARRIED) for origin in settled.origins):
        return False
    if settled.state is State.TRUE:
        return True
    task = get_task(settled.drawn.task)
    direct = ((step, answers.get(settled.drawn.subject(step))) for step in settled.drawn.steps)
    return not any(answer and task.is_wrong(step.output, answer.allowed) for step, answer in direct)


@dataclass(frozen=True, slots=True)
class Carried:
    """A follow-up of a group that has an answer of its own beside the carried one; `wrong`: they share no label."""

    group_id: int
    source: int
    follow_up: int
    wrong: bool


def audited_carries(groups: Iterable[Settled], answers: Answers, terms: Mapping[int, Terms]) -> list[Carried]:
    """What the audit found of follow-ups that are answered, in groups that are audited: a random part of the sources,
    so that what other groups ask about is not favoured."""
    audited: list[Carried] = []
    for settled in groups:
        drawn = settled.drawn
        source = source_of(drawn)
        about_source = answers.get(drawn.subject(source)) if source else None
        if source is None or settled.state is State.WAITING or not is_audited(drawn, terms):
            continue
        for step in drawn.steps:
            carried, own = carried_to(drawn, step, source, about_source), answers.get(drawn.subject(step))
            if carried is not None and own is not None:
                wrong = own.allowed.isdisjoint(carried.allowed)
                audited.append(Carried(drawn.group_id, source.input_id, step.input_id, wrong))
    return audited


Asks = dict[Subject, Ask]
"""Subject -> how the groups that need its question ask it."""
_FEW = 200
"""Changed answers up to which the queue is brought up to date around each; more are no dearer all at once."""


@dataclass(frozen=True)
class Demand:
    """Questions by why they are asked: for groups that wait, and for audits of follow-ups."""

    waiting: Asks = field(default_factory=dict)
    audits: Asks = field(default_factory=dict)
    sources: Mapping[Subject, int] = field(default_factory=dict)
    """Subject -> input of the source of the best-ranked drawn group that it is in, settled or not: what it is a version
    of stays what it is while answers come in."""

    def in_queue(self) -> Asks:
        """The annotators' questions: audits behind those that groups wait for."""
        return {key: ask.behind() for key, ask in self.audits.items()} | self.waiting


def update_queue(connection: Connection, changed: Collection[int] | None = None) -> None:
    """Bring the queues up to date after these questions' answers have changed: only what they can touch; None: all.

    A step of `audit.judging.unit`, which has locked what this reads and writes (`lock_around`, `lock_queue`).
    """
    if changed is None or len(changed) > _FEW:
        _update_all(connection)
        return
    question = table_of(tables.Question)
    columns = select(question.c.id, question.c.task, question.c.kind, question.c.input_id)
    samples = terms_of(connection)
    about: dict[str, set[int]] = {}
    for id, task, kind, input_id in list(rows_among(connection, columns, question.c.id, sorted(changed))):
        if kind == "group":
            # Whether a relation holds settles no label, and no label says whether it holds: only this one changes.
            _update_group(connection, id)
        elif kind in ABOUT_OUTPUTS:
            about.setdefault(task, set()).add(input_id)
    for task, inputs in about.items():
        _update_around(connection, samples, task, inputs)


def _update_all(connection: Connection) -> None:
    samples = terms_of(connection)
    demand = _demand_of(connection, samples)
    needed = demand.in_queue()
    table = table_of(tables.Question)
    open_now = select(table.c.id, table.c.task, table.c.input_id, table.c.output).where(
        table.c.priority.is_not(None), table.c.kind.in_(ABOUT_OUTPUTS)
    )
    rows = connection.execute(open_now).all()
    close_questions(connection, [id for id, *subject in rows if tuple(subject) not in needed])
    _open_needed(connection, needed, demand.sources)
    _update_groups(connection)
    update_ratings(connection)


def _update_around(connection: Connection, samples: Mapping[int, Terms], task: str, about: Collection[int]) -> None:
    """The questions about the inputs of all drawn groups that have one of `about`."""
    inputs = _inputs_around(connection, about)
    questions = question_ids(connection, task, inputs)
    demand = _demand_of(connection, samples, groups_with(connection, inputs))
    needed = {key: ask for key, ask in demand.in_queue().items() if key[0] == task and key[1] in inputs}
    close_questions(connection, [id for key, id in questions.items() if key not in needed])
    _open_needed(connection, needed, demand.sources)


@dataclass(frozen=True)
class Difference:
    """How the queues differ from what they should be: ids of questions, in their order."""

    misplaced: tuple[int, ...] = ()
    """Wanted, and not in the queue or not in their place."""
    idle: tuple[int, ...] = ()
    """In the queue, and nobody wants them."""
    absent: int = 0
    """Wanted, and never made: these have no id."""


def queue_difference(connection: Connection) -> Difference:
    """Compare the queues with what all samples and answers make of them; writes nothing."""
    table = table_of(tables.Question)
    samples = terms_of(connection)
    demand = _demand_of(connection, samples)
    needed: dict[Any, tuple[int, int, str]] = {
        key: (ask.rank, ask.waits, ask.studies) for key, ask in demand.in_queue().items()
    }
    needed |= {
        key: (wanted.priority, wanted.waits, wanted.studies) for key, wanted in wanted_ratings(connection).items()
    }
    needed |= {group.key: (group.priority, group.waits, group.studies) for group in wanted_groups(connection)}
    query = select(
        table.c.id, table.c.kind, table.c.key, table.c.task, table.c.input_id, table.c.output,
        table.c.priority, table.c.waits, table.c.studies,
    ).order_by(table.c.id)  # fmt: skip
    misplaced, idle = [], []
    for id, kind, key, *about, priority, waits, studies in connection.execute(query):
        expected = needed.pop(tuple(about) if kind in ABOUT_OUTPUTS else bytes(key), None)
        if expected is not None and expected != (priority, waits, studies):
            misplaced.append(id)
        elif expected is None and priority is not None:
            idle.append(id)
    return Difference(tuple(misplaced), tuple(idle), len(needed))


class QueueLength(NamedTuple):
    """Questions in the queue: those that drawn groups wait for, and those that only audit what relations carry."""

    waiting: int
    audits: int


def queue_length(engine: Engine) -> QueueLength:
    """How many questions are in the queue now, of all samples."""
    table = table_of(tables.Question)
    behind = case((table.c.priority >= BEHIND, 1), else_=0)
    waits = table.c.priority.is_not(None) & table.c.kind.not_in(SCALES)
    query = select(func.count(), func.coalesce(func.sum(behind), 0)).where(waits)
    with engine.connect() as connection:
        number, audits = connection.execute(query).one()
    return QueueLength(number - int(audits), int(audits))


def lock_around(connection: Connection, question_id: int) -> None:
    """Keep others from changing an answer that has a drawn group in common with this question's, until the transaction
    ends: what they would put into the queue hangs on both.

    PostgreSQL locks the inputs of these groups, in the order of their ids so that no two processes wait for each other:
    inputs are there before their questions are. SQLite has one writer at a time (`audit.store.bulk`).
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
    """The inputs of all drawn groups that have the one of `question`, and itself, locked; none of a group or rating."""
    question, input_table, draw = table_of(tables.Question), table_of(tables.Input), table_of(tables.Draw)
    member = table_of(tables.Member)
    other = member.alias("other")
    own = select(question.c.input_id).where(question.c.id == bindparam("question"), question.c.kind.in_(ABOUT_OUTPUTS))
    groups = (
        select(member.c.group_id)
        .join(draw, draw.c.source_id == member.c.group_id // LIMIT**2)
        .where(member.c.input_id == own.scalar_subquery())
    )
    around = select(other.c.input_id).where(other.c.group_id.in_(groups), other.c.role != "probe")
    locked = select(input_table.c.id).where(input_table.c.id.in_(union(own, around))).order_by(input_table.c.id)
    return locked.with_for_update(key_share=True)


def _inputs_around(connection: Connection, about: Collection[int]) -> set[int]:
    """The inputs of all drawn groups that have one of these, and themselves."""
    member, draw = table_of(tables.Member), table_of(tables.Draw)
    other = member.alias("other")
    around = (
        select(other.c.input_id)
        .join(member, member.c.group_id == other.c.group_id)
        .join(draw, draw.c.source_id == member.c.group_id // LIMIT**2)
        .where(other.c.role != "probe")
        .distinct()
    )
    return {*about, *(row.input_id for row in rows_among(connection, around, member.c.input_id, about))}


def _update_group(connection: Connection, question_id: int) -> None:
    """The place in the queue of a question about a group."""
    question, group = table_of(tables.Question), table_of(tables.Group)
    query = select(question.c.key, group.c.relation_id).join(group, group.c.id == question.c.group_id)
    key, relation = connection.execute(query.where(question.c.id == question_id)).one()
    wanted = next((one for one in wanted_groups(connection, relation) if one.key == bytes(key)), None)
    values: dict[str, Any] = {"priority": None, "waits": 0}
    if wanted is not None:
        values = {"priority": wanted.priority, "waits": wanted.waits, "studies": wanted.studies}
    connection.execute(question.update().where(question.c.id == question_id).values(**values))


def _update_groups(connection: Connection) -> None:
    """Open the questions about groups that nobody has settled, and close the others."""
    table = table_of(tables.Question)
    wanted = wanted_groups(connection)
    keys = {group.key for group in wanted}
    query = select(table.c.id, table.c.key).where(table.c.kind == "group", table.c.priority.is_not(None))
    close_questions(connection, [id for id, key in connection.execute(query).all() if bytes(key) not in keys])
    open_questions(connection, wanted)


def groups_with(connection: Connection, inputs: Iterable[int]) -> set[int]:
    """Groups of drawn sources that have one of these inputs."""
    member, draw = table_of(tables.Member), table_of(tables.Draw)
    query = select(member.c.group_id).join(draw, draw.c.source_id == member.c.group_id // LIMIT**2)
    return {row.group_id for row in rows_among(connection, query, member.c.input_id, inputs)}


def _demand_of(
    connection: Connection, samples: Mapping[int, Terms], group_ids: Collection[int] | None = None
) -> Demand:
    """The questions that these groups of the samples (None: all) need."""
    groups: Iterable[Drawn] = drawn_groups(connection, samples, group_ids)
    around: set[int] | None = None
    if group_ids is not None:
        # Around one question only the answers of its groups are read: this is done after every judgement.
        groups = list(groups)
        around = {step.input_id for drawn in groups for step in drawn.steps}
    answers = known_answers(connection, inputs=around)
    waiting, audits = Asking[Subject](samples), Asking[Subject](samples)
    sources: dict[Subject, tuple[int, int, int, int]] = {}
    for drawn in groups:
        settled = settle_group(drawn, answers)
        if (source := source_of(drawn)) is not None:
            place = (drawn.rank, drawn.sample_id, drawn.group_id, source.input_id)
            for step in drawn.steps:
                subject = drawn.subject(step)
                sources[subject] = min(place, sources.get(subject, place))
        if settled.state is State.WAITING:
            _note(waiting, drawn, settled.waits_for)
        elif is_audited(drawn, samples):
            _note(audits, drawn, audited_follow_ups(settled))
    source_inputs = {subject: place[-1] for subject, place in sources.items()}
    return Demand(waiting.asks(), audits.asks(), source_inputs)


def _note(asking: Asking[Subject], drawn: Drawn, keys: Iterable[Subject]) -> None:
    for key in keys:
        asking.note(key, drawn.sample_id, drawn.rank, drawn.group_id, drawn.system_id)


def _open_needed(connection: Connection, needed: Mapping[Subject, Ask], sources: Mapping[Subject, int]) -> None:
    keys = _input_keys(connection, {input_id for _, input_id, _ in needed})
    wanted = []
    for subject, ask in needed.items():
        task, input_id, output = subject
        terms = {"waits": ask.waits, "annotators": ask.annotators, "studies": ask.studies}
        source = sources.get(subject)
        question = Wanted.about(task, input_id, keys[input_id], output, ask.rank, source_input_id=source, **terms)
        wanted.append(question)
    open_questions(connection, wanted)


# The questions of one study among those of a database.


def asked_by(connection: Connection, studies: Collection[int]) -> ColumnElement[bool]:
    """Condition on the table question: it is about a text, an output or a group of these studies (ids)."""
    study, group, member, source, progress, output, question = (
        table_of(model)
        for model in (
            tables.Study,
            tables.Group,
            tables.Member,
            tables.Source,
            tables.Progress,
            tables.Output,
            tables.Question,
        )
    )
    if not connection.execute(select(study.c.id).where(study.c.id.not_in(studies)).limit(1)).first():
        return true()
    asked = group.alias()
    systems = select(progress.c.system_id).where(progress.c.study_id.in_(studies))
    has_text = (
        exists()
        .where(member.c.input_id == question.c.input_id)
        .where(group.c.id == member.c.group_id, group.c.study_id.in_(studies))
    )
    has_output = exists().where(
        output.c.input_id == question.c.input_id,
        output.c.system_id.in_(systems),
        output.c.text == question.c.output,
    )
    has_group = (
        exists()
        .where(asked.c.id == question.c.group_id)
        .where(source.c.input_id == question.c.input_id, source.c.study_id.in_(studies))
        .where(group.c.source_id == source.c.id, group.c.relation_id == asked.c.relation_id)
    )
    return or_(
        and_(question.c.kind == "group", has_group),
        and_(question.c.kind == "pair", has_text, has_output),
        and_(question.c.kind.not_in(["group", "pair"]), has_text),
    )
