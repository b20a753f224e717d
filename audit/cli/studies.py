"""Plans of studies: check, store, freeze and carry them out."""

import os
from typing import Annotated, Any

from audit.cli.console import Reply, chatter_to_stderr, say, table, tell
from audit.cli.options import DATABASE, STUDY, Database, Db, Read, Workers, as_options, command, group
from audit.errors import AuditError
from audit.options import Told
from audit.runner.options import RunOptions

Name = Annotated[str, Told("of the plan", "NAME", argument=True)]
PlanFile = Annotated[Read, Told("the plan, TOML", "FILE", argument=True)]

group(
    "study",
    STUDY,
    """Plans of studies: check, store, freeze and carry them out.

    See studies (docs/how-to/studies.md). Whoever has the database may do all of it; in the app, managers may.
    """,
)


@command("study example", STUDY, "audit study example")
def study_example() -> None:
    """A plan with every key explained, to begin with."""
    from audit.studies.plan import example

    tell(example(), end="")


@command("study check", STUDY, "audit study check films.toml")
def study_check(file: PlanFile) -> Reply:
    """Say what a plan's file plans, or every mistake in it."""
    from audit.studies.plan import read_plan_file, to_toml

    plan = read_plan_file(file)
    return Reply(
        {"name": plan.name, "content": plan.content()}, [f"{file} is a plan:", "", *to_toml(plan).splitlines()]
    )


@command("study set", STUDY, "audit study set films.toml --db mine.db")
def study_set(file: PlanFile, db: Database = DATABASE) -> Reply:
    """Store a plan's file as the next version of the plan it names.

    Unless nothing changed. Once the plan is frozen, reports say what changed."""
    from audit.studies.plan import read_plan_file
    from audit.studies.versions import set_plan, steps, versions

    plan = read_plan_file(file)
    engine = db.open(create=True)
    version, new = set_plan(engine, plan)
    history = steps(versions(engine, version.name))
    changes = [vars(change) for change in history[-1][1]] if history else []
    document = {"name": version.name, "version": version.version, "new": new, "changes": changes}
    return Reply(document, None, ("study", "freeze", version.name, "--db", db))


@command("study freeze", STUDY, "audit study freeze films --db mine.db")
def study_freeze(name: Name, db: Database = DATABASE) -> Reply:
    """Freeze the last version of a plan: later changes are in the report."""
    from audit.studies.versions import freeze

    version = freeze(db.engine, name)
    document = {"name": version.name, "version": version.version, "frozen_at": _time(version.at)}
    return Reply(document, None, ("study", "run", version.name, "--db", db))


@command("study list", STUDY, "audit study list")
def study_list(db: Database = DATABASE) -> Reply:
    """The plans there are. `frozen_version` is the first frozen one, to which a study is held."""
    from audit.studies.versions import all_versions, frozen_version

    with db.engine.connect() as connection:
        plans = all_versions(connection)
    rows = []
    for name, history in plans.items():
        frozen, last = frozen_version(history), history[-1]
        row = {"name": name, "version": last.version, "frozen_at": _time(frozen.at) if frozen else None}
        row |= {"frozen_version": frozen.version if frozen else None, "stored_at": _time(last.at)}
        rows.append(row | {key: last.content["study"][key] for key in ("corpus", "limit")})
    return Reply(rows, table(rows))


@command("study show", STUDY, "audit study show films --toml")
def study_show(
    name: Name,
    toml: Annotated[bool, Told("the last version as a file, nothing else")] = False,
    db: Database = DATABASE,
) -> Reply:
    """A plan, its versions, and what each changed. `by` is `null` where it was done on the command line."""
    from audit.studies.plan import to_toml
    from audit.studies.versions import change_text, steps, versions

    history = versions(db.engine, name)
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
    """Carry out a plan: run, draw, let gold answer. Repeat it to resume."""
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
        engine = Db(where).engine
        with running_job(engine, job) as (worker, by):
            most = max(1, (os.cpu_count() or 1) - 1) if workers is None else workers
            _carry_out(engine, versions(engine, plan)[-1].plan(), most, watcher=worker, begin=worker.step, by=by)
        return Reply({}, [])
    if plan.lower().endswith(SUFFIX):
        content = read_plan_file(plan)
        engine = db.open(create=True)
        set_plan(engine, content)
    else:
        engine = db.engine
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
