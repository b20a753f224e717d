"""Progress of judging, its speed, and when it will end at that speed: for managers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from statistics import median
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, and_, case, func, select, true

from audit.annotation.accounts import (
    ROLES,
    AccountDetails,
    account_details,
    is_person,
    reading_as_manager,
    require,
)
from audit.annotation.answers import (
    ORIGINS,
    SCALES,
    UNSURE,
    VOTE,
    WITHDRAWN,
    is_disputed,
    is_vote,
    settled_by_people,
    votes_on_question,
)
from audit.annotation.assignments import assignments_of, from_column
from audit.annotation.control_questions import FIRST
from audit.annotation.deferral import is_flagged, midnight
from audit.annotation.questions import OpenQuestions, count_open
from audit.store import pieces, reading, tables
from audit.store.copying import in_utc
from audit.store.core import annotator, answer, count_rows, input_table, judgement, member, question, spot_check

# Progress of judging: for managers.


@dataclass(frozen=True)
class Progress:
    """Counts over the whole database, or over some of its questions."""

    questions: OpenQuestions
    checks: int
    """Agreed answers that wait for an adjudicator's spot check."""
    answers: Mapping[str, int]
    """Questions with an answer, by origin (adjudicated, people, gold); one question may have several origins."""
    judgements: Mapping[str, int]
    """Judgements of the first pass that count, by the name of the person; accounts that judged nothing have 0."""


Among = ColumnElement[bool] | None
"""A condition on the table question: only what is about these questions counts; None: everything."""


def _about(table: Any, among: Among) -> ColumnElement[bool]:
    """Condition on a table with the column question_id."""
    return true() if among is None else table.c.question_id.in_(select(question.c.id).where(among))


def progress(engine: Engine, by: int | None, among: Among = None) -> Progress:
    """Count questions, answers and judgements: for a manager, or for whoever has the database itself (None).

    Raises NotAllowed for another role.
    """
    by_origin = select(answer.c.origin, func.count()).where(_about(answer, among)).group_by(answer.c.origin)
    by_person = (
        select(annotator.c.name, func.count())
        .join(judgement, judgement.c.annotator_id == annotator.c.id)
        .where(is_vote(judgement), _about(judgement, among))
        .group_by(annotator.c.name)
    )
    with reading_as_manager(engine, by) as connection:
        answers: dict[str, int] = dict(connection.execute(by_origin).all())
        # Somebody without a judgement that counts has no row in `by_person`, but an account all the same.
        names = select(annotator.c.name).where(is_person(annotator)).order_by(annotator.c.name)
        people = dict.fromkeys(connection.execute(names).scalars(), 0)
        return Progress(
            questions=count_open(connection, among),
            checks=count_rows(connection, spot_check, _about(spot_check, among)),
            answers={origin: answers.get(origin, 0) for origin in ORIGINS},
            judgements=people | dict(connection.execute(by_person).all()),
        )


# How fast somebody judges, and for how long without a pause: for themselves only, never to rank people.

PAUSE = timedelta(minutes=5)
"""So long without a decision is a pause."""
STRETCH = timedelta(minutes=50)
"""After so long without a pause a pause is suggested."""


@dataclass(frozen=True)
class Pace:
    """One annotator's judging today."""

    seconds: float | None
    """Median from question shown to decision, of the judgements of today that were shown in the app; None: none."""
    since_pause: timedelta
    """From the first to the last decision since the last pause; nothing when the last decision is a pause ago."""

    @property
    def tired(self) -> bool:
        """Whether to suggest a pause."""
        return self.since_pause >= STRETCH


