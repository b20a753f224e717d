"""Questions about groups in the app: what is shown, answered and adjudicated, in both languages."""

import re

import pytest
from app_driver import HOSTILE, Prepared, blocks, closed, in_both, open_app, opened_copy, said
from group_driver import names, prepare_groups, to_group
from sqlalchemy import select

from audit.annotation.guidelines import guideline_of
from audit.annotation.questions import reveals_outputs
from audit.annotation.queue import Shown, ShownGroup, ShownMember, show
from audit.judging.judgements import judge, undo
from audit.relations.asking import group_question
from audit.store import table_of, tables
from audit.tasks import Input, wording
from audit.ui.language import html, text_in, texts
from audit.ui.question import _group_html

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


def test_members_are_escaped_marked_and_numbered() -> None:
    source, other = Input.of("It is good."), Input.of(f"It is good. {HOSTILE}")
    pair = _group_html(ShownGroup("X", "", (ShownMember("source", source), ShownMember("follow_up", other))))
    assert "<script" not in pair
    assert "&lt;script&gt;" in re.sub("</?(ins|del)>", "", pair)
    assert "audit-beside" not in pair
    lost = _group_html(ShownGroup("X", "", (ShownMember("source", other), ShownMember("follow_up", source))))
    assert "<del>" in lost.partition("</section>")[0]  # what was left out is marked in the source
    members = (ShownMember("source", source), ShownMember("follow_up", other), ShownMember("follow_up", other))
    several = _group_html(ShownGroup("X", "", members))
    assert all(f"<h3>Text {letter}</h3>" in several for letter in "ABC")
    assert "<ins>" not in several.partition("</section>")[0].partition("audit-members")[2]
    losing = (ShownMember("source", other), ShownMember("follow_up", source), ShownMember("follow_up", source))
    assert _group_html(ShownGroup("X", "", losing)).count("<del>") == 3  # in each follow-up, and in the legend
    document = Input.of("A long review. " * 40)
    assert "audit-beside" in _group_html(ShownGroup("X", "", (ShownMember("source", document),)))


@in_both
def test_a_group_of_one_system_says_what_it_reveals(groups: Prepared, language: str) -> None:
    shown = to_group(groups, groups.ann.id)
    assert not shown.group.reveals_outputs
    assert html(text_in(language, "group.reveals")) not in body(open_app(groups.ann, language))
    with groups.engine.begin() as connection:
        system = connection.execute(select(table_of(tables.System).c.id)).scalars().first()
        connection.execute(table_of(tables.Group).update().values(system_id=system))
        assert show(connection, shown.id).group.reveals_outputs
        question = table_of(tables.Question)
        kinds = set(connection.execute(select(question.c.kind).where(reveals_outputs(question))).scalars())
    assert kinds == {"group"}
    assert html(text_in(language, "group.reveals")) in body(open_app(groups.ann, language))


@in_both
def test_a_change_of_kind_is_said_before_a_key_counts_and_undo_goes_back_over_it(
    groups: Prepared, language: str
) -> None:
    def answers(app) -> list[str]:
        return [str(button.key) for button in app.button if str(button.key).startswith("judge-")]

    def pressed(app, beginning: str):
        next(button for button in app.button if str(button.key).startswith(beginning)).click().run()
        assert not app.exception
        return app

    shown = to_group(groups, groups.ann.id)
    judge(groups.engine, groups.ann.id, shown.id, "holds")
    undo(groups.engine, groups.ann.id)  # she has judged a group before, so no guideline stands in her way
    text = undo(groups.engine, groups.ann.id)
    app = open_app(groups.ann, language, read=False)
    pressed(app, f"judge-{text}-neutral")
    title = html(text_in(language, "gate.switch_title", task=wording("sentiment", language).name))
    assert title in blocks(app)
    assert not answers(app)
    assert "guideline" not in "".join(str(button.key) for button in app.button)
    pressed(app, "undo-gate")
    assert f"judge-{text}-positive" in answers(app), "undo goes back over a change of kind"
    pressed(app, f"judge-{text}-positive")
    assert title in blocks(app)
    pressed(app, "gate-begin")
    assert f"judge-{shown.id}-holds" in answers(app)
    pressed(app, f"judge-{shown.id}-holds")
    assert title not in blocks(app), "the next one is of the same kind"
    # Whoever opens the page anew is told where the kind of the next question is another one than that answered last.
    judgement = table_of(tables.Judgement)
    with groups.engine.connect() as connection:
        assert connection.execute(select(judgement.c.answer).order_by(judgement.c.id.desc())).scalar() == "holds"
    assert title not in blocks(open_app(groups.ann, language, read=False))
