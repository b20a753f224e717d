"""From judgements to answers: what is settled, by whom, and what is disputed. The table `answer` is derived: the same
history always gives the same rows."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Row,
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
from audit.judging.accounts import GOLD, ROLES, is_person
from audit.sampling.options import MAJORITY, UNANIMOUS
from audit.sampling.samples import stored_quorum
from audit.store import insert_new, pieces, tables
from audit.store.core import adjudication, annotator, answer, count_rows, judgement, question
from audit.tasks.questions import SCALES, UNSURE

WITHDRAWN = "withdrawn"
PEOPLE = ("adjudicated", "people")  # Origins of answers that come from people


class Vote(NamedTuple):
    """One annotator's judgement that counts."""

    question_id: int
    annotator: str
    role: str
    answer: str


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


_Answers = dict[tuple[int, str], list[str]]  # (question, origin) -> allowed labels


def _history(connection: Connection, question_ids: Collection[int]) -> tuple[Sequence[Row[Any]], set[int], _Answers]:
    """What the history makes of some questions: their rows, those that are filled, and the answers."""
    rows = connection.execute(_questions(), {"ids": list(question_ids)}).all()
    people: dict[int, list[str]] = {row.id: [] for row in rows}
    gold: dict[int, set[str]] = {row.id: set() for row in rows}
    for vote in counting_votes(connection, question_ids):
        if vote.role in ROLES:
            people[vote.question_id].append(vote.answer)
        elif vote.role == GOLD:
            gold[vote.question_id].add(vote.answer)
    answers: _Answers = {}
    for row in rows:
        if row.kind not in SCALES:
            if (label := Quorum(row.annotators, row.quorum).answer(people[row.id])) is not None:
                answers[row.id, "people"] = [label]
            if len(gold[row.id]) == 1:
                answers[row.id, GOLD] = list(gold[row.id])
    if adjudicated := [row.id for row in rows if row.adjudicated]:
        last = {id: sorted(allowed) for id, allowed in connection.execute(_adjudications(), {"ids": adjudicated})}
        answers |= {(id, "adjudicated"): allowed for id, allowed in last.items() if allowed}
    return rows, {row.id for row in rows if len(people[row.id]) >= row.annotators}, answers


def settle(connection: Connection, question_ids: Iterable[int]) -> set[int]:
    """Rebuild what is derived about these questions: their answers, and whether they have all the votes they need.
    Writes what has changed and nothing else. Returns the questions that have other answers than before."""
    return {id for piece in pieces(question_ids) for id in _settle(connection, piece)}


def _settle(connection: Connection, question_ids: Collection[int]) -> set[int]:
    rows, full, after = _history(connection, question_ids)
    for filled in (True, False):
        if outdated := [row.id for row in rows if row.filled != filled == (row.id in full)]:
            connection.execute(question.update().where(question.c.id.in_(outdated)).values(filled=filled))
    before: _Answers = {}
    if answered := [row.id for row in rows if row.answered]:
        before = {(id, origin): allowed for id, origin, allowed in connection.execute(_stored(), {"ids": answered})}
    changed = [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
    for id, origin in before.keys() & changed:
        connection.execute(delete(answer).where(answer.c.question_id == id, answer.c.origin == origin))
    new = [{"question_id": key[0], "origin": key[1], "allowed": after[key]} for key in changed if key in after]
    insert_new(connection, tables.Answer, new)
    return {id for id, _ in changed}


def counting_votes(connection: Connection, question_ids: Iterable[int]) -> list[Vote]:
    """First-pass judgements that nothing supersedes and that are not withdrawn, oldest first."""
    parts = (connection.execute(_counting_votes(), {"ids": piece}) for piece in pieces(question_ids))
    return [Vote(*row) for part in parts for row in part]


def settled_answers(connection: Connection, question_ids: Iterable[int]) -> _Answers:
    """(question, origin) -> allowed labels, as the history of these questions has them; writes nothing."""
    return {key: labels for piece in pieces(question_ids) for key, labels in _history(connection, piece)[2].items()}


def settled_by_people(connection: Connection) -> dict[int, frozenset[str]]:
    """The allowed labels by question, as people settled them: an adjudicator's answer before an agreement."""
    query = select(answer.c.question_id, answer.c.allowed).where(answer.c.origin.in_(PEOPLE))
    # "adjudicated" comes last and takes the place of "people".
    rows = connection.execute(query.order_by(answer.c.origin.desc()))
    return {int(id): frozenset(allowed) for id, allowed in rows}


def wrongly_filled(connection: Connection) -> int:
    """The number of questions whose column `filled` is wrong; writes nothing."""
    return count_rows(connection, question, question.c.filled != (votes_on_question() >= question.c.annotators))


# Statements of every judgement are cached: building one takes longer than running it.


def _ids() -> BindParameter[Any]:
    return bindparam("ids", expanding=True)


@cache
def _questions() -> Select[Any]:
    adjudicated = exists().where(adjudication.c.question_id == question.c.id).label("adjudicated")
    answered = exists().where(answer.c.question_id == question.c.id).label("answered")
    columns = (question.c.id, question.c.kind, question.c.annotators, question.c.filled)
    return select(*columns, stored_quorum().label("quorum"), adjudicated, answered).where(question.c.id.in_(_ids()))


@cache
def _counting_votes() -> Select[Any]:
    later = judgement.alias("later")
    return (
        select(judgement.c.question_id, annotator.c.name, annotator.c.role, judgement.c.answer)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .outerjoin(later, later.c.supersedes == judgement.c.id)
        .where(judgement.c.question_id.in_(_ids()), judgement.c.round == 1)
        .where(judgement.c.answer != WITHDRAWN, later.c.id.is_(None))
        .order_by(judgement.c.id)
    )


@cache
def _adjudications() -> Select[Any]:
    """Oldest first, so that the last one counts."""
    columns = (adjudication.c.question_id, adjudication.c.allowed)
    return select(*columns).where(adjudication.c.question_id.in_(_ids())).order_by(adjudication.c.id)


@cache
def _stored() -> Select[Any]:
    return select(answer.c.question_id, answer.c.origin, answer.c.allowed).where(answer.c.question_id.in_(_ids()))


# Conditions on questions, judgements and adjudications.


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


def votes_on_question() -> ColumnElement[int]:
    """The number of people's votes on the question of the outer statement."""
    vote = judgement.alias("vote")
    votes = select(func.count()).select_from(vote).where(vote.c.question_id == question.c.id, is_vote(vote))
    return votes.correlate(question).scalar_subquery()


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


def is_disputed() -> ColumnElement[bool]:
    """Condition on `question`: it has all its votes, these do not settle it, and nobody has adjudicated it. Of ratings
    every one counts: nobody disputes them."""
    agreed = exists().where(answer.c.question_id == question.c.id, answer.c.origin == "people")
    undecided = and_(~agreed, ~is_adjudicated(question.c.id))
    return and_(question.c.filled.is_(True), question.c.kind.not_in(SCALES), undecided)


def command(name: str) -> str:
    """Return the client to store with answers: the version, and the app or the command.

    >>> command("import-labels").partition("; ")[2]
    'import-labels'
    """
    return f"audit {audit.__version__}; {name}"[:80]
