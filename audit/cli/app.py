"""`audit app`: serve the annotation app."""

import argparse
import errno
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audit.cli.options import add_database, fraction, say, whole

_HOST = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|(?=.*:)[0-9A-Fa-f:.]{2,45}(?:%\w{1,20})?")
"""The form of a name, an IPv4 address, or an IPv6 address."""


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("app", help="serve the app: answer questions, adjudicate, browse, see results")
    add_database(parser)
    parser.add_argument("--port", type=whole, default=8501, metavar="P", help="where to listen (default: 8501)")
    parser.add_argument("--address", default="localhost", help="and at which address (default: localhost only)")
    parser.add_argument(
        "--idle-hours", type=fraction, metavar="H", help="log people out who do nothing for so long (default: 12)"
    )
    parser.add_argument(
        "--login-hours", type=fraction, metavar="H", help="and everybody after so long (default: 168, a week)"
    )
    parser.add_argument("--https", action="store_true", help="people come by https: never send cookies without it")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.annotation.accounts import list_accounts
    from audit.store import open_store

    environment = login_settings(arguments)
    check_port(arguments.port, arguments.address)
    engine = open_store(arguments.db)
    if not list_accounts(engine):
        say(f"There are no accounts yet: make one with `audit user add NAME --role manager --db {arguments.db}`.")
    engine.dispose()
    serve(arguments.db, arguments.port, arguments.address, environment)


def login_settings(arguments: argparse.Namespace) -> dict[str, str]:
    """The options about logging in, as variables of the environment. Raises AuditError for a bad number of hours."""
    from audit.ui import settings

    given = {settings.IDLE: arguments.idle_hours, settings.LONGEST: arguments.login_hours}
    found = {name: str(value) for name, value in given.items() if value is not None}
    if arguments.https:
        found[settings.HTTPS] = "1"
    settings.login_limits({**os.environ, **found})
    return found


def serve(database: str, port: int, address: str = "localhost", environment: Mapping[str, str] | None = None) -> None:
    """Run Streamlit until it is stopped. Raises AuditError for a port that is no port or is taken."""
    from audit.runner.leases import another_python, its_environment
    from audit.ui.settings import arguments

    check_port(port, address)
    say(f"The app is at http://{address}:{port} (stop it with Ctrl-C).")
    command = another_python("-m", "streamlit", "run", str(script()))
    command += [*arguments(port), "--server.address", address]
    _become(command, {**its_environment(), **(environment or {}), "AUDIT_DB": _absolute(database)})


def _become(command: list[str], environment: Mapping[str, str]) -> None:
    """Run a program in the place of this process, so that whatever ends one ends the other, kill -9 included."""
    if os.name == "nt":  # where a process cannot become another one
        subprocess.run(command, env=environment, check=False)
        return
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(command[0], command, environment)


def check_port(port: int, address: str) -> None:
    """Raises AuditError unless one can listen there, at a name or an address of this machine."""
    import socket

    from audit.errors import AuditError

    if not 0 < port < 65536:
        raise AuditError(f"--port {port}: must be from 1 to 65535")
    if not _HOST.fullmatch(address):  # an empty one would be every address of the machine
        raise AuditError(
            f"--address {address[:80]!r}: must be a name or an IP address of this machine, such as localhost or "
            "192.0.2.1; 0.0.0.0 is every one that it has"
        )
    try:
        kind, _, _, _, where = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise AuditError(
            f"--address {address!r}: nobody knows this name ({reason}); localhost is this machine"
        ) from None
    with socket.socket(kind) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(where)
        except OSError as problem:
            if problem.errno == errno.EADDRNOTAVAIL:
                raise AuditError(
                    f"--address {address!r} is no address of this machine; localhost is, and 0.0.0.0 is every one"
                ) from None
            raise AuditError(f"cannot listen on {address}:{port} ({problem.strerror}); choose another --port") from None


def script() -> Path:
    """`app.py`, in a checkout or in an installed package."""
    package = Path(__file__).resolve().parents[1]
    packaged = package / "script" / "app.py"
    return packaged if packaged.exists() else package.parent / "app.py"


def _absolute(database: str) -> str:
    return database if "://" in database else str(Path(database).resolve())
