"""The executor of what waits, with a simulated service on this machine (tests/service.py), and with systems in Python.

What a service bears is read from its own record; no time is compared with another.
"""

import threading
import time

import pytest
from service import Reply, label_of, plain_answer, serving

from audit.relations import get_relation
from audit.relations.registry import configured
from audit.runner.batch import Batch
from audit.runner.executors import InProcess, Lost, Processes, Waiting, outcome
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.store import open_store
from audit.tasks import Input, Output

pytest.importorskip("httpx", reason="pip install 'audit[http]'")

TEXTS = [f"Film {number} was fine." for number in range(200)]
INPUTS = tuple(Input.of(text) for text in TEXTS)
RIGHT = [Output(label_of(text), 0.75) for text in TEXTS]


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    """Waits between tries are drawn from 0 to 10 ms, doubling."""
    monkeypatch.setattr("audit.systems.asking.FIRST_WAIT", 0.01)


def done(*jobs):
    """What became of these jobs."""
    with Waiting() as executor:
        futures = [executor.submit(job) for job in jobs]
        return [outcome(job, future) for job, future in zip(jobs, futures, strict=True)]


def outputs(spec, inputs=INPUTS):
    (returned,) = done(Batch(spec, "sentiment", inputs))
    return returned.outputs()


def errors(outputs):
    return [output.error for output in outputs if output.error]


def together(number):
    """An answer that the first requests get when so many are under way: less, and none of them is answered."""
    gate = threading.Barrier(number)

    def answer(body, request):
        if request < number:
            gate.wait(30)
        return plain_answer(body)

    return answer


@pytest.mark.slow
def test_every_input_is_answered_once_with_as_many_requests_at_once_as_allowed(tmp_path):
    with serving(together(20), delay=0.02) as server:
        assert outputs(server.file(tmp_path, "batch = 1\nconcurrency = 20")) == RIGHT
    assert sorted(server.texts) == sorted(TEXTS)
    assert server.most_at_once == 20
    # Connections are kept; another few where one was given back a moment too late.
    assert server.connections <= 40


@pytest.mark.slow
def test_a_service_that_bears_less_than_allowed_gets_less_and_every_input_its_answer(tmp_path):
    """It says 429 whenever more than 4 requests are under way; 16 are allowed, and come together at first."""
    refused, come = [], together(16)

    def answer(body, number):
        come(body, number)
        if server.at_once > 4:
            refused.append(number)
            return Reply({"error": "too many at once"}, 429)
        time.sleep(0.005)
        return plain_answer(body)

    with serving(answer) as server:
        assert outputs(server.file(tmp_path, "batch = 1\nconcurrency = 16\ntries = 50")) == RIGHT
    assert refused
    assert len(server.bodies) == 200 + len(refused)


@pytest.mark.parametrize("status", [429, 503])
def test_what_may_pass_is_tried_again(tmp_path, status):
    with serving(lambda body, number: Reply({}, status) if number < 3 else plain_answer(body)) as server:
        assert outputs(server.file(tmp_path, "concurrency = 2"), INPUTS[:32]) == RIGHT[:32]
    assert len(server.bodies) == 5


@pytest.mark.parametrize("status", [401])
def test_what_will_not_pass_is_a_stored_error_and_not_tried_again(tmp_path, status):
    with serving(lambda body, number: Reply({"detail": "no such thing\0"}, status)) as server:
        returned = outputs(server.file(tmp_path), INPUTS[:32])
    assert [output.error for output in returned] == [
        f'Declined: HTTP {status}: {{"detail": "no such thing\\u0000"}}'
    ] * 32
    assert len(server.bodies) == 2


def test_one_bad_input_costs_the_others_of_its_request_nothing(tmp_path):
    def answer(body, number):
        return Reply("too long", 413) if any("Film 5 " in text for text in body["texts"]) else plain_answer(body)

    with serving(answer) as server:
        returned = outputs(server.file(tmp_path), INPUTS[:32])
    assert errors(returned) == ['Declined: HTTP 413: "too long"']
    assert returned[5].error
    assert [output for output in returned if not output.error] == RIGHT[:5] + RIGHT[6:32]
    assert len(server.bodies) == 2 + 16


