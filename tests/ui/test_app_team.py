"""A manager's team in the app: who works on which study, people by a list, qualification, words before they hold."""

import re
from pathlib import Path

from app_driver import Prepared, go, in_both, open_app, said
from quality_world import know
from sqlalchemy import update
from streamlit.testing.v1 import AppTest

from audit.annotation.accounts import account_details, change_account
from audit.annotation.control_questions import known_questions, qualification
from audit.annotation.invitations import Terms, invite, join
from audit.annotation.queue import next_question
from audit.annotation.words import own_words, set_words
from audit.judging.judgements import judge
from audit.store.core import source
from audit.ui.language import text_in


def pressed(app: AppTest, label: str) -> AppTest:
    app = next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
    return app


@in_both
def test_a_manager_assigns_somebody_to_a_study(prepared: Prepared, language: str) -> None:
    app = go(open_app(prepared.boss, language), "accounts")
    app.selectbox(key="change-who").set_value(prepared.ann.id).run()
    field = app.multiselect(key=f"studies-{prepared.ann.id}-()")
    assert field.options == [text_in(language, "browse.study_name", corpus="sentences", id=1)]
    field.set_value([1])
    app = pressed(app, text_in(language, "accounts.store"))
    people = {one.name: one.studies for one in account_details(prepared.engine)}
    assert (people["ann"], people["ben"]) == ((1,), ())
    table = app.dataframe[0].value.set_index(text_in(language, "accounts.name"))
    column = table[text_in(language, "accounts.studies")]
    assert column["ann"] == text_in(language, "browse.study_name", corpus="sentences", id=1)
    assert column["ben"] == text_in(language, "accounts.all_studies")
    log = go(app, "log").dataframe[0].value
    changed = log[log[text_in(language, "log.action")] == text_in(language, "log_action.account_changed")]
    assert text_in(language, "accounts.all_studies") in changed[text_in(language, "log.detail")].iloc[0]


def test_questions_that_nobody_assigned_may_answer_are_told(prepared: Prepared) -> None:
    app = go(open_app(prepared.boss), "accounts")
    assert "work on that" not in said(app)
    with prepared.engine.begin() as connection:  # as if another study asked for all that is open
        connection.exec_driver_sql("UPDATE question SET studies = ',9,' WHERE priority IS NOT NULL")
    for account in (prepared.ann, prepared.ben, prepared.judge, prepared.boss):
        change_account(prepared.engine, account.name, account.role, studies=[1])
    for page in ("accounts", "dashboard"):
        app = go(open_app(prepared.boss), page)
        assert re.search(r"\d+ questions of 9 wait, and no annotator who reads English works on that", said(app)), page
    app = open_app(prepared.ann)
    assert "in studies that others work on" in said(app)
    assert text_in("en", "annotate.nothing_more") not in said(app)


@in_both
def test_qualification_is_one_switch(prepared: Prepared, language: str) -> None:
    shown = next_question(prepared.engine, prepared.ann.id)
    assert shown is not None
    judge(prepared.engine, prepared.ann.id, shown.id, "positive")
    know(prepared.engine, "training", 3)
    app = go(open_app(prepared.boss, language), "quality")
    app.session_state["quality-mode"] = "known"
    app.run()
    assert text_in(language, "qualification.off", count=3, mark="75") in said(app)
    app.checkbox(key="qualification-exempt").uncheck().run()
    assert text_in(language, "qualification.locked", count=1) in said(app)
    app.checkbox(key="qualification-exempt").check().run()
    app.button(key="qualification-on").click().run()
    assert not app.exception
    assert text_in(language, "qualification.is_on", count=3) in said(app)
    assert text_in(language, "qualification.waiting", count=0, judged=1) in said(app)
    assert qualification(prepared.engine).on
    assert text_in(language, "training.title") not in said(open_app(prepared.ann, language))
    assert text_in(language, "training.begin") in [button.label for button in open_app(prepared.ben, language).button]
    app.button(key="qualification-off").click().run()
    assert not qualification(prepared.engine).on
    assert len(known_questions(prepared.engine)) == 3


def test_where_there_is_nothing_to_pick_the_switch_says_what_to_do(prepared: Prepared) -> None:
    with prepared.engine.begin() as connection:
        connection.execute(update(source).values(gold=None))
    app = go(open_app(prepared.boss), "quality")
    app.session_state["quality-mode"] = "known"
    app.run()
    app.button(key="qualification-on").click().run()
    assert "add texts with their answers from a CSV file" in said(app)


def test_words_are_looked_at_before_they_hold(prepared: Prepared) -> None:
    app = go(open_app(prepared.boss), "words")
    app.text_input(key="words-question-sentiment--0").set_value("Is it praise?")
    app = pressed(app, text_in("en", "words.preview"))
    assert text_in("en", "words.not_stored") in said(app)
    assert "### Is it praise?" in said(app)
    with prepared.engine.connect() as connection:
        assert own_words(connection, "sentiment").version == 0


def test_words_can_be_set_before_anything_is_asked_and_a_plan_shows_them(tmp_path: Path, monkeypatch) -> None:
    from audit.annotation.accounts import add_account
    from audit.store import open_store

    engine = open_store(str(tmp_path / "new.db"), create=True)
    boss = add_account(engine, "boss", "manager", "a long password")
    monkeypatch.setenv("AUDIT_DB", str(tmp_path / "new.db"))
    app = go(open_app(boss), "studies")
    assert not app.exception
    assert "People will be asked:" in said(app)
    app = go(open_app(boss), "words")
    assert app.selectbox(key="words-task").value == "sentiment"
    set_words(engine, "sentiment", {"question": "How was the stay?"})
    assert "How was the stay?" in said(go(open_app(boss), "studies"))


def test_a_completion_code_is_read_although_others_have_work_left(prepared: Prepared) -> None:
    secret = invite(prepared.engine, Terms(code="C0DE-7", studies=[1]))
    cy = join(prepared.engine, secret, "5f0a1b2c", "a long password")
    shown = next_question(prepared.engine, cy.id)
    assert shown is not None
    judge(prepared.engine, cy.id, shown.id, "positive")
    assert "C0DE" not in said(open_app(cy))
    with prepared.engine.begin() as connection:  # as if another study asked for all that is open
        connection.exec_driver_sql("UPDATE question SET studies = ',9,' WHERE priority IS NOT NULL")
    page = said(open_app(cy))
    assert "C0DE\\-7" in page
    assert "in studies that others work on" in page
