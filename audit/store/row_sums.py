"""Sums of the rows, by which a change is found that SQLite itself takes for a value: a flipped bit, an edit by hand.

SQLite's own check knows the shape of a file and not what its values were. So the table `seal` holds, for each table,
how many rows it has and a sum of what is in them, and each connection that audit opens keeps it up to date with
triggers of its own (`TEMP`: they are in no file and no other program has them). They work inside the transaction that
writes, so that a kill, a rollback and a copy leave rows and sums that fit each other. A row costs 1.6 microseconds.

Left out are `input` and `group`, whose rows are named by their content (the doctor works the names out again), what is
derived from others (places in the queue) and what is no part of the history (leases, logins, tokens, jobs). A server
of PostgreSQL has checksums of its own pages, so `seal` stays empty there.
"""

import zlib
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from sqlalchemy import Connection
from sqlmodel import SQLModel

from audit.store import tables

_UNSEALED = {"schema_version", "seal", "input", "group", "lease", "login", "token", "job", "chunk_lease"}
_DERIVED = {"question": ("priority", "waits", "filled", "source_input_id")}
"""Columns that follow from other rows, and change with each of them."""
_FUNCTION = "audit_sum"
_BEFORE = "audit_sum_"
"""What the names of the triggers begin with."""
_BITS = (1 << 62) - 1
"""A sum stays a whole number of SQLite's, which has 64 bits and a sign."""


def sum_of(*values: Any) -> int:
    """32 bits of a row's values as SQLite's driver gives them; the same in every version of Python.

    >>> sum_of(1, "positive", None) == sum_of(1, "positive", None) != sum_of(2, "positive", None)
    True
    """
    return zlib.crc32(ascii(values).encode())


@cache
def sealed_columns() -> dict[str, list[str]]:
    """Table -> the columns that are summed up, in a lasting order: that of their names."""
    return {
        table.name: sorted(column.name for column in table.columns if column.name not in _DERIVED.get(table.name, ()))
        for table in SQLModel.metadata.sorted_tables
        if table.name not in _UNSEALED
    }


def watch(connection: Any, _record: Any = None) -> None:
    """Let a new connection of SQLite's driver keep the sums, where the database has the tables of this version."""
    know(connection)
    if is_current(connection):  # else whoever makes or changes the tables takes a new connection then
        for statement in _triggers():
            connection.execute(statement)


def is_current(connection: Any) -> bool:
    """Whether a database has the tables of this version."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'schema_version'").fetchone():
        return False
    return bool(connection.execute("SELECT version FROM schema_version").fetchall() == [(tables.SCHEMA_VERSION,)])


def know(connection: Any) -> None:
    """Let a connection of SQLite's driver work out sums."""
    connection.create_function(_FUNCTION, -1, sum_of, deterministic=True)


@cache
def _triggers() -> tuple[str, ...]:
    triggers = []
    for name, columns in sealed_columns().items():
        new, old = (f"{_FUNCTION}({_listed(columns, row)})" for row in ("NEW.", "OLD."))
        for event, rows, change in (
            ("INSERT", "+ 1", f"+ {new}"),
            ("DELETE", "- 1", f"- {old}"),
            (f"UPDATE OF {_listed(columns)}", "", f"+ {new} - {old}"),
        ):
            triggers.append(  # names of ours
                f'CREATE TEMP TRIGGER "{_BEFORE}{name}_{event[:6].lower()}" AFTER {event} ON main."{name}" BEGIN '  # noqa: S608
                f"UPDATE seal SET rows = rows {rows}, sum = (sum {change}) & {_BITS} WHERE name = '{name}'; END"
            )
    return tuple(triggers)


def unwatch(connection: Connection) -> None:
    """Take the triggers from a connection on which tables are going to change; `fill` afterwards."""
    names = connection.exec_driver_sql("SELECT name FROM sqlite_temp_master WHERE type = 'trigger'").scalars().all()
    for name in names:
        if str(name).startswith(_BEFORE):
            connection.exec_driver_sql(f'DROP TRIGGER temp."{name}"')


def fill(connection: Connection) -> None:
    """Sum up what is there, for a database that is new or whose tables have changed."""
    connection.exec_driver_sql("DELETE FROM seal")
    for name in sealed_columns():
        rows, total = _found(lambda sql: connection.exec_driver_sql(sql).all(), name)
        connection.exec_driver_sql("INSERT INTO seal (name, rows, sum) VALUES (?, ?, ?)", (name, rows, total))


def wrong_sums(execute: Callable[[str], Iterable[Any]]) -> list[str]:
    """Which tables hold something else than audit wrote, each in words. Raises what the driver raises.

    `execute` runs a statement of SQL on a connection that knows how to (`know`) and gives its rows; all of them at one
    moment, so in one transaction.
    """
    kept = {str(name): (rows, total) for name, rows, total in list(execute("SELECT name, rows, sum FROM seal"))}
    wrong = []
    for name in sealed_columns():
        rows, total = _found(execute, name)
        if name not in kept or rows != kept[name][0]:
            wrong.append(f"{name} has {rows:,} rows, {kept.get(name, ('no number',))[0]} were written")
        elif total != kept[name][1]:
            wrong.append(f"rows of {name} have other values than were written")
    return wrong


def _found(execute: Callable[[str], Iterable[Any]], name: str) -> tuple[int, int]:
    """How many rows a table has, and their sum."""
    of = _listed(sealed_columns()[name])
    query = f'SELECT count(*), coalesce(sum({_FUNCTION}({of})), 0) FROM main."{name}"'  # noqa: S608 (names of ours)
    rows, total = next(iter(execute(query)))
    return int(rows), int(total) & _BITS


def _listed(columns: list[str], before: str = "") -> str:
    return ", ".join(f'{before}"{name}"' for name in columns)