def pace_of(engine: Engine, account_id: int) -> Pace:
    """The pace of this annotator's day (UTC), what they withdrew included: it took time, too; without training.

    Raises NotAllowed.
    """
    moment = tables.now()
    this_day = midnight(moment)
    query = (
        select(judgement.c.shown_at, judgement.c.decided_at, judgement.c.answer)
        .where(
            judgement.c.annotator_id == account_id,
            judgement.c.withdrawn_by.is_(None),
            judgement.c.round >= FIRST,
            judgement.c.decided_at >= min(this_day, moment - STRETCH - PAUSE),
        )
        .order_by(judgement.c.id)
    )
    with reading(engine) as connection:
        require(connection, account_id, *ROLES)
        rows = [
            (None if shown is None else in_utc(shown), in_utc(decided), answer)
            for shown, decided, answer in connection.execute(query)
        ]
    seconds = [
        (decided - shown).total_seconds()
        for shown, decided, answer in rows
        if shown is not None and answer != WITHDRAWN and decided >= this_day
    ]
    return Pace(median(seconds) if seconds else None, since_pause([decided for _, decided, _ in rows], moment))


def since_pause(decided: Sequence[datetime], now: datetime) -> timedelta:
    """The time since the last pause of somebody who decided at these moments, given in their order.

    >>> noon = datetime(2026, 1, 1, 12)
    >>> since_pause([noon, noon + timedelta(minutes=7), noon + timedelta(minutes=9)], noon + timedelta(minutes=10))
    datetime.timedelta(seconds=120)
    """
    if not decided or now - decided[-1] >= PAUSE:
        return timedelta(0)
    first = decided[-1]
    for earlier in reversed(decided[:-1]):
        if first - earlier >= PAUSE:
            break
        first = earlier
    return decided[-1] - first


# Questions that wait in languages which too few people read, or in studies that too few of them are assigned to: for
# managers, who add accounts and assign them.


@dataclass(frozen=True)
class Unread:
    """Questions that need the same languages, or people of the same studies, and that will not get all their answers
    from the accounts there are."""

    languages: tuple[str, ...]
    """Codes of all that must be read: of a translation the text's, then the one it was translated into."""
    questions: int
    wanted: int
    """How many people each question wants."""
    readers: int
    """Annotators (enabled accounts) who read all of the languages."""
    others: int
    """Adjudicators and managers who do. They may judge, too, but have other work."""
    studies: tuple[int, ...] = ()
    """Where enough accounts read the languages, and too few of these work on the studies that ask: these studies (ids).
    Then readers and others are those who do."""


class _Account(NamedTuple):
    id: int
    role: str
    languages: frozenset[str]
    """Empty: all."""
    studies: tuple[int, ...]
    """Those that it works on; empty: all."""

    def reads(self, languages: Sequence[str]) -> bool:
        return not self.languages or self.languages.issuperset(languages)

    def works_on(self, studies: Sequence[int]) -> bool:
        return not self.studies or not set(self.studies).isdisjoint(studies)


def unread_questions(engine: Engine, by: int | None = None) -> list[Unread]:
    """As `unread`, for a manager (`by`, an account id; else NotAllowed) or whoever has the database itself (None)."""
    with reading_as_manager(engine, by) as connection:
        return unread(connection)


def unread(connection: Connection) -> list[Unread]:
    """Open questions that no annotator may answer, and those that want more people than may; most questions first.

    Where there are no annotators the others are counted in their place. Where nobody has an account there is nothing
    to say: then all questions wait for accounts.
    """
    accounts = _accounts(connection)
    if not accounts:
        return []
    annotators = any(account.role == "annotator" for account in accounts)
    result = []
    for languages, studies, needed, number, condition in _demand(connection):
        readers = [account for account in accounts if account.reads(languages)]
        assigned = [account for account in readers if account.works_on(studies)]
        # Whether the languages are the reason, or the assignment is.
        for able, whose in ((readers, ()), (assigned, studies)):
            able_annotators = sum(account.role == "annotator" for account in able)
            lacking = number
            if able and (able_annotators or not annotators):
                ids = [account.id for account in able]
                lacking = _lacking_answers(connection, condition, needed, ids) if len(able) < needed else 0
            if lacking:
                result.append(Unread(languages, lacking, needed, able_annotators, len(able) - able_annotators, whose))
                break
    return sorted(
        _merged(result), key=lambda unread: (-unread.questions, unread.languages, unread.wanted, unread.studies)
    )


