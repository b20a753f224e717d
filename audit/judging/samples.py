"""`audit sample` and `audit validity`: draw the next round, or pairs that people rate, and ask what they wait for."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, select

from audit.false_satisfaction.rounds import Asked, next_rounds
from audit.judging.accounts import note
from audit.judging.unit import Work, unit_of_work
from audit.sampling.options import SampleOptions
from audit.sampling.samples import give_up, quorum_of
from audit.sampling.validity import DrawnPairs, ValidityRequest, draw_pairs, end_pairs
from audit.store import need_study
from audit.store.core import question


def ask_next(engine: Engine, options: SampleOptions, study: int | None = None, *, by: int | None = None) -> list[Asked]:
    """Draw the next round of one study, or of all that have satisfied groups, and open the questions that its groups
    wait for. `by` is a manager's account, or None: the owner of the database. Raises what `next_rounds` raises."""
    with drawing(engine, by) as work:
        quorum = quorum_of(work.connection)
        rounds = next_rounds(work.connection, options, study)
        if quorum_of(work.connection) != quorum:
            work.settle_anew(work.connection.execute(select(question.c.id).where(question.c.filled)).scalars())
        return rounds


def give_up_rounds(engine: Engine, study: int, *, by: int | None = None) -> int:
    """Let the rounds of a study count with what is open in them; returns for how many that is new."""
    with drawing(engine, by) as work:
        return give_up(work.connection, study)


@contextmanager
def drawing(engine: Engine, by: int | None) -> Iterator[Work]:
    """Open a unit of work that draws: it holds everything, and brings the whole queue up to date at the end."""
    with unit_of_work(engine, by, "manager", owner=True) as work:
        work.hold_all()
        work.ask_anew()
        yield work


def draw_validity(
    engine: Engine, request: ValidityRequest, study: int | None = None, *, by: int | None = None
) -> list[DrawnPairs]:
    """Draw pairs of a study, or of all that have checked groups, and ask people to rate their texts; `by` as in
    `ask_next`. Raises what `audit.sampling.validity.draw_pairs` raises; nothing is changed then."""
    with drawing(engine, by) as work:
        drawn = draw_pairs(work.connection, request, study)
        note(work.connection, by, "validity drawn", pairs=sum(part.pairs for part in drawn))
        return drawn


def end_validity(engine: Engine, study: int | None = None, *, by: int | None = None) -> int:
    """Ask nobody to rate texts of a study (None: of any) any more; returns for how many studies that is new. Ratings
    stay, and drawing again goes on."""
    with drawing(engine, by) as work:
        if study is not None:
            need_study(work.connection, study)
        ended = end_pairs(work.connection, None if study is None else [study])
        if ended:
            note(work.connection, by, "validity ended", studies=ended)
        return ended
