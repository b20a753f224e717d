"""Guidelines: their versions, and that a changed text has another."""

import hashlib

import pytest
from sqlalchemy import select

from audit.false_satisfaction.questions import Wanted
from audit.judging import unit
from audit.judging.accounts import add_account
from audit.judging.asking import open_questions
from audit.judging.judgements import judge, undo
from audit.judging.queue import next_question
from audit.judging.words import Guideline, guideline_before, guideline_of
from audit.resources import data_file
from audit.store import input_ids, open_store, table_of, tables
from audit.tasks import TASKS, Input
from audit.tasks.words import read_guideline

PINNED = {
    ("grammaticality.en.md", 1): "a2f1f8d1c4455507",
    ("grammaticality.zh.md", 1): "8d5f320808780794",
    ("plausibility.en.md", 1): "d7ef1b116de29d32",
    ("plausibility.zh.md", 1): "48311364b18a42d4",
    ("classification-inews.en.md", 1): "68950d50cb1b0817",
    ("classification-inews.zh.md", 1): "c71e7409c61e943a",
    ("classification-multiple.en.md", 1): "56a67a38f12a0be4",
    ("classification-multiple.zh.md", 1): "6cbedd4bf6093192",
    ("classification.en.md", 1): "554e857fd2f91e28",
    ("classification.zh.md", 1): "3b95206421d668ff",
    ("general.en.md", 2): "707de293f93f1b3b",
    ("general.zh.md", 2): "78a76af33070e78a",
    ("group-translation.en.md", 2): "0940ace7b21be1a6",
    ("group-translation.zh.md", 2): "9b61e78e519bd974",
    ("group.en.md", 3): "2fa86ada65c5f48d",
    ("group.zh.md", 3): "3e8bbb1cea0d982c",
    ("inference.en.md", 1): "ac627434e3aed94a",
    ("inference.zh.md", 1): "d8cdd855ff0b6293",
    ("points.en.md", 1): "38c9aebd2633d34b",
    ("points.zh.md", 1): "63dbb27569a44f58",
    ("preference.en.md", 1): "b5d4de338892d72a",
    ("preference.zh.md", 1): "e1519e13637c2b67",
    ("question-answering.en.md", 1): "7c36cafbf1498a53",
    ("question-answering.zh.md", 1): "7b47e5f95375a8fd",
    ("sentiment-film.en.md", 3): "b7673e3af5b21f83",
    ("sentiment-film.zh.md", 3): "ceaeada05cf0adeb",
    ("sentiment.en.md", 4): "7e79651cdb46aca5",
    ("sentiment.zh.md", 4): "1e8b4932992817e1",
    ("similarity.en.md", 1): "d227fea06e0b0e84",
    ("similarity.zh.md", 1): "2acfc29ca88f7890",
    ("summarization.en.md", 1): "344dc7121698195a",
    ("summarization.zh.md", 1): "4dfda8137f86b148",
    ("translation.en.md", 1): "5c317429ffc31077",
    ("translation.zh.md", 1): "23586165f6e8c207",
}
"""File and version -> the beginning of the SHA-256 of its text. A new text needs a new version and a new line here."""


def guideline_in(file):
    """The guideline that a file has."""
    stem, language, _ = file.split(".")
    return read_guideline(stem, language)


FILES = sorted(path.name for path in data_file("guidelines").glob("*.md"))


@pytest.mark.parametrize("file", FILES)
def test_a_text_that_changes_gets_a_new_version(file):
    guideline = guideline_in(file)
    sum_ = hashlib.sha256(guideline.text.encode()).hexdigest()[:16]
    assert PINNED.get((file, guideline.version)) == sum_, (
        "raise the version in every language, then write the sum down here"
    )


def test_languages_have_the_same_versions_and_every_task_a_guideline():
    versions = {}
    for file in FILES:
        versions.setdefault(file.partition(".")[0], set()).add(guideline_in(file).version)
    assert all(len(numbers) == 1 for numbers in versions.values())
    for task in TASKS.values():
        assert len(guideline_of(task.name, task.question_kind).text) > 300, task.name


def test_a_judgement_records_the_version_and_the_next_one_knows_it(tmp_path, monkeypatch):
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    inputs = [Input.of("Good."), Input.of("Bad.")]
    with engine.begin() as connection:
        ids = input_ids(connection, inputs)
        open_questions(connection, [Wanted.about("sentiment", ids[text.key], text.key, None, 1) for text in inputs])
    ann = add_account(engine, "ann", "annotator", "long enough").id
    assert guideline_before(engine, ann, "sentiment", "input") is None
    judge(engine, ann, next_question(engine, ann).id, "positive")
    assert guideline_before(engine, ann, "sentiment", "input") == guideline_of("sentiment", "input").version
    assert guideline_before(engine, ann, "sentiment", "group") is None  # another kind, another guideline
    monkeypatch.setattr(unit, "guideline_in_force", lambda connection, task, kind: Guideline(7, ""))
    judge(engine, ann, next_question(engine, ann).id, "negative")
    assert guideline_before(engine, ann, "sentiment", "input") == 7
    undo(engine, ann)
    with engine.connect() as connection:
        versions = connection.execute(select(table_of(tables.Judgement).c.guideline)).scalars().all()
    assert versions == [guideline_of("sentiment", "input").version, 7, 7]
