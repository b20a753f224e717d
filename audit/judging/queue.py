"""Which question an annotator sees next. A question is leased while somebody looks at it."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Engine,
    Row,
    Select,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.sql.dml import ReturningInsert

from audit.errors import UnknownName
from audit.false_satisfaction.questions import BEHIND
from audit.judging.accounts import ROLES, Account, reading_as, require
from audit.judging.answers import is_counted, votes_on_question
from audit.judging.asides import BACK, FLAG, SKIP, is_flagged, is_skipped, midnight, readable, skips_of
from audit.judging.control_questions import PASS as TRAINING
from audit.judging.control_questions import hidden_question
from audit.judging.order import FIRST, Place, compared_with, place_of
from audit.judging.settings import settings_of
from audit.judging.training import needs_training
from audit.messages import ENGLISH, phrase
from audit.relations import get_relation
from audit.relations.asking import group_question
from audit.store import reading, tables, writing
from audit.store.copying import in_utc
from audit.store.core import aside, group, input_table, judgement, lease, member, question, relation
from audit.tasks import Input, get_task, wording
from audit.tasks.questions import ABOUT_OUTPUTS, SCALES, labels_of

LEASE = timedelta(minutes=15)
ANY, BLOCK, SOURCE = "any", "block", "source"
"""Among which questions a claim searches: all, those of a task and kind, the versions of a text."""
_TAKEN = -1  # In place of a question's id: somebody else has taken it just now


class Remembered(NamedTuple):
    """What this annotator did with a question, as far as its page says so; never their answer."""

    skipped: bool = False  # Whether they skipped it today (UTC)
    sent_back: str | None = None
    """What an adjudicator wrote when sending back their flag; empty: nothing; None: no flag of theirs was sent back."""
    stale: tuple[int, str] | None = None  # The guideline of their last answer to it, where that went stale, and why


NOTHING = Remembered()


def remembered(connection: Connection, account_id: int, question_id: int) -> Remembered:
    """Return what this annotator did with a question."""
    since, skipped, flagged, remark = midnight(tables.now()), False, False, None
    for row in connection.execute(select(aside).where(aside.c.question_id == question_id).order_by(aside.c.id)):
        if row.annotator_id == account_id:
            skipped = skipped or (row.kind == SKIP and in_utc(row.at) >= since)
            flagged = flagged or row.kind == FLAG
        if row.kind == BACK and flagged:
            remark = row.comment or ""
    own = (judgement.c.question_id == question_id, judgement.c.annotator_id == account_id, judgement.c.round == FIRST)
    # Not by the id itself: for its order SQLite would walk through all judgements of the annotator.
    judged = select(judgement).where(*own).order_by((judgement.c.id + 0).desc()).limit(1)
    last = connection.execute(judged).first()
    went = last is not None and last.withdrawn_by is not None
    return Remembered(skipped, remark, (last.guideline, last.comment or "") if last and went else None)


class ShownMember(NamedTuple):
    """One input of a group that is asked about, and the part it plays: source, follow_up or link."""

    role: str
    input: Input


@dataclass(frozen=True)
class ShownGroup:
    """A group that is asked about: its relation and its counted members, and no system's name. A text that two of them
    share, as the first way to a third language has the source's, is in it once."""

    relation: str
    summary: str  # What the relation does and expects, in English; empty where it was imported and nobody registered it
    members: tuple[ShownMember, ...]
    reveals_outputs: bool = False
    """Whether the group was made for one system, by what that said of the source: the texts may give it away."""

    @property
    def follow_ups(self) -> int:
        """How many follow-ups it has."""
        return sum(member.role == "follow_up" for member in self.members)


@dataclass(frozen=True)
class Shown:
    """A question as its annotator may see it: no output but the one that it is about, and never whose that is."""

    id: int
    task: str
    texts: tuple[str, ...]
    languages: tuple[str, ...]
    question: str
    labels: tuple[str, ...]
    kind: str = "input"
    study_id: int | None = None  # The study in whose words it is asked
    group: ShownGroup | None = None  # The group, where the question is about one; `texts` are its source's then
    output: str | None = None
    """The output that is asked about, of a question of kind `pair`; it is a part of the question itself."""
    remembered: Remembered = NOTHING
    compared_with: tuple[str, ...] | None = None
    """The texts of the version of it that its annotator judged just before, where what differs is to be marked."""


