"""From judgements to answers: what is settled, by whom, and what is disputed.

The table `answer` is derived: `settle` rebuilds the rows of the questions it is given from judgements and
adjudications, and the same history always gives the same rows.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

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
from audit.sampling.options import MAJORITY, UNANIMOUS
from audit.sampling.samples import stored_quorum
from audit.store import insert_new, pieces, tables
from audit.store.core import adjudication, annotator, answer, count_rows, judgement, question

UNSURE = "unsure"
WITHDRAWN = "withdrawn"
SCALES = ("grammaticality", "plausibility")
"""Kinds of questions about a text that are answered by a rating, in the order in which they are asked. Every rating
counts: nothing is agreed or disputed, so they have no answer, and no adjudicator."""
ORIGINS = ("adjudicated", "people", "gold")
"""Precedence: the first of these that a question has is its answer."""
PEOPLE = ("adjudicated", "people")
"""Those of them that come from people."""

VOTE = judgement.alias("vote")


@dataclass(frozen=True)
class Vote:
    """One annotator's judgement that counts."""

    question_id: int
    annotator: str
    role: str
    answer: str
    comment: str | None


class Quorum(NamedTuple):
    """When the people's votes on a question settle it: once it has as many as it needs, and by which rule."""

    annotators: int
    rule: str = MAJORITY

    def answer(self, votes: Sequence[str]) -> str | None:
        """The label that these votes settle on: that of more than half of them, or of all of them by the rule `all`.

        So of two votes both must agree. "Unsure" is a vote, but never an answer. Votes beyond the number needed count;
        which rule holds never makes people ask one more or fewer.

        >>> Quorum(3).answer(["a", "b", "a"]), Quorum(2).answer(["a", "b"]), Quorum(3, "all").answer(["a", "b", "a"])
        ('a', None, None)
        >>> Quorum(2).answer(["a", "b", "a"]), Quorum(3).answer(["a", "unsure", "a"]), Quorum(3).answer(["a", "a"])
        ('a', 'a', None)
        """
        if not votes or len(votes) < self.annotators:
            return None
        ((label, number),) = Counter(votes).most_common(1)
        enough = number == len(votes) if self.rule == UNANIMOUS else 2 * number > len(votes)
        return label if enough and label != UNSURE else None


class _QuestionState(NamedTuple):
    """What `settle` needs to know about a question."""

    quorum: Quorum
    filled: bool
    """Whether its row says that it has them."""
    adjudicated: bool
    answered: bool
    """Whether there are adjudications, and answers: of most questions there are none to be read."""
    kind: str


def counting_votes(connection: Connection, question_ids: Iterable[int]) -> list[Vote]:
    """First-pass judgements that nothing supersedes and that are not withdrawn, oldest first."""
    return [
        Vote(*row) for piece in pieces(question_ids) for row in connection.execute(_counting_votes(), {"ids": piece})
    ]


def settle(connection: Connection, question_ids: Iterable[int]) -> set[int]:
    """Rebuild what is derived about these questions: their answers, and whether they have all the votes they need.

    Writes what has changed and nothing else. Returns the questions that have other answers than before.
    """
    ids = list(question_ids)
    states, votes = _question_states(connection, ids), _votes(connection, ids)
    _update_filled(connection, states, votes)
    rows = _answers(connection, states, votes)
    before: dict[tuple[int, str], list[str]] = {}
    for piece in pieces(id for id, state in states.items() if state.answered):
        before.update(
            ((int(id), origin), allowed) for id, origin, allowed in connection.execute(_stored(), {"ids": piece})
        )
    changed = [key for key in before.keys() | rows.keys() if before.get(key) != rows.get(key)]
    for id, origin in changed:
        if (id, origin) in before:
            connection.execute(delete(answer).where(answer.c.question_id == id, answer.c.origin == origin))
    new = [
        {"question_id": id, "origin": origin, "allowed": rows[id, origin]}
        for id, origin in changed
        if (id, origin) in rows
    ]
    insert_new(connection, tables.Answer, new)
    return {id for id, _ in changed}


