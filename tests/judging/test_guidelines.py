"""Guidelines: a text that changes gets another version."""

import hashlib

import pytest

from audit.judging.words import guideline_of
from audit.resources import data_file
from audit.tasks import TASKS
from audit.tasks.words import read_guideline

PINNED = {
    "classification": (1, "25254c9978e224a8"),
    "classification-inews": (1, "2ef3bf2059b23b99"),
    "classification-multiple": (1, "a17f5afa5123ee5c"),
    "entities": (1, "9225c53e80e32898"),
    "general": (2, "b9eb48e3184983bb"),
    "grammaticality": (1, "12fca21337f49d80"),
    "group": (3, "a4af8af416459f44"),
    "group-translation": (2, "b013e9c830c66c97"),
    "inference": (1, "d52b110261e9dd75"),
    "plausibility": (1, "0361d2f51ae87885"),
    "points": (1, "cc32a6eeef3b0b0a"),
    "preference": (1, "7816218e493125bf"),
    "question-answering": (1, "2cee9792f4333854"),
    "sentiment": (4, "c2e7e543341f3045"),
    "sentiment-film": (3, "710a74a2752bf135"),
    "similarity": (1, "6259a16632ad46ec"),
    "summarization": (1, "289a3fe2f0cd4cd1"),
    "translation": (1, "3f213992489287e1"),
}
"""The version of each guideline, and the beginning of the SHA-256 of its texts in English and Chinese."""


@pytest.mark.parametrize("stem", PINNED)
def test_a_text_that_changes_gets_a_new_version_in_both_languages(stem):
    guidelines = [read_guideline(stem, language) for language in ("en", "zh")]
    digest = hashlib.sha256("\n".join(guideline.text for guideline in guidelines).encode()).hexdigest()[:16]
    (version,) = {guideline.version for guideline in guidelines}
    assert (version, digest) == PINNED[stem], "raise the version in both languages, then write the sum down here"


def test_every_guideline_is_pinned_and_every_task_has_one():
    assert {path.name.partition(".")[0] for path in data_file("guidelines").glob("*.md")} == set(PINNED)
    for task in TASKS.values():
        assert len(guideline_of(task.name, task.question_kind).text) > 300, task.name
