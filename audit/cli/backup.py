"""`audit backup`, `audit restore`: a whole database as one file."""

import argparse
from pathlib import Path
from typing import Any

from audit.cli.options import add_database, add_json, answer, reads, writes


def add(commands: Any) -> None:
    """Register the commands."""
    there = commands.add_parser("backup", help="a whole database, accounts included, as one file, while it is in use")
    add_database(there)
    there.add_argument("--out", required=True, type=writes, metavar="FILE", help="a new file")
    add_json(there)
    there.set_defaults(run=_backup)
    back = commands.add_parser("restore", help="make a new database from a backup")
    back.add_argument("file", type=reads, metavar="FILE", help="a file that `audit backup` wrote")
    add_database(back)
    add_json(back)
    back.set_defaults(run=_restore)


def _backup(arguments: argparse.Namespace) -> None:
    from audit.store import open_store
    from audit.store.backup import backup

    made = backup(open_store(arguments.db), Path(arguments.out))
    document = {
        "file": str(made.file),
        "bytes": made.bytes,
        "sha256": made.sha256,
        "rows": sum(made.rows.values()),
        "tables": made.rows,
    }
    lines = [
        f"{sum(made.rows.values()):,} rows, {made.bytes / 2**20:.1f} MiB in {made.file}, checked.",
        "Hashes of passwords are in it: keep it where the database would be safe too.",
        f"Back: audit restore {made.file} --db NEW.db",
    ]
    answer(arguments.json, document, lines)


def _restore(arguments: argparse.Namespace) -> None:
    from audit.store.backup import restore

    rows = restore(Path(arguments.file), arguments.db)
    document = {"db": arguments.db, "rows": sum(rows.values()), "tables": rows}
    lines = [f"{sum(rows.values()):,} rows of {len(rows)} tables.", f"Next: audit doctor --db {arguments.db}"]
    answer(arguments.json, document, lines)
