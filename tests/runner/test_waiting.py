"""The executor of what waits, with a simulated service on this machine (tests/service.py), and with systems in Python.

What a service bears is read from its own record; no time is compared with another.
"""

import threading

import pytest
from service import label_of, plain_answer, serving

from audit.relations import get_relation
from audit.relations.registry import configured
from audit.runner.batch import Batch
from audit.runner.executors import Lost, Processes, Waiting, outcome
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
