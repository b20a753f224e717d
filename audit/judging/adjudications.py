"""What adjudicators settle: disputes, spot checks, inspections, and what they settled lately and change.

An adjudication is append-only, and counts before the people's answer. A spot check asks what people agree on without
showing what they said. An inspection, under the protocol `shown`, looks over what they agree on, seeing all they said:
in the study one student identified false satisfactions, three others validated them, and a co-author inspected the
results at last (Jiang, Chen and Wang 2022, section 6.1.2). An answer counts as soon as people agree; an inspection
confirms or changes it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Select, case, delete, distinct, exists, func, or_, select

from audit.annotation.accounts import ADJUDICATORS, ROLES, note, require
from audit.annotation.answers import UNSURE, Vote, counting_votes, is_adjudicated, is_vote, stands
from audit.annotation.causes import INSPECTION, check_reason, is_check, remark_of, written_as_check
from audit.annotation.deferral import FLAG, check_comment, taken_back
from audit.annotation.guidelines import guideline_of
from audit.annotation.questions import BROKEN, HOLDS
from audit.annotation.queue import Shown, show
from audit.errors import Refused
from audit.judging.unit import Work, check_answer, unit_of_work
from audit.keys import digest
from audit.messages import message
from audit.sampling.designs import SHOWN
from audit.store import table_of, tables

LAST = 10
"""Adjudications that can be changed."""


@dataclass(frozen=True)
class Adjudicated:
    """A question that this adjudicator settled, as they settled it last."""

    id: int
    shown: Shown
    allowed: tuple[str, ...]
    code: str | None
    reason: str
    """The written reason; of a spot check its remark."""
    is_check: bool
    """Whether it was a spot check, in which nobody's votes are shown."""
    decided_at: datetime


@dataclass(frozen=True)
class Inspection:
    """A question on which people agree, each but the first having seen the answers before, with their votes."""

    shown: Shown
    votes: list[Vote]


def adjudicate(
    engine: Engine, account_id: int, question_id: int, allowed: Sequence[str], reason: str, code: str | None = None
) -> int:
    """Settle a question: its allowed labels and why; returns the adjudication's id.

    `code` is a word of `audit.annotation.causes.REASONS`; `reason` may be empty with any but `other`. A question can
    be adjudicated again, and the last one counts. Raises NotAllowed or Refused.
    """
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        return _adjudicate(work, account_id, question_id, allowed, reason, code)


def my_adjudications(engine: Engine, account_id: int) -> list[Adjudicated]:
    """The last questions that this account settled and nobody has settled since, the newest first; at most `LAST`.

    Raises NotAllowed.
    """
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        return _latest_adjudications(connection, account_id)


def change_adjudication(
    engine: Engine,
    account_id: int,
    adjudication_id: int,
    allowed: Sequence[str],
    reason: str,
    code: str | None = None,
) -> int:
    """Settle one of the last questions anew; returns the new adjudication's id. The old one stays in the history.

    A spot check stays one: `reason` is its remark then, and `code` must be None. Raises NotAllowed, and Refused where
    it is not one of the last or the answer cannot be taken (`adjudicate`).
    """
    table = table_of(tables.Adjudication)
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        question_id = work.connection.execute(select(table.c.question_id).where(table.c.id == adjudication_id)).scalar()
        if question_id is not None:
            work.hold(int(question_id))  # what somebody else settles meanwhile is seen below
        before = next(
            (entry for entry in _latest_adjudications(work.connection, account_id) if entry.id == adjudication_id), None
        )
        if before is None:
            raise Refused(message("refused.not_recent", most=LAST))
        if before.is_check and code is not None:
            raise Refused(message("refused.check_without_reason"))
        written = written_as_check(reason) if before.is_check else reason
        return _adjudicate(work, account_id, before.shown.id, allowed, written, code)


def next_check(engine: Engine, account_id: int, later: Sequence[int] = ()) -> Shown | None:
    """The most wanted check for this adjudicator, as annotators saw the question; None: there is none.

    Never a question that they ever judged themselves. Those of `later` come last, in this order. Raises NotAllowed.
    """
    table = table_of(tables.SpotCheck)
    query = (
        select(table.c.question_id).where(_never_judged_by(account_id)).order_by(table.c.priority, table.c.question_id)
    )
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        first = _first_of(connection, query, table.c.question_id, later)
        return None if first is None else show(connection, first)


