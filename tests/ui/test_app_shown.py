"""Under the protocol `shown`: earlier answers on the judging page, why there is nothing now, inspections."""

import pytest
from app_driver import Prepared, blocks, go, in_both, open_app, press_answer, rows, said
from streamlit.testing.v1 import AppTest

from audit.annotation.queue import next_question
from audit.judging.judgements import judge
from audit.judging.samples import draw_all
from audit.sampling.draw import SampleRequest, Size
from audit.store import table_of, tables
from audit.ui.language import text_in

pytestmark = pytest.mark.usefixtures("no_waiting")

EARLIER = '<ul class="audit-votes audit-earlier">'
COMMENT = "<script>alert(2)</script> **sure** 'tis"


@pytest.fixture
def shown(prepared: Prepared) -> Prepared:
    """The same database, all of whose questions are answered one after the other."""
    draw_all(prepared.engine, SampleRequest(Size(per_relation=20), protocol="shown"))
    return prepared


def only(prepared: Prepared, question: int) -> None:
    """Leave one question in the queue."""
    table = table_of(tables.Question)
    with prepared.engine.begin() as connection:
        connection.execute(table.update().where(table.c.id != question).values(priority=None))


def everything(app: AppTest) -> str:
    """All that is sent to the browser."""
    return "\n".join([blocks(app), said(app), str(app.main), str(app.button), str(app.text_input)])


@in_both
def test_the_next_one_sees_the_answer_and_the_comment_without_a_name(shown: Prepared, language: str) -> None:
    ann = open_app(shown.ann, language)
    assert EARLIER not in blocks(ann)
    ann.text_input[0].set_value(COMMENT).run()
    question = press_answer(ann, "positive")
    only(shown, question)
    ben = open_app(shown.ben, language)
    page = blocks(ben)
    assert text_in(language, "earlier.another") in page
    assert f"<strong>{text_in(language, 'label.sentiment.positive')}</strong>" in page
    assert text_in(language, "earlier.agree") in page
    assert "&lt;script&gt;alert(2)&lt;/script&gt; **sure**" in page
    assert "<script>" not in page
    assert ">ann<" not in everything(ben)
    assert press_answer(ben, "negative") == question
    assert [row["saw"] for row in rows(shown, tables.Judgement)] == [None, 1]


def test_a_blind_question_sends_nothing_of_others(prepared: Prepared) -> None:
    ann = open_app(prepared.ann)
    ann.text_input[0].set_value("ann thinks so").run()
    question = press_answer(ann, "negative")
    only(prepared, question)
    ben = open_app(prepared.ben)
    sent = everything(ben)
    assert f"judge-{question}-" in sent
    assert "ann thinks so" not in sent
    assert text_in("en", "earlier.another") not in sent
    press_answer(ben, "positive")
    assert [row["saw"] for row in rows(prepared, tables.Judgement)] == [None, None]


def test_an_answer_after_the_shown_one_changed_is_refused_and_shown_anew(shown: Prepared) -> None:
    ann = open_app(shown.ann)
    question = press_answer(ann, "positive")
    only(shown, question)
    ben = open_app(shown.ben)
    judgement = table_of(tables.Judgement)
    first = rows(shown, tables.Judgement)[0]
    with shown.engine.begin() as connection:
        gone = {name: value for name, value in first.items() if name != "id"}
        connection.execute(judgement.insert(), gone | {"answer": "withdrawn", "supersedes": first["id"]})
    press_answer(ben, "positive")
    assert "has changed since it was shown to you" in said(ben)
    assert len(rows(shown, tables.Judgement)) == 2
    assert EARLIER not in blocks(ben)
    press_answer(ben, "positive")
    assert rows(shown, tables.Judgement)[-1]["saw"] is None


def test_an_answer_that_was_seen_cannot_be_undone(shown: Prepared) -> None:
    ann = open_app(shown.ann)
    question = press_answer(ann, "positive")
    only(shown, question)
    ben = open_app(shown.ben)
    press_answer(ben, "positive")
    ann.run()
    ann.button(key=next(str(button.key) for button in ann.button if str(button.key).startswith("undo"))).click().run()
    assert "seeing your answer" in said(ann)
    assert len(rows(shown, tables.Judgement)) == 2


