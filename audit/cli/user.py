"""`audit user add|list|disable|enable|password|delete`: accounts of the app."""

import argparse
import getpass
import os
import sys
from typing import Any

from audit.cli.options import add_database, add_json, answer, languages


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("user", help="accounts of the app")
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="add|list|disable|enable|password|delete", parser_class=type(parser)
    )
    new = actions.add_parser(
        "add", help="make an account; the password is asked for, or read from stdin or AUDIT_PASSWORD"
    )
    new.add_argument("name")
    new.add_argument("--role", default="annotator", help="annotator (default), adjudicator or manager")
    new.add_argument("--languages", type=languages, default=[], metavar="en,zh", help="that it reads (default: all)")
    new.add_argument(
        "--no-password", action="store_true", help="it logs in through the identity provider only (OpenID Connect)"
    )
    add_database(new)
    new.set_defaults(run=_add)
    old = actions.add_parser("list", help="accounts there are")
    add_database(old)
    add_json(old)
    old.set_defaults(run=_list)
    for name, help, run in (
        ("disable", "keep an account out, and log it out everywhere", _disable),
        ("enable", "let a disabled account log in again", _enable),
        ("password", "give an account another password, and log it out everywhere; it is read as in `add`", _password),
    ):
        one = actions.add_parser(name, help=help)
        one.add_argument("name")
        add_database(one)
        one.set_defaults(run=run)
    gone = actions.add_parser("delete", help="take a person's name and password away; what they answered stays")
    gone.add_argument("name")
    add_database(gone)
    gone.set_defaults(run=_delete)


def _add(arguments: argparse.Namespace) -> None:
    from audit.annotation.accounts import add_account
    from audit.store import open_store

    engine = open_store(arguments.db)
    password = None if arguments.no_password else _ask()
    account = add_account(engine, arguments.name, arguments.role, password, languages=arguments.languages)
    answer(False, None, [f"Account {account.name} ({account.role}) made."])


def _ask() -> str:
    """The password; never from the command line, where other users of the machine would read it."""
    if "AUDIT_PASSWORD" in os.environ:
        return os.environ["AUDIT_PASSWORD"]
    if sys.stdin.isatty():
        return getpass.getpass("Password: ")
    return sys.stdin.readline().rstrip("\n")


def _list(arguments: argparse.Namespace) -> None:
    from audit.annotation.accounts import account_details
    from audit.cli.listings import table
    from audit.store import open_store

    rows: list[dict[str, Any]] = [
        {
            "name": one.name,
            "role": one.role,
            "languages": list(one.languages),
            "disabled": one.disabled,
            "password": one.has_password,
            "last_seen": one.seen_at.isoformat(timespec="minutes") if one.seen_at else None,
        }
        for one in account_details(open_store(arguments.db))
    ]
    answer(arguments.json, rows, table(rows))


def _disable(arguments: argparse.Namespace) -> None:
    from audit.annotation.accounts import disable_account
    from audit.store import open_store

    account = disable_account(open_store(arguments.db), arguments.name)
    answer(False, None, [f"Account {account.name} disabled; it is logged out everywhere."])


def _enable(arguments: argparse.Namespace) -> None:
    from audit.annotation.accounts import enable_account
    from audit.store import open_store

    account = enable_account(open_store(arguments.db), arguments.name)
    answer(False, None, [f"Account {account.name} enabled."])


def _password(arguments: argparse.Namespace) -> None:
    from audit.annotation.accounts import set_password
    from audit.store import open_store

    engine = open_store(arguments.db)
    account = set_password(engine, arguments.name, _ask())
    answer(False, None, [f"Password of {account.name} set; the account is logged out everywhere."])


def _delete(arguments: argparse.Namespace) -> None:
    from audit.annotation.accounts import delete_person
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
