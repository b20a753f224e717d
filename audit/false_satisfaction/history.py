"""The counts as they were: what people and gold had answered at points of the history of judging.

The history is append-only, so every moment can be computed again: judgements and adjudications that were decided until
then, settled by the rule of today on the sample of today. At the last point the counts are those of the report.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine, select

from audit.annotation.accounts import ROLES
from audit.annotation.answers import ORIGINS, WITHDRAWN, Quorum, Vote, voted_answers
from audit.annotation.questions import ABOUT_OUTPUTS, Subject
from audit.false_satisfaction.cells import (
    Audited,
    Counted,
    counted_from,
    drawn_cells,
    ground_of,
    waiting_questions,
)
from audit.false_satisfaction.questions import asked_by
from audit.false_satisfaction.resolution import (
    ALLOWED,
    KnownAnswer,
    Process,
    Whose,
    drawn_groups,
    subjects_of,
    vocabularies,
)
from audit.sampling.designs import quorum_of
from audit.store import snapshot, table_of, tables
from audit.store.copying import in_utc

POINTS = 12
"""Points of a history unless told otherwise."""
Answers = dict[tuple[int, str], frozenset[str]]
"""(question, origin) -> the allowed labels, as in the table `answer`."""
Judged = TypeVar("Judged", bound=Any)


class PastJudgement(NamedTuple):
    """A first-pass judgement, also one that is withdrawn or superseded now."""

    id: int
    question_id: int
    role: str
    answer: str
    decided_at: datetime
    supersedes: int | None


class PastAdjudication(NamedTuple):
    """An adjudication."""

    id: int
    question_id: int
    allowed: frozenset[str]
    decided_at: datetime


@dataclass(frozen=True)
class History:
    """The judgements and adjudications of questions on inputs and outputs, oldest first.

    `wanted` has the votes that settle each question, `flags` when which question was flagged.
    """

    judgements: Sequence[PastJudgement]
    adjudications: Sequence[PastAdjudication]
    wanted: Mapping[int, Quorum]
    flags: Sequence[tuple[int, datetime]] = ()


@dataclass(frozen=True)
class Point:
    """The counts when `judgements` judgements of people had been given, and `adjudications` made, until `until`.

    `until` is None where people had decided nothing.
    """

    judgements: int
    adjudications: int
    until: datetime | None
    answers: int
    """Questions that had an answer that counts."""
    counted: Counted


def history_of(connection: Connection, studies: Collection[int] | None = None) -> History:
    """Read what was ever said about questions on inputs and outputs, of these studies (ids; None: of all)."""
    judgement, adjudication = table_of(tables.Judgement), table_of(tables.Adjudication)
    question, annotator = table_of(tables.Question), table_of(tables.Annotator)
    about_outputs = select(question.c.id, question.c.annotators).where(question.c.kind.in_(ABOUT_OUTPUTS))
    if studies is not None:
        about_outputs = about_outputs.where(asked_by(connection, studies))
    rule = quorum_of(connection)
    needed = {id: Quorum(annotators, rule) for id, annotators in connection.execute(about_outputs)}
    columns = (judgement.c.id, judgement.c.question_id, annotator.c.role, judgement.c.answer)
    judged = (
        select(*columns, judgement.c.decided_at, judgement.c.supersedes)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .where(judgement.c.round == 1)
        .order_by(judgement.c.id)
    )
    columns = (adjudication.c.id, adjudication.c.question_id, adjudication.c.allowed, adjudication.c.decided_at)
    adjudicated = select(*columns).order_by(adjudication.c.id)
    aside = table_of(tables.Aside)
    flags = select(aside.c.question_id, aside.c.at).where(aside.c.kind == "flag")
    return History(
        [
            PastJudgement(id, question_id, role, answer, in_utc(moment), supersedes)
            for id, question_id, role, answer, moment, supersedes in connection.execute(judged)
            if question_id in needed
        ],
        [
            PastAdjudication(id, question_id, frozenset(allowed), in_utc(moment))
            for id, question_id, allowed, moment in connection.execute(adjudicated)
            if question_id in needed
        ],
        needed,
        [(question_id, in_utc(moment)) for question_id, moment in connection.execute(flags) if question_id in needed],
    )


def answers_until(history: History, until: datetime | None = None) -> Answers:
    """The answers that followed from people's decisions until then (None: all), by the rule of `audit.annotation`.

    Gold's answers stand from the beginning, whenever they came: what people add is to be seen.

    >>> noon = datetime(2026, 1, 1, 12)
    >>> given = PastJudgement(1, 7, "annotator", "positive", noon, None)
    >>> withdrawn = PastJudgement(2, 7, "annotator", "withdrawn", datetime(2026, 1, 1, 13), 1)
    >>> history = History([given, withdrawn], [], {7: Quorum(1)})
    >>> answers_until(history, noon), answers_until(history)
    ({(7, 'people'): frozenset({'positive'})}, {})
    """
    votes = _votes_until(history, until)
    last = {
        adjudication.question_id: adjudication.allowed
        for adjudication in history.adjudications
        if until is None or adjudication.decided_at <= until
    }
    # One without labels takes back those before it.
    answers: Answers = {(question, "adjudicated"): allowed for question, allowed in last.items() if allowed}
    for question, question_votes in votes.items():
        for origin, label in voted_answers(question_votes, history.wanted[question]).items():
            answers[question, origin] = frozenset([label])
    return answers


def moments_of(history: History, points: int = POINTS) -> list[datetime | None]:
    """At most so many moments, evenly spaced by the steps that people took; the last is None: now.

    Judgements, withdrawals and adjudications are steps. Those of one moment are never parted, so there may be fewer.
    """
    steps = sorted(
        [judgement.decided_at for judgement in history.judgements if judgement.role in ROLES]
        + [adjudication.decided_at for adjudication in history.adjudications]
    )
    if not steps:
        return [None]
    ends = sorted({number * len(steps) // points for number in range(1, points)} - {0})
    moments = dict.fromkeys(steps[end - 1] for end in ends)
    return [*(moment for moment in moments if moment < steps[-1]), None]


def replay(
    database: Engine | Connection, whose: Whose = "both", study: int | None = None, points: int = POINTS
) -> Iterator[Point]:
    """The counts of every cell before people judged, and at the moments of `moments_of`; the last is the present.

    The samples are those drawn last, at all points. What audits found is not replayed: `Counted.audited` is empty.
    Raises AuditError where there is nothing to report.
    """
    with snapshot(database) as connection:
        ground = ground_of(connection, study)
        history = history_of(connection, [row["id"] for row in ground.studies])
        about, gold = subjects_of(connection), vocabularies(connection)
        samples = [(sample, list(drawn_groups(connection, [sample["id"]]))) for sample in ground.samples]

    def point(part: History, until: datetime | None) -> Point:
        answers = counting_answers(answers_until(part, until), about, whose)
        process = Process(frozenset(about[question] for question in passed_until(part, until)), **gold)
        drawn = [cell for sample, groups in samples for cell in drawn_cells(sample, groups, answers, process)]
        people = [judgement.decided_at for judgement in part.judgements if judgement.role in ROLES]
        adjudicated = [adjudication.decided_at for adjudication in part.adjudications]
        judgements, adjudications = (
            sum(until is None or at <= until for at in decided) for decided in (people, adjudicated)
        )
        counted = counted_from(ground, drawn, len(waiting_questions(drawn)), Audited.of())
        return Point(judgements, adjudications, until or max(people + adjudicated, default=None), len(answers), counted)

    moments = moments_of(history, points)
    if len(moments) > 1:
        gold_alone = [judgement for judgement in history.judgements if judgement.role not in ROLES]
        yield point(History(gold_alone, [], history.wanted), None)
    for until in moments:
        yield point(history, until)


def passed_until(history: History, until: datetime | None = None) -> set[int]:
    """The questions that people were through with then, as `audit.false_satisfaction.resolution` has it."""
    votes = _votes_until(history, until)
    full = {
        question
        for question, question_votes in votes.items()
        if sum(vote.role in ROLES for vote in question_votes) >= history.wanted[question].annotators
    }
    return full | {question for question, moment in history.flags if until is None or moment <= until}


def _votes_until(history: History, until: datetime | None) -> dict[int, list[Vote]]:
    """The votes that counted then, gold's included, by question."""
    decided = [
        judgement
        for judgement in history.judgements
        if until is None or judgement.role not in ROLES or judgement.decided_at <= until
    ]
    votes: dict[int, list[Vote]] = {}
    for judgement in counting_judgements(decided):
        vote = Vote(judgement.question_id, "", judgement.role, judgement.answer, None)
        votes.setdefault(judgement.question_id, []).append(vote)
    return votes


def counting_judgements(history: Sequence[Judged]) -> list[Judged]:
    """The judgements that count at the end of a history, or of a beginning of one: neither superseded nor withdrawn.

    They are rows with the columns id, supersedes and answer, oldest first.
    """
    superseded = {judgement.supersedes for judgement in history}
    return [judgement for judgement in history if judgement.id not in superseded and judgement.answer != WITHDRAWN]


def counting_answers(
    answers: Answers, about: Mapping[int, Subject], whose: Whose = "both"
) -> dict[Subject, KnownAnswer]:
    """The answer that counts, by subject, as `audit.false_satisfaction.resolution.known_answers` has it.

    `about` has the subject of each question.

    >>> answers = {(7, "gold"): frozenset({"a"}), (7, "people"): frozenset({"b"})}
    >>> counting_answers(answers, {7: ("sentiment", 3, None)})["sentiment", 3, None].origin
    'people'
    """
    result: dict[Subject, KnownAnswer] = {}
    for origin in reversed(ORIGINS):
        if origin in ALLOWED[whose]:
            result |= {
                about[question]: KnownAnswer(allowed, from_origin)
                for (question, from_origin), allowed in answers.items()
                if from_origin == origin
            }
    return result
