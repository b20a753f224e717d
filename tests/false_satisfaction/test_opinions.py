"""Judgements of a database as ratings: of labels, and of what they make of the drawn groups."""

import pytest
from conftest_rows import row
from sqlalchemy import select

from audit.errors import AuditError
from audit.judging.accounts import add_account
from audit.judging.judgements import judge
from audit.judging.labels import answer_with_gold
from audit.judging.queue import next_question
from audit.judging.samples import ask_next
from audit.reports.agreement import agreement_report
from audit.reports.ratings import attributed, opinions, stored_ratings
from audit.sampling.samples import SampleOptions
from audit.store import table_of, tables

GROUPS = [
    row("one", "one!", ["positive", "positive"], system="a", gold="positive"),
    row("one", "one!", ["negative", "negative"], system="b", gold="positive"),
    row("two", "two!", ["positive", "positive"], system="a"),
    row("three", "three!", ["negative", "negative"], relation="MR3.1", system="b"),
]


@pytest.fixture
def engine(build):
    """Three questions about sources, waiting; both relations carry answers to the follow-ups."""
    engine = build(GROUPS)
    ask_next(engine, SampleOptions(10))
    return engine


@pytest.fixture
def people(engine):
    """Two accounts, and what they say by text."""
    said = {
        "ann": {"one": "positive", "two": "neutral", "three": "positive"},
        "bob": {"one": "negative", "two": "negative", "three": "unsure"},
    }
    accounts = {name: add_account(engine, name, "annotator", "long enough").id for name in said}
    for name, account in accounts.items():
        while shown := next_question(engine, account):
            judge(engine, account, shown.id, said[name][shown.texts[0]])
    return accounts


def by_text(engine):
    question, input_table = table_of(tables.Question), table_of(tables.Input)
    with engine.connect() as connection:
        query = select(question.c.id, input_table.c.texts).join(input_table, input_table.c.id == question.c.input_id)
        return {str(row[0]): row[1][0] for row in connection.execute(query)}


def ratings(engine):
    texts = by_text(engine)
    frame = stored_ratings(engine).frame
    return sorted(zip(frame["item"].map(texts), frame["annotator"], frame["label"], strict=True))


def test_only_peoples_judgements_count_and_unsure_is_no_label(engine, people):
    answer_with_gold(engine)
    assert ratings(engine) == [
        ("one", "ann", "positive"),
        ("one", "bob", "negative"),
        ("three", "ann", "positive"),
        ("two", "ann", "neutral"),
        ("two", "bob", "negative"),
    ]
    rated = stored_ratings(engine, "sentiment")
    assert rated.labels == ("positive", "neutral", "negative")
    assert rated.notes == ("1 of 6 judgements was unsure, which is no label; it is left out.",)


def test_questions_belong_to_the_cells_that_they_serve(engine, people):
    texts = by_text(engine)
    served = {
        by: sorted((texts[item], value) for item, value in attributed(engine, by).itertuples(index=False))
        for by in ("relation", "system", "language")
    }
    assert served["relation"] == [("one", "MR1.1"), ("three", "MR3.1"), ("two", "MR1.1")]
    assert served["system"] == [("one", "a"), ("one", "b"), ("three", "b"), ("two", "a")]
    assert served["language"] == [("one", "en"), ("three", "en"), ("two", "en")]


def test_opinions_on_false_satisfactions(engine, people):
    rated = opinions(engine)
    labelled = sorted(rated.frame[["relation", "system", "annotator", "label"]].itertuples(index=False, name=None))
    # "one" is positive for ann: a is right and b wrong; negative for bob: the other way round. On "two" they give
    # different labels and yet agree that a's "positive" is false. On "three" bob is unsure, so ann stands alone.
    assert labelled == [
        ("MR1.1", "a", "ann", "false"),
        ("MR1.1", "a", "ann", "true"),
        ("MR1.1", "a", "bob", "false"),
        ("MR1.1", "a", "bob", "false"),
        ("MR1.1", "b", "ann", "false"),
        ("MR1.1", "b", "bob", "true"),
        ("MR3.1", "b", "ann", "false"),
    ]
    assert rated.frame["cluster"].nunique() == 3
    report = agreement_report(rated)
    assert report["coefficients"][0]["estimate"] == pytest.approx(1 / 3)
    assert (report["items"], report["left_out"], report["labels"]) == (3, 1, ["false", "true"])
    assert report["signature"]["interval"].endswith("by source")


def test_a_group_that_is_only_partly_answered_is_no_opinion(build):
    # A relation that carries nothing asks about both members. ann answers one of them, and it makes the group false;
    # had she found it right, the group would still wait. So it does not count until she has answered both.
    engine = build([row("s", "f", ["positive", "positive"], relation="OWN")])
    ask_next(engine, SampleOptions(10))
    ann = add_account(engine, "ann", "annotator", "long enough").id
    judge(engine, ann, next_question(engine, ann).id, "negative")
    with pytest.raises(AuditError, match="nobody's own answers cover a drawn group"):
        opinions(engine)
    judge(engine, ann, next_question(engine, ann).id, "positive")
    assert opinions(engine).frame["label"].tolist() == ["false"]


def test_one_annotator_has_nobody_to_agree_with(engine):
    ann = add_account(engine, "ann", "annotator", "long enough").id
    for label in ("positive", "negative"):
        judge(engine, ann, next_question(engine, ann).id, label)
    with pytest.raises(AuditError, match="ann is the only annotator; agreement needs the judgements of two or more"):
        agreement_report(stored_ratings(engine))
    # Somebody else, but on another question.
    bob = add_account(engine, "bob", "annotator", "long enough").id
    while (shown := next_question(engine, bob)) and shown.id in {
        int(item) for item in stored_ratings(engine).frame["item"]
    }:
        judge(engine, bob, shown.id, "unsure")
    judge(engine, bob, shown.id, "positive")
    with pytest.raises(AuditError, match="none of the 3 items was judged by two annotators"):
        agreement_report(stored_ratings(engine))
