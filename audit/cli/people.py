"""People: the app that they use, and their accounts."""

import errno
import getpass
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from audit.cli.console import Reply, say, tell, visible
from audit.cli.options import DATABASE, PEOPLE, START, Database, command, group
from audit.errors import AuditError
from audit.options import Told

Name = Annotated[str, Told("of the account", "NAME", argument=True)]


@command("app", START, "audit app --db mine.db --port 8600", "audit app --login-hours 24 --https")
def serve_app(
    db: Database = DATABASE,
    port: Annotated[int, Told("where to listen", "P")] = 8501,
    address: Annotated[
        str, Told("a name or address of this machine where to listen; 0.0.0.0 is every one that it has", "ADDRESS")
    ] = "localhost",
    login_hours: Annotated[float | None, Told("log people out after so long (default: 168, a week)", "H")] = None,
    https: Annotated[bool, Told("people come by https: never send cookies without it")] = False,
    systems: Annotated[
        Sequence[str],
        Told("Python files of this folder whose functions studies may choose as systems", "mine.py"),
    ] = (),
) -> None:
    """Serve the app: answer, adjudicate, browse, see results.

    It listens on this machine only unless told otherwise, and stops with Ctrl-C or SIGTERM. Where there is no database,
    it makes one; where no manager can log in, it prints a link that makes the first one's account.
    """
    from audit.judging.invitations import first_account_link
    from audit.store.engine import file_of

    environment = login_settings(login_hours, https) | served_files(systems)
    check_port(port, address)
    file = file_of(db)
    is_new = file is not None and not file.exists()
    engine = db.open(create=True)
    secret = first_account_link(engine)
    engine.dispose()
    if is_new:
        say(f"There was no database {db}; a new one is there now.")
    if secret is not None:
        host = "localhost" if address == "0.0.0.0" else f"[{address}]" if ":" in address else address
        say(
            "No manager can log in yet. This link makes the first manager's account, once, within 7 days:\n"
            f"  http://{host}:{port}/join/{secret}"
        )
    serve(db, port, address, environment)


def login_settings(login_hours: float | None, https: bool) -> dict[str, str]:
    """Return the options about logging in as variables of the environment."""
    from audit.ui import settings

    variables = {settings.HTTPS: "1"} if https else {}
    if login_hours is not None:
        variables[settings.LOGIN_HOURS] = str(login_hours)
    settings.login_lasts({**os.environ, **variables})
    return variables


def served_files(files: Sequence[str]) -> dict[str, str]:
    """Return the option about own systems as a variable; processes that run a study import them from this folder."""
    from audit.studies.own_systems import FILES

    for file in files:
        if Path(file).suffix != ".py" or not Path(Path(file).name).is_file():
            raise AuditError(f"--systems {file!r}: must be a Python file in the folder where the app is started")
    return {FILES: os.pathsep.join(str(Path(file).name) for file in files)} if files else {}


def serve(database: str, port: int, address: str = "localhost", environment: Mapping[str, str] | None = None) -> None:
    """Run Streamlit until it is stopped. Raises AuditError for a port that is no port or is taken."""
    from audit.runner.underway import another_python, its_environment
    from audit.ui.settings import arguments

    check_port(port, address)
    say(f"The app is at http://{address}:{port} (stop it with Ctrl-C).")
    words = another_python("-m", "streamlit", "run", str(script()))
    words += [*arguments(port), "--server.address", address]
    _become(
        words,
        {
            **its_environment(),
            **(environment or {}),
            "AUDIT_DB": database if "://" in database else os.path.realpath(database),
        },
    )


def _become(words: list[str], environment: Mapping[str, str]) -> None:
    """Run a program in the place of this process, so that whatever ends one ends the other, kill -9 included."""
    if os.name == "nt":  # where a process cannot become another one
        subprocess.run(words, env=environment, check=False)
        return
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(words[0], words, environment)


def check_port(port: int, address: str) -> None:
    """Raises AuditError unless one can listen there, at a name or an address of this machine."""
    import socket

    if not 0 < port < 65536:
        raise AuditError(f"--port {port}: must be from 1 to 65535")
    try:
        kind, _, _, _, where = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except (OSError, UnicodeError) as problem:
        if isinstance(problem, socket.gaierror) or getattr(problem, "errno", None) == errno.EADDRNOTAVAIL:
            raise AuditError(f"--address {address!r} is no address of this machine; localhost is") from None
        reason = getattr(problem, "strerror", None) or problem
        raise AuditError(f"cannot listen on {address}:{port} ({reason}); choose another --port") from None


