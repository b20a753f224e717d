"""Who judges, how much and how fast, and how often they say what was settled in the end: for managers."""

from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import NamedTuple

from sqlalchemy import Engine, select

from audit.annotation.accounts import require_manager
from audit.annotation.answers import UNSURE, is_vote, settled_by_people
from audit.annotation.deferral import midnight
from audit.annotation.keeping import kept_accounts
from audit.store import table_of, tables
from audit.store.copying import in_utc


@dataclass(frozen=True)
class AtWork:
    """One person's first-pass judgements that count. Who judged nothing is there, too."""

    name: str
    role: str
    disabled: bool
    languages: tuple[str, ...]
    """Codes of the languages the account reads; none: all."""
    seen_at: datetime | None
    """The last use of the app, in UTC; None: never."""
    judgements: int
    today: int
    """Since midnight (UTC)."""
    seconds: float | None
    """Median from question shown to decision; None where nothing was judged in the app."""
    unsure: int
    settled: int
    """Labels given to questions that people have settled, by agreement or by an adjudicator; "unsure" left out."""
    agreed: int
    """Of these, how many are what was settled on. Who takes part in an agreement agrees with it."""


class _Row(NamedTuple):
    question_id: int
    answer: str
    shown_at: datetime | None
    decided_at: datetime


def people_at_work(engine: Engine, by: int | None = None) -> list[AtWork]:
    """Everybody with an account, by name. For a manager (`by`) or whoever has the database itself (None).

    Raises NotAllowed for another role.
    """
    judgement = table_of(tables.Judgement)
    query = select(
        judgement.c.annotator_id,
        judgement.c.question_id,
        judgement.c.answer,
        judgement.c.shown_at,
        judgement.c.decided_at,
    ).where(is_vote(judgement))
    with engine.connect() as connection:
        require_manager(connection, by)
        settled = settled_by_people(connection)
        rows: dict[int, list[_Row]] = {}
        for person, *said in connection.execute(query.order_by(judgement.c.id)):
            rows.setdefault(int(person), []).append(_Row(*said))
    this_day = midnight(tables.now())
    found = []
    for one in kept_accounts(engine, by=by):
        mine = rows.get(one.id, [])
        took, today, unsure, known, agreed = [], 0, 0, 0, 0
        for row in mine:
            decided = in_utc(row.decided_at)
            today += decided >= this_day
            unsure += row.answer == UNSURE
            if row.shown_at is not None:
                took.append((decided - in_utc(row.shown_at)).total_seconds())
            allowed = settled.get(row.question_id)
            if allowed is not None and row.answer != UNSURE:
                known += 1
                agreed += row.answer in allowed
        found.append(
            AtWork(
                one.name,
                one.role,
                one.disabled,
                one.languages,
                one.seen_at,
                len(mine),
                today,
                median(took) if took else None,
                unsure,
                known,
                agreed,
            )
        )
    return found
