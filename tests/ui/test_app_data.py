"""Exports and backups as files for managers: what is in them, who may have them, and their lines in the log."""

import io
import zipfile

import pytest
from app_driver import Prepared, go, open_app

from audit.annotation.accounts import entries, list_accounts
from audit.errors import AuditError, NotAllowed
from audit.reports.exports import downloads
from audit.reports.exports.downloads import backup_file, export_archive
from audit.reports.exports.reading import import_export
from audit.store import open_store
from audit.ui.language import text_in


def test_an_export_is_one_file_from_which_the_database_is_made_again(prepared: Prepared, tmp_path) -> None:
    archive = export_archive(prepared.engine, by=prepared.boss.id, pseudonymise=False)
    with zipfile.ZipFile(archive) as content:
        assert {"manifest.json", "judgements.csv"} <= set(content.namelist())
        content.extractall(tmp_path / "again")
    import_export(tmp_path / "again", str(tmp_path / "again.db"))
    assert list_accounts(open_store(str(tmp_path / "again.db"))) == list_accounts(prepared.engine)
    assert [path.name for path in archive.parent.iterdir()] == [archive.name]
    line = entries(prepared.engine, prepared.boss.id)[0]
    assert (line.who, line.action, line.detail["pseudonyms"]) == ("boss", "exported", False)


def test_with_pseudonyms_no_name_is_in_it(prepared: Prepared) -> None:
    archive = export_archive(prepared.engine, by=prepared.boss.id, pseudonymise=True)
    with zipfile.ZipFile(archive) as content:
        people = content.read("tables/annotator.jsonl").decode()
    assert not any(f'"{name}"' in people for name in ("ann", "ben", "judge", "boss"))


def test_a_backup_is_a_database(prepared: Prepared) -> None:
    file = backup_file(prepared.engine, by=prepared.boss.id)
    assert list_accounts(open_store(str(file))) == list_accounts(prepared.engine)
    assert entries(prepared.engine, prepared.boss.id)[0].action == "backed up"


def test_others_get_nothing_and_what_is_too_large_is_not_sent(prepared: Prepared, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(downloads.tempfile, "mkdtemp", lambda prefix: str(tmp_path / prefix))
    for account in (prepared.ann, prepared.judge):
        with pytest.raises(NotAllowed):
            export_archive(prepared.engine, by=account.id, pseudonymise=True)
        with pytest.raises(NotAllowed):
            backup_file(prepared.engine, by=account.id)
    monkeypatch.setattr(downloads, "LARGEST", 10)
    (tmp_path / "audit-backup-").mkdir()
    with pytest.raises(AuditError, match="sends at most"):
        backup_file(prepared.engine, by=prepared.boss.id)
    assert not (tmp_path / "audit-backup-").exists()
    assert not {"exported", "backed up"} & {line.action for line in entries(prepared.engine, prepared.boss.id)}


def test_the_page_makes_a_file_and_offers_it(prepared: Prepared) -> None:
    app = go(open_app(prepared.boss, "zh"), "data")
    app.button(key="make-export").click().run()
    assert not app.exception
    kind, name, content = app.session_state["data-ready"]
    assert (kind, name) == ("export", "audit-export.zip")
    assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None
    assert text_in("zh", "data.download", size=f"{len(content) / 2**20:,.1f}") in [
        button.label for button in app.get("download_button")
    ]
