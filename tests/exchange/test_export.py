"""An export has everything, gives the same database again, and says the same twice."""

import json
import re
from datetime import timedelta
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, select
from sqlalchemy.pool import StaticPool
from sqlmodel import SQLModel

from audit.errors import NotAllowed
from audit.exchange.export import export
from audit.exchange.replay import import_export, read_manifest
from audit.judging.accounts import list_accounts
from audit.judging.answers import settle
from audit.reports.study import study_report
from audit.store import open_store, table_of, tables
from audit.store.dump import load_tables, pseudonym, write_tables


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.slow
def test_the_import_of_an_export_is_the_same_database(judged, tmp_path, content):
    engine = open_store(judged)
    manifest = export(engine, tmp_path / "one")
    assert import_export(tmp_path / "one", str(tmp_path / "b.db")) == manifest
    again = open_store(str(tmp_path / "b.db"))
    assert study_report(again) == study_report(engine)
    first, second = content(engine), content(again)
    assert first.pop("annotator") != second.pop("annotator")  # the passwords
    assert first == second
    with again.connect() as connection:
        assert connection.execute(select(table_of(tables.Annotator).c.password).distinct()).scalars().all() == [None]
    export(again, tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    left = {path.name for path in tmp_path.iterdir() if not path.name.endswith(("-wal", "-shm"))}
    assert left == {"b.db", "judged.db", "one", "two"}


def test_the_manifest_says_what_every_column_is(exported):
    manifest = read_manifest(exported)
    assert {"annotator.password", "invitation", "secret"} <= set(manifest["left_out"])
    assert set(manifest["files"]) | {"manifest.json"} == set(contents(exported))
    assert manifest["documents"] == ["report.json", "agreement.json"]
    assert "password" not in json.dumps(manifest["tables"])
    assert b"argon2" not in b"".join(contents(exported).values())


@pytest.mark.slow
def test_nothing_of_people_is_in_a_pseudonymised_export(judged, tmp_path, content):
    engine = open_store(judged)
    before = content(engine)
    exported = export(engine, tmp_path / "one", salt=b"salt")
    everything = b"".join(contents(tmp_path / "one").values()).decode()
    for name in ("anna", "ada", "ben", "salt"):
        assert re.search(rf"\b{name}\b", everything) is None
    assert pseudonym("anna", b"salt") in everything
    assert (exported["pseudonymised"], exported["free_text"]) == (True, False)
    assert content(engine) == before  # the database keeps its names
    export(engine, tmp_path / "two", salt=b"salt")
    export(engine, tmp_path / "three", salt=b"other", with_comments=True)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert "ben is right" in (tmp_path / "three/tables/adjudication.jsonl").read_text(encoding="utf-8")
    import_export(tmp_path / "one", str(tmp_path / "again.db"))
    assert study_report(open_store(str(tmp_path / "again.db"))) == study_report(engine)


def test_only_a_manager_exports_by_account(judged, tmp_path):
    engine = open_store(judged)
    anna = next(account.id for account in list_accounts(engine) if account.name == "anna")
    with pytest.raises(NotAllowed, match="needs the role manager"):
        export(engine, tmp_path / "one", by=anna)
    assert not (tmp_path / "one").exists()


TEXTS = st.text(max_size=20)
HISTORIES = st.lists(
    st.tuples(
        st.integers(0, 2),  # question
        st.integers(0, 2),  # annotator
        st.sampled_from(["positive", "negative", "neutral", "unsure", "withdrawn"]),
        st.none() | TEXTS | st.sampled_from(["\r", "a\r\nb", '"', ",", "\0", "=1+1"]),
        st.booleans(),  # supersedes their last
        st.integers(0, 10**9),
    ),
    max_size=12,
)


@cache
def memory(name):
    """An empty database in memory, the same for every example: files, and making tables, would make this slow."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
    SQLModel.metadata.create_all(engine)
    return engine


def emptied(name):
    with memory(name).begin() as connection:
        for table in reversed(SQLModel.metadata.sorted_tables):
            connection.execute(table.delete())
    return memory(name)


@pytest.mark.slow
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(TEXTS, min_size=3, max_size=3, unique=True),
    names=st.lists(TEXTS, min_size=3, max_size=3, unique=True),
    history=HISTORIES,
)
def test_every_history_survives(tmp_path_factory, content, texts, names, history):
    folder = tmp_path_factory.mktemp("history")
    engine, again = emptied("one"), emptied("two")
    moment = tables.now()
    with engine.begin() as connection:
        for n, (text, name) in enumerate(zip(texts, names, strict=True)):
            key = bytes([n]) * 16
            row = {"id": n + 1, "key": key, "texts": [text, name], "languages": "en,zh"}
            connection.execute(table_of(tables.Input).insert(), row)
            row = {"id": n + 1, "key": key, "task": "sentiment", "kind": "input", "input_id": n + 1, "output": text}
            connection.execute(table_of(tables.Question).insert(), row | {"annotators": 1})
            person = {"id": n + 1, "name": name, "role": "annotator", "languages": "", "disabled": False}
            connection.execute(table_of(tables.Annotator).insert(), person | {"created_at": moment})
        last = {}
        for n, (question, annotator, answer, comment, supersedes, shift) in enumerate(history, start=1):
            row = {
                "id": n, "question_id": question + 1, "annotator_id": annotator + 1, "round": 1, "answer": answer,
                "comment": comment, "guideline": 1, "shown_at": None, "decided_at": moment + timedelta(seconds=shift),
                "supersedes": last.get((question, annotator)) if supersedes else None,
            }  # fmt: skip
            connection.execute(table_of(tables.Judgement).insert(), row)
            last[question, annotator] = n
        settle(connection, [1, 2, 3])
    (folder / "one").mkdir()
    (folder / "two").mkdir()
    with engine.connect() as connection:
        entries = write_tables(connection, folder / "one")
    with again.begin() as connection:
        load_tables(connection, folder / "one", entries)
        write_tables(connection, folder / "two")
    assert content(again) == content(engine)
    assert contents(folder / "one") == contents(folder / "two")
    assert len(content(again)["judgement"]) == len(history)
