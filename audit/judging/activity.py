"""Progress of judging, its speed, and when it will end at that speed: for managers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, Integer, case, cast, func, select, true

from audit.false_satisfaction.questions import OpenQuestions, count_open
from audit.judging.accounts import account_details, reading_as_manager
from audit.judging.answers import is_disputed, is_vote
from audit.judging.asides import is_flagged, midnight
from audit.store import tables
from audit.store.copying import in_utc
from audit.store.core import answer, count_rows, input_table, judgement, question
from audit.tasks.questions import ORIGINS, SCALES, UNSURE

PAUSE = timedelta(minutes=5)  # So long without a decision is a pause
RECENT = timedelta(days=7)  # What is counted as the present pace
Among = ColumnElement[bool] | None
"""A condition on the table question: only what is about these questions counts; None: everything."""


class Unread(NamedTuple):
    """Open questions about texts in these languages (of a translation the text's, then the one that it was translated
    into) that no account reads."""

    languages: tuple[str, ...]
    questions: int


def unread_questions(engine: Engine, by: int | None = None) -> list[Unread]:
    """Count the open questions that no account may answer, most first; none where nobody has an account. Without
    annotators, adjudicators and managers are counted. A question about a group is in the languages of its source."""
    people = [account for account in account_details(engine, by=by) if not account.disabled]
    languages_read = [set(account.languages) for account in people if account.role == "annotator"]
    languages_read = languages_read or [set(account.languages) for account in people]
    query = (
        select(input_table.c.languages, func.count())
        .join(question, question.c.input_id == input_table.c.id)
        .where(question.c.filled.is_(False), question.c.priority.is_not(None))
        .group_by(input_table.c.languages)
    )
    numbers: Counter[tuple[str, ...]] = Counter()
    with engine.connect() as connection:
        for joined, number in connection.execute(query) if languages_read else ():
            languages = tuple(dict.fromkeys(joined.split(",")))
            if not any(not read or read.issuperset(languages) for read in languages_read):
                numbers[languages] += number
    return [Unread(*entry) for entry in sorted(numbers.items(), key=lambda entry: (-entry[1], entry[0]))]


class Speed(NamedTuple):
    """How fast people judge, from what was judged in the app within `RECENT`: judgements, hours of people at work
    (from decision to decision, pauses left out, all people added up), judgements in an hour of one person's work, and
    in 24 hours, nights included, since the first one; None where nobody judged."""

    judgements: int
    hours: float
    per_hour: float | None
    per_day: float | None


class Overview(NamedTuple):
    """Counts over the whole database, or over some of its questions; `unread` is of the whole database."""

    questions: OpenQuestions
    answers: Mapping[str, int]
    """Questions with an answer, by origin (adjudicated, people, gold); one question may have several origins."""
    flagged: int  # Flagged questions to which no adjudicator has replied
    today: int  # Judgements of people that count, since midnight (UTC)
    week: int  # And within the last seven days
    speed: Speed
    ends: datetime | None
    """When the open questions have all their votes at the present pace; None without a pace, or with nothing left."""
    unread: tuple[Unread, ...]
    filled: int  # Questions that as many people judged as they want
    split: int  # Of these, those whose votes are not all the same, settled or not. "Unsure" agrees with nothing.
    disputed: int  # Questions whose votes do not settle them and that nobody has adjudicated
    left: int  # Judgements that the open questions still want, audits included


def overview(engine: Engine, by: int | None = None, among: Among = None) -> Overview:
    """Count for a manager (`by`, an account id; else NotAllowed) or for whoever has the database itself (None)."""
    moment, wanted = tables.now(), true() if among is None else among

    def about(table: Any) -> ColumnElement[bool]:
        return true() if among is None else table.c.question_id.in_(select(question.c.id).where(among))

    by_origin = select(answer.c.origin, func.count()).where(about(answer)).group_by(answer.c.origin)
    with reading_as_manager(engine, by) as connection:
        answers: dict[str, int] = dict(connection.execute(by_origin).all())
        today, week = (
            count_rows(connection, judgement, judgement.c.decided_at >= since, is_vote(judgement), about(judgement))
            for since in (midnight(moment), moment - RECENT)
        )
        # Withdrawn judgements are among them: they took time.
        shown = select(judgement.c.annotator_id, judgement.c.shown_at, judgement.c.decided_at)
        shown = shown.where(judgement.c.decided_at >= moment - RECENT, judgement.c.shown_at.is_not(None))
        decisions: dict[int, list[tuple[datetime, datetime]]] = {}
        for row in connection.execute(shown.where(about(judgement)).order_by(judgement.c.decided_at, judgement.c.id)):
            decisions.setdefault(row.annotator_id, []).append((in_utc(row.shown_at), in_utc(row.decided_at)))
        speed, votes = speed_of(decisions, moment), _votes(connection, wanted)
        return Overview(
            count_open(connection, among),
            {origin: answers.get(origin, 0) for origin in ORIGINS},
            count_rows(connection, question, is_flagged(), wanted),
            today,
            week,
            speed,
            moment + timedelta(days=votes["left"] / speed.per_day) if votes["left"] and speed.per_day else None,
            tuple(unread_questions(engine, by)),
            **votes,
        )


def speed_of(decisions: Mapping[int, Sequence[tuple[datetime, datetime]]], now: datetime) -> Speed:
    """The speed of people who were shown questions and decided at these moments, in the order of their decisions.

    A gap of `PAUSE` or more between two decisions is a pause; after it, work begins when the next question is shown.

    >>> noon, minute = datetime(2026, 1, 1, 12), timedelta(minutes=1)
    >>> shown = [(noon, noon + minute), (noon + minute, noon + 2 * minute), (noon + 60 * minute, noon + 61 * minute)]
    >>> speed_of({1: shown}, noon + minute + timedelta(days=2))
    Speed(judgements=3, hours=0.05, per_hour=60.0, per_day=1.5)
    """
    number, work = sum(map(len, decisions.values())), timedelta(0)
    for moments in decisions.values():
        before = None
        for shown, decided in moments:
            gap = decided - (shown if before is None or decided - before >= PAUSE else before)
            work += min(max(gap, timedelta(0)), PAUSE)
            before = decided
    if not number:
        return Speed(0, 0.0, None, None)
    hours = work / timedelta(hours=1)
    days = max((now - min(moments[0][1] for moments in decisions.values())) / timedelta(days=1), 1.0)
    return Speed(number, hours, number / hours if hours else None, number / days)


def _votes(connection: Connection, among: ColumnElement[bool]) -> dict[str, int]:
    """`filled`, `split`, `disputed` and `left` over all questions; ratings are only left, nobody splits on them."""
    unsure = func.sum(case((judgement.c.answer == UNSURE, 1), else_=0)).label("unsure")
    counts = (func.count().label("votes"), func.count(judgement.c.answer.distinct()).label("kinds"), unsure)
    voted = select(judgement.c.question_id, *counts).where(is_vote(judgement)).group_by(judgement.c.question_id)
    own_votes = voted.subquery()
    votes = func.coalesce(own_votes.c.votes, 0)
    full = question.c.kind.not_in(SCALES) & own_votes.c.votes.is_not(None) & (votes >= question.c.annotators)
    lacking = question.c.priority.is_not(None) & (votes < question.c.annotators)
    numbers = {
        "filled": case((full, 1), else_=0),
        "split": case((full & ((own_votes.c.kinds > 1) | (own_votes.c.unsure > 0)), 1), else_=0),
        "disputed": case((is_disputed(), 1), else_=0),
        "left": case((lacking, question.c.annotators - votes), else_=0),
    }
    sums = (cast(func.coalesce(func.sum(number), 0), Integer).label(name) for name, number in numbers.items())
    query = (
        select(*sums).select_from(question.outerjoin(own_votes, own_votes.c.question_id == question.c.id)).where(among)
    )
    return dict(connection.execute(query).mappings().one())