class Queue(NamedTuple):
    """How much is left for somebody."""

    mine_today: int
    mine: int
    left_for_me: int
    """Questions in the queue that this annotator may still answer, those that others look at now included."""
    in_other_languages: int = 0
    """Questions that others may still answer and this annotator may not: they do not read the language."""
    mixed: bool = False
    """Whether hidden questions come between them: then a page that shows the exact number would give them away."""


def next_question(engine: Engine, account_id: int) -> Shown | None:
    """The question that this annotator is asked next, leased to them; None when there is none now. In the order of
    `audit.judging.order`, in languages that they read, never more people than a question wants; sometimes a hidden one
    in its place; none before the training round is passed."""
    chosen: int | None = _TAKEN
    while chosen == _TAKEN:
        with writing(engine) as connection:
            chosen = _claim(connection, account_id)
    if chosen is None:
        return None
    # Read after the claim is done: on SQLite everybody else waits for it.
    with reading(engine) as connection:
        return show(connection, chosen, account_id)


def _claim(connection: Connection, account_id: int) -> int | None:
    """The id of the question that this account holds from now on; `_TAKEN`: the place found was taken, look again.
    SQLite has one writer at a time. PostgreSQL locks the question that was found and looks again, since only a later
    statement sees what was committed meanwhile. Locks are taken in one order, account, question, leases, one question a
    transaction: no two claims wait for each other, and none for a judgement."""
    account = require(connection, account_id, *ROLES, lock=True)
    settings = settings_of(connection)
    if needs_training(connection, account, settings):
        return None
    moment = tables.now()
    params = {"account": account_id, "now": moment, "midnight": midnight(moment)}
    held = connection.execute(_held_lease(account.languages), params).first()
    if held is not None and held.mine:
        return int(held.id)
    place = place_of(connection, account_id)
    vacant, again = _vacant(connection, account, place, params)
    if vacant is None:
        return None
    if vacant.crowded:
        connection.execute(delete(lease).where(lease.c.question_id == vacant.id, _is_over()), params)
    if held is not None:
        # Earlier leases of this account; rows that somebody else is reclaiming now are skipped.
        before = lease.alias("before")
        own = select(before.c.question_id).where(before.c.annotator_id == account_id)
        mine = lease.c.question_id.in_(own.with_for_update(skip_locked=True))
        connection.execute(delete(lease).where(lease.c.annotator_id == account_id, mine))
    # What was skipped today comes with a note that nothing else is left, and among the versions of a text every other
    # question would stand out: none hides there.
    text = (vacant.task, vacant.kind, vacant.source_input_id)
    hidden = None
    if not again and (place.last is None or place.last.text != text):
        hidden = hidden_question(connection, account, settings, vacant, place)
    chosen, round = hidden or (vacant, FIRST)
    compared = compared_with(place, chosen)
    if hidden is not None:
        lease_question(connection, chosen.id, account_id, round, compared)
        return int(chosen.id)
    leased = {**params, "question": chosen.id, "until": moment + LEASE, "compared": compared}
    return int(chosen.id) if connection.execute(_lease_row(), leased).first() else _TAKEN


def lease_question(
    connection: Connection, question_id: int, account_id: int, round: int = FIRST, compared: int | None = None
) -> None:
    """Lease a question, and store the judgement with whose text its own is compared."""
    row = {"question_id": question_id, "annotator_id": account_id, "round": round, "compared": compared}
    connection.execute(lease.insert(), row | {"expires_at": tables.now() + LEASE})


