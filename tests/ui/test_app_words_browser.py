"""Questions of inference, of question answering and of several labels, in a real Chromium: named texts, and labels that
are switched on by key and stored by Enter."""

import time
from collections.abc import Iterator

import pytest
from app_driver import Prepared
from app_server import app_server
from browser_driver import Window, judgements, until
from selenium.webdriver.common.keys import Keys
from words_driver import MANY, prepare_words

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    folder = tmp_path_factory.mktemp("several")
    prepared = prepare_words(folder / "audit.db", MANY)
    with app_server(str(prepared.path), folder / "log.txt") as address:
        yield address, prepared


def on(window: Window) -> list[str]:
    """The labels that are switched on."""
    return [button.text.split("\n")[-1] for button in window.all(".st-key-judge button[kind=primary]")]


def test_several_labels_are_switched_by_key_and_stored_by_enter(served: tuple[str, Prepared], window: Window) -> None:
    prepared = served[1]
    window.log_in("ann")
    first = until(window.question)
    window.press(Keys.ENTER)  # nothing is on: nothing is stored
    window.press("3")
    until(lambda: len(on(window)) == 1)
    window.hold("2", 1)  # switches once, whatever a held key repeats
    until(lambda: len(on(window)) == 2)
    window.picture("several-en")
    assert judgements(prepared, prepared.ann.id) == []
    window.press(Keys.ENTER)
    second = until(lambda: window.question() not in (None, first) and window.question())
    assert judgements(prepared, prepared.ann.id) == ["late+rude"]
    assert on(window) == []
    time.sleep(0.4)
    window.all('[class*="st-key-switch-"][class*="-refund"] button')[0].click()
    until(lambda: len(on(window)) == 1)
    # The button that was clicked has the focus: Enter stores, and does not click it again.
    window.driver.switch_to.active_element.send_keys(Keys.ENTER)
    until(lambda: judgements(prepared, prepared.ann.id) == ["late+rude", "refund"])
    until(lambda: window.question() not in (None, second))


@pytest.mark.parametrize("window", ["zh"], indirect=True)
def test_several_labels_in_chinese(served: tuple[str, Prepared], window: Window) -> None:
    window.log_in("ben")
    until(window.question)
    window.press("4")
    until(lambda: len(on(window)) == 1)
    window.see("保存：都不适合")
    window.picture("several-zh")
