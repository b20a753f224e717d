"""Questions on which people disagree, and what they said, without names unless somebody asks for them.

Who said what could sway an adjudicator, so opinions are numbered: in another order for each question, one that follows
neither the accounts nor the time. Asking for the names is written into the log, with the names in one transaction.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, case, distinct, exists, func, or_, select

from audit.annotation.accounts import ADJUDICATORS, require
from audit.annotation.answers import UNSURE, is_adjudicated, is_vote
from audit.annotation.deferral import FLAG, taken_back
from audit.annotation.logbook import note
from audit.errors import Refused
from audit.keys import digest
from audit.store import table_of, tables

REVEALED = "names revealed"
"""The action of the log."""


@dataclass(frozen=True)
class Opinion:
    """What one person said of a question. `number` stands for the name, from 1, on this question only."""

    number: int
    answer: str | None
    """The label or `unsure`; None: they flagged the question and did not answer it."""
    comment: str | None = None
    """What they wrote to their answer."""
    flags: tuple[str, ...] = ()
    """What they wrote to their flags, oldest first."""
    saw: bool = False
    """Whether somebody else's answer was on the screen when they gave theirs."""


@dataclass(frozen=True)
class _Said:
    name: str
    answer: str | None
    comment: str | None
    flags: tuple[str, ...]
    saw: bool


def open_disputes(connection: Connection) -> list[int]:
    """Questions that have all their votes, that these do not settle, and that nobody has adjudicated; by priority."""
    question, judgement = table_of(tables.Question), table_of(tables.Judgement)
    unsure = case((judgement.c.answer == UNSURE, 1), else_=0)
    query = (
        select(question.c.id)
        .join(judgement, judgement.c.question_id == question.c.id)
        .where(question.c.filled.is_(True), is_vote(judgement), ~is_adjudicated(question.c.id))
        .group_by(question.c.id, question.c.priority)
        .having(or_(func.count(distinct(judgement.c.answer)) > 1, func.max(unsure) == 1))
        .order_by(question.c.priority.is_(None), question.c.priority, question.c.id)
    )
    return [int(row[0]) for row in connection.execute(query)]


def disputes(engine: Engine, account_id: int) -> list[int]:
    """Ids of the disputed questions that nobody has adjudicated, most wanted first. Raises NotAllowed."""
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        return open_disputes(connection)


def opinions(engine: Engine, account_id: int, question_id: int) -> list[Opinion]:
    """What people said of a question, numbered without names. Raises NotAllowed."""
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        return [
            Opinion(number, one.answer, one.comment, one.flags, one.saw)
            for number, one in enumerate(_people(connection, question_id), start=1)
        ]


def reveal_names(engine: Engine, account_id: int, question_id: int) -> dict[int, str]:
    """The names behind the numbers of `opinions`. The log says who asked for them.

    Raises NotAllowed, and Refused where nobody said anything of the question.
    """
    with engine.begin() as connection:
        require(connection, account_id, *ADJUDICATORS)
        names = {number: one.name for number, one in enumerate(_people(connection, question_id), start=1)}
        if not names:
            raise Refused("nobody has answered or flagged this question; there are no names to reveal")
        note(connection, account_id, REVEALED, question_id, people=len(names))
        return names


def _people(connection: Connection, question_id: int) -> list[_Said]:
    """Everybody who answered or flagged the question, in the order of their numbers."""
    judgement, annotator = table_of(tables.Judgement), table_of(tables.Annotator)
    aside = table_of(tables.Aside)
    votes = connection.execute(
        select(annotator.c.id, annotator.c.name, judgement.c.answer, judgement.c.comment, judgement.c.saw)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .where(judgement.c.question_id == question_id, is_vote(judgement))
    ).all()
    flags = connection.execute(
        select(annotator.c.id, annotator.c.name, aside.c.comment)
        .join(annotator, annotator.c.id == aside.c.annotator_id)
        .where(aside.c.question_id == question_id, aside.c.kind == FLAG, ~exists().where(taken_back(aside)))
        .order_by(aside.c.id)
    ).all()
    names = {int(row[0]): str(row[1]) for row in (*votes, *flags)}
    answers = {int(row[0]): row for row in votes}
    written: dict[int, list[str]] = {id: [] for id in names}
    for id, _, comment in flags:
        written[int(id)].append(str(comment or ""))
    found = []
    for id in _mixed(question_id, names):
        vote = answers.get(id)
        said = (None, None, False) if vote is None else (str(vote[2]), vote[3], vote[4] is not None)
        found.append(_Said(names[id], said[0], said[1], tuple(written[id]), said[2]))
    return found


def _mixed(question_id: int, accounts: Iterable[int]) -> list[int]:
    """Accounts in an order of this question's own, the same each time."""
    return sorted(accounts, key=lambda id: digest("opinion", str(question_id), str(id)))