def script() -> Path:
    """`app.py`, in a checkout or in an installed package."""
    package = Path(__file__).resolve().parents[1]
    packaged = package / "script" / "app.py"
    return packaged if packaged.exists() else package.parent / "app.py"


group(
    "user",
    PEOPLE,
    "Accounts of the app.\n\nWhoever has the database may do all of it; in the app, managers may.",
)


@command(
    "user add",
    PEOPLE,
    "audit user add mia --role manager --db mine.db",
    "audit user add ann@example.org --no-password --languages en,zh",
)
def user_add(
    name: Name,
    role: Annotated[str, Told("annotator, adjudicator or manager", "ROLE")] = "annotator",
    languages: Annotated[Sequence[str], Told("that it reads (default: all)", "en,zh", commas=True)] = (),
    no_password: Annotated[bool, Told("it logs in through the identity provider (docs/how-to/app.md) only")] = False,
    db: Database = DATABASE,
) -> None:
    """Make an account; its password is asked for.

    Or read from stdin or the environment variable `AUDIT_PASSWORD`; never from the command line, where others could
    read it. It has 8 characters or more.
    """
    from audit.judging.accounts import account_details, add_account, stored_name

    engine = db.engine
    taken = next((account for account in account_details(engine) if account.name == stored_name(name)), None)
    if taken and taken.disabled and not taken.has_password:
        raise AuditError(
            f"there is an account {taken.name!r} already, which cannot log in, as those of imported labels; choose "
            "another name, or give this one a password and let it in on the page Accounts of the app"
        )
    password = None if no_password else _ask()
    account = add_account(engine, name, role, password, languages=languages)
    tell(visible(f"Account {account.name} ({account.role}) made."))


def _ask() -> str:
    """The password; never from the command line, where other users of the machine would read it."""
    if "AUDIT_PASSWORD" in os.environ:
        return os.environ["AUDIT_PASSWORD"]
    if sys.stdin.isatty():
        return getpass.getpass("Password: ")
    return sys.stdin.readline().rstrip("\n")


@command("user password", PEOPLE, "audit user password ann --db mine.db")
def user_password(name: Name, db: Database = DATABASE) -> None:
    """Give an account another password, and log it out everywhere."""
    from audit.judging.accounts import set_password

    engine = db.engine
    account = set_password(engine, name, _ask())
    tell(visible(f"Password of {account.name} set; the account is logged out everywhere."))


@command("user token", PEOPLE, "audit user token mia --days 30")
def user_token(
    name: Name,
    role: Annotated[
        str | None,
        Told("the most that it may do: annotator, adjudicator or manager (default: what the account may)", "ROLE"),
    ] = None,
    days: Annotated[int, Told("how long it lasts, 366 at most", "N")] = 90,
    db: Database = DATABASE,
) -> Reply:
    """Make a token, with which a program uses the API as an account.

    It is printed once, and nothing keeps it. *Account* in the app ends all tokens of an account; so do disabling it and
    setting its password.
    """
    from datetime import timedelta

    from audit.judging.accounts import person_named
    from audit.judging.sign_in import make_token
    from audit.store import reading, tables

    engine = db.engine
    with reading(engine) as connection:
        account = person_named(connection, name)
    token, least = make_token(engine, account.id, role, days, by_owner=False), role or account.role
    expires = tables.now() + timedelta(days=days)
    document = {
        "token": token,
        "account": account.name,
        "role": least,
        "expires": expires.isoformat(timespec="minutes"),
    }
    return Reply(document, [token, f"It acts for {account.name} with the role {least} until {expires:%Y-%m-%d}."])


@command("user delete", PEOPLE, "audit user delete anna --db mine.db")
def user_delete(name: Name, db: Database = DATABASE) -> None:
    """Take a person's name and password away; what they answered stays.

    The account stays, disabled, as `deleted-N`, and its answers count, comments included, since the history is
    append-only. Their name is free for another account.
    """
    from audit.judging.accounts import delete_person

    left = delete_person(db.engine, name)
    kept = "judgements and adjudications stay. Older backups and exports still have the name."
    tell(visible(f"{name} is now {left} and cannot log in; {kept}"))