def wrongly_filled(connection: Connection) -> int:
    """The number of questions whose column `filled` is wrong; writes nothing."""
    return count_rows(connection, question, question.c.filled != (votes_on_question() >= question.c.annotators))


def _update_filled(
    connection: Connection, states: Mapping[int, _QuestionState], votes: Mapping[int, list[Vote]]
) -> None:
    for filled in (True, False):
        outdated = [
            id
            for id, state in states.items()
            if state.filled != filled
            and filled == (sum(vote.role in ROLES for vote in votes.get(id, ())) >= state.quorum.annotators)
        ]
        for piece in pieces(outdated):
            connection.execute(question.update().where(question.c.id.in_(piece)).values(filled=filled))


def is_counted(row: Any) -> ColumnElement[bool]:
    """Condition on a judgement, the table or an alias of it: it takes none back, and nothing supersedes it."""
    later = judgement.alias()
    return and_(row.c.answer != WITHDRAWN, ~exists().where(later.c.supersedes == row.c.id))


def by_people(judgement: Any) -> ColumnElement[bool]:
    """Condition on a judgement, the table or an alias of it: a person's, not gold's."""
    people = annotator.alias()
    condition: ColumnElement[bool] = judgement.c.annotator_id.in_(select(people.c.id).where(is_person(people)))
    return condition


def is_vote(judgement: Any) -> ColumnElement[bool]:
    """Condition on a judgement, the table or an alias of it: a person's of the first pass that counts."""
    return and_(judgement.c.round == 1, by_people(judgement), is_counted(judgement))


