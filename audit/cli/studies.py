"""Plans of studies: check, store, freeze and carry them out."""

import os
from typing import Annotated, Any

from audit.cli.console import Reply, chatter_to_stderr, say, table, tell
from audit.cli.options import (
    DATABASE,
    STUDY,
    Database,
    Read,
    Workers,
    as_options,
    command,
    group,
    open_database,
)
from audit.errors import AuditError
from audit.options import Told
from audit.runner.options import RunOptions

Name = Annotated[str, Told("of the plan", "NAME", argument=True)]
PlanFile = Annotated[Read, Told("the plan, TOML", "FILE", argument=True)]

group(
    "study",
    STUDY,
    "plans of studies: check, store, freeze and carry them out",
    "Plans of studies (docs/how-to/studies.md). Whoever has the database may do all of it; in the app, managers may, "
    "with registered corpora and systems.",
)


@command("study example", STUDY, "a plan with every key explained, to begin with", "audit study example")
def study_example() -> None:
    """Writes a plan with every key explained."""
    from audit.studies.plan import example

    tell(example(), end="")


@command("study check", STUDY, "say what a plan's file plans, or every mistake in it", "audit study check films.toml")
def study_check(file: PlanFile) -> Reply:
    """Reads a plan's file and shows the complete plan, with what the file leaves out filled in; or lists every mistake
    with its table, key and what is allowed there.
    """
    from audit.studies.plan import read_plan_file, to_toml

    plan = read_plan_file(file)
    return Reply(
        {"name": plan.name, "content": plan.content()}, [f"{file} is a plan:", "", *to_toml(plan).splitlines()]
    )


@command(
    "study set",
    STUDY,
    "store a plan's file as the next version of the plan it names",
    "audit study set films.toml --db mine.db",
)
def study_set(file: PlanFile, db: Database = DATABASE) -> Reply:
    """Stores a plan's file as the next version of the plan it names, unless nothing changed. A database is made where
    there is none. After the plan was frozen, reports say what was changed.
    """
    from audit.studies.plan import read_plan_file
    from audit.studies.versions import set_plan, steps, versions

    plan = read_plan_file(file)
    engine = open_database(db, create=True)
    version, new = set_plan(engine, plan)
    history = steps(versions(engine, version.name))
    changes = [vars(change) for change in history[-1][1]] if history else []
    document = {"name": version.name, "version": version.version, "new": new, "changes": changes}
    return Reply(document, None, ("study", "freeze", version.name, "--db", db))


@command(
    "study freeze",
    STUDY,
    "freeze the last version of a plan: later changes are in the report",
    "audit study freeze films --db mine.db",
)
def study_freeze(name: Name, db: Database = DATABASE) -> Reply:
    """Freezes the last version: a version with the same content. Later changes are allowed, and are in the report."""
    from audit.studies.versions import freeze

    version = freeze(open_database(db), name)
    document = {"name": version.name, "version": version.version, "frozen_at": _time(version.at)}
    return Reply(document, None, ("study", "run", version.name, "--db", db))


@command("study list", STUDY, "the plans there are", "audit study list")
def study_list(db: Database = DATABASE) -> Reply:
    """The plans there are. `frozen_version` is the first frozen one, to which a study is held."""
    from audit.studies.versions import all_versions, frozen_version

    with open_database(db).connect() as connection:
        plans = all_versions(connection)
    rows = []
    for name, history in plans.items():
        frozen, last = frozen_version(history), history[-1]
        rows.append(
            {
                "name": name,
                "version": last.version,
                "frozen_at": _time(frozen.at) if frozen else None,
                "frozen_version": frozen.version if frozen else None,
                "corpus": last.content["study"]["corpus"],
                "limit": last.content["study"]["limit"],
                "stored_at": _time(last.at),
            }
        )
    return Reply(rows, table(rows))


@command("study show", STUDY, "a plan, its versions, and what each changed", "audit study show films --toml")
def study_show(
    name: Name,
    toml: Annotated[bool, Told("the last version as a file, nothing else")] = False,
    db: Database = DATABASE,
) -> Reply:
    """A plan and its versions: when, by whom (`null`: whoever had the database), and what each changed."""
    from audit.studies.plan import to_toml
    from audit.studies.versions import change_text, steps, versions

    history = versions(open_database(db), name)
    changed = {version.version: changes for version, changes in steps(history)}
    rows = [
        {
            "version": version.version,
            "frozen": version.frozen,
            "at": _time(version.at),
            "by": version.by,
            "changes": [vars(change) for change in changed.get(version.version, ())],
        }
        for version in history
    ]
    shown = [
        row | {"changes": "; ".join(map(change_text, changed.get(version.version, ())))}
        for row, version in zip(rows, history, strict=True)
    ]
    written = to_toml(history[-1].plan()).splitlines()
    document = {"name": history[-1].name, "content": history[-1].content, "versions": rows}
    return Reply(document, written if toml else [*table(shown), "", *written])


@command(
    "study run",
    STUDY,
    "carry out a plan: run, draw, let gold answer",
    "audit study run films --db mine.db",
    "audit study run films.toml --workers 2 --json",
)
def study_run(
    plan: Annotated[Read, Told("name of a stored plan, or a file that ends in .toml", "PLAN", argument=True)],
    db: Database = DATABASE,
    workers: Workers = None,
    change_words: Annotated[bool, Told("set the plan's words although people have answered under other ones")] = False,
    job: Annotated[int | None, Told("for the app: tell this job how far it is; needs AUDIT_DB", "ID")] = None,
) -> Reply:
    """Carries out a plan: `run`, then `sample`, then `gold` where the plan asks for it, and the settings of judging.
    The same as the single commands would do; the same again goes on where it was broken off.
    """
    from audit.runner.progress import Bar
    from audit.studies.jobs import DATABASE as VARIABLE
    from audit.studies.jobs import running_job
    from audit.studies.plan import SUFFIX, read_plan_file
    from audit.studies.versions import set_plan, versions

    if job is not None:
        where = os.environ.get(VARIABLE)
        if not where:
            raise AuditError(f"--job takes the database from the variable {VARIABLE}, which is not set; leave it out")
        if hasattr(os, "nice"):
            os.nice(10)  # people who judge on this machine go before
        engine = open_database(where)
        with running_job(engine, job, where) as (worker, by):
            most = max(1, (os.cpu_count() or 1) - 1) if workers is None else workers
            _carry_out(engine, versions(engine, plan)[-1].plan(), most, watcher=worker, begin=worker.step, by=by)
        return Reply({}, [])
    if plan.lower().endswith(SUFFIX):
        content = read_plan_file(plan)
        engine = open_database(db, create=True)
        set_plan(engine, content)
    else:
        engine = open_database(db)
        content = versions(engine, plan)[-1].plan()
    with Bar(content.name, say=say) as bar:
        done = _carry_out(engine, content, workers, watcher=bar, change_words=change_words)
    lines = [as_options(line, "retry_errors") for line in done.ran.lines()]
    lines.append(f"{done.asked.asked:,} texts asked ({done.asked.texts:,} new).")
    lines.append(f"{done.waiting:,} questions wait for people.")
    return Reply(done.as_json(), lines, ("app", "--db", db))


def _carry_out(engine: Any, plan: Any, workers: int | None, **how: Any) -> Any:
    from audit.runner.executors import executor_of
    from audit.studies.jobs import carry_out

    with chatter_to_stderr(), executor_of(RunOptions(workers=workers)) as executor:
        return carry_out(engine, plan, executor, **how)


def _time(moment: Any) -> str:
    return str(moment.isoformat(timespec="seconds"))
