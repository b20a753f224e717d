"""The commands end to end through `main`: their JSON, and that stdout has one document and nothing else."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from audit.cli import main
from audit.errors import NotAllowed
from audit.judging.sign_in import account_of, log_in, login_of
from audit.store import open_store

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
    lines = [f"The film number {n} is good.,positive\nThe film number {n} is not bad.,\n" for n in range(12)]
    path.write_text("text,gold\n" + "".join(lines), encoding="utf-8")
    return path


def test_relations_lists_all_of_both_studies_and_tasks_have_labels(answered):
    rows = answered("relations", "--task", "sentiment")
    carries = {row["relation"]: row["carries"] for row in rows if row["default"]}
    assert list(carries) == TWENTY
    assert [carries[name] for name in ("MR1.1", "MR2.1", "MR2.2")] == ["everything", "partly", "nothing"]
    labels = {row["task"]: row["labels"] for row in answered("tasks")}
    assert labels["inference"] == ["entailment", "neutral", "contradiction"]


@pytest.mark.slow
def test_the_way_from_run_to_report(answered, own, reviews, capsys):
    run = ("run", "--db", "a.db", "--corpus", reviews, "--systems", ",".join(own.specs("calm", "nervous")))
    run += ("--relations", "MR1.4,MR3.1", "--workers", 0)
    ran = answered(*run)
    assert (ran["sources"], ran["relations"], ran["left"], ran["failed"]) == (24, ["MR1.4", "MR3.1"], 0, 0)
    assert ran["groups"] == 48
    assert ran["checks"] == 96 == sum(ran[name] for name in ("satisfied", "violated", "inapplicable", "error"))
    again = answered(*run)
    assert (again["study"], again["groups"], again["executed"]) == (ran["study"], 0, 0)
    unsampled = answered("report", "--db", "a.db")
    assert {cell["fs_rate"]["value"] for cell in unsampled["cells"]} == {None}

    gold = answered("gold", "--db", "a.db")
    assert gold["added"] == gold["answered"] > 0
    assert answered("gold", "--db", "a.db")["added"] == 0
    report = answered("report", "--db", "a.db")
    assert len(report["cells"]) == 4
    for cell in report["cells"]:
        assert 0 <= cell["false"] <= cell["judged"] == cell["satisfied"] <= cell["groups"] <= 24
        if cell["judged"]:
            false, genuine = cell["fs_rate"], cell["sr_genuine"]
            assert false["low"] <= false["value"] == cell["false"] / cell["judged"] <= false["high"]
            assert genuine["value"] == pytest.approx(cell["sr_observed"] * (1 - false["value"]))

    sampled = answered("sample", "--db", "a.db", "--base", 4, "--annotators", 2)
    (asked,) = sampled["studies"]
    assert (asked["rounds"], sampled["waiting"] > 0) == ([1], True)
    assert 4 <= asked["texts"] == asked["asked"] <= 16
    (again,) = answered("sample", "--db", "a.db", "--base", 4)["studies"]
    assert (again["texts"], again["rounds"], again["waiting"]) == (0, [], asked["texts"])
    assert main(["report", "--db", "a.db", "--html", "out.html"]) == 0
    shown = capsys.readouterr()
    assert (shown.out, "report: out.html" in shown.err) == ("", True)
    assert "MR3.1" in Path("out.html").read_text(encoding="utf-8")
    assert len(answered("follow-ups", "MR3.1", "--db", "a.db", "--show", 3)) == 3


def test_a_plain_function_does_the_task_of_its_corpus_in_other_processes_too(answered, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sorting.py").write_text("def sort(text):\n    return 'late' if 'late' in text else 'refund'\n")
    (tmp_path / "mails.csv").write_text("text,gold\nIt came late.,late\nI want my money.,refund\n")
    ran = answered(
        *("run", "--corpus", "mails.csv", "--task", "classification", "--systems", "sorting:sort"),
        *("--relations", "typos", "--workers", 1),
    )
    assert (ran["failed"], ran["executed"] > 2) == (0, True)


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


def test_accounts_are_given_passwords(judged, monkeypatch):
    def user(*arguments):
        return main(["user", *arguments, "--db", judged])

    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse\nanother horse\n"))
    assert user("add", "mia", "--role", "manager") == 0
    engine = open_store(judged)
    mia = log_in(engine, "mia", "correct horse")
    login = login_of(engine, mia.id)
    assert user("password", "mia") == 0
    assert account_of(engine, login) is None
    with pytest.raises(NotAllowed):
        log_in(engine, "mia", "correct horse")
    assert log_in(engine, "mia", "another horse") == mia
    assert user("add", "cy", "--no-password", "--languages", "english!") == 2
