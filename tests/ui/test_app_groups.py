"""Questions about groups in the app: what is shown, answered and adjudicated, in both languages."""

import re

import pytest
from app_driver import Prepared, blocks, closed, in_both, open_app, opened_copy, said
from group_driver import names, prepare_groups, to_group
from sqlalchemy import select

from audit.judging.queue import Shown, show
from audit.judging.words import guideline_of
from audit.relations.asking import group_question
from audit.store import table_of, tables
from audit.ui.language import html, text_in, texts

pytestmark = pytest.mark.usefixtures("no_waiting")


@pytest.fixture(scope="module")
def original_groups(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return closed(prepare_groups(tmp_path_factory.mktemp("groups") / "audit.db"))


@pytest.fixture
def groups(original_groups: Prepared, tmp_path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    return opened_copy(original_groups, tmp_path / "audit.db", monkeypatch)


def stored(prepared: Prepared, model: type) -> list:
    with prepared.engine.connect() as connection:
        return list(connection.execute(select(table_of(model))).mappings())


def body(app) -> str:
    """The page's HTML without its style sheet."""
    return re.sub(r"<style>.*?</style>", "", blocks(app), flags=re.DOTALL)


def asked(shown: Shown, language: str) -> str:
    """What the page asks about a group."""
    said = (
        texts("zh").get(f"relation.sentiment.{shown.group.relation}", "") if language == "zh" else shown.group.summary
    )
    return group_question(shown.task, shown.group.relation, shown.group.follow_ups, language, summary=said)


@in_both
def test_a_group_is_shown_with_a_plain_question_and_judged(groups: Prepared, language: str) -> None:
    shown = to_group(groups, groups.ann.id)
    app = open_app(groups.ann, language)
    page = body(app)
    assert html(asked(shown, language)) in page
    assert text_in(language, "group.text", letter="A") in page
    assert text_in(language, "group.text", letter="B") in page
    assert shown.group.summary not in page
    assert "<ins>" in page or "<del>" in page
    labels = [button.label for button in app.button if str(button.key).startswith("judge-")]
    assert labels == [text_in(language, f"label.{label}") for label in ("holds", "broken", "unsure")]
    guideline = guideline_of("sentiment", "group", language)
    assert text_in(language, "annotate.guideline_version", version=guideline.version) in said(app)
    assert guideline.text in said(app)
    app.button(key=f"judge-{shown.id}-broken").click().run()
    assert not app.exception
    assert [(row["question_id"], row["answer"]) for row in stored(groups, tables.Judgement)][-1] == (shown.id, "broken")


def test_neither_systems_nor_relations_nor_verdicts_reach_the_annotator(groups: Prepared) -> None:
    to_group(groups, groups.ann.id)
    app = open_app(groups.ann)
    sent = body(app) + said(app) + str(app.session_state) + str([button.label for button in app.button])
    for word in (*names(groups), "satisfied", "violated", "0.", "positive</"):
        assert word not in sent


@in_both
def test_a_group_of_one_system_says_what_it_reveals(groups: Prepared, language: str) -> None:
    shown = to_group(groups, groups.ann.id)
    assert not shown.group.reveals_outputs
    assert html(text_in(language, "group.reveals")) not in body(open_app(groups.ann, language))
    with groups.engine.begin() as connection:
        system = connection.execute(select(table_of(tables.System).c.id)).scalars().first()
        connection.execute(table_of(tables.Group).update().values(system_id=system))
        assert show(connection, shown.id).group.reveals_outputs
    assert html(text_in(language, "group.reveals")) in body(open_app(groups.ann, language))
