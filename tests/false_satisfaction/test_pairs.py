"""Questions about an input and an output of it: asked once for equal outputs, settled for every system that gave them.

The study is that of `tests/summaries.py`: four texts, of which `lead` and `first` say the first sentence and `last` the
second. Of its twelve (group, system) pairs eleven are satisfied and drawn: four of `lead`, four of `first`, three of
`last`. The relation carries answers, so that only sources are asked about: four outputs of the first two systems
together, and three of `last`: seven questions.
"""

from collections import Counter
from pathlib import Path

import pytest
import summaries

from audit.errors import AuditError
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.questions import queue_length
from audit.false_satisfaction.resolution import Drawn, KnownAnswer, State, Step, carry_of, settle_group
from audit.judging.control_questions import KnownText, add_known, pick_known
from audit.judging.judgements import judge
from audit.judging.labels import NO_OUTPUT, Labels, import_labels, read_labels
from audit.judging.queue import next_question
from audit.judging.unit import rebuild
from audit.tasks import Input, Output

registered = pytest.fixture(autouse=True)(summaries.registered)


@pytest.fixture
def study(tmp_path):
    return summaries.study(tmp_path)


def drawn(*texts, relation="R"):
    """A group of the source (input 1) and follow-ups with these outputs."""
    steps = tuple(Step("source" if at == 1 else "follow_up", at, Output(text=text)) for at, text in enumerate(texts, 1))
    return Drawn("summarization", relation, 1, 1, 1, 1, steps, carry_of("summarization", relation))


def about(number, text, *labels):
    return {("summarization", number, text): KnownAnswer(frozenset(labels), "people")}


def test_the_answer_is_about_the_very_output():
    group = drawn("甲赢了。", "乙赢了。")
    settled = settle_group(group, about(1, "甲赢了。", "good"))
    assert (settled.state, settled.origins) == (State.TRUE, ("people", "carried people"))
    other = settle_group(group, about(1, "甲输了。", "unfaithful"))
    assert (other.state, other.waits_for) == (State.WAITING, (("summarization", 1, "甲赢了。"),))


def test_a_direct_answer_about_the_follow_ups_output_beats_the_carried_one():
    answers = about(1, "甲赢了。", "good") | about(2, "乙赢了。", "unreadable")
    settled = settle_group(drawn("甲赢了。", "乙赢了。"), answers)
    assert (settled.state, settled.wrong_step, settled.origins) == (State.FALSE, 1, ("people", "people"))


def test_an_answer_about_the_text_alone_answers_no_question_about_an_output():
    settled = settle_group(drawn("甲赢了。", "乙赢了。"), about(1, None, "good"))
    assert (settled.state, settled.origins) == (State.WAITING, ("", ""))


def test_equal_outputs_are_asked_about_once(study):
    questions = summaries.questions(study)
    assert {question["kind"] for question in questions} == {"pair"}
    numbers = Counter((question["texts"][0], question["output"]) for question in questions)
    assert set(numbers.values()) == {1}
    assert set(numbers) == {
        (text, summaries.said(system, text))
        for at, text in enumerate(summaries.TEXTS)
        for system in (("lead", "last") if at < 3 else ("lead",))
    }
    # Two systems wait for what both said.
    assert all(question["waits"] == (2 if "赢了" in question["output"] else 1) for question in questions)


def test_one_answer_settles_the_groups_of_every_system_that_said_it(study):
    anna, ben, _ = summaries.people(study)
    shown = next_question(study, anna)
    assert (shown.kind, shown.output) == ("pair", summaries.said("lead", shown.texts[0]))
    judge(study, anna, shown.id, "good")
    judge(study, ben, next_question(study, ben).id, "good")
    rebuild(study)
    cells = count(study).cells.set_index("system")
    assert (cells["drawn"] - cells["waiting"]).to_dict() == {"first": 1, "last": 0, "lead": 1}


def test_rates_of_a_study_that_is_judged(study):
    anna, ben, _ = summaries.people(study)
    assert summaries.judge_all(study, anna, ben) == 14
    cells = count(study).cells.set_index("system")
    assert cells["judged"].to_dict() == {"first": 4, "last": 3, "lead": 4}
    assert cells["false"].to_dict() == {"first": 0, "last": 3, "lead": 0}
    assert cells["waiting"].sum() == 0


def test_audited_follow_ups_are_asked_about_with_their_own_output(tmp_path):
    engine = summaries.study(tmp_path, follow_ups=1.0)
    anna, ben, _ = summaries.people(engine)
    while queue_length(engine).audits == 0:
        for person in (anna, ben):
            shown = next_question(engine, person)
            judge(engine, person, shown.id, summaries.grade(shown))
    audits = [question for question in summaries.questions(engine) if (question["priority"] or 0) >= 1_000_000_000]
    assert all("乙" in question["texts"][0] for question in audits)
    # Of the seven different outputs about sources each has its own about a follow-up.
    assert summaries.judge_all(engine, anna, ben, anna) + 2 == 2 * 14
    counted = count(engine)
    assert len(counted.audited) == 11
    assert not any(carried.wrong for carried in counted.audited)


def test_questions_about_outputs_are_known_where_somebody_settled_them(study):
    with pytest.raises(AuditError, match="asks about each output"):
        add_known(study, "gold", [KnownText(Input.of("x", language="zh"), ("good",))], task="summarization")
    with pytest.raises(AuditError, match="no question to pick"):
        pick_known(study, "gold", 3)


def test_labels_from_elsewhere_name_text_and_output(study, tmp_path):
    question = summaries.questions(study)[0]
    path = tmp_path / "own.csv"
    fields = [f"{question['texts'][0]},{question['output']}", f"{question['texts'][0]},Nobody said this."]
    path.write_text("text,output,label,annotator\n" + "".join(f"{field},good,eve\n" for field in fields), "utf-8")
    imported = import_labels(study, read_labels(path), language="zh")
    assert (imported.added, imported.opened, imported.unmatched) == (1, 0, {NO_OUTPUT: 1})
    assert imported.first == {NO_OUTPUT: "line 3"}


def test_a_label_about_an_output_that_was_not_drawn_opens_its_question(study):
    asked = {(question["texts"][0], question["output"]) for question in summaries.questions(study)}
    text = summaries.TEXTS[3]
    unasked = summaries.said("last", text)
    assert (text, unasked) not in asked
    label = {"where": "line 2", "label": "good", "annotator": "eve", "text": text, "output": unasked}
    assert import_labels(study, Labels(Path("own.csv"), [label], {}), language="zh").opened == 1
