"""With what answers were given, and who let them go: in the history, and not in a pseudonymised one."""

import csv

from audit.annotation.accounts import add_account
from audit.annotation.answers import browser
from audit.annotation.queue import next_question
from audit.judging.judgements import judge
from audit.judging.staleness import Choice, mark_stale
from audit.reports.exports.reading import import_export
from audit.reports.exports.replay import replay
from audit.reports.exports.writing import export
from audit.store import open_store, table_of, tables

AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"


def changed(where):
    """The database with an answer given in Chrome, which a manager let go stale."""
    engine = open_store(where)
    with engine.begin() as connection:
        connection.execute(table_of(tables.Question).update().values(annotators=9, filled=False, priority=1))
    eve = add_account(engine, "eve", "annotator", "long enough").id
    mia = add_account(engine, "mia", "manager", "long enough").id
    judge(engine, eve, next_question(engine, eve).id, "unsure", client=browser(AGENT))
    mark_stale(engine, mia, Choice(labels=("unsure",)), "eve hesitated")
    return engine


def rows(folder):
    with (folder / "judgements.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_who_let_it_go_and_with_what_it_was_given(judged, tmp_path, content):
    engine = changed(judged)
    export(engine, tmp_path / "plain")
    judgement, gone = rows(tmp_path / "plain")[-2:]
    assert (judgement["answer"], judgement["client"], judgement["withdrawn_by"]) == ("unsure", browser(AGENT), "")
    assert (gone["answer"], gone["withdrawn_by"], gone["comment"]) == ("withdrawn", "mia", "eve hesitated")
    assert (judgement["counts"], gone["counts"], gone["annotator"]) == ("no", "no", "eve")
    # What somebody took back themselves names nobody.
    undone = [row for row in rows(tmp_path / "plain") if row["answer"] == "withdrawn"][:-1]
    assert undone
    assert {row["withdrawn_by"] for row in undone} == {""}
    import_export(tmp_path / "plain", str(tmp_path / "again.db"))
    kept = ("judgement", "adjudication", "answer", "log")
    assert content(open_store(str(tmp_path / "again.db")), *kept) == content(engine, *kept)
    assert replay(tmp_path / "plain").equal


def test_a_pseudonymised_export_has_neither(judged, tmp_path):
    export(changed(judged), tmp_path / "shared", salt=b"0123456789abcdef")
    for path in (tmp_path / "shared").rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert "Chrome" not in text, path
            assert "eve hesitated" not in text, path
            assert '"mia"' not in text, path
    gone = rows(tmp_path / "shared")[-1]
    assert gone["withdrawn_by"].startswith("person-")
    assert {row["client"] for row in rows(tmp_path / "shared")} == {""}
