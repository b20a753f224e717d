"""Databases as a whole: exports and replays, backups, whether one is sound."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from audit.cli.console import Reply, say
from audit.cli.options import DATABASE, PUBLISH, Database, Read, Task, Written, command
from audit.errors import AuditError
from audit.options import Told

Folder = Annotated[Read, Told("a folder that audit export wrote", "DIR", argument=True)]
NewFolder = Annotated[Written, Told("a new folder", "DIR")]


@command("export", PUBLISH, "audit export --out shared --pseudonymise", "audit export --out ls --format label-studio")
def export(
    out: NewFolder,
    db: Database = DATABASE,
    layout: Annotated[Literal["audit", "label-studio"], Told("audit or label-studio", spelled="--format")] = "audit",
    task: Task = None,
    pseudonymise: Annotated[bool, Told("pseudonyms for people's names; comments and reasons are left out")] = False,
    salt_file: Annotated[Read | None, Told("keeps pseudonyms the same later; made if absent", "FILE")] = None,
    with_comments: Annotated[bool, Told("keeps comments and reasons in a pseudonymised export")] = False,
) -> Reply:
    """Everything as CSV and JSONL, or the questions for Label Studio.

    Writes a new folder, from which `audit import` makes the same database (docs/how-to/exports.md)."""
    from audit.exchange.export import export, rows_of
    from audit.exchange.questions import to_label_studio
    from audit.store.dump import salt_of

    if (salt_file or with_comments) and not pseudonymise:
        raise AuditError("--salt-file and --with-comments are for --pseudonymise; give it, too, or neither")
    if task is not None and layout == "audit":
        raise AuditError("--task is for --format label-studio; leave it out")
    salt = salt_of(Path(salt_file) if salt_file else None) if pseudonymise else None
    if layout == "label-studio":
        tasks, annotations = to_label_studio(db.engine, Path(out), task=task, salt=salt, with_comments=with_comments)
        return Reply({"out": str(out), "tasks": tasks, "annotations": annotations})
    manifest = export(db.engine, Path(out), salt=salt, with_comments=with_comments)
    document = {"out": str(out), **_rows(rows_of(manifest))}
    document |= {name: manifest[name] for name in ("seal", "documents", "pseudonymised", "free_text")}
    return Reply(document, None, ("replay", out))


def _rows(tables: dict[str, int]) -> dict[str, Any]:
    return {"rows": sum(tables.values()), "tables": tables}


@command("training-data", PUBLISH, "audit training-data --out patch --search found.jsonl")
def training_data(
    out: NewFolder,
    db: Database = DATABASE,
    task: Task = None,
    search: Annotated[Sequence[Read], Told("what audit search --out wrote; repeatable", "FILE")] = (),
    test_share: Annotated[float, Told("share of the sources for tests", "X")] = 0.2,
) -> Reply:
    """Texts with the labels that answers settle, to train or patch on.

    Follow-ups go where their sources go: nothing of a test's source is in what is trained on (docs/how-to/exports.md).
    """
    from audit.exchange.training import write_training

    written = write_training(db.engine, Path(out), task=task, searches=search, test_share=test_share)
    after = ("run", "--task", written.task, "--systems", f"logreg:{out}/train.csv", "--corpus", f"{out}/test.csv")
    return Reply(asdict(written), None, after)


@command("import", PUBLISH, "audit import published --db again.db")
def import_database(folder: Folder, db: Database = DATABASE) -> Reply:
    """Make a new database from an export.

    Every file is checked before, and all is there or nothing. Accounts have no password until they are given one."""
    from audit.exchange.export import rows_of
    from audit.exchange.replay import import_export

    manifest = import_export(Path(folder), db)
    document = {"db": db, "seal": manifest["seal"], **_rows(rows_of(manifest))}
    return Reply(document | {"pseudonymised": manifest["pseudonymised"]}, None, ("report", "--db", db))


@command("replay", PUBLISH, "audit replay published --report table-3.json --json")
def replay(
    folder: Folder,
    report: Annotated[Sequence[Read], Told("what audit report --json printed, any options; repeatable", "FILE")] = (),
) -> Reply:
    """Recompute an export's report.

    In a temporary place; every value is compared. The exit status is 1 where one differs."""
    from audit.exchange.replay import replay, replay_lines

    replayed = replay(Path(folder), [Path(name) for name in report])
    return Reply(asdict(replayed), replay_lines(replayed), status=int(not replayed.equal))


@command("backup", PUBLISH, "audit backup --db mine.db --out monday.db")
def backup(out: Annotated[Written, Told("a new file", "FILE")], db: Database = DATABASE) -> Reply:
    """A whole database as one file, while it is in use.

    With accounts and hashes of passwords. To go back to it, put it in the place of the other one. PostgreSQL is copied
    to an SQLite file too; `pg_dump` makes backups to go back to."""
    from audit.store.copying import backup

    copy = backup(db.engine, Path(out))
    return Reply({"file": str(copy.file), "bytes": copy.bytes, **_rows(copy.rows)})


@command("doctor", PUBLISH, "audit doctor --db mine.db")
def doctor(db: Database = DATABASE, rebuild: Annotated[bool, Told("first derive the answers anew")] = False) -> Reply:
    """Check a database, and say what to do about problems.

    The exit status is 1 where something is a problem. It changes nothing unless `--rebuild` is given."""
    from audit.exchange.doctor import doctor
    from audit.judging.unit import rebuild as written_anew

    if rebuild:
        say(f"The answers to {written_anew(db.engine):,} questions and the queue were written anew.")
    checks = doctor(db)
    lines = []
    for check in checks:
        lines.append(f"{'ok     ' if check.ok else 'PROBLEM'}  {check.check}: {check.found}")
        lines += [f"         {check.advice}"] if check.advice else []
    sound = all(check.ok for check in checks)
    return Reply({"sound": sound, "checks": [asdict(check) for check in checks]}, lines, status=int(not sound))
