"""The page Quality through the app: numbers, known questions, settings, in both languages."""

import csv
import io
from collections.abc import Callable

import pytest
from app_driver import HOSTILE, Prepared, go, in_both, open_app, rows, said
from streamlit.testing.v1 import AppTest

from audit.annotation.control_questions import judging_record, known_questions
from audit.annotation.queue import next_question
from audit.annotation.settings import change_settings, settings_of
from audit.judging.adjudications import adjudicate
from audit.judging.judgements import judge
from audit.judging.judges import JudgeRequest, ask_judge
from audit.reports.quality import quality_report
from audit.store import table_of, tables
from audit.systems.judge import function_judge
from audit.ui import quality
from audit.ui.language import plain, text_in


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


@in_both
def test_judges_that_are_models_stand_apart(prepared: Prepared, opened: Callable[..., AppTest], language: str) -> None:
    app = opened("judges", language)
    assert text_in(language, "quality.no_judges") in said(app)
    judged(prepared)
    simulated = function_judge(lambda asked: "positive", "simulated", None)
    ask_judge(prepared.engine, simulated, JudgeRequest())
    app = opened("judges", language)
    assert not app.exception
    assert any("simulated" in one.value for one in app.header)
    assert plain(text_in(language, "judges.note_apart")) in said(app)


def test_the_download_has_every_number_and_no_formula(prepared: Prepared) -> None:
    judged(prepared)
    (ann, _) = quality_report(judging_record(prepared.engine))["annotators"]
    row = quality._flatten(ann | {"annotator": "=1+1"})
    assert row["annotator"] == "'=1+1"
    assert row["others_value"] == 0.5
    assert row["bias_neutral_value"] is None
    written = io.StringIO()
    csv.DictWriter(written, list(row)).writerow(row)


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


def press(app: AppTest, label: str, key: str | None = None) -> None:
    next(
        button for button in app.button if button.label == label and (key is None or key in str(button.key))
    ).click().run()
    assert not app.exception


@in_both
def test_known_questions_are_listed_made_and_removed(
    prepared: Prepared, opened: Callable[..., AppTest], language: str
) -> None:
    app = opened("known", language)
    assert text_in(language, "known.none") in said(app)
    press(app, text_in(language, "known.do_pick"))
    assert not known_questions(prepared.engine)  # a corpus without gold has none to pick, and the page says so
    refusal = text_in(language, "known.nothing_to_pick")
    assert refusal[1:25] in said(app)
    adjudicate(prepared.engine, prepared.judge.id, 1, ["negative"], "clear")
    app = opened("known", language)
    app.text_input(key="known-numbers").set_value("1, x")
    press(app, text_in(language, "known.do_add"), "known-settled")
    assert text_in(language, "known.give_numbers")[1:20] in said(app)
    with prepared.engine.begin() as connection:
        question = table_of(tables.Question)
        connection.execute(question.update().where(question.c.id == 1).values(priority=None))
    app.text_input(key="known-numbers").set_value("1")
    app.text_area(key="known-why").set_value(HOSTILE)
    press(app, text_in(language, "known.do_add"), "known-settled")
    (known_question,) = known_questions(prepared.engine)
    assert (known_question.id, known_question.purpose, known_question.allowed, known_question.explanation) == (
        1,
        "training",
        ("negative",),
        HOSTILE,
    )
    assert list(app.dataframe[0].value[text_in(language, "known.question")]) == [1]
    app.multiselect(key="known-gone").set_value([1])
    press(app, text_in(language, "known.do_remove"))
    assert known_questions(prepared.engine) == []
    assert text_in(language, "known.removed", count=1) in said(app)
