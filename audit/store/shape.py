"""Is what a file of SQLite holds what audit makes: its tables, columns and indexes, and nothing that acts by itself.

A trigger, a view in the place of a table, a generated column or a default of somebody else's does things when audit
writes that nobody sees: one made an annotator a manager at the next login.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from sqlalchemy import create_engine
from sqlmodel import SQLModel

_ACTING = re.compile(r"\bcheck\b|\bcollate\b|\bgenerated\b|\bon conflict\b|\bdeferrable\b|\bstrict\b|\bas ?\(")
"""Words of a table's definition that change what writing to it does, and that SQLite's lists of columns do not show."""
Objects = dict[tuple[str, str], Any]


def strange_objects(execute: Callable[[str], Iterable[Any]], acting: bool = False) -> list[str]:
    """What is in a file that audit did not make, or made in another way, each in words; empty: nothing.

    `execute` runs a statement of SQL on the main file, and gives its rows. `acting`: only triggers and views, of which
    no version of the tables has any.

    >>> import sqlite3
    >>> there = sqlite3.connect(":memory:")
    >>> made = there.execute("CREATE VIEW annotator AS SELECT 1")
    >>> strange_objects(there.execute, acting=True)
    ["the view 'annotator'"]
    """
    if acting:
        kinds = "SELECT type, name FROM main.sqlite_master WHERE type IN ('trigger', 'view') ORDER BY name"
        return [f"the {kind} {name!r}" for kind, name in execute(kinds)]
    own, found = _own(), _objects(execute)
    strange = [f"the {kind} {name!r}" for kind, name in found.keys() - own.keys()]
    strange += [f"no {kind} {name!r}" for kind, name in own.keys() - found.keys()]
    for key in own.keys() & found.keys():
        if own[key] != found[key]:
            strange.append(_difference(*key, own[key], found[key]))
    return sorted(strange)


def _difference(kind: str, name: str, own: Any, found: Any) -> str:
    if kind == "table":
        columns, more = {one[0] for one in own[0]}, {one[0] for one in found[0]}
        if added := sorted(more - columns):
            return f"the column {name}.{added[0]!r}"
    return f"another {kind} {name!r} than audit's"


def _objects(execute: Callable[[str], Iterable[Any]]) -> Objects:
    """(kind, name) -> what matters of it. SQLite's own bookkeeping is left out."""
    found: Objects = {}
    for kind, name, of, sql in list(execute("SELECT type, name, tbl_name, sql FROM main.sqlite_master")):
        if kind == "table" and name in ("sqlite_sequence", "sqlite_stat1", "sqlite_stat4"):
            continue
        if kind == "index" and sql is None:
            continue  # what UNIQUE and PRIMARY KEY make: a part of the table
        found[kind, str(name)] = _table(execute, str(name), sql or "") if kind == "table" else (of, _plain(sql or ""))
    return found


def _table(execute: Callable[[str], Iterable[Any]], name: str, sql: str) -> Any:
    quoted = name.replace('"', '""')
    columns = {
        (str(column), str(kind).upper(), bool(needed), None if default is None else str(default), key, hidden)
        for _, column, kind, needed, default, key, hidden in execute(f'PRAGMA table_xinfo("{quoted}")')
    }
    foreign = {tuple(row[2:]) for row in execute(f'PRAGMA foreign_key_list("{quoted}")')}
    unique = set()
    for _, index, is_unique, origin, partial in list(execute(f'PRAGMA index_list("{quoted}")')):
        if origin != "c":
            listed = str(index).replace('"', '""')
            columns_of = tuple((row[2], row[3], row[4]) for row in execute(f'PRAGMA index_xinfo("{listed}")') if row[5])
            unique.add((columns_of, is_unique, origin, partial))
    written = _plain(sql)
    acting = sorted(set(_ACTING.findall(written)))
    return columns, foreign, unique, acting, written.startswith("create virtual"), "without rowid" in written


def _plain(sql: str) -> str:
    """Without quotes, comments and differences of spaces, in small letters: renaming a table quotes its name."""
    bare = re.sub(r"--[^\n]*|/\*.*?\*/", " ", sql, flags=re.DOTALL).lower()
    return " ".join(re.sub(r'["`\[\]]|if not exists', "", bare).split())


@cache
def _own() -> Objects:
    """What a new database has."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        SQLModel.metadata.create_all(connection)
        return _objects(lambda sql: connection.exec_driver_sql(sql).all())
