"""Systems of inference for English: rules with known outputs, and a regression that is as good as the page says."""

import pickle

import pytest

from audit.corpora import get_corpus
from audit.packs.english.corpora import training_file
from audit.systems import get_system
from audit.tasks import Input, get_task


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path_factory.getbasetemp() / "inference"))


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label", "score"),
    [
        ("A dog sleeps in the garden.", "A dog sleeps.", "entailment", 1.0),
        ("A dog sleeps in the garden.", "The dog does not sleep.", "contradiction", 1.0),
        ("Nobody saw the dog.", "Nobody saw a dog.", "entailment", 1.0),
        ("The shop opened in spring.", "The shop closed in spring.", "contradiction", 5 / 6),
        ("It cost 5 euros.", "It cost 7 euros.", "contradiction", 5 / 6),
        ("A dog sleeps.", "The cat eats grass.", "neutral", 1.0),
        ("Anna sold Tom a car.", "Tom sold Anna a car.", "entailment", 1.0),  # order is not seen
    ],
)
def test_rules(premise, hypothesis, label, score):
    (output,) = get_system("word-overlap").run([Input.of(premise, hypothesis)])
    assert (output.label, output.score) == (label, pytest.approx(score))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("word-overlap", 0.40), ("pair-logreg", 0.48)])
def test_they_are_better_than_chance_on_pairs_that_trained_nothing(name, least):
    system = get_system(name)
    assert (system.needs(), system.languages, system.tasks) == (None, ("en",), ("inference",))
    system.prepare()
    rows = list(get_corpus("inference-pairs").rows())
    outputs = system.run([row.input for row in rows])
    assert sum(output.label == row.gold for output, row in zip(outputs, rows, strict=True)) / len(rows) > least
    assert {output.label for output in outputs} == set(get_task("inference").labels)
    assert [get_task("inference").checked(output) for output in outputs] == outputs
    assert pickle.loads(pickle.dumps(system)).run([row.input for row in rows[:9]]) == outputs[:9]  # noqa: S301


def test_the_regression_knows_what_it_was_trained_on():
    system = get_system("pair-logreg")
    generic = get_system(f"logreg:{training_file('inference-pairs')}")
    assert system.version != generic.version  # it has other traits
    assert not any(system.trained_on(row.input) for row in get_corpus("inference-pairs").rows())
    assert system.trained_on(Input.of(*system._file.texts[0]))
