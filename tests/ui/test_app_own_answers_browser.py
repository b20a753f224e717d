"""The page *My answers* in a real Chromium, by key, in both languages, on a small screen and a telephone's."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from app_driver import Prepared, prepare
from browser_driver import Window, judgements, streamlit_server, until
from selenium.webdriver.common.keys import Keys
from sqlalchemy import select

from audit.annotation.queue import next_question
from audit.judging.judgements import judge
from audit.store import table_of, tables
from audit.ui.language import text_in

pytestmark = pytest.mark.browser
ROWS = '[class*="st-key-own-row-"]'
COMMENT = '[class*="st-key-comment-own-"] input'


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    prepared = prepare(tmp_path_factory.mktemp("own") / "audit.db")
    with streamlit_server(prepared) as served:
        yield served


def comments(prepared: Prepared, account: int) -> list[str | None]:
    table = table_of(tables.Judgement)
    with prepared.engine.connect() as connection:
        query = select(table.c.comment).where(table.c.annotator_id == account).order_by(table.c.id)
        return list(connection.execute(query).scalars())


def sideways(window: Window) -> bool:
    """Whether the page is wider than the screen."""
    return bool(window.script("return document.documentElement.scrollWidth > window.innerWidth"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_answer_is_found_and_changed_by_key(served: tuple[str, Prepared], tmp_path: Path, language: str) -> None:
    address, prepared = served
    account, name = {"en": (prepared.ann, "ann"), "zh": (prepared.ben, "ben")}[language]
    for answer in ("positive", "neutral", "negative", "positive"):
        shown = next_question(prepared.engine, account.id)
        comment = "which film is it?" if answer == "neutral" else None
        judge(prepared.engine, account.id, shown.id, answer, comment=comment)
    with Window(address, tmp_path / "profile", language) as window:
        window.log_in(name)
        window.driver.get(f"{address}/answers")
        until(lambda: len(window.all(ROWS)) == 4)
        window.picture(f"own-list-{language}")
        # A text is found by what was written to it.
        field = until(lambda: window.all(".st-key-own-search input"))[0]
        field.send_keys("WHICH film" + Keys.ENTER)
        until(lambda: len(window.all(ROWS)) == 1)
        # The row's button opens the question by Enter; a key answers it.
        button = window.all(f"{ROWS} button")[0]
        button.send_keys(Keys.ENTER)
        until(lambda: window.all(".st-key-judge button"))
        assert until(lambda: window.all(COMMENT))[0].get_attribute("value") == "which film is it?"
        assert window.in_view(".st-key-judge")
        window.picture(f"own-open-{language}")
        window.press("3")
        words = [text_in(language, f"label.sentiment.{label}") for label in ("neutral", "negative")]
        window.see(text_in(language, "own.changed", before=words[0], after=words[1]))
        assert judgements(prepared, account.id) == ["positive", "neutral", "negative", "positive", "negative"]
        assert comments(prepared, account.id)[-1] == "which film is it?"
        # The search is still there, and the change is taken back by key.
        assert len(window.all(ROWS)) == 1
        assert window.all(".st-key-own-search input")[0].get_attribute("value") == "WHICH film"
        window.picture(f"own-changed-{language}")
        window.press("z")
        window.see(text_in(language, "own.undone", answer=words[0]))
        assert judgements(prepared, account.id)[-1] == "neutral"
        # Escape leads back from a question without any change.
        until(lambda: window.all(f"{ROWS} button"))[0].send_keys(Keys.ENTER)
        until(lambda: window.all(".st-key-judge button"))
        window.press(Keys.ESCAPE)
        until(lambda: len(window.all(ROWS)) == 1)
        assert len(judgements(prepared, account.id)) == 6
        window.resize(390, 844)
        assert not sideways(window)
        window.picture(f"own-list-{language}-390")
        window.all(f"{ROWS} button")[0].click()
        until(lambda: window.all(".st-key-judge button"))
        assert not sideways(window)
        window.picture(f"own-open-{language}-390")


@pytest.mark.parametrize("window", ["en"], indirect=True)
def test_a_comment_survives_undo(served: tuple[str, Prepared], window: Window) -> None:
    """On *Judge*: what was written to an answer is in the field again when it is taken back."""
    prepared = served[1]
    window.log_in("ann")
    first = until(window.question)
    field = until(lambda: window.all('[class*="st-key-comment-"] input'))[0]
    field.send_keys("an odd film" + Keys.TAB)
    window.press("1")
    until(lambda: window.question() not in (None, first))
    window.press("z")
    until(lambda: window.question() == first)
    field = until(lambda: window.all('[class*="st-key-comment-"] input'))[0]
    until(lambda: field.get_attribute("value") == "an odd film")
    window.press("2")
    until(lambda: window.question() not in (None, first))
    assert comments(prepared, prepared.ann.id)[-1] == "an odd film"
    assert judgements(prepared, prepared.ann.id)[-2:] == ["withdrawn", "neutral"]
