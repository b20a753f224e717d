"""Plans of studies: check, store, freeze and carry them out."""

import os
from typing import TYPE_CHECKING, Annotated, Any

from audit.cli.console import Reply, chatter_to_stderr, say, table, tell
from audit.cli.options import (
    DATABASE,
    STUDY,
    AsJson,
    Database,
    Workers,
    as_options,
    command,
    flag,
    group,
    name_of,
    open_database,
    place,
    whole_number,
)
from audit.errors import AuditError
from audit.messages import counted
from audit.runner.options import RunOptions

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from audit.studies.plan import Plan
    from audit.studies.versions import Version


group(
    "study",
    STUDY,
    "plans of studies: check, store, freeze and carry them out",
    "Plans of studies (docs/how-to/studies.md). Whoever has the database may do all of it; in the app, managers may, "
    "with "
    "registered corpora and systems.",
)


@command("study example", STUDY, "a plan with every key explained, to begin with", "audit study example")
def study_example() -> None:
    """Writes a plan with every key explained."""
    from audit.studies.plan import example

    tell(example(), end="")


@command("study check", STUDY, "say what a plan's file plans, or every mistake in it", "audit study check films.toml")
def study_check(file: Annotated[str, place("FILE", "the plan, TOML")]) -> Reply:
    """Reads a plan's file, says what it plans, or lists every mistake with its table, key and what is allowed there.
    The `content` is complete: what the file leaves out is filled in.
    """
    from audit.studies.plan import read_plan_file

    plan = read_plan_file(file)
    return Reply({"name": plan.name, "content": plan.content()}, [f"{file} is a plan.", *_what(plan)])


@command(
    "study set",
    STUDY,
    "store a plan's file as the next version of the plan it names",
    "audit study set films.toml --db mine.db",
)
def study_set(file: Annotated[str, place("FILE", "the plan, TOML")], db: Database = DATABASE) -> Reply:
    """Stores a plan's file as the next version of the plan it names, unless nothing changed. A database is made where
    there is none.
    """
    from audit.studies.plan import read_plan_file

    plan = read_plan_file(file)
    engine = open_database(db, create=True)
    version, new, lines = _stored(engine, plan)
    document = {"name": version.name, "version": version.version, "new": new, "changes": _last_changes(engine, version)}
    return Reply(document, [*lines, f"Next: audit study freeze {version.name!r} --db {db}"])


@command(
    "study freeze",
    STUDY,
    "freeze the last version of a plan: later changes are in the report",
    "audit study freeze films --db mine.db",
)
def study_freeze(name: Annotated[str, name_of("NAME", "of the plan")], db: Database = DATABASE) -> Reply:
    """Freezes the last version: a version with the same content. Later changes are allowed, and are in the report."""
    from audit.studies.versions import freeze

    version = freeze(open_database(db), name)
    lines = [f"Plan {version.name}: frozen as version {version.version}; reports say what is changed from now on."]
    return Reply({"name": version.name, "version": version.version, "frozen_at": _time(version.at)}, lines)


@command("study list", STUDY, "the plans there are", "audit study list")
def study_list(db: Database = DATABASE) -> Reply:
    """The plans there are. `frozen_version` is the first frozen one, to which a study is held."""
    from audit.studies.versions import all_versions, frozen_version

    with open_database(db).connect() as connection:
        plans = all_versions(connection)
    rows = []
    for name, history in plans.items():
        frozen = frozen_version(history)
        rows.append(
            {
                "name": name,
                "version": history[-1].version,
                "frozen_at": _time(frozen.at) if frozen else None,
                "frozen_version": frozen.version if frozen else None,
                "corpus": history[-1].content["study"]["corpus"],
                "limit": history[-1].content["study"]["limit"],
                "stored_at": _time(history[-1].at),
            }
        )
    return Reply(rows, table)


@command("study show", STUDY, "a plan, its versions, and what each changed", "audit study show films --toml")
def study_show(
    name: Annotated[str, name_of("NAME", "of the plan")],
    toml: Annotated[bool, flag("--toml", "the last version as a file, nothing else")] = False,
    db: Database = DATABASE,
    as_json: AsJson = False,
) -> Reply | None:
    """A plan and its versions: when, by whom (`null`: whoever had the database), and what each changed."""
    from audit.studies.plan import to_toml
    from audit.studies.versions import change_text, steps, versions

    if toml and as_json:
        raise AuditError("--toml and --json are two forms of the same; give one of them")
    history = versions(open_database(db), name)
    written = to_toml(history[-1].plan())
    if toml:
        tell(written, end="")
        return None
    changed = {version.version: changes for version, changes in steps(history)}
    rows = [
        {
            "version": version.version,
            "frozen": version.frozen,
            "at": _time(version.at),
            "by": version.by,
            "changes": [_change(change) for change in changed.get(version.version, ())],
        }
        for version in history
    ]
    lines = []
    for version in history:
        what = "frozen" if version.frozen else "; ".join(map(change_text, changed.get(version.version, ()))) or "stored"
        lines.append(
            f"version {version.version}, {version.at:%Y-%m-%d %H:%M} UTC"
            f"{f', {version.by}' if version.by else ''}: {what}"
        )
    document = {"name": history[-1].name, "content": history[-1].content, "versions": rows}
    return Reply(document, [*lines, "", written.rstrip("\n")])


