"""Questions with their settled answers, a page at a time: what a program fetches again and again.

An export (`writing.py`) is a whole database at one moment; this is the part of it that teams want in their own tools.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, Engine, exists, select

from audit.annotation.accounts import reading_as
from audit.store.core import answer, input_table, question
from audit.studies.deviations import questions_of
from audit.tasks import Input

LARGEST_PAGE = 500
Which = Literal["all", "answered", "open"]
"""All questions, those that have an answer, or those that wait for one."""


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question with its settled answers; nobody's name is in it."""

    id: int
    task: str
    kind: str
    input: Input
    output: str | None
    annotators: int
    """How many people are asked."""
    waits: int
    """How many drawn groups wait for it."""
    filled: bool
    answers: dict[str, list[str]]
    """Right labels by origin: adjudicated, people, gold."""


def questions_page(
    engine: Engine,
    account_id: int,
    after: int = 0,
    limit: int = 100,
    *,
    which: Which = "all",
    study: int | None = None,
    origin: str | None = None,
) -> list[AnsweredQuestion]:
    """The next questions with a number above `after`, at most `limit`, in the order of their numbers.

    Of one study, or all; `origin` names whose answers (adjudicated, people, gold) `which` is about. Raises NotAllowed
    for anyone but a manager.
    """
    answered = exists().where(answer.c.question_id == question.c.id)
    if origin is not None:
        answered = answered.where(answer.c.origin == origin)
    query = (
        select(question, input_table.c.texts, input_table.c.languages)
        .join(input_table, input_table.c.id == question.c.input_id)
        .where(question.c.id > after)
        .order_by(question.c.id)
        .limit(min(limit, LARGEST_PAGE))
    )
    if which == "answered":
        query = query.where(answered)
    if which == "open":
        query = query.where(~answered, question.c.priority.is_not(None))
    if study is not None:
        query = query.where(question.c.id.in_(questions_of(study)))
    with reading_as(engine, account_id, "manager") as connection:
        rows = connection.execute(query).all()
        answers = _answers(connection, [row.id for row in rows])
    return [
        AnsweredQuestion(
            id=row.id,
            task=row.task,
            kind=row.kind,
            input=Input.stored(row.texts, row.languages),
            output=row.output,
            annotators=row.annotators,
            waits=row.waits,
            filled=row.filled,
            answers=answers.get(row.id, {}),
        )
        for row in rows
    ]


def _answers(connection: Connection, ids: Sequence[int]) -> dict[int, dict[str, list[str]]]:
    query = select(answer.c.question_id, answer.c.origin, answer.c.allowed).where(answer.c.question_id.in_(ids))
    answers: dict[int, dict[str, list[str]]] = {}
    for id, origin, allowed in connection.execute(query.order_by(answer.c.question_id, answer.c.origin)):
        answers.setdefault(id, {})[origin] = list(allowed)
    return answers
