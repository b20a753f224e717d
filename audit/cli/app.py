"""`audit app`: serve the annotation app."""

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audit.cli.options import add_database, fraction, say, whole


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
    settings.limits({**os.environ, **found})
    return found


def serve(database: str, port: int, address: str = "localhost", environment: Mapping[str, str] | None = None) -> None:
    """Run Streamlit until it is stopped. Raises AuditError for a port that is no port or is taken."""
    from audit.ui.flags import arguments

    check_port(port, address)
    say(f"The app is at http://{address}:{port} (stop it with Ctrl-C).")
    command = [sys.executable, "-m", "streamlit", "run", str(script())]
    command += [*arguments(port), "--server.address", address]
    _become(command, {**os.environ, **(environment or {}), "AUDIT_DB": _absolute(database)})


def _become(command: list[str], environment: Mapping[str, str]) -> None:
    """Run a program in the place of this process, so that whatever ends one ends the other, kill -9 included."""
    if os.name == "nt":  # where a process cannot become another one
        subprocess.run(command, env=environment, check=False)
        return
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(command[0], command, environment)


def check_port(port: int, address: str) -> None:
    """Raises AuditError unless one can listen there."""
    import socket

    from audit.errors import AuditError

    if not 0 < port < 65536:
        raise AuditError(f"--port {port}: must be from 1 to 65535")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as problem:
            raise AuditError(f"cannot listen on {address}:{port} ({problem.strerror}); choose another --port") from None


def script() -> Path:
    """`app.py`, in a checkout or in an installed package."""
    package = Path(__file__).resolve().parents[1]
    packaged = package / "script" / "app.py"
    return packaged if packaged.exists() else package.parent / "app.py"


def _absolute(database: str) -> str:
    return database if "://" in database else str(Path(database).resolve())
