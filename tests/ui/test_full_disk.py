"""A disk that is really full under a real `audit app`: nothing is acknowledged that is not stored, and work goes on
when there is room."""

import shutil
import time
from pathlib import Path

import pytest
from app_driver import PASSWORD, closed, prepare
from app_server import app_server
from http_driver import Browser, Served
from socket_driver import Screen, Session, session

from audit.exchange.doctor import doctor
from audit.store import open_store, table_of, tables
from audit.ui.annotate import LEAST

pytestmark = pytest.mark.slow  # a server of its own, and a file system

FULL = "database or disk is full"


def judged(served: Served) -> list[int]:
    """The questions that have an answer in the database."""
    table = table_of(tables.Judgement)
    with served.engine.connect() as connection:
        return [row.question_id for row in connection.execute(table.select().order_by(table.c.id))]


def answer(work: Session, screen: Screen) -> tuple[int, Screen]:
    """The question on the screen, and the screen after it was answered by a button."""
    time.sleep(2 * LEAST.total_seconds())
    id = screen.id("judge-")
    return int(id.split("judge-")[1].split("-")[0]), work.press(screen, id)


def test_what_is_acknowledged_is_stored_and_the_rest_is_told(small_disk, tmp_path: Path) -> None:
    small_disk.resize("20m")
    prepared = closed(prepare(tmp_path / "audit.db"))
    database = small_disk.folder / "audit.db"
    shutil.copy(prepared.path, database)
    people = {name: getattr(prepared, name).id for name in ("ann", "ben")}
    log = tmp_path / "log.txt"
    with app_server(str(database), log) as address:
        served = Served(address, open_store(str(database)), log, people)
        browser = Browser(served)
        browser.be("ann")
        with session(address, f"audit_login_{served.port}={browser.token}") as work:
            first, screen = answer(work, work.open())
            acknowledged = [first]
            assert judged(served) == acknowledged
            small_disk.fill()
            for _ in range(20):  # the log of the database may have room for some
                question, after = answer(work, screen)
                if judged(served) == acknowledged:
                    break
                acknowledged.append(question)
                assert judged(served) == acknowledged
                screen = after
            assert any(FULL in line for line in after.said)
            assert Browser(served).enter("ben", PASSWORD).status_code == 303  # a login stores nothing
            small_disk.free()
            again, after = answer(work, work.open())
            assert again == question
            assert judged(served) == [*acknowledged, question]
        served.engine.dispose()
    assert "Traceback" not in log.read_text(encoding="utf-8")
    assert [
        finding for finding in doctor(str(database)) if not finding.ok and finding.check not in ("disk", "queue")
    ] == []
