"""Which question an annotator sees next. A question is leased while somebody looks at it."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, Connection, Engine, and_, delete, func, select

from audit.annotation.accounts import ROLES, require
from audit.annotation.answers import WITHDRAWN
from audit.annotation.aside import is_flagged, is_skipped, skipped_today
from audit.annotation.questions import labels_of
from audit.errors import UnknownName
from audit.relations import get_relation
from audit.store import table_of, tables
from audit.tasks import Input, get_task

LEASE = timedelta(minutes=15)


GROUP_QUESTION = "Does the relation hold here?"
"""What is asked about a group, whatever the task."""


@dataclass(frozen=True)
class ShownMember:
    """One input of a group that is asked about, and the part it plays: source, follow_up or link."""

    role: str
    input: Input


@dataclass(frozen=True)
class ShownGroup:
    """A group that is asked about: its relation and its counted members, and nothing of any system."""

    relation: str
    summary: str
    """What the relation does and expects, in English; empty where it was imported and nobody registered it."""
    members: tuple[ShownMember, ...]


@dataclass(frozen=True)
class Shown:
    """A question as its annotator may see it: never an output where the question is about an input or a group."""

    id: int
    task: str
    texts: tuple[str, ...]
    languages: tuple[str, ...]
    question: str
    labels: tuple[str, ...]
    kind: str = "input"
    group: ShownGroup | None = None
    """The group, where the question is about one; `texts` are its source's then."""


@dataclass(frozen=True)
class Queue:
    """How much is left for somebody."""

    mine_today: int
    mine: int
    left_for_me: int
    """Questions in the queue that this annotator may still answer, those that others look at now included."""


def next_question(engine: Engine, account_id: int) -> Shown | None:
    """The most wanted question that this annotator has not judged, leased to them; None when there is none now.

    Raises NotAllowed for an account that may not judge.
    """
    lease, question = table_of(tables.Lease), table_of(tables.Question)
    with engine.begin() as connection:
        moment = tables.now()
        # A write first: SQLite then takes its lock here, and two annotators cannot be given the last place at once.
        connection.execute(delete(lease).where(lease.c.expires_at < moment))
        require(connection, account_id, *ROLES)
        held = and_(lease.c.question_id == question.c.id, lease.c.annotator_id == account_id)
        open_for_me = _open_for(account_id)
        query = select(question.c.id).join(lease, held).where(open_for_me)
        chosen = connection.execute(query).scalar()
        if chosen is None:
            free = _votes_and_leases(account_id) < question.c.annotators
            query = (
                select(question.c.id)
                .where(open_for_me, free)
                # By kind within a rank: fewer switches between questions about texts and about groups.
                .order_by(question.c.priority, question.c.kind, question.c.id)
                .limit(1)
                .with_for_update(skip_locked=True)
            )
            skipped = is_skipped(account_id)
            chosen = connection.execute(query.where(~skipped)).scalar()
            if chosen is None:
                # Nothing else is left: what this annotator skipped today, the longest ago first.
                chosen = connection.execute(
                    query.where(skipped).order_by(None).order_by(skipped_today(account_id))
                ).scalar()
            if chosen is None:
                return None
            connection.execute(delete(lease).where(lease.c.annotator_id == account_id))
            connection.execute(
                lease.insert(), {"question_id": chosen, "annotator_id": account_id, "expires_at": moment + LEASE}
            )
        return show(connection, int(chosen))


def show(connection: Connection, question_id: int) -> Shown:
    """A question with its texts, and with the members of the group that it is about."""
    question, given = table_of(tables.Question), table_of(tables.Input)
    query = (
        select(question.c.task, question.c.kind, question.c.group_id, given.c.texts, given.c.languages)
        .join(given, given.c.id == question.c.input_id)
        .where(question.c.id == question_id)
    )
    row = connection.execute(query).mappings().one()
    task = get_task(row["task"])
    languages = tuple(row["languages"].split(","))
    group = _group(connection, row["group_id"]) if row["kind"] == "group" else None
    asked = GROUP_QUESTION if group else task.question
    labels = labels_of(task.name, row["kind"])
    return Shown(question_id, task.name, tuple(row["texts"]), languages, asked, labels, row["kind"], group)


