"""How far the judging is, how fast it goes and when it ends at that pace: for managers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, Engine, Select, and_, case, func, select

from audit.annotation.accounts import require_manager
from audit.annotation.answers import UNSURE, is_adjudicated, is_vote
from audit.annotation.deferral import is_flagged, midnight
from audit.annotation.pace import PAUSE
from audit.annotation.progress import Progress, progress
from audit.annotation.unread import Unread, unread
from audit.store import table_of, tables
from audit.store.copying import in_utc

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
    """Counts over the whole database."""

    progress: Progress
    disputed: int
    """Questions whose votes do not agree and that nobody has adjudicated."""
    flagged: int
    """Flagged questions to which no adjudicator has replied."""
    filled: int
    """Questions that as many people judged as they want."""
    split: int
    """Of these, those whose votes do not agree, adjudicated or not. "Unsure" agrees with nothing."""
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


def overview(engine: Engine, by: int | None = None) -> Overview:
    """Count for a manager (`by`, an account id; else NotAllowed) or for whoever has the database itself (None)."""
    moment = tables.now()
    with engine.connect() as connection:
        require_manager(connection, by)
        filled, split, disputed, left = _votes(connection)
        flagged = select(func.count()).select_from(table_of(tables.Question)).where(is_flagged())
        flags = int(connection.execute(flagged).scalar() or 0)
        today, week = (_judged_since(connection, since) for since in (midnight(moment), moment - RECENT))
        speed = speed_of(_decisions(connection, moment - RECENT), moment)
        without = tuple(unread(connection))
    ends = moment + timedelta(days=left / speed.per_day) if left and speed.per_day else None
    return Overview(progress(engine, by), disputed, flags, filled, split, today, week, left, speed, ends, without)


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
    judgement = table_of(tables.Judgement)
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


def _votes(connection: Connection) -> tuple[int, int, int, int]:
    """(filled, split, disputed, judgements left) over all questions."""
    question = table_of(tables.Question)
    voted = votes_by_question().subquery()
    votes = func.coalesce(voted.c.votes, 0)
    full = and_(voted.c.votes.is_not(None), votes >= question.c.annotators)
    split = and_(full, (voted.c.kinds > 1) | (voted.c.unsure > 0))
    settled = is_adjudicated(question.c.id)
    lacking = and_(question.c.priority.is_not(None), votes < question.c.annotators)

    def total(condition: ColumnElement[bool], number: object = 1) -> ColumnElement[int]:
        return func.coalesce(func.sum(case((condition, number), else_=0)), 0)

    row = connection.execute(
        select(
            total(full), total(split), total(and_(split, ~settled)), total(lacking, question.c.annotators - votes)
        ).select_from(question.outerjoin(voted, voted.c.question_id == question.c.id))
    ).one()
    return int(row[0]), int(row[1]), int(row[2]), int(row[3])


def _judged_since(connection: Connection, since: datetime) -> int:
    judgement = table_of(tables.Judgement)
    query = select(func.count()).select_from(judgement).where(judgement.c.decided_at >= since, is_vote(judgement))
    return int(connection.execute(query).scalar() or 0)


def _decisions(connection: Connection, since: datetime) -> dict[int, list[tuple[datetime, datetime]]]:
    """By person, when each question was shown in the app and when it was decided; withdrawn ones took time, too."""
    judgement = table_of(tables.Judgement)
    query = (
        select(judgement.c.annotator_id, judgement.c.shown_at, judgement.c.decided_at)
        .where(judgement.c.decided_at >= since, judgement.c.shown_at.is_not(None))
        .order_by(judgement.c.decided_at, judgement.c.id)
    )
    found: dict[int, list[tuple[datetime, datetime]]] = {}
    for person, shown, decided in connection.execute(query):
        found.setdefault(int(person), []).append((in_utc(shown), in_utc(decided)))
    return found
