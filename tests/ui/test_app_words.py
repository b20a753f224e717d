"""The words of tasks in the app: of the task itself, of a user's scheme, and those that a manager sets; and texts that
may have several labels."""

from collections.abc import Callable

import pytest
from app_driver import Prepared, blocks, go, in_both, is_on, open_app, rows, said
from words_driver import MANY, PREMISE, prepare_words

from audit.annotation.queue import next_question
from audit.annotation.words import stored_words
from audit.judging.judgements import judge
from audit.store import tables
from audit.tasks import wording
from audit.ui.language import plain, text_in

pytestmark = pytest.mark.usefixtures("no_waiting")


@pytest.fixture
def prepared(tmp_path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Prepared]:
    def make(*tasks: str) -> Prepared:
        monkeypatch.setenv("AUDIT_DB", str(tmp_path / "audit.db"))
        return prepare_words(tmp_path / "audit.db", *tasks)

    return make


def buttons(app, prefix: str = "judge-") -> list[str]:
    return [button.label for button in app.button if str(button.key).startswith(prefix)]


NAMES = {
    "en": ("Premise", "Hypothesis", ["Follows", "Neither follows nor is ruled out", "Contradicts", "Unsure"]),
    "zh": ("前提", "假设", ["可推出", "推不出，也不矛盾", "矛盾", "不确定"]),
}


@in_both
def test_inference_names_its_texts_and_its_neutral(prepared, language: str) -> None:
    premise, hypothesis, labels = NAMES[language]
    app = open_app(prepared("inference").ann, language)
    page = blocks(app)
    assert wording("inference", language).question in page
    assert page.index(f"<h3>{premise}</h3>") < page.index(PREMISE) < page.index(f"<h3>{hypothesis}</h3>")
    assert buttons(app) == labels


def test_labels_are_switched_on_and_stored_together(prepared) -> None:
    database = prepared(MANY)
    app = open_app(database.ann)
    shown = next_question(database.engine, database.ann.id)
    store = f"judge-{shown.id}-together"
    assert buttons(app, "switch-") == ["refund", "late", "rude", "None of these"]
    assert app.button(key=store).disabled
    for label in ("rude", "none", "late", "rude", "refund", "refund"):
        app.button(key=f"switch-{shown.id}-{label}").click().run()
    assert not app.exception
    assert app.button(key=store).label == plain("Store: late + rude")
    assert rows(database, tables.Judgement) == []
    app.button(key=store).click().run()
    assert [row["answer"] for row in rows(database, tables.Judgement)] == ["late+rude"]
    following = next_question(database.engine, database.ann.id)
    assert following.id != shown.id
    assert app.button(key=f"judge-{following.id}-together").disabled, "nothing is on for the next one"
    app.button(key=f"switch-{following.id}-late").click().run()
    app.button(key=f"switch-{following.id}-none").click().run()
    app.button(key=f"judge-{following.id}-together").click().run()
    assert rows(database, tables.Judgement)[-1]["answer"] == "none"
    undo = next(button for button in app.button if str(button.key).startswith("undo-"))
    undo.click().run()
    assert "None of these" in said(app)
    assert app.button(key=f"judge-{following.id}-together").disabled


@in_both
def test_adjudicators_choose_several_labels_as_one_answer(prepared, language: str) -> None:
    database = prepared(MANY)
    ids = set()
    for person, answer in ((database.ann, "late"), (database.ben, "late+rude")):
        while (shown := next_question(database.engine, person.id)) is not None:
            ids.add(shown.id)
            judge(database.engine, person.id, shown.id, answer)
    app = open_app(database.judge, language)
    assert "late + rude" in blocks(app)
    id = next(int(str(box.key).split("-")[1]) for box in app.button if str(box.key).startswith("allow-"))
    app.button(key=f"allow-{id}-late").click().run()
    app.button(key=f"allow-{id}-none").click().run()
    assert [is_on(app, f"allow-{id}-{label}") for label in ("late", "none")] == [False, True]
    app.button(key=f"allow-{id}-late").click().run()
    app.button(key=f"allow-{id}-refund").click().run()
    assert [is_on(app, f"allow-{id}-{label}") for label in ("refund", "late", "none")] == [True, True, False]
    app.text_area(key=f"words-allow-{id}").set_value("both")
    app.button(key=f"settle-{id}").click().run()
    assert not app.exception
    assert rows(database, tables.Adjudication)[-1]["allowed"] == ["refund+late"]


@in_both
def test_a_manager_sets_words_that_annotators_read(prepared, language: str) -> None:
    database = prepared("inference")
    app = go(open_app(database.boss, language), "words")
    assert text_in(language, "words.shipped", guideline=1) in said(app)
    place = "inference--0"
    app.text_input(key=f"words-question-{place}").set_value("Must it be so?")
    app.text_input(key=f"words-label-{place}-neutral").set_value("It may be")
    app.text_area(key=f"words-guideline-{place}").set_value("**Read twice.**\n\n{labels}")
    next(button for button in app.button if button.label == text_in(language, "words.store")).click().run()
    assert not app.exception
    assert text_in(language, "words.stored", guideline=2) in said(app)
    with database.engine.connect() as connection:
        assert stored_words(connection, "inference").version == 1
    judging = open_app(database.ann, language)
    assert "Must it be so?" in blocks(judging)
    assert "It may be" in buttons(judging)
    shown = next_question(database.engine, database.ann.id)
    judging.button(key=f"guideline-{shown.id}").click().run()
    assert "**It may be**" in said(judging)
    assert "Read twice" in said(judging)
    judging.button(key=f"judge-{shown.id}-neutral").click().run()
    assert rows(database, tables.Judgement)[-1]["guideline"] == 2
    app = go(open_app(database.boss, language), "words")
    app.text_input(key="words-question-inference--1").set_value("Something else?")
    next(button for button in app.button if button.label == text_in(language, "words.store")).click().run()
    with database.engine.connect() as connection:
        assert stored_words(connection, "inference").version == 1, "an answer was given under them"
    app.checkbox(key="words-change-inference--1").check()
    next(button for button in app.button if button.label == text_in(language, "words.store")).click().run()
    with database.engine.connect() as connection:
        assert stored_words(connection, "inference").version == 2
    assert [row["action"] for row in rows(database, tables.Log)].count("words") == 2


def test_annotators_do_not_set_words(prepared) -> None:
    app = go(open_app(prepared("inference").ann), "words")
    assert not [field for field in app.text_input if str(field.key).startswith("words-")]
