"""Questions about a text and its summary, about two texts, and of a label scheme of the corpus, in the app."""

import re

import pytest
from app_driver import Prepared, blocks, closed, in_both, open_app, opened_copy, rows, said
from pair_driver import prepare_pairs, to_task

from audit.judging.words import guideline_of
from audit.store import tables
from audit.tasks import wording
from audit.ui.language import text_in

pytestmark = pytest.mark.usefixtures("no_waiting")


@pytest.fixture(scope="module")
def original_pairs(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return closed(prepare_pairs(tmp_path_factory.mktemp("pairs") / "audit.db"))


@pytest.fixture
def pairs(original_pairs: Prepared, tmp_path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    return opened_copy(original_pairs, tmp_path / "audit.db", monkeypatch)


def body(app) -> str:
    """The page's HTML without its style sheet."""
    return re.sub(r"<style>.*?</style>", "", blocks(app), flags=re.DOTALL)


def answers(app) -> list[str]:
    return [button.label for button in app.button if str(button.key).startswith("judge-")]


@in_both
def test_a_summary_is_shown_under_its_text_and_apart_from_it(pairs: Prepared, language: str) -> None:
    shown = to_task(pairs, pairs.ann.id, "summarization", "甲赢了第")
    app = open_app(pairs.ann, language)
    page = body(app)
    assert text_in(language, "task.summarization.question") in page
    text, output = page.index(shown.texts[0]), page.index("audit-output")
    assert text < output < page.rindex(shown.output)
    assert text_in(language, "task.summarization.output") in page
    assert answers(app) == [wording("summarization", language).labels[label] for label in (*shown.labels, "unsure")]
    app.button(key=f"guideline-{shown.id}").click().run()
    assert guideline_of("summarization", "pair", language).text in said(app)
    app.button(key=f"judge-{shown.id}-minor_gaps").click().run()
    assert not app.exception
    assert rows(pairs, tables.Judgement)[-1]["answer"] == "minor_gaps"


def test_no_system_is_named_where_its_output_is_judged(pairs: Prepared) -> None:
    to_task(pairs, pairs.ann.id, "summarization", "甲赢了第")
    app = open_app(pairs.ann)
    sent = body(app) + said(app) + str(app.session_state)
    for name in ("lead", "first", "last", "satisfied", "carried"):
        assert not re.search(rf"\b{name}\b", sent), name
