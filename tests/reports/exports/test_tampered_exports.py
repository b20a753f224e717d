"""Exports that somebody sealed again after a change that is meant to harm: refused in a sentence, nothing is made."""

import json

import pytest

from audit.errors import AuditError
from audit.reports.exports.reading import import_export
from audit.reports.exports.replay import replay
from audit.reports.exports.writing import MANIFEST
from audit.store.dump import described, seal


def resealed(folder, **changes):
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8")) | changes
    manifest["seal"] = seal(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def refused(folder, tmp_path):
    around = sorted(str(path) for path in tmp_path.rglob("*"))
    for work in (lambda: import_export(folder, str(tmp_path / "new.db")), lambda: replay(folder)):
        with pytest.raises(AuditError) as problem:
            work()
        assert len(str(problem.value)) < 600
    assert sorted(str(path) for path in tmp_path.rglob("*")) == around
    return str(problem.value)


@pytest.mark.parametrize(
    "name",
    ["../outside.txt", "/etc/hostname", "tables/../../outside.txt", "a\0b", "x" * 5_000, "link", "tables"],
    ids=["up", "absolute", "down and up", "nul", "long", "link", "folder"],
)
def test_names_that_lead_elsewhere(exported, tmp_path, name):
    (tmp_path / "outside.txt").write_text("not yours", encoding="utf-8")
    (exported / "link").symlink_to(tmp_path / "outside.txt")
    resealed(exported, tables={}, documents=[], files={name: described(tmp_path / "outside.txt")})
    assert "manifest.json" in (said := refused(exported, tmp_path)) or "cannot be read" in said
    assert "not yours" not in said


def test_a_table_of_another_name_is_not_made(exported, tmp_path):
    resealed(exported, tables={"judgement; DROP TABLE study": {}}, documents=[])
    assert "is not among the files" in refused(exported, tmp_path)


@pytest.mark.parametrize(
    ("table", "before", "after", "message"),
    [
        ("answer", '"question_id":2,', '"question_id":99999999999999999999999999,', "not of type integer"),
        ("answer", '"question_id":2,', '"question_id":1e999,', "1e999 is too large a number"),
        ("answer", '"question_id":2,', '"question_id":-1,', "refuses them"),
        ("source", '"u":0.', '"u":1e99990.', "not a row in JSON"),
        ("annotator", '"name":"anna"', '"name":"\\ud800"', "not of type text"),
        ("judgement", '"decided_at":"2', '"decided_at":"99999', "not of type time"),
        ("judgement", '"answer":"positive"', '"answer":' + "[" * 100_000 + "]" * 100_000, "not a row in JSON"),
    ],
    ids=["number", "infinite", "negative", "no number", "half a character", "time", "depth"],
)
def test_rows_that_cannot_be(exported, tmp_path, table, before, after, message):
    path = exported / f"tables/{table}.jsonl"
    content = path.read_text(encoding="utf-8")
    assert before in content
    path.write_text(content.replace(before, after, 1), encoding="utf-8")
    manifest = json.loads((exported / MANIFEST).read_text(encoding="utf-8"))
    resealed(exported, files=manifest["files"] | {f"tables/{table}.jsonl": described(path)})
    assert message in refused(exported, tmp_path)


@pytest.mark.parametrize("number", [10**30, -1, 0, 1e308, float("inf"), "many", None])
def test_numbers_of_a_manifest_that_cannot_be(exported, tmp_path, number):
    manifest = json.loads((exported / MANIFEST).read_text(encoding="utf-8"))
    entry = manifest["tables"]["answer"] | {"rows": number}
    text = json.dumps(manifest | {"tables": manifest["tables"] | {"answer": entry}})
    try:
        resealed(exported, **json.loads(text))
    except ValueError:
        (exported / MANIFEST).write_text(text, encoding="utf-8")
    refused(exported, tmp_path)


def rewritten(folder, table, change, line=0):
    """One row of a table changed, and the export sealed anew."""
    path = folder / f"tables/{table}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    row = json.loads(lines[line])
    row |= change(row)
    lines[line] = json.dumps(row, ensure_ascii=False)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    resealed(folder, files=manifest["files"] | {f"tables/{table}.jsonl": described(path)})


@pytest.mark.parametrize(
    ("table", "change", "message"),
    [
        ("relation", {"params": "{"}, "column params is no object in JSON"),
        ("relation", {"params": "[" * 5_000}, "column params is no object in JSON"),
        ("system", {"settings": "7"}, "column settings is no object in JSON"),
        ("relation", {"name": "x" * 100_000}, "column name has 100,000 characters"),
        ("system", {"name": "x" * 100_000}, "column name has 100,000 characters"),
        ("source", {"row": "x" * 100_000}, "column row has 100,000 characters"),
        ("source", {"attributes": []}, "column attributes is no object"),
        ("source", {"u": 0.5}, "column u does not fit"),
        ("input", {"texts": "good"}, "column texts is no list of texts"),
        ("input", {"texts": ["another text"]}, "column key does not fit"),
        ("group", {"id": 77}, "column id does not fit"),
        ("question", {"task": "cooking"}, "unknown task 'cooking'"),
        ("question", {"key": "00" * 16}, "column key does not fit"),
        ("annotator", {"role": "king"}, "column role is 'king'; allowed are annotator, adjudicator, manager, gold"),
        ("verdict", {"outcome": 9}, "column outcome is '9'"),
        ("draw", {"pi": 0.0}, "column pi is 0.0"),
        ("judgement", {"decided_at": "0001-01-01T00:00:00Z"}, "allowed are the years 1990 to 2199"),
        ("judgement", {"answer": "splendid"}, "the label 'splendid' is not one of"),
        ("answer", {"allowed": "positive"}, "column allowed is no list"),
        ("answer", {"allowed": ["splendid"]}, "the label 'splendid' is not one of"),
        ("member", {"group_id": 77}, "column group_id names a group that is not there"),
        ("sample", {"design": "mine"}, "column design is 'mine'"),
    ],
)  # fmt: skip
def test_rows_that_mean_nothing(exported, tmp_path, table, change, message):
    rewritten(exported, table, lambda _: change)
    said = refused(exported, tmp_path)
    assert message in said
    assert f"{table}.jsonl, line 1: " in said