def checks_left(engine: Engine, account_id: int) -> int:
    """The number of checks that wait and that this adjudicator may make. Raises NotAllowed."""
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        query = select(func.count()).select_from(table_of(tables.SpotCheck)).where(_never_judged_by(account_id))
        return int(connection.execute(query).scalar() or 0)


def check(engine: Engine, account_id: int, question_id: int, allowed: Sequence[str], remark: str = "") -> None:
    """Store what an adjudicator answers to a question on which people agree: the allowed labels.

    Raises NotAllowed, or Refused where there is nothing to check, the adjudicator judged the question as an annotator,
    or the labels cannot be taken.
    """
    table, answer, judgement = (table_of(model) for model in (tables.SpotCheck, tables.Answer, tables.Judgement))
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        work.hold(question_id)  # of two adjudicators with it on their screens, the second finds that it is gone
        removed = work.connection.execute(delete(table).where(table.c.question_id == question_id)).rowcount
        agreed = (answer.c.question_id == question_id) & (answer.c.origin == "people")
        # An annotator may just have taken an answer back: what people do not agree on is for the disputes.
        if not removed or not work.connection.execute(select(answer.c.origin).where(agreed)).first():
            raise Refused(message("refused.no_check"))
        own = _judged_by(account_id).where(judgement.c.question_id == question_id)
        if work.connection.execute(own.limit(1)).first():
            raise Refused(message("refused.own_check"))
        _adjudicate(work, account_id, question_id, allowed, written_as_check(remark))


def next_inspection(engine: Engine, account_id: int, later: Sequence[int] = ()) -> Inspection | None:
    """The inspection that has waited longest for this account; None: there is none.

    Never a question that they ever judged themselves. Those of `later` come last, in this order. Raises NotAllowed.
    """
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        first = _first_of(connection, _to_inspect(account_id), table_of(tables.Question).c.id, later)
        if first is None:
            return None
        votes = [vote for vote in counting_votes(connection, [first]) if vote.role in ROLES]
        return Inspection(show(connection, first), votes)


def inspections_left(engine: Engine, account_id: int) -> int | None:
    """The number of inspections that wait for this account; None: no question has the protocol `shown`. Raises
    NotAllowed."""
    question = table_of(tables.Question)
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        if not connection.execute(select(question.c.id).where(question.c.protocol == SHOWN).limit(1)).first():
            return None
        waiting = _to_inspect(account_id).order_by(None).subquery()
        return int(connection.execute(select(func.count()).select_from(waiting)).scalar() or 0)


def inspect(engine: Engine, account_id: int, question_id: int, allowed: Sequence[str], remark: str = "") -> None:
    """Confirm what people agree on, or change it; `allowed` are the right labels, and a change needs a remark.

    Raises NotAllowed, or Refused where the question does not wait for an inspection, the account judged it, or the
    labels cannot be taken.
    """
    question, answer, judgement = (table_of(model) for model in (tables.Question, tables.Answer, tables.Judgement))
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        work.hold(question_id)  # of two inspectors with it on their screens, the second finds that it is gone
        own = _judged_by(account_id).where(judgement.c.question_id == question_id)
        if work.connection.execute(own.limit(1)).first():
            raise Refused(message("refused.own_inspection"))
        if not work.connection.execute(_to_inspect(account_id).where(question.c.id == question_id)).first():
            raise Refused(message("refused.no_inspection"))
        agreed = work.connection.execute(
            select(answer.c.allowed).where(answer.c.question_id == question_id, answer.c.origin == "people")
        ).scalar_one()
        remark = remark.strip()
        if allowed and set(allowed) != set(agreed) and not remark:
            raise Refused(message("refused.change_needs_reason"))
        written = f"{INSPECTION}: {remark}" if remark else INSPECTION
        _adjudicate(work, account_id, question_id, allowed, written)


def _adjudicate(
    work: Work, account_id: int, question_id: int, allowed: Sequence[str], reason: str, code: str | None = None
) -> int:
    """Append an adjudication, if it can be taken. Raises Refused."""
    if not allowed:
        raise Refused(message("refused.no_label"))
    check_comment(reason)
    check_reason(code, reason)
    question = work.hold(question_id)
    for label in allowed:
        if label == UNSURE:
            raise Refused(message("refused.unsure_adjudicator"))
        task, kind = check_answer(question, question_id, label, reason)
    if set(allowed) == {HOLDS, BROKEN}:
        raise Refused(message("refused.choose_one"))
    row = {
        "question_id": question_id,
        "annotator_id": account_id,
        "allowed": sorted(set(allowed)),
        "reason": reason.strip(),
        "code": code,
        "guideline": guideline_of(task, kind).version,
        "decided_at": tables.now(),
    }
    return work.add(tables.Adjudication, [row])


