"""An export has everything, gives the same database again, and says the same twice; what is none is refused."""

import json
import re

import pytest
import translations

from audit.errors import BadFile, NotAllowed
from audit.exchange.export import export
from audit.exchange.replay import import_export, read_manifest, replay
from audit.judging.accounts import add_account, list_accounts
from audit.judging.adjudications import adjudicate
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.unit import rebuild
from audit.reports.study import study_report
from audit.store import open_store
from audit.store.core import annotator
from audit.store.dump import pseudonym


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
        assert {row.password for row in connection.execute(annotator.select())} == {None}
    export(again, tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    left = {path.name for path in tmp_path.iterdir() if not path.name.endswith(("-wal", "-shm"))}
    assert left == {"b.db", "judged.db", "one", "two"}


def test_the_manifest_says_what_is_there_and_what_is_left_out(exported):
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


@pytest.mark.slow
def test_translations_are_the_same_study_again_and_replay(tmp_path):
    """Two people answer everything, but for one question on which they differ, which ada settles."""
    engine = translations.study(tmp_path)
    for name in ("anna", "ben"):
        person = add_account(engine, name, "annotator", "long enough").id
        while (shown := next_question(engine, person)) is not None:
            said = "mistranslated" if shown.output == translations.SPANISH[1] else "accurate"
            if name == "ben" and shown.output == translations.SPANISH[0] and shown.languages[0] == "fr":
                said, odd = "not_fluent", shown.id
            judge(engine, person, shown.id, said)
    ada = add_account(engine, "ada", "adjudicator", "long enough").id
    adjudicate(engine, ada, odd, ["accurate", "not_fluent"], "Either may stand.")
    rebuild(engine)
    export(engine, tmp_path / "out")
    import_export(tmp_path / "out", str(tmp_path / "b.db"))
    again = open_store(str(tmp_path / "b.db"))
    assert study_report(again) == study_report(engine)
    assert translations.questions(again) == translations.questions(engine)
    assert replay(tmp_path / "out").equal


@pytest.mark.parametrize("name", ["tables/judgement.jsonl", "report.json"])
def test_a_file_that_was_changed_or_is_missing(exported, tmp_path, name):
    path = exported / name
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(BadFile, match=f"{name}: changed since the export was made"):
        import_export(exported, str(tmp_path / "new.db"))
    path.unlink()
    with pytest.raises(BadFile, match=f"{name}: there is no such file"):
        import_export(exported, str(tmp_path / "new.db"))
    assert not list(tmp_path.glob("new.db*"))


def test_an_import_goes_into_an_empty_database_only(exported, judged, tmp_path, content):
    before = content(open_store(judged))
    with pytest.raises(BadFile, match=r"judged\.db is not empty \(it has rows in"):
        import_export(exported, judged)
    assert content(open_store(judged)) == before
    open_store(str(tmp_path / "empty.db"), create=True).dispose()
    import_export(exported, str(tmp_path / "empty.db"))
    with pytest.raises(BadFile, match="is a folder"):
        import_export(exported, str(tmp_path))
