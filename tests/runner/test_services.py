"""Runs of systems on other machines, simulated on this one: first answers, limits of requests and of money, secrets,
refusals, a spent account, a kill in the middle. Nothing is paid for twice."""

import json
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from chatting import chat_file, reply
from hypothesis import given
from hypothesis import strategies as st
from service import Reply, label_of, plain_answer, serving
from sqlalchemy import select

from audit.cli import main
from audit.errors import AuditError
from audit.relations import Outcome, get_relation
from audit.relations.registry import configured
from audit.runner.batch import Batch
from audit.runner.budget import Budget, Meter, Sending
from audit.runner.executors import InProcess, Lost, Processes, Waiting, outcome
from audit.runner.options import RunOptions
from audit.runner.run import LimitReached, run
from audit.runner.studies import Later, inapplicable_notes
from audit.store import open_store
from audit.store.core import group, input_table, output, source, verdict
from audit.systems.endpoint import Price
from audit.tasks import Input, Output

pytest.importorskip("httpx", reason="pip install 'audit[http]'")
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
import remote_run

MR3 = [get_relation("sentiment", "MR3.1")]

# First answers.


@pytest.fixture
def films(tmp_path, monkeypatch):
    """Twelve films in a file of the current directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films.csv").write_text("text\n" + "".join(f"Film {number} was a good film.\n" for number in range(12)))
    return ["run", "--corpus", "films.csv", "--relations", "MR3.1", "--workers", "0", "--db", "films.db", "--systems"]


@pytest.mark.parametrize(
    ("answer", "more", "advice"),
    [
        (
            Reply({"error": "no such key"}, 401),
            'headers = { X-Key = "${ACME_KEY}" }',
            "check the environment variable ACME_KEY, which service.toml names",
        ),
        (Reply(b"<html>Welcome</html>"), "", "check the url of service.toml"),
        (Reply({"outputs": [{"label": "POS"}]}), "batch = 1", "name that label in labels of service.toml"),
    ],
)
def test_a_wrong_setting_is_one_sentence_and_leaves_no_database(
    films, tmp_path, monkeypatch, capsys, answer, more, advice
):
    monkeypatch.setenv("ACME_KEY", "sk-4711-secret")
    with serving(lambda body, number: answer) as server:
        server.file(tmp_path, more)
        assert main([*films, "vader,http:service.toml"]) == 2
        assert len(server.bodies) <= 1 + 3  # together, then alone where an answer was of no use
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("audit: system http:service.toml failed on each of the first 3 inputs with ")
    assert shown.err.count("\n") == 1
    assert advice in shown.err
    assert "4711" not in shown.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["films.csv", "service.toml"]


def test_the_three_answers_are_outputs_of_the_run(films, tmp_path, capsys):
    with serving() as server:
        server.file(tmp_path)
        assert main([*films, "vader,http:service.toml", "--json"]) == 0
        assert len(server.bodies[0]["texts"]) == 3
        assert len(server.texts) == len(set(server.texts)) == 24  # sources and follow-ups, each once
        ran = json.loads(capsys.readouterr().out)
        assert (ran["executed"], ran["stored"]) == (48, 0)
        # The same again, and the same with a relation more, ask three stored inputs alone of these.
        assert main([*films, "vader,http:service.toml"]) == 0
        assert len(server.texts) == 24 + 3
        assert main([*films[:4], "MR3.1,MR2.1", *films[5:], "http:service.toml"]) == 0
        assert len(server.texts) == len(set(server.texts)) + 6 > 24 + 6


@pytest.mark.parametrize("workers", [InProcess, lambda: Processes(2)])
def test_a_system_that_only_fails_is_refused_and_one_that_fails_at_times_is_not(
    tmp_path, monkeypatch, toy_corpus, engine, workers
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken_one.py").write_text("def never(text):\n    return 'POS'\n")
    (tmp_path / "moody_one.py").write_text(
        "import hashlib\ndef at_times(text):\n    if hashlib.md5(text.encode()).digest()[0] % 2:\n"
        "        raise OSError('not now')\n    return 'positive'\n"
    )
    later = Later(str(tmp_path / "x.db"))
    with workers() as executor:
        with pytest.raises(AuditError, match=r"broken_one:never failed on each of the first 3 .* label 'POS' is"):
            run(later, toy_corpus(), ["broken_one:never"], MR3, executor)
        assert not (tmp_path / "x.db").exists()
        ran = run(engine, toy_corpus(), ["moody_one:at_times"], MR3, executor)
    assert 0 < ran.counts.failed < ran.counts.executed


# Limits.


@given(st.integers(1, 30), st.integers(1, 6), st.integers(1, 60), st.integers(0, 30), st.floats(0.01, 1))
def test_as_many_fit_as_the_limits_allow(limit, batch, number, spent, price):
    inputs, room = [Input.of(f"{at}") for at in range(number)], max(0, limit - spent) * batch
    for options in (RunOptions(max_calls=limit), RunOptions(max_cost=limit * price)):
        budget = Budget(options)
        budget.spend(Sending(spent, cost=spent * price))
        assert budget.fits(Meter(SimpleNamespace(name="paid", batch=batch, price=Price(call=price))), inputs) == min(
            number, room
        )
        assert budget.reached == (room == 0)


@pytest.mark.slow
@pytest.mark.usefixtures("asked_once", "small_chunks")
@pytest.mark.parametrize("workers", [InProcess, lambda: Processes(2)])
def test_a_run_stops_at_its_limit_and_the_same_again_pays_nothing_twice(tmp_path, toy_corpus, content, engine, workers):
    undisturbed = open_store("sqlite://", create=True)
    with serving() as server, workers() as executor:
        specs = [server.file(tmp_path, "batch = 2\nprice = { call = 0.5 }"), "vader"]
        for limits in ({"max_cost": 5.1}, {"max_calls": 10}):
            before = len(server.bodies)
            with pytest.raises(LimitReached) as reached:
                run(engine, toy_corpus(), specs, MR3, executor, RunOptions(**limits))
            assert reached.value.status == 3
            assert reached.value.ran.left > 0
            assert len(server.bodies) - before == 10  # all that it was allowed, and no more
        assert run(engine, toy_corpus(), specs, MR3, executor, RunOptions(max_calls=100)).left == 0
        assert len(server.texts) == len(set(server.texts))
        run(undisturbed, toy_corpus(), specs, MR3, executor)
    assert content(engine) == content(undisturbed)


@pytest.mark.slow
@pytest.mark.usefixtures("asked_once")
def test_with_a_tenth_of_the_requests_refused_every_input_is_answered_and_none_twice(tmp_path):
    with remote_run.Service(tmp_path, 0.002, 16, refused=0.1) as service:
        ran, _, _ = remote_run.run(tmp_path, service, 150)
        record = service.record()
    assert record["refusals"] > 10
    assert set(record["answered"].values()) == {1}
    assert len(record["answered"]) == 300 == ran["executed"]
    assert ran["failed"] == 0


@pytest.mark.slow
@pytest.mark.usefixtures("asked_once")
def test_killed_in_the_middle_no_stored_input_is_sent_again(tmp_path):
    with remote_run.Service(tmp_path, 0.02, 4) as service:
        answered, kept = remote_run.kill_in_the_middle(tmp_path, service, 200, 0.5)
        assert 0 < len(kept) <= len(answered) < 400
        ran, _, _ = remote_run.run(tmp_path, service, 200)
        record = service.record()
    assert ran["executed"] == 400 - len(kept)
    twice = {text for text, times in record["answered"].items() if times > 1}
    assert len(twice & kept) <= 3  # asked again, to see whether the service is still the same
    assert twice >= set(answered) - kept  # answered before the kill and not stored: the window of loss


# A language model: what it says instead of an output is kept and counts nowhere; no secret is kept.

KEY = "sk-live-4711"
REASONING = 'Or {"label": "neutral"}?'


def mood(body, number):
    """A label for each text; a refusal for those with a seven."""
    text = body["messages"][-1]["content"]
    if "7" in text:
        return reply(None, refusal=f"I will not speak of this, {KEY}.")
    return reply(f"<think>{REASONING}, {KEY}.</think>{json.dumps({'label': label_of(text)})}")


def stored(engine):
    """The last attempt of every input, by its text."""
    query = select(input_table.c.texts, output).join(output, output.c.input_id == input_table.c.id)
    with engine.connect() as connection:
        return {row.texts[0]: row for row in connection.execute(query.order_by(output.c.attempt))}


@pytest.mark.usefixtures("asked_once")
def test_refusals_are_errors_with_what_was_said_and_usage_is_told(tmp_path, monkeypatch, toy_corpus):
    monkeypatch.setenv("SMALL_KEY", KEY)
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    with serving(mood) as server, InProcess() as executor:
        price = "price = { input_tokens = 1000, answers = 5000 }"
        spec = chat_file(server, tmp_path, f'api_key = "${{SMALL_KEY}}"\n{price}')
        result = run(engine, toy_corpus(), [spec], MR3, executor)
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
    cost = len(asked) * (6 * 1000 + 2 * 5000) / 1_000_000  # each answer says six tokens in and two out
    told = (
        f"small used {6 * len(asked):,} tokens of prompts and {2 * len(asked):,} of answers, 0 of them to reason, "
        f"for {cost:,.4g} USD."
    )
    assert told in result.inapplicable
    query = (
        select(source.c.row, verdict.c.outcome)
        .join(group, group.c.source_id == source.c.id)
        .join(verdict, verdict.c.group_id == group.c.id)
    )
    with engine.connect() as connection:
        assert told in inapplicable_notes(connection, [result.study.id])  # the report says the same
        outcomes = dict(tuple(row) for row in connection.execute(query))
    errors = {row for row, found in outcomes.items() if found == Outcome.ERROR}
    assert errors == {row for row in outcomes if "7" in str(row)}


# The executor of what waits. What a service bears is read from its own record; no time is compared with another.

TEXTS = [f"Film {number} was fine." for number in range(200)]
INPUTS = tuple(Input.of(text) for text in TEXTS)
RIGHT = [Output(label_of(text), 0.75) for text in TEXTS]


def done(*jobs):
    """What became of these jobs."""
    with Waiting() as executor:
        futures = [executor.submit(job) for job in jobs]
        return [outcome(future) for future in futures]


@pytest.mark.slow
def test_every_input_is_answered_once_with_as_many_requests_at_once_as_allowed(tmp_path):
    gate = threading.Barrier(20)

    def answer(body, request):
        if request < 20:  # less at once, and none of them is answered
            gate.wait(30)
        return plain_answer(body)

    with serving(answer, delay=0.02) as server:
        (returned,) = done(Batch(server.file(tmp_path, "batch = 1\nconcurrency = 20"), "sentiment", INPUTS))
    assert returned.outputs == RIGHT
    assert sorted(server.texts) == sorted(TEXTS)
    assert server.most_at_once == 20
    # Connections are kept; another few where one was given back a moment too late.
    assert server.connections <= 40


def test_a_job_has_a_limit_and_the_executor_goes_on(tmp_path):
    gate = threading.Event()

    def answer(body, number):
        if "Film 2 " in body["texts"][0]:
            gate.wait(60)
        return plain_answer(body)

    with serving(answer) as server:
        spec = server.file(tmp_path, "batch = 1\nconcurrency = 1")
        lost, right = done(Batch(spec, "sentiment", INPUTS[:4], limit=1), Batch(spec, "sentiment", INPUTS[10:14]))
        gate.set()
    assert lost == Lost("no answer within 1 s", late=True)
    assert right.outputs == RIGHT[10:14]


KEEPS = """
import os, time
from audit.tasks import Output

class Mine:
    name, version, settings, tasks, languages = "mine", "1", {}, ("sentiment",), ("en",)
    concurrency, batch = 8, 1

    def needs(self):
        return None

    def run(self, inputs):
        raise NotImplementedError

    async def run_async(self, inputs):
        if inputs[0].text == "Film 7 was fine.":
            KEEP
        return [Output("positive", 0.5)]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("act", "error"),
    [("while True: pass", "no answer within 1 s"), ("os._exit(3)", "its process ended with status 3")],
)
def test_a_call_that_keeps_the_event_loop_costs_its_own_input(tmp_path, monkeypatch, toy_corpus, engine, act, error):
    monkeypatch.chdir(tmp_path)
    module = f"keeps_{abs(hash(tmp_path))}"
    (tmp_path / f"{module}.py").write_text(KEEPS.replace("KEEP", act))
    relations = [configured(get_relation("sentiment", "MR1.4"), {"strict": False})]
    with Processes(2) as executor:
        ran = run(engine, toy_corpus(), [f"{module}:Mine"], relations, executor, RunOptions(time_limit=1))
    assert (ran.counts.failed, ran.counts.first_error) == (1, error)
