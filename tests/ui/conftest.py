"""Fixtures of the app's tests."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from app_driver import Prepared, cookie_of_session, prepare

from audit.reports.worker import answer_line, read_answer
from audit.store import open_store
from audit.ui import session, workshop


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """The database that every test gets a copy of."""
    made = prepare(tmp_path_factory.mktemp("app") / "audit.db")
    with made.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    made.engine.dispose()
    return made


@pytest.fixture
def prepared(original: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    """A database of its own for each test, which the app opens."""
    path = tmp_path / "audit.db"
    shutil.copy(original.path, path)
    monkeypatch.setenv("AUDIT_DB", str(path))
    return replace(original, engine=open_store(str(path)), path=path)


@pytest.fixture(autouse=True)
def _cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands for the browser's cookie in AppTest."""
    monkeypatch.setattr(session, "cookie_token", cookie_of_session)


@pytest.fixture(autouse=True)
def _worker_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked of the worker is computed here, by the same lines; the process itself: test_workshop.py."""
    monkeypatch.setattr(workshop.Worker, "_answer", lambda _, line: read_answer(answer_line(line)))
