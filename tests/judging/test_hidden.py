"""Hidden questions: their shares, that they settle nothing, and that whoever judges cannot tell them."""

from collections import Counter

import pytest
from drawn_questions import draw_each
from quality_world import LABELS, answer_next, know, settle_how, world
from question_world import rows
from scipy.stats import binom

from audit.exchange.doctor import doctor
from audit.judging import control_questions
from audit.judging.judgements import judge
from audit.judging.queue import next_question, queue_of
from audit.keys import uniform
from audit.reports.ratings import stored_ratings
from audit.store import table_of, tables
from audit.tasks import Input

PEOPLE = {f"p{number}": "annotator" for number in range(5)}


@pytest.fixture
def always(monkeypatch):
    """Let the next decisions of the hash be this number: 0 takes a hidden question, 0.99 an ordinary one."""

    def fix(value):
        monkeypatch.setattr(
            control_questions, "uniform", lambda name, *of: value if name == "hidden" else uniform(name, *of)
        )

    return fix


def hiding(tmp_path, controls, **more):
    """A world in which a tenth of what is asked is hidden, out of so many known questions."""
    engine, who = world(tmp_path / "audit.db", **more)
    know(engine, "gold", controls)
    settle_how(engine, gold_share=0.1)
    return engine, who


def passes(engine, account=None):
    return [row["round"] for row in rows(engine, tables.Judgement) if account in (None, row["annotator_id"])]


def say(name, text, again=False):
    """What a simulated annotator answers: mostly the label of the text, sometimes another one."""
    slip = uniform("slip", name, text, again) < 0.1
    return LABELS[int(3 * uniform("label", text, name if slip else ""))]


def judge_all(engine, who):
    """Everybody judges in turn until nothing is left."""
    left = dict(who)
    while left:
        for name in list(left):
            shown = next_question(engine, left[name])
            if shown is None:
                del left[name]
                continue
            judge(engine, who[name], shown.id, say(name, shown.texts[0]), shown_at=tables.now())


@pytest.mark.parametrize("questions", [20, pytest.param(80, marks=pytest.mark.slow)])
def test_five_annotators_with_hidden_questions(tmp_path, questions):
    """Realised shares are within the limits of chance, and answers are what they are without hidden questions."""
    engine, who = world(tmp_path / "mixed.db", questions=questions, annotators=5, people=PEOPLE)
    know(engine, "gold", questions // 2)
    settle_how(engine, gold_share=0.1, repeat_share=0.1, repeat_after=10)
    judge_all(engine, who)
    plain, same = world(tmp_path / "plain.db", questions=questions, annotators=5, people=PEOPLE)
    judge_all(plain, same)
    assert same == who

    counts = Counter(passes(engine))
    assert counts[1] == 5 * questions
    total = sum(counts.values())
    # 99.9 % of the binomial distribution. Repeats cannot come among somebody's first ten answers.
    for kind, chances in ((control_questions.KNOWN, total), (control_questions.REPEAT, total - 50)):
        assert binom.ppf(0.0005, chances, 0.1) <= counts[kind] <= binom.ppf(0.9995, chances, 0.1), counts

    texts = {row["id"]: row["texts"][0] for row in rows(engine, tables.Input)}
    text_of = {row["id"]: texts[row["input_id"]] for row in rows(engine, tables.Question)}

    def answers(of):
        names = {row["id"]: row["texts"][0] for row in rows(of, tables.Input)}
        about = {row["id"]: names[row["input_id"]] for row in rows(of, tables.Question)}
        return {(about[row["question_id"]], row["origin"], *row["allowed"]) for row in rows(of, tables.Answer)}

    assert answers(engine) == answers(plain)
    controls = {row["question_id"] for row in rows(engine, tables.Known)}
    assert not controls & {row["question_id"] for row in rows(engine, tables.Answer)}

    # A hidden question comes once to a person; a repeat at least ten answers after the first time.
    for id in who.values():
        own = [row for row in rows(engine, tables.Judgement) if row["annotator_id"] == id]
        once = Counter((row["question_id"], row["round"]) for row in own)
        assert set(once.values()) == {1}
        place = {(row["question_id"], row["round"]): number for number, row in enumerate(own)}
        for (question, kind), number in place.items():
            if kind == control_questions.REPEAT:
                assert number - place[question, 1] > 10
            assert (question in controls) == (kind == control_questions.KNOWN), text_of[question]
    # Coefficients are computed from first answers alone, and the database is sound.
    assert len(stored_ratings(engine).frame) == len(stored_ratings(plain).frame) == 5 * questions
    assert all(finding.ok for finding in doctor(str(tmp_path / "mixed.db")) if finding.check != "disk")


def test_hidden_questions_look_like_others_and_are_counted_like_others(tmp_path, always):
    engine, who = hiding(tmp_path, 2)
    always(0.99)
    ordinary = answer_next(engine, who["ann"])
    always(0.0)
    secret = answer_next(engine, who["ann"])
    same = ("task", "languages", "question", "labels", "kind", "group")
    assert all(getattr(ordinary, name) == getattr(secret, name) for name in same)
    assert vars(ordinary).keys() == vars(secret).keys()
    queue = queue_of(engine, who["ann"])
    assert (queue.mine, queue.mine_today) == (2, 2)
    assert queue.mixed


def test_a_hidden_question_takes_no_place_from_others(tmp_path, always):
    """A question that a sample wants may be hidden for one person and ordinary for another, and votes count once."""
    engine, who = hiding(tmp_path, 1, questions=1, annotators=1)
    always(0.0)
    held = next_question(engine, who["ann"])
    question = table_of(tables.Question)
    draw_each(engine, [Input.of(held.texts[0])], annotators=1)  # a later sample wants it, from one person
    assert answer_next(engine, who["ada"]).id != held.id
    assert next_question(engine, who["ada"]).id == held.id
    judge(engine, who["ann"], held.id, "positive")
    judge(engine, who["ada"], held.id, "negative")
    about = [row for row in rows(engine, tables.Answer) if row["question_id"] == held.id]
    assert [(row["origin"], row["allowed"]) for row in about] == [("people", ["negative"])]
    # While people are waited for, it is hidden for nobody; who had it hidden may be asked it, and does not learn that.
    with engine.begin() as connection:
        connection.execute(
            question.update().where(question.c.id == held.id).values(annotators=2, filled=False, priority=0)
        )
    always(0.99)
    assert next_question(engine, who["ann"]).id == held.id
    judge(engine, who["ann"], held.id, "negative")
    assert passes(engine, who["ann"]) == [3, 1]


def test_repeats_wait_for_their_answers_and_leave_unsure_alone(tmp_path, always):
    engine, who = world(tmp_path / "audit.db")
    settle_how(engine, repeat_share=0.1, repeat_after=3)
    always(0.0)
    unsure = answer_next(engine, who["ann"], "unsure").id
    second = answer_next(engine, who["ann"]).id
    third, fourth = (answer_next(engine, who["ann"]).id for _ in range(2))
    assert len({unsure, second, third, fourth}) == 4
    assert next_question(engine, who["ann"]).id not in (unsure, second)
    answer_next(engine, who["ann"])
    assert answer_next(engine, who["ann"]).id == second
    assert passes(engine) == [1, 1, 1, 1, 1, 2]
