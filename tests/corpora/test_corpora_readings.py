"""Files with other names of columns and other labels: read as they are told, offered where they can be guessed."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.corpora import FileCorpus, Reading
from audit.corpora.files import offered_columns, offered_labels
from audit.errors import AuditError

REVIEWS = "nr,review,label,author\n1,It is good.,pos,Ann\n2,It is bad.,NEG,Ben\n3,It is there.,meh,Ann\n"


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    path = tmp_path / "reviews.csv"
    path.write_text(REVIEWS, encoding="utf-8")
    return path


def test_columns_and_labels_are_read_as_they_are_told(reviews):
    reading = Reading(
        {"text": "review", "gold": "label", "cluster": "author", "id": "nr"},
        {"pos": "positive", "neg": "negative", "meh": ""},
    )
    rows = list(FileCorpus(reviews, reading=reading).rows())
    assert [(row.key, row.input.text, row.gold, row.cluster) for row in rows] == [
        ("1", "It is good.", "positive", "Ann"),
        ("2", "It is bad.", "negative", "Ben"),
        ("3", "It is there.", None, "Ann"),
    ]
    assert all(not row.attributes for row in rows)


def test_the_names_of_a_tasks_texts_are_columns_too(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("premise,hypothesis,gold\nIt rains.,It is wet.,neutral\n", encoding="utf-8")
    (row,) = FileCorpus(path, "inference").rows()
    assert (row.input.texts, row.gold) == (("It rains.", "It is wet."), "neutral")
    named = Reading({"premise": "hypothesis", "hypothesis": "premise"})
    (row,) = FileCorpus(path, "inference", reading=named).rows()
    assert row.input.texts == ("It is wet.", "It rains.")


def test_what_is_meant_is_offered_and_not_taken(reviews):
    with pytest.raises(AuditError, match=r"no column 'text'.*columns=text=review,gold=label reads these"):
        FileCorpus(reviews)
    with pytest.raises(AuditError, match=r"(?s)3 of 3 rows.*'pos' is unknown"):
        FileCorpus(reviews, reading=Reading({"text": "review", "gold": "label"}))


def test_labels_that_are_unknown_suggest_what_fits():
    assert offered_labels({"5", "1", "NA"}, "sentiment") == [
        "labels=1=negative,5=positive,NA= reads them as those of sentiment"
    ]
    (offer,) = offered_labels({"billing", "late"}, "sentiment")
    assert "the task is classification" in offer
    assert offered_labels({"billing"}, "inference") == []


@pytest.mark.parametrize(
    ("names", "line", "task", "offer"),
    [
        (["id", "body", "stars"], ["1", "It is good.", "5"], "sentiment", ["columns=text=body,gold=stars reads these"]),
        (["a", "b"], ["A text.", "B text."], "sentiment", []),
        (["Review", "gold"], ["A text.", "positive"], "sentiment", ["columns=text=Review reads these"]),
    ],
)
def test_columns_are_guessed_by_name_and_by_length(names, line, task, offer):
    assert offered_columns(pd.DataFrame([line], columns=names), task) == offer


@pytest.mark.parametrize(
    ("reading", "reason"),
    [
        (Reading({"texts": "review"}), "no such column of ours; allowed are text, id, gold"),
        (Reading({"text": "review", "gold": "review"}), "'review' is named for two of ours"),
        (Reading({"text": "review"}, {"pos": "good"}), "'good' is not one of positive, neutral, negative"),
    ],
)
def test_a_reading_that_does_not_fit_says_so(reviews, reading, reason):
    with pytest.raises(AuditError, match=reason):
        FileCorpus(reviews, reading=reading)


@given(st.dictionaries(st.sampled_from(["a", "b", "1", "x y"]), st.sampled_from(["positive", "negative", ""])))
def test_every_label_that_is_named_is_read_in_any_case(labels):
    reading = Reading(labels=labels)
    for written, label in labels.items():
        assert reading.label(written.upper()) == label
    assert reading.label("other") == "other"
