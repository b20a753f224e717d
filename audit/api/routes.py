"""The routes: each calls what the app's own pages call."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query
from fastapi import Path as InPath
from fastapi.responses import FileResponse
from pydantic import AfterValidator, AwareDatetime, Field, Strict
from sqlalchemy import select
from starlette.background import BackgroundTask

from audit.api.application import Adjudicating, Annotating, Managing, Problem, Visit
from audit.corpora import Reading
from audit.exchange.questions import LARGEST_PAGE, Which, questions_page
from audit.files import unstorable
from audit.judging.accounts import ROLES
from audit.judging.adjudications import adjudicate, disputes, opinions
from audit.judging.answers import command
from audit.judging.judgements import flag, judge, judging_mode, skip, undo
from audit.judging.queue import Shown, next_question, queue_of, show
from audit.judging.words import words_of
from audit.messages import message, said
from audit.runner.studies import runs as listed_runs
from audit.statistics.intervals import Target, get_target
from audit.store import reading, tables
from audit.store.core import study as study_table
from audit.studies.jobs import Job, begin_job, jobs, stop_job
from audit.studies.listing import list_studies as studies_of
from audit.studies.own_systems import offer_stored_systems
from audit.studies.plan import read_plan
from audit.studies.uploads import File, store_corpus, uploaded_here
from audit.studies.versions import Version, set_plan
from audit.tasks.questions import ORIGINS
from audit.user_models import Mistake, UserModel

annotator, adjudicator, manager = (APIRouter(tags=[role]) for role in ROLES)
"""By the least role that their routes need, which is their tag."""
_CLIENT = command("API")
"""With what an answer is given, as it is stored with it."""
_LARGEST = (1 << 31) - 1
Number = Annotated[int, Field(ge=1, le=_LARGEST)]
Id = Annotated[int, InPath(ge=1, le=_LARGEST)]
Name = Annotated[str, InPath(min_length=1, max_length=80)]
Study = Annotated[
    int | None, Query(ge=1, le=_LARGEST, description="The number of a study (`GET /studies`); left out: all.")
]


def _storable(text: str) -> str:
    if fault := unstorable(text):
        raise Mistake(fault)
    return text


def _lately(moment: datetime) -> datetime:
    """Return a moment of the last day, in UTC; a client's clock may be ahead by a minute."""
    now = tables.now()
    if not now - timedelta(days=1) <= moment <= now + timedelta(minutes=1):
        raise Mistake(message("api.not_lately", now=f"{now:%Y-%m-%dT%H:%M:%SZ}"))
    return min(moment.astimezone(UTC), now)


Text = Annotated[str, AfterValidator(_storable)]
Moment = Annotated[AwareDatetime, Strict(False), AfterValidator(_lately)]


# What is sent. A body has no other keys than these.


class Answering(UserModel):
    """An answer to a question; `shown_at` is when somebody saw it, within the last day."""

    answer: Text
    comment: Text | None = None
    shown_at: Moment | None = None


class Undoing(UserModel):
    """The number of the answer to take back, so that a request that is sent twice takes back one; null: the last."""

    judgement: Number | None = None


class Flagging(UserModel):
    """Why an adjudicator should look at a question."""

    comment: Text = Field(min_length=1)


class Settling(UserModel):
    """An adjudicator's decision."""

    allowed: list[Text] = Field(min_length=1)
    reason: Text = ""
    code: Text | None = None


class Sending(UserModel):
    """Texts, a row each, with the keys of a corpus file; `columns` and `labels` rename the rows' keys and labels."""

    rows: list[dict[str, Any]] = Field(min_length=1)
    task: Text = "sentiment"
    language: Text | None = None
    unit: Literal["sentence", "document"] | None = None
    columns: dict[str, str] = Field(default_factory=dict, description="Our name of a key -> the rows' own.")
    labels: dict[str, str] = Field(default_factory=dict, description="A gold label of the rows -> the task's.")


class Exporting(UserModel):
    """Whether the names of people become pseudonyms, and comments are left out."""

    pseudonymise: bool = True


# What is answered.


def _fields(value: object, names: str) -> dict[str, Any]:
    """Return what a program may see of one of the app's values."""
    return {name: getattr(value, name) for name in names.split()}


def _question(visit: Visit, shown: Shown) -> dict[str, Any]:
    """Return a question as an annotator may see it, in the language of the request and in the database's own words: no
    system, and no output but the one that is asked about."""
    with reading(visit.engine) as connection:
        wording = words_of(connection).wording(shown.task, visit.language, shown.study_id)
    own, group = shown.kind in ("input", "pair"), shown.group
    members = group.members if group else ()
    return _fields(shown, "id task kind texts languages output compared_with") | {
        "question": wording.question if own else shown.question,
        "labels": {label: wording.labels.get(label, label) if own else label for label in shown.labels},
        "about": group.summary if group else None,
        "members": [{"role": member.role} | _fields(member.input, "texts languages") for member in members],
        **_fields(shown.remembered, "skipped sent_back"),
    }