@in_both
def test_why_there_is_nothing(shown: Prepared, language: str) -> None:
    def texts(app: AppTest) -> str:
        return blocks(app) + said(app)

    def t(key: str, **values: object) -> str:
        return text_in(language, key, **values)

    first = next_question(shown.engine, shown.ann.id)
    assert first is not None
    only(shown, first.id)
    # ann answers first just now: ben waits for that.
    ben = open_app(shown.ben, language)
    assert t("earlier.nothing_now") in texts(ben)
    assert t("earlier.awaiting_first", count=1) in texts(ben)
    assert t("earlier.free_at", count=15) in texts(ben)
    assert t("annotate.nothing_more") not in texts(ben)
    # ann has answered, and the manager validates: ben's place may come back, if there is one more.
    judge(shown.engine, shown.ann.id, first.id, "positive")
    assert next_question(shown.engine, shown.boss.id) is not None
    ben.run()
    assert t("annotate.nothing_now", count=1) in texts(ben)
    assert t("earlier.awaiting_first", count=1) not in texts(ben)
    # Languages that ben does not read.
    annotator = table_of(tables.Annotator)
    with shown.engine.begin() as connection:
        connection.execute(annotator.update().where(annotator.c.id == shown.ben.id).values(languages="fr"))
    ben.run()
    assert t("annotate.nothing") in texts(ben)
    assert t("annotate.nothing_read", count=1) in texts(ben)
    with shown.engine.begin() as connection:
        connection.execute(annotator.update().where(annotator.c.id == shown.ben.id).values(languages=""))
    # All is answered.
    judge(shown.engine, shown.boss.id, first.id, "positive")
    ben.run()
    assert t("annotate.nothing") in texts(ben)
    assert t("annotate.nothing_more") in texts(ben)


@in_both
def test_inspections(shown: Prepared, language: str, no_waiting: None) -> None:
    questions = []
    for _ in range(2):
        for person in (shown.ann, shown.ben):
            question = next_question(shown.engine, person.id)
            assert question is not None
            judge(shown.engine, person.id, question.id, "positive", comment=COMMENT)
        questions.append(question.id)
    app = open_app(shown.judge, language)
    go(app, "adjudicate")
    app.segmented_control(key="adjudicate-mode").set_value("inspections").run()
    assert not app.exception
    assert text_in(language, "inspect.inspections", count=2) in str(
        app.segmented_control(key="adjudicate-mode").options
    )
    page = blocks(app)
    assert page.count("&lt;script&gt;alert(2)") == 2
    assert ">ann<" not in page
    app.button(key=f"confirm-{questions[0]}").click().run()
    assert [(row["question_id"], row["reason"]) for row in rows(shown, tables.Adjudication)] == [
        (questions[0], "inspection")
    ]
    app.button(key=f"inspect-{questions[1]}-negative").click().run()
    app.button(key=f"change-{questions[1]}").click().run()
    assert len(rows(shown, tables.Adjudication)) == 1  # a change needs a reason
    app.text_area(key=f"words-inspect-{questions[1]}").set_value("irony")
    app.button(key=f"change-{questions[1]}").click().run()
    assert not app.exception
    assert rows(shown, tables.Adjudication)[1]["reason"] == "inspection: irony"
    assert text_in(language, "inspect.nothing") in blocks(app)


def test_without_shown_questions_there_is_no_list_of_inspections(prepared: Prepared) -> None:
    app = open_app(prepared.judge)
    go(app, "adjudicate")
    assert "Inspections" not in str(app.segmented_control(key="adjudicate-mode").options)


@in_both
def test_results_say_what_seeing_an_answer_moves(prepared: Prepared, language: str) -> None:
    draw_all(prepared.engine, SampleRequest(Size(per_relation=20), protocol="random"))
    app = open_app(prepared.boss, language)
    app.session_state["results-tab"] = text_in(language, "results.together")
    go(app, "results")
    assert not app.exception
    assert text_in(language, "protocols.title") in said(app)
    assert text_in(language, "protocols.one_empty") in said(app).replace("\\", "")
