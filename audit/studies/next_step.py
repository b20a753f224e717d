"""What a manager does next: said by the state of the database alone, so that every page says the same."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Engine, func, select

from audit.false_satisfaction.questions import queue_length
from audit.judging.accounts import reading_as
from audit.judging.adjudications import open_disputes
from audit.judging.asides import is_flagged
from audit.judging.invitations import invitations
from audit.sampling.options import NOTHING
from audit.store.copying import in_utc
from audit.store.core import adjudication, annotator, count_rows, judgement, plan, question, sample, study
from audit.studies.jobs import LIVE, jobs
from audit.studies.versions import latest


@dataclass(frozen=True)
class Standing:
    """How far the studies of a database are.

    `job` is the last run that the app began, `annotators` the accounts that are not disabled, `invitations` the links
    that can still be used. Of the questions, drawn groups wait for `waiting`, those that pages and reports call open;
    `audits` only audit what relations carry. `goes_on`: the plan of the last run decides something, and answers came
    since that run asked.
    """

    plans: int = 0
    studies: int = 0
    samples: int = 0
    job: str | None = None
    job_plan: str = ""
    annotators: int = 0
    invitations: int = 0
    waiting: int = 0
    audits: int = 0
    judgements: int = 0
    disputes: int = 0
    flagged: int = 0
    goes_on: bool = False


class Step(NamedTuple):
    """What to do next: the code of its sentence (`step_next.CODE`), the page where, and the numbers in it."""

    code: str
    page: str
    values: dict[str, int | str]


def next_step(now: Standing) -> Step:
    """Return what a manager does next.

    >>> next_step(Standing()).code, next_step(Standing(studies=1, samples=1, waiting=9)).code
    ('begin', 'invite')
    """
    job: dict[str, int | str] = {"plan": now.job_plan}
    waits = now.waiting or now.audits
    steps = (
        (now.job in LIVE, Step("running", "studies", job)),
        (now.job not in (None, "done"), Step("go_on", "studies", job)),
        (not now.studies, Step("run" if now.plans else "begin", "studies", {})),
        (not now.samples, Step("draw", "studies", {})),
        (waits and not now.annotators and now.invitations, Step("joining", "accounts", {"count": now.invitations})),
        (waits and not now.annotators, Step("invite", "accounts", {"count": waits})),
        (now.disputes, Step("adjudicate", "adjudicate", {"count": now.disputes})),
        (now.flagged, Step("flagged", "adjudicate", {"count": now.flagged})),
        (now.waiting, Step("judging" if now.judgements else "first_answer", "studies",
                           {"count": now.waiting, "people": now.annotators})),
        (now.goes_on, Step("round", "studies", job)),
        (now.audits, Step("audits", "results", {"count": now.audits})),
    )  # fmt: skip
    return next((step for applies, step in steps if applies), Step("results", "results", {}))


def standing(engine: Engine, *, by: int) -> Standing:
    """Return how far the studies of a database are. Raises NotAllowed where `by` is no manager."""
    last = next(iter(jobs(engine, by=by)), None)
    invited = sum(invitation.role == "annotator" for invitation in invitations(engine, by=by))
    queue = queue_length(engine)
    with reading_as(engine, by, "manager") as connection:

        def greatest(column: Any) -> Any:
            return connection.execute(select(func.max(column))).scalar()

        answered = [in_utc(at) for of in (judgement, adjudication) if (at := greatest(of.c.decided_at)) is not None]
        goes_on = False
        if last is not None and last.state == "done":
            # Carrying out the job's plan again may ask more, or find that all is decided.
            decides = latest(connection, last.plan).content["sample"]["decide"] != NOTHING
            goes_on = decides and any(at > last.started_at for at in answered)
        person = (annotator.c.role == "annotator", annotator.c.disabled.is_(False))
        return Standing(
            plans=int(connection.execute(select(func.count(plan.c.name.distinct()))).scalar_one()),
            studies=count_rows(connection, study),
            samples=count_rows(connection, sample),
            job=last.state if last else None,
            job_plan=last.plan if last else "",
            annotators=count_rows(connection, annotator, *person),
            invitations=invited,
            waiting=queue.waiting,
            audits=queue.audits,
            judgements=greatest(judgement.c.id) or 0,
            disputes=len(open_disputes(connection)),
            flagged=count_rows(connection, question, is_flagged()),
            goes_on=goes_on,
        )
