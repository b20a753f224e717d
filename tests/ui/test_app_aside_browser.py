"""Skip, flag, undo and the guideline by key alone, in a real Chromium."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from app_driver import Prepared, prepare
from browser_driver import Window, judgements, streamlit_server, until
from sqlalchemy import select

from audit.annotation.guidelines import guideline_of
from audit.store import table_of, tables
from audit.ui.language import text_in

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    with streamlit_server(prepare(tmp_path_factory.mktemp("aside") / "audit.db")) as served:
        yield served


def put_aside(prepared: Prepared, account: int) -> list[tuple[str, str | None]]:
    table = table_of(tables.Aside)
    with prepared.engine.connect() as connection:
        query = select(table.c.kind, table.c.comment).where(table.c.annotator_id == account).order_by(table.c.id)
        return [tuple(row) for row in connection.execute(query)]  # type: ignore[misc]


BUTTONS = ".st-key-judge button, .st-key-beside button"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [1280, 768])
def test_keys_alone_skip_flag_undo_three_and_open_the_guideline(
    served: tuple[str, Prepared], tmp_path: Path, language: str, width: int
) -> None:
    address, prepared = served
    account, name = {
        ("en", 1280): (prepared.ann, "ann"),
        ("zh", 1280): (prepared.ben, "ben"),
        ("en", 768): (prepared.judge, "judge"),
        ("zh", 768): (prepared.boss, "boss"),
    }[language, width]
    with prepared.engine.begin() as connection:  # each window has every question to itself
        connection.execute(table_of(tables.Question).update().values(annotators=8))
    with Window(address, tmp_path / "profile", language) as window:
        window.resize(width, 720 if width == 1280 else 1024)
        window.log_in(name)
        if account.role != "annotator":  # who begins on another page
            window.driver.get(f"{address}/annotate")
        first = until(window.question)
        # Every key stands on its button, and every button is on the screen.
        buttons = until(lambda: eight if len(eight := window.all(BUTTONS)) == 8 else None)  # they come one by one
        keys = [button.text.split()[-1].lower() for button in buttons]
        assert keys == ["1", "2", "3", "u", "z", "s", "f", "g"]
        assert window.in_view(".st-key-judge")
        assert window.in_view(".st-key-beside")
        window.picture(f"judge-{language}-{width}")
        window.judge("s")
        window.see(text_in(language, "annotate.skipped"))
        assert put_aside(prepared, account.id) == [("skip", None)]
        # The first f goes to the comment's field and writes nothing there; Tab leaves it, the second f flags.
        flagged = window.question()
        window.press("f")
        window.see(text_in(language, "annotate.flag_needs_comment"))
        until(lambda: window.script("return document.activeElement.tagName") == "INPUT")
        field = window.driver.switch_to.active_element
        assert field.get_attribute("value") == ""
        field.send_keys("fs, too odd for 1 or 2\t")
        window.judge("f")
        window.see(text_in(language, "annotate.flagged"))
        assert put_aside(prepared, account.id)[1:] == [("flag", "fs, too odd for 1 or 2")]
        assert judgements(prepared, account.id) == []
        window.picture(f"flagged-{language}-{width}")
        judged = []
        for key in ("1", "2", "3"):
            judged.append(window.question())
            window.judge(key)
        assert not {first, flagged} & set(judged)
        for number in (1, 2, 3):
            window.judge("z")
            assert window.question() == judged[-number]
        answer = text_in(language, "label.sentiment.positive")
        window.see(text_in(language, "annotate.undone", answer=answer, number=3, most=10))
        assert judgements(prepared, account.id) == ["positive", "neutral", "negative"] + ["withdrawn"] * 3
        window.picture(f"undone-{language}-{width}")
        heading = guideline_of("sentiment", "input", language).text.split("**")[1]
        beside = width >= 1200  # there it stands beside the text until it is closed
        assert (heading in window.text()) == beside
        window.press("g")
        until(lambda: (heading in window.text()) != beside)
        window.picture(f"guideline-{language}-{width}")
        window.press("g")
        until(lambda: (heading in window.text()) == beside)
        assert window.script("const p = document.documentElement; return p.scrollWidth <= p.clientWidth")


def test_a_held_or_doubled_skip_skips_once(served: tuple[str, Prepared], tmp_path: Path) -> None:
    address, prepared = served
    with Window(address, tmp_path / "profile") as window:
        window.log_in("ann")
        until(window.question)
        before = len(put_aside(prepared, prepared.ann.id))
        window.hold("s", seconds=1)
        time.sleep(0.5)
        assert len(put_aside(prepared, prepared.ann.id)) == before + 1
        from selenium.webdriver import ActionChains

        button = next(button for button in window.all(".st-key-beside button") if "Skip" in button.text)
        ActionChains(window.driver).double_click(button).perform()
        time.sleep(1)
        assert len(put_aside(prepared, prepared.ann.id)) == before + 2
