"""How far the judging is: for managers."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Engine, func, select

from audit.annotation.accounts import is_person, require_manager
from audit.annotation.answers import ORIGINS, is_vote
from audit.annotation.questions import BEHIND
from audit.store import table_of, tables


@dataclass(frozen=True)
class Progress:
    """Counts over the whole database."""

    open: int
    """Questions that a drawn group waits for."""
    audits: int
    """Questions that are open only to audit what relations carry."""
    checks: int
    """Agreed answers that wait for an adjudicator's spot check."""
    answers: Mapping[str, int]
    """Questions with an answer, by origin (adjudicated, people, gold); one question may have several origins."""
    judgements: Mapping[str, int]
    """Judgements of the first pass that count, by the name of the person; accounts that judged nothing have 0."""


def progress(engine: Engine, by: int | None) -> Progress:
    """Count questions, answers and judgements: for a manager, or for whoever has the database itself (None).

    Raises NotAllowed for another role.
    """
    question, answer = table_of(tables.Question), table_of(tables.Answer)
    annotator, judgement = table_of(tables.Annotator), table_of(tables.Judgement)
    by_origin = select(answer.c.origin, func.count()).group_by(answer.c.origin)
    by_person = (
        select(annotator.c.name, func.count())
        .join(judgement, judgement.c.annotator_id == annotator.c.id)
        .where(is_vote(judgement))
        .group_by(annotator.c.name)
    )
    with engine.connect() as connection:
        require_manager(connection, by)
        counts_of = select(func.count()).select_from(question)
        waiting, audits = (
            counts_of.where(one) for one in (question.c.priority < BEHIND, question.c.priority >= BEHIND)
        )
        checks = select(func.count()).select_from(table_of(tables.SpotCheck))
        found = {str(row[0]): int(row[1]) for row in connection.execute(by_origin)}
        # Somebody without a judgement that counts has no row in `by_person`, but an account all the same.
        names = select(annotator.c.name).where(is_person(annotator)).order_by(annotator.c.name)
        people = {str(row[0]): 0 for row in connection.execute(names)}
        people |= {str(row[0]): int(row[1]) for row in connection.execute(by_person)}
        return Progress(
            open=int(connection.execute(waiting).scalar() or 0),
            audits=int(connection.execute(audits).scalar() or 0),
            checks=int(connection.execute(checks).scalar() or 0),
            answers={origin: found.get(origin, 0) for origin in ORIGINS},
            judgements=people,
        )
