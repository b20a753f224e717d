"""The dashboard: every section in both languages, on databases at every stage, for managers only."""

from pathlib import Path
from typing import Any

import pytest
from app_driver import Prepared, blocks, go, in_both, open_app, said
from streamlit.testing.v1 import AppTest

from audit.judging.accounts import add_account, disable_account
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.unit import rebuild
from audit.store import open_store
from audit.ui.dashboard import SECTIONS, TAB
from audit.ui.language import text_in


def dashboard(prepared: Prepared, section: str, language: str = "en") -> AppTest:
    app = open_app(prepared.boss, language)
    app.session_state[TAB] = text_in(language, f"dashboard.{section}")
    return go(app, "dashboard")


def whole(prepared: Prepared, section: str, language: str) -> AppTest:
    """The section with what it computes only when it is asked to, without an error."""
    app = dashboard(prepared, section, language)
    assert not app.exception
    assert not app.error
    return app


def charts(app: AppTest) -> int:
    return len(app.get("vega_lite_chart")) + len(app.get("arrow_vega_lite_chart"))


def downloads(app: AppTest) -> list[str]:
    return [button.proto.label for button in app.get("download_button")]


@pytest.fixture
def disagreeing(prepared: Prepared) -> Prepared:
    """Everything is judged by two people, who disagree about every third text."""
    for account in (prepared.ann, prepared.ben):
        while shown := next_question(prepared.engine, account.id):
            odd = account == prepared.ben and shown.id % 3 == 0
            judge(prepared.engine, account.id, shown.id, "negative" if odd else "positive")
    rebuild(prepared.engine)
    return prepared


@pytest.mark.slow
@in_both
@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_in_every_language(disagreeing: Prepared, section: str, language: str) -> None:
    app = whole(disagreeing, section, language)
    assert not app.warning
    assert charts(app) == 1
    assert app.dataframe  # a chart never stands without a table
    assert any(label.startswith("PNG") for label in downloads(app))


@in_both
@pytest.mark.parametrize("section", SECTIONS)
def test_an_empty_database_says_what_comes_next(tmp_path: Path, monkeypatch: Any, section: str, language: str) -> None:
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    boss = add_account(engine, "boss", "manager", "a long password")
    monkeypatch.setenv("AUDIT_DB", str(tmp_path / "audit.db"))
    app = whole(Prepared(engine, tmp_path, boss, boss, boss, boss), section, language)
    messages = said(app).replace("\\", "")
    if section == "progress":
        assert text_in(language, "cells.no_studies").lower() in messages.lower()
    else:
        assert text_in(language, "dashboard.no_agreement") in messages


@pytest.mark.slow
def test_the_totals_and_the_cells_are_those_of_the_database(disagreeing: Prepared) -> None:
    app = dashboard(disagreeing, "progress")
    # 12 questions, 4 of them with an odd answer: the ids 1 to 12 have four multiples of 3.
    shown = blocks(app)
    for name, number in (("open", 4), ("by_people", 8), ("disputed", 4), ("today", 24), ("week", 24)):
        assert f"<dt>{text_in('en', f'dashboard.{name}')}</dt><dd>{number}</dd>" in shown
    table = app.dataframe[0].value
    assert (table["Judged"] <= table["Settled"]).all()
    assert set(table["Relation"]) == {"MR1.4", "MR3.1"}


@pytest.mark.slow
def test_who_is_no_manager_any_more_is_kept_out(disagreeing: Prepared) -> None:
    app = dashboard(disagreeing, "agreement")
    add_account(disagreeing.engine, "other", "manager", "a long password")
    disable_account(disagreeing.engine, "boss")
    app.run()
    assert not app.dataframe
    assert text_in("en", "welcome.what") in said(app)
