"""`audit sample`: draw satisfied groups, and ask people what these wait for, in one unit of work."""

from sqlalchemy import Engine

from audit.judging.unit import unit_of_work
from audit.sampling.audits import Audits
from audit.sampling.draw import Drawn, Size, draw_studies, draw_study


def draw_all(
    engine: Engine,
    size: Size,
    design: str = "shared",
    seed: int | None = None,
    annotators: int = 2,
    study: int | None = None,
    audits: Audits | None = None,
    protocol: str | None = None,
    domain: str | None = None,
    *,
    by: int | None = None,
) -> list[Drawn]:
    """`draw` for one study, or for all that have satisfied groups. Raises what `audit.sampling.draw.draw_studies` and
    `draw` raise."""
    with unit_of_work(engine, by, "manager", owner=True) as work:
        work.hold_all()
        work.ask_anew()
        return draw_studies(work.connection, size, design, seed, annotators, study, audits, protocol, domain)


def draw(
    engine: Engine,
    study_id: int,
    size: Size,
    design: str = "shared",
    seed: int | None = None,
    annotators: int = 2,
    audits: Audits | None = None,
    protocol: str | None = None,
    domain: str | None = None,
    *,
    by: int | None = None,
) -> Drawn:
    """Draw the first groups of each cell of a study, as `audit.sampling.draw.draw_study` does, and open the questions
    that they wait for.

    Asked for by a manager (`by`, an account id; else NotAllowed) or by whoever has the database itself (None). Raises
    what `draw_study` raises; nothing is changed then.
    """
    with unit_of_work(engine, by, "manager", owner=True) as work:
        work.hold_all()
        work.ask_anew()
        return draw_study(work.connection, study_id, size, design, seed, annotators, audits, protocol, domain)
