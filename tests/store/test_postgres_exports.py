"""Export, import, backup and doctor on a real PostgreSQL: the same bytes as from SQLite."""

import pytest
from sqlalchemy import select, text

from audit.exchange.doctor import doctor
from audit.exchange.export import export
from audit.exchange.replay import import_export, replay
from audit.store import open_store, table_of, tables

pytestmark = pytest.mark.postgres


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_from_sqlite_to_postgresql_and_back(judged, postgres_url, tmp_path):
    export(open_store(judged), tmp_path / "one")
    import_export(tmp_path / "one", postgres_url)
    engine = open_store(postgres_url)
    with engine.begin() as connection:
        connection.execute(text("SET TIME ZONE 'Asia/Shanghai'"))
    export(engine, tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    export(engine, tmp_path / "three", salt=b"salt")
    export(open_store(judged), tmp_path / "four", salt=b"salt")
    assert contents(tmp_path / "three") == contents(tmp_path / "four")
    assert replay(tmp_path / "two").equal
    assert all(finding.ok for finding in doctor(postgres_url))


def test_numbers_go_on_after_the_imported_ones(judged, postgres_url, tmp_path):
    export(open_store(judged), tmp_path / "one")
    import_export(tmp_path / "one", postgres_url)
    judgement = table_of(tables.Judgement)
    with open_store(postgres_url).begin() as connection:
        last = connection.execute(select(judgement.c.id).order_by(judgement.c.id.desc()).limit(1)).scalar_one()
        row = {"question_id": 1, "annotator_id": 1, "round": 2, "answer": "positive", "guideline": 1}
        key = connection.execute(judgement.insert(), row | {"decided_at": tables.now()}).inserted_primary_key
        assert key[0] == last + 1
