"""`audit sample`: draw the next round, and ask people what its groups wait for, in one unit of work."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, select

from audit.false_satisfaction.rounds import Asked, next_rounds
from audit.judging.unit import Work, unit_of_work
from audit.sampling.options import SampleOptions
from audit.sampling.samples import give_up, quorum_of
from audit.store.core import question


def ask_next(engine: Engine, options: SampleOptions, study: int | None = None, *, by: int | None = None) -> list[Asked]:
    """Draw the next round of one study, or of all that have satisfied groups, and open the questions that its groups
    wait for.

    Asked for by a manager (`by`, an account id; else NotAllowed) or by the owner of the database (None). Raises what
    `audit.false_satisfaction.rounds.next_rounds` raises; nothing is changed then.
    """
    with draw_work(engine, by) as work:
        quorum = quorum_of(work.connection)
        asked = next_rounds(work.connection, options, study)
        if quorum_of(work.connection) != quorum:
            work.settle_anew(work.connection.execute(select(question.c.id).where(question.c.filled)).scalars())
        return asked


def give_up_rounds(engine: Engine, study: int, *, by: int | None = None) -> int:
    """Let the rounds of a study count with what is open in them; returns for how many that is new."""
    with draw_work(engine, by) as work:
        return give_up(work.connection, study)


@contextmanager
def draw_work(engine: Engine, account: int | None) -> Iterator[Work]:
    """Open a unit of work that draws: it holds everything, and brings the whole queue up to date at the end."""
    with unit_of_work(engine, account, "manager", owner=True) as work:
        work.hold_all()
        work.ask_anew()
        yield work
