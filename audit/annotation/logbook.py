"""The log: who did what that changes how numbers come about, or that shows what is hidden otherwise."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, select

from audit.annotation.accounts import require
from audit.store import table_of, tables


class Entry(NamedTuple):
    """A line of the log."""

    at: datetime
    who: str | None
    """Name of the account; None: whoever has the database itself."""
    action: str
    question_id: int | None
    detail: dict[str, Any]


def note(
    connection: Connection, account_id: int | None, action: str, question_id: int | None = None, **detail: Any
) -> None:
    """Append a line, as a part of the transaction that does what it says.

    `detail` holds numbers and words of lists, never a name or a text of somebody: exports carry it as it is.
    """
    row = {"annotator_id": account_id, "action": action, "question_id": question_id, "detail": detail}
    connection.execute(table_of(tables.Log).insert(), row | {"at": tables.now()})


def entries(engine: Engine, account_id: int, last: int = 200) -> list[Entry]:
    """The last lines, the newest first. Raises NotAllowed for anyone but a manager."""
    log, annotator = table_of(tables.Log), table_of(tables.Annotator)
    query = (
        select(log.c.at, annotator.c.name, log.c.action, log.c.question_id, log.c.detail)
        .outerjoin(annotator, annotator.c.id == log.c.annotator_id)
        .order_by(log.c.id.desc())
        .limit(last)
    )
    with engine.connect() as connection:
        require(connection, account_id, "manager")
        return [Entry(*row) for row in connection.execute(query)]
