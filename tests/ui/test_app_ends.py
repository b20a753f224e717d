"""`audit app` is the server itself: whatever ends it leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from app_driver import Prepared
from app_server import free_port, healthy
from processes import processes

PATIENCE = 60


def in_session(leader: int) -> list[int]:
    """Processes of the session that `leader` began and that have not ended."""
    return [process.id for process in processes() if process.session == leader]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_the_command(prepared: Prepared, how: signal.Signals) -> None:
    port = free_port()
    command = [sys.executable, "-m", "audit", "app", "--db", str(prepared.path), "--port", str(port)]
    server = subprocess.Popen(
        [*command, "--address", "127.0.0.1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, env=dict(os.environ),
    )  # fmt: skip
    try:
        end = time.monotonic() + PATIENCE
        while not healthy(f"http://127.0.0.1:{port}"):
            assert server.poll() is None
            assert time.monotonic() < end
            time.sleep(0.1)
        server.send_signal(how)  # to the command alone, as systemd's KillMode=process or `kill` does
        server.wait(timeout=PATIENCE)
        while in_session(server.pid):
            assert time.monotonic() < end, "a part of the app outlives it"
            time.sleep(0.05)
        assert not healthy(f"http://127.0.0.1:{port}")
    finally:
        for left in in_session(server.pid):
            os.kill(left, signal.SIGKILL)
