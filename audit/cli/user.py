"""`audit user add|list|delete`: accounts of the app."""

import argparse
import getpass
import os
import sys
from typing import Any

from audit.cli.options import add_database, add_json, answer


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("user", help="accounts of the app")
    actions = parser.add_subparsers(dest="action", required=True, metavar="add|list|delete", parser_class=type(parser))
    new = actions.add_parser(
        "add", help="make an account; the password is asked for, or read from stdin or AUDIT_PASSWORD"
    )
    new.add_argument("name")
    new.add_argument("--role", default="annotator", help="annotator (default), adjudicator or manager")
    add_database(new)
    new.set_defaults(run=_add)
    old = actions.add_parser("list", help="accounts there are")
    add_database(old)
    add_json(old)
    old.set_defaults(run=_list)
    gone = actions.add_parser("delete", help="take a person's name and password away; what they answered stays")
    gone.add_argument("name")
    add_database(gone)
    gone.set_defaults(run=_delete)


def _add(arguments: argparse.Namespace) -> None:
    from audit.annotation.accounts import add_account
    from audit.store import open_store

    engine = open_store(arguments.db)
    account = add_account(engine, arguments.name, arguments.role, _password())
    answer(False, None, [f"Account {account.name} ({account.role}) made."])


def _password() -> str:
    """Never from the command line, where other users of the machine would read it."""
    if "AUDIT_PASSWORD" in os.environ:
        return os.environ["AUDIT_PASSWORD"]
    if sys.stdin.isatty():
        return getpass.getpass("Password: ")
    return sys.stdin.readline().rstrip("\n")


def _list(arguments: argparse.Namespace) -> None:
    from audit.annotation.accounts import list_accounts
    from audit.cli.listings import table
    from audit.store import open_store

    rows: list[dict[str, Any]] = [
        {"name": account.name, "role": account.role} for account in list_accounts(open_store(arguments.db))
    ]
    answer(arguments.json, rows, table(rows))


def _delete(arguments: argparse.Namespace) -> None:
    from audit.annotation.leaving import delete_person
    from audit.store import open_store

    left = delete_person(open_store(arguments.db), arguments.name)
    answer(
        False,
        None,
        [
            f"{arguments.name} is now {left.name}, cannot log in, and {left.judgements:,} judgements and "
            f"{left.adjudications:,} adjudications stay. Older backups and exports still have the name."
        ],
    )
