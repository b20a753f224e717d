"""The tables as files: one JSONL a table, from which a database with the same content is made again.

A line is one row, a JSON object by column, in the order of the key. Keys of 16 bytes are hexadecimal, times are ISO
8601 in UTC. What each column holds is in the manifest.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, LargeBinary, Table, select
from sqlalchemy.types import JSON
from sqlmodel import SQLModel

from audit.errors import BadFile, BadRow
from audit.files import read_bytes, refuse_no_file
from audit.keys import canonical
from audit.new_files import new_file
from audit.store.copying import read_rows, tables_in_order, write_rows
from audit.store.core import annotator

# What in the tables says who somebody is, and what must never leave the database. A test refuses a new text in a table
# about people that nobody thought about.

SECRET_TABLES = ("invitation", "secret", "job", "study_run")
"""Tables that stay where they are: invitations, what signs logins and tokens, and work that is in hand."""
SECRET_COLUMNS = {"annotator": ("password", "session_number", "token_number", "completion_code")}
"""Columns that stay where they are; they have their defaults where an export is imported."""
FREE_TEXT = {
    "judgement": ("comment", "client"),
    "adjudication": ("reason",),
    "aside": ("comment",),
    "cause": ("comment",),
    "known": ("explanation",),
}  # Columns in which people write what they like, other people's names included, or by which one may know them
LEFT_OUT = "(left out)"  # Stands in place of a free text that may not be null
FOLDER = "tables"


def exported_tables() -> list[Table]:
    """Return the tables of an export, each after those that it refers to."""
    return [table for table in tables_in_order() if table.name not in SECRET_TABLES]


def exported_columns(table: Table) -> dict[str, str]:
    """Return the columns of a table that an export has, and what each holds."""
    secret = SECRET_COLUMNS.get(table.name, ())
    return {column.name: kind_of(column) for column in table.columns if column.name not in secret}


def left_out() -> list[str]:
    """Return what an export leaves out: tables, and columns as `table.column`."""
    columns = (f"{table}.{column}" for table, columns in SECRET_COLUMNS.items() for column in columns)
    return sorted([*SECRET_TABLES, *columns])


def pseudonym(name: str, salt: bytes) -> str:
    """Return the name that stands for a person: the same for the same salt, and without the salt nobody can work it
    out.

    Source: BLAKE2 as a keyed hash (RFC 7693, section 2.9).

    >>> pseudonym("anna", b"salt") == pseudonym("anna", b"salt") != pseudonym("ben", b"salt")
    True
    """
    return f"person-{hashlib.blake2b(name.encode(), key=salt[:64], digest_size=5).hexdigest()}"


def pseudonymise(connection: Connection, salt: bytes, keep_free_text: bool = False) -> None:
    """Put pseudonyms for the names of people, and nothing for what they wrote freely. For a copy, never a database.
    `gold` and models are nobody and keep their names."""
    people = connection.execute(select(annotator.c.id, annotator.c.name).where(annotator.c.role != "gold")).all()
    for id, name in people:
        connection.execute(annotator.update().where(annotator.c.id == id).values(name=pseudonym(name, salt)))
    for name, columns in {} if keep_free_text else FREE_TEXT.items():
        written = SQLModel.metadata.tables[name]
        for column in (written.c[column] for column in columns):
            nothing = None if column.nullable else LEFT_OUT
            connection.execute(written.update().where(column.is_not(None)).values({column.name: nothing}))


def salt_of(file: Path | None) -> bytes:
    """Return the salt in a file, made where there is none; without a file a new one that nobody keeps. Raises BadFile
    for a file that cannot be read or written, or is too short to be a salt."""
    if file is None:
        return secrets.token_bytes(32)
    if not file.exists():
        with new_file(file) as part:
            part.write_text(secrets.token_hex(32) + "\n", encoding="ascii")
    text = read_bytes(file).strip()
    if len(text) < 16:
        raise BadFile(
            f"{file}: a salt has at least 16 bytes, this file has {len(text)}; name a new file to have one made"
        )
    return hashlib.sha256(text).digest()


def write_tables(connection: Connection, folder: Path) -> dict[str, Any]:
    """Write every table that an export carries; return the manifest's part about them, by the table's name."""
    (folder / FOLDER).mkdir()
    entries: dict[str, Any] = {}
    for table in exported_tables():
        columns, rows = exported_columns(table), 0
        with (folder / file_name(table)).open("w", encoding="utf-8", newline="\n") as file:
            for row in read_rows(connection, table, columns):
                line = {name: _converted(_WRITERS, kind, row[name]) for name, kind in columns.items()}
                # By name: PostgreSQL keeps members of objects in another order than SQLite.
                file.write(json.dumps(line, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n")
                rows += 1
        entries[table.name] = {"file": file_name(table), "rows": rows, "columns": columns}
    return entries


def load_tables(connection: Connection, folder: Path, entries: Mapping[str, Any]) -> int:
    """Insert the rows of an export into a database that has none; return how many. `entries` is what `write_tables`
    returned. Raises BadRow for a row that is not one (file, line), BadFile for other tables."""
    if differing := set(entries) ^ {table.name for table in exported_tables()}:
        raise BadFile(f"{folder}: the manifest has other tables than this audit: {', '.join(sorted(differing))}")
    rows = ((table, _read_rows(folder / file_name(table), table)) for table in exported_tables())
    return sum(write_rows(connection, table, of_table) for table, of_table in rows)


def _read_rows(path: Path, table: Table) -> Iterator[dict[str, Any]]:
    columns = exported_columns(table)
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                entry = json.loads(line)
                row = {name: _converted(_READERS, kind, entry[name]) for name, kind in columns.items()}
            except (ValueError, KeyError, TypeError):
                raise BadRow(path, number, f"not a row of {table.name} with {', '.join(columns)}") from None
            yield row


def file_name(table: Table) -> str:
    return f"{FOLDER}/{table.name}.jsonl"


def kind_of(column: Column[Any]) -> str:
    """Return what a column holds: integer, number, text, boolean, time, bytes (hexadecimal) or json."""
    if isinstance(column.type, JSON):
        return "json"
    if isinstance(column.type, LargeBinary):
        return "bytes"
    return {int: "integer", float: "number", bool: "boolean", datetime: "time"}.get(column.type.python_type, "text")


def spelled(moment: datetime) -> str:
    """Return a time in UTC as it is written everywhere in an export.

    >>> spelled(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02T03:04:05.000000Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


Converters = Mapping[str, Callable[[Any], Any]]
_WRITERS: Converters = {"bytes": lambda value: bytes(value).hex(), "time": spelled}
_READERS: Converters = {"bytes": bytes.fromhex, "time": datetime.fromisoformat}


def _converted(converters: Converters, kind: str, value: Any) -> Any:
    return value if value is None or kind not in converters else converters[kind](value)


# What a manifest says of a file, so that a reader can tell whether it was changed since.


def sum_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(folder: Path, name: str, sha256: str) -> None:
    """Raise BadFile unless a file of a folder is what the manifest says."""
    path = folder / name
    refuse_no_file(path)
    if sum_of(path) != sha256:
        raise BadFile(f"{path}: changed since the export was made; export again")


def seal(manifest: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a manifest without its seal: it names a whole export, since the sums of its files are in
    it."""
    unsealed = {key: value for key, value in manifest.items() if key != "seal"}
    return hashlib.sha256(canonical(unsealed).encode()).hexdigest()