def _vacant(
    connection: Connection, account: Account, place: Place, params: dict[str, Any]
) -> tuple[Row[Any] | None, bool]:
    """The question that comes next, locked, or None; and whether this annotator skipped it today: such a one comes only
    where nothing else is left."""

    def find(search: str, past: bool = True, again: bool = False, **values: Any) -> Row[Any] | None:
        query = _vacant_question(account.languages, past, again, search)
        return connection.execute(query, {**params, **values}).first()

    def alike(task: str, kind: str, priority: int = 0) -> dict[str, Any]:
        """Questions asked for the same reason as one of this priority: groups that wait, audits, or ratings."""
        return {"task": task, "kind": kind, "least": -BEHIND, "bound": BEHIND * max(priority // BEHIND + 1, 1)}

    text, block = place.last and place.last.text, place.block
    if text and (vacant := find(SOURCE, **alike(*text[:2]), source=text[2])) is not None:
        return vacant, False
    vacant = find(BLOCK, **alike(*block)) if block else None
    # Past questions that others are claiming first; where only such are left, wait for them.
    for again, past in ((False, True), (False, False), (True, True), (True, False)):
        if vacant is None and (vacant := find(ANY, past, again)) is not None and again:
            return vacant, True
    if vacant is None:
        return None, False
    if block not in (None, (vacant.task, vacant.kind)) and vacant.priority >= BEHIND:
        vacant = find(BLOCK, **alike(*block, vacant.priority)) or vacant
    if vacant.kind in ABOUT_OUTPUTS and vacant.priority < BEHIND and vacant.input_id != vacant.source_input_id:
        # Who begins with a text begins with its source.
        vacant = find(SOURCE, **alike(vacant.task, vacant.kind), source=vacant.source_input_id) or vacant
    return vacant, False


def show(connection: Connection, question_id: int, account_id: int | None = None) -> Shown:
    """A question with its texts, and with the members of the group that it is about. For an account that has leased it,
    with what it did with the question before."""
    row = connection.execute(_shown(), {"question": question_id, "account": account_id}).one()
    task = get_task(row.task).name
    group = _group(connection, row.group_id) if row.kind == "group" else None
    if group is not None:
        sentence = group_question(task, group.relation, group.follow_ups, summary=group.summary)
    else:
        sentence = phrase(ENGLISH, f"scale.{row.kind}") if row.kind in SCALES else wording(task).question
    return Shown(
        id=question_id,
        task=task,
        texts=tuple(row.texts),
        languages=tuple(row.languages.split(",")),
        question=sentence,
        labels=labels_of(task, row.kind),
        kind=row.kind,
        study_id=row.study_id,
        group=group,
        output=row.output,
        remembered=remembered(connection, account_id, question_id) if account_id is not None and row.had else NOTHING,
        compared_with=None if row.compared is None else tuple(row.compared),
    )


def _group(connection: Connection, group_id: int) -> ShownGroup:
    of_group = select(relation.c.task, relation.c.name, group.c.system_id).join(group).where(group.c.id == group_id)
    task, name, system_id = connection.execute(of_group).one()
    query = select(member.c.role, input_table.c.texts, input_table.c.languages)
    query = query.join(input_table, input_table.c.id == member.c.input_id).order_by(member.c.step)
    members: list[ShownMember] = []
    for role, *stored in connection.execute(query.where(member.c.group_id == group_id, member.c.role != "probe")):
        item = Input.stored(*stored)
        # A text on its way to another language is shown once.
        texts_before = {(other.input.texts, other.input.languages[0]) for other in members if other.input != item}
        if role != "link" or (item.texts, item.languages[0]) not in texts_before:
            members.append(ShownMember(role, item))
    summary = ""
    with suppress(UnknownName):
        summary = get_relation(task, name).summary
    return ShownGroup(name, summary, tuple(members), system_id is not None)


def last_block(engine: Engine, account_id: int) -> tuple[str, str] | None:
    """What the keys meant that an account answered last by (`audit.judging.order.block_of`); None where it has
    answered nothing. Raises NotAllowed for an account that may not judge."""
    with reading_as(engine, account_id, *ROLES) as connection:
        answers = place_of(connection, account_id).answers
    return answers[0].block if answers else None


def queue_of(engine: Engine, account_id: int) -> Queue:
    """Counts for the progress line. Raises NotAllowed for an account that may not judge."""
    with reading(engine) as connection:
        account = require(connection, account_id, *ROLES)
        # Hidden ones are counted, else who is asked one would see that it is not; training is not.
        today = case((judgement.c.decided_at >= midnight(tables.now()), 1), else_=0)
        own = (judgement.c.annotator_id == account_id, judgement.c.round != TRAINING, is_counted(judgement))
        numbers: list[Any] = [func.count(), func.sum(today)]
        judged, mine_today = connection.execute(select(*numbers).where(*own)).one()
        reads = readable(question, account.languages)
        numbers = [func.count(case((condition, 1))) for condition in (reads, ~reads)]
        query = select(*numbers).select_from(question).where(_is_open_to_account())
        remaining, others = connection.execute(query, {"account": account_id}).one()
        return Queue(mine_today or 0, judged, remaining, others, settings_of(connection).hides)


def elsewhere(engine: Engine, account_id: int) -> int:
    """Count the questions that this account may still answer, but not now: others look at them. Raises NotAllowed for
    one that may not judge."""
    with reading(engine) as connection:
        account = require(connection, account_id, *ROLES)
        conditions = (_is_open_to_account(), ~_has_place(), readable(question, account.languages))
        query = select(func.count()).select_from(question).where(*conditions)
        return int(connection.execute(query, {"account": account_id, "now": tables.now()}).scalar_one())


# Statements are cached for each set of languages: building one takes longer than running it.
# `account` and `now` are bound at each call.


@cache
def _shown() -> Select[Any]:
    """A question with the texts of its input, and those with which they are compared for `account`."""
    judged, text = question.alias("judged"), input_table.alias("judged_text")
    compared = (
        select(text.c.texts)
        .join(judged, judged.c.input_id == text.c.id)
        .join(judgement, judgement.c.question_id == judged.c.id)
        .join(lease, lease.c.compared == judgement.c.id)
        .where(lease.c.question_id == bindparam("question"), lease.c.annotator_id == bindparam("account"))
        .scalar_subquery()
    )
    # Somebody put it aside, or let an answer to it go stale: nothing is remembered of others, which are most.
    stale = exists().where(judgement.c.question_id == question.c.id, judgement.c.withdrawn_by.is_not(None))
    had = exists().where(aside.c.question_id == question.c.id) | stale
    columns: list[Any] = [question.c[name] for name in ("task", "kind", "study_id", "output", "group_id")]
    columns += [input_table.c.texts, input_table.c.languages, compared.label("compared"), had.label("had")]
    query = select(*columns).join(input_table, input_table.c.id == question.c.input_id)
    return query.where(question.c.id == bindparam("question"))


@cache
def _held_lease(codes: tuple[str, ...]) -> Select[Any]:
    """A question that this account has a lease of. `mine`: it may still answer it, a hidden one always; those first."""
    is_open = or_(lease.c.round != FIRST, _is_open_to_account())
    answerable = case((and_(lease.c.expires_at >= bindparam("now"), is_open, readable(question, codes)), 1), else_=0)
    return (
        select(question.c.id, answerable.label("mine"))
        .join(lease, lease.c.question_id == question.c.id)
        .where(lease.c.annotator_id == bindparam("account"))
        .order_by(answerable.desc(), lease.c.expires_at.desc())
        .limit(1)
    )


@cache
def _vacant_question(codes: tuple[str, ...], past: bool, again: bool, search: str) -> Select[Any]:
    """The first question of a search with a place for this account, locked; `past` those that others have locked.
    `crowded`: it has leases that are over. `again`: of those skipped since `midnight`, the longest ago first; else the
    others."""
    me: BindParameter[int] = bindparam("account")
    since: BindParameter[datetime] = bindparam("midnight")
    skipped = is_skipped(me, since)
    conditions, order = _search(search)
    its_input = input_table.alias("its_input")
    languages = select(its_input.c.languages).where(its_input.c.id == question.c.input_id).scalar_subquery()
    crowded = exists().where(lease.c.question_id == question.c.id, _is_over())
    names = ("id", "task", "kind", "priority", "input_id", "source_input_id")
    query = (
        select(*(question.c[name] for name in names), languages.label("languages"), crowded.label("crowded"))
        .where(_is_open_to_account(), _has_place(), readable(question, codes), ~_reveals_too_early(codes))
        .where(skipped if again else ~skipped, *conditions)
        .order_by(*([skips_of(me, since, what=aside.c.id)] if again else order))
    )
    return query.limit(1).with_for_update(of=question, skip_locked=past, key_share=True)


def _search(search: str) -> tuple[list[ColumnElement[bool]], list[Any]]:
    """Conditions and order. Of `BLOCK` and `SOURCE` those of `task` and `kind`, with a priority from `least` to below
    `bound`; the versions of `source` begin with itself, outputs of one text come one after the other."""
    wanted: list[Any] = [question.c.priority, question.c.waits.desc()]
    if search == ANY:
        # By kind after what settles most: fewer switches between questions about texts and groups.
        return [], [*wanted, question.c.kind, question.c.id]
    placed = [question.c.priority >= bindparam("least"), question.c.priority < bindparam("bound")]
    if search == BLOCK:
        same = [question.c.task == bindparam("task"), question.c.kind == bindparam("kind")]
        return [*same, *placed], [*wanted, question.c.id]
    source: Any = bindparam("source")
    # A source has few questions and a block may have all: `|| ''` keeps databases, which may not know how many, from
    # going through the block's index.
    same = [question.c[name].concat("") == bindparam(name) for name in ("task", "kind")]
    text = case((question.c.kind == "pair", question.c.input_id), else_=0)
    order = [case((question.c.input_id == source, 0), else_=1), text, *wanted, question.c.id]
    return [*same, *placed, question.c.source_input_id == source], order


def _reveals_too_early(codes: tuple[str, ...]) -> ColumnElement[bool]:
    """Condition: about a group that may give an output away, while this account may still be asked about a text of it,
    or another version of its source, and has not put that off twice today: else the group would wait for ever."""
    text, part, of_one = question.alias("text"), member.alias("its_member"), group.alias("of_one_system")
    members = select(part.c.input_id).where(part.c.group_id == question.c.group_id).correlate(question)
    is_open = and_(
        text.c.task == question.c.task,
        text.c.kind.in_(ABOUT_OUTPUTS),
        _is_open_to_account(text),
        readable(text, codes),
        skips_of(bindparam("account"), bindparam("midnight"), text) < 2,
    )
    of_source = exists().where(text.c.source_input_id == question.c.input_id, is_open)
    of_member = exists().where(text.c.input_id.in_(members), is_open)
    one_system = exists().where(of_one.c.id == question.c.group_id, of_one.c.system_id.is_not(None))
    return and_(question.c.kind == "group", one_system, or_(of_source, of_member))


@cache
def _lease_row() -> ReturningInsert[Any]:
    """The lease of `question` for this account `until` then, if it still has a place for it."""
    row: Any = (question.c.id, bindparam("account"), bindparam("until"), literal(FIRST), bindparam("compared"))
    vacant = select(*row).where(question.c.id == bindparam("question"), _is_open_to_account(), _has_place())
    insert = lease.insert().from_select(["question_id", "annotator_id", "expires_at", "round", "compared"], vacant)
    return insert.returning(lease.c.question_id)


def _is_over() -> ColumnElement[bool]:
    """Condition on `lease`: expired, or this account's own."""
    return or_(lease.c.expires_at < bindparam("now"), lease.c.annotator_id == bindparam("account"))


def _is_open_to_account(question: Any = question) -> ColumnElement[bool]:
    """Condition on `question`, or an alias: somebody waits for it, it has not all its votes, none and no flag of this
    account, which did not learn its answer in training."""
    own = judgement.alias("mine")
    mine = (own.c.question_id == question.c.id, own.c.annotator_id == bindparam("account"), is_counted(own))
    judged = exists().where(*mine, or_(own.c.round == TRAINING, own.c.round == FIRST))
    flagged = is_flagged(bindparam("account"), question)
    return and_(question.c.filled.is_(False), question.c.priority.is_not(None), ~judged, ~flagged)


def _has_place() -> ColumnElement[bool]:
    """Condition on `question`: fewer people than it wants have answered it, or look at it `now` without its being
    hidden; `account` itself left out."""
    looking = lease.alias("looking")
    others = (looking.c.annotator_id != bindparam("account"), looking.c.expires_at >= bindparam("now"))
    same = (looking.c.question_id == question.c.id, looking.c.round == FIRST)
    number = select(func.count()).select_from(looking).where(*same, *others).correlate(question).scalar_subquery()
    return votes_on_question() + number < question.c.annotators
