"""The tables as files: one JSONL a table, from which a database with the same content is made again.

A line is one row, a JSON object by column, in the order of the key. Keys of 16 bytes are hexadecimal, times are ISO
8601 in UTC; a number that is none (NaN, Infinity) is a string. What each column holds is in the manifest.
"""

import hashlib
import json
import math
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import AwareDatetime, Field, StrictBool, StrictFloat, StrictInt, StrictStr, TypeAdapter
from sqlalchemy import Column, Connection, LargeBinary, Table, select
from sqlalchemy.types import JSON
from sqlmodel import SQLModel

from audit.errors import BadFile, BadRow
from audit.files import raw_json, read_bytes, refuse_no_file
from audit.keys import canonical
from audit.new_files import new_file
from audit.store import tables
from audit.store.bulk import table_of
from audit.store.copying import read_rows, tables_in_order, write_rows

# What in the tables says who somebody is, and what must never leave the database. A new table that refers to an
# annotator, or a new text in one that does, has its place here: a test refuses texts that nobody thought about.

SECRET_TABLES = ("invitation", "secret", "job", "study_run")
"""Tables that stay where they are: invitations, what signs logins and tokens, and work that this machine has in hand. A
name with `_` behind it counts too."""
SECRET_COLUMNS = {"annotator": ("password", "session_number", "token_number", "completion_code")}
"""Columns that stay where they are; they have their defaults where an export is imported."""
NAMES = {"annotator": ("name",)}  # Columns with names of people
FREE_TEXT = {
    "judgement": ("comment", "client"),
    "adjudication": ("reason",),
    "aside": ("comment",),
    "cause": ("comment",),
    "known": ("explanation",),
}  # Columns in which people write what they like, other people's names included, or by which one may know them
IMPERSONAL = {
    "annotator": ("role", "languages"),
    "judgement": ("answer",),
    "adjudication": ("code",),
    "aside": ("kind",),
    "cause": ("code",),
    "known": ("purpose",),
    "log": ("action",),
    "plan": ("name",),
}  # Texts of tables about people that name nobody: words of a list, codes of languages
LEFT_OUT = "(left out)"  # Stands in place of a free text that may not be null


def is_secret(table: Table) -> bool:
    return any(table.name == name or table.name.startswith(f"{name}_") for name in SECRET_TABLES)


def exported_tables() -> list[Table]:
    """The tables of an export, each after those that it refers to."""
    return [table for table in tables_in_order() if not is_secret(table)]


def exported_columns(table: Table) -> list[str]:
    return [column.name for column in table.columns if column.name not in SECRET_COLUMNS.get(table.name, ())]


def left_out() -> list[str]:
    """What an export leaves out: tables, and columns as `table.column`."""
    whole = [table.name for table in SQLModel.metadata.sorted_tables if is_secret(table)]
    return sorted([*whole, *(f"{table}.{column}" for table, columns in SECRET_COLUMNS.items() for column in columns)])


def pseudonym(name: str, salt: bytes) -> str:
    """The name that stands for a person: the same for the same salt, and without the salt nobody can work it out.

    Source: BLAKE2 as a keyed hash (RFC 7693, section 2.9).

    >>> pseudonym("anna", b"salt") == pseudonym("anna", b"salt") != pseudonym("ben", b"salt")
    True
    """
    return f"person-{hashlib.blake2b(name.encode(), key=salt[:64], digest_size=5).hexdigest()}"


def pseudonymise(connection: Connection, salt: bytes, keep_free_text: bool = False) -> None:
    """Put pseudonyms for the names of people, and nothing for what they wrote freely. For a copy, never a database.
    `gold` and models are nobody and keep their names."""
    table = table_of(tables.Annotator)
    people = connection.execute(select(table.c.id, table.c.name).where(table.c.role != "gold")).all()
    for id, name in people:
        connection.execute(table.update().where(table.c.id == id).values(name=pseudonym(name, salt)))
    if keep_free_text:
        return
    for name, columns in FREE_TEXT.items():
        written = SQLModel.metadata.tables[name]
        for column in (written.c[column] for column in columns):
            nothing = None if column.nullable else LEFT_OUT
            connection.execute(written.update().where(column.is_not(None)).values({column.name: nothing}))


def salt_of(file: Path | None) -> bytes:
    """The salt in a file, made where there is none; without a file a new one that nobody keeps. Raises BadFile for a
    file that cannot be read or written, or is too short to be a salt."""
    if file is None:
        return secrets.token_bytes(32)
    if not os.path.exists(file):
        with new_file(file) as part:
            part.write_text(secrets.token_hex(32) + "\n", encoding="ascii")
    text = read_bytes(file).strip()
    if len(text) < 16:
        raise BadFile(
            f"{file}: a salt has at least 16 bytes, this file has {len(text)}; name a new file to have one made"
        )
    return hashlib.sha256(text).digest()