def votes_on_question(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    """The number of people's votes on the question of the outer statement; `conditions` are on the table `VOTE`."""
    its_votes = (VOTE.c.question_id == question.c.id, is_vote(VOTE), *conditions)
    return select(func.count()).select_from(VOTE).where(*its_votes).correlate(question).scalar_subquery()


def allows_labels(adjudication: Any) -> ColumnElement[bool]:
    """Condition: the adjudication allows labels. One without any takes back those before it."""
    return cast(adjudication.c.allowed, Text) != "[]"


def is_adjudicated(question_id: Any) -> ColumnElement[bool]:
    """Condition: the last adjudication of the question (a column of the outer query, or a number) stands."""
    standing = adjudication.alias("standing")
    return exists().where(standing.c.question_id == question_id, stands(standing))


def stands(row: Any) -> ColumnElement[bool]:
    """Condition on an adjudication, the table or an alias of it: the last of its question, and it allows labels."""
    later = adjudication.alias("later_adjudication")
    after = exists().where(later.c.question_id == row.c.question_id, later.c.id > row.c.id)
    return and_(allows_labels(row), ~after)


def is_agreed(question_id: Any) -> ColumnElement[bool]:
    """Condition: people's votes settle the question (a column of the outer query, or a number)."""
    return exists().where(answer.c.question_id == question_id, answer.c.origin == "people")


def is_disputed() -> ColumnElement[bool]:
    """Condition on `question`: it has all its votes, these do not settle it, and nobody has adjudicated it.

    Of ratings every one counts: nobody disputes them.
    """
    undecided = and_(~is_agreed(question.c.id), ~is_adjudicated(question.c.id))
    return and_(question.c.filled.is_(True), question.c.kind.not_in(SCALES), undecided)


def settled_answers(connection: Connection, question_ids: Iterable[int]) -> dict[tuple[int, str], list[str]]:
    """(question, origin) -> allowed labels, as the history of these questions has them; writes nothing."""
    ids = list(question_ids)
    return _answers(connection, _question_states(connection, ids), _votes(connection, ids))


def settled_by_people(connection: Connection) -> dict[int, frozenset[str]]:
    """The allowed labels by question, as people settled them: an adjudicator's answer before an agreement."""
    query = select(answer.c.question_id, answer.c.allowed).where(answer.c.origin.in_(PEOPLE))
    # "adjudicated" comes last and takes the place of "people".
    rows = connection.execute(query.order_by(answer.c.origin.desc()))
    return {int(id): frozenset(allowed) for id, allowed in rows}


def _answers(
    connection: Connection, states: Mapping[int, _QuestionState], votes: Mapping[int, list[Vote]]
) -> dict[tuple[int, str], list[str]]:
    rows: dict[tuple[int, str], list[str]] = {}
    for piece in pieces(id for id, state in states.items() if state.adjudicated):
        last = {int(id): sorted(allowed) for id, allowed in connection.execute(_adjudications(), {"ids": piece})}
        rows.update(((id, "adjudicated"), allowed) for id, allowed in last.items() if allowed)
    for question_id, question_votes in votes.items():
        if states[question_id].kind in SCALES:
            continue
        rows.update(
            ((question_id, origin), [label])
            for origin, label in voted_answers(question_votes, states[question_id].quorum).items()
        )
    return rows


def voted_answers(votes: Sequence[Vote], quorum: Quorum) -> dict[str, str]:
    """The answers that the votes on one question give, by origin (people, gold); empty where they settle nothing.

    >>> votes = [Vote(1, "ann", "annotator", "positive", None), Vote(1, "gold", "gold", "negative", None)]
    >>> voted_answers(votes, Quorum(1)), voted_answers(votes, Quorum(2))
    ({'people': 'positive', 'gold': 'negative'}, {'gold': 'negative'})
    """
    gold = [vote.answer for vote in votes if vote.role == "gold"]
    answers = {}
    if (label := quorum.answer([vote.answer for vote in votes if vote.role in ROLES])) is not None:
        answers["people"] = label
    if gold and len(set(gold)) == 1:
        answers["gold"] = gold[0]
    return answers


def _question_states(connection: Connection, ids: list[int]) -> dict[int, _QuestionState]:
    rows = (row for piece in pieces(ids) for row in connection.execute(_questions(), {"ids": piece}))
    return {id: _QuestionState(Quorum(annotators, rule), *state) for id, annotators, rule, *state in rows}


def _votes(connection: Connection, ids: list[int]) -> dict[int, list[Vote]]:
    votes: dict[int, list[Vote]] = {}
    for vote in counting_votes(connection, ids):
        votes.setdefault(vote.question_id, []).append(vote)
    return votes


# Statements are cached: every judgement runs them, and building one takes longer than running it.
# `ids` are bound at each call.


@cache
def _counting_votes() -> Select[Any]:
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
    adjudicated = exists().where(adjudication.c.question_id == question.c.id)
    answered = exists().where(answer.c.question_id == question.c.id)
    needs = (question.c.annotators, stored_quorum())
    return select(question.c.id, *needs, question.c.filled, adjudicated, answered, question.c.kind).where(
        question.c.id.in_(_ids())
    )


@cache
def _adjudications() -> Select[Any]:
    """Oldest first, so that the last one counts."""
    return (
        select(adjudication.c.question_id, adjudication.c.allowed)
        .where(adjudication.c.question_id.in_(_ids()))
        .order_by(adjudication.c.id)
    )


@cache
def _stored() -> Select[Any]:
    return select(answer.c.question_id, answer.c.origin, answer.c.allowed).where(answer.c.question_id.in_(_ids()))


def _ids() -> BindParameter[Any]:
    return bindparam("ids", expanding=True)


# The client of an answer: the app's version, and the browser's family, version and platform, or the command.
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
    """The client to store for a browser, by its header User-Agent.

    It begins with `audit VERSION; `.

    >>> agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
    >>> browser(agent).partition("; ")[2]
    'Chrome 131; Linux'
    >>> browser("curl/8.0 <script>").partition("; ")[2]
    'another browser'
    """
    header = (user_agent or "")[:_READ]
    family = next((f"{name} {match[1]}" for name, pattern in _FAMILIES if (match := pattern.search(header))), None)
    platform = next((name for token, name in _PLATFORMS if token in header), None)
    return _joined(family or "another browser", platform)


def command(name: str) -> str:
    """The client to store with answers that come from a command.

    >>> command("import-labels").partition("; ")[2]
    'import-labels'
    """
    return _joined(name)


def _joined(*parts: str | None) -> str:
    return "; ".join([f"audit {audit.__version__}", *(part for part in parts if part)])[:LONGEST]
