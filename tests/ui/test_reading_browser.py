"""Reading and hearing the page *Judge* in a real Chromium: a long text by keys alone, the next question announced with
the focus on it, and a window at 200 %."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from app_driver import Prepared, prepare
from browser_driver import Window, judgements, streamlit_server, until
from selenium.webdriver.common.keys import Keys
from small_corpus import SmallCorpus
from sqlalchemy import String, cast

from audit.judging.samples import ask_next
from audit.relations import get_relation
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.options import SampleOptions
from audit.store import table_of, tables
from audit.ui.language import text_in

pytestmark = pytest.mark.browser
MOST = 6
"""Presses that reading a review of 3,000 characters to its end may take at 1280x720."""
SENTENCE = "The second act drags, yet the light over the harbour and the old songs make up for some of it. "
REVIEW = (SENTENCE * 40)[:2962] + " All in all, I would not see it again."
ANSWERS = ".st-key-judge button"
COUNT = "window.pressed = 0; window.addEventListener('keydown', () => window.pressed++, true)"
HIDDEN = """
const bar = document.querySelector('.st-key-answer-bar').getBoundingClientRect();
const text = document.querySelector('.audit-large').getBoundingClientRect();
return Math.round(text.bottom - bar.top);
"""


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    """Questions about long reviews alone."""
    prepared = prepare(tmp_path_factory.mktemp("long") / "audit.db")
    reviews = SmallCorpus("reviews", tuple(f"{number}. {REVIEW}"[:2999] + "." for number in range(6)))
    with InProcess() as executor:
        ran = run(prepared.engine, reviews, ["vader", "textblob"], [get_relation("sentiment", "MR3.1")], executor)
    ask_next(prepared.engine, SampleOptions(20), ran.study.id)[0]
    question, texts = table_of(tables.Question), table_of(tables.Input)
    with prepared.engine.begin() as connection:
        is_long = cast(texts.c.texts, String).like("%second act%")
        brief = texts.select().with_only_columns(texts.c.id).where(~is_long)
        connection.execute(question.update().where(question.c.input_id.in_(brief)).values(filled=True))
    with streamlit_server(prepared) as served:
        yield served


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_long_review_is_read_to_its_end_in_six_presses(
    long: tuple[str, Prepared], tmp_path: Path, language: str
) -> None:
    address, _ = long
    with Window(address, tmp_path / "profile", language) as window:
        window.resize(1280, 720)
        window.log_in({"en": "ann", "zh": "ben"}[language])
        text = until(window.question)
        assert 2990 <= len(text) <= 3010
        until(lambda: len(window.all(ANSWERS)) == 4)
        time.sleep(0.5)
        assert window.in_view(".st-key-answer-bar"), "the answers are there from the beginning"
        window.script(COUNT)
        assert window.script(HIDDEN) > 0
        sign = text_in(language, "differences.more")
        assert sign in window.script("return document.querySelector('.audit-more').innerText")
        assert window.script("return getComputedStyle(document.querySelector('.audit-more')).visibility") == "visible"
        window.picture(f"long-{language}")
        while window.script(HIDDEN) > 0:
            window.press(Keys.SPACE if language == "en" else Keys.PAGE_DOWN)
            assert window.script("return window.pressed") <= MOST
        print(window.script("return window.pressed"), "presses")
        until(
            lambda: (
                window.script("return getComputedStyle(document.querySelector('.audit-more')).visibility") == "hidden"
            )
        )
        assert window.in_view(".st-key-answer-bar")
        window.press(Keys.HOME)
        assert window.script("return document.querySelector('.stMain').scrollTop") == 0


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_next_question_is_said_and_has_the_focus(long: tuple[str, Prepared], tmp_path: Path, language: str) -> None:
    address, _ = long
    with Window(address, tmp_path / "profile", language) as window:
        window.log_in("ben" if language == "en" else "ann")
        until(window.question)
        assert window.driver.title == f"{text_in(language, 'menu.annotate')} · audit"
        window.press(Keys.END)
        window.judge("3")
        heading = window.script("return document.querySelector('.stMain h2.audit-question').innerText")
        until(lambda: window.script("return document.activeElement.matches('h2.audit-question')"))
        live = "return document.querySelector('[role=status][aria-live=polite]').textContent"
        until(lambda: window.script(live) == f"{text_in(language, 'page.next')} {heading}")
        assert window.script("return document.querySelector('.stMain').scrollTop") == 0
        # The text comes right after the heading, and can be reached.
        window.driver.switch_to.active_element.send_keys(Keys.TAB)
        assert window.script("return document.activeElement.matches('.audit-large')")


def test_at_200_per_cent_everything_is_in_reach(long: tuple[str, Prepared], tmp_path: Path) -> None:
    address, prepared = long
    with Window(address, tmp_path / "profile", "zh") as window:
        window.resize(640, 360)
        window.log_in("ann")
        until(window.question)
        until(lambda: len(window.all(ANSWERS)) == 4)
        time.sleep(0.5)
        window.picture("zoom-zh")
        assert window.script("const p = document.documentElement; return p.scrollWidth <= p.clientWidth")
        assert window.in_view(".st-key-answer-bar")
        shown = window.script(
            "const text = document.querySelector('.audit-large').getBoundingClientRect();"
            "const bar = document.querySelector('.st-key-answer-bar').getBoundingClientRect();"
            "return Math.min(bar.top, innerHeight) - Math.max(0, text.top)"
        )
        assert shown >= 5 * 24, "five lines of the text"
        before = len(judgements(prepared, prepared.ann.id))
        presses = 0
        while window.script(HIDDEN) > 0:
            window.press(Keys.SPACE)
            presses += 1
            assert presses < 60
        window.judge("2")
        assert judgements(prepared, prepared.ann.id)[before:] == ["neutral"]


def test_tab_goes_round_without_a_trap(long: tuple[str, Prepared], tmp_path: Path) -> None:
    address, _ = long
    with Window(address, tmp_path / "profile") as window:
        window.resize(1280, 720)
        window.log_in("ann")
        until(window.question)
        until(lambda: len(window.all(ANSWERS)) == 4)
        window.script("document.activeElement.blur()")
        seen = []
        for _ in range(60):
            window.driver.switch_to.active_element.send_keys(Keys.TAB)
            focus = window.script(
                "const e = document.activeElement; e.dataset.visit ??= String(Math.random());"
                "const r = e.getBoundingClientRect();"
                "return [e.dataset.visit, e.tagName, e.innerText, e !== document.body && r.width * r.height == 0]"
            )
            if seen and focus[0] in (seen[0][0], "body"):
                break
            seen.append(focus)
        else:
            pytest.fail(f"the focus does not come round: {seen[-5:]}")
        texts = " ".join(str(text) for _, _, text, _ in seen)
        for word in ("Positive", "Neutral", "Negative", "Unsure", "Undo", "Skip", "Flag", "Guideline", "Log out"):
            assert word in texts, (word, texts)
        assert any(tag == "INPUT" for _, tag, _, _ in seen), "the comment"
        assert not [focus for focus in seen if focus[3]], "the focus is never on what cannot be seen"