def _group(connection: Connection, group_id: int) -> ShownGroup:
    group, relation = table_of(tables.Group), table_of(tables.Relation)
    member, given = table_of(tables.Member), table_of(tables.Input)
    named = (
        select(relation.c.task, relation.c.name)
        .join(group, group.c.relation_id == relation.c.id)
        .where(group.c.id == group_id)
    )
    task, name = connection.execute(named).one()
    query = (
        select(member.c.role, given.c.texts, given.c.languages)
        .join(given, given.c.id == member.c.input_id)
        .where(member.c.group_id == group_id, member.c.role != "probe")
        .order_by(member.c.step)
    )
    members = tuple(
        ShownMember(role, Input(tuple(texts), tuple(languages.split(","))))
        for role, texts, languages in connection.execute(query)
    )
    try:
        summary = get_relation(task, name).summary
    except UnknownName:
        summary = ""
    return ShownGroup(name, summary, members)


def queue_of(engine: Engine, account_id: int) -> Queue:
    """Counts for the progress line. Raises NotAllowed for an account that may not judge."""
    question, judgement = table_of(tables.Question), table_of(tables.Judgement)
    later = judgement.alias("later")
    midnight = tables.now().replace(hour=0, minute=0, second=0, microsecond=0)
    mine = (
        select(func.count())
        .select_from(judgement.outerjoin(later, later.c.supersedes == judgement.c.id))
        .where(judgement.c.annotator_id == account_id, judgement.c.answer != WITHDRAWN, later.c.id.is_(None))
    )
    with engine.connect() as connection:
        require(connection, account_id, *ROLES)
        left = select(func.count()).select_from(question).where(_open_for(account_id), _votes() < question.c.annotators)
        return Queue(
            mine_today=connection.execute(mine.where(judgement.c.decided_at >= midnight)).scalar() or 0,
            mine=connection.execute(mine).scalar() or 0,
            left_for_me=connection.execute(left).scalar() or 0,
        )


def _open_for(account_id: int) -> ColumnElement[bool]:
    """Condition: somebody waits for the question, and this annotator has neither judged nor flagged it."""
    question, judgement = table_of(tables.Question), table_of(tables.Judgement)
    later = judgement.alias("later_mine")
    judged = (
        select(judgement.c.question_id)
        .outerjoin(later, later.c.supersedes == judgement.c.id)
        .where(judgement.c.annotator_id == account_id, judgement.c.answer != WITHDRAWN, later.c.id.is_(None))
    )
    return and_(question.c.priority.is_not(None), question.c.id.not_in(judged), ~is_flagged(account_id))


def _votes() -> ColumnElement[int]:
    """Number of people's votes on the question of the outer query."""
    question, judgement = table_of(tables.Question), table_of(tables.Judgement)
    annotator, later = table_of(tables.Annotator), judgement.alias("later")
    return (
        select(func.count())
        .select_from(
            judgement.join(annotator, annotator.c.id == judgement.c.annotator_id).outerjoin(
                later, later.c.supersedes == judgement.c.id
            )
        )
        .where(
            judgement.c.question_id == question.c.id,
            judgement.c.round == 1,
            judgement.c.answer != WITHDRAWN,
            later.c.id.is_(None),
            annotator.c.role.in_(ROLES),
        )
        .correlate(question)
        .scalar_subquery()
    )


def _votes_and_leases(account_id: int) -> ColumnElement[int]:
    """Votes on the question of the outer query, plus the others who look at it now."""
    question, lease = table_of(tables.Question), table_of(tables.Lease)
    others = (
        select(func.count())
        .select_from(lease)
        .where(lease.c.question_id == question.c.id, lease.c.annotator_id != account_id)
        .correlate(question)
        .scalar_subquery()
    )
    return _votes() + others
