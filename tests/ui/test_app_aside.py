"""Skip, flag, undo of several, guideline and pace, through the app itself, in both languages."""

import re

import pytest
from app_driver import HOSTILE, Prepared, blocks, go, in_both, open_app, rows
from app_driver import said as written
from streamlit.testing.v1 import AppTest

from audit.judging import unit
from audit.judging.sign_in import end_logins
from audit.judging.words import Guideline, guideline_of
from audit.store import tables
from audit.ui import question
from audit.ui.language import text_in


@pytest.fixture(autouse=True)
def _no_waiting(no_waiting: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is a pace kept for half a minute."""


def said(app: AppTest) -> str:
    """What the page says, as it is read: without the signs that keep Markdown literal."""
    return re.sub(r"\\([^\w\s])", r"\1", written(app))


def shown(app: AppTest) -> int:
    return int(app.session_state["shown"][0])


def press(app: AppTest, name: str) -> int:
    """Press a button of the question on the screen (judge-..., undo, skip, ...); the question's id."""
    question = shown(app)
    begin, _, answer = name.partition("-")
    app.button(key=f"{begin}-{question}" + (f"-{answer}" if answer else "")).click().run()
    assert not app.exception
    return question


@in_both
def test_a_flag_needs_a_comment_and_goes_to_the_adjudicator_who_settles_it(prepared: Prepared, language: str) -> None:
    app = open_app(prepared.ann, language)
    question = press(app, "flag")
    assert text_in(language, "annotate.flag_needs_comment") in said(app)
    assert rows(prepared, tables.Aside) == []
    assert shown(app) == question
    app.text_input(key=f"comment-{question}").set_value(HOSTILE)
    press(app, "flag")
    assert shown(app) != question
    assert text_in(language, "annotate.flagged") in said(app)
    assert "11 " in said(app)
    assert rows(prepared, tables.Judgement) == []
    desk = go(open_app(prepared.judge, language), "adjudicate")
    assert text_in(language, "flagged.flags", count=1) in desk.segmented_control(key="adjudicate-mode").options
    desk.segmented_control(key="adjudicate-mode").set_value("flags").run()
    page = blocks(desk)
    assert text_in(language, "flagged.says") in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>" not in page
    assert ">ann<" not in page
    desk.button(key=f"allow-{question}-negative").click().run()
    desk.text_area(key=f"words-allow-{question}").set_value("half a sentence")
    desk.button(key=f"settle-{question}").click().run()
    assert not desk.exception
    assert text_in(language, "flagged.nothing") in blocks(desk)
    assert [(row["origin"], row["allowed"]) for row in rows(prepared, tables.Answer)] == [("adjudicated", ["negative"])]


@pytest.mark.parametrize("name", ["skip", "flag", "undo"])
def test_a_login_that_has_ended_puts_nothing_aside(prepared: Prepared, name: str) -> None:
    app = open_app(prepared.ann)
    press(app, "judge-neutral")
    app.text_input(key=f"comment-{shown(app)}").set_value("odd")
    end_logins(prepared.engine, prepared.ann.id)
    press(app, name)
    assert text_in("en", "app.logged_out") in said(app)
    assert rows(prepared, tables.Aside) == []
    assert [row["answer"] for row in rows(prepared, tables.Judgement)] == ["neutral"]


@in_both
def test_the_guideline_opens_and_says_once_that_it_changed(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    app = open_app(prepared.ann, language)
    now = guideline_of("sentiment", "input", language)
    assert now.text in said(app)  # beside the text, where the window is wide; below it once it was opened
    assert "version: " not in said(app)
    press(app, "guideline")
    assert app.session_state["guideline-open"]
    press(app, "judge-neutral")
    assert app.session_state["guideline-open"]
    press(app, "guideline")
    assert not app.session_state["guideline-open"]
    newer = Guideline(now.version + 1, "Judge anew.")
    monkeypatch.setattr(unit, "guideline_in_force", lambda *_: newer)
    monkeypatch.setattr(question, "guideline_of", lambda *_: newer)
    app = open_app(prepared.ann, language)
    changed = text_in(language, "annotate.guideline_changed", version=newer.version, before=now.version)
    assert changed in said(app)
    assert changed not in said(open_app(prepared.ben, language))  # who never judged has nothing to unlearn
    press(app, "judge-neutral")
    assert changed not in said(app)
    assert text_in(language, "annotate.guideline_version", version=newer.version) in said(app)
    assert [row["guideline"] for row in rows(prepared, tables.Judgement)] == [now.version, newer.version]
