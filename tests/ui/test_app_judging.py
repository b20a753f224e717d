"""Logging in, judging, undoing and adjudicating, through the app itself."""

from datetime import timedelta

import pytest
from app_driver import PASSWORD, TEXTS, Prepared, blocks, in_both, log_in, open_app, press_answer, rows, said
from streamlit.testing.v1 import AppTest

from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.sign_in import end_logins, login_of
from audit.judging.words import guideline_of
from audit.store import table_of, tables
from audit.tasks import wording
from audit.ui import question, session
from audit.ui.language import html, text_in

pytestmark = pytest.mark.usefixtures("no_waiting")


@pytest.mark.slow
def test_no_database_is_said_and_not_raised(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_DB", str(tmp_path / "absent.db"))
    app = open_app()
    assert not app.exception
    assert "cannot be opened" in said(app)
    assert not (tmp_path / "absent.db").exists()


@pytest.mark.slow
def test_the_session_keeps_no_password_and_ends_with_the_login(prepared: Prepared) -> None:
    app = log_in(open_app(), "ann")
    assert PASSWORD not in str(app.session_state)
    end_logins(prepared.engine, prepared.ann.id)
    press_answer(app, "positive")
    assert "account_id" not in app.session_state
    assert text_in("en", "app.logged_out") in said(app)
    assert text_in("en", "welcome.what") in said(app)
    assert 'class="audit-who"' not in blocks(app)
    assert not rows(prepared, tables.Judgement)
    app.segmented_control[0].set_value("zh").run()
    assert not app.exception
    assert text_in("zh", "app.logged_out") in said(app)
    assert "/login" in blocks(app)


def test_a_session_that_somebody_else_comes_back_to_begins_anew(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app(prepared.ann)
    app.text_input[0].set_value("what ann wrote").run()
    app.session_state["of ann"] = "what ann wrote"
    monkeypatch.setattr(session, "cookie_token", lambda: login_of(prepared.engine, prepared.ben.id))
    app.run()
    assert '<p class="audit-who">ben<' in blocks(app)
    assert "of ann" not in app.session_state
    app.button(key="gate-begin").click().run()
    assert app.text_input[0].value == ""


def test_an_answer_that_comes_too_soon_is_not_taken(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question, "LEAST", timedelta(minutes=1))
    app = open_app(prepared.ann)
    before = app.session_state["shown"]
    press_answer(app, "positive")
    assert "not counted" in said(app)
    assert not rows(prepared, tables.Judgement)
    assert app.session_state["shown"][0] == before[0]
    assert app.session_state["shown"][2] > before[2]


def test_a_question_answered_elsewhere_meanwhile_is_refused(prepared: Prepared) -> None:
    app = open_app(prepared.ann)
    shown = next_question(prepared.engine, prepared.ann.id)
    assert shown is not None
    judge(prepared.engine, prepared.ann.id, shown.id, "neutral")
    press_answer(app, "positive")
    assert "This question is no longer yours to answer" in said(app)
    assert [row["answer"] for row in rows(prepared, tables.Judgement)] == ["neutral"]


@in_both
def test_the_guideline_comes_before_the_first_answer_of_a_kind(prepared: Prepared, language: str) -> None:
    def answers(app: AppTest) -> list[str]:
        return [str(button.key) for button in app.button if str(button.key).startswith(("judge-", "switch-"))]

    app = open_app(prepared.ann, language, read=False)
    guideline = guideline_of("sentiment", "input", language)
    assert text_in(language, "gate.title", task=wording("sentiment", language).name) in blocks(app)
    assert guideline.text in said(app)
    assert "`2`" in said(app), "the keys are named"
    assert not answers(app)
    assert not any(text in blocks(app) for text in TEXTS), "no question before somebody begins"
    # Whoever comes again without an answer reads it again.
    app = open_app(prepared.ann, language, read=False)
    app.button(key="gate-begin").click().run()
    assert answers(app)
    press_answer(app, "positive")
    app = open_app(prepared.ann, language, read=False)
    assert answers(app), "who has judged such a question before is not kept"


@in_both
def test_another_version_of_the_text_before_is_marked_and_said(prepared: Prepared, language: str) -> None:
    asked = table_of(tables.Question)
    with prepared.engine.begin() as connection:
        first = connection.execute(asked.select().order_by(asked.c.priority, asked.c.id)).mappings().first()
        connection.execute(asked.update().values(source_input_id=first["input_id"]))
    line = html(text_in(language, "differences.version"))
    app = open_app(prepared.ann, language)
    assert line not in blocks(app)
    press_answer(app, "positive")
    page = blocks(app)
    assert line in page
    assert "<ins>" in page
    assert html(text_in(language, "differences.since_last")) in page
    press_answer(app, "positive")
    assert [row["compared"] for row in rows(prepared, tables.Judgement)] == [None, 1]
