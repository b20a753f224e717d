"""Routes for managers about studies: what can be used, plans and their runs, what was run."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path

from audit import systems
from audit.api.models import Freezing, Planning, RunAnswer, VersionAnswer
from audit.api.problems import Problem
from audit.api.service import Managing, Visit
from audit.messages import message, said
from audit.relations import all_relations
from audit.runner.studies import runs as listed_runs
from audit.studies.jobs import Job, begin_job, jobs, stop_job
from audit.studies.plan import read_plan
from audit.studies.versions import Version, all_versions, freeze, set_plan, versions

router = APIRouter(tags=["studies"])
Name = Annotated[str, Path(min_length=1, max_length=80, description="The name of a plan.")]
Run = Annotated[int, Path(ge=1, le=(1 << 31) - 1, description="The number of a run.")]


@router.get("/systems")
def list_systems(visit: Managing, task: str | None = None) -> list[dict[str, object]]:
    """The registered systems: what `audit systems --json` answers. A plan may name these."""
    return systems.listing(task)


@router.get("/relations")
def list_relations(visit: Managing, task: str | None = None) -> list[dict[str, object]]:
    """The registered relations."""
    return [
        {
            "relation": relation.name,
            "task": relation.task,
            "family": relation.family,
            "unit": relation.unit,
            "languages": list(relation.languages),
            "default": relation.default,
            "summary": relation.summary,
        }
        for relation in all_relations(task)
    ]


@router.get("/studies")
def list_studies(visit: Managing) -> list[dict[str, Any]]:
    """What was run: the entries of `audit runs --json`, a study and a system each. `study` is what `/report` takes."""
    return [listed.as_json() for listed in listed_runs(visit.engine)]


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
    plan = read_plan({"name": name, **body.model_dump()}, message("plan_file.called", name=name), registered_only=True)
    version, new = set_plan(visit.engine, plan, by=visit.id)
    return _version(version, new)


@router.post("/plans/{name}/freeze")
def freeze_plan(visit: Managing, name: Name, body: Freezing) -> VersionAnswer:
    """Freeze the last version of a plan: what changes afterwards is told in the report."""
    return _version(freeze(visit.engine, name, by=visit.id, version=body.version))


@router.post("/plans/{name}/runs", status_code=202)
def begin_run(visit: Managing, name: Name) -> RunAnswer:
    """Begin to carry out the last version of a plan, or go on with it: run, draw, let gold answer. It goes on without
    the caller, who looks at it again with `GET /runs/{run}`."""
    return _run(visit, begin_job(visit.engine, name, visit.service.database(), by=visit.id))


@router.get("/runs")
def list_runs(visit: Managing, plan: str | None = None) -> list[RunAnswer]:
    """The runs of a plan, or all, the last one first."""
    return [_run_answer(visit, job) for job in jobs(visit.engine, plan, by=visit.id)]


@router.get("/runs/{run}")
def read_run(visit: Managing, run: Run) -> RunAnswer:
    """How far a run is."""
    return _run(visit, run)


@router.post("/runs/{run}/stop", status_code=202)
def stop_run(visit: Managing, run: Run) -> RunAnswer:
    """Ask a run to stop. What it has finished stays; beginning it again goes on from there."""
    _run(visit, run)
    stop_job(visit.engine, run, by=visit.id)
    return _run(visit, run)


def _run(visit: Visit, id: int) -> RunAnswer:
    job = next((job for job in jobs(visit.engine, by=visit.id) if job.id == id), None)
    if job is None:
        raise Problem(404, message("api.no_run", id=id))
    return _run_answer(visit, job)


def _run_answer(visit: Visit, job: Job) -> RunAnswer:
    names = ("id", "plan", "state", "step", "done", "total", "by", "started_at", "ended_at")
    sentence = said(job.message, visit.language) if job.message else None
    return RunAnswer(sentence=sentence, **{name: getattr(job, name) for name in names})


def _version(version: Version, changed: bool = True) -> VersionAnswer:
    return VersionAnswer(**asdict(version), changed=changed)
