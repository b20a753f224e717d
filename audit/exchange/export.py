"""`audit export`: everything in a database, as files that people read and files that a database is made from.

How tables become files and rows again is in `audit.store.dump`, which goes by the tables themselves: a new table or
column is exported without a change here.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import Connection, Engine, Select, and_, select

import audit
from audit.errors import AuditError
from audit.judging.accounts import note, reading_as, require_manager, writing_as_manager
from audit.judging.answers import is_counted
from audit.judging.causes import current_causes
from audit.messages import message
from audit.new_files import new_folder
from audit.reports.agreement import agreement_report
from audit.reports.ratings import stored_ratings
from audit.reports.study import study_report
from audit.store import tables
from audit.store.copying import backup, in_utc, private_copy
from audit.store.core import (
    adjudication,
    annotator,
    cause,
    group,
    input_table,
    judgement,
    question,
    relation,
    source,
    system,
)
from audit.store.dump import described, left_out, pseudonymise, salt_of, seal, spelled, write_tables
from audit.tasks import Input

FORMAT = 1
"""Version of the manifest and of the files."""
MANIFEST = "manifest.json"
LARGEST = 200 << 20
"""Bytes of a download at most; larger databases are exported on the command line."""
EXPORT, BACKUP = "exported", "backed up"
"""Actions of the log."""
DOCUMENTS: dict[str, Callable[[Engine], Mapping[str, Any]]] = {
    "report.json": study_report,
    "agreement.json": lambda engine: agreement_report(stored_ratings(engine)),
}
"""Documents with published numbers, which `audit replay` recomputes: by file, how each is made."""


def document(name: str, engine: Engine) -> Mapping[str, Any] | None:
    """Compute a document of a database; None where there is nothing to say yet (nothing checked, one annotator)."""
    try:
        return DOCUMENTS[name](engine)
    except AuditError:
        return None


def export(
    engine: Engine, folder: Path, *, salt: bytes | None = None, with_comments: bool = False, by: int | None = None
) -> dict[str, Any]:
    """Write a database into a new folder, whole or not at all; return the manifest.

    With a `salt`, people's names are pseudonyms and their free texts are left out, unless `with_comments` keeps them.
    The export is of one moment, while others go on judging; the same content gives the same bytes. `by` is the account
    of the manager who asks. Raises NotAllowed for another role, BadFile where the folder is not empty or cannot be
    written.
    """
    with to_export(engine, folder, salt, with_comments, by) as (parts, copy):
        with copy.connect() as connection:
            entries = write_tables(connection, parts)
            history = write_history(connection, parts)
        documents = {name: content for name in DOCUMENTS if (content := document(name, copy)) is not None}
        for name, content in documents.items():
            text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2)
            (parts / name).write_text(text + "\n", encoding="utf-8")
        files = sorted([*(entry["file"] for entry in entries.values()), *history, *documents])
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "audit": audit.__version__,
            "schema": tables.SCHEMA_VERSION,
            "pseudonymised": salt is not None,
            "free_text": salt is None or with_comments,
            "left_out": left_out(),
            "tables": entries,
            "history": history,
            "documents": list(documents),
            "files": {name: described(parts / name) for name in files},
        }
        manifest["seal"] = seal(manifest)
        (parts / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return manifest


def rows_of(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of rows of each table of an export."""
    return {name: int(entry["rows"]) for name, entry in manifest["tables"].items()}


@contextmanager
def to_export(
    engine: Engine, folder: Path, salt: bytes | None, with_comments: bool, by: int | None
) -> Iterator[tuple[Path, Engine]]:
    """Yield a place for the files of a new folder, and a copy of the database of one moment; arguments as `export`."""
    with engine.connect() as connection:
        require_manager(connection, by)
    # The files may name people, so only their owner may read them.
    with new_folder(folder, private=True) as parts, private_copy(engine, parts) as copy:
        if salt is not None:
            with copy.begin() as connection:
                pseudonymise(connection, salt, with_comments)
        yield parts, copy


# The history of answers as CSV for people: the rows of a table, who answered and what was asked. An import reads the
# tables.


