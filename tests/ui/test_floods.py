"""Floods of a real `audit app`: connections that do nothing, frames and uploads that are too large.

What the app's process holds is compared before and after; that it answers is looked at during the flood.
"""

import gc
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import psutil
import pytest
import requests
import websockets
from app_driver import Prepared, prepare
from app_server import app_server, healthy
from browser_driver import until
from http_driver import Browser, Served
from socket_driver import session
from streamlit.proto.BackMsg_pb2 import BackMsg

from audit.ui.gate import ConnectionLimits

pytestmark = pytest.mark.slow
IDLE = 300
STEADY = 10
"""Per cent by which the app's memory may have grown after a flood."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Prepared]]:
    folder = tmp_path_factory.mktemp("floods")
    prepared = prepare(folder / "audit.db")
    people = {name: getattr(prepared, name).id for name in ("ann", "ben", "judge", "boss")}
    # As an ordinary login of a person has it: 1,024 open files, and leave to have more.
    with app_server(str(prepared.path), folder / "log.txt", open_files=1_024) as address:
        yield Served(address, prepared.engine, folder / "log.txt", people), prepared


@pytest.fixture
def served(world: tuple[Served, Prepared]) -> Served:
    """The app after somebody has worked with it, so that what it loads once is loaded."""
    for _ in range(5):
        with session(world[0].address, cookie(world[0], "boss")) as work:
            work.open(work.open().pages["results"])
    return world[0]


def cookie(served: Served, name: str) -> str:
    browser = Browser(served)
    browser.be(name)
    return f"audit_login_{served.port}={browser.token}"


def process_of(served: Served) -> psutil.Process:
    """The app's own process."""
    return next(
        process for process in psutil.Process().children(recursive=True) if str(served.port) in process.cmdline()
    )


def held(served: Served) -> int:
    """Bytes of its memory."""
    return int(process_of(served).memory_info().rss)


def log_size(served: Served) -> int:
    return served.log.stat().st_size


def test_three_hundred_idle_connections_of_a_stranger(served: Served) -> None:
    """Of all kinds that a stranger can have: silent ones, half a request, websockets that are refused."""
    gc.collect()
    memory, log = held(served), log_size(served)
    place = (urlsplit(served.address).hostname, served.port)
    with ExitStack() as flood:
        for number in range(IDLE):
            idle = flood.enter_context(socket.create_connection(place, timeout=20))
            if number % 2:
                idle.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-")
        for _ in range(IDLE):
            with suppress(websockets.exceptions.InvalidStatus), session(served.address, "a=b"):
                pytest.fail("a stranger was let in")
        for _ in range(5):
            assert healthy(served.address)
        with session(served.address, cookie(served, "ann")) as work:
            assert any("judge-" in key for key in work.open().widgets)
    assert held(served) < memory * (1 + STEADY / 100)
    assert log_size(served) - log < 10_000


def test_connections_of_an_account_have_an_end(served: Served) -> None:
    sent = cookie(served, "ben")
    with ExitStack() as flood:
        for _ in range(ConnectionLimits().account):
            flood.enter_context(session(served.address, sent))
        with pytest.raises(websockets.exceptions.InvalidStatus), session(served.address, sent):
            pass
        with session(served.address, cookie(served, "ann")) as work:
            assert work.open().widgets


def test_frames_and_states_without_end(served: Served) -> None:
    """Forty states of widgets of 10 MB by somebody who is logged in: each ends its connection, none is kept."""
    sent = cookie(served, "ann")
    gc.collect()
    memory, log = held(served), log_size(served)
    for number in range(40):
        message = BackMsg()
        state = message.rerun_script.widget_states.widgets.add()
        state.id, state.string_value = f"no-widget-{number}", "x" * (10_000_000 if number % 2 else 3_000_000)
        with session(served.address, sent) as work, pytest.raises(websockets.exceptions.ConnectionClosed):
            work.send(message)
    assert healthy(served.address)
    assert held(served) < memory * (1 + STEADY / 100)
    assert log_size(served) - log < 10_000


def test_messages_that_clear_caches_change_nothing(served: Served) -> None:
    """Streamlit would forget every engine and report, and each visitor would begin new ones."""
    memory = held(served)
    threads = process_of(served).num_threads()
    with session(served.address, cookie(served, "ann")) as work:
        work.open()
        for _ in range(200):
            work._socket.send(BackMsg(clear_cache=True).SerializeToString())
        assert work.open().widgets
    assert held(served) < memory * (1 + STEADY / 100)
    assert process_of(served).num_threads() <= threads + 2


def test_uploads_of_a_stranger_and_of_a_manager(served: Served) -> None:
    gc.collect()
    memory = held(served)
    for name in ("", "", "boss", "boss"):
        browser = Browser(served)
        if name:
            browser.be(name)
        with suppress(requests.ConnectionError):  # the server hangs up in the middle
            address = f"{served.address}/_stcore/upload_file/x/y"
            assert browser.put(address, data=b"x" * (190 << 20), timeout=60).status_code in (403, 413)
    until(lambda: held(served) < memory * (1 + STEADY / 100))  # what was sent is dropped
    assert healthy(served.address)
