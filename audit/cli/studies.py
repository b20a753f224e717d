"""Plans of studies: show, store, freeze and carry them out."""

import os
from typing import Annotated, Any

from audit.cli.console import Reply, chatter_to_stderr, say, table, tell
from audit.cli.options import DATABASE, STUDY, Database, Db, Read, Workers, as_options, command, group
from audit.errors import AuditError
from audit.options import Told
from audit.runner.options import RunOptions

Name = Annotated[str, Told("of the plan", "NAME", argument=True)]

group("study", STUDY, "Plans of studies: show, store, freeze and carry them out.\n\nSee docs/how-to/studies.md.")


@command("study example", STUDY, "audit study example")
def study_example() -> None:
    """A plan with every key explained, to begin with."""
    from audit.studies.plan import example

    tell(example(), end="")


@command("study show", STUDY, "audit study show", "audit study show films.toml", "audit study show films --toml")
def study_show(
    plan: Annotated[Read | None, Told("a plan's name, or its file (.toml)", "PLAN", argument=True)] = None,
    toml: Annotated[bool, Told("the last version as a file, nothing else")] = False,
    db: Database = DATABASE,
) -> Reply:
    """A plan and what each version changed; of a file every mistake.

    Without a PLAN, the plans there are: a study is held to the first frozen version. `by` is `null` where something was
    done on the command line."""
    from audit.studies.plan import SUFFIX, read_plan_file, to_toml
    from audit.studies.versions import all_versions, change_text, frozen_version, steps, versions

    if plan is None:
        with db.engine.connect() as connection:
            plans = all_versions(connection)
        rows = []
        for name, history in plans.items():
            frozen, last = frozen_version(history), history[-1]
            row = {"name": name, "version": last.version, "stored_at": _time(last.at)}
            row |= {"frozen_version": frozen and frozen.version, "frozen_at": frozen and _time(frozen.at)}
            rows.append(row | {key: last.content["study"][key] for key in ("corpus", "limit")})
        return Reply(rows, table(rows))
    if plan.lower().endswith(SUFFIX):
        read = read_plan_file(plan)
        return Reply({"name": read.name, "content": read.content()}, to_toml(read).splitlines())
    history = versions(db.engine, plan)
    changed = {version.version: changes for version, changes in steps(history)}
    rows, shown = [], []
    for version in history:
        row = {"version": version.version, "frozen": version.frozen, "at": _time(version.at), "by": version.by}
        changes = changed.get(version.version, [])
        rows.append(row | {"changes": [vars(change) for change in changes]})
        shown.append(row | {"changes": "; ".join(map(change_text, changes))})
    written = to_toml(history[-1].plan()).splitlines()
    document = {"name": history[-1].name, "content": history[-1].content, "versions": rows}
    return Reply(document, written if toml else [*table(shown), "", *written])


@command("study set", STUDY, "audit study set films.toml --db mine.db")
def study_set(file: Annotated[Read, Told("the plan, TOML", "FILE", argument=True)], db: Database = DATABASE) -> Reply:
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


@command("study run", STUDY, "audit study run films --db mine.db", "audit study run films.toml --workers 2 --json")
def study_run(
    plan: Annotated[Read, Told("name of a stored plan, or a file that ends in .toml", "PLAN", argument=True)],
    db: Database = DATABASE,
    workers: Workers = None,
    change_words: Annotated[bool, Told("set the plan's words although people have answered under other ones")] = False,
    job: Annotated[int | None, Told("for the app: tell this job how far it is; needs AUDIT_DB", "ID")] = None,
) -> Reply:
    """Carry out a plan: run, draw, let gold answer. Repeat it to resume."""
    from audit.runner.progress import Bar
    from audit.studies.plan import SUFFIX, read_plan_file
    from audit.studies.versions import set_plan, versions

    if job is not None:
        _work_at_job(plan, job, workers)
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


def _work_at_job(plan: str, job: int, workers: int | None) -> None:
    from audit.studies.jobs import DATABASE as VARIABLE
    from audit.studies.jobs import running_job
    from audit.studies.versions import versions

    where = os.environ.get(VARIABLE)
    if not where:
        raise AuditError(f"--job takes the database from the variable {VARIABLE}, which is not set; leave it out")
    if hasattr(os, "nice"):
        os.nice(10)  # people who judge on this machine go before
    engine = Db(where).engine
    with running_job(engine, job) as (worker, by):
        most = max(1, (os.cpu_count() or 1) - 1) if workers is None else workers
        _carry_out(engine, versions(engine, plan)[-1].plan(), most, watcher=worker, begin=worker.step, by=by)


def _carry_out(engine: Any, plan: Any, workers: int | None, **how: Any) -> Any:
    from audit.runner.executors import executor_of
    from audit.studies.jobs import carry_out

    with chatter_to_stderr(), executor_of(RunOptions(workers=workers)) as executor:
        return carry_out(engine, plan, executor, **how)


def _time(moment: Any) -> str:
    return str(moment.isoformat(timespec="seconds"))