def write_history(connection: Connection, folder: Path) -> dict[str, list[str]]:
    """Write the CSVs of the history (UTF-8, one header); return their columns, by file."""
    columns = {}
    for name, query in _history(connection).items():
        result, rows = connection.execute(query), list[dict[str, Any]]()
        columns[name] = [column.name for column in query.selected_columns if column.name != "texts"] + [
            "text",
            "target_language",
        ]
        for row in result.mappings():
            item = Input.stored(row["texts"], row["languages"])
            of_item = {"text": "\n\n".join(item.texts), "target_language": item.target}
            of_item["languages"] = ",".join(item.languages[: len(item.texts)])
            rows.append({column: _spelled(value) for column, value in row.items()} | of_item)
        # Lines end as RFC 4180 has it: only then is a text with a carriage return quoted.
        frame = pd.DataFrame(rows, columns=columns[name], dtype=object)
        frame.to_csv(folder / name, index=False, lineterminator="\r\n")
    return columns


def _history(connection: Connection) -> dict[str, Select[Any]]:
    about = (annotator.c.name.label("annotator"), annotator.c.role, input_table.c.texts, input_table.c.languages)
    causes = [counting.id for counting in current_causes(connection).values()]
    of_causes = (
        select(cause, relation.c.name.label("relation"), system.c.name.label("system"), system.c.version, source.c.row)
        .add_columns(cause.c.id.in_(causes).label("counts"), *about)
        .join(group, group.c.id == cause.c.group_id)
        .join(relation, relation.c.id == group.c.relation_id)
        .join(system, system.c.id == cause.c.system_id)
        .join(source, source.c.id == group.c.source_id)
        .join(input_table, input_table.c.id == source.c.input_id)
    )
    counts = and_(judgement.c.round == 1, is_counted(judgement)).label("counts")
    asked = {
        table: select(table, *also, question.c.task, question.c.kind, question.c.output, *about)
        .join(question, question.c.id == table.c.question_id)
        .join(input_table, input_table.c.id == question.c.input_id)
        for table, also in ((judgement, (counts,)), (adjudication, ()))
    }
    queries = {cause: of_causes, **asked}
    return {
        f"{table.name}s.csv": query.join(annotator, annotator.c.id == table.c.annotator_id).order_by(table.c.id)
        for table, query in queries.items()
    }


def _spelled(value: Any) -> Any:
    if isinstance(value, datetime):
        return spelled(in_utc(value))
    if isinstance(value, list):
        return "|".join(map(str, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


# Downloads of the app and the API.


def export_archive(engine: Engine, *, by: int, pseudonymise: bool) -> Path:
    """Write what `export` writes as a zip file, alone in a new private folder, which the caller deletes.

    Pseudonyms are those of no other export. Raises NotAllowed for anyone but a manager, AuditError above `LARGEST`.
    """
    with _download(engine, by) as folder:
        manifest = export(engine, folder / "export", salt=salt_of(None) if pseudonymise else None, by=by)
        archive = Path(shutil.make_archive(str(folder / "audit-export"), "zip", folder / "export"))
        shutil.rmtree(folder / "export")
        _keep(engine, by, archive, EXPORT, rows=sum(rows_of(manifest).values()), pseudonyms=pseudonymise)
    return archive


def backup_file(engine: Engine, *, by: int) -> Path:
    """Write a backup as `audit backup` does, into a folder as `export_archive`; raises as that does."""
    with _download(engine, by) as folder:
        made = backup(engine, folder / "audit-backup.db")
        size = round(made.bytes / (1 << 20), 1)
        _keep(engine, by, made.file, BACKUP, rows=sum(made.rows.values()), megabytes=size)
    return made.file


@contextmanager
def _download(engine: Engine, by: int) -> Iterator[Path]:
    """Yield a new private folder for a manager, which is deleted where the block fails."""
    with reading_as(engine, by, "manager"):
        folder = Path(tempfile.mkdtemp(prefix="audit-"))
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _keep(engine: Engine, by: int, file: Path, action: str, **detail: Any) -> None:
    """Refuse a file that is too large to download, and log any other."""
    if (size := file.stat().st_size) > LARGEST:
        raise AuditError(message("download.large", size=size >> 20, most=LARGEST >> 20))
    with writing_as_manager(engine, by) as connection:
        note(connection, by, action, **detail)
