"""A manager lets answers go stale: what goes, what stays, who is asked again; and nothing by itself."""

import pytest
from disputing import disputed
from question_world import asked, give, recalled, rows

from audit.errors import Refused
from audit.exchange.doctor import CHECKS
from audit.judging import unit
from audit.judging.adjudications import adjudicate
from audit.judging.judgements import judge, undo
from audit.judging.queue import next_question
from audit.judging.staleness import Outdated, mark_stale, outdated
from audit.judging.words import Guideline, guideline_of
from audit.store import table_of, tables

WHY = "neutral is wider now"
KIND = ("sentiment", "input")


@pytest.fixture
def engine(where):
    """Twelve questions for two annotators each."""
    return asked(where, [f"Film {number}." for number in range(12)])


@pytest.fixture
def version(monkeypatch):
    """`version(n)`: judgements from now on are given by this version of the guideline."""

    def change(number):
        monkeypatch.setattr(unit, "guideline_in_force", lambda *_: Guideline(number, ""))

    return change


def answers(engine):
    return {(row["question_id"], row["origin"]): row["allowed"] for row in rows(engine, tables.Answer)}


def sound(engine):
    with engine.connect() as connection:
        return not any(look(connection) for look, _ in CHECKS.values())


def test_answers_by_an_earlier_guideline_go_and_are_asked_again(engine, who, version):
    version(1)
    first, second = give(engine, who["ann"], "positive", "negative")
    give(engine, who["bob"], "positive")
    version(2)
    (third,) = give(engine, who["ann"], "neutral")
    assert answers(engine) == {(first, "people"): ["positive"]}
    before = rows(engine, tables.Judgement)
    # By version 1: two of ann's, one of bob's; the only answer is on the first question.
    stale = Outdated(*KIND, 2, judgements=3, adjudications=0, questions=2, people=2)
    all_of_them = Outdated(*KIND, guideline_of(*KIND).version, 4, 0, 3, 2)
    assert outdated(engine, who["mia"]) == [stale, all_of_them]
    assert mark_stale(engine, who["mia"], *KIND, 2, f" {WHY} ", client="audit 0; x") == stale
    assert answers(engine) == {}
    after = rows(engine, tables.Judgement)
    assert after[: len(before)] == before
    added = after[len(before) :]
    assert [row["supersedes"] for row in added] == [row["id"] for row in before if row["guideline"] == 1]
    same = {(row["withdrawn_by"], row["comment"], row["client"], row["answer"]) for row in added}
    assert same == {(who["mia"], WHY, "audit 0; x", "withdrawn")}
    assert [row["annotator_id"] for row in added] == [who["ann"], who["ann"], who["bob"]]
    # The same people get the same questions again, told that they answered before and not what.
    assert [next_question(engine, who[name]).id for name in ("ann", "bob")] == [first, first]
    assert recalled(engine, who["ann"], first).stale == recalled(engine, who["ann"], second).stale == (1, WHY)
    assert recalled(engine, who["ann"], third).stale is recalled(engine, who["cy"], first).stale is None
    assert sound(engine)
    judge(engine, who["ann"], first, "neutral")
    judge(engine, who["bob"], first, "neutral")
    assert answers(engine) == {(first, "people"): ["neutral"]}
    assert recalled(engine, who["ann"], first).stale is None
    assert sound(engine)


def test_an_adjudication_goes_and_the_dispute_is_back(engine, who, version):
    version(2)
    (first,) = give(engine, who["ann"], "positive")
    give(engine, who["bob"], "negative")
    version(1)
    adjudicate(engine, who["ada"], first, ["neutral"], "because")
    assert disputed(engine, who["ada"]) == []
    assert mark_stale(engine, who["mia"], *KIND, 2, WHY)[3:] == (0, 1, 1, 0)
    assert answers(engine) == {}
    assert [dispute.shown.id for dispute in disputed(engine, who["ada"])] == [first]
    assert [row["allowed"] for row in rows(engine, tables.Adjudication)] == [["neutral"], []]
    # What is not adjudicated any more can be undone again, and adjudicated again.
    assert undo(engine, who["ann"]) == first
    judge(engine, who["ann"], first, "positive")
    adjudicate(engine, who["ada"], first, ["positive"], "because")
    assert answers(engine) == {(first, "adjudicated"): ["positive"]}
    assert sound(engine)


def test_repeats_go_with_what_they_repeat_and_other_passes_imported_labels_and_gold_stay(engine, who, version):
    version(1)
    (first,) = give(engine, who["ann"], "positive")
    table, same = table_of(tables.Judgement), {"question_id": first, "answer": "positive", "decided_at": tables.now()}
    with engine.begin() as connection:
        for round in (0, 2, 3):
            row = {"annotator_id": who["ann"], "round": round, "guideline": 1}
            connection.execute(table.insert(), same | row)
        for name, role, guideline in (("crowd", "annotator", 0), ("gold", "gold", 1)):
            person = {"name": name, "role": role, "languages": "", "disabled": True, "created_at": tables.now()}
            id = connection.execute(table_of(tables.Annotator).insert(), person).inserted_primary_key[0]
            connection.execute(table.insert(), same | {"annotator_id": id, "round": 1, "guideline": guideline})
    assert mark_stale(engine, who["mia"], *KIND, 9, WHY).judgements == 1
    withdrawn = [row for row in rows(engine, tables.Judgement) if row["answer"] == "withdrawn"]
    assert [(row["round"], row["annotator_id"]) for row in withdrawn] == [(1, who["ann"]), (2, who["ann"])]


@pytest.mark.parametrize(
    ("below", "reason", "message"),
    [
        (99, " ", "say why these answers go stale"),
        (99, "x" * 2_001, "the comment has 2001 characters"),
        (1, WHY, "no answer that counts fits"),
    ],
)
def test_what_is_refused_changes_nothing(engine, who, content, below, reason, message):
    give(engine, who["ann"], "positive")
    before = content(engine)
    with pytest.raises(Refused, match=message):
        mark_stale(engine, who["mia"], *KIND, below, reason)
    assert content(engine) == before
