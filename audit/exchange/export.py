"""`audit export`: everything in a database, as files that people read and files that a database is made from.

How tables become files and rows again is in `audit.store.dump`, which goes by the tables themselves: a new table or
column is exported without a change here.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

import audit
from audit.errors import AuditError
from audit.judging.accounts import note, reading_as, require_manager, writing_as_manager
from audit.messages import message
from audit.new_files import new_folder
from audit.reports.agreement import agreement_report
from audit.reports.ratings import stored_ratings
from audit.reports.study import study_report
from audit.store import tables
from audit.store.copying import backup, private_copy
from audit.store.dump import left_out, pseudonymise, salt_of, seal, sum_of, write_tables

FORMAT = 2
"""Version of the manifest and of the files."""
MANIFEST = "manifest.json"
LARGEST = 200 << 20
"""Bytes of a download at most; larger databases are exported on the command line."""
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
        documents = {name: content for name in DOCUMENTS if (content := document(name, copy)) is not None}
        for name, content in documents.items():
            text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2)
            (parts / name).write_text(text + "\n", encoding="utf-8")
        files = sorted([*(entry["file"] for entry in entries.values()), *documents])
        manifest: dict[str, Any] = {
            "format": FORMAT, "audit": audit.__version__, "schema": tables.SCHEMA_VERSION,
            "pseudonymised": salt is not None, "free_text": salt is None or with_comments, "left_out": left_out(),
            "tables": entries, "documents": list(documents), "files": {name: sum_of(parts / name) for name in files},
        }  # fmt: skip
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
    with new_folder(folder) as parts, private_copy(engine, parts) as copy:
        if salt is not None:
            with copy.begin() as connection:
                pseudonymise(connection, salt, with_comments)
        yield parts, copy


# Downloads of the app and the API, alone in a new private folder, which the caller deletes.


def export_archive(engine: Engine, *, by: int, pseudonymise: bool) -> Path:
    """Write what `export` writes as a zip file. Pseudonyms are those of no other export. Raises NotAllowed for anyone
    but a manager, AuditError above `LARGEST`."""

    def write(folder: Path) -> tuple[Path, int]:
        manifest = export(engine, folder / "export", salt=salt_of(None) if pseudonymise else None, by=by)
        archive = Path(shutil.make_archive(str(folder / "audit-export"), "zip", folder / "export"))
        shutil.rmtree(folder / "export")
        return archive, sum(rows_of(manifest).values())

    return _download(engine, by, "exported", write, pseudonyms=pseudonymise)


def backup_file(engine: Engine, *, by: int) -> Path:
    """Write a backup as `audit backup` does; raises as `export_archive` does."""

    def write(folder: Path) -> tuple[Path, int]:
        copied = backup(engine, folder / "audit-backup.db")
        return copied.file, sum(copied.rows.values())

    return _download(engine, by, "backed up", write)


def _download(engine: Engine, by: int, action: str, write: Callable[[Path], tuple[Path, int]], **detail: Any) -> Path:
    """Return the file that `write` makes, with how many rows it has, for a manager; noted in the log."""
    with reading_as(engine, by, "manager"):
        folder = Path(tempfile.mkdtemp(prefix="audit-"))
    try:
        file, rows = write(folder)
        if (size := file.stat().st_size) > LARGEST:
            raise AuditError(message("download.large", size=size >> 20, most=LARGEST >> 20))
        with writing_as_manager(engine, by) as connection:
            note(connection, by, action, rows=rows, megabytes=round(size / (1 << 20), 1), **detail)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return file
