"""What a manager does next: said by the state of the database alone, so that every page says the same."""

from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, Engine, func, select

from audit.false_satisfaction.questions import queue_length
from audit.judging.accounts import reading_as
from audit.judging.adjudications import open_disputes
from audit.judging.asides import is_flagged
from audit.judging.invitations import invitations
from audit.sampling.options import NOTHING
from audit.store.copying import in_utc
from audit.store.core import adjudication, annotator, count_rows, judgement, plan, question, sample, study
from audit.studies.jobs import Job, jobs
from audit.studies.versions import latest


@dataclass(frozen=True)
class Standing:
    """How far the studies of a database are.

    `job` is the state of the last run that the app began (None: there was none), `annotators` the accounts that are not
    disabled, `invitations` the links that can still be used. Of the questions, drawn groups wait for `waiting`, those
    that pages and reports call open; `audits` only audit what relations carry. `goes_on`: the plan of the last run
    decides something, and answers came since that run asked.
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
    """What a manager does next.

    >>> next_step(Standing()).code, next_step(Standing(studies=1, samples=1, waiting=9)).code
    ('begin', 'invite')
    """
    if now.job in ("waiting", "running", "stopping"):
        return Step("running", "studies", {"plan": now.job_plan})
    if now.job in ("failed", "stopped", "lost"):
        return Step("go_on", "studies", {"plan": now.job_plan})
    if not now.studies:
        return Step("run", "studies", {}) if now.plans else Step("begin", "studies", {})
    if not now.samples:
        return Step("draw", "studies", {})
    if (now.waiting or now.audits) and not now.annotators:
        if now.invitations:
            return Step("joining", "accounts", {"count": now.invitations})
        return Step("invite", "accounts", {"count": now.waiting or now.audits})
    if now.disputes:
        return Step("adjudicate", "adjudicate", {"count": now.disputes})
    if now.flagged:
        return Step("flagged", "adjudicate", {"count": now.flagged})
    if now.waiting:
        code = "judging" if now.judgements else "first_answer"
        return Step(code, "studies", {"count": now.waiting, "people": now.annotators})
    if now.goes_on:
        return Step("round", "studies", {"plan": now.job_plan})
    if now.audits:
        return Step("audits", "results", {"count": now.audits})
    return Step("results", "results", {})


def standing(engine: Engine, *, by: int) -> Standing:
    """How far the studies of a database are. Raises NotAllowed where `by` is no manager."""
    last = next(iter(jobs(engine, by=by)), None)
    invited = sum(one.role == "annotator" for one in invitations(engine, by=by))
    queue = queue_length(engine)
    with reading_as(engine, by, "manager") as connection:
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
            judgements=int(connection.execute(select(func.max(judgement.c.id))).scalar() or 0),
            disputes=len(open_disputes(connection)),
            flagged=count_rows(connection, question, is_flagged()),
            goes_on=last is not None and _goes_on(connection, last),
        )


def _goes_on(connection: Connection, last: Job) -> bool:
    """Whether carrying out this job's plan again may ask more, or find that all is decided."""
    if last.state != "done" or latest(connection, last.plan).content["sample"]["decide"] == NOTHING:
        return False
    newest = [connection.execute(select(func.max(table.c.decided_at))).scalar() for table in (judgement, adjudication)]
    return any(moment is not None and in_utc(moment) > last.started_at for moment in newest)
