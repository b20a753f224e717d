"""Fixtures of the app's tests."""

from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest
from app_driver import Prepared, closed, cookie_of_session, opened_copy, prepare
from app_server import app_server
from browser_driver import Window
from streamlit import config
from streamlit.components.v2 import manifest_scanner

from audit.runner.executors import InProcess
from audit.ui import background_cache, question, session


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """The database that every test gets a copy of."""
    return closed(prepare(tmp_path_factory.mktemp("app") / "audit.db"))


@pytest.fixture
def prepared(original: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    """A database of its own for each test, which the app opens."""
    return opened_copy(original, tmp_path / "audit.db", monkeypatch)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    """Address of a running `audit app`, and its database; a module that needs another one has its own."""
    folder = tmp_path_factory.mktemp("served")
    prepared = prepare(folder / "audit.db")
    with app_server(str(prepared.path), folder / "log.txt") as address:
        yield address, prepared


@pytest.fixture
def window(served: tuple[str, Prepared], tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Window]:
    """A browser's window on what the module serves; in English, or in the language of an indirect parameter."""
    with Window(served[0], tmp_path / "profile", getattr(request, "param", "en")) as opened:
        yield opened


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest clicks faster than people read: here, every answer is taken at once."""
    monkeypatch.setattr(question, "LEAST", timedelta(0))


@pytest.fixture(scope="session", autouse=True)
def _streamlit_begins_once() -> Iterator[None]:
    """What Streamlit does once when the app is started, AppTest does for every test: it reads the metadata of every
    package there is, looking for components, which took most of a test's time. Here they are read once. And garbage is
    collected as in the app (`audit.ui.server.lifespan`), not after every click."""
    option = "runner.postScriptGC"
    before = config.get_option(option), config.get_where_defined(option)
    config.set_option(option, False, "tests")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield
    config.set_option(option, *before)


@pytest.fixture(autouse=True)
def _cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands for the browser's cookie in AppTest."""
    monkeypatch.setattr(session, "cookie_token", cookie_of_session)


@pytest.fixture(autouse=True)
def _worker_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked of another process is computed here; the process itself: test_worker.py."""
    monkeypatch.setattr(background_cache, "_process", InProcess)
