"""Rows as lines and back; what says who somebody is; files that were changed since."""

import json
from datetime import UTC, datetime, timedelta, timezone
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import String, create_engine
from sqlalchemy.pool import StaticPool
from sqlmodel import SQLModel

from audit.errors import BadFile, BadRow
from audit.store import dump, open_store
from audit.store.copying import filled
from audit.store.core import input_table, judgement, source, study
from audit.store.dump import check, load_tables, pseudonym, salt_of, spelled, sum_of, write_tables

MOMENT = datetime(2026, 3, 1, 12, 0, 0, 5, tzinfo=timezone(timedelta(hours=2)))
STUDY = {
    "id": 7, "key": bytes(range(16)), "task": "sentiment", "corpus": "a\nb \u2028 \"影\" \0", "fingerprint": "",
    "unit": "sentence", "has_gold": True, "seed": -(1 << 62), "limit": None, "imported": False, "chunk": 1,
    "created_at": MOMENT.astimezone(UTC),
}  # fmt: skip


@pytest.fixture
def written(tmp_path):
    """A folder with one study, whose values are the odd ones, and the manifest's part about it."""
    engine = open_store(str(tmp_path / "a.db"), create=True)
    row = {"id": 1, "study_id": 7, "row": "1", "input_id": 1, "gold": None, "cluster": None, "u": 0.1 + 0.2}
    row["attributes"] = {"z": 1, "a": {"y": None, "b": [1.5, "x"]}}
    with engine.begin() as connection:
        connection.execute(study.insert(), STUDY)
        text = {"id": 1, "key": b"\0" * 16, "texts": ["a", "b"], "languages": "en,zh"}
        connection.execute(input_table.insert(), text)
        connection.execute(source.insert(), row)
        folder = tmp_path / "out"
        folder.mkdir()
        entries = write_tables(connection, folder)
    engine.dispose()
    return folder, entries


def load(folder, entries, where):
    with filled(str(where)) as connection:
        return load_tables(connection, folder, entries)


def test_the_lines_say_what_the_rows_do_and_the_rows_come_back(written, tmp_path, content):
    folder, entries = written
    line = json.loads((folder / "tables/study.jsonl").read_text(encoding="utf-8"))
    assert line["key"] == "000102030405060708090a0b0c0d0e0f"
    assert line["created_at"] == "2026-03-01T10:00:00.000005Z" == spelled(MOMENT)
    assert line["corpus"] == 'a\nb \u2028 "影" \0'
    lines = (folder / "tables/source.jsonl").read_text(encoding="utf-8")
    assert '"attributes":{"a":{"b":[1.5,"x"],"y":null},"z":1}' in lines
    assert '"u":0.30000000000000004' in lines
    assert (entries["study"]["rows"], entries["source"]["columns"]["study_id"]) == (1, "integer")
    assert load(folder, entries, tmp_path / "b.db") == 3
    first, second = (open_store(str(tmp_path / name)) for name in ("a.db", "b.db"))
    assert content(first) == content(second)


@pytest.mark.parametrize("line", ["{", "[]", '{"id": 8}', json.dumps({"id": "x"})])
def test_a_row_that_is_none_is_refused_with_its_line(written, tmp_path, line):
    folder, entries = written
    path = folder / "tables/study.jsonl"
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(BadRow, match=r"study\.jsonl, line 2: not a row of study with id, key, task"):
        load(folder, entries, tmp_path / "b.db")
    assert not list(tmp_path.glob("b.db*"))


@cache
def memory(name):
    """An empty database in memory, the same for every example: files, and making tables, would make this slow."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
    SQLModel.metadata.create_all(engine)
    return engine


texts = st.text(max_size=20) | st.sampled_from(["\r", "a\r\nb", '"', ",", "\0", "=1+1", "\u2028"])
anything = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | texts, lambda inner: st.dictionaries(texts, inner)
)
rows = st.tuples(texts, st.none() | texts, anything, st.floats(allow_nan=False), st.datetimes(timezones=st.just(UTC)))


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(rows, max_size=4))
def test_every_row_survives(tmp_path_factory, values):
    folder, engine, again = tmp_path_factory.mktemp("rows"), memory("one"), memory("two")
    for database in (engine, again):
        with database.begin() as connection:
            for table in reversed(SQLModel.metadata.sorted_tables):
                connection.execute(table.delete())
    with engine.begin() as connection:
        for id, (text, gold, attributes, u, at) in enumerate(values, start=1):
            key = bytes([id]) * 16
            connection.execute(study.insert(), STUDY | {"id": id, "key": key, "corpus": text, "created_at": at})
            connection.execute(input_table.insert(), {"id": id, "key": key, "texts": [text], "languages": "en"})
            about = {"id": id, "study_id": id, "row": text, "input_id": id, "gold": gold, "u": u}
            connection.execute(source.insert(), about | {"attributes": attributes})
        entries = write_tables(connection, folder)
    with again.begin() as connection:
        load_tables(connection, folder, entries)
    with engine.connect() as first, again.connect() as second:
        for table in (study, input_table, source):
            assert second.execute(table.select()).all() == first.execute(table.select()).all()


def test_every_text_of_a_table_about_people_has_been_thought_about():
    impersonal = {
        "annotator": ("name", "role", "languages"),  # names get pseudonyms
        "judgement": ("answer",),
        "adjudication": ("code",),
        "aside": ("kind",),
        "cause": ("code",),
        "known": ("purpose",),
        "log": ("action",),
        "plan": ("name",),
    }  # texts that name nobody: words of a list, codes of languages
    sorts = (dump.SECRET_COLUMNS, dump.FREE_TEXT, impersonal)
    about_people = [
        table
        for table in dump.exported_tables()
        if table.name == "annotator" or any(key.target_fullname == "annotator.id" for key in table.foreign_keys)
    ]
    assert judgement in about_people
    forgotten = [
        f"{table.name}.{column.name}"
        for table in about_people
        for column in table.columns
        if isinstance(column.type, String) and not any(column.name in sort.get(table.name, ()) for sort in sorts)
    ]
    assert forgotten == [], "say in audit/store/dump.py, or here, what they hold"


def test_pseudonyms_depend_on_the_salt_and_on_the_name(tmp_path):
    assert len({pseudonym("anna", b"one"), pseudonym("anna", b"two"), pseudonym("ben", b"one")}) == 3
    file = tmp_path / "salt"
    assert salt_of(file) == salt_of(file)
    assert file.stat().st_mode & 0o077 == 0
    assert salt_of(None) != salt_of(None)


def test_a_changed_file_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\nthree\n")
    before = sum_of(path)
    check(tmp_path, "a.txt", before)
    path.write_text("one\ntwO\nthree\n")
    with pytest.raises(BadFile, match=r"a\.txt: changed since"):
        check(tmp_path, "a.txt", before)
