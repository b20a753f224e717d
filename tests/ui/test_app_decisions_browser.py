"""Deciding by key alone in a real Chromium: how many presses a dispute, a flag and a cause take."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from app_driver import Prepared, prepare, rows
from app_server import app_server
from browser_driver import Window, until

from audit.judging.adjudications import disputes, flagged_ids
from audit.judging.judgements import flag, judge
from audit.judging.queue import next_question
from audit.judging.samples import ask_next
from audit.sampling.options import SampleOptions
from audit.store import tables
from audit.ui.language import text_in

pytestmark = pytest.mark.browser
MOST = 4
"""Presses that a decision may take."""
COUNT = "window.pressed = 0; window.addEventListener('keydown', () => window.pressed++, true)"


def question(prepared: Prepared, *answers: str) -> int:
    """The question that ann and ben answer next, each as told; the second one flags it where there is no answer."""
    for account, answer in zip((prepared.ann, prepared.ben), answers, strict=True):
        shown = next_question(prepared.engine, account.id)
        assert shown is not None
        if answer:
            judge(prepared.engine, account.id, shown.id, answer)
        else:
            flag(prepared.engine, account.id, shown.id, "cut off")
    return shown.id


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Prepared]]:
    """Two disputes, three flagged questions, one of them agreed, and
    spot checks of what people agree on."""
    prepared = prepare(tmp_path / "audit.db")
    ask_next(prepared.engine, SampleOptions(20))
    question(prepared, "positive", "negative")
    question(prepared, "neutral", "negative")
    for _ in range(2):
        question(prepared, "positive", "")
    for _ in range(3):
        question(prepared, "negative", "negative")
    with app_server(str(prepared.path), tmp_path / "app.log") as address:
        yield address, prepared


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_decision_takes_at_most_four_presses(served: tuple[str, Prepared], tmp_path: Path, language: str) -> None:
    address, prepared = served
    engine, judge_id = prepared.engine, prepared.judge.id
    decided = lambda: len(rows(prepared, tables.Adjudication))  # noqa: E731
    with Window(address, tmp_path / "profile", language) as window:
        window.log_in("judge")
        until(lambda: window.all(".st-key-judge-together button"))
        window.script(COUNT)

        def presses(*keys: str) -> int:
            """Press these keys, and see one more decision."""
            before = decided()
            window.script("window.pressed = 0")
            for key in keys:
                window.press(key)
            until(lambda: decided() == before + 1)
            return int(window.script("return window.pressed"))

        def mode(code: str, count: int) -> None:
            window.click('[role="radio"]', text_in(language, code, count=count))
            until(lambda: window.all(".st-key-judge-together button"))

        # A dispute: the label, the reason, Enter; also after a click in the menu, where the focus stays on the link.
        links = window.all('[data-testid="stSidebarNavLink"]')
        next(link for link in links if text_in(language, "menu.adjudicate") in link.text).click()
        until(lambda: window.all(".st-key-judge-together button"))
        page = window.text()
        assert not [name for name in ("MR1.4", "MR3.1", "vader", "textblob") if name in page]
        window.picture(f"dispute-{language}")
        assert presses("1", "w", "\ue007") <= MOST
        assert len(disputes(engine, judge_id)) == 1
        # Taken back by one press, and decided again as before.
        assert presses("z") == 1
        assert len(disputes(engine, judge_id)) == 2
        assert presses("\ue007") == 1
        # What is missing is said below its field, and nothing is stored.
        before = decided()
        window.press("2")
        window.press("\ue007")
        window.see(text_in(language, "adjudicate.no_reason"))
        window.picture(f"missing-{language}")
        assert decided() == before
        # Held down, Enter stores once; another reason goes to its field, where keys write.
        window.press("p")
        until(lambda: window.script("return document.activeElement.tagName") == "TEXTAREA")
        window.driver.switch_to.active_element.send_keys("1 z b")
        assert decided() == before
        window.driver.switch_to.active_element.send_keys("\ue004")  # Tab, to the button that stores
        assert window.script("return !!document.activeElement.closest('.st-key-judge-together')")
        window.driver.switch_to.active_element.send_keys("\ue007")
        until(lambda: decided() == before + 1)
        assert rows(prepared, tables.Adjudication)[-1]["reason"] == "1 z b"
        assert disputes(engine, judge_id) == []

        # A flagged question, and one that a manager sent since it contradicts another.
        flags = len(flagged_ids(engine, judge_id))
        mode("flagged.flags", flags)
        window.picture(f"flagged-{language}")
        for left in range(flags - 1, 0, -1):
            assert presses("3", "t", "\ue007") <= MOST
            until(lambda left=left: len(flagged_ids(engine, judge_id)) == left)
        # Sent back by one press, which settles nothing.
        before = decided()
        until(lambda: window.all("[class*='st-key-back-'] button"))
        window.press("b")
        until(lambda: flagged_ids(engine, judge_id) == [])
        assert decided() == before