def _merged(parts: Iterable[Unread]) -> list[Unread]:
    """Questions about groups and about outputs in the same languages are told as one."""
    numbers: Counter[Unread] = Counter()
    for part in parts:
        numbers[replace(part, questions=0)] += part.questions
    return [replace(part, questions=number) for part, number in numbers.items()]


def _accounts(connection: Connection) -> list[_Account]:
    query = select(annotator.c.id, annotator.c.role, annotator.c.languages)
    rows = connection.execute(query.where(is_person(annotator), annotator.c.disabled.is_(False)))
    studies = assignments_of(connection)
    return [
        _Account(id, role, frozenset(filter(None, languages.split(","))), studies.get(id, ()))
        for id, role, languages in rows
    ]


Need = tuple[tuple[str, ...], tuple[int, ...], int]
"""(languages, studies, people)"""


def _demand(
    connection: Connection,
) -> Iterator[tuple[tuple[str, ...], tuple[int, ...], int, int, ColumnElement[bool]]]:
    """Open questions by the languages that they need, the studies that ask and the people that they want: how many, and
    a condition on the tables question and input that only these meet.

    Those about texts and outputs are counted by the database: there are many. Of one about a group every member that is
    shown is read.
    """
    is_open = and_(question.c.filled.is_(False), question.c.priority.is_not(None))
    about_texts = and_(is_open, question.c.kind != "group")
    query = (
        select(input_table.c.languages, question.c.studies, question.c.annotators, func.count())
        .join(question, question.c.input_id == input_table.c.id)
        .where(about_texts)
        .group_by(input_table.c.languages, question.c.studies, question.c.annotators)
    )
    for joined, studies, needed, number in connection.execute(query).all():
        same = (input_table.c.languages == joined, question.c.studies == studies, question.c.annotators == needed)
        yield _codes([joined]), from_column(studies), int(needed), int(number), and_(about_texts, *same)
    group_members = (
        select(question.c.id, question.c.annotators, question.c.studies, input_table.c.languages)
        .join(member, member.c.group_id == question.c.group_id)
        .join(input_table, input_table.c.id == member.c.input_id)
        .where(is_open, question.c.kind == "group", member.c.role != "probe")
        .order_by(question.c.id, member.c.step)
    )
    ids_by_need: dict[Need, list[int]] = {}
    for (id, needed, studies), rows in groupby(connection.execute(group_members).all(), key=lambda row: row[:3]):
        need = (_codes(row[3] for row in rows), from_column(studies), int(needed))
        ids_by_need.setdefault(need, []).append(int(id))
    for (languages, of_studies, needed), ids in ids_by_need.items():
        for piece in pieces(ids):
            yield languages, of_studies, needed, len(piece), question.c.id.in_(piece)


def _codes(joined: Iterable[str]) -> tuple[str, ...]:
    """Each code once, in the order in which they come."""
    return tuple(dict.fromkeys(",".join(joined).split(",")))


def _lacking_answers(
    connection: Connection, condition: ColumnElement[bool], needed: int, readers: Sequence[int]
) -> int:
    """The number of these questions that need more answers than these accounts can add to those of others."""
    by_others = votes_on_question(VOTE.c.annotator_id.not_in(readers))
    asked = question.join(input_table, input_table.c.id == question.c.input_id)
    return count_rows(connection, asked, condition, by_others < needed - len(readers))


RECENT = timedelta(days=7)
"""What is counted as the present pace."""


@dataclass(frozen=True)
class Speed:
    """How fast people judge, from what was judged in the app within `RECENT`."""

    judgements: int
    hours: float
    """Hours of people at work: from decision to decision, pauses left out, all people added up."""
    per_hour: float | None
    """Judgements in an hour of one person's work; None where nobody judged."""
    per_day: float | None
    """Judgements in 24 hours, nights included, since the first one of the time that is counted."""


