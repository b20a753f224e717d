"""Whole runs with a language model behind a simulated endpoint: what it says instead of an output is kept, is read by
people who look at the group, and counts nowhere; no secret is kept."""

import json

import pytest
from chatting import chat_file, reply
from service import Reply, label_of, serving
from sqlalchemy import select

from audit.relations import Outcome, get_relation
from audit.runner.executors import InProcess
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.runner.studies import inapplicable_notes
from audit.store import open_store, table_of, tables

pytestmark = pytest.mark.usefixtures("asked_once")

pytest.importorskip("httpx", reason="pip install 'audit[http]'")

KEY = "sk-live-4711"
REASONING = 'Or {"label": "neutral"}?'


def mood(body, number):
    """A label for each text; a refusal for those with a seven."""
    text = body["messages"][-1]["content"]
    if "7" in text:
        return reply(None, refusal=f"I will not speak of this, {KEY}.")
    return reply(f"<think>{REASONING}, {KEY}.</think>{json.dumps({'label': label_of(text)})}")


def stored(engine):
    """Texts, output and outcome columns of every last attempt."""
    output, input_table = table_of(tables.Output), table_of(tables.Input)
    query = select(input_table.c.texts, output).join(output, output.c.input_id == input_table.c.id)
    with engine.connect() as connection:
        return {row.texts[0]: row for row in connection.execute(query.order_by(output.c.attempt))}


@pytest.fixture
def ran(tmp_path, monkeypatch, toy_corpus):
    """A run of a model that refuses what has a seven, and of a function that says the same of everything."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMALL_KEY", KEY)
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    with serving(mood) as server, InProcess() as executor:
        price = "price = { input_tokens = 1000, answers = 5000 }"
        spec = chat_file(server, tmp_path, f'api_key = "${{SMALL_KEY}}"\n{price}')
        result = run(engine, toy_corpus(), [spec], [get_relation("sentiment", "MR3.1")], executor)
        yield engine, result, server
    engine.dispose()


def test_refusals_are_errors_with_what_was_said(ran, tmp_path):
    engine, result, server = ran
    rows = stored(engine)
    refused = {text: row for text, row in rows.items() if "7" in text}
    assert result.counts.failed == len(refused) > 2
    for row in refused.values():
        assert (row.error, row.label, row.score) == ("the model refused to answer", None, None)
        assert row.text == "I will not speak of this, ${SMALL_KEY}."
    answered = {text: row for text, row in rows.items() if text not in refused}
    assert all(row.label == label_of(text) for text, row in answered.items())
    assert {row.details["reasoning"] for row in answered.values()} == {f"{REASONING}, ${{SMALL_KEY}}."}
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert KEY.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("audit.db*"))
    asked = [body["messages"][-1]["content"] for body in server.bodies]
    assert len(asked) == len(set(asked)) == len(rows)  # refusals are not asked twice
    verdict, group, source = (table_of(model) for model in (tables.Verdict, tables.Group, tables.Source))
    query = (
        select(source.c.row, verdict.c.outcome)
        .join(group, group.c.source_id == source.c.id)
        .join(verdict, verdict.c.group_id == group.c.id)
    )
    with engine.connect() as connection:
        outcomes = dict(tuple(row) for row in connection.execute(query))
    assert {row for row, outcome in outcomes.items() if outcome == Outcome.ERROR} == {
        row for row in outcomes if "7" in str(row)
    }


@pytest.mark.slow
@pytest.mark.parametrize("status", [402, 429])
def test_a_spent_account_is_asked_no_more_and_the_run_goes_on_later(tmp_path, toy_corpus, status):
    said = {"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}}
    spent = [Reply(said, status)] * 200
    engine = open_store(str(tmp_path / "audit.db"), create=True)

    def answer(body, number):
        return spent.pop() if number > 9 and spent else mood(body, number)

    with serving(answer) as server, InProcess() as executor:
        args = [engine, toy_corpus(), [chat_file(server, tmp_path)], [get_relation("sentiment", "MR3.1")], executor]
        first = run(*args)
        assert first.counts.failed > 20 > 200 - len(spent)
        assert "insufficient_quota" in first.counts.first_error
        spent.clear()
        again = run(*args, RunOptions(retry_errors=True))
    assert again.counts.retried == first.counts.failed
    assert all(row.error is None for text, row in stored(engine).items() if "7" not in text)
    engine.dispose()


def test_what_it_used_is_stored_and_told_in_the_run_and_the_report(ran):
    engine, result, server = ran
    inputs = len({body["messages"][-1]["content"] for body in server.bodies})
    cost = inputs * (6 * 1000 + 2 * 5000) / 1_000_000  # each answer says six tokens in and two out
    told = (
        f"small used {6 * inputs:,} tokens of prompts and {2 * inputs:,} of answers, 0 of them to reason, "
        f"for {cost:,.4g} USD."
    )
    assert told in result.inapplicable
    with engine.connect() as connection:  # the report says the same
        assert told in inapplicable_notes(connection, [result.study.id])
