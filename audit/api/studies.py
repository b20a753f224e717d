"""Routes for managers about studies: what can be used, plans and their runs, what was run."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path

from audit.api.models import CorpusAnswer, Freezing, Planning, RunAnswer, Sending, StudyAnswer, VersionAnswer
from audit.api.problems import Problem
from audit.api.service import Managing, Visit
from audit.corpora import Corpus, Reading, all_corpora
from audit.messages import message, said
from audit.runner.studies import runs as listed_runs
from audit.studies.jobs import Job, begin_job, jobs, stop_job
from audit.studies.listing import ListedStudy
from audit.studies.listing import list_studies as studies_of
from audit.studies.plan import read_plan
from audit.studies.uploads import LARGEST, File, store_corpus, uploaded_corpora, uploaded_here
from audit.studies.versions import Version, all_versions, freeze, set_plan, versions

router = APIRouter(tags=["studies"])
Name = Annotated[str, Path(min_length=1, max_length=80, description="The name of a plan.")]
Run = Annotated[int, Path(ge=1, le=(1 << 31) - 1, description="The number of a run.")]


@router.get("/corpora")
def list_corpora(visit: Managing, task: str | None = None) -> list[CorpusAnswer]:
    """The corpora that a plan may name: registered ones, and texts that were sent to this server."""
    sent = uploaded_corpora(visit.engine, task, by=visit.id)
    return [*(_corpus(corpus, sent=False) for corpus in all_corpora(task)), *(_corpus(own, sent=True) for own in sent)]


@router.put("/corpora/{name}")
def send_texts(visit: Managing, name: Annotated[str, Path(min_length=1, max_length=80)], body: Sending) -> CorpusAnswer:
    """Send texts, at most 5 MB, and name them, so that a plan may. The same texts again change nothing; other texts
    need another name."""
    lines = "\n".join(json.dumps(row) for row in body.rows)
    if len(lines) > LARGEST:  # each character is one of ASCII
        raise Problem(413, message("api.too_large", most=LARGEST))
    reading = Reading(body.columns, body.labels)
    file = File(f"{name}.jsonl", lines.encode(), body.task, reading, body.language, body.unit)
    return _corpus(store_corpus(visit.engine, name, file, by=visit.id), sent=True)


@router.get("/studies")
def list_studies(visit: Managing) -> list[StudyAnswer]:
    """The studies, the oldest first: what a report is about."""
    systems: dict[int, list[dict[str, Any]]] = {}
    for listed in listed_runs(visit.engine):
        entry = listed.as_json()
        systems.setdefault(entry["study"], []).append(entry)
    return [_study(study, systems.get(study.id, [])) for study in studies_of(visit.engine, visit.id)]


@router.get("/plans")
def list_plans(visit: Managing) -> list[VersionAnswer]:
    """The plans, each in its last version."""
    with visit.engine.connect() as connection:
        histories = all_versions(connection)
    return [_version(history[-1]) for history in histories.values()]


@router.get("/plans/{name}")
def read_versions(visit: Managing, name: Name) -> list[VersionAnswer]:
    """Every version of a plan, the first one first."""
    return [_version(version) for version in versions(visit.engine, name, by=visit.id)]


@router.put("/plans/{name}")
def store_plan(visit: Managing, name: Name, body: Planning) -> VersionAnswer:
    """Store a plan, as the next version of its name; nothing is stored where nothing differs.

    It may name registered systems and corpora only, and texts that were sent to this server.
    """
    plan = read_plan(
        {"name": name, **body.model_dump()},
        f"the plan {name!r}",
        registered_only=True,
        uploaded=uploaded_here(visit.engine),
    )
    version, new = set_plan(visit.engine, plan, by=visit.id)
    return _version(version, new)


@router.post("/plans/{name}/freeze")
def freeze_plan(visit: Managing, name: Name, body: Freezing | None = None) -> VersionAnswer:
    """Freeze the last version of a plan: what changes afterwards is told in the report."""
    return _version(freeze(visit.engine, name, by=visit.id, version=body.version if body else None))


@router.post("/plans/{name}/runs", status_code=202)
def begin_run(visit: Managing, name: Name) -> RunAnswer:
    """Begin to carry out the last version of a plan, or go on with it: run, draw, let gold answer. It goes on without
    the caller, who looks at it again with `GET /runs/{run}`. Refused while the plan is being carried out."""
    return _run(visit, begin_job(visit.engine, name, visit.service.database(), by=visit.id))


@router.get("/runs")
def list_runs(visit: Managing, plan: str | None = None) -> list[RunAnswer]:
    """The runs of a plan, or all, the last one first."""
    studies = _study_by_plan(visit)
    return [_run_answer(visit, job, studies) for job in jobs(visit.engine, plan, by=visit.id)]


@router.get("/runs/{run:int}")
def read_run(visit: Managing, run: Run) -> RunAnswer:
    """How far a run is."""
    return _run(visit, run)


@router.post("/runs/{run:int}/stop", status_code=202)
def stop_run(visit: Managing, run: Run) -> RunAnswer:
    """Ask a run to stop. What it has finished stays; beginning it again goes on from there."""
    _run(visit, run)
    stop_job(visit.engine, run, by=visit.id)
    return _run(visit, run)


def _run(visit: Visit, id: int) -> RunAnswer:
    job = next((job for job in jobs(visit.engine, by=visit.id) if job.id == id), None)
    if job is None:
        raise Problem(404, message("api.no_run", id=id))
    return _run_answer(visit, job, _study_by_plan(visit))


def _study_by_plan(visit: Visit) -> dict[str | None, int]:
    """The last study of each plan."""
    return {study.plan: study.id for study in studies_of(visit.engine, visit.id)}


def _study(study: ListedStudy, systems: list[dict[str, Any]]) -> StudyAnswer:
    names = ("corpus", "task", "plan", "began", "sources", "relations", "drawn", "answered")
    return StudyAnswer(study=study.id, systems=systems, **{name: getattr(study, name) for name in names})


def _run_answer(visit: Visit, job: Job, studies: Mapping[str | None, int]) -> RunAnswer:
    names = ("id", "plan", "state", "step", "done", "total", "by", "started_at", "ended_at")
    sentence = said(job.message, visit.language) if job.message else None
    return RunAnswer(sentence=sentence, study=studies.get(job.plan), **{name: getattr(job, name) for name in names})


def _corpus(corpus: Corpus, sent: bool) -> CorpusAnswer:
    return CorpusAnswer(
        corpus=corpus.name,
        task=corpus.task,
        language=corpus.language,
        unit=corpus.unit,
        size=corpus.size(),
        gold=corpus.has_gold,
        available=corpus.needs() is None,
        sent=sent,
    )


def _version(version: Version, changed: bool = True) -> VersionAnswer:
    return VersionAnswer(**asdict(version), changed=changed)