@command(
    "study run",
    STUDY,
    "carry out a plan: run, draw, let gold answer",
    "audit study run films --db mine.db",
    "audit study run films.toml --workers 2 --json",
)
def study_run(
    plan: Annotated[str, place("PLAN", "name of a stored plan, or a file that ends in .toml")],
    db: Database = DATABASE,
    workers: Workers = None,
    change_words: Annotated[
        bool, flag("--change-words", "set the plan's words although people have answered under other ones")
    ] = False,
    job: Annotated[int | None, whole_number("for the app: tell this job how far it is; needs AUDIT_DB", "ID")] = None,
) -> Reply | None:
    """Carries out a plan: `run`, then `sample`, then `gold` where the plan asks for it, and the settings of judging.
    The same as the single commands would do; the same again goes on where it was broken off.
    """
    from audit.runner.progress import Bar
    from audit.studies.jobs import DATABASE as VARIABLE
    from audit.studies.plan import SUFFIX, read_plan_file
    from audit.studies.versions import versions

    if job is not None:
        where = os.environ.get(VARIABLE)
        if not where:
            raise AuditError(
                f"--job takes the database from the variable {VARIABLE}, which is not set; leave --job out"
            )
        _work(open_database(where), where, job, plan, workers)
        return None
    if plan.lower().endswith(SUFFIX):
        content = read_plan_file(plan)
        engine = open_database(db, create=True)
        lines = _stored(engine, content)[2]
    else:
        engine = open_database(db)
        content, lines = versions(engine, plan)[-1].plan(), []
    with Bar(content.name, say=say) as bar:
        done = _carry_out(engine, content, workers, watcher=bar, change_words=change_words)
    lines += [as_options(line, "retry_errors") for line in done.ran.lines()]
    lines.append(f"{done.asked.asked:,} texts asked ({done.asked.texts:,} new).")
    if done.gold is not None:
        lines.append(f"Gold answers {done.gold.answered:,} of {done.gold.questions:,} questions.")
    lines += [f"{done.waiting:,} questions wait for people.", f"Next: audit app --db {db}"]
    return Reply(done.as_json(), lines)


def _stored(engine: "Engine", plan: "Plan") -> tuple["Version", bool, list[str]]:
    """Store a plan; the version, whether it is new, and what to say of it."""
    from audit.studies.versions import frozen_version, set_plan, versions

    version, new = set_plan(engine, plan)
    if not new:
        return version, new, [f"Plan {version.name}: nothing changed since version {version.version}."]
    lines = [f"Plan {version.name}: version {version.version} stored."]
    if frozen := frozen_version(versions(engine, plan.name)):
        lines.append(f"It was frozen on {frozen.at:%Y-%m-%d}: reports say what was changed since.")
    return version, new, lines


def _last_changes(engine: "Engine", version: "Version") -> list[dict[str, Any]]:
    from audit.studies.versions import steps, versions

    history = steps(versions(engine, version.name))
    return [_change(change) for change in history[-1][1]] if history else []


def _change(change: Any) -> dict[str, Any]:
    return {"key": change.key, "before": change.before, "after": change.after}


def _work(engine: "Engine", where: str, job: int, name: str, workers: int | None) -> None:
    """As the process of a job."""
    from audit.studies.jobs import running_job
    from audit.studies.versions import versions

    if hasattr(os, "nice"):
        os.nice(10)  # people who judge on this machine go before
    with running_job(engine, job, where) as (worker, by):
        plan = versions(engine, name)[-1].plan()
        most = max(1, (os.cpu_count() or 1) - 1) if workers is None else workers
        _carry_out(engine, plan, most, watcher=worker, begin=worker.step, by=by)


def _carry_out(engine: "Engine", plan: "Plan", workers: int | None, **how: Any) -> Any:
    from audit.runner.executors import executor_of
    from audit.studies.jobs import carry_out

    with chatter_to_stderr(), executor_of(RunOptions(workers=workers)) as executor:
        return carry_out(engine, plan, executor, **how)


def _what(plan: "Plan") -> list[str]:
    """What a plan plans, in a few lines."""
    from audit.sampling.options import BASE

    study, sample, judging = plan.study, plan.sample, plan.judging
    size = f"{sample['share']:g} of the groups" if sample["share"] else counted(sample["base"] or BASE, "group")
    sources = "all sources" if study["limit"] is None else counted(study["limit"], "source")
    return [
        f"{plan.name}: {study['corpus']} ({study['task']}), {sources}, {counted(len(study['relations']), 'relation')}, "
        f"{counted(len(study['systems']), 'system')}; {size} of each list first (decide: {sample['decide']}), "
        f"{counted(judging['annotators'], 'annotator')} per question "
        f"(quorum {judging['quorum']}){', gold answers what it can' if judging['gold'] else ''}."
    ]


def _time(moment: Any) -> str:
    return str(moment.isoformat(timespec="seconds"))
