"""Guidelines: their versions, and that a changed text has another."""

import hashlib

import pytest

from audit.judging.words import guideline_of
from audit.resources import data_file
from audit.tasks import TASKS
from audit.tasks.words import read_guideline

PINNED = {
    ("entities.en.md", 1): "4a3d245a3b0113c3",
    ("entities.zh.md", 1): "6a279d0d76389593",
    ("grammaticality.en.md", 1): "a2f1f8d1c4455507",
    ("grammaticality.zh.md", 1): "8b238b0aac6de2e3",
    ("plausibility.en.md", 1): "d7ef1b116de29d32",
    ("plausibility.zh.md", 1): "8e0c852f5994f9a0",
    ("classification-inews.en.md", 1): "68950d50cb1b0817",
    ("classification-inews.zh.md", 1): "34a8fce19bf4bb27",
    ("classification-multiple.en.md", 1): "56a67a38f12a0be4",
    ("classification-multiple.zh.md", 1): "3ccd1b5b9b6d03ca",
    ("classification.en.md", 1): "554e857fd2f91e28",
    ("classification.zh.md", 1): "c18191bca1d21592",
    ("general.en.md", 2): "707de293f93f1b3b",
    ("general.zh.md", 2): "3f600de88585f148",
    ("group-translation.en.md", 2): "0940ace7b21be1a6",
    ("group-translation.zh.md", 2): "e573e7b92c6d4c24",
    ("group.en.md", 3): "2fa86ada65c5f48d",
    ("group.zh.md", 3): "32092114b10ccf62",
    ("inference.en.md", 1): "ac627434e3aed94a",
    ("inference.zh.md", 1): "25a2fd48c9ae8989",
    ("question-answering.en.md", 1): "7c36cafbf1498a53",
    ("question-answering.zh.md", 1): "1e0a4cdee81e993c",
    ("sentiment-film.en.md", 3): "b7673e3af5b21f83",
    ("sentiment-film.zh.md", 3): "9905108a9a6188d3",
    ("sentiment.en.md", 4): "7e79651cdb46aca5",
    ("sentiment.zh.md", 4): "01c829b962679b17",
    ("similarity.en.md", 1): "d227fea06e0b0e84",
    ("similarity.zh.md", 1): "7d46d910dfe71dee",
    ("summarization.en.md", 1): "344dc7121698195a",
    ("summarization.zh.md", 1): "898368e96c420963",
    ("translation.en.md", 1): "5c317429ffc31077",
    ("translation.zh.md", 1): "07709c5b88b47cc8",
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
