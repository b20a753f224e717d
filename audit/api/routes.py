"""The routes: each calls what the app's own pages call. Bodies and queries are the options of that job."""

import json
import shutil
from datetime import UTC
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le, MinLen
from fastapi import APIRouter, Body, Query
from fastapi import Path as InPath
from fastapi.responses import FileResponse
from pydantic import AfterValidator, AwareDatetime, Field, Strict
from starlette.background import BackgroundTask

from audit.api.application import Visit, needs
from audit.exchange.questions import LARGEST_PAGE, Which, questions_page
from audit.judging.answers import command
from audit.judging.judgements import flag, judge, judging_mode, skip, undo
from audit.judging.queue import Shown, next_question, queue_of
from audit.judging.words import words_of
from audit.messages import said
from audit.options import values_of
from audit.reports.options import ReportOptions
from audit.runner.options import CorpusOptions
from audit.store import reading, tables
from audit.studies.jobs import begin_job, jobs, stop_job
from audit.studies.listing import list_studies as studies_of
from audit.studies.own_systems import offer_stored_systems
from audit.studies.plan import read_plan
from audit.studies.uploads import File, store_corpus, uploaded_here
from audit.studies.versions import Version, set_plan
from audit.user_models import UserModel, model_of_options

annotator, manager = APIRouter(tags=["annotator"]), APIRouter(tags=["manager"])
"""By the least role that their routes need, which is their tag."""
Annotating = Annotated[Visit, needs("annotator")]
Managing = Annotated[Visit, needs("manager")]
_CLIENT = command("API")  # With what an answer is given, as it is stored with it
_LARGEST = (1 << 31) - 1
Number = Annotated[int, Ge(1), Le(_LARGEST)]
Name = Annotated[str, InPath(min_length=1, max_length=80)]
Text = Annotated[str, Field(pattern=r"^[^\x00]*$")]  # PostgreSQL stores no NUL
Moment = Annotated[AwareDatetime, Strict(False), AfterValidator(lambda at: min(at.astimezone(UTC), tables.now()))]


class Answering(UserModel):
    """An answer to a question; `shown_at` is when somebody saw it."""

    answer: Text
    comment: Text | None = None
    shown_at: Moment | None = None


class Undoing(UserModel):
    """The number of the answer to take back, so that a request that is sent twice takes back one; null: the last."""

    judgement: Number | None = None


class Flagging(UserModel):
    """Why an adjudicator should look at a question."""

    comment: Annotated[Text, MinLen(1)]


class QuestionQuery(UserModel, strict=False):
    """Which questions: `origin` is whose answers `which` means, `after` is `next` of the page before."""

    study: Number | None = None
    which: Which = "all"
    origin: Literal["adjudicated", "people", "gold"] | None = None
    after: Annotated[int, Ge(0), Le(_LARGEST)] = 0
    limit: Annotated[int, Ge(1), Le(LARGEST_PAGE)] = 100


_SEVERAL: Any = (list[str], [])
ReportQuery = model_of_options(
    "ReportQuery", ReportOptions, strict=False, study=(Number | None, None), slices=_SEVERAL, proxy=_SEVERAL
)
Sending = model_of_options(
    "Sending", CorpusOptions, without=("targets",), rows=(Annotated[list[dict[str, Any]], MinLen(1)], ...)
)


def _fields(value: object, names: str) -> dict[str, Any]:
    """Return what a program may see of one of the app's values."""
    return {name: getattr(value, name) for name in names.split()}


# Annotators.


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


@annotator.get("/me")
def me(visit: Annotating) -> dict[str, Any]:
    """Whose token this is, what it may do and until when, the languages that the account reads (none: all), how much it
    has done, and how much is left for it."""
    counts = dict(
        zip(("today", "judged", "left", "in_other_languages"), queue_of(visit.engine, visit.id), strict=False)
    )
    return _fields(visit.bearer, "role expires_at") | _fields(visit.bearer.account, "name languages") | counts


@annotator.post("/questions/next")
def take_next(visit: Annotating) -> dict[str, Any]:
    """The next question, held for this account for 15 minutes; asked again, the same one comes. `labels` are what may
    be answered, and how it reads; `unsure` may be, too. `about` is what is promised of the texts of a group, its
    `members`. Without a question, `training` says whether the account has to pass the training round first."""
    shown = next_question(visit.engine, visit.id)
    if shown is not None:
        return {"question": _question(visit, shown), "training": False}
    return {"question": None, "training": judging_mode(visit.engine, visit.id).training is not None}


@annotator.post("/questions/{id}/judgement", status_code=201)
def give_answer(visit: Annotating, id: Number, body: Answering) -> dict[str, int]:
    """Answer the question that this account holds. Sent again, it is stored once, and the same number comes back."""
    return {"id": judge(visit.engine, visit.id, id, **body.model_dump(), client=_CLIENT, repeatable=True)}


@annotator.post("/undo")
def take_back(visit: Annotating, body: Undoing | None = None) -> dict[str, int | None]:
    """Take the last answer back; its question is held again. At most ten times in a row."""
    return {"question_id": undo(visit.engine, visit.id, client=_CLIENT, only=body.judgement if body else None)}


