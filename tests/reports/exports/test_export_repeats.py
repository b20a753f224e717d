"""Exports carry every call on an input, and a replay gives the same numbers about them."""

import hashlib

import pytest

from audit.reports.exports.reading import import_export
from audit.reports.exports.replay import replay
from audit.reports.exports.writing import export
from audit.reports.study import study_report
from audit.runner.executors import InProcess
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.store import open_store

SWAYING = '''
ASKED = {}


def swaying(text):
    """Says something else in every second call."""
    ASKED[text] = ASKED.get(text, 0) + 1
    return ("positive", "negative")[(ASKED[text] + len(text)) % 2], 0.5
'''


@pytest.mark.slow
def test_every_call_is_exported_imported_and_reported_the_same(
    toy_corpus, toy_relations, tmp_path, monkeypatch, content
):
    monkeypatch.chdir(tmp_path)
    module = "swaying_" + hashlib.md5(str(tmp_path).encode()).hexdigest()
    (tmp_path / f"{module}.py").write_text(SWAYING, encoding="utf-8")
    engine = open_store(str(tmp_path / "a.db"), create=True)
    for take in ("first", "majority"):
        run(
            engine,
            toy_corpus(),
            [f"{module}:swaying"],
            toy_relations[:2],
            InProcess(),
            options=RunOptions(repeats=3, take=take),
        )
    assert study_report(engine)["repeats"][0]["systems"][0]["share"] == 1
    export(engine, tmp_path / "one")
    import_export(tmp_path / "one", str(tmp_path / "b.db"))
    other = open_store(str(tmp_path / "b.db"))
    assert content(engine, "repeat", "output", "system") == content(other, "repeat", "output", "system")
    assert len(content(other, "repeat")["repeat"]) > 90
    assert study_report(other) == study_report(engine)
    assert replay(tmp_path / "one").equal
