"""How fast somebody judges, and for how long without a pause: for themselves only, never to rank people."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from sqlalchemy import Engine, select

from audit.annotation.accounts import ROLES, require
from audit.annotation.answers import WITHDRAWN
from audit.annotation.deferral import midnight
from audit.annotation.hidden import FIRST
from audit.store import reading, table_of, tables
from audit.store.copying import in_utc

PAUSE = timedelta(minutes=5)
"""So long without a decision is a pause."""
STRETCH = timedelta(minutes=50)
"""After so long without a pause a pause is suggested."""


@dataclass(frozen=True)
class Pace:
    """One annotator's judging today."""

    seconds: float | None
    """Median from question shown to decision, of the judgements of today that were shown in the app; None: none."""
    since_pause: timedelta
    """From the first to the last decision since the last pause; nothing when the last decision is a pause ago."""

    @property
    def tired(self) -> bool:
        """Whether a pause would do good."""
        return self.since_pause >= STRETCH


def pace_of(engine: Engine, account_id: int) -> Pace:
    """The pace of this annotator's day (UTC), what they withdrew included: it took time, too; without training.

    Raises NotAllowed.
    """
    judgement = table_of(tables.Judgement)
    moment = tables.now()
    this_day = midnight(moment)
    query = (
        select(judgement.c.shown_at, judgement.c.decided_at, judgement.c.answer)
        .where(
            judgement.c.annotator_id == account_id,
            judgement.c.withdrawn_by.is_(None),
            judgement.c.round >= FIRST,
            judgement.c.decided_at >= min(this_day, moment - STRETCH - PAUSE),
        )
        .order_by(judgement.c.id)
    )
    with reading(engine) as connection:
        require(connection, account_id, *ROLES)
        rows = [
            (None if shown is None else in_utc(shown), in_utc(decided), answer)
            for shown, decided, answer in connection.execute(query)
        ]
    took = [
        (decided - shown).total_seconds()
        for shown, decided, answer in rows
        if shown is not None and answer != WITHDRAWN and decided >= this_day
    ]
    return Pace(median(took) if took else None, since_pause([decided for _, decided, _ in rows], moment))


def since_pause(decided: Sequence[datetime], now: datetime) -> timedelta:
    """How long somebody who decided at these moments, in their order, has judged without a pause.

    >>> noon = datetime(2026, 1, 1, 12)
    >>> since_pause([noon, noon + timedelta(minutes=7), noon + timedelta(minutes=9)], noon + timedelta(minutes=10))
    datetime.timedelta(seconds=120)
    """
    if not decided or now - decided[-1] >= PAUSE:
        return timedelta(0)
    first = decided[-1]
    for earlier in reversed(decided[:-1]):
        if first - earlier >= PAUSE:
            break
        first = earlier
    return decided[-1] - first