@dataclass(frozen=True)
class Overview:
    """Counts over the whole database, or over some of its questions; `unread` is of the whole database."""

    progress: Progress
    disputed: int
    """Questions whose votes do not settle them and that nobody has adjudicated."""
    flagged: int
    """Flagged questions to which no adjudicator has replied."""
    filled: int
    """Questions that as many people judged as they want."""
    split: int
    """Of these, those whose votes are not all the same, settled or not. "Unsure" agrees with nothing."""
    today: int
    """Judgements of people that count, since midnight (UTC)."""
    week: int
    """And within the last seven days."""
    left: int
    """Judgements that the open questions still want, audits included."""
    speed: Speed
    ends: datetime | None
    """When the open questions have all their votes at the present pace; None without a pace, or with nothing left."""
    unread: tuple[Unread, ...] = ()
    """Open questions in languages that too few accounts read."""


def overview(engine: Engine, by: int | None = None, among: Among = None) -> Overview:
    """Count for a manager (`by`, an account id; else NotAllowed) or for whoever has the database itself (None)."""
    moment = tables.now()
    with reading_as_manager(engine, by) as connection:
        filled, split, disputed, remaining = _votes(connection, among)
        flags = count_rows(connection, question, is_flagged(), true() if among is None else among)
        today, week = (
            count_rows(
                connection, judgement, judgement.c.decided_at >= since, is_vote(judgement), _about(judgement, among)
            )
            for since in (midnight(moment), moment - RECENT)
        )
        speed = speed_of(_decisions(connection, moment - RECENT, among), moment)
        too_few_readers = tuple(unread(connection))
    ends = moment + timedelta(days=remaining / speed.per_day) if remaining and speed.per_day else None
    return Overview(
        progress(engine, by, among),
        disputed,
        flags,
        filled,
        split,
        today,
        week,
        remaining,
        speed,
        ends,
        too_few_readers,
    )


def with_open(counts: Overview, questions: OpenQuestions) -> Overview:
    """The same counts with these open questions."""
    return replace(counts, progress=replace(counts.progress, questions=questions))


def speed_of(decisions: Mapping[int, Sequence[tuple[datetime, datetime]]], now: datetime) -> Speed:
    """The speed of people who were shown questions and decided at these moments, in the order of their decisions.

    A gap of `PAUSE` or more between two decisions is a pause; after it, work begins when the next question is shown.

    >>> noon, minute = datetime(2026, 1, 1, 12), timedelta(minutes=1)
    >>> shown = [(noon, noon + minute), (noon + minute, noon + 2 * minute), (noon + 60 * minute, noon + 61 * minute)]
    >>> found = speed_of({1: shown}, noon + minute + timedelta(days=2))
    >>> found.judgements, found.hours, found.per_hour, found.per_day
    (3, 0.05, 60.0, 1.5)
    """
    number, work = 0, timedelta(0)
    for moments in decisions.values():
        number += len(moments)
        before = None
        for shown, decided in moments:
            gap = decided - (shown if before is None or decided - before >= PAUSE else before)
            work += min(max(gap, timedelta(0)), PAUSE)
            before = decided
    if not number:
        return Speed(0, 0.0, None, None)
    hours = work / timedelta(hours=1)
    first = min(moments[0][1] for moments in decisions.values() if moments)
    days = max((now - first) / timedelta(days=1), 1.0)
    return Speed(number, hours, number / hours if hours else None, number / days)


def votes_by_question() -> Select[tuple[int, int, int, int]]:
    """Per question with votes: question_id, votes, kinds (different answers) and unsure ones."""
    return (
        select(
            judgement.c.question_id,
            func.count().label("votes"),
            func.count(judgement.c.answer.distinct()).label("kinds"),
            func.sum(case((judgement.c.answer == UNSURE, 1), else_=0)).label("unsure"),
        )
        .where(is_vote(judgement))
        .group_by(judgement.c.question_id)
    )


