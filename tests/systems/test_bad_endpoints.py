"""Whatever an endpoint does ends in one sentence and costs its own input only: services and language models alike."""

import json
import re
import socket
import threading
import time

import pytest
from chatting import chat_file, reply
from service import Reply, label_of, serving

from audit.runner.batch import Batch
from audit.runner.executors import Waiting
from audit.systems.endpoint import seconds_to_wait
from audit.tasks import Input

pytest.importorskip("httpx", reason="pip install 'audit[http]'")
TEXTS = [f"Film {number} was fine." for number in range(9)]
INPUTS = tuple(map(Input.of, TEXTS))
PACE = "concurrency = 3\ntries = 2\ntimeout = 0.5\n"


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    monkeypatch.setattr("audit.systems.endpoint.FIRST_WAIT", 0.01)


def plain(text):
    return {"outputs": [{"label": label_of(text)}]}


def chat(text):
    return reply(json.dumps({"label": label_of(text)}))


KINDS = {
    "http": (plain, lambda body: body["text"], 'request = { text = "{text}" }\nbatch = 1\n'),
    "chat": (chat, lambda body: body["messages"][-1]["content"], ""),
}


def outputs(kind, bad, folder):
    """What a run makes of an endpoint that answers `bad(number)` to Film 5, and right to all others."""
    right, text_of, more = KINDS[kind]

    def answer(body, number):
        text = text_of(body)
        return bad() if "Film 5 " in text else right(text)

    with serving(answer) as server:
        make = chat_file if kind == "chat" else (lambda server, folder, more: server.file(folder, more))
        job = Batch(make(server, folder, PACE + more), "sentiment", INPUTS)
        with Waiting() as executor:
            return executor.submit(job).result().outputs(), server


def sleep():
    time.sleep(1.2)
    return Reply({})


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (sleep, r"Unanswered: no answer within 0\.5 s \(asked 2 times\)"),
        (lambda: Reply(None), r"Unanswered: no connection \(RemoteProtocolError: .* \(asked 2 times\)"),
        (lambda: Reply({"a": "x" * 999}, cut=True), r"Unanswered: no connection \(RemoteProtocolError"),
        (lambda: Reply(b"", 302, {"Location": "http://127.0.0.1:1/"}), "Declined: HTTP 302: it leads to 'http://127"),
        (lambda: Reply(b"<html>\nSorry</html>"), "BadOutput: the answer is not JSON: <html> Sorry</html>"),
        (lambda: Reply(b"[" * 100_000), "BadOutput: the answer is not JSON"),
        (lambda: Reply(b"x" * (17 * 1024 * 1024)), "BadOutput: the answer is longer than 16,777,216 bytes|no answer"),
        (
            lambda: Reply(b'data: {"choices": []}\n\n', headers={"Content-Type": "text/event-stream"}),
            "is not JSON: data",
        ),
        (lambda: Reply({"detail": "no"}, 401), r"Declined: HTTP 401: {\"detail\": \"no\"}"),
        (lambda: Reply({}, 429, {"Retry-After": "0.1"}), r"Unanswered: HTTP 429: {} \(asked 2 times\)"),
        (lambda: Reply(b"", 503), r"Unanswered: HTTP 503 \(asked 2 times\)"),
        (lambda: Reply({"choices": 7, "outputs": [{"label": 3.5}]}), "BadOutput: .* (answer has 3.5|choices)"),
        (
            lambda: Reply(b"no gzip at all", headers={"Content-Encoding": "gzip"}),
            "BadOutput: it cannot be asked or read",
        ),
    ],
)
def test_it_costs_its_own_input(tmp_path, kind, bad, says):
    returned, _ = outputs(kind, bad, tmp_path)
    assert [output.label for output in returned] == [None if at == 5 else label_of(t) for at, t in enumerate(TEXTS)]
    assert re.search(says, returned[5].error)
    assert "\n" not in returned[5].error


def test_nobody_is_there(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        (tmp_path / "away.toml").write_text(
            f'name = "away"\nversion = "1"\nurl = "http://127.0.0.1:{free.getsockname()[1]}/"\npatience = 0\n{PACE}'
        )
        with Waiting() as executor:
            returned = executor.submit(Batch(f"http:{tmp_path / 'away.toml'}", "sentiment", INPUTS)).result()
    assert all("no connection (ConnectError" in output.error for output in returned.outputs())


@pytest.mark.parametrize(
    ("after", "seconds"),
    [
        ("", None),
        ("1.5", 1.5),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 0),  # long ago
        ("Fri, 99 Dec 1999 23:59:59 GMT", None),
    ],
)
def test_what_retry_after_asks_for(after, seconds):
    """RFC 9110, section 10.2.3: seconds or a date."""
    assert seconds_to_wait(after) == seconds


def test_a_hundred_requests_at_once_are_nearly_as_fast_as_one(tmp_path):
    """None waits for another here: the service holds all until the last has come."""
    gate = threading.Barrier(100)

    def answer(body, number):
        gate.wait(30)
        return plain(body["text"])

    with serving(answer) as server:
        more = 'request = { text = "{text}" }\nconcurrency = 100\n'
        job = Batch(server.file(tmp_path, more), "sentiment", tuple(Input.of(f"Film {n}.") for n in range(100)))
        with Waiting() as executor:
            returned = executor.submit(job).result()
    assert not any(output.error for output in returned.outputs())
    assert server.most_at_once == 100
