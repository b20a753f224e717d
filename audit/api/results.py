"""Routes for managers about results: the report of one study or all, agreement, progress, questions, exports, the log.

What takes long is computed where the app's own pages have it computed: in another process.
"""

import shutil
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse
from sqlalchemy import select
from starlette.background import BackgroundTask

from audit.annotation.answers import ORIGINS
from audit.api.models import Exporting, Questions, StoredQuestion
from audit.api.problems import Problem
from audit.api.service import Managing, Visit
from audit.messages import message
from audit.reports.exports.pages import LARGEST_PAGE, Which, questions_page
from audit.statistics.intervals import Target, get_target
from audit.store import reading
from audit.store.core import study as study_table

router = APIRouter(tags=["results"])
Study = Annotated[
    int | None, Query(ge=1, le=(1 << 31) - 1, description="The number of a study (`GET /studies`); left out: all.")
]


@router.get("/report")
def report(
    visit: Managing,
    study: Study = None,
    answers: Literal["both", "people", "gold"] = "both",
    target: Target | None = None,
    delta: Annotated[float, Query(ge=0, lt=1)] = 0.0,
) -> dict[str, Any]:
    """The report of one study, or of all together: the document of `audit report --json`, with observed and genuine
    rates, their intervals, ranks and the signature. Whoever compares systems names a study."""
    _need_study(visit, study)
    values = {
        "whose": answers,
        "target": get_target(target),
        "delta": delta,
        "study": study,
    }
    return dict(visit.service.computed("report", values))


@router.get("/agreement")
def agreement(visit: Managing) -> list[dict[str, Any]]:
    """How far the annotators agree, for each task and kind of question that two people judged: coefficients with
    intervals, as `audit agreement --json`."""
    return list(visit.service.computed("agreement", {"by": visit.id}))


@router.get("/progress")
def progress(visit: Managing) -> dict[str, Any]:
    """How far judging is: questions, judgements, pace and what nobody reads, as in `audit progress --json`."""
    return dict(visit.service.computed("totals", {"by": visit.id}))


@router.get("/questions")
def list_questions(
    visit: Managing,
    study: Study = None,
    which: Which = "all",
    origin: Annotated[
        str | None, Query(pattern="|".join(ORIGINS), description="Whose answers `which` is about.")
    ] = None,
    after: Annotated[int, Query(ge=0, le=(1 << 31) - 1, description="`next` of the page before.")] = 0,
    limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 100,
) -> Questions:
    """Questions with their settled answers, without anybody's name; for what is new, ask again after the last number,
    and for answers that came meanwhile from the beginning."""
    _need_study(visit, study)
    page = questions_page(visit.engine, visit.id, after, limit, which=which, study=study, origin=origin)
    questions = [
        StoredQuestion(
            texts=list(entry.input.texts),
            languages=list(entry.input.languages),
            **{
                name: getattr(entry, name)
                for name in ("id", "task", "kind", "output", "annotators", "waits", "filled", "answers")
            },
        )
        for entry in page
    ]
    return Questions(questions=questions, next=page[-1].id if len(page) == limit else None)


@router.post("/exports", response_class=FileResponse, responses={200: {"content": {"application/zip": {}}}})
def make_export(visit: Managing, body: Exporting | None = None) -> FileResponse:
    """The whole database as a zip file of tables, from which `audit import` makes the same database. No passwords and
    no tokens are in it. Each is a line of the log."""
    values = {"by": visit.id, "pseudonymise": body is None or body.pseudonymise}
    file = Path(visit.service.computed("export", values, anew=True))
    return FileResponse(
        file,
        media_type="application/zip",
        filename=file.name,
        background=BackgroundTask(shutil.rmtree, file.parent, ignore_errors=True),
    )


def _need_study(visit: Visit, study: int | None) -> None:
    """Raises Problem where there is no study of this number."""
    if study is None:
        return
    with reading(visit.engine) as connection:
        if connection.execute(select(study_table.c.id).where(study_table.c.id == study)).first() is None:
            raise Problem(404, message("api.no_study", id=study))
