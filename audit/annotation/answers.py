"""From judgements to answers: what is settled, by whom, and what is disputed.

The table `answer` is derived: `settle` rebuilds the rows of the questions it is given from judgements and
adjudications, and the same history always gives the same rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement, Connection, delete, exists, func, select

from audit.annotation.accounts import ROLES
from audit.store import insert_new, pieces, table_of, tables

UNSURE = "unsure"
WITHDRAWN = "withdrawn"
ORIGINS = ("adjudicated", "people", "gold")
"""Precedence: the first of these that a question has is its answer."""

Standing = Literal["open", "agreed", "disputed"]


@dataclass(frozen=True)
class Vote:
    """One annotator's judgement that counts."""

    question_id: int
    annotator: str
    role: str
    answer: str
    comment: str | None


def standing(votes: list[str], wanted: int) -> Standing:
    """Whether the people's votes on a question agree. "Unsure" is a vote, but never an answer.

    >>> standing(["positive", "positive"], 2), standing(["positive", "unsure"], 2), standing(["positive"], 2)
    ('agreed', 'disputed', 'open')
    """
    if len(votes) < wanted:
        return "open"
    return "agreed" if len(set(votes)) == 1 and votes[0] != UNSURE else "disputed"


def counting_votes(connection: Connection, question_ids: Iterable[int]) -> list[Vote]:
    """First-pass judgements that nothing supersedes and that are not withdrawn, oldest first."""
    judgement, annotator = table_of(tables.Judgement), table_of(tables.Annotator)
    later = judgement.alias("later")
    found = []
    for piece in pieces(question_ids):
        query = (
            select(judgement.c.question_id, annotator.c.name, annotator.c.role, judgement.c.answer, judgement.c.comment)
            .join(annotator, annotator.c.id == judgement.c.annotator_id)
            .outerjoin(later, later.c.supersedes == judgement.c.id)
            .where(
                judgement.c.question_id.in_(piece),
                judgement.c.round == 1,
                judgement.c.answer != WITHDRAWN,
                later.c.id.is_(None),
            )
            .order_by(judgement.c.id)
        )
        found += [Vote(*row) for row in connection.execute(query)]
    return found


def settle(connection: Connection, question_ids: Iterable[int]) -> None:
    """Rebuild what is derived of these questions: their answers, and whether they have all the votes they want."""
    ids = list(question_ids)
    answer = table_of(tables.Answer)
    _note_filled(connection, ids)
    rows = settled_answers(connection, ids)
    for piece in pieces(ids):
        connection.execute(delete(answer).where(answer.c.question_id.in_(piece)))
    insert_new(
        connection,
        tables.Answer,
        [{"question_id": id, "origin": origin, "allowed": allowed} for (id, origin), allowed in rows.items()],
    )


def wrongly_filled(connection: Connection) -> int:
    """How many questions say that they have all their votes and have not, or the other way round; writes nothing."""
    question = table_of(tables.Question)
    return connection.execute(
        select(func.count(question.c.id)).where(question.c.filled != _has_its_votes())
    ).scalar_one()


def _note_filled(connection: Connection, question_ids: list[int]) -> None:
    question, filled = table_of(tables.Question), _has_its_votes()
    for piece in pieces(question_ids):
        changed = question.c.id.in_(piece) & (question.c.filled != filled)
        connection.execute(question.update().where(changed).values(filled=filled))


def _has_its_votes() -> ColumnElement[bool]:
    """Whether as many people's votes count on the question of the outer statement as it wants."""
    question, judgement = table_of(tables.Question), table_of(tables.Judgement)
    annotator, later = table_of(tables.Annotator), judgement.alias("later")
    people = select(annotator.c.id).where(annotator.c.role.in_(ROLES))
    votes = (
        select(func.count())
        .where(
            judgement.c.question_id == question.c.id,
            judgement.c.round == 1,
            judgement.c.answer != WITHDRAWN,
            judgement.c.annotator_id.in_(people),
            ~exists().where(later.c.supersedes == judgement.c.id),
        )
        .correlate(question)
        .scalar_subquery()
    )
    return votes >= question.c.annotators


def settled_answers(connection: Connection, question_ids: Iterable[int]) -> dict[tuple[int, str], list[str]]:
    """(question, origin) -> allowed labels, as the history of these questions has them; writes nothing."""
    ids = list(question_ids)
    question, adjudication = table_of(tables.Question), table_of(tables.Adjudication)
    wanted: dict[int, int] = {}
    rows: dict[tuple[int, str], list[str]] = {}
    for piece in pieces(ids):
        wanted.update(
            (int(row[0]), int(row[1]))
            for row in connection.execute(select(question.c.id, question.c.annotators).where(question.c.id.in_(piece)))
        )
        latest = select(adjudication).where(adjudication.c.question_id.in_(piece)).order_by(adjudication.c.id)
        rows.update(
            ((row["question_id"], "adjudicated"), sorted(row["allowed"]))
            for row in connection.execute(latest).mappings()
        )
    votes: dict[int, list[Vote]] = {}
    for vote in counting_votes(connection, ids):
        votes.setdefault(vote.question_id, []).append(vote)
    for question_id, some in votes.items():
        rows.update(
            ((question_id, origin), [label]) for origin, label in voted_answers(some, wanted[question_id]).items()
        )
    return rows


def voted_answers(votes: Sequence[Vote], wanted: int) -> dict[str, str]:
    """What the votes on one question make its answer, by origin (people, gold); empty where they settle nothing.

    >>> votes = [Vote(1, "ann", "annotator", "positive", None), Vote(1, "gold", "gold", "negative", None)]
    >>> voted_answers(votes, 1), voted_answers(votes, 2)
    ({'people': 'positive', 'gold': 'negative'}, {'gold': 'negative'})
    """
    people = [vote.answer for vote in votes if vote.role in ROLES]
    gold = [vote.answer for vote in votes if vote.role == "gold"]
    found = {}
    if people and standing(people, wanted) == "agreed":
        found["people"] = people[0]
    if gold and len(set(gold)) == 1:
        found["gold"] = gold[0]
    return found
