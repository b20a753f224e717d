"""The words of tasks in the app: of the task itself, of a user's scheme, and those that a manager sets; and texts that
may have several labels."""

from collections.abc import Callable

import pytest
from app_driver import Prepared, blocks, in_both, open_app, rows, said
from words_driver import MANY, PREMISE, prepare_words

from audit.judging.queue import next_question
from audit.store import tables
from audit.tasks import wording
from audit.ui.language import plain

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


@pytest.mark.slow
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