# Annotators.


@annotator.get("/me")
def me(visit: Annotating) -> dict[str, Any]:
    """Whose token this is, what it may do and until when, and the languages that the account reads (none: all)."""
    return _fields(visit.bearer, "role expires_at") | _fields(visit.bearer.account, "name languages")


@annotator.get("/queue")
def queue(visit: Annotating) -> dict[str, int]:
    """How much this account has done, and how much is left for it."""
    names = ("today", "judged", "left", "in_other_languages")
    return dict(zip(names, queue_of(visit.engine, visit.id), strict=False))


@annotator.post("/questions/next")
def take_next(visit: Annotating) -> dict[str, Any]:
    """The next question, held for this account for 15 minutes: asked again, the same one comes until it is answered,
    skipped or flagged. `labels` are what may be answered, and how it reads; `unsure` may be, too. `about` is what is
    promised of the texts of a group, its `members`. Without a question, `training` says whether the account has to pass
    the training round first, in the app."""
    shown = next_question(visit.engine, visit.id)
    if shown is not None:
        return {"question": _question(visit, shown), "training": False}
    return {"question": None, "training": judging_mode(visit.engine, visit.id).training is not None}


@annotator.post("/questions/{id}/judgement", status_code=201)
def give_answer(visit: Annotating, id: Id, body: Answering) -> dict[str, int]:
    """Answer the question that this account holds: it is stored when the response is there. Sent again, as the last
    answer of this account, it is stored once, and the same number comes back."""
    return {"id": judge(visit.engine, visit.id, id, **body.model_dump(), client=_CLIENT, repeatable=True)}


@annotator.post("/undo")
def take_back(visit: Annotating, body: Undoing | None = None) -> dict[str, int | None]:
    """Take the last answer back; its question is held again. At most ten times in a row."""
    only = body.judgement if body else None
    return {"question_id": undo(visit.engine, visit.id, client=_CLIENT, only=only)}


@annotator.post("/questions/{id}/skip", status_code=204)
def put_off(visit: Annotating, id: Id) -> None:
    """Put the question off that this account holds: it comes again when nothing else is left, or tomorrow."""
    skip(visit.engine, visit.id, id)


@annotator.post("/questions/{id}/flag", status_code=204)
def send_to_adjudicators(visit: Annotating, id: Id, body: Flagging) -> None:
    """Send the question that this account holds to the adjudicators, with a comment."""
    flag(visit.engine, visit.id, id, body.comment)


# Adjudicators. What people said is shown of a question that waits for a decision only.


@adjudicator.get("/disputes")
def list_disputes(visit: Adjudicating) -> dict[str, list[int]]:
    """Questions on which people disagree, the most wanted first."""
    return {"questions": disputes(visit.engine, visit.id)}


@adjudicator.get("/disputes/{id}")
def read_dispute(visit: Adjudicating, id: Id) -> dict[str, Any]:
    """A question on which people disagree, with what they said, without names."""
    if id not in disputes(visit.engine, visit.id):
        raise Problem(404, message("api.not_asked", id=id))
    with reading(visit.engine) as connection:
        shown = show(connection, id)
    said_of_it = [opinion._asdict() for opinion in opinions(visit.engine, visit.id, id)]
    return {"question": _question(visit, shown), "opinions": said_of_it}


@adjudicator.post("/questions/{id}/adjudication", status_code=201)
def settle(visit: Adjudicating, id: Id, body: Settling) -> dict[str, int]:
    """Decide a question: its right labels, and why. One that is decided is refused; the same decision sent again is
    stored once."""
    return {"id": adjudicate(visit.engine, visit.id, id, body.allowed, body.reason, body.code)}


# Managers: studies.


@manager.put("/corpora/{name}")
def send_texts(visit: Managing, name: Name, body: Sending) -> dict[str, Any]:
    """Send texts, at most 5 MB, and name them, so that a plan may. The same texts again change nothing; other texts
    need another name."""
    lines = "\n".join(json.dumps(row) for row in body.rows).encode()
    file = File(f"{name}.jsonl", lines, body.task, Reading(body.columns, body.labels), body.language, body.unit)
    corpus = store_corpus(visit.engine, name, file, by=visit.id)
    return {"corpus": name, "size": corpus.size(), "gold": corpus.has_gold} | _fields(corpus, "task language unit")


@manager.get("/studies")
def list_studies(visit: Managing) -> list[dict[str, Any]]:
    """The studies, the oldest first: what a report is about. `systems` are the entries of `audit runs --json`."""
    systems: dict[int, list[dict[str, Any]]] = {}
    for listed in listed_runs(visit.engine):
        systems.setdefault(listed["study"], []).append(listed)
    names = "corpus task plan began sources relations drawn answered"
    return [
        {"study": study.id, "systems": systems.get(study.id, []), **_fields(study, names)}
        for study in studies_of(visit.engine, visit.id)
    ]


