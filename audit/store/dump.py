"""The tables as files: one JSONL a table, from which a database with the same content is made again.

A line is one row, a JSON object by column, in the order of the key. Keys of 16 bytes are hexadecimal, times are ISO
8601 in UTC; a number that is none (NaN, Infinity) is a string. What each column holds is in the manifest.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, LargeBinary, Table
from sqlalchemy.types import JSON

from audit.errors import AuditError, BadFile, BadRow
from audit.files import raw_json, refuse_no_file
from audit.store.copying import read_rows, write_rows
from audit.store.personal import carried_columns, carried_tables

FOLDER = "tables"
_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def write_tables(connection: Connection, folder: Path) -> dict[str, Any]:
    """Write every table that an export carries; returns the manifest's part about them, by the table's name.

    One row is in memory at a time. Passwords and sessions are never written.
    """
    (folder / FOLDER).mkdir()
    entries: dict[str, Any] = {}
    for table in carried_tables():
        columns = carried_columns(table)
        writers = [(name, _writer(table.c[name])) for name in columns]
        rows = 0
        with (folder / file_name(table)).open("w", encoding="utf-8", newline="\n") as file:
            for row in read_rows(connection, table, columns):
                line = {name: None if row[name] is None else write(row[name]) for name, write in writers}
                file.write(json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n")
                rows += 1
        described = [_described(table.c[name]) for name in columns]
        entries[table.name] = {"file": file_name(table), "rows": rows, "columns": described}
    return entries


def load_tables(
    connection: Connection,
    folder: Path,
    entries: Mapping[str, Any],
    check: Callable[[str, Mapping[str, Any]], None] | None = None,
) -> int:
    """Insert the rows of an export into a database that has none; returns how many.

    `entries` is what `write_tables` returned. A table or column that an older version of audit did not have stays
    empty or takes its default. `check` gets each row with its table's name, and raises ValueError or AuditError for one
    that means nothing. Raises BadRow for a row that is not one (file, line), BadFile for tables, columns or a
    number of rows that do not fit.
    """
    known = {table.name: table for table in carried_tables()}
    strange = sorted(set(entries) - set(known))
    if strange:
        raise BadFile(f"{folder}: the manifest has the table {strange[0]!r}, which this audit does not know")
    total = 0
    for table in carried_tables():
        if table.name not in entries:
            continue
        try:
            names = [str(column["name"]) for column in entries[table.name]["columns"]]
            rows = int(entries[table.name]["rows"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise BadFile(f"{folder}: the manifest lacks the columns or rows of table {table.name}") from None
        missing = sorted(set(names) - set(carried_columns(table)))
        if missing:
            raise BadFile(f"{folder}: table {table.name} has the column {missing[0]!r}, which this audit does not know")
        path = folder / file_name(table)
        written = write_rows(connection, table, _rows(path, table, names, check))
        if written != rows:
            raise BadFile(f"{path}: {written:,} rows, the manifest says {rows:,}; export again")
        total += written
    return total


def file_name(table: Table) -> str:
    """Where a table is, in the folder of an export."""
    return f"{FOLDER}/{table.name}.jsonl"


def _described(column: Column[Any]) -> dict[str, Any]:
    refers = [foreign.target_fullname for foreign in column.foreign_keys]
    return {
        "name": column.name,
        "type": kind_of(column),
        "null": bool(column.nullable),
        "key": column.primary_key,
        "refers_to": refers[0] if refers else None,
    }


def kind_of(column: Column[Any]) -> str:
    """What a column holds: integer, number, text, boolean, time, bytes (hexadecimal) or json."""
    if isinstance(column.type, JSON):
        return "json"
    if isinstance(column.type, LargeBinary):
        return "bytes"
    return {int: "integer", float: "number", bool: "boolean", datetime: "time"}.get(column.type.python_type, "text")


def _writer(column: Column[Any]) -> Callable[[Any], Any]:
    """From a value that is not null to what the line has of it."""
    return {
        "bytes": lambda value: bytes(value).hex(),
        "time": spelled,
        "json": _sorted,
        "number": lambda value: value if math.isfinite(value) else json.dumps(value),
    }.get(kind_of(column), lambda value: value)


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
    return [_sorted(one) for one in value] if isinstance(value, list) else value


def _rows(
    path: Path, table: Table, names: list[str], check: Callable[[str, Mapping[str, Any]], None] | None
) -> Iterator[dict[str, Any]]:
    readers = [(name, table.c[name].nullable, _READERS[kind_of(table.c[name])]) for name in names]
    wanted = set(names)
    refuse_no_file(path)
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                text = line.decode().rstrip()
                given, end = raw_json(text)
            except (ValueError, RecursionError) as problem:
                raise BadRow(path, number, f"not a row in JSON ({problem})") from None
            if not isinstance(given, dict) or given.keys() != wanted or end < len(text):
                raise BadRow(path, number, f"a row of {table.name} is an object with exactly {', '.join(names)}")
            row = {}
            for name, nullable, read in readers:
                value = given[name]
                if value is None and not nullable:
                    raise BadRow(path, number, f"column {name} is null, which it may not be")
                try:
                    row[name] = None if value is None else read(value)
                except (TypeError, ValueError):
                    shown = json.dumps(value)[:40]
                    raise BadRow(
                        path, number, f"column {name} is {shown}, not of type {kind_of(table.c[name])}"
                    ) from None
            if check is not None:
                try:
                    check(table.name, row)
                except (AuditError, ValueError) as problem:
                    raise BadRow(path, number, str(problem)) from None
            yield row


def _integer(value: Any) -> int:
    if type(value) is not int or abs(value) >= 1 << 63:
        raise ValueError
    return value


def _number(value: Any) -> float:
    if isinstance(value, str):
        if value not in _NUMBERS:
            raise ValueError
        return _NUMBERS[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return float(value)


def _only(kind: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not isinstance(value, kind):
            raise TypeError
        return value

    return read


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # half of a character, which JSON can spell, is no text
    return value


def _time(value: Any) -> datetime:
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError
    return moment


_READERS: dict[str, Callable[[Any], Any]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _only(bool),
    "text": _text,
    "time": _time,
    "bytes": bytes.fromhex,
    "json": lambda value: value,
}
