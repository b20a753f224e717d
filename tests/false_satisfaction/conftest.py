"""A small MT run, imported as somebody else's would be, so that every count can be worked out by hand."""

import json

import pytest

from audit.runner.imported import import_run
from audit.store import open_store


@pytest.fixture
def build(tmp_path):
    """`build(rows)` -> engine of a database with these groups imported; rows are dicts of `audit import-run`."""

    def make(rows, name="run.jsonl", database="audit.db"):
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        engine = open_store(str(tmp_path / database), create=True)
        import_run(engine, path)
        return engine

    return make