@manager.put("/plans/{name}")
def store_plan(visit: Managing, name: Name, body: Annotated[dict[str, Any], Body()]) -> Version:
    """Store a plan (the tables of its TOML file, with their keys) as the next version of its name; nothing is stored
    where nothing differs. It may name registered systems and corpora only, and texts that were sent to this server."""
    offer_stored_systems(visit.engine)
    uploaded = uploaded_here(visit.engine)
    plan = read_plan(body | {"name": name}, f"the plan {name!r}", registered_only=True, uploaded=uploaded)
    return set_plan(visit.engine, plan, by=visit.id)[0]


@manager.post("/plans/{name}/runs", status_code=202)
def begin_run(visit: Managing, name: Name) -> dict[str, Any]:
    """Begin to carry out the last version of a plan, or resume it: run, draw, let gold answer. It goes on without the
    caller, who looks at it again with `GET /runs`. Refused while the plan is being carried out."""
    return _run(visit, begin_job(visit.engine, name, visit.service.database(), by=visit.id))


@manager.get("/runs")
def list_runs(visit: Managing, plan: str | None = None) -> list[dict[str, Any]]:
    """The runs of a plan, or all, the last one first; `lost` is the state of one whose process is gone."""
    return _runs(visit, jobs(visit.engine, plan, by=visit.id))


@manager.post("/runs/{run}/stop", status_code=202)
def stop_run(visit: Managing, run: Id) -> dict[str, Any]:
    """Ask a run to stop. What it has finished stays; beginning it again resumes from there."""
    _run(visit, run)
    stop_job(visit.engine, run, by=visit.id)
    return _run(visit, run)


def _run(visit: Visit, id: int) -> dict[str, Any]:
    found = _runs(visit, [job for job in jobs(visit.engine, by=visit.id) if job.id == id])
    if not found:
        raise Problem(404, message("api.no_run", id=id))
    return found[0]


def _runs(visit: Visit, listed: list[Job]) -> list[dict[str, Any]]:
    """Return runs with the number that the plan's studies have, once there is one, and why they failed."""
    last_study = {study.plan: study.id for study in studies_of(visit.engine, visit.id)}
    names = "id plan state step done total by started_at ended_at"
    return [
        _fields(job, names)
        | {"study": last_study.get(job.plan), "sentence": job.message and said(job.message, visit.language)}
        for job in listed
    ]


# Managers: results. What takes long is computed where the app's own pages have it computed: in another process.


def _need_study(visit: Visit, study: int | None) -> None:
    with reading(visit.engine) as connection:
        there = select(study_table.c.id).where(study_table.c.id == study)
        if study is not None and connection.execute(there).first() is None:
            raise Problem(404, message("api.no_study", id=study))


@manager.get("/report")
def report(
    visit: Managing,
    study: Study = None,
    answers: Literal["both", "people", "gold"] = "both",
    target: Target | None = None,
    delta: Annotated[float, Query(ge=0, lt=1)] = 0.0,
) -> dict[str, Any]:
    """The report of one study, or of all together: the document of `audit report --json`. Whoever compares systems
    names a study."""
    _need_study(visit, study)
    return dict(visit.compute("report", whose=answers, target=get_target(target), delta=delta, study=study))


@manager.get("/agreement")
def agreement(visit: Managing) -> list[dict[str, Any]]:
    """How far the annotators agree, for each task and kind of question: as `audit agreement --json`."""
    return list(visit.compute("agreement", by=visit.id))


@manager.get("/progress")
def progress(visit: Managing) -> dict[str, Any]:
    """How far judging is: questions, judgements, pace and what nobody reads, as in `audit progress --json`."""
    return dict(visit.compute("totals", by=visit.id))


@manager.get("/questions")
def list_questions(
    visit: Managing,
    study: Study = None,
    which: Which = "all",
    origin: Annotated[str | None, Query(pattern="|".join(ORIGINS), description="Whose answers `which` means.")] = None,
    after: Annotated[int, Query(ge=0, le=_LARGEST, description="`next` of the page before.")] = 0,
    limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 100,
) -> dict[str, Any]:
    """Questions in the order of their numbers, with their settled `answers` by origin (adjudicated, people, gold),
    without anybody's name. For what is new, ask again after the last number; `next` is null on the last page."""
    _need_study(visit, study)
    page = questions_page(visit.engine, visit.id, after, limit, which=which, study=study, origin=origin)
    return {"questions": page, "next": page[-1]["id"] if len(page) == limit else None}


@manager.post("/exports", response_class=FileResponse)
def make_export(visit: Managing, body: Exporting | None = None) -> FileResponse:
    """The whole database as a zip file of tables, from which `audit import` makes the same database, without passwords.
    Each export is a line of the log."""
    file = Path(visit.compute("export", anew=True, by=visit.id, pseudonymise=body is None or body.pseudonymise))
    done = BackgroundTask(shutil.rmtree, file.parent, ignore_errors=True)
    return FileResponse(file, media_type="application/zip", filename=file.name, background=done)
