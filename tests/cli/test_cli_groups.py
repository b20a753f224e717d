"""Groups that people are asked about, through the commands."""

import json

import pytest

from audit.annotation.accounts import add_account
from audit.annotation.queue import next_question
from audit.cli import main
from audit.judging.judgements import judge
from audit.store import open_store


@pytest.fixture
def imported(tmp_path, monkeypatch):
    """A database in the current directory with two groups of one system, one satisfied and one violated."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {"relation": "MR1.1", "system": "a", "source": f"S{n}.", "follow_ups": [f"S{n}!"], "verdict": verdict,
         "outputs": ["positive", "positive" if verdict == "satisfied" else "negative"]}
        for n, verdict in enumerate(("satisfied", "violated"))
    ]  # fmt: skip
    (tmp_path / "run.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert main(["import-run", "run.jsonl"]) == 0


def said(capsys, *arguments, status=0):
    capsys.readouterr()
    assert main(list(arguments)) == status
    return capsys.readouterr()


def test_sampling_asks_about_groups_and_says_of_how_many(imported, capsys):
    shown = said(capsys, "sample", "--per-relation", "5", "--audit-groups", "5").out
    assert "people are asked of 2 different groups whether the relation holds" in shown
    document = json.loads(said(capsys, "sample", "--per-relation", "5", "--json").out)
    assert document["studies"][0]["audited_groups"] == 2  # asking for less takes nothing back
    assert document["waiting"] == 3  # one text, whose answer is carried, and two groups


def test_without_audits_nothing_is_said_of_groups(imported, capsys):
    assert "different groups whether" not in said(capsys, "sample", "--per-relation", "5").out


def test_agreement_about_groups(imported, capsys):
    said(capsys, "sample", "--per-relation", "5", "--audit-groups", "5")
    problem = said(capsys, "agreement", "--about", "groups", status=2).err
    assert "people have judged no question about a group yet" in problem
    engine = open_store("audit.db")
    for name in ("ann", "bob"):
        account = add_account(engine, name, "annotator", "long enough").id
        while (shown := next_question(engine, account)) is not None:
            judge(engine, account, shown.id, "broken" if shown.texts == ("S1.",) else shown.labels[0])
    for by in ("relation", "system", "language"):
        document = json.loads(said(capsys, "agreement", "--about", "groups", "--by", by, "--json").out)
        assert document["labels"] == ["broken", "holds"]
        assert (document["items"], document["coefficients"][0]["estimate"]) == (2, 1.0)
        assert document["groups"][0]["items"] == 2
        assert document["signature"]["about"] == "groups"
    cell = json.loads(said(capsys, "report", "--json").out)["cells"][0]
    # Of one satisfied and one violated group the relation holds in the first alone, and its outputs are right.
    assert (cell["holds_judged"], cell["false_violation_rate"], cell["sr_corrected"]) == (2, 1.0, 1.0)


def test_groups_need_a_database(tmp_path, capsys):
    file = tmp_path / "r.csv"
    file.write_text("item,annotator,label\n1,a,x\n1,b,x\n", encoding="utf-8")
    problem = said(capsys, "agreement", "--about", "groups", "--ratings", str(file), status=2).err
    assert "--about groups needs the drawn groups of a database" in problem
