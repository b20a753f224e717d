"""`audit export`: everything in a database, as files that people read and files that a database is made from."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

import audit
from audit.annotation.accounts import require_manager
from audit.new_files import new_folder
from audit.reports.exports.documents import DOCUMENTS, document, written
from audit.reports.exports.history import write_history
from audit.store import tables
from audit.store.copying import private_copy
from audit.store.dump import write_tables
from audit.store.personal import left_out, pseudonymise
from audit.store.seals import described, seal

FORMAT = 1
"""Of the manifest and of the files. Another number is another way to read them."""
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Exported:
    """What an export has in it."""

    folder: Path
    seal: str
    rows: int
    tables: Mapping[str, int]
    """Rows by table."""
    documents: tuple[str, ...]
    pseudonymised: bool
    free_text: bool
    """Whether comments and reasons are in it."""


def export(
    engine: Engine,
    folder: Path,
    *,
    salt: bytes | None = None,
    with_comments: bool = False,
    by: int | None = None,
) -> Exported:
    """Write a database into a new folder, or none at all.

    With a `salt` the names of people are pseudonyms and what they wrote freely is left out (`with_comments` keeps it).
    The export is of one moment, while others go on judging; the same content gives the same bytes. `by` is the account
    of the manager who asks, None whoever has the database itself. Raises NotAllowed for another role, BadFile where the
    folder has something in it or cannot be written.
    """
    with to_export(engine, folder, salt, with_comments, by) as (parts, copy):
        found = _write(copy, parts, salt is not None, salt is None or with_comments)
    rows = {name: int(entry["rows"]) for name, entry in found["tables"].items()}
    return Exported(
        folder,
        found["seal"],
        sum(rows.values()),
        rows,
        tuple(found["documents"]),
        found["pseudonymised"],
        found["free_text"],
    )


def _write(engine: Engine, folder: Path, pseudonymised: bool, free_text: bool) -> dict[str, Any]:
    with engine.connect() as connection:
        entries = write_tables(connection, folder)
        columns = write_history(connection, folder)
    documents = []
    for name in DOCUMENTS:
        made = document(name, engine)
        if made is not None:
            (folder / name).write_text(written(made), encoding="utf-8")
            documents.append(name)
    files = [*(entry["file"] for entry in entries.values()), *columns, *documents]
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "audit": audit.__version__,
        "schema": tables.SCHEMA_VERSION,
        "pseudonymised": pseudonymised,
        "free_text": free_text,
        "left_out": left_out(),
        "tables": entries,
        "history": columns,
        "documents": documents,
        "files": {name: described(folder / name) for name in sorted(files)},
    }
    manifest["seal"] = seal(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return manifest


@contextmanager
def to_export(
    engine: Engine, folder: Path, salt: bytes | None, with_comments: bool, by: int | None
) -> Iterator[tuple[Path, Engine]]:
    """A place for the files of a new folder, and a copy of the database of one moment, pseudonymised with a `salt`.

    Every format of an export begins here: its arguments, and what it raises, are those of `export`.
    """
    with engine.connect() as connection:
        require_manager(connection, by)
    # What is in it may name people.
    with new_folder(folder, private=True) as parts, private_copy(engine, parts) as copy:
        if salt is not None:
            with copy.begin() as connection:
                pseudonymise(connection, salt, with_comments)
        yield parts, copy
