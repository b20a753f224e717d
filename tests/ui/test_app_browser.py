"""The app in a real Chromium: what AppTest cannot press, paint or escape."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from app_driver import PASSWORD, Prepared, rows
from asked_driver import names, prepare_groups, to_question
from browser_driver import Window, judgements, streamlit_server, until
from sqlalchemy import select

from audit.judging.accounts import add_account
from audit.judging.adjudications import adjudicate
from audit.judging.unit import rebuild
from audit.store import table_of, tables
from audit.ui.language import text_in

pytestmark = pytest.mark.browser


def test_keys_judge_a_held_key_judges_once_and_z_undoes(served: tuple[str, Prepared], window: Window) -> None:
    prepared = served[1]
    window.log_in("ann")
    until(window.question)
    window.press("m")  # a comment is written, and Enter leaves it: the next key answers
    window.driver.switch_to.active_element.send_keys("3 stars\ue007")
    window.judge("1")
    assert rows(prepared, tables.Judgement)[-1]["comment"] == "3 stars"
    window.judge("3")
    window.judge("u")
    assert judgements(prepared, prepared.ann.id) == ["positive", "negative", "unsure"]
    window.hold("2", seconds=1)
    window.see("4 today")
    time.sleep(0.3)
    assert judgements(prepared, prepared.ann.id) == ["positive", "negative", "unsure", "neutral"]
    window.judge("z")
    assert judgements(prepared, prepared.ann.id)[-1] == "withdrawn"
    window.see("3 today")


def test_no_key_answers_before_the_guideline_was_left(served: tuple[str, Prepared], tmp_path: Path) -> None:
    address, prepared = served
    newcomer = add_account(prepared.engine, "eve", "annotator", PASSWORD).id

    def shown(selector: str) -> bool:
        return bool(window.script(f"return document.querySelector('{selector}')?.checkVisibility()"))

    with Window(address, tmp_path / "profile", reads=True) as window:
        window.log_in("eve")
        until(lambda: window.all(".st-key-gate-begin"))
        for key in "123usz":
            window.press(key)
        assert window.question() is None
        window.picture("gate")
        window.press("n")
        until(window.question)
        assert judgements(prepared, newcomer) == []
        assert shown(".st-key-guideline-beside"), "beside the text from 1,200 pixels on"
        text, beside = (
            window.script(f"return document.querySelector('{selector}').getBoundingClientRect().toJSON()")
            for selector in (".audit-large", ".st-key-guideline-beside")
        )
        assert text["right"] < beside["left"]
        assert beside["right"] <= 1280
        window.picture("guideline-beside")
        window.press("g")
        until(lambda: not shown(".st-key-guideline-beside"))
        assert not shown(".st-key-guideline-below")
        window.resize(1100, 700)
        until(lambda: shown(".st-key-guideline-below"))
        window.press("g")
        until(lambda: not shown(".st-key-guideline-below"))
        window.judge("2")
        assert judgements(prepared, newcomer) == ["neutral"]


def test_a_double_click_judges_once(served: tuple[str, Prepared], window: Window) -> None:
    prepared = served[1]
    before = len(judgements(prepared, prepared.judge.id))
    window.log_in("judge")
    next(link for link in window.all('[data-testid="stSidebarNavLink"]') if "Judge" in link.text).click()
    until(window.question)
    time.sleep(0.4)
    (button,) = until(lambda: [button for button in window.all(".st-key-judge button") if "Neutral" in button.text])
    from selenium.webdriver import ActionChains

    ActionChains(window.driver).double_click(button).perform()
    window.see("1 today")
    time.sleep(0.5)
    assert len(judgements(prepared, prepared.judge.id)) == before + 1


@pytest.fixture(scope="module")
def served_groups(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    """As `served`, with groups asked about."""
    with streamlit_server(prepare_groups(tmp_path_factory.mktemp("groups") / "audit.db")) as served:
        yield served


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_group_is_judged_by_key(served_groups: tuple[str, Prepared], tmp_path: Path, language: str) -> None:
    address, prepared = served_groups
    account, name = {"en": (prepared.ann, "ann"), "zh": (prepared.ben, "ben")}[language]
    shown = to_question(prepared, account.id, kind="group")
    with Window(address, tmp_path / "profile", language) as window:
        window.log_in(name)
        window.see(text_in(language, "group.text", letter="B"))
        until(lambda: window.all(".audit-members"))
        texts = window.script("return document.querySelector('.audit-members').innerText")
        assert all(member.input.text in texts for member in shown.group.members)
        # Neither a system nor a verdict is anywhere in the page that the browser got.
        page = str(window.script("return document.documentElement.outerHTML")).replace(str(prepared.path), "")
        assert not any(word in page for word in (*names(prepared), "satisfied", "violated"))
        buttons = window.script("return document.querySelector('.st-key-judge').getBoundingClientRect().bottom")
        assert buttons <= window.script("return window.innerHeight")
        window.picture(f"group-{language}")
        before = len(judgements(prepared, account.id))
        window.press("2")
        until(lambda: len(judgements(prepared, account.id)) > before)
        assert judgements(prepared, account.id)[-1] == "broken"


def _settle_everything(prepared: Prepared) -> None:
    """One answer to every question, whatever the tests before this one left open or disputed."""
    with prepared.engine.connect() as connection:
        questions = connection.execute(select(table_of(tables.Question).c.id)).scalars().all()
    for id in questions:
        adjudicate(prepared.engine, prepared.judge.id, id, ["positive"], "for a test")
    rebuild(prepared.engine)


@pytest.mark.parametrize("width", [1280, 420])
def test_results_fit_the_page_and_keep_whose_answers_count(
    served: tuple[str, Prepared], window: Window, width: int
) -> None:
    _settle_everything(served[1])
    window.resize(width, 900)
    window.log_in("boss")
    window.driver.get(f"{served[0]}/results")
    window.see("any difference counts")
    window.click("summary", "All together")
    until(lambda: len(window.all(".stVegaLiteChart canvas, .stVegaLiteChart svg")) >= 2)
    # Charts shrink to the page: none is wider than what holds it, and the page does not scroll sideways.
    until(lambda: window.script("const p = document.documentElement; return p.scrollWidth <= p.clientWidth"))
    edges = "return [...document.querySelectorAll('.stVegaLiteChart canvas, .stVegaLiteChart svg')]"
    assert all(
        right <= width + 1 for right in window.script(f"{edges}.map(e => e.getBoundingClientRect().right)") if right
    )
    window.click('[role="radio"]', text_in("en", "whose.people"))
    window.see("nswers of people only")
    # Another page and back: what was chosen is kept.
    window.resize(1280, 900)
    window.click('[data-testid="stSidebarNavLink"]', text_in("en", "menu.browse"))
    window.see(text_in("en", "browse.state"))
    window.click('[data-testid="stSidebarNavLink"]', text_in("en", "menu.results"))
    window.see("nswers of people only")
