"""Labels on a full disk, backup and doctor, through `main`."""

import json
import shutil

import pytest

from audit.cli import main
from audit.store import open_store


@pytest.fixture
def call(capsys):
    """Runs a command; returns its status, its JSON (or text) and what it said on stderr."""

    def run(*arguments, as_json=True):
        status = main([*map(str, arguments), *(["--json"] if as_json else [])])
        shown = capsys.readouterr()
        return status, json.loads(shown.out) if as_json and status < 2 else shown.out, shown.err

    return run


@pytest.mark.slow
def test_labels_that_a_full_disk_does_not_take(call, judged, tmp_path, small_disk, content):
    """All of them or none, in one sentence; the same command works when there is room."""
    small_disk.resize("30m")
    database = small_disk.folder / "judged.db"
    shutil.copy(judged, database)
    labels = tmp_path / "labels.csv"
    films = [f"{text},positive" for number in range(10) for text in (f"Film {number} was fine.", f"Film {number} ...")]
    labels.write_text("\n".join(["text,label", *films]) + "\n", encoding="utf-8")
    arguments = ("import-labels", labels, "--db", database, "--annotator", "crowd")
    before = content(open_store(str(database)), "judgement", "annotator", "answer")
    small_disk.fill()
    status, _, said = call(*arguments)
    assert (status, said.count("\n"), "database or disk is full" in said) == (2, 1, True)
    small_disk.free()
    assert content(open_store(str(database)), "judgement", "annotator", "answer") == before
    status, made, _ = call(*arguments)
    assert (status, made["added"]) == (0, 10)
    assert not [
        one for one in call("doctor", "--db", database)[1]["checks"] if not one["ok"] and one["check"] != "disk"
    ]


def test_backup_and_doctor(call, judged, tmp_path):
    assert call("backup", "--db", judged, "--out", tmp_path / "b.db")[0] == 0
    status, found, _ = call("doctor", "--db", tmp_path / "b.db")
    assert (status, found["sound"]) == (0, True)
    with open_store(str(tmp_path / "b.db")).begin() as connection:
        connection.exec_driver_sql("DELETE FROM answer")
    status, text, _ = call("doctor", "--db", tmp_path / "b.db", as_json=False)
    assert (status, "PROBLEM  answers: " in text, "run `audit doctor --rebuild --db " in text) == (1, True, True)
