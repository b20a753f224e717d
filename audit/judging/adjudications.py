"""What adjudicators settle: disputes, spot checks, and what they settled lately and change.

An adjudication is append-only, and counts before the people's answer. A spot check asks what people agree on without
showing what they said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Engine, Select, delete, exists, select

from audit.annotation.accounts import ADJUDICATORS, reading_as
from audit.annotation.answers import UNSURE, is_adjudicated, is_disputed, is_vote, stands
from audit.annotation.causes import check_reason, is_check, remark_of, written_as_check
from audit.annotation.deferral import FLAG, check_comment, is_flagged, taken_back
from audit.annotation.guidelines import guideline_in_force
from audit.annotation.questions import BROKEN, HOLDS
from audit.annotation.queue import Shown, show
from audit.errors import Refused
from audit.judging.unit import Work, check_answer, unit_of_work
from audit.keys import digest
from audit.messages import message
from audit.store import tables
from audit.store.core import adjudication, answer, aside, count_rows, judgement, question, spot_check

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


def adjudicate(
    engine: Engine,
    account_id: int,
    question_id: int,
    allowed: Sequence[str],
    reason: str,
    code: str | None = None,
    *,
    only_open: bool = False,
) -> int:
    """Settle a question: its allowed labels and why; returns the adjudication's id.

    `code` is a word of `audit.annotation.causes.REASONS`; `reason` may be empty with any but `other`. A question can
    be adjudicated again, and the last one counts; with `only_open` one that was adjudicated and not flagged since is
    refused, but for the same decision of the same account, whose id is returned. Raises NotAllowed or Refused.
    """
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        if only_open:
            work.hold(question_id)  # of two adjudicators with it on their screens, the second finds that it is settled
            closed = is_adjudicated(question.c.id) & ~is_flagged()
            if work.connection.execute(select(question.c.id).where(question.c.id == question_id, closed)).first():
                last = select(adjudication).where(adjudication.c.question_id == question_id)
                row = work.connection.execute(last.order_by(adjudication.c.id.desc()).limit(1)).one()
                decided = (row.annotator_id, list(row.allowed), row.reason, row.code)
                if decided == (account_id, sorted(set(allowed)), reason.strip(), code):
                    return int(row.id)
                raise Refused(message("refused.settled_meanwhile"))
        return _adjudicate(work, account_id, question_id, allowed, reason, code)


def my_adjudications(engine: Engine, account_id: int) -> list[Adjudicated]:
    """The last questions that this account settled and nobody has settled since, the newest first; at most `LAST`.

    Raises NotAllowed.
    """
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        return _latest_adjudications(connection, account_id)


def change_adjudication(
    engine: Engine,
    account_id: int,
    adjudication_id: int,
    allowed: Sequence[str],
    reason: str,
    code: str | None = None,
    of_question: int | None = None,
) -> int:
    """Settle one of the last questions anew; returns the new adjudication's id. The old one stays in the history.

    A spot check stays one: `reason` is its remark then, and `code` must be None. Raises NotAllowed, and Refused where
    it is not one of the last, is about another question than `of_question` (None: any), or the answer cannot be taken
    (`adjudicate`).
    """
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        question_id = work.connection.execute(
            select(adjudication.c.question_id).where(adjudication.c.id == adjudication_id)
        ).scalar()
        if question_id is not None:
            work.hold(int(question_id))  # what somebody else settles meanwhile is seen below
        before = next(
            (entry for entry in _latest_adjudications(work.connection, account_id) if entry.id == adjudication_id), None
        )
        if before is None or of_question not in (None, before.shown.id):
            raise Refused(message("refused.not_recent", most=LAST))
        if before.is_check and code is not None:
            raise Refused(message("refused.check_without_reason"))
        written = written_as_check(reason) if before.is_check else reason
        return _adjudicate(work, account_id, before.shown.id, allowed, written, code)


def take_back(engine: Engine, account_id: int) -> Adjudicated | None:
    """Take back what this account settled last, so that the question waits for a decision again; returns what it was.

    None where nothing of theirs stands, or somebody has settled it since. What was decided stays in the history; a row
    that allows no label takes it back. Raises NotAllowed, and Refused after `LAST` in a row.
    """
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        newest = select(adjudication.c.question_id).where(_own(account_id)).order_by(adjudication.c.id.desc()).limit(1)
        question_id = work.connection.execute(newest).scalar()
        if question_id is None:
            return None
        held = work.hold(int(question_id))
        before = next(iter(_latest_adjudications(work.connection, account_id)), None)
        if before is None or held is None or before.shown.id != question_id:
            return None  # somebody else was faster
        last = select(adjudication.c.allowed).where(adjudication.c.annotator_id == account_id)
        rows = work.connection.execute(last.order_by(adjudication.c.id.desc()).limit(LAST)).scalars().all()
        if len(rows) == LAST and not any(rows):
            raise Refused(message("refused.undone_enough", most=LAST))
        row = {
            "question_id": question_id,
            "annotator_id": account_id,
            "allowed": [],
            "reason": "",
            "guideline": guideline_in_force(work.connection, held.task, held.kind).version,
            "decided_at": tables.now(),
        }
        work.add(tables.Adjudication, [row])
        return before


def next_check(engine: Engine, account_id: int, later: Sequence[int] = (), first: int | None = None) -> Shown | None:
    """The most wanted check for this adjudicator, as annotators saw the question; None: there is none.

    Never a question that they ever judged themselves. `first` comes before all others where it waits, and those of
    `later` come last, in this order. Raises NotAllowed.
    """
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        first = _first_of(connection, _to_check(account_id), later, first)
        return None if first is None else show(connection, first)


def checks_left(engine: Engine, account_id: int) -> int:
    """The number of checks that wait and that this adjudicator may make. Raises NotAllowed."""
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        return count_rows(connection, _to_check(account_id).order_by(None).subquery())


def check(engine: Engine, account_id: int, question_id: int, allowed: Sequence[str], remark: str = "") -> None:
    """Store what an adjudicator answers to a question on which people agree: the allowed labels.

    Raises NotAllowed, or Refused where there is nothing to check, the adjudicator judged the question as an annotator,
    or the labels cannot be taken.
    """
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        work.hold(question_id)  # of two adjudicators with it on their screens, the second finds that it is gone
        is_its = spot_check.c.question_id == question_id
        removed = work.connection.execute(delete(spot_check).where(is_its)).rowcount
        # An annotator may just have taken an answer back: what people do not agree on is for the disputes.
        if not removed or _agreed(work.connection, question_id) is None:
            raise Refused(message("refused.no_check"))
        if _has_judged(work.connection, account_id, question_id):
            raise Refused(message("refused.own_check"))
        _adjudicate(work, account_id, question_id, allowed, written_as_check(remark))


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
        "guideline": guideline_in_force(work.connection, task, kind).version,
        "decided_at": tables.now(),
    }
    return work.add(tables.Adjudication, [row])


def _latest_adjudications(connection: Connection, account_id: int) -> list[Adjudicated]:
    query = select(adjudication).where(_own(account_id)).order_by(adjudication.c.id.desc()).limit(LAST)
    adjudications = []
    for row in connection.execute(query).all():
        checked = is_check(row.code, row.reason)
        shown = show(connection, row.question_id)
        allowed = tuple(label for label in shown.labels if label in row.allowed)
        written = remark_of(row.reason) if checked else row.reason
        adjudications.append(Adjudicated(row.id, shown, allowed, row.code, written, checked, row.decided_at))
    return adjudications


def _own(account_id: int) -> ColumnElement[bool]:
    """Condition: an adjudication of this account that counts."""
    return (adjudication.c.annotator_id == account_id) & stands(adjudication)


def _first_of(
    connection: Connection, query: Select[int], later: Sequence[int], wanted: int | None = None
) -> int | None:
    """The first question of a query for ids, `wanted` before all others; those of `later` come last, in their order."""
    (column,) = query.selected_columns
    if wanted is not None and connection.execute(query.where(column == wanted)).first() is not None:
        return wanted
    first = connection.execute(query.where(column.not_in(later)).limit(1)).scalar()
    if first is None:
        remaining = set(connection.execute(query.where(column.in_(later))).scalars())
        first = next((id for id in later if id in remaining), None)
    return first


def _to_check(account_id: int) -> Select[int]:
    """The questions that wait for a spot check and that this account never judged, most wanted first."""
    return (
        select(spot_check.c.question_id)
        .where(spot_check.c.question_id.not_in(_judged_by(account_id)))
        .order_by(spot_check.c.priority, spot_check.c.question_id)
    )


def _judged_by(account_id: int) -> Select[int]:
    """Questions that this account ever judged, an answer taken back included."""
    return select(judgement.c.question_id).where(judgement.c.annotator_id == account_id)


def _has_judged(connection: Connection, account_id: int, question_id: int) -> bool:
    own = _judged_by(account_id).where(judgement.c.question_id == question_id)
    return connection.execute(own.limit(1)).first() is not None


def _agreed(connection: Connection, question_id: int) -> list[str] | None:
    """What people agree on; None where they do not agree."""
    agreed = (answer.c.question_id == question_id) & (answer.c.origin == "people")
    return connection.execute(select(answer.c.allowed).where(agreed)).scalar_one_or_none()


# Questions on which people disagree, and what they said, without names.
#
# Who said what could sway an adjudicator, so opinions are numbered: in another order for each question, one that
# follows neither the accounts nor the time.


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


def open_disputes(connection: Connection) -> list[int]:
    """Questions that have all their votes, that these do not settle, and that nobody has adjudicated; by priority."""
    order = (question.c.priority.is_(None), question.c.priority, question.c.id)
    return list(connection.execute(select(question.c.id).where(is_disputed()).order_by(*order)).scalars())


def disputes(engine: Engine, account_id: int) -> list[int]:
    """Ids of the disputed questions that nobody has adjudicated, most wanted first. Raises NotAllowed."""
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        return open_disputes(connection)


def opinions(engine: Engine, account_id: int, question_id: int) -> list[Opinion]:
    """What people said of a question, numbered without names. Raises NotAllowed."""
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        return _people(connection, question_id)


def _people(connection: Connection, question_id: int) -> list[Opinion]:
    """Everybody who answered or flagged the question, in the order of their numbers: an order of this question's own,
    the same each time."""
    votes = connection.execute(
        select(judgement).where(judgement.c.question_id == question_id, is_vote(judgement))
    ).all()
    flags = connection.execute(
        select(aside)
        .where(aside.c.question_id == question_id, aside.c.kind == FLAG, ~exists().where(taken_back(aside)))
        .order_by(aside.c.id)
    ).all()
    ids = sorted(
        {row.annotator_id for row in (*votes, *flags)}, key=lambda id: digest("opinion", str(question_id), str(id))
    )
    vote_of = {row.annotator_id: row for row in votes}
    people = []
    for number, id in enumerate(ids, start=1):
        written = tuple(row.comment or "" for row in flags if row.annotator_id == id)
        vote = vote_of.get(id)
        people.append(
            Opinion(number, None, flags=written)
            if vote is None
            else Opinion(number, vote.answer, vote.comment, written)
        )
    return people
