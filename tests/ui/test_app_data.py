"""Exports and backups as files for managers: what is in them, who may have them, and their lines in the log."""

import io
import zipfile

import pytest
from app_driver import Prepared, go, open_app

from audit.errors import AuditError, NotAllowed
from audit.exchange import export as downloads
from audit.exchange.export import backup_file, export_archive
from audit.judging.accounts import disable_account, entries
from audit.ui.language import text_in


def test_others_get_nothing_and_what_is_too_large_is_not_sent(prepared: Prepared, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(downloads.tempfile, "tempdir", str(tmp_path))
    for account in (prepared.ann, prepared.judge):
        with pytest.raises(NotAllowed):
            export_archive(prepared.engine, by=account.id, pseudonymise=True)
        with pytest.raises(NotAllowed):
            backup_file(prepared.engine, by=account.id)
    monkeypatch.setattr(downloads, "LARGEST", 10)
    with pytest.raises(AuditError, match="sends at most"):
        backup_file(prepared.engine, by=prepared.boss.id)
    assert list(tmp_path.glob("audit-*")) == []
    assert not {"exported", "backed up"} & {line.action for line in entries(prepared.engine, prepared.boss.id)}


@pytest.mark.slow
def test_the_page_makes_a_file_and_offers_it(prepared: Prepared) -> None:
    disable_account(prepared.engine, "ben", by=prepared.boss.id)
    app = go(open_app(prepared.boss, "zh"), "data")
    line = app.dataframe[0].value.iloc[0]
    assert list(line[[text_in("zh", f"log.{name}") for name in ("who", "action", "detail")]]) == [
        "boss", "account disabled", '"account": "ben"',
    ]  # fmt: skip
    app.button(key="make-export").click().run()
    assert not app.exception
    kind, name, content = app.session_state["data-ready"]
    assert (kind, name) == ("export", "audit-export.zip")
    assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None
    assert text_in("zh", "data.download", size=f"{len(content) / 2**20:,.1f}") in [
        button.label for button in app.get("download_button")
    ]
