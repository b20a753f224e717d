"""Systems that tell tickets apart: the generic baselines with files of audit's."""

import pytest

from audit.corpora import get_corpus
from audit.systems import get_system

NAMES = ["ticket-keywords", "ticket-logreg", "ticket-centroid"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path_factory.getbasetemp() / "tickets"))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), list(zip(NAMES, (0.75, 0.69, 0.74), strict=True)))
def test_they_are_better_than_chance_on_tickets_that_trained_nothing(name, least):
    corpus = get_corpus("support-tickets")
    system = get_system(name)
    assert (system.name, system.languages, system.needs()) == (name, ("en",), None)
    assert corpus.task in system.tasks
    system.prepare()
    rows = list(corpus.rows())
    outputs = system.run([row.input for row in rows])
    assert sum(output.label == row.gold for output, row in zip(outputs, rows, strict=True)) / len(rows) > least
    assert outputs == get_system(name).run([row.input for row in rows])