FOLDER = "tables"
_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def write_tables(connection: Connection, folder: Path) -> dict[str, Any]:
    """Write every table that an export carries; returns the manifest's part about them, by the table's name."""
    (folder / FOLDER).mkdir()
    entries: dict[str, Any] = {}
    for table in exported_tables():
        columns = [table.c[name] for name in exported_columns(table)]
        writers = {column.name: _WRITERS.get(kind_of(column)) for column in columns}
        rows = 0
        with (folder / file_name(table)).open("w", encoding="utf-8", newline="\n") as file:
            for row in read_rows(connection, table, writers):
                line = {
                    name: write(row[name]) if write and row[name] is not None else row[name]
                    for name, write in writers.items()
                }
                file.write(json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n")
                rows += 1
        entries[table.name] = {"file": file_name(table), "rows": rows, "columns": list(map(_column_entry, columns))}
    return entries


def load_tables(connection: Connection, folder: Path, entries: Mapping[str, Any]) -> int:
    """Insert the rows of an export into a database that has none; returns how many. `entries` is what `write_tables`
    returned. Raises BadRow for a row that is not one (file, line), BadFile for tables or a number of rows that do not
    fit."""
    if differing := set(entries) ^ {table.name for table in exported_tables()}:
        raise BadFile(f"{folder}: the manifest has other tables than this audit: {', '.join(sorted(differing))}")
    total = 0
    for table in exported_tables():
        rows = int(entries[table.name]["rows"])
        path = folder / file_name(table)
        written = write_rows(connection, table, _read_rows(path, table, exported_columns(table)))
        if written != rows:
            raise BadFile(f"{path}: {written:,} rows, the manifest says {rows:,}; export again")
        total += written
    return total


def file_name(table: Table) -> str:
    return f"{FOLDER}/{table.name}.jsonl"


def _column_entry(column: Column[Any]) -> dict[str, Any]:
    refers = next((foreign.target_fullname for foreign in column.foreign_keys), None)
    entry = {"name": column.name, "type": kind_of(column), "null": bool(column.nullable)}
    return {**entry, "key": column.primary_key, "refers_to": refers}


def kind_of(column: Column[Any]) -> str:
    """What a column holds: integer, number, text, boolean, time, bytes (hexadecimal) or json."""
    if isinstance(column.type, JSON):
        return "json"
    if isinstance(column.type, LargeBinary):
        return "bytes"
    return {int: "integer", float: "number", bool: "boolean", datetime: "time"}.get(column.type.python_type, "text")


def spelled(moment: datetime) -> str:
    """A time in UTC as it is written everywhere in an export.

    >>> spelled(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02T03:04:05.000000Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _sorted(value: Any) -> Any:
    """Objects by the names of their members: PostgreSQL keeps another order than SQLite."""
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


_WRITERS: dict[str, Callable[[Any], Any]] = {
    "bytes": lambda value: bytes(value).hex(),
    "time": spelled,
    "json": _sorted,
    "number": lambda value: value if math.isfinite(value) else json.dumps(value),
}


def _read_rows(path: Path, table: Table, names: list[str]) -> Iterator[dict[str, Any]]:
    columns = {name: table.c[name] for name in names}
    refuse_no_file(path)
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                text = line.decode().rstrip()
                entry, end = raw_json(text)
            except (ValueError, RecursionError) as problem:
                raise BadRow(path, number, f"not a row in JSON ({problem})") from None
            if not isinstance(entry, dict) or entry.keys() != columns.keys() or end < len(text):
                raise BadRow(path, number, f"a row of {table.name} is an object with exactly {', '.join(names)}")
            for name, column in columns.items():
                value, kind = entry[name], kind_of(column)
                if value is None and column.nullable:
                    continue
                try:
                    entry[name] = _READERS[kind](value)
                except (TypeError, ValueError):
                    raise BadRow(
                        path, number, f"column {name} is {json.dumps(value)[:40]}, not of type {kind}"
                    ) from None
            yield entry


def _text(value: Any) -> str:
    _TEXT(value).encode()  # raises for half of a character, which JSON can spell
    return str(value)


_TEXT = TypeAdapter(StrictStr).validate_python
_FLOAT = TypeAdapter(StrictFloat).validate_python
_AWARE = TypeAdapter(AwareDatetime).validate_python
_READERS: dict[str, Callable[[Any], Any]] = {
    "integer": TypeAdapter(Annotated[StrictInt, Field(gt=-(1 << 63), lt=1 << 63)]).validate_python,
    "number": lambda value: _NUMBERS[value] if isinstance(value, str) and value in _NUMBERS else _FLOAT(value),
    "boolean": TypeAdapter(StrictBool).validate_python,
    "text": _text,
    "time": lambda value: _AWARE(datetime.fromisoformat(value)),
    "bytes": bytes.fromhex,
    "json": lambda value: value,
}


# What a manifest says of a file, so that a reader can tell whether it was changed since.


def described(path: Path) -> dict[str, Any]:
    """Return size and sum of a file: lines, bytes, sha256."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        return {"lines": sum(1 for _ in file), "bytes": path.stat().st_size, "sha256": sha256}


def check(folder: Path, name: str, sealed: Mapping[str, Any]) -> None:
    """Raise BadFile unless a file of a folder is what the manifest says."""
    path = folder / name
    if not path.exists():
        raise BadFile(f"{path}: the file is missing, the manifest lists it; export again")
    refuse_no_file(path)
    now = described(path)
    if now["lines"] != sealed["lines"]:
        raise BadFile(f"{path}: {now['lines']:,} lines, but the export had {sealed['lines']:,}; export again")
    if now["sha256"] != sealed["sha256"]:
        raise BadFile(f"{path}: changed since the export was made; export again")


def seal(manifest: Mapping[str, Any]) -> str:
    """The SHA-256 of a manifest without its seal: it names a whole export, since the sums of its files are in it."""
    unsealed = {key: value for key, value in manifest.items() if key != "seal"}
    return hashlib.sha256(canonical(unsealed).encode()).hexdigest()
