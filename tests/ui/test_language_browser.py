"""The language of the page, as screen readers take it, and how large targets of fingers are, in a real Chromium."""

import pytest
from app_driver import Prepared
from browser_driver import Window, until

from audit.ui.language import text_in

pytestmark = pytest.mark.browser

SMALL = """
return [...document.querySelectorAll('button, a[href], input, [role=tab]')].map(e => {
  const box = (e.matches('[type=checkbox], [type=radio]') ? e.closest('label') : e).getBoundingClientRect();
  return [e.innerText || e.getAttribute('aria-label') || e.type, Math.round(box.width), Math.round(box.height)];
}).filter(([_, width, height]) => width > 1 && height > 1 && (width < 44 || height < 44));
"""


def test_the_page_says_its_language_and_each_text_its_own(window: Window) -> None:
    window.log_in("ann")
    until(lambda: window.script("return document.documentElement.lang") == "en")
    window.click("button", "中文")
    window.see(text_in("zh", "task.sentiment.question"))
    until(lambda: window.script("return document.documentElement.lang") == "zh-Hans")
    assert window.script("return document.querySelector('.audit-text').lang") == "en"


def test_what_fingers_press_on_a_tablet_has_44_pixels(served: tuple[str, Prepared], window: Window) -> None:
    window.resize(820, 1180)
    assert window.script(SMALL) == []
    window.log_in("ann")
    window.see(text_in("en", "task.sentiment.question"))
    until(lambda: window.all('[class*="st-key-judge-"] button'))
    assert window.script(SMALL) == []
    window.driver.get(f"{served[0]}/password")
    assert window.script(SMALL) == []
    assert window.script("return document.documentElement.scrollWidth <= innerWidth")
