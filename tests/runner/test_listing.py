"""`audit runs`: every study and system that was run, another version beside the old one."""

from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.runner.studies import runs
from audit.store import open_store, table_of, tables

VERSIONED = """
from pathlib import Path


class Steady:
    version = Path({version!r}).read_text()

    def predict(self, texts):
        return ["negative" if self.version == "2" and "7" in text else "positive" for text in texts]
"""


def test_another_version_makes_outputs_beside_the_old_ones(tmp_path, monkeypatch, toy_corpus, toy_relations):
    import sys

    from audit.runner import batch

    (tmp_path / "versioned_system.py").write_text(VERSIONED.format(version=str(tmp_path / "version")))
    monkeypatch.syspath_prepend(str(tmp_path))
    engine = open_store("sqlite://", create=True)
    for version in "1", "2":
        (tmp_path / "version").write_text(version)
        monkeypatch.delitem(sys.modules, "versioned_system", raising=False)
        batch._ready.clear()
        ran = run(engine, toy_corpus(), ["versioned_system:Steady"], toy_relations[:1], InProcess())
        assert (ran.counts.executed, ran.counts.stored) == (56, 0)
    listed = runs(engine)
    assert [tuple(row[name] for name in ("system", "version", "outputs", "errors", "finished")) for row in listed] == [
        ("versioned_system:Steady", "1", 56, 0, 1.0),
        ("versioned_system:Steady", "2", 56, 0, 1.0),
    ]
    output = table_of(tables.Output)
    with engine.connect() as connection:
        labels = {(row.system_id, row.label) for row in connection.execute(output.select())}
    assert {label for _, label in labels} == {"positive", "negative"}
    assert len(labels) == 3  # the first version never said negative
