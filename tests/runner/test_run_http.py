"""Whole runs with a simulated service on this machine: `audit run --systems http:FILE.toml`, and the database."""

import json

import pytest
from service import LABELS, Reply, label_of, plain_answer, serving
from sqlalchemy import select

from audit.cli import main
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.store import open_store, table_of, tables

pytestmark = pytest.mark.usefixtures("asked_once")

pytest.importorskip("httpx", reason="pip install 'audit[http]'")

SAME = """
import hashlib


def same(text):
    return {labels}[hashlib.md5(text.encode()).digest()[0] % 3], 0.75
"""


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


def test_a_service_and_a_function_that_say_the_same_are_checked_the_same(
    tmp_path, monkeypatch, toy_corpus, toy_relations
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "same_as_service.py").write_text(SAME.format(labels=LABELS))
    engine = open_store("sqlite://", create=True)
    with serving() as server, InProcess() as executor:
        specs = [server.file(tmp_path, "batch = 3"), "same_as_service:same"]
        ran = run(engine, toy_corpus(), specs, toy_relations, executor)
        assert ran.counts.failed == 0
        texts = server.texts
        # The same command again asks nothing.
        run(engine, toy_corpus(), specs, toy_relations, executor)
        assert server.texts == texts
    assert len(texts) == len(set(texts))  # each distinct input once
    stored = outputs(engine)
    assert of("local", stored) == of("same_as_service:same", stored)
    assert len(of("local", stored)[0]) == len(texts)
    assert of("local", stored)[1]


def test_a_service_that_vanishes_and_comes_back(tmp_path, toy_corpus, toy_relations):
    """The run ends with stored errors; with `--retry-errors` it ends with what an undisturbed one ends with."""
    answered = 12

    def answer(body, number):
        server.away = number >= answered
        return plain_answer(body)

    more = "batch = 2\nconcurrency = 3\ntries = 1\npatience = 0"
    undisturbed, engine = open_store("sqlite://", create=True), open_store("sqlite://", create=True)
    with serving(answer) as server, InProcess() as executor:
        spec = server.file(tmp_path, more)
        ran = run(engine, toy_corpus(), [spec], toy_relations, executor)
        assert ran.counts.failed > 0
        assert ran.counts.executed > ran.counts.failed
        assert ran.counts.first_error.startswith(("Unanswered: ", "Declined: "))
        failed = {key for key, (_, _, error) in of("local", outputs(engine))[0].items() if error}
        assert len(failed) == ran.counts.failed
        server.answer, server.away = (lambda body, number: plain_answer(body)), False
        before = len(server.texts)
        # Without being told, it leaves stored errors alone.
        assert run(engine, toy_corpus(), [spec], toy_relations, executor).counts.executed == 0
        again = run(engine, toy_corpus(), [spec], toy_relations, executor, retry_errors=True)
        assert again.counts.retried == len(failed)
        assert again.counts.failed == 0
        assert {(text,) for text in server.texts[before:]} >= failed
        run(undisturbed, toy_corpus(), [spec], toy_relations, executor)
    assert of("local", outputs(engine)) == of("local", outputs(undisturbed))


def test_another_version_is_asked_anew_and_another_pace_is_not(tmp_path, toy_corpus, toy_relations):
    engine = open_store("sqlite://", create=True)
    with serving() as server, InProcess() as executor:
        spec = server.file(tmp_path)
        first = run(engine, toy_corpus(), [spec], toy_relations, executor).counts.executed
        path = tmp_path / "service.toml"
        path.write_text(path.read_text() + "concurrency = 2\nbatch = 4\ntimeout = 9\n")
        assert run(engine, toy_corpus(), [spec], toy_relations, executor).counts.executed == 0
        path.write_text(path.read_text().replace('"1"', '"2"'))
        assert run(engine, toy_corpus(), [spec], toy_relations, executor).counts.executed == first
    # Sources and follow-ups were asked twice, whatever stood in the file between.
    assert len(server.texts) == 2 * len(set(server.texts))


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


def test_a_variable_that_is_not_set_leaves_no_database(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ACME_KEY", raising=False)
    (tmp_path / "films.csv").write_text("text\nIt isn't bad.\n")
    with serving() as server:
        server.file(tmp_path, 'headers = { X-Key = "${ACME_KEY}" }')
        assert main(["run", "--corpus", "films.csv", "--systems", "http:service.toml"]) == 2
    assert "set the environment variable ACME_KEY, which service.toml names" in capsys.readouterr().err
    assert not (tmp_path / "audit.db").exists()
