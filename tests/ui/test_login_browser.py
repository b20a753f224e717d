"""Logging in and out in a real Chromium: back, two tabs."""

import pytest
from browser_driver import Window, until

pytestmark = pytest.mark.browser


def click_log_out(window: Window) -> None:
    until(lambda: window.all(".st-key-log-out button"))[0].click()
    until(lambda: window.all("input[name=password]"))


def at_log_in(window: Window) -> bool:
    return bool(window.all("input[name=password]")) and "/login" in window.driver.current_url


def test_back_after_logging_out_shows_nothing(window: Window) -> None:
    window.log_in("ann")
    until(window.question)
    click_log_out(window)
    window.driver.back()
    until(lambda: at_log_in(window))
    assert not window.question()
    window.driver.forward()
    until(lambda: at_log_in(window))
