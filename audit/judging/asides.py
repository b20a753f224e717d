"""Conditions on questions: put off by somebody (skipped for the day, or flagged for an adjudicator; no votes), awaiting
a decision, in a language that somebody reads."""

from datetime import datetime
from typing import Any, cast

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    ScalarSelect,
    and_,
    exists,
    func,
    literal,
    or_,
    select,
    true,
)

from audit.errors import Refused
from audit.judging.answers import allows_labels, is_disputed
from audit.messages import message
from audit.store import tables
from audit.store.core import adjudication, aside, input_table, member, question
from audit.tasks.questions import SCALES

SKIP, FLAG, BACK = "skip", "flag", "back"
Who = int | BindParameter[Any]
When = datetime | BindParameter[Any]  # Values, or places that a statement keeps for them
COMMENT = 2_000  # Characters of a comment that are kept


def is_flagged(account: Who | None = None, of_question: Any = question) -> ColumnElement[bool]:
    """Condition on `question`, or an alias of it: flagged by this annotator, or by anybody, and no adjudicator has
    replied since (settled it, or sent it back)."""
    back, settled = aside.alias("back"), adjudication
    settled_since = (settled.c.decided_at >= aside.c.at) & allows_labels(settled)
    replied = or_(
        exists().where(back.c.question_id == aside.c.question_id, back.c.kind == BACK, back.c.id > aside.c.id),
        exists().where(settled.c.question_id == aside.c.question_id, settled_since),
    )
    by_account = true() if account is None else aside.c.annotator_id == account
    flags = select(aside.c.question_id).where(aside.c.kind == FLAG, by_account, ~replied)
    return cast(ColumnElement[bool], of_question.c.id.in_(flags))


def awaits_decision() -> ColumnElement[bool]:
    """Condition on `question`: in the queue, disputed or flagged, so whoever may answer it must not see what systems
    said."""
    undecided = or_(question.c.priority.is_not(None), is_disputed(), is_flagged())
    return and_(question.c.kind.not_in(SCALES), undecided)


def midnight(moment: datetime) -> datetime:
    """Return when the day of this moment began (UTC)."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def skips_of(account: Who, since: When, of_question: Any = question, what: Any = None) -> ScalarSelect[int]:
    """How often this annotator has skipped the question of the outer query since then, or the maximum of a column of
    these skips."""
    skips = select(func.count() if what is None else func.max(what)).select_from(aside)
    return (
        skips.where(aside.c.question_id == of_question.c.id, _skips(account, since))
        .correlate(of_question)
        .scalar_subquery()
    )


def is_skipped(account: Who, since: When) -> ColumnElement[bool]:
    """Condition on `question`: this annotator skipped it since then."""
    return question.c.id.in_(select(aside.c.question_id).where(_skips(account, since)))


def _skips(account: Who, since: When) -> ColumnElement[bool]:
    return and_(aside.c.annotator_id == account, aside.c.kind == SKIP, aside.c.at >= since)


def check_comment(comment: str | None) -> None:
    """Raise Refused for a comment that is too long to be kept, or that a database would not take as a text."""
    if comment and len(comment) > COMMENT:
        raise Refused(message("refused.comment_long", count=len(comment), most=COMMENT))
    if comment and ("\0" in comment or any("\ud800" <= letter <= "\udfff" for letter in comment)):
        raise Refused(message("refused.comment_characters"))


def add_row(connection: Connection, account_id: int, question_id: int, kind: str, comment: str | None) -> None:
    """Append a row; the caller has checked role and content."""
    row = {"question_id": question_id, "annotator_id": account_id, "kind": kind, "comment": comment or None}
    connection.execute(aside.insert(), row | {"at": tables.now()})


# Who reads what: a question is for people who know all of its languages.


def readable(question: Any, codes: tuple[str, ...]) -> ColumnElement[bool]:
    """Condition on a question of the outer query: who reads `codes` (none: all) reads every text of it, of a question
    about a group every member that is shown. Who reads `zh` and `zh-TW` has both."""
    if not codes:
        return true()
    # Aliases: the outer query may have these tables itself.
    its_input, part, part_input = input_table.alias("given"), member.alias("part"), input_table.alias("part_input")
    shown = (part.c.group_id == question.c.group_id, part.c.role != "probe", part_input.c.id == part.c.input_id)
    read = exists().where(its_input.c.id == question.c.input_id, _all_read(its_input.c.languages, codes))
    return and_(read, ~exists().where(*shown, ~_all_read(part_input.c.languages, codes)))


def _all_read(joined: ColumnElement[str], codes: tuple[str, ...]) -> ColumnElement[bool]:
    """Condition: nothing is left of codes joined by commas when the known ones are taken out. Commas are doubled first,
    `,en,,en,`, so that neighbours do not share one."""
    rest: ColumnElement[str] = literal(",") + func.replace(joined, ",", ",,") + literal(",")
    for code in codes:
        rest = func.replace(rest, f",{code},", "")
    return rest == ""
