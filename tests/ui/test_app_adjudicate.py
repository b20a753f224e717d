"""The adjudicator's page: what hangs on a dispute, names in the log, reasons, changes, causes; the manager's log."""

from datetime import timedelta

import pytest
from app_driver import PASSWORD, Prepared, blocks, go, in_both, is_on, open_app, rows, said

from audit.annotation.accounts import add_account
from audit.annotation.guidelines import guideline_of
from audit.annotation.queue import next_question
from audit.false_satisfaction.impact import cause_of, false_satisfactions
from audit.judging.adjudications import adjudicate
from audit.judging.judgements import judge
from audit.store import tables
from audit.ui import causes
from audit.ui.language import text_in


def dispute(prepared: Prepared, number: int = 1) -> list[int]:
    """Questions on which ann and ben disagree."""
    ids = []
    for _ in range(number):
        for account, answer in ((prepared.ann, "positive"), (prepared.ben, "negative")):
            shown = next_question(prepared.engine, account.id)
            judge(prepared.engine, account.id, shown.id, answer, comment=f"**{answer}** <b>")
        ids.append(shown.id)
    return ids


SETTLED = {"en": "Somebody else has settled that question meanwhile", "zh": "该题目刚刚已由他人裁决"}


def mode(app, name: str):
    return app.segmented_control(key="adjudicate-mode").set_value(name).run()


@in_both
def test_a_dispute_says_how_much_waits_for_it_and_is_settled_by_a_code(prepared: Prepared, language: str) -> None:
    (id,) = dispute(prepared)
    app = go(open_app(prepared.judge, language), "adjudicate")
    page = blocks(app)
    assert text_in(language, "dispute.why", count=2) in page
    assert text_in(language, "dispute.waits", count=4) in page
    # Whoever decides is told neither relations nor systems.
    assert not [name for name in ("MR1.4", "MR3.1", "vader", "textblob") if name in page]
    assert text_in(language, "dispute.annotator", number=2) in page
    assert "**positive** &lt;b&gt;" in page
    app.button(key=f"allow-{id}-neutral").click().run()
    app.button(key=f"code-allow-{id}-mixed_opinion").click().run()
    app.button(key=f"settle-{id}").click().run()
    assert not app.exception
    (stored,) = rows(prepared, tables.Adjudication)
    assert (stored["code"], stored["reason"], stored["guideline"], stored["allowed"]) == (
        "mixed_opinion", "", guideline_of("sentiment", "input").version, ["neutral"],
    )  # fmt: skip


@in_both
def test_who_settles_what_somebody_else_has_just_settled_is_told(prepared: Prepared, language: str) -> None:
    first, second = dispute(prepared, 2)
    app = go(open_app(prepared.judge, language), "adjudicate")
    (shown,) = (id for id in (first, second) if any(button.key == f"settle-{id}" for button in app.button))
    app.button(key=f"allow-{shown}-neutral").click().run()
    app.button(key=f"code-allow-{shown}-mixed_opinion").click().run()
    adjudicate(prepared.engine, prepared.boss.id, shown, ["positive"], "", "slip")
    app.button(key=f"settle-{shown}").click().run()
    assert SETTLED[language] in said(app)
    assert [row["allowed"] for row in rows(prepared, tables.Adjudication)] == [["positive"]]
    other = first + second - shown
    app.button(key=f"allow-{other}-neutral").click().run()
    app.button(key=f"code-allow-{other}-mixed_opinion").click().run()
    app.button(key=f"settle-{other}").click().run()
    assert SETTLED[language] not in said(app)
    assert [row["allowed"] for row in rows(prepared, tables.Adjudication)] == [["positive"], ["neutral"]]


def test_the_log_of_an_account_that_is_no_manager_stays_closed(prepared: Prepared) -> None:
    app = go(open_app(prepared.judge), "log")
    assert not any(text_in("en", "log.what") in element.value for element in app.caption)


@in_both
def test_the_last_decision_is_changed_and_both_are_kept(prepared: Prepared, language: str) -> None:
    (id,) = dispute(prepared)
    first = adjudicate(prepared.engine, prepared.judge.id, id, ["neutral"], "", "slip")
    app = mode(go(open_app(prepared.judge, language), "adjudicate"), "mine")
    assert text_in(language, "reason.slip") in blocks(app)
    app.button(key=f"change-{first}").click().run()
    assert is_on(app, f"again-{first}-neutral")
    app.button(key=f"again-{first}-neutral").click().run()
    app.button(key=f"again-{first}-positive").click().run()
    app.button(key=f"store-again-{first}").click().run()
    assert not app.exception
    assert [row["allowed"] for row in rows(prepared, tables.Adjudication)] == [["neutral"], ["positive"]]
    assert [row["code"] for row in rows(prepared, tables.Adjudication)] == ["slip", "slip"]


