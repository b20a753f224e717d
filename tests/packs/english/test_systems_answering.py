"""A system that answers questions: known answers, and what is unanswerable."""

import pytest

from audit.corpora import get_corpus
from audit.systems import get_system
from audit.tasks import Input, get_task
from audit.tasks.question_answering import UNANSWERABLE, normalised

CONTEXT = (
    "The old mill on the Lenne was built in 1742. Since 2003 it has belonged to Rosa Keller, a potter. "
    "She sells plates and jugs in the former barn, and a room costs 45 euros."
)
"""Written for this test."""


def answer(question, context=CONTEXT):
    (output,) = get_system("sentence-window").run([Input.of(context, question)])
    assert get_task("question-answering").checked(output) == output
    return output.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When was the mill built?", "1742"),
        ("To whom has it belonged since 2003?", "Rosa Keller"),
        ("How much does a room cost?", "45 euros"),
        ("Where does she sell plates and jugs?", "in the former"),
        ("Which language do the guides speak?", UNANSWERABLE),
    ],
)
def test_the_nearest_span_of_the_right_kind(question, text):
    assert answer(question) == text


@pytest.mark.parametrize(
    "texts", [("", ""), ("It rains.", "?"), ("...", "Who?"), ("猫睡觉。", "谁睡觉？"), ("A\n\nB", "A B?")]
)
def test_whatever_the_texts_there_is_an_answer(texts):
    assert answer(texts[1], texts[0])


def test_it_finds_a_good_part_of_the_references():
    rows = list(get_corpus("question-pairs").rows())
    outputs = get_system("sentence-window").run([row.input for row in rows])
    right = [
        normalised(str(output.text)) == normalised(row.attributes["reference"])
        for output, row in zip(outputs, rows, strict=True)
    ]
    assert sum(right) / len(rows) > 0.38
