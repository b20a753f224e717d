"""`audit app` is the server itself: whatever ends it leaves nothing behind."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from app_driver import Prepared
from processes import processes

PATIENCE = 60


def served(port: int) -> bool:
    try:
        return bool(urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1).status == 200)
    except OSError:
        return False


def in_session(leader: int) -> list[int]:
    """Processes of the session that `leader` began and that have not ended."""
    return [one.id for one in processes() if one.session == leader]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_the_command(prepared: Prepared, how: signal.Signals) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "audit.cli", "app", "--db", str(prepared.path), "--port", str(port)]
    server = subprocess.Popen(
        [*command, "--address", "127.0.0.1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=dict(os.environ),
    )
    try:
        end = time.monotonic() + PATIENCE
        while not served(port):
            assert server.poll() is None
            assert time.monotonic() < end
            time.sleep(0.1)
        server.send_signal(how)  # to the command alone, as systemd's KillMode=process or `kill` does
        server.wait(timeout=PATIENCE)
        while in_session(server.pid):
            assert time.monotonic() < end, "a part of the app outlives it"
            time.sleep(0.05)
        assert not served(port)
    finally:
        for left in in_session(server.pid):
            os.kill(left, signal.SIGKILL)
