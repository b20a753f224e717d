"""`audit study example|check|set|freeze|list|show|run`: plans of studies, and carrying them out."""

import argparse
import os
from typing import TYPE_CHECKING, Any

from audit.cli.executing import add_workers
from audit.cli.options import add_database, add_json, answer, chatter_to_stderr, reads, tell, whole

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from audit.studies.plan import Plan
    from audit.studies.versions import Version


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("study", help="plans of studies: check, store, freeze and carry them out")
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="example|check|set|freeze|list|show|run", parser_class=type(parser)
    )
    one = actions.add_parser("example", help="a plan with every key explained, to begin with")
    one.set_defaults(run=_example)
    one = actions.add_parser("check", help="say what a plan's file plans, or every mistake in it")
    one.add_argument("FILE", type=reads)
    add_json(one)
    one.set_defaults(run=_check)
    one = actions.add_parser("set", help="store a plan's file as the next version of the plan it names")
    one.add_argument("FILE", type=reads)
    add_database(one)
    add_json(one)
    one.set_defaults(run=_set)
    one = actions.add_parser("freeze", help="freeze the last version of a plan: later changes are in the report")
    one.add_argument("NAME")
    add_database(one)
    add_json(one)
    one.set_defaults(run=_freeze)
    one = actions.add_parser("list", help="the plans there are")
    add_database(one)
    add_json(one)
    one.set_defaults(run=_list)
    one = actions.add_parser("show", help="a plan, its versions, and what each changed")
    one.add_argument("NAME")
    one.add_argument("--toml", action="store_true", help="the last version as a file, nothing else")
    add_database(one)
    add_json(one)
    one.set_defaults(run=_show)
    one = actions.add_parser("run", help="carry out a plan: run, draw, let gold answer; the same again goes on")
    one.add_argument("PLAN", type=reads, help="name of a stored plan, or a .toml file, which is stored first")
    add_database(one)
    add_workers(one)
    one.add_argument("--job", type=whole, metavar="ID", help="for the app: tell this job how far it is; needs AUDIT_DB")
    add_json(one)
    one.set_defaults(run=_run)


def _example(arguments: argparse.Namespace) -> None:
    from audit.studies.plan import example

    tell(example(), end="")


def _check(arguments: argparse.Namespace) -> None:
    from audit.studies.plan import read_plan_file

    plan = read_plan_file(arguments.FILE)
    answer(
        arguments.json, {"name": plan.name, "content": plan.content()}, [f"{arguments.FILE} is a plan.", *_what(plan)]
    )


def _set(arguments: argparse.Namespace) -> None:
    from audit.store import open_store
    from audit.studies.plan import read_plan_file

    plan = read_plan_file(arguments.FILE)
    engine = open_store(arguments.db, create=True)
    version, new, lines = _stored(engine, plan)
    document = {"name": version.name, "version": version.version, "new": new, "changes": _last_changes(engine, version)}
    answer(arguments.json, document, [*lines, f"Next: audit study freeze {version.name!r} --db {arguments.db}"])


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

    made = steps(versions(engine, version.name))
    return [_change(one) for one in made[-1][1]] if made else []


def _change(one: Any) -> dict[str, Any]:
    return {"key": one.key, "before": one.before, "after": one.after}


def _freeze(arguments: argparse.Namespace) -> None:
    from audit.store import open_store
    from audit.studies.versions import freeze

    version = freeze(open_store(arguments.db), arguments.NAME)
    lines = [f"Plan {version.name}: frozen as version {version.version}; reports say what is changed from now on."]
    answer(arguments.json, {"name": version.name, "version": version.version, "frozen_at": _time(version.at)}, lines)


def _list(arguments: argparse.Namespace) -> None:
    from audit.cli.listings import table
    from audit.store import open_store
    from audit.studies.versions import all_versions, frozen_version

    with open_store(arguments.db).connect() as connection:
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
    answer(arguments.json, rows, table(rows))


