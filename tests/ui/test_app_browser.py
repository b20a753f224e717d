"""The app in a real Chromium: what AppTest cannot press, paint or escape."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from app_driver import APP, HOSTILE, PASSWORD, TEXTS, Prepared, prepare
from group_driver import names, prepare_groups, to_group
from sqlalchemy import select

from audit.annotation.judging import adjudicate
from audit.false_satisfaction.questions import refresh
from audit.store import table_of, tables
from audit.ui.flags import arguments
from audit.ui.language import text_in

pytestmark = pytest.mark.browser
PATIENCE = 20


def _found(*names: str) -> str | None:
    return next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    """Address of a running app, and its database."""
    with _serving(prepare(tmp_path_factory.mktemp("browser") / "audit.db")) as served:
        yield served


@contextmanager
def _serving(made: Prepared) -> Iterator[tuple[str, Prepared]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(APP), *arguments(port), "--server.address", "127.0.0.1"]
    server = subprocess.Popen(
        command, env={**os.environ, "AUDIT_DB": str(made.path)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _until(lambda: _healthy(address))
        yield address, made
    finally:
        server.terminate()
        server.wait(timeout=10)


def _healthy(address: str) -> bool:
    try:
        return urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).status == 200
    except OSError:
        return False


def _until(condition: Any) -> Any:
    """The first true value of the condition; fails after `PATIENCE` seconds."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        if time.monotonic() > end:
            pytest.fail("the page did not come to show what was waited for")
        time.sleep(0.03)
    return value


class Window:
    """A Chromium window on the app."""

    def __init__(self, address: str, profile: Path, language: str = "en"):
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
        self.driver.get(address)

    def script(self, code: str) -> Any:
        return self.driver.execute_script(code)

    def text(self) -> str:
        return str(self.script("return document.body.innerText"))

    def see(self, what: str) -> None:
        _until(lambda: what in self.text())

    def log_in(self, name: str) -> None:
        _until(lambda: len(self.all("input")) >= 2)
        who, password = self.all("input")[:2]
        who.send_keys(name)
        password.send_keys(PASSWORD + "\n")
        _until(lambda: self.all(".st-key-log-out"))

    def all(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def click(self, selector: str, text: str) -> None:
        """Click the first element of this kind that ends with this text (an icon is before it), once it is there."""
        code = (
            "return [...document.querySelectorAll(arguments[0])].find(e => e.innerText.trim().endsWith(arguments[1]))"
        )
        found = _until(lambda: self.driver.execute_script(code, selector, text))
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", found)

    def question(self) -> str | None:
        """The text on the screen."""
        return self.script("const e = document.querySelector('.audit-large'); return e && e.innerText")

    def judge(self, key: str) -> None:
        """Press a key, and see the next question."""
        before = self.question()
        time.sleep(0.3)
        self.all("body")[0].send_keys(key)
        _until(lambda: self.question() not in (None, before))

    def hold(self, key: str, seconds: float) -> None:
        """Hold a digit down, with the delay and the repeats of a keyboard."""
        event = {"type": "keyDown", "key": key, "code": f"Digit{key}", "windowsVirtualKeyCode": ord(key), "text": key}
        time.sleep(0.3)
        self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", event)
        time.sleep(0.5)
        for _ in range(int(seconds * 30)):
            self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {**event, "autoRepeat": True})
            time.sleep(1 / 30)
        self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {**event, "type": "keyUp"})


@pytest.fixture
def window(served: tuple[str, Prepared], tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Window]:
    opened = Window(served[0], tmp_path / "profile", getattr(request, "param", "en"))
    yield opened
    opened.driver.quit()


def _judgements(made: Prepared, account: int) -> list[str]:
    judgement = table_of(tables.Judgement)
    with made.engine.connect() as connection:
        query = select(judgement.c.answer).where(judgement.c.annotator_id == account).order_by(judgement.c.id)
        return list(connection.execute(query).scalars())


def test_keys_judge_a_held_key_judges_once_and_z_undoes(served: tuple[str, Prepared], window: Window) -> None:
    made = served[1]
    window.log_in("ann")
    _until(window.question)
    window.judge("1")
    window.judge("3")
    window.judge("u")
    assert _judgements(made, made.ann.id) == ["positive", "negative", "unsure"]
    window.hold("2", seconds=1)
    window.see("4 today")
    time.sleep(0.3)
    assert _judgements(made, made.ann.id) == ["positive", "negative", "unsure", "neutral"]
    window.judge("z")
    assert _judgements(made, made.ann.id)[-1] == "withdrawn"
    window.see("3 today")


def test_a_double_click_judges_once(served: tuple[str, Prepared], window: Window) -> None:
    made = served[1]
    before = len(_judgements(made, made.judge.id))
    window.log_in("judge")
    next(link for link in window.all('[data-testid="stSidebarNavLink"]') if "Judge" in link.text).click()
    _until(window.question)
    time.sleep(0.4)
    button = next(one for one in window.all(".st-key-judge button") if "Neutral" in one.text)
    from selenium.webdriver import ActionChains

    ActionChains(window.driver).double_click(button).perform()
    window.see("1 today")
    time.sleep(0.5)
    assert len(_judgements(made, made.judge.id)) == before + 1


