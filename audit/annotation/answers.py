"""From judgements to answers: what is settled, by whom, and what is disputed.

The table `answer` is derived: `settle` rebuilds the rows of the questions it is given from judgements and
adjudications, and the same history always gives the same rows.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    Text,
    and_,
    bindparam,
    cast,
    delete,
    exists,
    func,
    select,
)

import audit
from audit.annotation.accounts import ROLES, is_person
from audit.store import insert_new, pieces, table_of, tables

UNSURE = "unsure"
WITHDRAWN = "withdrawn"
ORIGINS = ("adjudicated", "people", "gold")
"""Precedence: the first of these that a question has is its answer."""
PEOPLE = ("adjudicated", "people")
"""Those of them that come from people."""

Standing = Literal["open", "agreed", "disputed"]


@dataclass(frozen=True)
class Vote:
    """One annotator's judgement that counts."""

    question_id: int
    annotator: str
    role: str
    answer: str
    comment: str | None


class _Wanted(NamedTuple):
    """What settling has to know of a question."""

    number: int
    """People whose votes it wants."""
    filled: bool
    """Whether it says that it has them."""
    adjudicated: bool
    answered: bool
    """Whether there are adjudications, and answers: of most questions there are none to be read."""


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
    return [
        Vote(*row) for piece in pieces(question_ids) for row in connection.execute(_counting_votes(), {"ids": piece})
    ]


def settle(connection: Connection, question_ids: Iterable[int]) -> set[int]:
    """Rebuild what is derived of these questions: their answers, and whether they have all the votes they want.

    Writes what has changed and nothing else. Returns the questions that have other answers than before.
    """
    ids = list(question_ids)
    wanted, votes = _wanted(connection, ids), _votes(connection, ids)
    _note_filled(connection, wanted, votes)
    rows = _answers(connection, wanted, votes)
    before: dict[tuple[int, str], list[str]] = {}
    for piece in pieces(id for id, one in wanted.items() if one.answered):
        before.update(
            ((int(id), origin), allowed) for id, origin, allowed in connection.execute(_stored(), {"ids": piece})
        )
    other = [key for key in before.keys() | rows.keys() if before.get(key) != rows.get(key)]
    answer = table_of(tables.Answer)
    for id, origin in other:
        if (id, origin) in before:
            connection.execute(delete(answer).where(answer.c.question_id == id, answer.c.origin == origin))
    new = [
        {"question_id": id, "origin": origin, "allowed": rows[id, origin]}
        for id, origin in other
        if (id, origin) in rows
    ]
    insert_new(connection, tables.Answer, new)
    return {id for id, _ in other}


def wrongly_filled(connection: Connection) -> int:
    """How many questions say that they have all their votes and have not, or the other way round; writes nothing."""
    question = table_of(tables.Question)
    return connection.execute(
        select(func.count(question.c.id)).where(question.c.filled != _has_its_votes())
    ).scalar_one()


def _note_filled(connection: Connection, wanted: Mapping[int, _Wanted], votes: Mapping[int, list[Vote]]) -> None:
    question = table_of(tables.Question)
    for says in (True, False):
        wrong = [
            id
            for id, one in wanted.items()
            if one.filled != says and says == (sum(vote.role in ROLES for vote in votes.get(id, ())) >= one.number)
        ]
        for piece in pieces(wrong):
            connection.execute(question.update().where(question.c.id.in_(piece)).values(filled=says))


def counts(judgement: Any) -> ColumnElement[bool]:
    """Condition on a judgement, the table or an alias of it: it takes none back, and nothing supersedes it."""
    later = table_of(tables.Judgement).alias()
    return and_(judgement.c.answer != WITHDRAWN, ~exists().where(later.c.supersedes == judgement.c.id))


def by_people(judgement: Any) -> ColumnElement[bool]:
    """Condition on a judgement, the table or an alias of it: a person's, not gold's."""
    annotator = table_of(tables.Annotator).alias()
    return judgement.c.annotator_id.in_(select(annotator.c.id).where(is_person(annotator)))


def is_vote(judgement: Any) -> ColumnElement[bool]:
    """Condition on a judgement, the table or an alias of it: a person's of the first pass that counts."""
    return and_(judgement.c.round == 1, by_people(judgement), counts(judgement))


def _has_its_votes() -> ColumnElement[bool]:
    """Whether as many people's votes count on the question of the outer statement as it wants."""
    question, judgement = table_of(tables.Question), table_of(tables.Judgement)
    votes = (
        select(func.count())
        .where(judgement.c.question_id == question.c.id, is_vote(judgement))
        .correlate(question)
        .scalar_subquery()
    )
    return votes >= question.c.annotators


def allows(adjudication: Any) -> ColumnElement[bool]:
    """Condition: the adjudication allows labels. One without any takes back those before it."""
    return cast(adjudication.c.allowed, Text) != "[]"


def is_adjudicated(question_id: Any) -> ColumnElement[bool]:
    """Condition: the last adjudication of the question (a column of the outer query, or a number) stands."""
    adjudication = table_of(tables.Adjudication).alias("standing")
    return exists().where(adjudication.c.question_id == question_id, stands(adjudication))


def stands(adjudication: Any) -> ColumnElement[bool]:
    """Condition on an adjudication, the table or an alias of it: the last of its question, and it allows labels."""
    later = table_of(tables.Adjudication).alias("later_adjudication")
    after = exists().where(later.c.question_id == adjudication.c.question_id, later.c.id > adjudication.c.id)
    return and_(allows(adjudication), ~after)


def settled_answers(connection: Connection, question_ids: Iterable[int]) -> dict[tuple[int, str], list[str]]:
    """(question, origin) -> allowed labels, as the history of these questions has them; writes nothing."""
    ids = list(question_ids)
    return _answers(connection, _wanted(connection, ids), _votes(connection, ids))


