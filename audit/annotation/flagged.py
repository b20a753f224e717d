"""Questions that annotators flagged, for adjudicators: they settle them, or send them back."""

from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, func, select

from audit.annotation.accounts import ROLES, require
from audit.annotation.answers import Vote, counting_votes
from audit.annotation.aside import BACK, FLAG, add_row, check_comment, is_flagged
from audit.annotation.queue import Shown, show
from audit.errors import Refused
from audit.store import pieces, table_of, tables

_ADJUDICATORS = ("adjudicator", "manager")


@dataclass(frozen=True)
class Flagged:
    """A flagged question: what was written to it, oldest first and without names, and the votes on it."""

    shown: Shown
    comments: tuple[str, ...]
    votes: list[Vote]


def flagged(engine: Engine, account_id: int) -> list[Flagged]:
    """Flagged questions to which no adjudicator has replied, most wanted first. Raises NotAllowed."""
    question = table_of(tables.Question)
    query = (
        select(question.c.id)
        .where(is_flagged())
        .order_by(question.c.priority.is_(None), question.c.priority, question.c.id)
    )
    with engine.connect() as connection:
        require(connection, account_id, *_ADJUDICATORS)
        ids = [int(row[0]) for row in connection.execute(query)]
        comments = _comments(connection, ids)
        votes: dict[int, list[Vote]] = {id: [] for id in ids}
        for vote in counting_votes(connection, ids):
            if vote.role in ROLES:
                votes[vote.question_id].append(vote)
        return [Flagged(show(connection, id), tuple(comments[id]), votes[id]) for id in ids]


def flags_left(engine: Engine, account_id: int) -> int:
    """How many flagged questions wait for a reply. Raises NotAllowed."""
    with engine.connect() as connection:
        require(connection, account_id, *_ADJUDICATORS)
        query = select(func.count()).select_from(table_of(tables.Question)).where(is_flagged())
        return int(connection.execute(query).scalar() or 0)


def send_back(engine: Engine, account_id: int, question_id: int, remark: str = "") -> None:
    """Give a flagged question back to the annotators who flagged it, with a remark that they see above it.

    Raises NotAllowed, or Refused where the question is not flagged any more or the remark is too long.
    """
    question, lease = table_of(tables.Question), table_of(tables.Lease)
    with engine.begin() as connection:
        # A write first: of two adjudicators with the same question on their screens, the second finds it replied to.
        connection.execute(delete(lease).where(lease.c.expires_at < tables.now()))
        require(connection, account_id, *_ADJUDICATORS)
        check_comment(remark)
        if not connection.execute(select(question.c.id).where(question.c.id == question_id, is_flagged())).first():
            raise Refused("this question is not flagged any more; take the next one")
        add_row(connection, account_id, question_id, BACK, remark.strip())


def _comments(connection: Connection, ids: list[int]) -> dict[int, list[str]]:
    """What was written to the flags on these questions, oldest first; earlier flags that were replied to included."""
    aside = table_of(tables.Aside)
    found: dict[int, list[str]] = {id: [] for id in ids}
    for piece in pieces(ids):
        query = select(aside.c.question_id, aside.c.comment).where(aside.c.question_id.in_(piece), aside.c.kind == FLAG)
        for id, comment in connection.execute(query.order_by(aside.c.id)):
            found[int(id)].append(str(comment or ""))
    return found