@pytest.mark.parametrize("window", ["zh-CN"], indirect=True)
def test_chinese_and_a_hostile_text(served: tuple[str, Prepared], window: Window) -> None:
    window.see(text_in("zh", "welcome.what"))
    window.log_in("ben")
    window.see(text_in("zh", "task.sentiment.question"))
    _until(window.question)
    seen = []
    for _ in TEXTS:
        seen.append(window.question())
        if "alert" in str(seen[-1]):
            break
        window.judge("2")
    assert seen[-1] == HOSTILE
    assert window.script("return document.querySelectorAll('.audit-large b, .audit-large script').length") == 0


@pytest.fixture(scope="module")
def served_groups(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    """As `served`, with groups asked about."""
    with _serving(prepare_groups(tmp_path_factory.mktemp("groups") / "audit.db")) as served:
        yield served


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_group_is_judged_by_key(served_groups: tuple[str, Prepared], tmp_path: Path, language: str) -> None:
    address, made = served_groups
    account, name = {"en": (made.ann, "ann"), "zh": (made.ben, "ben")}[language]
    shown = to_group(made, account.id)
    window = Window(address, tmp_path / "profile", {"en": "en", "zh": "zh-CN"}[language])
    try:
        window.log_in(name)
        window.see(text_in(language, "group.question"))
        _until(lambda: window.all(".audit-members"))
        texts = window.script("return document.querySelector('.audit-members').innerText")
        assert all(member.input.text in texts for member in shown.group.members)
        # Neither a system nor a verdict is anywhere in the page that the browser got.
        page = str(window.script("return document.documentElement.outerHTML")).replace(str(made.path), "")
        assert not any(word in page for word in (*names(made), "satisfied", "violated"))
        buttons = window.script("return document.querySelector('.st-key-judge').getBoundingClientRect().bottom")
        assert buttons <= window.script("return window.innerHeight")
        if folder := os.environ.get("AUDIT_PICTURES"):
            window.driver.save_screenshot(str(Path(folder) / f"group-{language}.png"))
        before = len(_judgements(made, account.id))
        time.sleep(0.3)
        window.all("body")[0].send_keys("2")
        _until(lambda: len(_judgements(made, account.id)) > before)
        assert _judgements(made, account.id)[-1] == "broken"
    finally:
        window.driver.quit()


def _settle_everything(made: Prepared) -> None:
    """One answer to every question, whatever the tests before this one left open or disputed."""
    with made.engine.connect() as connection:
        questions = connection.execute(select(table_of(tables.Question).c.id)).scalars().all()
    for id in questions:
        adjudicate(made.engine, made.judge.id, id, ["positive"], "for a test")
    refresh(made.engine)


def _keys(window: Window, selector: str) -> list[str]:
    code = "return [...document.querySelectorAll(arguments[0])].map(e => e.className)"
    return list(window.driver.execute_script(code, selector))


def _tab(window: Window, name: str) -> None:
    window.click('[role="tab"]', text_in("en", f"results.{name}"))


@pytest.mark.parametrize("width", [1280, 420])
def test_results_from_ranking_to_weights_of_one_s_own(served: tuple[str, Prepared], window: Window, width: int) -> None:
    _settle_everything(served[1])
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    window.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    window.log_in("boss")
    window.driver.get(f"{served[0]}/results")
    window.see("Kendall" if width > 1000 else "How sure the ranking is")
    window.see("any difference counts")
    _until(lambda: len(window.all(".stVegaLiteChart canvas, .stVegaLiteChart svg")) >= 3)
    # Charts shrink to the page: none is wider than what holds it, and the page does not scroll sideways.
    _until(lambda: window.script("const p = document.documentElement; return p.scrollWidth <= p.clientWidth"))
    edges = "return [...document.querySelectorAll('.stVegaLiteChart canvas, .stVegaLiteChart svg')]"
    assert all(
        right <= width + 1 for right in window.script(f"{edges}.map(e => e.getBoundingClientRect().right)") if right
    )
    delta = window.all('[data-testid="stNumberInput"] input')[0]
    delta.send_keys("\ue009a\ue000")  # control and a, then let go
    delta.send_keys("2\n")
    window.see("differences up to 2.0 points count as equal")
    _tab(window, "together")
    window.click("button", text_in("en", "rollup.overall"))
    window.see("Stratified over cells")
    _tab(window, "preferences")
    window.see(text_in("en", "profile_is.equal"))
    window.click("button", text_in("en", "profile.own"))
    window.see(text_in("en", "preference.apply"))
    editor = '[class*="st-key-results-editor-en"]'
    grid = f"{editor} canvas"
    _until(lambda: window.all(grid))
    before = _keys(window, editor)
    # The weight of the first relation: right column, first row under the heading.
    from selenium.webdriver import ActionChains, Keys

    first = window.all(grid)[0]
    window.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", first)
    across, down = first.size["width"], first.size["height"]
    actions = ActionChains(window.driver).move_to_element_with_offset(first, int(across / 4), int(52 - down / 2))
    actions.click().pause(0.5).send_keys("3").pause(0.5).send_keys(Keys.ENTER).pause(1).perform()
    window.click("button", text_in("en", "preference.apply"))
    # Other weights, another editor.
    _until(lambda: _keys(window, editor) not in ([], before))
    window.see(text_in("en", "preference.legend"))
    window.see("differences up to 2.0 points count as equal")
    assert not window.all('[data-testid="stException"], [data-testid="stAlertContentError"]')
    # Another page and back: what was chosen is kept.
    window.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics | {"width": 1280})
    window.click('[data-testid="stSidebarNavLink"]', text_in("en", "menu.browse"))
    window.see(text_in("en", "browse.state"))
    window.click('[data-testid="stSidebarNavLink"]', text_in("en", "menu.results"))
    window.see("differences up to 2.0 points count as equal")
