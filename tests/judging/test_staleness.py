"""A manager lets answers go stale: what goes, what stays, who is asked again; and nothing by itself."""

import pytest
from disputing import disputed
from question_world import add_people, asked, give, recalled, rows
from sqlalchemy import select

from audit.errors import Refused
from audit.exchange.doctor import CHECKS
from audit.judging import unit
from audit.judging.adjudications import adjudicate
from audit.judging.judgements import judge, undo
from audit.judging.queue import Before, next_question
from audit.judging.staleness import Choice, mark_stale, preview_stale
from audit.judging.words import Guideline
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
        monkeypatch.setattr(unit, "guideline_in_force", lambda *_: Guideline(number, ""))

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
    # Gold is no person: it never goes stale.
    assert mark_stale(engine, who["mia"], Choice(labels=("positive",)), WHY).judgements == 1


@pytest.mark.parametrize(
    ("choice", "reason", "message"),
    [
        ({"below": 2}, " ", "say why these answers go stale"),
        ({"below": 2}, "x" * 2_001, "the comment has 2001 characters"),
        ({"below": 1}, WHY, "no answer that counts fits"),
        ({"labels": ("fine",)}, WHY, "no answer that counts fits"),
    ],
)
def test_what_is_refused_changes_nothing(engine, who, content, choice, reason, message):
    give(engine, who["ann"], "positive")
    before = content(engine)
    with pytest.raises(Refused, match=message):
        mark_stale(engine, who["mia"], Choice(**choice), reason)
    assert content(engine) == before
