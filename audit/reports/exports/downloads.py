"""Exports and backups as one file, for whoever downloads them from the app: managers, with a line in the log."""

import shutil
import tempfile
from pathlib import Path

from sqlalchemy import Engine

from audit.annotation.accounts import note, reading_as, writing_as_manager
from audit.errors import AuditError
from audit.messages import message
from audit.reports.exports.writing import export
from audit.store.backup import backup
from audit.store.dump import salt_of

LARGEST = 200 << 20
"""Bytes of a download; what is larger is for the command line, where the database is."""
EXPORT, BACKUP = "exported", "backed up"
"""Actions of the log."""
_MEGABYTE = 1 << 20


def export_archive(engine: Engine, *, by: int, pseudonymise: bool) -> Path:
    """A zip file of what `audit export` writes, alone in a new private folder, which the caller deletes.

    With `pseudonymise` the names of people are pseudonyms that no other export has, and comments are left out. `by` is
    the account of a manager. Raises NotAllowed for another role, and AuditError for what is larger than `LARGEST`.
    """
    with reading_as(engine, by, "manager"):
        folder = Path(tempfile.mkdtemp(prefix="audit-export-"))
    try:
        written = export(engine, folder / "export", salt=salt_of(None) if pseudonymise else None, by=by)
        archive = Path(shutil.make_archive(str(folder / "audit-export"), "zip", folder / "export"))
        shutil.rmtree(folder / "export")
        _check_size(archive)
        with writing_as_manager(engine, by) as connection:
            note(connection, by, EXPORT, rows=written.rows, pseudonyms=pseudonymise)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return archive


def backup_file(engine: Engine, *, by: int) -> Path:
    """A backup as `audit backup` writes it, alone in a new private folder, which the caller deletes. Raises as
    `export_archive`."""
    with reading_as(engine, by, "manager"):
        folder = Path(tempfile.mkdtemp(prefix="audit-backup-"))
    try:
        made = backup(engine, folder / "audit-backup.db")
        _check_size(made.file)
        with writing_as_manager(engine, by) as connection:
            note(connection, by, BACKUP, rows=sum(made.rows.values()), megabytes=round(made.bytes / _MEGABYTE, 1))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return made.file


def _check_size(file: Path) -> None:
    if (size := file.stat().st_size) > LARGEST:
        raise AuditError(message("download.large", size=size // _MEGABYTE, most=LARGEST // _MEGABYTE))
