"""Logging in and out in a real Chromium: back, two tabs."""

import time

import pytest
from app_driver import Prepared
from browser_driver import Window, until
from sqlalchemy import select

from audit.store import table_of, tables
from audit.ui.language import text_in

pytestmark = pytest.mark.browser


def click_log_out(window: Window) -> None:
    until(lambda: window.all(".st-key-log-out button"))[0].click()
    until(lambda: window.all("input[name=password]"))


def at_log_in(window: Window) -> bool:
    return bool(window.all("input[name=password]")) and "/login" in window.driver.current_url


def judge_in_vain(window: Window) -> None:
    """Press the key of an answer until the page says that nobody is logged in."""

    def refused() -> bool:
        window.all("body")[0].send_keys("1")
        time.sleep(0.3)
        return text_in("en", "app.logged_out") in window.text()

    until(refused)


def judgements(prepared: Prepared) -> int:
    with prepared.engine.connect() as connection:
        return len(connection.execute(select(table_of(tables.Judgement).c.id)).all())


def test_back_after_logging_out_shows_nothing(window: Window) -> None:
    window.log_in("ann")
    until(window.question)
    click_log_out(window)
    window.driver.back()
    until(lambda: at_log_in(window))
    assert not window.question()
    window.driver.forward()
    until(lambda: at_log_in(window))


def test_logging_out_in_one_tab_ends_the_other(served: tuple[str, Prepared], window: Window) -> None:
    window.log_in("ann")
    until(window.question)
    first = window.driver.current_window_handle
    window.driver.switch_to.new_window("tab")
    window.driver.get(served[0])
    until(lambda: window.all(".st-key-gate-begin button"))[0].click()
    until(window.question)
    click_log_out(window)
    before = judgements(served[1])
    window.driver.switch_to.window(first)
    judge_in_vain(window)
    assert judgements(served[1]) == before
    until(lambda: window.all("a.audit-button"))[0].click()
    until(lambda: at_log_in(window))
