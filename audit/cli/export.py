"""`audit export`: everything in a database as files."""

import argparse
from pathlib import Path
from typing import Any

from audit.cli.options import add_database, add_json, answer, reads, writes

FORMATS = ("audit", "label-studio")


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("export", help="everything as CSV and JSONL with a manifest, or tasks of Label Studio")
    add_database(parser)
    parser.add_argument("--out", required=True, type=writes, metavar="DIR", help="a new folder")
    parser.add_argument("--format", choices=FORMATS, default="audit", help="audit (default) or label-studio")
    parser.add_argument("--task", metavar="NAME", help="for label-studio: the task, where there are several")
    parser.add_argument("--pseudonymise", action="store_true", help="pseudonyms for people, and no free text")
    parser.add_argument(
        "--salt-file", type=reads, metavar="FILE", help="keeps pseudonyms the same from one export to the next"
    )
    parser.add_argument("--with-comments", action="store_true", help="keep comments and reasons in spite of it")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.errors import AuditError
    from audit.store import open_store
    from audit.store.dump import salt_of

    for given, option in ((arguments.salt_file, "--salt-file"), (arguments.with_comments, "--with-comments")):
        if given and not arguments.pseudonymise:
            raise AuditError(f"{option} is for --pseudonymise; give both, or neither")
    if arguments.task is not None and arguments.format != "label-studio":
        raise AuditError("--task is for --format label-studio; an export of a database has every task")
    engine = open_store(arguments.db)
    salt = salt_of(Path(arguments.salt_file) if arguments.salt_file else None) if arguments.pseudonymise else None
    if arguments.format == "label-studio":
        _label_studio(engine, arguments, salt)
    else:
        _everything(engine, arguments, salt)


def _everything(engine: Any, arguments: argparse.Namespace, salt: bytes | None) -> None:
    from audit.reports.exports.writing import export

    made = export(engine, Path(arguments.out), salt=salt, with_comments=arguments.with_comments)
    document = {
        "out": str(made.folder),
        "seal": made.seal,
        "rows": made.rows,
        "tables": dict(made.tables),
        "documents": list(made.documents),
        "pseudonymised": made.pseudonymised,
        "free_text": made.free_text,
    }
    people = "names of people are pseudonyms" if made.pseudonymised else "names of people are in it"
    lines = [
        f"{made.rows:,} rows of {len(made.tables)} tables in {made.folder}; {people}; passwords are not.",
        f"Seal: {made.seal}",
        f"Next: audit replay {made.folder}",
    ]
    answer(arguments.json, document, lines)


def _label_studio(engine: Any, arguments: argparse.Namespace, salt: bytes | None) -> None:
    from audit.reports.exports.label_studio import to_label_studio

    made = to_label_studio(
        engine, Path(arguments.out), task=arguments.task, salt=salt, with_comments=arguments.with_comments
    )
    document = {"out": str(made.folder), "tasks": made.tasks, "annotations": made.annotations}
    lines = [
        f"{made.tasks:,} tasks with {made.annotations:,} annotations in {made.folder}/tasks.json; the labelling config "
        "is config.xml."
    ]
    answer(arguments.json, document, lines)