def _votes(connection: Connection, among: Among) -> tuple[int, int, int, int]:
    """(filled, split, disputed, judgements left) over all questions; ratings are only left, nobody splits on them."""
    voted = votes_by_question().subquery()
    votes = func.coalesce(voted.c.votes, 0)
    full = and_(question.c.kind.not_in(SCALES), voted.c.votes.is_not(None), votes >= question.c.annotators)
    split = and_(full, (voted.c.kinds > 1) | (voted.c.unsure > 0))
    lacking = and_(question.c.priority.is_not(None), votes < question.c.annotators)

    def total(condition: ColumnElement[bool], number: object = 1) -> ColumnElement[int]:
        return func.coalesce(func.sum(case((condition, number), else_=0)), 0)

    numbers = select(
        total(full), total(split), total(is_disputed()), total(lacking, question.c.annotators - votes)
    ).select_from(question.outerjoin(voted, voted.c.question_id == question.c.id))
    if among is not None:
        numbers = numbers.where(among)
    # PostgreSQL's sums of whole numbers are decimals.
    filled, divided, disputed, remaining = map(int, connection.execute(numbers).one())
    return filled, divided, disputed, remaining


def _decisions(connection: Connection, since: datetime, among: Among) -> dict[int, list[tuple[datetime, datetime]]]:
    """The times (shown, decided) of each person's judgements in the app, withdrawn ones included: they took time."""
    query = (
        select(judgement.c.annotator_id, judgement.c.shown_at, judgement.c.decided_at)
        .where(judgement.c.decided_at >= since, judgement.c.shown_at.is_not(None), _about(judgement, among))
        .order_by(judgement.c.decided_at, judgement.c.id)
    )
    decisions: dict[int, list[tuple[datetime, datetime]]] = {}
    for person, shown, decided in connection.execute(query):
        decisions.setdefault(int(person), []).append((in_utc(shown), in_utc(decided)))
    return decisions


# Who judges, how much and how fast, and how often they say what was settled in the end: for managers.


@dataclass(frozen=True)
class PersonActivity:
    """One person's first-pass judgements that count; people who judged nothing are included."""

    name: str
    role: str
    disabled: bool
    languages: tuple[str, ...]
    """Codes of the languages the account reads; none: all."""
    seen_at: datetime | None
    """The last use of the app, in UTC; None: never."""
    judgements: int
    today: int
    """Since midnight (UTC)."""
    seconds: float | None
    """Median from question shown to decision; None where nothing was judged in the app."""
    unsure: int
    settled: int
    """Labels given to questions that people have settled, by agreement or by an adjudicator; "unsure" left out."""
    agreed: int
    """Of these, how many are what was settled on. Who takes part in a majority agrees with it."""


def people_activity(engine: Engine, by: int | None = None, among: Among = None) -> list[PersonActivity]:
    """Everybody with an account, by name, with what they did, or did at the questions `among`.

    For a manager (`by`) or whoever has the database itself (None). Raises NotAllowed for another role.
    """
    with reading_as_manager(engine, by) as connection:
        settled = settled_by_people(connection)
        rows: dict[int, list[Row[Any]]] = {}
        for row in connection.execute(
            select(judgement).where(is_vote(judgement), _about(judgement, among)).order_by(judgement.c.id)
        ):
            rows.setdefault(row.annotator_id, []).append(row)
    this_day = midnight(tables.now())
    return [
        _activity_of(account, rows.get(account.id, []), settled, this_day) for account in account_details(engine, by=by)
    ]


def _activity_of(
    account: AccountDetails, rows: Sequence[Row[Any]], settled: Mapping[int, frozenset[str]], this_day: datetime
) -> PersonActivity:
    """One person's activity by their judgements; `settled` has the labels that people settled on, by question."""
    seconds = [
        (in_utc(row.decided_at) - in_utc(row.shown_at)).total_seconds() for row in rows if row.shown_at is not None
    ]
    resolved = [row for row in rows if row.question_id in settled and row.answer != UNSURE]
    return PersonActivity(
        name=account.name,
        role=account.role,
        disabled=account.disabled,
        languages=account.languages,
        seen_at=account.seen_at,
        judgements=len(rows),
        today=sum(in_utc(row.decided_at) >= this_day for row in rows),
        seconds=median(seconds) if seconds else None,
        unsure=sum(row.answer == UNSURE for row in rows),
        settled=len(resolved),
        agreed=sum(row.answer in settled[row.question_id] for row in resolved),
    )