@annotator.post("/questions/{id}/skip", status_code=204)
def put_off(visit: Annotating, id: Number) -> None:
    """Put the question off that this account holds: it comes again when nothing else is left, or tomorrow."""
    skip(visit.engine, visit.id, id)


@annotator.post("/questions/{id}/flag", status_code=204)
def send_to_adjudicators(visit: Annotating, id: Number, body: Flagging) -> None:
    """Send the question that this account holds to the adjudicators, with a comment."""
    flag(visit.engine, visit.id, id, body.comment)


# Managers: studies.


@manager.put("/corpora/{name}")
def send_texts(visit: Managing, name: Name, body: Sending) -> dict[str, Any]:  # type: ignore[valid-type]
    """Send texts, at most 5 MB, and name them, so that a plan may; a row has the keys of a corpus file. The same texts
    again change nothing; other texts need another name."""
    sent: dict[str, Any] = body.model_dump()  # type: ignore[attr-defined]
    read = values_of(CorpusOptions, sent, renamed={})
    lines = "\n".join(json.dumps(row) for row in sent["rows"]).encode()
    file = File(f"{name}.jsonl", lines, read.task or "sentiment", read.reading, read.language, read.unit)
    corpus = store_corpus(visit.engine, name, file, by=visit.id)
    return {"corpus": name, "size": corpus.size(), "gold": corpus.has_gold} | _fields(corpus, "task language unit")


@manager.get("/studies")
def list_studies(visit: Managing) -> list[dict[str, Any]]:
    """The studies, the oldest first: what a report is about."""
    names = "id corpus task plan began sources relations systems drawn answered"
    return [_fields(study, names) for study in studies_of(visit.engine, visit.id)]


@manager.put("/plans/{name}")
def store_plan(visit: Managing, name: Name, body: Annotated[dict[str, Any], Body()]) -> Version:
    """Store a plan (the tables of its TOML file, with their keys) as the next version of its name; nothing is stored
    where nothing differs. It may name registered systems and corpora only, and texts that were sent to this server."""
    offer_stored_systems(visit.engine)
    uploaded = uploaded_here(visit.engine)
    plan = read_plan(body | {"name": name}, f"the plan {name!r}", registered_only=True, uploaded=uploaded)
    return set_plan(visit.engine, plan, by=visit.id)[0]


@manager.post("/plans/{name}/runs", status_code=202)
def begin_run(visit: Managing, name: Name) -> dict[str, int]:
    """Begin to carry out the last version of a plan, or resume it: run, draw, let gold answer. It goes on without the
    caller; see `GET /runs`."""
    return {"id": begin_job(visit.engine, name, visit.service.database(), by=visit.id)}


@manager.get("/runs")
def list_runs(visit: Managing, plan: str | None = None) -> list[dict[str, Any]]:
    """The runs of a plan, or all, the last one first; `lost` is the state of one whose process is gone. `study` is the
    number that the plan's study has, once there is one."""
    last_study = {study.plan: study.id for study in studies_of(visit.engine, visit.id)}
    names = "id plan state step done total by started_at ended_at"
    return [
        _fields(job, names)
        | {"study": last_study.get(job.plan), "sentence": job.message and said(job.message, visit.language)}
        for job in jobs(visit.engine, plan, by=visit.id)
    ]


@manager.post("/runs/{run}/stop", status_code=204)
def stop_run(visit: Managing, run: Number) -> None:
    """Ask a run to stop. What it has finished stays; beginning it again resumes from there."""
    stop_job(visit.engine, run, by=visit.id)


# Managers: results. What takes long is computed where the app's own pages have it computed: in another process.


@manager.get("/report")
def report(visit: Managing, query: Annotated[ReportQuery, Query()]) -> dict[str, Any]:  # type: ignore[valid-type]
    """The report of one study, or of all together: the document of `audit report --json`."""
    return dict(visit.compute("study_report", **query.model_dump()))  # type: ignore[attr-defined]


@manager.get("/agreement")
def agreement(visit: Managing) -> list[dict[str, Any]]:
    """How far the annotators agree, for each task and kind of question: as `audit agreement --json`."""
    return list(visit.compute("agreement", by=visit.id))


@manager.get("/progress")
def progress(visit: Managing) -> dict[str, Any]:
    """How far judging is: questions, judgements, pace and what nobody reads, as in `audit progress --json`."""
    return dict(visit.compute("totals", by=visit.id))


@manager.get("/questions")
def list_questions(visit: Managing, query: Annotated[QuestionQuery, Query()]) -> dict[str, Any]:
    """Questions in the order of their numbers, with their settled `answers` by origin (adjudicated, people, gold),
    without anybody's name. For what is new, ask again after the last number; `next` is null on the last page."""
    page = questions_page(visit.engine, visit.id, **query.model_dump())
    return {"questions": page, "next": page[-1]["id"] if len(page) == query.limit else None}


@manager.post("/exports", response_class=FileResponse)
def make_export(visit: Managing) -> FileResponse:
    """The whole database as a zip file of tables, from which `audit import` makes the same database, without passwords
    and comments, and with pseudonyms for names. Each export is a line of the log."""
    file = Path(visit.compute("export", anew=True, by=visit.id, pseudonymise=True))
    done = BackgroundTask(shutil.rmtree, file.parent, ignore_errors=True)
    return FileResponse(file, media_type="application/zip", filename=file.name, background=done)