def _show(arguments: argparse.Namespace) -> None:
    from audit.errors import AuditError
    from audit.store import open_store
    from audit.studies.plan import to_toml
    from audit.studies.versions import change_text, steps, versions

    if arguments.toml and arguments.json:
        raise AuditError("--toml and --json are two forms of the same; give one of them")
    history = versions(open_store(arguments.db), arguments.NAME)
    written = to_toml(history[-1].plan())
    if arguments.toml:
        tell(written, end="")
        return
    made = {version.version: changes for version, changes in steps(history)}
    rows = [
        {
            "version": one.version,
            "frozen": one.frozen,
            "at": _time(one.at),
            "by": one.by,
            "changes": [_change(change) for change in made.get(one.version, ())],
        }
        for one in history
    ]
    lines = []
    for one in history:
        what = "frozen" if one.frozen else "; ".join(map(change_text, made.get(one.version, ()))) or "stored"
        lines.append(f"version {one.version}, {one.at:%Y-%m-%d %H:%M} UTC{f', {one.by}' if one.by else ''}: {what}")
    document = {"name": history[-1].name, "content": history[-1].content, "versions": rows}
    answer(arguments.json, document, [*lines, "", written.rstrip("\n")])


def _run(arguments: argparse.Namespace) -> None:
    from audit.cli.progress import Bar
    from audit.errors import AuditError
    from audit.store import open_store
    from audit.studies.jobs import DATABASE
    from audit.studies.plan import SUFFIX, read_plan_file
    from audit.studies.versions import versions

    if arguments.job is not None:
        where = os.environ.get(DATABASE)
        if not where:
            raise AuditError(
                f"--job takes the database from the variable {DATABASE}, which is not set; leave --job out"
            )
        _work(open_store(where), where, arguments)
        return
    if arguments.PLAN.lower().endswith(SUFFIX):
        plan = read_plan_file(arguments.PLAN)
        engine = open_store(arguments.db, create=True)
        lines = _stored(engine, plan)[2]
    else:
        engine = open_store(arguments.db)
        plan, lines = versions(engine, arguments.PLAN)[-1].plan(), []
    bar = Bar(plan.name)
    try:
        done = _carry_out(engine, plan, arguments.workers, watcher=bar)
    finally:
        bar.close()
    lines += [*done.ran.lines(), f"{done.drawn.drawn:,} groups drawn ({done.drawn.added:,} new)."]
    if done.gold is not None:
        lines.append(f"Gold answers {done.gold.answered:,} of {done.gold.questions:,} questions.")
    lines += [f"{done.waiting:,} questions wait for people.", f"Next: audit app --db {arguments.db}"]
    answer(arguments.json, done.as_json(), lines)


def _work(engine: "Engine", where: str, arguments: argparse.Namespace) -> None:
    """As the process of a job."""
    from audit.studies.jobs import running_job
    from audit.studies.versions import versions

    if hasattr(os, "nice"):
        os.nice(10)  # people who judge on this machine go before
    with running_job(engine, arguments.job, where) as (worker, by):
        plan = versions(engine, arguments.PLAN)[-1].plan()
        most = max(1, (os.cpu_count() or 1) - 1) if arguments.workers is None else arguments.workers
        _carry_out(engine, plan, most, watcher=worker, begin=worker.step, by=by)


def _carry_out(engine: "Engine", plan: "Plan", workers: int | None, **how: Any) -> Any:
    from audit.cli.executing import executor_of
    from audit.studies.jobs import carry_out

    with chatter_to_stderr(), executor_of(workers) as executor:
        return carry_out(engine, plan, executor, **how)


def _what(plan: "Plan") -> list[str]:
    """What a plan plans, in a few lines."""
    study, sample, judging = plan.study, plan.sample, plan.judging
    size = f"{sample['per_relation']:,} groups" if sample["per_relation"] else f"{sample['share']:g} of the groups"
    sources = "all sources" if study["limit"] is None else f"{study['limit']:,} sources"
    return [
        f"{plan.name}: {study['corpus']} ({study['task']}), {sources}, {len(study['relations'])} relations, "
        f"{len(study['systems'])} systems; {size} of each list ({sample['design']}), {judging['annotators']} annotators"
        f" per question ({judging['protocol']}){', gold answers what it can' if judging['gold'] else ''}."
    ]


def _time(moment: Any) -> str:
    return str(moment.isoformat(timespec="seconds"))
