"""A manager's team in the app: qualification, and words before they hold."""

import pytest
from app_driver import Prepared, blocks, go, in_both, open_app, said
from quality_world import know
from streamlit.testing.v1 import AppTest

from audit.judging.control_questions import known_questions
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.training import qualification
from audit.judging.words import words_of
from audit.ui.language import text_in


def pressed(app: AppTest, label: str) -> AppTest:
    app = next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
    return app


@pytest.mark.slow
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
    app.button(key="qualification-on").click().run()
    assert not app.exception
    assert text_in(language, "qualification.on", count=3, mark="75") in said(app)
    assert qualification(prepared.engine).on
    assert text_in(language, "measure.training") not in said(open_app(prepared.ann, language))
    assert text_in(language, "first.enter") in [button.label for button in open_app(prepared.ben, language).button]
    app.button(key="qualification-off").click().run()
    assert not qualification(prepared.engine).on
    assert len(known_questions(prepared.engine)) == 3


def test_words_are_set_in_a_form(prepared: Prepared) -> None:
    app = go(open_app(prepared.boss), "words")
    app.text_input(key="words-question-sentiment-sentences--0").set_value("Is it praise?")
    pressed(app, text_in("en", "words.store"))
    with prepared.engine.connect() as connection:
        assert words_of(connection).version("sentiment", "sentences").version == 1
    assert "Is it praise?" in blocks(open_app(prepared.ann))
