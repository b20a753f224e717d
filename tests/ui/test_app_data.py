"""Exports and backups as files for managers: what is in them, who may have them, and their lines in the log."""

import io
import zipfile

import pytest
from app_driver import TEXTS, Prepared, go, open_app, said

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


@pytest.mark.slow
def test_labels_come_in_by_a_file_and_results_are_sliced(prepared: Prepared) -> None:
    app = go(open_app(prepared.boss), "data")
    assert app.button(key="import-labels").disabled
    file = f"text,label,annotator\n{TEXTS[2]},positive,eve\nnot here,positive,eve\n"
    app.get("file_uploader")[0].set_value(("labels.csv", file.encode(), "text/csv")).run()
    app.button(key="import-labels").click().run()
    assert not app.exception
    assert text_in("en", "data.imported", added=1, known=0, unused=1) in said(app)
    assert entries(prepared.engine, prepared.boss.id)[0].action == "labels imported"
    app = go(app, "results")
    app.multiselect(key="slices").set_value(["length"]).run()
    assert not app.exception
    title = text_in("en", "slices.title", property=text_in("en", "slice_name.length"))
    assert any(title in section.label.replace("\\", "") for section in app.expander)
