"""Whole runs with a program that speaks JSON lines: one in each worker, ended with the run; its errors are stored."""

import json
import os
import sys
import time
from contextlib import suppress

import pytest
from sqlalchemy import select

from audit.cli import main
from audit.store import open_store, table_of, tables

PROGRAM = """
import json, os, sys

with open("pids", "a") as file:
    file.write(f"{os.getpid()} {os.getppid()}\\n")
for line in sys.stdin:
    text = json.loads(line)["texts"][0]
    if "7" in text:
        sys.exit("seven is out of order")
    print(json.dumps({"label": "positive" if text.isupper() else "neutral"}), flush=True)
"""


def is_running(pid):
    with suppress(FileNotFoundError), open(f"/proc/{pid}/stat", encoding="utf-8") as status:
        return status.read().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.slow
def test_a_program_runs_in_each_worker_and_ends_with_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "films.csv").write_text("text\n" + "".join(f"Film {number} was fine.\n" for number in range(40)))
    command = json.dumps([sys.executable, "program.py"])
    (tmp_path / "mine.toml").write_text(f'name = "mine"\nversion = "1"\ncommand = {command}\n')
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 8, "document": 2})
    asked = ["run", "--corpus", "films.csv", "--relations", "MR3.1", "--systems", "command:mine.toml", "--workers", "2"]
    assert main([*asked, "--json"]) == 0
    ran = json.loads(capsys.readouterr().out)
    output, input_table = table_of(tables.Output), table_of(tables.Input)
    query = select(input_table.c.texts, output).join(output, output.c.input_id == input_table.c.id)
    with open_store(str(tmp_path / "audit.db")).connect() as connection:
        rows = {row.texts[0]: row for row in connection.execute(query)}
    failed = {text for text, row in rows.items() if row.error}
    assert failed == {text for text in rows if "7" in text}
    assert len(failed) == ran["failed"] > 0
    assert all("on stderr: seven is out of order" in rows[text].error for text in failed)
    assert all(row.label in ("positive", "neutral") for text, row in rows.items() if text not in failed)
    pids = {tuple(map(int, line.split())) for line in (tmp_path / "pids").read_text().splitlines()}
    assert os.getpid() not in {parent for _, parent in pids}
    until = time.monotonic() + 5
    while any(is_running(pid) for pid, _ in pids) and time.monotonic() < until:
        time.sleep(0.02)
    assert not any(is_running(pid) for pid, _ in pids)


def test_a_program_that_is_not_there_leaves_no_database(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films.csv").write_text("text\nIt was fine.\n")
    assert main(["run", "--corpus", "films.csv", "--relations", "MR3.1", "--systems", "command:no-such-program"]) == 2
    said = capsys.readouterr().err
    assert "there is no program 'no-such-program' here" in said
    assert len(said.strip().splitlines()) == 1
    assert not (tmp_path / "audit.db").exists()
