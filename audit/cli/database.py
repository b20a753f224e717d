"""Databases as a whole: exports and replays, backups, whether one is sound."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from audit.cli.console import Reply, say
from audit.cli.options import (
    DATABASE,
    NONE,
    PUBLISH,
    Database,
    Task,
    chosen,
    command,
    decimal,
    flag,
    open_database,
    place,
    read_from,
    whole_number,
    written_to,
)
from audit.errors import AuditError


@command(
    "export",
    PUBLISH,
    "everything as CSV and JSONL; Label Studio; training data",
    "audit export --db mine.db --out published",
    "audit export --out shared --pseudonymise --salt-file salt.txt",
    "audit export --out tasks --format label-studio",
    "audit export --out patch --format training --search found.jsonl",
)
def export(
    out: Annotated[str, written_to("a new folder", "DIR")],
    db: Database = DATABASE,
    layout: Annotated[
        Literal["audit", "label-studio", "training"], chosen("audit, label-studio or training", None, "--format")
    ] = "audit",
    task: Task = None,
    pseudonymise: Annotated[
        bool, flag("--pseudonymise", "pseudonyms for people's names; comments and reasons are left out")
    ] = False,
    salt_file: Annotated[
        str | None, read_from("keeps pseudonyms the same from one export to the next; made where it is absent", "FILE")
    ] = None,
    with_comments: Annotated[
        bool, flag("--with-comments", "keeps comments and reasons in a pseudonymised export")
    ] = False,
    search: Annotated[
        list[str],
        read_from("with training: what audit search --out FILE.jsonl wrote; may be given several times", "FILE"),
    ] = NONE,
    test_share: Annotated[float | None, decimal("with training: share of the sources for tests (0.2)", "X")] = None,
    seed: Annotated[int | None, whole_number("with training: of which sources these are (0)", "S")] = None,
    answers: Annotated[
        Literal["gold", "people", "both"] | None, chosen("with training: whose answers count (both)")
    ] = None,
) -> Reply:
    """Writes everything into a new folder: every table as JSONL, from which `audit import` makes the same database,
    the history of answers as CSV for people, the report, and a manifest with the sums of all files. As training data:
    texts of checked groups with their settled labels, with no source in both training and test.
    """
    from audit.store.dump import salt_of

    for value, option in ((salt_file, "--salt-file"), (with_comments, "--with-comments")):
        if value and not pseudonymise:
            raise AuditError(f"{option} is for --pseudonymise; give both, or neither")
    if task is not None and layout == "audit":
        raise AuditError("--task is for --format label-studio or training; an export of a database has every task")
    for given, option in ((search, "--search"), (test_share, "--test-share"), (seed, "--seed"), (answers, "--answers")):
        if given not in (None, NONE, []) and layout != "training":
            raise AuditError(f"{option} is for --format training; leave it out")
    if pseudonymise and layout == "training":
        raise AuditError("--pseudonymise: no names of people are in training data; leave it out")
    engine = open_database(db)
    salt = salt_of(Path(salt_file) if salt_file else None) if pseudonymise else None
    if layout == "training":
        own = {"test_share": test_share, "seed": seed, "whose": answers}
        return _training(
            engine, Path(out), task, search, {name: value for name, value in own.items() if value is not None}
        )
    if layout == "label-studio":
        return _label_studio(engine, Path(out), task, salt, with_comments)
    return _everything(engine, Path(out), salt, with_comments)


def _everything(engine: Any, out: Path, salt: bytes | None, with_comments: bool) -> Reply:
    from audit.exchange.export import export, rows_of

    manifest = export(engine, out, salt=salt, with_comments=with_comments)
    rows = rows_of(manifest)
    document = {"out": str(out), "rows": sum(rows.values()), "tables": rows}
    document |= {name: manifest[name] for name in ("seal", "documents", "pseudonymised", "free_text")}
    people = "names of people are pseudonyms" if salt else "names of people are in it"
    lines = [
        f"{sum(rows.values()):,} rows of {len(rows)} tables in {out}; {people}; passwords are not.",
        f"Seal: {manifest['seal']}",
        f"Next: audit replay {out}",
    ]
    return Reply(document, lines)


def _label_studio(engine: Any, out: Path, task: str | None, salt: bytes | None, with_comments: bool) -> Reply:
    from audit.exchange.questions import to_label_studio

    tasks, annotations = to_label_studio(engine, out, task=task, salt=salt, with_comments=with_comments)
    document = {"out": str(out), "tasks": tasks, "annotations": annotations}
    lines = [
        f"{tasks:,} tasks with {annotations:,} annotations in {out}/tasks.json; the labelling config is config.xml."
    ]
    return Reply(document, lines)


def _training(engine: Any, out: Path, task: str | None, searches: Any, own: dict[str, Any]) -> Reply:
    from audit.exchange.training import write_training

    written = write_training(engine, out, task=task, searches=searches, **own)
    kinds = ", ".join(f"{number:,} {kind}s" for kind, number in written.kinds.items())
    lines = [
        f"{written.train:,} texts with one right label in {out}/train.csv, {written.test:,} in {out}/test.csv; no "
        f"source is in both. {written.ambiguous:,} with several are in ambiguous.csv.",
        f"Groups of each system: {kinds}; {written.unsettled:,} wait for an answer.",
    ]
    if written.searched:
        lines.append(f"{written.searched:,} violations of searches, which are no sample of anything.")
    if written.conflicting:
        lines.append(
            f"{written.conflicting:,} texts are left out: of what relations carry to them no label is allowed by all."
        )
    if not written.test:
        lines.append(
            f"Nothing is left for tests: the sources make {written.parts:,} parts that share no text or document, of "
            f"which the largest has {written.largest:.0%} of the texts."
        )
    return Reply(asdict(written), [*lines, f"Next: audit run --systems logreg:{out}/train.csv --corpus {out}/test.csv"])


@command("import", PUBLISH, "make a new database from an export", "audit import published --db again.db")
def import_database(
    folder: Annotated[str, place("DIR", "a folder that audit export wrote")], db: Database = DATABASE
) -> Reply:
    """Makes the database of an export, in a new or empty one, after a check of every file; whole, or not at all."""
    from audit.exchange.export import rows_of
    from audit.exchange.replay import import_export

    manifest = import_export(Path(folder), db)
    rows = rows_of(manifest)
    document = {
        "db": db,
        "seal": manifest["seal"],
        "rows": sum(rows.values()),
        "tables": rows,
        "pseudonymised": manifest["pseudonymised"],
    }
    lines = [
        f"{sum(rows.values()):,} rows of {len(rows)} tables; accounts have no password until they are given one.",
        f"Next: audit report --db {db}",
    ]
    return Reply(document, lines)


@command(
    "replay",
    PUBLISH,
    "recompute an export's report",
    "audit replay published",
    "audit replay published --report table-3.json --json",
)
def replay(
    folder: Annotated[str, place("DIR", "a folder that audit export wrote")],
    report: Annotated[
        list[str], read_from("what audit report --json printed, with any options; may be given several times", "FILE")
    ] = NONE,
) -> Reply:
    """Makes the database of an export in a temporary place, computes its report and agreement again, and compares
    every value. The exit status is 1 where a value differs.
    """
    from audit.exchange.replay import replay, replay_lines

    replayed = replay(Path(folder), [Path(name) for name in report])
    return Reply(replayed.model_dump(), lambda _: replay_lines(replayed), status=int(not replayed.equal))


@command(
    "backup", PUBLISH, "a whole database as one file, while it is in use", "audit backup --db mine.db --out monday.db"
)
def backup(
    out: Annotated[str, written_to("a new file; only its owner may read it", "FILE")], db: Database = DATABASE
) -> Reply:
    """Writes the whole database, accounts and passwords' hashes included, to one new SQLite file while it is in use,
    and checks the file. PostgreSQL is copied to such a file too; `pg_dump` makes backups to go back to.
    """
    from audit.store.backup import backup

    copy = backup(open_database(db), Path(out))
    document = {
        "file": str(copy.file),
        "bytes": copy.bytes,
        "sha256": copy.sha256,
        "rows": sum(copy.rows.values()),
        "tables": copy.rows,
    }
    lines = [
        f"{sum(copy.rows.values()):,} rows, {copy.bytes / 2**20:.1f} MiB in {copy.file}, checked.",
        "Hashes of passwords are in it: keep it where the database would be safe too.",
        "It is a database like any other: to go back to it, put it in the place of the other one.",
    ]
    return Reply(document, lines)


@command("doctor", PUBLISH, "check a database, and say what to do about problems", "audit doctor --db mine.db")
def doctor(
    db: Database = DATABASE,
    rebuild: Annotated[bool, flag("--rebuild", "first write the answers and the queue anew")] = False,
) -> Reply:
    """Checks a database and says what to do: one line a check. The exit status is 1 where something is a problem. It
    changes nothing unless `--rebuild` is given, which first writes what follows from the history anew: answers and
    the queue.
    """
    from audit.exchange.doctor import doctor
    from audit.judging.unit import rebuild as written_anew

    if rebuild:
        say(f"The answers to {written_anew(open_database(db)):,} questions and the queue were written anew.")
    checks = doctor(db)
    lines = []
    for check in checks:
        lines.append(f"{'ok     ' if check.ok else 'PROBLEM'}  {check.check}: {check.found}")
        if check.advice:
            lines.append(f"         {check.advice}")
    sound = all(check.ok for check in checks)
    return Reply({"sound": sound, "checks": [asdict(check) for check in checks]}, lines, status=int(not sound))
