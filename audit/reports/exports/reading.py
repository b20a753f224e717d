"""`audit import`: a new database from an export, after a check of every file against the manifest."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Engine

from audit.errors import BadFile, BadRow
from audit.files import read_json
from audit.reports.exports.documents import DOCUMENTS
from audit.reports.exports.meaning import Meaning, lost_group
from audit.reports.exports.writing import FORMAT, MANIFEST
from audit.store import open_store, tables
from audit.store.copying import filled
from audit.store.dump import FOLDER, load_tables
from audit.store.seals import check, seal

_NEEDED = {"schema": int, "pseudonymised": bool, "free_text": bool, "tables": dict, "documents": list, "files": dict}

_LONGEST = 200
"""Characters in the name of a file: ours are shorter."""


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of an export whose files are all as they were written.

    Raises BadFile: no export, an export of a later audit, or a file that is missing, cut short or changed (file, line).
    """
    path = folder / MANIFEST
    if not folder.is_dir():
        raise BadFile(f"{folder}: there is no such folder; name one that `audit export` wrote")
    if not path.exists():
        raise BadFile(f"{folder}: this is no export, it has no {MANIFEST}; name a folder that `audit export` wrote")
    manifest = read_json(path, "export again")
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise BadFile(f"{path}: not a manifest of format {FORMAT}, the one this audit reads")
    if manifest.get("seal") != seal(manifest):
        raise BadFile(f"{path}: changed since the export was made (its seal does not fit); export again")
    for name, kind in _NEEDED.items():
        if not isinstance(manifest.get(name), kind):
            raise BadFile(f"{path}: {name!r} is missing or not what it should be; export again")
    if manifest["schema"] > tables.SCHEMA_VERSION:
        raise BadFile(
            f"{path}: the export has tables of version {manifest['schema']}, this audit reads up to version "
            f"{tables.SCHEMA_VERSION}; install audit {manifest.get('audit')} or later"
        )
    strange = sorted(set(map(str, manifest["documents"])) - set(DOCUMENTS))
    if strange:
        raise BadFile(f"{path}: the document {strange[0]!r} is unknown; this audit computes {', '.join(DOCUMENTS)}")
    named = {*manifest["documents"], *(f"{FOLDER}/{table}.jsonl" for table in manifest["tables"])}
    unsealed = sorted(named - set(manifest["files"]))
    if unsealed:
        raise BadFile(f"{path}: the file {unsealed[0]!r} is not among the files; export again")
    root = folder.resolve()
    for name, sealed in manifest["files"].items():
        if len(name) > _LONGEST or not name.isprintable():
            raise BadFile(f"{path}: {name[:40]!r} is no name of a file of an export; export again")
        if not (root / name).resolve().is_relative_to(root):
            raise BadFile(f"{path}: the file {name!r} is not in the export's folder")
        check(folder, name, sealed)
    return manifest


def import_export(folder: Path, where: str) -> dict[str, Any]:
    """Make the database of an export, in a new or empty one, whole or not at all; returns the manifest.

    Raises BadFile or BadRow as `read_manifest` and `load_tables` do, and for a database that is not empty.
    """
    manifest = read_manifest(folder)
    with filled(where) as connection:
        load_tables(connection, folder, manifest["tables"], Meaning(connection).check)
        if lost := lost_group(connection):
            table, place = lost
            raise BadRow(folder / FOLDER / f"{table}.jsonl", place, "column group_id names a group that is not there")
    return manifest


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Engine, dict[str, Any]]]:
    """A temporary database of an export, and the manifest. Raises what `import_export` raises."""
    with TemporaryDirectory(prefix="audit-") as place:
        where = str(Path(place) / "export.db")
        manifest = import_export(folder, where)
        engine = open_store(where)
        try:
            yield engine, manifest
        finally:
            engine.dispose()
