"""What is no export, or is one no more: each is refused in a sentence, and no database is made."""

import json

import pytest

from audit.errors import AuditError, BadFile
from audit.exchange.export import MANIFEST
from audit.exchange.replay import import_export
from audit.store import open_store
from audit.store.dump import described, seal


def refused(folder, tmp_path):
    with pytest.raises(AuditError) as problem:
        import_export(folder, str(tmp_path / "new.db"))
    assert not list(tmp_path.glob("new.db*"))
    return str(problem.value)


def resealed(folder, **changes):
    """The manifest changed by somebody who knows how to seal it."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8")) | changes
    manifest["seal"] = seal(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def edit(path, change):
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8", newline="")


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


def test_rows_that_the_database_refuses_although_they_are_sealed(exported, tmp_path):
    path = exported / "tables/answer.jsonl"
    edit(path, lambda text: text.replace('"question_id":1,', '"question_id":999,', 1))
    manifest = json.loads((exported / MANIFEST).read_text(encoding="utf-8"))
    resealed(exported, files=manifest["files"] | {"tables/answer.jsonl": described(path)})
    assert "the database refuses them: FOREIGN KEY" in refused(exported, tmp_path)


def test_an_import_goes_into_an_empty_database_only(exported, judged, tmp_path, content):
    before = content(open_store(judged))
    with pytest.raises(BadFile, match=r"judged\.db is not empty \(it has rows in"):
        import_export(exported, judged)
    assert content(open_store(judged)) == before
    open_store(str(tmp_path / "empty.db"), create=True).dispose()
    import_export(exported, str(tmp_path / "empty.db"))
    with pytest.raises(BadFile, match="is a folder"):
        import_export(exported, str(tmp_path))
