"""What the runner refuses, and that it does so before a database is opened."""

import pytest

from audit.errors import AuditError, NotInstalled, UnknownName
from audit.runner.executors import InProcess
from audit.runner.fitting import fitting
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.runner.studies import Later
from audit.store import open_store
from audit.tasks import Output


@pytest.fixture
def engine():
    return open_store("sqlite://", create=True)


def test_relations_that_do_not_fit_are_refused(toy_corpus, toy_relations):
    documents = toy_corpus(name="documents")
    documents.unit = "document"
    with pytest.raises(AuditError, match=r"relation MR5\.1 is about a document, corpus toy has sentences$"):
        fitting(toy_corpus(), RunOptions(relations=["MR1.1", "MR5.1"]))
    with pytest.raises(AuditError, match="about a sentence, corpus documents has documents; document_share"):
        fitting(documents, RunOptions(relations=["MR1.1"]))
    with pytest.raises(AuditError, match="document_share is for documents"):
        fitting(toy_corpus(), RunOptions(relations=["MR1.1"], document_share=0.5))
    with pytest.raises(UnknownName, match=r"unknown relation 'MR99'; known are: MR1\.1"):
        fitting(toy_corpus(), RunOptions(relations=["MR99"]))
    assert [relation.name for relation in fitting(toy_corpus(), RunOptions(relations=["T2", "T1", "T2"]))] == [
        "T2",
        "T1",
    ]
    assert "MR5.1" not in [relation.name for relation in fitting(toy_corpus())]


class Absent:
    """A system of another task, or one that is not installed."""

    name, version, settings, languages, summary = "absent", "1", {}, ("en",), ""

    def __init__(self, tasks, needs):
        self.tasks, self._needs = tasks, needs

    def needs(self):
        return self._needs

    def prepare(self):
        raise RuntimeError("prepared too early")

    def run(self, inputs):
        return [Output("positive") for _ in inputs]


def test_nothing_is_opened_where_something_is_wrong(own, toy_corpus, toy_relations, monkeypatch, tmp_path):
    def attempt(systems, corpus=None):
        run(Later(str(tmp_path / "x.db")), corpus or toy_corpus(), systems, toy_relations, InProcess())

    with pytest.raises(UnknownName, match="unknown system 'nobody'"):
        attempt(["nobody"])
    with pytest.raises(AuditError, match="has no 'nothing'"):
        attempt(own.specs("nothing"))
    get_system = "audit.runner.system_runner.get_system"
    monkeypatch.setattr(get_system, lambda spec, limit: Absent(("translation",), None))
    with pytest.raises(AuditError, match="system x does translation, not sentiment"):
        attempt(["x"])
    monkeypatch.setattr(
        "audit.runner.system_runner.get_system", lambda spec, limit: Absent(("sentiment",), "pip install it")
    )
    with pytest.raises(NotInstalled, match="system x cannot run here; pip install it"):
        attempt(["x"])
    monkeypatch.setattr(get_system, lambda spec, limit: Absent(("sentiment",), None))
    corpus = toy_corpus()
    corpus.needs = lambda: "get it"
    with pytest.raises(NotInstalled, match="corpus toy is not available; get it"):
        attempt(["x"], corpus)
    assert list(tmp_path.glob("*.db")) == []


def test_a_corpus_that_breaks_half_way_stores_nothing(own, toy_corpus, toy_relations, engine, content):
    class Breaking(toy_corpus):
        def rows(self):
            rows = super().rows()
            yield next(rows)
            raise AuditError("row 2 is broken")

    before = content(engine)
    with pytest.raises(AuditError, match="row 2 is broken"):
        run(engine, Breaking(), own.specs("calm"), toy_relations, InProcess())
    assert content(engine) == before
    empty = toy_corpus(0)
    with pytest.raises(AuditError, match="corpus toy has no rows"):
        run(engine, empty, own.specs("calm"), toy_relations, InProcess())
    assert content(engine) == before
