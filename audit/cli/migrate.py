"""`audit migrate`: a database of an older version gets this version's tables."""

import argparse
from typing import Any

from audit.cli.options import add_database, add_json, answer


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "migrate", help="bring a database of an older version to this one's tables, as every command does"
    )
    add_database(parser)
    parser.add_argument("--check", action="store_true", help="only say the version; exit status 1 where it is older")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command; 1 where `--check` found an older version."""
    from audit.store import open_store, tables
    from audit.store.engine import schema_of

    newest = tables.SCHEMA_VERSION
    found = schema_of(arguments.db)
    old, migrated = found < newest, found < newest and not arguments.check
    if migrated:
        open_store(arguments.db).dispose()
        line = f"Tables of version {newest}; they were of version {found}."
    elif old:
        line = f"Tables of version {found}; the next command that opens it brings them to version {newest}."
    else:
        line = f"Tables of version {found}, the newest."
    answer(arguments.json, {"found": found, "version": newest, "migrated": migrated}, [line])
    return int(old and arguments.check)