def _latest_adjudications(connection: Connection, account_id: int) -> list[Adjudicated]:
    table = table_of(tables.Adjudication)
    query = (
        select(table).where(table.c.annotator_id == account_id, stands(table)).order_by(table.c.id.desc()).limit(LAST)
    )
    adjudications = []
    for row in connection.execute(query).mappings().all():
        reason = str(row["reason"])
        checked = is_check(row["code"], reason)
        shown = show(connection, int(row["question_id"]))
        allowed = tuple(label for label in shown.labels if label in row["allowed"])
        written = remark_of(reason) if checked else reason
        adjudications.append(
            Adjudicated(int(row["id"]), shown, allowed, row["code"], written, checked, row["decided_at"])
        )
    return adjudications


def _first_of(connection: Connection, query: Select[Any], column: Any, later: Sequence[int]) -> int | None:
    """The first question of a query for ids, which `column` holds; those of `later` come last, in their order."""
    first = connection.execute(query.where(column.not_in(list(later))).limit(1)).scalar()
    if first is None:
        remaining = set(connection.execute(query.where(column.in_(list(later)))).scalars())
        first = next((id for id in later if id in remaining), None)
    return None if first is None else int(first)


def _never_judged_by(account_id: int) -> ColumnElement[bool]:
    """Condition: this account never judged the question, not even to withdraw it."""
    table, judgement = table_of(tables.SpotCheck), table_of(tables.Judgement)
    own = (judgement.c.question_id == table.c.question_id) & (judgement.c.annotator_id == account_id)
    return ~exists().where(own)


def _to_inspect(account_id: int) -> Select[Any]:
    """The questions that wait for this account's inspection, by when they were last answered.

    What is to be spot-checked is left to that check, for which nobody may have seen the votes.
    """
    question, answer, judgement = table_of(tables.Question), table_of(tables.Answer), table_of(tables.Judgement)
    check = table_of(tables.SpotCheck)
    last = select(func.max(judgement.c.id)).where(judgement.c.question_id == question.c.id).scalar_subquery()
    return (
        select(question.c.id)
        .join(answer, (answer.c.question_id == question.c.id) & (answer.c.origin == "people"))
        .where(question.c.protocol == SHOWN, question.c.filled.is_(True))
        .where(~is_adjudicated(question.c.id))
        .where(~exists().where(check.c.question_id == question.c.id))
        .where(question.c.id.not_in(_judged_by(account_id)))
        .order_by(last, question.c.id)
    )


def _judged_by(account_id: int) -> Select[Any]:
    """Questions that this account ever judged, an answer taken back included."""
    judgement = table_of(tables.Judgement)
    return select(judgement.c.question_id).where(judgement.c.annotator_id == account_id)


# Questions on which people disagree, and what they said, without names unless somebody asks for them.
#
# Who said what could sway an adjudicator, so opinions are numbered: in another order for each question, one that
# follows
# neither the accounts nor the time. Asking for the names is written into the log, with the names in one transaction.

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
class _PersonOpinion:
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
            Opinion(number, person.answer, person.comment, person.flags, person.saw)
            for number, person in enumerate(_people(connection, question_id), start=1)
        ]


def reveal_names(engine: Engine, account_id: int, question_id: int) -> dict[int, str]:
    """The names behind the numbers of `opinions`. The log says who asked for them.

    Raises NotAllowed, and Refused where nobody said anything of the question.
    """
    with engine.begin() as connection:
        require(connection, account_id, *ADJUDICATORS)
        names = {number: person.name for number, person in enumerate(_people(connection, question_id), start=1)}
        if not names:
            raise Refused(message("refused.no_names"))
        note(connection, account_id, REVEALED, question_id, people=len(names))
        return names


def _people(connection: Connection, question_id: int) -> list[_PersonOpinion]:
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
    people = []
    for id in _shuffled(question_id, names):
        vote = answers.get(id)
        opinion = (None, None, False) if vote is None else (str(vote[2]), vote[3], vote[4] is not None)
        people.append(_PersonOpinion(names[id], opinion[0], opinion[1], tuple(written[id]), opinion[2]))
    return people


def _shuffled(question_id: int, accounts: Iterable[int]) -> list[int]:
    """Accounts in an order of this question's own, the same each time."""
    return sorted(accounts, key=lambda id: digest("opinion", str(question_id), str(id)))
