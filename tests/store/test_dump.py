"""Rows as lines and back, of every type; what says who somebody is; files that were changed since."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import String, select
from sqlmodel import SQLModel

from audit.errors import BadFile, BadRow
from audit.store import dump, open_store, table_of, tables
from audit.store.copying import filled
from audit.store.dump import check, described, is_secret, load_tables, pseudonym, salt_of, spelled, write_tables

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


def about_people(table):
    return table.name == tables.Annotator.__tablename__ or any(
        foreign.target_fullname == "annotator.id" for column in table.columns for foreign in column.foreign_keys
    )


def test_every_text_of_a_table_about_people_has_been_thought_about():
    sorts = (dump.SECRET_COLUMNS, dump.NAMES, dump.FREE_TEXT, dump.IMPERSONAL)
    forgotten = [
        f"{table.name}.{column.name}"
        for table in SQLModel.metadata.sorted_tables
        if about_people(table) and not is_secret(table)
        for column in table.columns
        if isinstance(column.type, String)
        and not any(column.name in columns_of.get(table.name, ()) for columns_of in sorts)
    ]
    assert forgotten == [], "say in audit/store/dump.py what they hold"


def test_pseudonyms_depend_on_the_salt_and_on_the_name(tmp_path):
    assert pseudonym("anna", b"one") == pseudonym("anna", b"one")
    assert len({pseudonym("anna", b"one"), pseudonym("anna", b"two"), pseudonym("ben", b"one")}) == 3
    assert "anna" not in pseudonym("anna", b"one")
    file = tmp_path / "salt"
    assert salt_of(file) == salt_of(file)
    assert file.stat().st_mode & 0o077 == 0
    assert salt_of(None) != salt_of(None)


def test_a_changed_file_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\nthree\n")
    sealed = described(path)
    check(tmp_path, "a.txt", sealed)
    for content, reason in (("one\ntwO\nthree\n", "changed since"), ("one\ntwo\n", "2 lines, but the export had 3")):
        path.write_text(content)
        with pytest.raises(BadFile, match=rf"a\.txt: {reason}"):
            check(tmp_path, "a.txt", sealed)
