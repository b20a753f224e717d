"""A real Chromium on a running app."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from app_driver import PASSWORD, Prepared
from app_server import app_server
from sqlalchemy import select

from audit.store import table_of, tables

PATIENCE = 60
_BEGIN = """
setInterval(() => {
  const button = document.querySelector(".st-key-gate-begin button");
  if (button && !button.dataset.clicked) { button.dataset.clicked = 1; button.click(); }
}, 50);
"""
"""Begins as soon as a guideline asks for it."""


def _found(*names: str) -> str | None:
    return next((path for name in names if (path := shutil.which(name))), None)


@contextmanager
def streamlit_server(prepared: Prepared, port: int | None = None) -> Iterator[tuple[str, Prepared]]:
    """Serve the database; gives the address, and the database again."""
    with app_server(str(prepared.path), prepared.path.with_suffix(".log"), port=port) as address:
        yield address, prepared


def until(condition: Any, patience: float = PATIENCE) -> Any:
    """The first true value of the condition; fails after so many seconds, in which it looks 600 times at most."""
    end = time.monotonic() + patience
    while not (value := condition()):
        if time.monotonic() > end:
            pytest.fail("the page did not come to show what was waited for")
        time.sleep(patience / 600)
    return value


class Window:
    """A Chromium window on the app, of somebody who reads this language of the app; ends with its `with`. `reads`: the
    guideline before the first question of a kind stays until somebody begins."""

    def __init__(self, address: str, profile: Path, language: str = "en", reads: bool = False):
        language = {"zh": "zh-CN"}.get(language, language)
        webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
        chromium, driver = _found("chromium", "chromium-browser", "google-chrome"), _found("chromedriver")
        if not chromium or not driver:
            pytest.skip("chromium or chromedriver is not installed")
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        options.add_experimental_option("prefs", {"intl.accept_languages": language})
        for flag in (
            "headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
            "disable-component-update", "disable-sync", "disable-dev-shm-usage", "window-size=1280,720",
            f"lang={language}", f"user-data-dir={profile}",
        ):  # fmt: skip
            options.add_argument(f"--{flag}")
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        if not reads:
            self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _BEGIN})
        self.driver.get(address)

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_: object) -> None:
        self.driver.quit()

    def script(self, code: str) -> Any:
        return self.driver.execute_script(code)

    def text(self) -> str:
        return str(self.script("return document.body.innerText"))

    def see(self, what: str) -> None:
        until(lambda: what in self.text())

    def log_in(self, name: str) -> None:
        until(lambda: len(self.all("input")) >= 2)
        who, password = self.all("input")[:2]
        who.send_keys(name)
        password.send_keys(PASSWORD + "\n")
        until(lambda: self.all(".st-key-log-out"))

    def resize(self, width: int, height: int) -> None:
        """Have a screen of so many pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def in_view(self, selector: str) -> bool:
        """Whether the end of this element is on the screen."""
        code = f"const b = document.querySelector('{selector}').getBoundingClientRect();"
        return bool(self.script(f"{code} return b.bottom <= window.innerHeight && b.right <= window.innerWidth"))

    def picture(self, name: str) -> None:
        """Keep what is on the screen, for looking at, in the folder `AUDIT_PICTURES` if there is one."""
        if folder := os.environ.get("AUDIT_PICTURES"):
            time.sleep(0.5)
            self.driver.save_screenshot(str(Path(folder) / f"{name}.png"))

    def all(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def click(self, selector: str, text: str) -> None:
        """Click the first element of this kind that ends with this text (an icon is before it), once it is there."""
        code = (
            "return [...document.querySelectorAll(arguments[0])].find(e => e.innerText.trim().endsWith(arguments[1]))"
        )
        element = until(lambda: self.driver.execute_script(code, selector, text))
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", element)

    def question(self) -> str | None:
        """The text on the screen."""
        return self.script("const e = document.querySelector('.audit-large'); return e && e.innerText")

    def press(self, key: str) -> None:
        """Press a key, not sooner than the page takes one."""
        time.sleep(0.4)
        self.all("body")[0].send_keys(key)

    def judge(self, key: str) -> None:
        """Press a key, and see the next question."""
        before = self.question()
        self.press(key)
        until(lambda: self.question() not in (None, before))

    def hold(self, key: str, seconds: float) -> None:
        """Hold a digit or a small letter down, with the delay and the repeats of a keyboard."""
        code = f"Digit{key}" if key.isdigit() else f"Key{key.upper()}"
        number = ord(key.upper())
        event = {"type": "keyDown", "key": key, "code": code, "windowsVirtualKeyCode": number, "text": key}
        time.sleep(0.3)
        self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", event)
        time.sleep(0.5)
        for _ in range(int(seconds * 30)):
            self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {**event, "autoRepeat": True})
            time.sleep(1 / 30)
        self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {**event, "type": "keyUp"})


def judgements(prepared: Prepared, account: int) -> list[str]:
    """What this account answered, from the first to the last; `withdrawn` where it was undone."""
    judgement = table_of(tables.Judgement)
    with prepared.engine.connect() as connection:
        query = select(judgement.c.answer).where(judgement.c.annotator_id == account).order_by(judgement.c.id)
        return list(connection.execute(query).scalars())
