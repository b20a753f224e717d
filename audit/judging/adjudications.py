"""What adjudicators settle: disputes and flagged questions. An adjudication is append-only, and counts before the
people's answer. Opinions have numbers in place of names, which could sway an adjudicator: in an order of each
question's own."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, select

from audit.errors import Refused
from audit.judging.accounts import ADJUDICATORS, reading_as
from audit.judging.answers import is_adjudicated, is_disputed, is_vote, stands
from audit.judging.asides import BACK, FLAG, add_row, check_comment, is_flagged
from audit.judging.causes import check_reason
from audit.judging.queue import Shown, show
from audit.judging.unit import Work, check_answer, unit_of_work
from audit.keys import digest
from audit.messages import message
from audit.store.core import adjudication, aside, count_rows, judgement, question
from audit.tasks.questions import BROKEN, HOLDS, UNSURE, in_order

UNDOS = 10  # Decisions that can be taken back one after the other


class Adjudicated(NamedTuple):
    """A question that this adjudicator settled, and how."""

    shown: Shown
    allowed: tuple[str, ...]
    code: str | None
    reason: str


def adjudicate(
    engine: Engine, account_id: int, question_id: int, allowed: Sequence[str], reason: str, code: str | None = None
) -> int:
    """Settle a question: its allowed labels and why (a `code` of `REASONS`, words, or both); returns the adjudication's
    id. Raises Refused where the answer cannot be taken, and for a question that was settled and not flagged since, but
    for the same decision of the same account."""
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        work.hold(question_id)  # of two adjudicators with it on their screens, the second finds that it is settled
        of_question = question.c.id == question_id
        if count_rows(work.connection, question, of_question, is_adjudicated(question.c.id), ~is_flagged()):
            last = select(adjudication).where(adjudication.c.question_id == question_id, stands(adjudication))
            row = work.connection.execute(last).one()
            decided = (row.annotator_id, row.allowed, row.reason, row.code)
            if decided != (account_id, sorted(set(allowed)), reason.strip(), code):
                raise Refused(message("refused.settled_meanwhile"))
            return int(row.id)
        return _adjudicate(work, question_id, allowed, reason, code)


def take_back(engine: Engine, account_id: int) -> Adjudicated | None:
    """Take back what this account settled last, by a row that allows no label: the question waits again. None where
    nothing of theirs stands, or somebody has settled it since. Raises Refused after `UNDOS` in a row."""
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        own = adjudication.c.annotator_id == account_id
        last = select(adjudication).where(own, stands(adjudication)).order_by(adjudication.c.id.desc()).limit(1)
        row = work.connection.execute(last).first()
        if row is None:
            return None
        held = work.hold(row.question_id)
        if work.connection.execute(last).first() != row:
            return None  # somebody else was faster
        newest = select(adjudication.c.allowed).where(own).order_by(adjudication.c.id.desc()).limit(UNDOS)
        allowed = work.connection.execute(newest).scalars().all()
        if len(allowed) == UNDOS and not any(allowed):
            raise Refused(message("refused.undone_enough", most=UNDOS))
        work.decide(held, [], "")
        shown = show(work.connection, row.question_id)
        return Adjudicated(shown, in_order(row.allowed, shown.labels), row.code, row.reason)


def _adjudicate(work: Work, question_id: int, allowed: Sequence[str], reason: str, code: str | None) -> int:
    if not allowed:
        raise Refused(message("refused.no_label"))
    check_reason(code, reason)
    held = work.hold(question_id)
    for label in allowed:
        if label == UNSURE:
            raise Refused(message("refused.unsure_adjudicator"))
        check_answer(held, question_id, label, reason)
    if set(allowed) == {HOLDS, BROKEN}:
        raise Refused(message("refused.choose_one"))
    return work.decide(held, allowed, reason, code)


# Questions on which people disagree, and what they said, without names; and flagged ones.


class Opinion(NamedTuple):
    """What one person said of a question, and wrote to it. `number` stands for the name, from 1, on this question only;
    an `answer` of None: they flagged the question and did not answer it."""

    number: int
    answer: str | None
    comment: str | None = None
    flags: tuple[str, ...] = ()  # What they wrote to their flags, oldest first


def open_disputes(connection: Connection) -> list[int]:
    """Questions that have all their votes, that these do not settle, and that nobody has adjudicated; first those for
    which most (group, system) pairs wait."""
    return _by_priority(connection, is_disputed())


def _by_priority(connection: Connection, condition: ColumnElement[bool]) -> list[int]:
    order = (question.c.waits.desc(), question.c.priority.is_(None), question.c.priority, question.c.id)
    return list(connection.execute(select(question.c.id).where(condition).order_by(*order)).scalars())


def disputes(engine: Engine, account_id: int) -> list[int]:
    """Ids of the disputed questions that nobody has adjudicated, most wanted first. Raises NotAllowed."""
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        return open_disputes(connection)


def flagged_ids(engine: Engine, account_id: int) -> list[int]:
    """Return the flagged questions to which no adjudicator has replied, most wanted first. Raises NotAllowed."""
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        return _by_priority(connection, is_flagged())


def opinions(engine: Engine, account_id: int, question_id: int) -> list[Opinion]:
    """What everybody said who answered or flagged a question, in an order of its own, the same each time. Raises
    NotAllowed."""
    voted = select(judgement).where(judgement.c.question_id == question_id, is_vote(judgement))
    flagged = (aside.c.question_id == question_id, aside.c.kind == FLAG)
    flags: dict[int, tuple[str, ...]] = {}
    with reading_as(engine, account_id, *ADJUDICATORS) as connection:
        votes = {row.annotator_id: (row.answer, row.comment) for row in connection.execute(voted)}
        for row in connection.execute(select(aside).where(*flagged).order_by(aside.c.id)):
            flags[row.annotator_id] = (*flags.get(row.annotator_id, ()), row.comment or "")
    ids = sorted({*votes, *flags}, key=lambda id: digest("opinion", str(question_id), str(id)))
    return [Opinion(n, *votes.get(id, (None, None)), flags.get(id, ())) for n, id in enumerate(ids, start=1)]


def send_back(engine: Engine, account_id: int, question_id: int, remark: str = "") -> None:
    """Give a flagged question back to the annotators who flagged it, with a remark that they see above it. Raises
    NotAllowed, or Refused where the question is not flagged any more or the remark is too long."""
    with unit_of_work(engine, account_id, *ADJUDICATORS) as work:
        work.hold(question_id)  # of two adjudicators with it on their screens, the second finds it replied to
        check_comment(remark)
        if not count_rows(work.connection, question, question.c.id == question_id, is_flagged()):
            raise Refused(message("refused.not_flagged"))
        add_row(work.connection, account_id, question_id, BACK, remark.strip())
