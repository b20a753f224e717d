"""`audit sample`: draw satisfied groups, and ask people what these wait for, in one unit of work."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection, Engine, select

from audit.annotation.accounts import is_person
from audit.false_satisfaction.cells import count
from audit.judging.unit import unit_of_work
from audit.sampling.designs import quorum_of
from audit.sampling.draw import Drawn, SampleRequest, draw_changed, draw_studies
from audit.store.core import annotator, question
from audit.store.queries import has_gold


def draw_all(engine: Engine, request: SampleRequest, study: int | None = None, *, by: int | None = None) -> list[Drawn]:
    """Draw the first groups of each cell of one study, or of all that have satisfied groups, and open the questions
    that they wait for.

    Where the request names no number of annotators and nobody has an account, gold is `alone` (`SampleRequest`). Asked
    for by a manager (`by`, an account id; else NotAllowed) or by whoever has the database itself (None). Raises what
    `audit.sampling.draw.draw_studies` raises; nothing is changed then.
    """
    with unit_of_work(engine, by, "manager", owner=True) as work:
        work.hold_all()
        work.ask_anew()
        if request.annotators is None and not _has_people(work.connection):
            request = replace(request, alone=True)
        quorum = quorum_of(work.connection)
        drawn = draw_studies(work.connection, request, study)
        if quorum_of(work.connection) != quorum:
            work.settle_anew(work.connection.execute(select(question.c.id).where(question.c.filled)).scalars())
        return drawn


def gold_alone(engine: Engine) -> bool:
    """Whether there is gold, and nobody else to answer: no person has an account."""
    with engine.connect() as connection:
        return has_gold(engine) and not _has_people(connection)


def undrawn(engine: Engine) -> int:
    """How many satisfied groups of studies with gold are not drawn, from the sources that their samples draw from."""
    counted = count(engine, "gold")
    studies = [study["id"] for study in counted.studies if study["has_gold"]]
    cells = counted.cells[counted.keys["study_id"].isin(studies)]
    return int((cells["satisfied"] - cells["drawn"]).sum())


def _has_people(connection: Connection) -> bool:
    return connection.execute(select(annotator.c.id).where(is_person(annotator)).limit(1)).first() is not None


def draw(engine: Engine, study_id: int, request: SampleRequest, *, by: int | None = None) -> Drawn:
    """`draw_all` for one study."""
    return draw_all(engine, request, study_id, by=by)[0]


def draw_changes(
    engine: Engine, studies: Sequence[int], systems: tuple[int, int], number: int, annotators: int = 2
) -> int:
    """Draw the first groups of each relation that can tell two systems (ids) apart, and open the questions that these
    wait for; returns how many are new. For whoever has the database itself."""
    with unit_of_work(engine, None, "manager", owner=True) as work:
        work.hold_all()
        work.ask_anew()
        return sum(draw_changed(work.connection, study, systems, number, annotators) for study in studies)
