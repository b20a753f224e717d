"""A database that is full, locked or damaged under the app: a sentence of ours in both languages, nothing lost."""

import sqlite3
from pathlib import Path

import pytest
from app_driver import PASSWORD, Prepared, open_app, press_answer, rows, said
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.testclient import TestClient

from audit.judging.invitations import Terms, invite
from audit.store import open_store, tables
from audit.ui import session, sign_in_pages

pytestmark = pytest.mark.usefixtures("no_waiting")
REFUSED = {"en": "attempt to write a readonly database", "zh": "数据库拒绝了操作："}
DAMAGED = {"en": "image is malformed", "zh": REFUSED["zh"]}


def take_nothing(engine: Engine, on: bool) -> None:
    """Let nothing be written over the connection that is used next, or everything again."""
    with engine.connect() as connection:
        connection.exec_driver_sql(f"PRAGMA query_only={'ON' if on else 'OFF'}")


def spoil(path: Path) -> None:
    """Other bytes in the place of all pages but the first, also in the log."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_database_that_takes_nothing_is_said_and_judging_goes_on_when_it_does(
    prepared: Prepared, language: str
) -> None:
    app = open_app(prepared.ann, language)
    take_nothing(session.engine(), True)
    press_answer(app, "positive")
    assert REFUSED[language] in said(app)
    assert not rows(prepared, tables.Judgement)
    take_nothing(session.engine(), False)
    app.run()
    press_answer(app, "positive")
    assert REFUSED[language] not in said(app)
    assert len(rows(prepared, tables.Judgement)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_damaged_file_is_said_in_the_page(prepared: Prepared, language: str) -> None:
    app = open_app(prepared.boss, language)
    prepared.engine.dispose()
    session.engine().dispose()
    spoil(prepared.path)
    app.run()
    assert not app.exception
    assert DAMAGED[language] in said(app)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_joining_a_database_that_takes_nothing(
    prepared: Prepared, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = open_store(str(prepared.path))
    link = invite(engine, Terms())
    take_nothing(engine, True)
    monkeypatch.setattr(session, "engine", lambda: engine)
    with TestClient(Starlette(routes=sign_in_pages.routes())) as browser:
        path, fields = f"/join/{link}?lang={language}", {"name": "eve", "password": PASSWORD}
        answer = browser.post(path, data=fields, headers={"Origin": "http://testserver"}, follow_redirects=False)
    assert answer.status_code == 400
    assert REFUSED[language] in answer.text
