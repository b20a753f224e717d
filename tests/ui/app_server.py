"""A real `audit app` in a process of its own."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 120


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def app_server(
    database: str,
    log: Path,
    *options: str,
    environment: dict[str, str] | None = None,
    base: str = "",
    folder: Path | None = None,
    port: int | None = None,
) -> Iterator[str]:
    """Serve the database, started in `folder`; gives the address. What the server prints goes to `log`."""
    port = port or free_port()
    command = [sys.executable, "-m", "audit", "app", "--db", database, "--port", str(port)]
    command += ["--address", "127.0.0.1", *options]
    with log.open("wb") as printed:
        server = subprocess.Popen(
            command, env={**os.environ, **(environment or {})}, stdout=printed, stderr=subprocess.STDOUT,
            start_new_session=True, cwd=folder,
        )  # fmt: skip
        address = f"http://127.0.0.1:{port}{base}"
        try:
            end = time.monotonic() + PATIENCE
            while not healthy(address):
                if server.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"the app does not answer: {log.read_text(encoding='utf-8')}")
                time.sleep(0.05)
            yield address
        finally:
            # Streamlit is a child of the command; both are in the session that was begun for them.
            os.killpg(server.pid, 15)
            server.wait(timeout=PATIENCE)


def healthy(address: str) -> bool:
    """Whether an app answers there."""
    try:
        return bool(urllib.request.urlopen(f"{address}/_stcore/health", timeout=10).status == 200)
    except OSError:
        return False