def settled_by_people(connection: Connection) -> dict[int, frozenset[str]]:
    """What people settled on by question: an adjudicator's answer before an agreement."""
    answer = table_of(tables.Answer)
    query = select(answer.c.question_id, answer.c.allowed).where(answer.c.origin.in_(PEOPLE))
    # "adjudicated" comes last and takes the place of "people".
    rows = connection.execute(query.order_by(answer.c.origin.desc()))
    return {int(id): frozenset(allowed) for id, allowed in rows}


def _answers(
    connection: Connection, wanted: Mapping[int, _Wanted], votes: Mapping[int, list[Vote]]
) -> dict[tuple[int, str], list[str]]:
    rows: dict[tuple[int, str], list[str]] = {}
    for piece in pieces(id for id, one in wanted.items() if one.adjudicated):
        last = {int(id): sorted(allowed) for id, allowed in connection.execute(_adjudications(), {"ids": piece})}
        rows.update(((id, "adjudicated"), allowed) for id, allowed in last.items() if allowed)
    for question_id, some in votes.items():
        rows.update(
            ((question_id, origin), [label])
            for origin, label in voted_answers(some, wanted[question_id].number).items()
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


def _wanted(connection: Connection, ids: list[int]) -> dict[int, _Wanted]:
    rows = (row for piece in pieces(ids) for row in connection.execute(_questions(), {"ids": piece}))
    return {int(row[0]): _Wanted(int(row[1]), bool(row[2]), bool(row[3]), bool(row[4])) for row in rows}


def _votes(connection: Connection, ids: list[int]) -> dict[int, list[Vote]]:
    votes: dict[int, list[Vote]] = {}
    for vote in counting_votes(connection, ids):
        votes.setdefault(vote.question_id, []).append(vote)
    return votes


# Statements are made once: every judgement asks them, and putting one together takes longer than its answer.
# `ids` are given with each call.


@cache
def _counting_votes() -> Select[Any]:
    judgement, annotator = table_of(tables.Judgement), table_of(tables.Annotator)
    later = judgement.alias("later")
    return (
        select(judgement.c.question_id, annotator.c.name, annotator.c.role, judgement.c.answer, judgement.c.comment)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .outerjoin(later, later.c.supersedes == judgement.c.id)
        .where(
            judgement.c.question_id.in_(_ids()),
            judgement.c.round == 1,
            judgement.c.answer != WITHDRAWN,
            later.c.id.is_(None),
        )
        .order_by(judgement.c.id)
    )


@cache
def _questions() -> Select[Any]:
    question, adjudication, answer = (table_of(one) for one in (tables.Question, tables.Adjudication, tables.Answer))
    adjudicated = exists().where(adjudication.c.question_id == question.c.id)
    answered = exists().where(answer.c.question_id == question.c.id)
    columns = (question.c.id, question.c.annotators, question.c.filled, adjudicated, answered)
    return select(*columns).where(question.c.id.in_(_ids()))


@cache
def _adjudications() -> Select[Any]:
    """Oldest first, so that the last one counts."""
    table = table_of(tables.Adjudication)
    return select(table.c.question_id, table.c.allowed).where(table.c.question_id.in_(_ids())).order_by(table.c.id)


@cache
def _stored() -> Select[Any]:
    answer = table_of(tables.Answer)
    return select(answer.c.question_id, answer.c.origin, answer.c.allowed).where(answer.c.question_id.in_(_ids()))


def _ids() -> BindParameter[Any]:
    return bindparam("ids", expanding=True)


# With what an answer was given: the app's version, and the browser's family, version and platform, or the command.
#
# Of what a browser says of itself only words of our own lists and a number are kept: enough to tell that answers of one
# kind of device differ, too little to know one browser among others, and nothing that a visitor wrote.

LONGEST = 80
"""Characters."""
_FAMILIES = (
    # What imitates others comes first: Edge and Opera call themselves Chrome, Chrome calls itself Safari.
    ("Edge", re.compile(r"\b(?:Edg|EdgA|EdgiOS)/(\d{1,4})\b", re.ASCII)),
    ("Opera", re.compile(r"\bOPR/(\d{1,4})\b", re.ASCII)),
    ("Samsung Internet", re.compile(r"\bSamsungBrowser/(\d{1,4})\b", re.ASCII)),
    ("Firefox", re.compile(r"\b(?:Firefox|FxiOS)/(\d{1,4})\b", re.ASCII)),
    ("Chrome", re.compile(r"\b(?:HeadlessChrome|Chrome|CriOS)/(\d{1,4})\b", re.ASCII)),
    ("Safari", re.compile(r"\bVersion/(\d{1,4})\b.*\bSafari/", re.ASCII)),
)
_PLATFORMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)
_READ = 1_000
"""Characters of the header that are looked at."""


def browser(user_agent: str | None) -> str:
    """What is stored of a browser by the header User-Agent.

    It begins with `audit VERSION; `.

    >>> agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
    >>> browser(agent).partition("; ")[2]
    'Chrome 131; Linux'
    >>> browser("curl/8.0 <script>").partition("; ")[2]
    'another browser'
    """
    given = (user_agent or "")[:_READ]
    named = next((f"{name} {found[1]}" for name, known in _FAMILIES if (found := known.search(given))), None)
    platform = next((name for sign, name in _PLATFORMS if sign in given), None)
    return _joined(named or "another browser", platform)


def command(name: str) -> str:
    """What is stored of answers that a command stored.

    >>> command("import-labels").partition("; ")[2]
    'import-labels'
    """
    return _joined(name)


def _joined(*parts: str | None) -> str:
    return "; ".join([f"audit {audit.__version__}", *(part for part in parts if part)])[:LONGEST]
