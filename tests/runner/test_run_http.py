"""Whole runs with a simulated service on this machine: `audit run --systems http:FILE.toml`, and the database."""

import json

import pytest
from service import Reply, label_of, plain_answer, serving
from sqlalchemy import select

from audit.cli import main
from audit.store import open_store, table_of, tables

pytestmark = pytest.mark.usefixtures("asked_once")

pytest.importorskip("httpx", reason="pip install 'audit[http]'")


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Thirty sources are then four chunks."""
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 8, "document": 2})


def outputs(engine):
    """System name, texts and output of every last attempt, and every outcome, sorted."""
    output, system, input_table = table_of(tables.Output), table_of(tables.System), table_of(tables.Input)
    verdict, group = table_of(tables.Verdict), table_of(tables.Group)
    query = (
        select(system.c.name, input_table.c.texts, output.c.label, output.c.score, output.c.error)
        .join(system, system.c.id == output.c.system_id)
        .join(input_table, input_table.c.id == output.c.input_id)
        .order_by(output.c.attempt)
    )
    checks = (
        select(system.c.name, group.c.source_id, group.c.relation_id, verdict.c.outcome, verdict.c.value)
        .join(system, system.c.id == verdict.c.system_id)
        .join(group, group.c.id == verdict.c.group_id)
    )
    with engine.connect() as connection:
        last = {(row.name, *row.texts): (row.label, row.score, row.error) for row in connection.execute(query)}
        return last, sorted(tuple(row) for row in connection.execute(checks))


def of(system, outputs_and_outcomes):
    """The outputs and outcomes of one system."""
    last, checks = outputs_and_outcomes
    return {key[1:]: value for key, value in last.items() if key[0] == system}, [
        row[1:] for row in checks if row[0] == system
    ]


def test_from_the_command_line_and_no_secret_is_left_behind(tmp_path, monkeypatch, capsys, toy_relations):
    """The whole way with a key in a header, that the service repeats in its errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ACME_KEY", "sk-4711-secret")
    (tmp_path / "films.csv").write_text("text\n" + "".join(f"Film {number} was fine.\n" for number in range(12)))

    def answer(body, number):
        if any("7" in text for text in body["texts"]):
            return Reply({"error": "not for key sk-4711-secret"}, 400)
        return plain_answer(body)

    command = [
        "run",
        "--corpus",
        "films.csv",
        "--systems",
        "http:service.toml",
        "--relations",
        "T1",
        "--workers",
        "0",
    ]
    with serving(answer) as server:
        server.file(tmp_path, 'headers = { X-Key = "${ACME_KEY}" }')
        main([*command, "--json"])
    assert {headers["X-Key"] for headers in server.headers} == {"sk-4711-secret"}
    shown = capsys.readouterr()
    ran = json.loads(shown.out)
    assert (ran["systems"], ran["executed"], ran["failed"], ran["checks"]) == (["local"], 24, 2, 12)
    held = b"".join(path.read_bytes() for path in tmp_path.glob("audit.db*"))
    assert b"not for key ${ACME_KEY}" in held
    assert b"sk-4711" not in held
    assert "sk-4711" not in shown.out + shown.err
    engine = open_store(str(tmp_path / "audit.db"))
    last, _ = of("local", outputs(engine))
    assert {text: label for (text,), (label, _, _) in last.items() if label} == {
        text: label_of(text) for text in server.texts if "7" not in text
    }
