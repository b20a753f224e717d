"""Causes by key in a real browser: each key gives one, a held key gives no more."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from app_driver import PASSWORD, Prepared
from app_server import app_server
from browser_driver import Window, until
from sqlalchemy import select

from audit.annotation.accounts import add_account
from audit.judging.adjudications import adjudicate
from audit.store import table_of, tables

pytestmark = pytest.mark.browser


@pytest.fixture
def served(prepared: Prepared, tmp_path: Path) -> Iterator[tuple[str, Prepared]]:
    """Every question is settled, as neutral: whatever system said something is wrong."""
    ada = add_account(prepared.engine, "ada", "adjudicator", PASSWORD).id
    with prepared.engine.connect() as connection:
        ids = connection.execute(select(table_of(tables.Question).c.id)).scalars().all()
    for id in ids:
        adjudicate(prepared.engine, ada, id, ["neutral"], "for a test")
    with app_server(str(prepared.path), tmp_path / "app.log") as address:
        yield address, prepared


def codes(prepared: Prepared) -> list[str]:
    table = table_of(tables.Cause)
    with prepared.engine.connect() as connection:
        return list(connection.execute(select(table.c.code).order_by(table.c.id)).scalars())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_keys_give_causes_and_z_takes_one_back(served: tuple[str, Prepared], tmp_path: Path, language: str) -> None:
    address, prepared = served
    with Window(address, tmp_path / "profile", language) as window:
        window.log_in("judge")
        window.click('[role="radio"]', {"en": "Causes", "zh": "原因"}[language])
        until(lambda: window.all(".st-key-judge button"))
        window.press("1")
        until(lambda: codes(prepared) == ["all_wrong"])
        window.see({"en": "Stored: Wrong on every side", "zh": "已保存：各处输出全错"}[language])
        window.hold("3", 1.0)
        until(lambda: codes(prepared) == ["all_wrong", "relation_loose"])
        window.see({"en": "Stored: Relation too loose", "zh": "已保存：蜕变关系太宽松"}[language])
        assert len(codes(prepared)) == 2
        window.press("z")
        until(lambda: codes(prepared) == ["all_wrong", "relation_loose", "taken_back"])
        below = window.script("return document.querySelector('.st-key-judge').getBoundingClientRect().bottom")
        assert below <= 720
