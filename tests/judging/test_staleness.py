"""A manager lets answers go stale: what goes, what stays, who is asked again; and nothing by itself."""

import pytest
from disputing import disputed
from question_world import add_people, asked, give, recalled, rows
from sqlalchemy import select

from audit.annotation.accounts import entries
from audit.annotation.activity import pace_of, progress
from audit.annotation.guidelines import Guideline, guideline_before
from audit.annotation.queue import Before, next_question, queue_of
from audit.annotation.ratings import stored_ratings
from audit.errors import AuditError, NotAllowed, Refused
from audit.judging import adjudications, judgements
from audit.judging.adjudications import adjudicate
from audit.judging.deferral import flag, flagged_ids
from audit.judging.judgements import UNDOS, judge, undo, undone
from audit.judging.staleness import Choice, Tally, mark_stale, preview_stale, stale_counts
from audit.judging.unit import Work
from audit.reports.doctor import CHECKS
from audit.store import table_of, tables

WHY = "neutral is wider now"


@pytest.fixture
def engine(where):
    """Twelve questions for two annotators each."""
    return asked(where, [f"Film {number}." for number in range(12)])


@pytest.fixture
def who(engine):
    roles = {"ann": "annotator", "ben": "annotator", "cy": "annotator", "ada": "adjudicator", "mia": "manager"}
    return add_people(engine, roles)


@pytest.fixture
def version(monkeypatch):
    """`version(n)`: judgements from now on are given by this version of the guideline."""

    def change(number):
        for module in (judgements, adjudications):
            monkeypatch.setattr(module, "guideline_in_force", lambda *_: Guideline(number, ""))

    return change


def answers(engine):
    table = table_of(tables.Answer)
    with engine.connect() as connection:
        return {(row.question_id, row.origin): row.allowed for row in connection.execute(select(table))}


def sound(engine):
    with engine.connect() as connection:
        return all(finding.ok for name, check in CHECKS.items() for finding in check(connection, name))


def test_answers_by_an_earlier_guideline_go_and_are_asked_again(engine, who, version):
    version(1)
    first, second = give(engine, who["ann"], "positive", "negative")
    give(engine, who["ben"], "positive")
    version(2)
    (third,) = give(engine, who["ann"], "neutral")
    assert answers(engine) == {(first, "people"): ["positive"]}
    before = rows(engine, tables.Judgement)
    choice = Choice(below=2)
    stale = preview_stale(engine, choice, who["mia"])
    # By version 1: two of ann's, one of ben's; the only answer is on the first question.
    assert (stale.judgements, stale.adjudications, stale.questions, stale.people) == (3, 0, 2, 2)
    assert rows(engine, tables.Judgement) == before
    assert mark_stale(engine, who["mia"], choice, f" {WHY} ", client="audit 0; x") == stale
    assert answers(engine) == {}
    after = rows(engine, tables.Judgement)
    assert after[: len(before)] == before
    added = after[len(before) :]
    assert [row["supersedes"] for row in added] == [row["id"] for row in before if row["guideline"] == 1]
    assert {row["withdrawn_by"] for row in added} == {who["mia"]}
    assert {(row["comment"], row["client"], row["answer"]) for row in added} == {(WHY, "audit 0; x", "withdrawn")}
    assert [row["annotator_id"] for row in added] == [who["ann"], who["ann"], who["ben"]]
    # The same people get the same questions again, told that they answered before and not what.
    assert [next_question(engine, who[name]).id for name in ("ann", "ben")] == [first, first]
    assert recalled(engine, who["ann"], first).stale == recalled(engine, who["ann"], second).stale == Before(1, WHY)
    assert recalled(engine, who["ann"], third).stale is None
    assert recalled(engine, who["cy"], first).stale is None
    assert sound(engine)
    judge(engine, who["ann"], first, "neutral")
    judge(engine, who["ben"], first, "neutral")
    assert answers(engine) == {(first, "people"): ["neutral"]}
    assert recalled(engine, who["ann"], first).stale is None
    assert sound(engine)


def test_what_counts_is_counted_everywhere(engine, who, version):
    version(1)
    give(engine, who["ann"], "positive", "negative")
    give(engine, who["ben"], "positive", "negative")
    version(2)
    give(engine, who["ann"], "positive")
    pace = pace_of(engine, who["ben"])
    mark_stale(engine, who["mia"], Choice(below=2), WHY)
    assert stored_ratings(engine).frame["annotator"].tolist() == ["ann"]
    assert progress(engine, who["mia"]).judgements == {"ada": 0, "ann": 1, "ben": 0, "cy": 0, "mia": 0}
    queue = queue_of(engine, who["ben"])
    assert (queue.mine, queue.mine_today, queue.left_for_me) == (0, 0, 12)
    assert pace_of(engine, who["ben"]) == pace
    # A manager's letting go is not how somebody judged last.
    assert guideline_before(engine, who["ann"], "sentiment", "input") == 2
    assert guideline_before(engine, who["ben"], "sentiment", "input") == 1


