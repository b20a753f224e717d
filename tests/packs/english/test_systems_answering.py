"""Systems that answer questions: known answers, what is unanswerable, a model that is the same in every process."""

import csv
import os
import subprocess
import sys

import pytest

from audit.corpora import get_corpus
from audit.packs.english.answering_systems import agreement, candidates, kind_of, nearest, ranked
from audit.packs.english.hand_written import training_file
from audit.systems import all_systems, get_system
from audit.tasks import Input, get_task
from audit.tasks.question_answering import UNANSWERABLE

CONTEXT = (
    "The old mill on the Lenne was built in 1742. Since 2003 it has belonged to Rosa Keller, a potter. "
    "She sells plates and jugs in the former barn, and a room costs 45 euros."
)
"""Written for this test; no system was trained on it."""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path_factory.getbasetemp() / "answers"))


def answer(name, question, context=CONTEXT):
    (output,) = get_system(name).run([Input.of(context, question)])
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
    assert answer("sentence-window", question) == text


def test_spans_by_a_regression():
    assert answer("span-logreg", "When was the mill built?") in ("1742", "in 1742")
    assert answer("span-logreg", "Which language do the guides speak?") == UNANSWERABLE


@pytest.mark.parametrize("name", ["sentence-window", "span-logreg"])
@pytest.mark.parametrize(
    "texts", [("", ""), ("It rains.", "?"), ("...", "Who?"), ("猫睡觉。", "谁睡觉？"), ("A\n\nB", "A B?")]
)
def test_whatever_the_texts_there_is_an_answer(name, texts):
    assert answer(name, texts[1], texts[0])


def test_kinds_of_questions():
    kinds = {"Why?": "why", "How old is it?": "number", "How long was it?": "time", "With whom?": "who"}
    kinds |= {"Through which gate?": "where", "What is whole?": "thing"}
    assert {question: kind_of(question) for question in kinds} == kinds


def test_the_sentence_with_the_rare_words_comes_first():
    fits = ranked(CONTEXT, "What does the potter's room cost?")
    assert CONTEXT[fits[0].start :].startswith(fits[0].text)
    assert fits[0].text.startswith("She sells")
    assert nearest(fits[0].text, "How many guests are there?") == "45 euros"
    assert nearest("It rains.", "When?") is None


def test_candidates_are_pieces_of_the_context_and_not_what_the_question_says():
    everything = candidates(CONTEXT, "When was the old mill built?")
    texts = [one.text for one in everything]
    assert {"1742", "Rosa Keller", "45 euros"} <= set(texts)
    assert "The old mill" not in texts
    assert all(text in CONTEXT for text in texts)


def test_agreement_of_answers():
    assert agreement("the red car", "A red car!") == 1.0
    assert agreement("red", "blue") == agreement("", "blue") == 0.0
    assert agreement("red car", "car") == pytest.approx(2 / 3)


@pytest.mark.parametrize(("name", "least"), [("sentence-window", 0.38), ("span-logreg", 0.44)])
def test_they_find_a_good_part_of_the_references(name, least):
    rows = list(get_corpus("question-pairs").rows())
    outputs = get_system(name).run([row.input for row in rows])
    right = [
        output.text == UNANSWERABLE if row.attributes["reference"] == UNANSWERABLE
        else agreement(output.text, row.attributes["reference"]) == 1
        for output, row in zip(outputs, rows, strict=True)
    ]  # fmt: skip
    assert sum(right) / len(rows) > least


def test_the_regression_knows_the_contexts_that_it_was_trained_on():
    system = get_system("span-logreg")
    assert not any(system.trained_on(row.input) for row in get_corpus("question-pairs").rows())
    with training_file("question-pairs").open(newline="", encoding="utf-8") as lines:
        assert all(system.trained_on(Input.of(row["text"], "Another question?")) for row in csv.DictReader(lines))


PROGRAM = """
import sys
from audit.systems import get_system
from audit.tasks import Input
for name in ("sentence-window", "span-logreg"):
    print(get_system(name).run([Input.of(sys.argv[1], question) for question in sys.argv[2:]]))
"""


@pytest.mark.slow
def test_answers_are_the_same_in_every_process(tmp_path):
    questions = ["When was the mill built?", "Who owns it?", "What does she sell?", "Is there a lake?"]
    printed = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "AUDIT_CACHE": str(tmp_path / seed)}
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        command = [sys.executable, "-W", "ignore", "-c", PROGRAM, CONTEXT, *questions]
        printed.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(printed) == 1


def test_what_is_absent_is_said(monkeypatch):
    monkeypatch.setattr("audit.packs.english.parser.model_name", lambda: None)
    system = get_system("span-logreg")
    assert (system.needs(), system.version) == ("pip install 'audit[english]'", "absent")
    assert [system.name for system in all_systems("question-answering")] == ["sentence-window", "span-logreg"]
