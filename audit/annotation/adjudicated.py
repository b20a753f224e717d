"""What an adjudicator has settled lately, so that it can be changed. Adjudications are only ever added."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Engine, delete, false, select

from audit.annotation.accounts import ADJUDICATORS, require
from audit.annotation.answers import stands
from audit.annotation.checking import is_check, remark_of, written_as_check
from audit.annotation.judging import store_adjudication
from audit.annotation.queue import Shown, show
from audit.errors import Refused
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


def my_adjudications(engine: Engine, account_id: int) -> list[Adjudicated]:
    """The last questions that this account settled and nobody has settled since, the newest first; at most `LAST`.

    Raises NotAllowed.
    """
    with engine.connect() as connection:
        require(connection, account_id, *ADJUDICATORS)
        return _mine(connection, account_id)


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
    it is not one of the last or the answer cannot be taken (`audit.annotation.judging.adjudicate`).
    """
    with engine.begin() as connection:
        # A write first: what somebody else settles meanwhile is seen below.
        connection.execute(delete(table_of(tables.Lease)).where(false()))
        require(connection, account_id, *ADJUDICATORS)
        before = next((one for one in _mine(connection, account_id) if one.id == adjudication_id), None)
        if before is None:
            raise Refused(f"this is not one of your last {LAST} decisions any more; it cannot be changed")
        if before.is_check and code is not None:
            raise Refused("a spot check has no reason code; leave it out")
        written = written_as_check(reason) if before.is_check else reason
        return store_adjudication(connection, account_id, before.shown.id, allowed, written, code)


def _mine(connection: Connection, account_id: int) -> list[Adjudicated]:
    table = table_of(tables.Adjudication)
    query = (
        select(table).where(table.c.annotator_id == account_id, stands(table)).order_by(table.c.id.desc()).limit(LAST)
    )
    found = []
    for row in connection.execute(query).mappings().all():
        reason = str(row["reason"])
        checked = is_check(row["code"], reason)
        shown = show(connection, int(row["question_id"]))
        allowed = tuple(label for label in shown.labels if label in row["allowed"])
        written = remark_of(reason) if checked else reason
        found.append(Adjudicated(int(row["id"]), shown, allowed, row["code"], written, checked, row["decided_at"]))
    return found