def test_it_is_nobodys_undo(engine, who, version):
    version(1)
    give(engine, who["ann"], *["positive"] * (UNDOS + 1))
    version(2)
    (last,) = give(engine, who["ann"], "negative")
    assert undo(engine, who["ann"]) == last
    mark_stale(engine, who["mia"], Choice(below=2), WHY)
    withdrawn = undone(engine, who["ann"])
    assert (withdrawn.question_id, withdrawn.answer, withdrawn.in_a_row) == (last, "negative", 1)
    # Eleven answers went; none of them is there to be undone, and none counts among the ten undos.
    assert undo(engine, who["ann"]) is None
    judge(engine, who["ann"], next_question(engine, who["ann"]).id, "positive")
    assert undone(engine, who["ann"]) is None
    assert undo(engine, who["ann"]) is not None


def test_an_adjudication_goes_and_the_dispute_is_back(engine, who):
    (first,) = give(engine, who["ann"], "positive")
    give(engine, who["ben"], "negative")
    adjudicate(engine, who["ada"], first, ["neutral"], "because")
    assert disputed(engine, who["ada"]) == []
    choice = Choice(labels=("neutral",), adjudications=True)
    assert mark_stale(engine, who["mia"], choice, WHY).adjudications == 1
    assert answers(engine) == {}
    assert [dispute.shown.id for dispute in disputed(engine, who["ada"])] == [first]
    assert [row["allowed"] for row in rows(engine, tables.Adjudication)] == [["neutral"], []]
    # What is not adjudicated any more can be undone again, and adjudicated again.
    assert undo(engine, who["ann"]) == first
    judge(engine, who["ann"], first, "positive")
    adjudicate(engine, who["ada"], first, ["positive"], "because")
    assert answers(engine) == {(first, "adjudicated"): ["positive"]}
    assert disputed(engine, who["ada"]) == []
    assert sound(engine)


def test_people_who_agreed_are_the_answer_where_the_adjudication_goes(engine, who):
    (first,) = give(engine, who["ann"], "positive")
    give(engine, who["ben"], "positive")
    adjudicate(engine, who["ada"], first, ["neutral", "negative"], "spot check")
    mark_stale(engine, who["mia"], Choice(labels=("negative",), adjudications=True), WHY)
    assert answers(engine) == {(first, "people"): ["positive"]}


def test_a_flag_that_came_after_the_adjudication_stays_open_and_one_before_it_replied(engine, who):
    give(engine, who["ann"], "positive")
    give(engine, who["ben"], "negative")
    question = next_question(engine, who["cy"])
    flag(engine, who["cy"], question.id, "odd")
    adjudicate(engine, who["ada"], question.id, ["neutral"], "so it is")
    assert flagged_ids(engine, who["ada"]) == []
    mark_stale(engine, who["mia"], Choice(labels=("neutral",), adjudications=True), WHY)
    assert flagged_ids(engine, who["ada"]) == []
    again = next_question(engine, who["cy"])
    flag(engine, who["cy"], again.id, "still odd")
    assert flagged_ids(engine, who["ada"]) == [again.id]


def test_an_undo_at_the_same_moment_is_told_that_the_answer_is_gone(engine, who, monkeypatch):
    """Between reading one's last answer and locking its question, a manager lets it go."""
    give(engine, who["ann"], "positive")
    if engine.dialect.name == "sqlite":
        # One writer at a time: whoever comes second finds nothing to undo.
        mark_stale(engine, who["mia"], Choice(labels=("positive",)), WHY)
        assert undo(engine, who["ann"]) is None
        return
    real, done = Work.hold, []

    def meanwhile(work, question_id):
        if not done:
            done.append(mark_stale(engine, who["mia"], Choice(labels=("positive",)), WHY))
        return real(work, question_id)

    monkeypatch.setattr(Work, "hold", meanwhile)
    with pytest.raises(Refused, match="a manager has just let that answer go stale"):
        undo(engine, who["ann"])
    assert [row["answer"] for row in rows(engine, tables.Judgement)] == ["positive", "withdrawn"]
    assert sound(engine)


def test_only_the_unsettled_and_only_these_labels(engine, who):
    agreed, disagreed = give(engine, who["ann"], "positive", "positive")
    give(engine, who["ben"], "positive", "negative")
    assert preview_stale(engine, Choice(labels=("positive",)), who["mia"]).judgements == 3
    stale = mark_stale(engine, who["mia"], Choice(labels=("positive",), unsettled=True), WHY)
    assert (stale.judgements, stale.questions) == (1, 1)
    assert answers(engine) == {(agreed, "people"): ["positive"]}
    assert recalled(engine, who["ann"], disagreed).stale is not None


