"""Files with other names of columns and other labels: read as they are told, offered where they can be guessed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.corpora import FileCorpus, Reading
from audit.corpora.files import offered_labels
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


@given(st.dictionaries(st.sampled_from(["a", "b", "1", "x y"]), st.sampled_from(["positive", "negative", ""])))
def test_every_label_that_is_named_is_read_in_any_case(labels):
    reading = Reading(labels=labels)
    for written, label in labels.items():
        assert reading.label(written.upper()) == label
    assert reading.label("other") == "other"
