"""People: the app that they use, and their accounts."""

import getpass
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from audit.cli.console import Reply, say
from audit.cli.options import DATABASE, PEOPLE, START, Database, command, group
from audit.errors import AuditError
from audit.options import Told

Name = Annotated[str, Told("of the account", "NAME", argument=True)]


@command("app", START, "audit app --db mine.db --port 8600", "audit app --https")
def serve_app(
    db: Database = DATABASE,
    port: Annotated[int, Told("where to listen", "P")] = 8501,
    address: Annotated[str, Told("of this machine; 0.0.0.0 is every one that it has", "ADDRESS")] = "localhost",
    https: Annotated[bool, Told("people come by https: never send cookies without it")] = False,
    systems: Annotated[Sequence[str], Told("Python files of this folder that studies may run", "mine.py")] = (),
) -> None:
    """Serve the app: answer, adjudicate, browse, see results.

    It listens on this machine only unless told otherwise. Where there is no database, it makes one; where no manager
    can log in, it prints a link that makes the first one's account."""
    from audit.judging.invitations import first_account_link
    from audit.store.engine import file_of
    from audit.studies.own_systems import FILES
    from audit.ui import settings

    settings.login_lasts(os.environ)
    for mine in systems:
        if Path(mine).suffix != ".py" or not Path(mine).is_file() or Path(mine).name != mine:
            raise AuditError(f"--systems {mine!r}: must be a Python file in the folder where the app is started")
    environment = {settings.HTTPS: "1"} if https else {}
    if systems:  # processes that run a study import them from this folder
        environment[FILES] = os.pathsep.join(systems)
    check_port(port, address)
    file = file_of(db)
    if file is not None and not file.exists():
        say(f"There was no database {db}; a new one is made.")
    engine = db.open(create=True)
    secret = first_account_link(engine)
    engine.dispose()
    if secret is not None:
        host = "localhost" if address == "0.0.0.0" else f"[{address}]" if ":" in address else address
        say(
            "No manager can log in yet. This link makes the first manager's account, once, within 7 days:\n"
            f"  http://{host}:{port}/join/{secret}"
        )
    serve(db, port, address, environment)


def serve(database: str, port: int, address: str = "localhost", environment: Mapping[str, str] | None = None) -> None:
    """Run Streamlit in the place of this process, so that whatever ends one ends the other, kill -9 included."""
    from audit.runner.underway import another_python, its_environment
    from audit.ui.settings import arguments

    check_port(port, address)
    say(f"The app is at http://{address}:{port} (stop it with Ctrl-C).")
    package = Path(__file__).resolve().parents[1]
    script = package / "script" / "app.py"  # of an installed package; a checkout has it beside the package
    words = another_python("-m", "streamlit", "run", str(script if script.exists() else package.parent / "app.py"))
    words += [*arguments(port), "--server.address", address]
    variables = {**its_environment(), **(environment or {})}
    variables["AUDIT_DB"] = database if "://" in database else os.path.realpath(database)
    if os.name == "nt":  # where a process cannot become another one
        subprocess.run(words, env=variables, check=False)
    else:
        os.execve(words[0], words, variables)


def check_port(port: int, address: str) -> None:
    """Raise AuditError unless one can listen there, at a name or an address of this machine."""
    if not 0 < port < 65536:
        raise AuditError(f"--port {port}: must be from 1 to 65535")
    try:
        kind, _, _, _, where = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        advice = "choose another --port, or an --address of this machine, as localhost"
        raise AuditError(f"cannot listen on {address}:{port} ({reason}); {advice}") from None


group("user", PEOPLE, "Accounts of the app.\n\nWhoever has the database may do all of it; in the app, managers may.")


@command("user add", PEOPLE, "audit user add mia --role manager", "audit user add ann@example.org --no-password")
def user_add(
    name: Name,
    role: Annotated[str, Told("annotator, adjudicator or manager", "ROLE")] = "annotator",
    languages: Annotated[Sequence[str], Told("that it reads (default: all)", "en,zh", commas=True)] = (),
    no_password: Annotated[bool, Told("it logs in through the identity provider only")] = False,
    db: Database = DATABASE,
) -> Reply:
    """Make an account; its password is asked for.

    Or read from stdin or the environment variable `AUDIT_PASSWORD`; never from the command line."""
    from audit.judging.accounts import add_account

    account = add_account(db.engine, name, role, None if no_password else _ask(), languages=languages)
    return Reply({"account": account.name, "role": account.role})


def _ask() -> str:
    """The password; never from the command line, where other users of the machine would read it."""
    if "AUDIT_PASSWORD" in os.environ:
        return os.environ["AUDIT_PASSWORD"]
    return getpass.getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")


@command("user password", PEOPLE, "audit user password ann --db mine.db")
def user_password(name: Name, db: Database = DATABASE) -> Reply:
    """Give an account another password, and log it out everywhere."""
    from audit.judging.accounts import set_password

    account = set_password(db.engine, name, _ask())
    return Reply({"account": account.name}, [f"Password of {account.name} set; the account is logged out everywhere."])


@command("user token", PEOPLE, "audit user token mia --days 30")
def user_token(
    name: Name,
    role: Annotated[str | None, Told("the most that it may do (default: what the account may)", "ROLE")] = None,
    days: Annotated[int, Told("how long it lasts, 366 at most", "N")] = 90,
    db: Database = DATABASE,
) -> Reply:
    """Make a token, with which a program uses the API as an account (docs/how-to/api.md).

    It is printed once, and nothing keeps it."""
    from datetime import timedelta

    from audit.judging.accounts import person_named
    from audit.judging.sign_in import make_token
    from audit.store import reading, tables

    with reading(db.engine) as connection:
        account = person_named(connection, name)
    token, least = make_token(db.engine, account.id, role, days, by_owner=False), role or account.role
    expires = tables.now() + timedelta(days=days)
    document = {"token": token, "account": account.name, "role": least}
    document["expires"] = expires.isoformat(timespec="minutes")
    return Reply(document, [token, f"It acts for {account.name} with the role {least} until {expires:%Y-%m-%d}."])


@command("user delete", PEOPLE, "audit user delete anna --db mine.db")
def user_delete(name: Name, db: Database = DATABASE) -> Reply:
    """Take a person's name and password away; what they answered stays.

    The account stays, disabled, as `deleted-N`. Their name is free for another account. Older backups and exports
    still have the name."""
    from audit.judging.accounts import delete_person

    left = delete_person(db.engine, name)
    return Reply({"account": left}, [f"{name} is now {left} and cannot log in; judgements and adjudications stay."])