def test_hidden_repeats_go_with_the_answer_they_repeat_and_other_passes_stay(engine, who):
    (first,) = give(engine, who["ann"], "positive")
    table = table_of(tables.Judgement)
    with engine.begin() as connection:
        for round in (0, 2, 3):
            row = {"question_id": first, "annotator_id": who["ann"], "round": round, "answer": "positive"}
            connection.execute(table.insert(), row | {"guideline": 1, "decided_at": tables.now()})
    assert mark_stale(engine, who["mia"], Choice(labels=("positive",)), WHY).judgements == 1
    withdrawn = [row for row in rows(engine, tables.Judgement) if row["answer"] == "withdrawn"]
    assert sorted(row["round"] for row in withdrawn) == [1, 2]


def test_imported_labels_and_gold_stay_unless_chosen(engine, who):
    (first,) = give(engine, who["ann"], "positive")
    table = table_of(tables.Judgement)
    with engine.begin() as connection:
        for name, role in (("crowd", "annotator"), ("gold", "gold")):
            person = {"name": name, "role": role, "languages": "", "disabled": True, "created_at": tables.now()}
            id = connection.execute(table_of(tables.Annotator).insert(), person).inserted_primary_key[0]
            row = {"question_id": first, "annotator_id": id, "round": 1, "answer": "positive", "guideline": 0}
            connection.execute(table.insert(), row | {"decided_at": tables.now()})
    assert preview_stale(engine, Choice(below=9), who["mia"]).judgements == 1
    assert preview_stale(engine, Choice(labels=("positive",)), who["mia"]).judgements == 1
    assert preview_stale(engine, Choice(below=9, elsewhere=True), who["mia"]).judgements == 2
    # Gold is no person: it never goes stale.
    assert mark_stale(engine, who["mia"], Choice(labels=("positive",), elsewhere=True), WHY).judgements == 2


def test_counts_by_what_they_are_and_labels_that_are_none_any_more(engine, who, version):
    version(1)
    (first,) = give(engine, who["ann"], "positive")
    with engine.begin() as connection:
        row = {"question_id": first, "annotator_id": who["cy"], "round": 1, "answer": "mixed", "guideline": 1}
        connection.execute(table_of(tables.Judgement).insert(), row | {"decided_at": tables.now()})
    version(2)
    give(engine, who["ben"], "unsure")
    adjudicate(engine, who["ada"], first, ["neutral", "negative"], "because")
    assert stale_counts(engine, who["mia"]) == [
        Tally("judgement", "sentiment", "input", 1, "mixed", False, 1),
        Tally("judgement", "sentiment", "input", 1, "positive", True, 1),
        Tally("judgement", "sentiment", "input", 2, "unsure", True, 1),
        Tally("adjudication", "sentiment", "input", 2, "negative|neutral", True, 1),
    ]
    assert mark_stale(engine, who["mia"], Choice(labels=("mixed",)), WHY).judgements == 1


def test_the_log_has_numbers_and_words_of_lists_alone(engine, who):
    give(engine, who["ann"], "positive")
    mark_stale(engine, who["mia"], Choice(kind="input", labels=("positive",), adjudications=True), "ann was wrong")
    entry = entries(engine, who["mia"])[0]
    assert (entry.who, entry.action) == ("mia", "stale")
    assert entry.detail == {
        "judgements": 1, "adjudications": 0, "questions": 1, "kind": "input", "labels": ["positive"],
        "adjudications_too": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("choice", "reason", "message"),
    [
        ({"below": 2}, " ", "say why these answers go stale"),
        ({"below": 2}, "x" * 2_001, "the comment has 2001 characters"),
        ({"below": 1}, WHY, "no answer that counts fits"),
        ({"labels": ("fine",)}, WHY, "nobody ever answered 'fine'; answers there are: positive"),
        ({"labels": ("'; DROP TABLE judgement; --",)}, WHY, "nobody ever answered"),
        ({"labels": ("withdrawn",)}, WHY, "nobody ever answered 'withdrawn'"),
    ],
)
def test_what_is_refused_changes_nothing(engine, who, content, choice, reason, message):
    give(engine, who["ann"], "positive")
    before = content(engine)
    with pytest.raises(Refused, match=message):
        mark_stale(engine, who["mia"], Choice(**choice), reason)
    assert content(engine) == before


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({}, "say which answers go stale"),
        ({"task": "parsing", "below": 2}, "unknown task 'parsing'"),
        ({"kind": "text", "below": 2}, "kind 'text' is not one of input, pair, group"),
        ({"below": 0}, "must be a number from 1"),
    ],
)
def test_choices_that_are_none(choice, message):
    with pytest.raises(AuditError, match=message):
        Choice(**choice)


@pytest.mark.parametrize("name", ["ann", "ada"])
def test_only_a_manager(engine, who, content, name):
    give(engine, who["ann"], "positive")
    before = content(engine)
    for work in (
        lambda: mark_stale(engine, who[name], Choice(below=2), WHY),
        lambda: preview_stale(engine, Choice(below=2), who[name]),
        lambda: stale_counts(engine, who[name]),
    ):
        with pytest.raises(NotAllowed, match="needs the role manager"):
            work()
    assert content(engine) == before
