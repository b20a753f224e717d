"""Rows as lines and back: every type, times of all zones, and what is refused."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import select

from audit.errors import BadRow
from audit.store import open_store, table_of, tables
from audit.store.copying import filled
from audit.store.dump import load_tables, spelled, write_tables

MOMENT = datetime(2026, 3, 1, 12, 0, 0, 5, tzinfo=timezone(timedelta(hours=2)))


@pytest.fixture
def written(tmp_path):
    """A folder with one study, whose values are the odd ones, and the manifest's part about it."""
    engine = open_store(str(tmp_path / "a.db"), create=True)
    study = {
        "id": 7, "key": bytes(range(16)), "task": "sentiment", "corpus": "a\nb \u2028 \"影\" \0", "fingerprint": "",
        "unit": "sentence", "has_gold": True, "seed": -(1 << 62), "limit": None, "imported": False, "chunk": 1,
        "created_at": MOMENT.astimezone(UTC),
    }  # fmt: skip
    row_of_input = {"id": 1, "key": b"\0" * 16, "texts": ["a", "b"], "languages": "en,zh"}
    source = {"id": 1, "study_id": 7, "row": "1", "input_id": 1, "gold": None, "cluster": None, "u": 0.1 + 0.2}
    source["attributes"] = {"z": 1, "a": {"y": None, "b": [1.5, "x"]}}
    with engine.begin() as connection:
        for model, row in ((tables.Study, study), (tables.Input, row_of_input), (tables.Source, source)):
            connection.execute(table_of(model).insert(), row)
        folder = tmp_path / "out"
        folder.mkdir()
        entries = write_tables(connection, folder)
    engine.dispose()
    return folder, entries


def load(folder, entries, where):
    with filled(str(where)) as connection:
        return load_tables(connection, folder, entries)


def test_the_lines_say_what_the_rows_do(written):
    folder, entries = written
    line = json.loads((folder / "tables/study.jsonl").read_text(encoding="utf-8"))
    assert line["key"] == "000102030405060708090a0b0c0d0e0f"
    assert line["created_at"] == "2026-03-01T10:00:00.000005Z" == spelled(MOMENT)
    assert line["corpus"] == 'a\nb \u2028 "影" \0'
    source = (folder / "tables/source.jsonl").read_text(encoding="utf-8")
    assert '"attributes":{"a":{"b":[1.5,"x"],"y":null},"z":1}' in source
    assert '"u":0.30000000000000004' in source
    assert entries["study"]["rows"] == 1
    assert {"name": "key", "type": "bytes", "null": False, "key": False, "refers_to": None} in entries["study"][
        "columns"
    ]
    refers = {column["name"]: column["refers_to"] for column in entries["source"]["columns"]}
    assert refers["study_id"] == "study.id"


def test_the_rows_come_back(written, tmp_path, content):
    folder, entries = written
    assert load(folder, entries, tmp_path / "b.db") == 3
    first, second = (open_store(str(tmp_path / name)) for name in ("a.db", "b.db"))
    assert content(first) == content(second)
    with second.connect() as connection:
        row = connection.execute(select(table_of(tables.Study))).mappings().one()
    assert row["created_at"].replace(tzinfo=UTC) == MOMENT


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("seed", "0", 'column seed is "0", not of type integer'),
        ("key", "xy", 'column key is "xy", not of type bytes'),
        ("created_at", "yesterday", "not of type time"),
        ("corpus", None, "column corpus is null"),
        ("strange", 1, "exactly id, key, task"),
    ],
)
def test_a_row_that_is_none_is_refused_with_its_line(written, tmp_path, column, value, message):
    folder, entries = written
    path = folder / "tables/study.jsonl"
    row = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(row) + "\n" + json.dumps(row | {column: value}) + "\n", encoding="utf-8")
    with pytest.raises(BadRow, match=r"study\.jsonl, line 2: ") as refused:
        load(folder, entries, tmp_path / "b.db")
    assert message in str(refused.value)
    assert not list(tmp_path.glob("b.db*"))
