"""The page Quality through the app: numbers, and the switch of control questions, in both languages."""

from collections.abc import Callable

import pytest
from app_driver import Prepared, go, in_both, open_app, rows, said
from streamlit.testing.v1 import AppTest

from audit.judging.control_questions import KnownText, add_known
from audit.judging.settings import settings_of
from audit.store import tables
from audit.tasks import Input
from audit.ui.language import text_in


@pytest.fixture
def opened(prepared: Prepared) -> Callable[..., AppTest]:
    def open_page(mode: str, language: str = "en") -> AppTest:
        app = open_app(prepared.boss, language)
        app.session_state["quality-mode"] = mode
        return go(app, "quality")

    return open_page


@pytest.mark.slow
@in_both
def test_one_switch_hides_control_questions(prepared: Prepared, opened: Callable[..., AppTest], language: str) -> None:
    add_known(prepared.engine, "gold", [KnownText(Input.of("The film is in colour."), ("neutral",))])
    app = opened("known", language)
    app.button(key="control-on").click().run()
    assert not app.exception
    assert text_in(language, "control.on", count=1, share="5") in said(app)
    assert list(app.dataframe[0].value[text_in(language, "known.purpose")]) == [text_in(language, "known.gold")]
    shares = ("gold_share", "repeat_share")
    with prepared.engine.connect() as connection:
        assert [getattr(settings_of(connection), name) for name in shares] == [0.05, 0.05]
    app.button(key="control-off").click().run()
    with prepared.engine.connect() as connection:
        assert [getattr(settings_of(connection), name) for name in shares] == [0.0, 0.0]
    log = [row for row in rows(prepared, tables.Log) if row["action"] == "setting"]
    assert {row["annotator_id"] for row in log} == {prepared.boss.id}
