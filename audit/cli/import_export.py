"""`audit import`: a database from an export."""

import argparse
from pathlib import Path
from typing import Any

from audit.cli.options import add_database, add_json, answer, reads


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("import", help="make a new database from an export")
    parser.add_argument("dir", type=reads, metavar="DIR", help="a folder that `audit export` wrote")
    add_database(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.reports.exports.reading import import_export

    manifest = import_export(Path(arguments.dir), arguments.db)
    rows = {name: entry["rows"] for name, entry in manifest["tables"].items()}
    document = {
        "db": arguments.db,
        "seal": manifest["seal"],
        "rows": sum(rows.values()),
        "tables": rows,
        "pseudonymised": manifest["pseudonymised"],
    }
    lines = [
        f"{sum(rows.values()):,} rows of {len(rows)} tables; accounts have no password until they are given one.",
        f"Next: audit report --db {arguments.db}",
    ]
    answer(arguments.json, document, lines)
