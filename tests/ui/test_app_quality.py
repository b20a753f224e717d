"""The page Quality through the app: numbers, known questions, settings, in both languages."""

from collections.abc import Callable

import pytest
from app_driver import Prepared, go, in_both, open_app, rows, said
from streamlit.testing.v1 import AppTest

from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.settings import change_settings, settings_of
from audit.store import tables
from audit.ui.language import text_in


@pytest.fixture
def opened(prepared: Prepared) -> Callable[..., AppTest]:
    def open_page(mode: str, language: str = "en") -> AppTest:
        app = open_app(prepared.boss, language)
        app.session_state["quality-mode"] = mode
        return go(app, "quality")

    return open_page


def judged(prepared: Prepared) -> None:
    """Ann and Ben judge everything, Ben at once and always the same; the twelfth text is hostile."""
    for account, label in ((prepared.ann, None), (prepared.ben, "neutral")):
        for number in range(12):
            shown = next_question(prepared.engine, account.id)
            assert shown is not None
            answer = label or ("positive", "neutral")[number % 2]
            judge(prepared.engine, account.id, shown.id, answer, shown_at=tables.now())


@pytest.mark.slow
@in_both
def test_annotators_with_a_dash_where_too_little_is_known(
    prepared: Prepared, opened: Callable[..., AppTest], language: str
) -> None:
    app = opened("annotators", language)
    assert text_in(language, "quality.nobody") in said(app)
    judged(prepared)
    change_settings(prepared.engine, None, {"fastest": 30.0})
    app = opened("annotators", language)
    assert not app.exception
    table = app.dataframe[0].value
    name = text_in(language, "accounts.name")
    assert list(table[name]) == ["ann", "ben"]
    assert list(table[text_in(language, "measure.judgements")]) == [12, 12]
    accuracy = text_in(language, "measure.accuracy")
    assert table[f"{accuracy} %"].isna().all()
    assert list(table[f"{text_in(language, 'measure.others')} %"]) == [50.0, 50.0]
    assert text_in(language, "quality.no_hidden") in said(app)
    assert len(app.get("vega_lite_chart")) == 1  # nothing hidden, so no bias


@pytest.mark.slow
@in_both
def test_settings_are_shown_and_changed(prepared: Prepared, opened: Callable[..., AppTest], language: str) -> None:
    app = opened("settings", language)
    app.number_input(key="judging-pass_mark").set_value(80.0)
    app.number_input(key="judging-gold_share").set_value(5.0)
    app.number_input(key="judging-repeat_after").set_value(7)
    next(button for button in app.button if button.label == text_in(language, "judging.save")).click().run()
    assert not app.exception
    assert text_in(language, "judging.done") in said(app)
    with prepared.engine.connect() as connection:
        settings = settings_of(connection)
    assert (settings.pass_mark, settings.gold_share, settings.repeat_after, settings.fastest) == (0.8, 0.05, 7, 1.0)
    log = [row for row in rows(prepared, tables.Log) if row["action"] == "setting"]
    assert {row["detail"]["name"] for row in log} == {"pass_mark", "gold_share", "repeat_after"}
    assert {row["annotator_id"] for row in log} == {prepared.boss.id}
