"""What is no export, or is one no more: each is refused in a sentence, and no database is made."""

import pytest

from audit.errors import AuditError, BadFile
from audit.exchange.replay import import_export
from audit.store import open_store


def refused(folder, tmp_path):
    with pytest.raises(AuditError) as problem:
        import_export(folder, str(tmp_path / "new.db"))
    assert not list(tmp_path.glob("new.db*"))
    return str(problem.value)


def test_an_answer_that_was_changed(exported, tmp_path):
    path = exported / "tables/judgement.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    assert '"answer":"positive"' in lines[0]
    lines[0] = lines[0].replace('"answer":"positive"', '"answer":"negative"')
    path.write_text("".join(lines), encoding="utf-8")
    assert "judgement.jsonl: changed since the export was made" in refused(exported, tmp_path)


def test_a_file_that_was_cut_short_or_is_missing(exported, tmp_path):
    path = exported / "tables/verdict.jsonl"
    content = path.read_bytes()
    lines = content.splitlines(keepends=True)
    assert len(lines) == 60
    path.write_bytes(b"".join(lines[:30]))
    assert "verdict.jsonl: 30 lines, but the export had 60" in refused(exported, tmp_path)
    path.unlink()
    assert "verdict.jsonl: the file is missing" in refused(exported, tmp_path)


def test_an_import_goes_into_an_empty_database_only(exported, judged, tmp_path, content):
    before = content(open_store(judged))
    with pytest.raises(BadFile, match=r"judged\.db is not empty \(it has rows in"):
        import_export(exported, judged)
    assert content(open_store(judged)) == before
    open_store(str(tmp_path / "empty.db"), create=True).dispose()
    import_export(exported, str(tmp_path / "empty.db"))
    with pytest.raises(BadFile, match="is a folder"):
        import_export(exported, str(tmp_path))
