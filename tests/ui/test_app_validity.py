"""The validity study in the app: a manager begins it, an annotator rates, both languages, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
from app_driver import Prepared, blocks, go, in_both, open_app, press_answer, said
from streamlit.testing.v1 import AppTest

from audit.annotation.accounts import add_account
from audit.store import open_store
from audit.ui.dashboard import TAB
from audit.ui.language import text_in


def tab(prepared: Prepared, language: str = "en") -> AppTest:
    app = open_app(prepared.boss, language)
    app.session_state[TAB] = text_in(language, "dashboard.validity")
    app = go(app, "dashboard")
    assert not app.exception
    return app


def submit(app: AppTest, language: str) -> AppTest:
    button = next(button for button in app.button if button.label == text_in(language, "validity.begin"))
    button.click().run()
    assert not app.exception
    return app


@in_both
@pytest.mark.usefixtures("no_waiting")
def test_a_manager_begins_it_an_annotator_rates_and_the_manager_ends_it(prepared: Prepared, language: str) -> None:
    app = tab(prepared, language)
    app.checkbox(key="validity-first").check()
    app = submit(app, language)
    judging = go(open_app(prepared.ann, language), "annotate")
    assert text_in(language, "scale.grammaticality") in blocks(judging)
    assert [button.label for button in judging.button if str(button.key).startswith("judge-")] == [
        *(text_in(language, f"scale.grammaticality_{rating}") for rating in range(1, 6)),
        text_in(language, "label.unsure"),
    ]
    assert not any(str(button.key).startswith("flag") for button in judging.button)
    press_answer(judging, "4")
    assert text_in(language, "scale.plausibility") in blocks(judging)
    press_answer(judging, "5")
    app = tab(prepared, language)
    app.toggle(key="validity-tables").set_value(True).run()
    assert not app.exception
    assert app.dataframe
    app.button(key="validity-end-1").click().run()
    assert text_in(language, "validity.ended") in said(tab(prepared, language))


def test_an_empty_database_says_what_is_missing(tmp_path: Path, monkeypatch: Any) -> None:
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    boss = add_account(engine, "boss", "manager", "a long password")
    monkeypatch.setenv("AUDIT_DB", str(tmp_path / "audit.db"))
    app = submit(tab(Prepared(engine, tmp_path, boss, boss, boss, boss)), "en")
    assert "No study has a checked group with a follow-up" in said(app).replace("\\", "")
