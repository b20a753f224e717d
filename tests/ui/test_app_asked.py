"""What annotators see of each kind of question: its texts by their names, its answers, its guideline; and no system."""

import re

import pytest
from app_driver import blocks, in_both, open_app, press_answer, rows, said
from asked_driver import MANY, names, prepare_groups, prepare_rows, to_question

from audit.judging.queue import next_question, show
from audit.judging.words import guideline_of
from audit.messages import catalogue
from audit.relations.asking import group_question
from audit.store import table_of, tables
from audit.tasks import wording
from audit.ui.language import html, plain, text_in

pytestmark = pytest.mark.usefixtures("no_waiting")


def body(app) -> str:
    """The page's HTML without its style sheet."""
    return re.sub(r"<style>.*?</style>", "", blocks(app), flags=re.DOTALL)


def answers(app, prefix: str = "judge-") -> list[str]:
    return [button.label for button in app.button if str(button.key).startswith(prefix)]


LANGUAGES = {"en": ("English", "Spanish"), "zh": ("英语", "西班牙语")}


@pytest.mark.slow
@in_both
@pytest.mark.parametrize(
    ("task", "text", "answer"),
    [("inference", "", "neutral"), ("summarization", "甲赢了第", "minor_gaps"), ("translation", "", "mistranslated")],
)
def test_texts_and_outputs_have_names_and_no_system(
    tmp_path, monkeypatch: pytest.MonkeyPatch, task: str, text: str, answer: str, language: str
) -> None:
    monkeypatch.setenv("AUDIT_DB", str(tmp_path / "audit.db"))
    prepared = prepare_rows(tmp_path / "audit.db", task)
    shown = to_question(prepared, prepared.ann.id, task, text)
    app = open_app(prepared.ann, language)
    page, words = body(app), wording(task, language)
    assert html(words.question) in page
    titles = [*words.texts, *([words.output] if shown.output else [])]
    if task == "translation":
        to = LANGUAGES[language]
        titles = [text_in(language, "asked.in_language", name=n, language=to[at]) for at, n in enumerate(titles)]
        assert re.findall(r'class="audit-text[^"]*" lang="([^"]*)"', page) == ["en", "es"]
    assert re.findall(r"<h3>(.*?)</h3>", page)[-len(titles) :] == titles
    assert page.index(html(shown.texts[0])) < page.rindex(html(shown.output or shown.texts[1]))
    assert not re.search("<b>|<ins>|<del>|<mark", page)
    assert answers(app) == [words.labels[label] for label in (*shown.labels, "unsure")]
    guideline = guideline_of(task, shown.kind, language).text.partition("{labels}")[0]
    assert guideline in said(app)
    sent = page + said(app).replace(guideline, "") + str(app.session_state)
    assert not re.search(r"\b(one|two|lead|first|last|satisfied|carried)\b", sent.replace("one paragraph", ""))
    press_answer(app, answer)
    assert rows(prepared, tables.Judgement)[-1]["answer"] == answer


@in_both
def test_a_group_has_a_plain_question_and_no_verdict(tmp_path, monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    monkeypatch.setenv("AUDIT_DB", str(tmp_path / "audit.db"))
    groups = prepare_groups(tmp_path / "audit.db")
    shown = to_question(groups, groups.ann.id, kind="group")
    app = open_app(groups.ann, language)
    page, group = body(app), shown.group
    said_of = catalogue("zh").get(f"relation.sentiment.{group.relation}", "") if language == "zh" else group.summary
    assert html(group_question(shown.task, group.relation, group.follow_ups, language, summary=said_of)) in page
    assert text_in(language, "group.text", letter="B") in page
    assert group.summary not in page
    assert "<ins>" in page or "<del>" in page
    assert answers(app) == [text_in(language, f"label.{label}") for label in ("holds", "broken", "unsure")]
    guideline = guideline_of("sentiment", "group", language)
    assert text_in(language, "annotate.guideline_version", version=guideline.version) in said(app)
    sent = page + said(app).replace(guideline.text, "") + str(app.session_state) + str(answers(app))
    assert not [word for word in (*names(groups), "satisfied", "violated", "0.", "positive</") if word in sent]
    reveals = html(text_in(language, "group.reveals"))
    assert reveals not in page
    with groups.engine.begin() as connection:  # a group that was made for one system says what it reveals
        connection.execute(table_of(tables.Group).update().values(system_id=1))
        assert show(connection, shown.id).group.reveals_outputs
    assert reveals in body(open_app(groups.ann, language))
    press_answer(app, "broken")
    assert rows(groups, tables.Judgement)[-1]["answer"] == "broken"


def test_labels_are_switched_on_and_stored_together(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_DB", str(tmp_path / "audit.db"))
    database = prepare_rows(tmp_path / "audit.db", MANY)
    app = open_app(database.ann)
    shown = next_question(database.engine, database.ann.id)
    store = f"judge-{shown.id}-together"
    assert answers(app, "switch-") == ["refund", "late", "rude", "None of these"]
    assert app.button(key=store).disabled
    for label in ("rude", "none", "late", "rude", "refund", "refund"):
        app.button(key=f"switch-{shown.id}-{label}").click().run()
    assert app.button(key=store).label == plain("Store: late + rude")
    assert rows(database, tables.Judgement) == []
    app.button(key=store).click().run()
    assert [row["answer"] for row in rows(database, tables.Judgement)] == ["late+rude"]
    following = next_question(database.engine, database.ann.id)
    store = f"judge-{following.id}-together"
    assert app.button(key=store).disabled, "nothing is on for the next one"
    for label in ("late", "none"):
        app.button(key=f"switch-{following.id}-{label}").click().run()
    app.button(key=store).click().run()
    assert rows(database, tables.Judgement)[-1]["answer"] == "none"
    next(button for button in app.button if str(button.key).startswith("undo-")).click().run()
    assert "None of these" in said(app)
    assert app.button(key=store).disabled