def test_nobody_s_votes_are_shown_when_a_spot_check_is_changed(prepared: Prepared) -> None:
    (id,) = dispute(prepared)
    first = adjudicate(prepared.engine, prepared.judge.id, id, ["neutral"], "spot check: dry")
    app = mode(go(open_app(prepared.judge), "adjudicate"), "mine")
    app.button(key=f"change-{first}").click().run()
    assert app.text_area(key=f"words-again-{first}").value == "dry"
    assert 'class="audit-votes"' not in blocks(app)
    assert not any(str(button.key).startswith("reveal-") for button in app.button)
    app.button(key=f"leave-{first}").click().run()
    assert len(rows(prepared, tables.Adjudication)) == 1


@pytest.fixture
def false_ones(prepared: Prepared) -> Prepared:
    """Every question is settled, as neutral: whatever system said something is wrong."""
    ada = add_account(prepared.engine, "ada", "adjudicator", PASSWORD).id
    for row in rows(prepared, tables.Question):
        adjudicate(prepared.engine, ada, row["id"], ["neutral"], "for a test")
    return prepared


@in_both
def test_causes_are_given_one_after_the_other_and_taken_back(
    false_ones: Prepared, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(causes, "LEAST", timedelta(0))
    engine, who = false_ones.engine, false_ones.judge.id
    waiting = false_satisfactions(engine, who).without
    assert len(waiting) > 4
    app = mode(go(open_app(false_ones.judge, language), "adjudicate"), "causes")
    name = "{}-{}".format(*waiting[0])
    assert text_in(language, "causes.question") in blocks(app)
    app.button(key=f"judge-cause-{name}-other").click().run()
    assert rows(false_ones, tables.Cause) == []  # it needs a comment
    app.text_input(key=f"why-{name}").set_value("a title, no text").run()
    app.button(key=f"judge-cause-{name}-other").click().run()
    assert cause_of(engine, who, *waiting[0]) == ("other", "a title, no text")
    second = "{}-{}".format(*waiting[1])
    app.button(key=f"judge-cause-{second}-relation_loose").click().run()
    assert not app.exception
    third = "{}-{}".format(*waiting[2])
    app.button(key=f"undo-cause-{third}").click().run()
    assert text_in(language, "causes.undone") in said(app)
    assert app.button(key=f"judge-cause-{second}-doubtful")
    app.button(key=f"later-cause-{second}").click().run()
    assert app.button(key=f"judge-cause-{third}-doubtful")
    assert [row["code"] for row in rows(false_ones, tables.Cause)] == ["other", "relation_loose", "taken_back"]


@in_both
def test_what_is_missing_is_said_below_its_field(prepared: Prepared, language: str) -> None:
    (id,) = dispute(prepared)
    app = go(open_app(prepared.judge, language), "adjudicate")
    for press, missing in (
        (None, "no_label"),
        (f"allow-{id}-neutral", "no_reason"),
        (f"code-allow-{id}-other", "no_words"),
    ):
        if press:
            app.button(key=press).click().run()
            assert not app.error
        app.button(key=f"settle-{id}").click().run()
        assert [error.value for error in app.error] == [text_in(language, f"adjudicate.{missing}")]
    assert rows(prepared, tables.Adjudication) == []


@in_both
def test_a_decision_is_taken_back_with_what_was_chosen_and_written(prepared: Prepared, language: str) -> None:
    dispute(prepared, 2)
    app = go(open_app(prepared.judge, language), "adjudicate")
    first = int(app.session_state["decision-shown"][1])
    app.button(key=f"allow-{first}-neutral").click().run()
    app.button(key=f"code-allow-{first}-figurative").click().run()
    app.text_area(key=f"words-allow-{first}").set_value("**irony**")
    app.button(key=f"settle-{first}").click().run()
    assert app.session_state["decision-shown"][1] != first
    app.button(key="undo-decision").click().run()
    assert not app.exception
    assert app.session_state["decision-shown"][1] == first
    assert is_on(app, f"allow-{first}-neutral")
    assert is_on(app, f"code-allow-{first}-figurative")
    assert app.text_area(key=f"words-allow-{first}").value == "**irony**"
    app.button(key=f"settle-{first}").click().run()
    assert [row["allowed"] for row in rows(prepared, tables.Adjudication)] == [["neutral"], [], ["neutral"]]
