"""Why a satisfaction is false, and why a question was settled as it was: the codes, and what was said last.

Causes are only ever added; taking one back is a row, too. Whether a satisfaction is false is derived elsewhere
(`audit.studies.impact`), which is also where causes are given.
"""

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, select

from audit.errors import Refused
from audit.judging.asides import check_comment
from audit.messages import message
from audit.store import tables
from audit.store.core import cause

OTHER_CAUSE = OTHER_REASON = "other"  # The code that says nothing by itself: it needs a comment
CAUSES = ("all_wrong", "label_range", "relation_loose", "follow_up_damaged", "doubtful", OTHER_CAUSE)
"""The codes in the order of the keys that give them; a new one has its words in `[cause]` of
data/messages."""
REASONS = (
    "guideline_unclear", "slip", "ambiguous_text", "missing_context", "figurative", "mixed_opinion", "language",
    OTHER_REASON,
)  # fmt: skip
"""Why an adjudicator settled a question so; a new one has its words in `[reason]`."""
TAKEN_BACK = "taken_back"  # Code of a row that takes the last one of the same person and group back
Pair = tuple[int, int]  # Group and system


class GivenCause(NamedTuple):
    """The cause that counts for a group and a system; `id` is its row's."""

    id: int
    code: str
    comment: str | None
    annotator_id: int


def check_cause(code: str, comment: str) -> None:
    """Raises Refused for a code that is not in the list, `other` without a comment, and a comment that is too long.

    >>> check_cause("label_range", "")
    >>> check_cause("other", "")
    Traceback (most recent call last):
    audit.errors.Refused: say in the comment what the cause is: 'other' says nothing by itself
    """
    if code not in CAUSES:
        raise Refused(message("wrong.choice", what="cause", value=code, allowed=CAUSES))
    if code == OTHER_CAUSE and not comment.strip():
        raise Refused(message("refused.cause_needs_comment", cause=OTHER_CAUSE))
    check_comment(comment)


def check_reason(code: str | None, written: str) -> None:
    """Raises Refused for a code that is not in the list, and where neither a code nor a text says why.

    >>> check_reason("slip", "")
    >>> check_reason("other", " ")
    Traceback (most recent call last):
    audit.errors.Refused: say why: the reason is kept with the answer
    """
    if code is not None and code not in REASONS:
        raise Refused(message("wrong.choice", what="reason", value=code, allowed=REASONS))
    if code in (None, OTHER_REASON) and not written.strip():
        raise Refused(message("refused.reason_needed"))


def current_causes(connection: Connection, group_id: int | None = None) -> dict[Pair, GivenCause]:
    """Return the cause that counts by (group, system), of one group or of all: the last one that was not taken back."""
    rows = _standing(connection, *([] if group_id is None else [cause.c.group_id == group_id]))
    return {(row.group_id, row.system_id): GivenCause(row.id, row.code, row.comment, row.annotator_id) for row in rows}


def last_given(connection: Connection, account_id: int) -> Pair | None:
    """Return the pair of the last cause that this account gave and has not taken back; None: there is none."""
    rows = _standing(connection, cause.c.annotator_id == account_id)
    return (rows[-1].group_id, rows[-1].system_id) if rows else None


def _standing(connection: Connection, *conditions: ColumnElement[bool]) -> list[Row[Any]]:
    """The causes that were not taken back, oldest first: each taking back takes the same person's last of the pair."""
    standing: list[Row[Any]] = []
    for row in connection.execute(select(cause).where(*conditions).order_by(cause.c.id)):
        same = (row.group_id, row.system_id, row.annotator_id)
        own = [entry for entry in standing if (entry.group_id, entry.system_id, entry.annotator_id) == same]
        if row.code != TAKEN_BACK:
            standing.append(row)
        elif own:
            standing.remove(own[-1])
    return standing


def add_cause(connection: Connection, account_id: int, pair: Pair, code: str, comment: str | None) -> int:
    """Append a row and return its id; the caller has checked role and content."""
    row = {"group_id": pair[0], "system_id": pair[1], "annotator_id": account_id, "code": code}
    row |= {"comment": comment or None, "at": tables.now()}
    return int(connection.execute(cause.insert().returning(cause.c.id), row).scalar_one())
