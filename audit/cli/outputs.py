"""What a command writes must be nothing that it reads, and no database: one check before any work, for all commands."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from audit.cli.options import Read, Written
from audit.errors import BadFile

_BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database's file, under its name and these."""
_MAGIC = b"SQLite format 3\0"


def check_outputs(arguments: argparse.Namespace) -> None:
    """Raise BadFile for an output that is an input of the command, its database, a part of any, or a device."""
    from audit.new_files import refuse_special

    if (named := str(vars(arguments).get("db") or "")).endswith(_BESIDE) and _holds_database(Path(named)):
        raise BadFile(f"--db {named} belongs to the database beside it; name another file")
    outputs = [one for one in _values(arguments) if isinstance(one, Written)]
    if not outputs:
        return
    inputs = [Path(one) for one in _values(arguments) if isinstance(one, Read)]
    database = _database(arguments)
    for output in map(Path, outputs):
        refuse_special(output)
        if any(_same(output, one) for one in inputs):
            raise BadFile(f"{output} is read by this command, and would be overwritten; name another file")
        if (database and any(_same(output, one) for one in _parts(database))) or _holds_database(output):
            raise BadFile(f"{output} is a database, or a part of one, and would be destroyed; name another file")


def _values(arguments: argparse.Namespace) -> Iterator[object]:
    for value in vars(arguments).values():
        yield from value if isinstance(value, list) else [value]


def _database(arguments: argparse.Namespace) -> Path | None:
    if "db" not in arguments:
        return None
    from audit.store.engine import file_of

    return file_of(arguments.db)


def _parts(database: Path) -> list[Path]:
    return [database, *(database.with_name(database.name + end) for end in _BESIDE)]


def _same(one: Path, other: Path) -> bool:
    """Whether two names mean one file, be it there or not: by links, by another spelling, by a second name."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _holds_database(output: Path) -> bool:
    """Whether a file that is there is SQLite's, or belongs to one of SQLite's beside it."""
    real = os.path.realpath(output)
    return any(_is_sqlite(real.removesuffix(end)) for end in ("", *_BESIDE))


def _is_sqlite(file: str) -> bool:
    if not os.path.isfile(file):
        return False
    try:
        with open(file, "rb") as content:
            return content.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False
