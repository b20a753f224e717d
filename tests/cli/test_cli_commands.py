"""The commands end to end through `main`: their JSON, and that stdout has one document and nothing else."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from audit.cli import main

# The keys of issue 2, section "The commands and their JSON", letter for letter: other tools read them.
RELATION = ["relation", "task", "family", "unit", "languages", "default", "preserves_truth", "carries", "summary"]
RELATION += ["keeps", "may_break"]
REPORT = ["signature", "cells", "relations", "overall", "rollups", "violations", "decisions"]
OF_A_DATABASE = ["causes", "disputes", "sensitivity", "plan"]
CELL = [
    "task", "relation", "system", "groups", "satisfied", "violated", "inapplicable", "errors", "judged", "false",
    "waiting", "sr_observed", "fs_rate", "sr_genuine",
]  # fmt: skip
ORDER = [
    "task", "relation", "order_observed", "order_genuine", "best_observed", "best_genuine", "order_changes",
    "best_changes",
]  # fmt: skip
TWENTY = [
    *("MR1.1", "MR1.2", "MR1.3", "MR1.4", "MR2.1", "MR2.2", "MR3.1", "MR3.2", "MR4.1", "MR4.2", "MR4.3", "MR4.4"),
    *("MR4.5", "MR5.1", "MR5.2", "MR5.3", "MR6.1", "MR6.2", "MR7.1", "MR7.2"),
]


@pytest.fixture
def answered(capsys):
    """Runs a command that must succeed; returns the JSON document that is all of stdout."""

    def call(*arguments):
        assert main([*map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return call


@pytest.fixture
def reviews(tmp_path):
    path = tmp_path / "reviews.csv"
    lines = ["text,gold,critic"]
    for n in range(12):
        lines.append(f"The film number {n} is good.,positive,anna")
        lines.append(f"The film number {n} is not bad.,,ben")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def run_of(answered, own, reviews):
    """`audit run` of two relations and two systems on the reviews."""

    def call(*more):
        systems = ",".join(own.specs("calm", "nervous"))
        return answered(
            *("run", "--db", "a.db", "--corpus", reviews, "--systems", systems),
            *("--relations", "MR1.4,MR3.1", "--workers", 0, *more),
        )

    return call


def test_relations_lists_all_of_both_studies(answered):
    rows = answered("relations")
    assert [row["relation"] for row in rows if row["task"] == "sentiment" and row["default"]] == TWENTY
    for row in rows:
        assert list(row) == RELATION
        assert row["unit"] in ("sentence", "document", "any")
        of_texts = not (row["task"] == "translation" or row["relation"] == "swapped-answers")
        assert row["languages"] in ([["en"], ["zh"]] if of_texts else [["*"]])
        assert isinstance(row["preserves_truth"], bool)
        assert row["summary"].endswith(".")
    truth = {row["relation"]: row["preserves_truth"] for row in rows if row["task"] == "sentiment" and row["default"]}
    assert truth["MR1.1"]
    assert not truth["MR2.2"]
    carries = {row["relation"]: row["carries"] for row in rows if row["task"] == "sentiment" and row["default"]}
    assert [carries[name] for name in ("MR1.1", "MR2.1", "MR2.2")] == ["everything", "partly", "nothing"]
    assert answered("relations", "--task", "sentiment") == [row for row in rows if row["task"] == "sentiment"]


@pytest.mark.slow
def test_the_way_from_run_to_report(answered, run_of, capsys):
    ran = run_of()
    assert {"study", "sources", "groups", "checks", "executed", "stored", "failed", "left"} <= set(ran)
    assert (ran["sources"], ran["relations"], ran["left"], ran["failed"]) == (24, ["MR1.4", "MR3.1"], 0, 0)
    assert ran["groups"] == 48
    assert ran["checks"] == 96 == sum(ran[name] for name in ("satisfied", "violated", "inapplicable", "error"))
    again = run_of()
    assert (again["study"], again["groups"], again["executed"]) == (ran["study"], 0, 0)

    unsampled = answered("report", "--db", "a.db")
    assert {cell["fs_rate"]["value"] for cell in unsampled["cells"]} == {None}
    assert {cell["sr_observed"] is None for cell in unsampled["cells"]} == {False}

    gold = answered("gold", "--db", "a.db")
    assert {"questions", "answered", "added", "waiting"} <= set(gold)
    assert gold["added"] == gold["answered"] > 0
    assert answered("gold", "--db", "a.db")["added"] == 0

    report = answered("report", "--db", "a.db")
    assert list(report) == REPORT + OF_A_DATABASE
    assert {(cell["relation"], cell["system"]) for cell in report["cells"]} == {
        (relation, system) for relation in ("MR1.4", "MR3.1") for system in ran["systems"]
    }
    for cell in report["cells"]:
        assert set(CELL) <= set(cell)
        assert 0 < cell["groups"] <= 24
        assert 0 <= cell["false"] <= cell["judged"] == cell["satisfied"]
        if cell["judged"]:
            false, genuine = cell["fs_rate"], cell["sr_genuine"]
            assert false["value"] == cell["false"] / cell["judged"]
            assert false["low"] <= false["value"] <= false["high"]
            assert genuine["low"] <= genuine["value"] <= genuine["high"]
            assert genuine["value"] == pytest.approx(cell["sr_observed"] * (1 - false["value"]))
    for row in report["relations"]:
        assert set(ORDER) <= set(row)
        assert all(isinstance(row[name], list) for name in ORDER[2:6])
        assert all(isinstance(row[name], bool) for name in ORDER[6:])
    assert answered("report", "--db", "a.db") == report

    sampled = answered("sample", "--db", "a.db", "--base", 4, "--annotators", 2)
    (asked,) = sampled["studies"]
    assert asked["rounds"] == [1]
    assert 4 <= asked["texts"] == asked["asked"] <= 16
    assert sampled["waiting"] > 0
    (again,) = answered("sample", "--db", "a.db", "--base", 4)["studies"]
    assert (again["texts"], again["rounds"], again["waiting"]) == (0, [], asked["texts"])

    assert main(["report", "--db", "a.db", "--html", "out.html"]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "report: out.html" in shown.err
    page = Path("out.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "MR3.1" in page
    people = answered("report", "--db", "a.db", "--answers", "people")
    assert {cell["judged"] for cell in people["cells"]} == {0}


@pytest.mark.slow
def test_what_a_system_prints_does_not_reach_stdout(tmp_path, reviews):
    """In processes of its own, as nothing else shows what reaches the real stdout."""
    (tmp_path / "loud.py").write_text(
        "import os\nprint('imported')\ndef loud(text):\n    print('chatter')\n    os.write(1, b'raw chatter')\n"
        "    return 'positive'\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "audit", "run", "--corpus", str(reviews), "--systems", "loud:loud"]
    command += ["--relations", "MR3.1", "--limit", "3", "--workers", "1", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["executed"] == 6
    assert "chatter" in done.stderr


def test_accounts_are_given_passwords(run_of, monkeypatch, capsys):
    from audit.errors import NotAllowed
    from audit.judging.sign_in import account_of, log_in, login_of
    from audit.store import open_store

    def user(*arguments):
        status = main(["user", *arguments, "--db", "a.db"])
        shown = capsys.readouterr()
        return status, shown.out + shown.err

    run_of()
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse\nanother horse\n"))
    assert user("add", "mia", "--role", "manager")[0] == 0
    assert user("add", "ben@example.org", "--no-password", "--languages", "en,zh")[0] == 0
    engine = open_store("a.db")
    mia = log_in(engine, "mia", "correct horse")
    login = login_of(engine, mia.id)
    assert user("password", "mia") == (0, "Password of mia set; the account is logged out everywhere.\n")
    assert account_of(engine, login) is None
    with pytest.raises(NotAllowed):
        log_in(engine, "mia", "correct horse")
    assert log_in(engine, "mia", "another horse") == mia
    assert user("add", "cy", "--no-password", "--languages", "english!")[0] == 2
    monkeypatch.setenv("AUDIT_PASSWORD", "x" * 1_000_000)
    assert "it must have 8 to 1,000" in user("password", "mia")[1]