def test_an_answer_that_cannot_be_used_is_asked_for_one_by_one(tmp_path):
    """The same answer, whatever is asked: it is wrong for four inputs, and its number right for one."""
    with serving(lambda body, number: Reply({"outputs": [{"label": "positive"}]})) as server:
        assert errors(outputs(server.file(tmp_path, "batch = 4"), INPUTS[:4])) == []
    assert len(server.bodies) == 5


def test_a_service_that_vanishes_ends_the_run_with_stored_errors(tmp_path):
    def answer(body, number):
        server.away = number >= 5
        return plain_answer(body)

    with serving(answer) as server:
        returned = outputs(server.file(tmp_path, "batch = 1\nconcurrency = 4\ntries = 2\npatience = 0"))
    assert errors(returned)
    assert all(
        error.startswith(("Unanswered: no connection (", "Declined: no connection (")) for error in errors(returned)
    )
    assert any("so this run asks it no more" in error for error in errors(returned))
    assert len(server.bodies) < 100  # it was not asked 195 more times
    assert [output for output, right in zip(returned, RIGHT, strict=True) if not output.error and output != right] == []


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
    assert right.outputs() == RIGHT[10:14]


def test_leaving_in_the_middle_ends_what_is_under_way(tmp_path):
    with serving(delay=10) as server:
        with Waiting() as executor:
            executor.submit(Batch(server.file(tmp_path, "batch = 1\nconcurrency = 2"), "sentiment", INPUTS))
            while not server.bodies:
                time.sleep(0.01)
        time.sleep(0.1)
        assert len(server.bodies) <= 2  # those under way, of 200
    assert "asynchronous systems" not in [thread.name for thread in threading.enumerate()]


OWN = """
import asyncio
from audit.tasks import Output

class Mine:
    name, version, settings, summary = "mine", "1", {}, "a user's own asynchronous system"
    tasks, languages = ("sentiment",), ("en",)
    concurrency, batch = 3, 2
    closed = 0

    def needs(self):
        return None

    def prepare(self):
        pass

    async def close_async(self):
        type(self).closed += 1

    def run(self, inputs):
        raise NotImplementedError

    async def run_async(self, inputs):
        # The later, the sooner: answers come in another order than questions.
        await asyncio.sleep(0.02 / (1 + int(inputs[0].text.split()[1])))
        for one in inputs:
            if "Film 3 " in one.text:
                raise SystemExit(3)
            if "Film 6 " in one.text:
                raise RuntimeError("six is out of order")
        return [Output("positive", 0.5) for one in inputs][: 1 if "Film 8 " in inputs[0].text else None]
"""


def test_a_users_own_asynchronous_system(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_asynchronous.py").write_text(OWN)
    job = Batch("own_asynchronous:Mine", "sentiment", INPUTS[:12])
    for executor in (InProcess(), Processes(1)):
        with executor:
            returned = outcome(job, executor.submit(job)).outputs()
        assert [output.error for output in returned] == [
            None if number not in (3, 6) else ["SystemExit: 3", "RuntimeError: six is out of order"][number // 6]
            for number in range(12)
        ]


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
    [
        ("time.sleep(20)", "no answer within 1 s"),
        ("while True: pass", "no answer within 1 s"),
        ("os._exit(3)", "its process ended with status 3"),
    ],
)
def test_a_call_that_keeps_the_event_loop_costs_its_own_input(tmp_path, monkeypatch, toy_corpus, act, error):
    monkeypatch.chdir(tmp_path)
    module = f"keeps_{abs(hash(tmp_path))}"
    (tmp_path / f"{module}.py").write_text(KEEPS.replace("KEEP", act))
    engine = open_store("sqlite://", create=True)
    relations = [configured(get_relation("sentiment", "MR1.4"), {"strict": False})]
    with Processes(2) as executor:
        ran = run(engine, toy_corpus(), [f"{module}:Mine"], relations, executor, options=RunOptions(time_limit=1))
    assert (ran.counts.failed, ran.counts.first_error) == (1, error)
