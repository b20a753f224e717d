"""Fixtures of the app's tests."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from app_driver import Prepared, closed, cookie_of_session, opened_copy, prepare
from app_server import app_server
from browser_driver import Window

from audit.reports.worker import answer_line, read_answer
from audit.ui import annotate, session, workshop


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
    made = prepare(folder / "audit.db")
    with app_server(str(made.path), folder / "log.txt") as address:
        yield address, made


@pytest.fixture
def window(served: tuple[str, Prepared], tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Window]:
    """A browser's window on what the module serves; in English, or in the language of an indirect parameter."""
    with Window(served[0], tmp_path / "profile", getattr(request, "param", "en")) as opened:
        yield opened


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest clicks faster than people read: here, every answer is taken at once."""
    monkeypatch.setattr(annotate, "LEAST", timedelta(0))


@pytest.fixture(autouse=True)
def _cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands for the browser's cookie in AppTest."""
    monkeypatch.setattr(session, "cookie_token", cookie_of_session)


@pytest.fixture(autouse=True)
def _worker_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked of the worker is computed here, by the same lines; the process itself: test_workshop.py."""
    monkeypatch.setattr(workshop.Worker, "_answer", lambda _, line: read_answer(answer_line(line)))
