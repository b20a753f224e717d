"""Services and language models over HTTP: what is sent and read, faults by kind, pace, and secrets.

The server is a simulated one on this machine (tests/service.py); chat answers are in the wire format of OpenAI's chat
completions and Responses.
"""

import asyncio
import json
import logging
import pickle
import re
import threading
import time
from urllib.parse import quote_plus

import pytest
from chatting import chat_file, reply
from hypothesis import given
from hypothesis import strategies as st
from service import Reply, label_of, serving

from audit.errors import BadFile, BadOutput, Declined, NotInstalled, Unanswered
from audit.runner.batch import Batch
from audit.runner.executors import Waiting
from audit.systems import get_system
from audit.systems.chat import choice_in
from audit.systems.endpoint import Asking, seconds_to_wait
from audit.tasks import Input, Output

pytest.importorskip("httpx", reason="pip install 'audit[http]'")
TEXTS = [f"Film {number} was fine." for number in range(40)]
INPUTS = [Input.of(text) for text in TEXTS]
BORING = Input.of("So boring.")
SECRET = "sk-live/4711+=="


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    monkeypatch.setattr("audit.systems.endpoint.FIRST_WAIT", 0.01)


def described(folder, text, kind="http"):
    model = 'model = "m"\n' if kind == "chat" else ""
    (folder / "service.toml").write_text(f'version = "7"\n{model}{text}', encoding="utf-8")
    return get_system(f"{kind}:{folder / 'service.toml'}")


def minimal(more="", url="http://127.0.0.1:1/x"):
    return f'name = "acme"\nurl = "{url}"\n{more}'


def outputs(folder, answer, more="", inputs=(BORING,), responses=False):
    """What a chat model answers, and the server."""
    with serving(answer) as server:
        spec = chat_file(server, folder, more)
        if responses:
            path = folder / "chat.toml"
            path.write_text(path.read_text().replace('/v1"', '/v1/responses"'))
        return get_system(spec).run(list(inputs)), server


# Services


def test_a_request_of_ones_own_and_an_answer_of_theirs(tmp_path, monkeypatch, caplog):
    """And the secret is neither in settings nor in outputs, logs and pickles."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ACME_KEY", SECRET)
    one = {"prediction": {"the class": "POS"}, "p": [0.25, 0.75], "text": f"{SECRET} is"}
    more = """
    batch = 3
    request = { documents = "{texts}", model = "large", options = { top = 1 } }
    answer = { label = 'results[*].prediction."the class"', score = "results[*].p[1]", text = "results[*].text" }
    labels = { POS = "positive", NEG = "negative" }
    headers = { Authorization = "Bearer ${ACME_KEY}", X-Team = "tests" }
    """
    with serving(lambda body, number: {"results": [one] * len(body["documents"])}) as server:
        system = described(tmp_path, minimal(more, f"{server.url}?key=${{ACME_KEY}}"))
        assert system.run(INPUTS[:7]) == [Output("positive", 0.75, "${ACME_KEY} is")] * 7
    body = next(body for body in server.bodies if body["documents"][0] == TEXTS[0])
    assert body == {"documents": TEXTS[:3], "model": "large", "options": {"top": 1}}
    assert (server.headers[0]["Authorization"], server.headers[0]["X-Team"]) == (f"Bearer {SECRET}", "tests")
    assert quote_plus(SECRET) in quote_plus(server.paths[0])
    assert SECRET not in repr((system.settings, system.summary, pickle.dumps(system), vars(system))) + caplog.text


def test_pairs_and_several_labels(tmp_path):
    pairs = [Input.of("我喜欢猫。", "{text_a}", language="zh"), Input.of("他来了。", "她走了。", language="zh")]

    def alike(body, number):
        return {"outputs": [{"score": len(first) / (10 * len(second))} for first, second in body["texts"]]}

    with serving(alike) as server:
        system = get_system(server.file(tmp_path, 'tasks = ["similarity"]\nlanguages = ["zh"]'))
        assert system.run(pairs) == [Output(score=5 / 80), Output(score=0.1)]

    def named(body, number):
        return {"outputs": [{"label": ["Rude", "late"]} if "1" in text else {"label": []} for text in body["texts"]]}

    with serving(named) as server:
        system = get_system(server.file(tmp_path, 'tasks = ["classification/refund+late+rude"]\n'))
        assert [output.label for output in system.run(INPUTS[:3])] == ["none", "late+rude", "none"]


def test_a_request_has_one_pair_of_languages_and_pairs_that_it_does_not_have_are_absent(tmp_path):
    with serving(lambda body, number: ["x"]) as server:
        url = f"{server.url}?from={{source_language}}&to={{target_language}}"
        more = 'tasks = ["translation"]\nrequest = ["{text}"]\nanswer = { text = "[0]" }\nlanguages = ["en", "es"]\n'
        asked = (Input.of("a", target="es"), Input.of("b", target="fr"), Input.of("c", language="es", target="en"))
        said = described(tmp_path, minimal(more + 'codes = { es = "a b&c" }', url)).run(asked)
    assert [not output.absent for output in said] == [True, False, True]
    assert "/classify?from=en&to=a%20b%26c" in server.paths


# Language models


MORE = """
task = "inference"
api_key = "${SMALL_KEY}"
structured = "%s"
temperature = 0.5
max_tokens = 20
effort = "low"
labels = { yes = "entailment", maybe = "neutral", no = "contradiction" }
request = { seed = 7, stop = ["\\n\\n"] }

[prompt]
system = "One of {labels}. {answer}"
user = "{text_a} => {text_b}? As {LABELS}."

[[examples]]
user = "It rains. => It is wet?"
assistant = "yes"
"""


def responses(*parts, **more):
    """The document that an endpoint answers with in the form of OpenAI's Responses."""
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}
    usage = {"input_tokens": 6, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 3}}
    message = {"type": "message", "role": "assistant", "content": list(parts)}
    return {"object": "response", "status": "completed", "output": [thought, message], "usage": usage, **more}


@pytest.mark.parametrize(("form", "structured"), [("chat", "text"), ("chat", "schema"), ("responses", "schema")])
def test_every_key_is_sent(tmp_path, monkeypatch, form, structured):
    monkeypatch.setenv("SMALL_KEY", SECRET)
    text = "No." if structured == "text" else '{"label": "no"}'
    said = reply(text) if form == "chat" else responses({"type": "output_text", "text": text})
    asked = [Input.of("A man {text_b} sleeps.", "He runs.")]
    (output,), server = outputs(tmp_path, lambda body, number: said, MORE % structured, asked, form == "responses")
    assert output == Output("contradiction")
    used = {"in": 6, "out": 2} if form == "chat" else {"in": 6, "out": 5, "reasoning": 3}
    assert output.details == {"used": used, **({} if form == "chat" else {"reasoning": "Hm."})}
    (body,), (headers,) = server.bodies, server.headers
    assert headers["Authorization"] == f"Bearer {SECRET}"
    assert (body["temperature"], body["seed"], body["stop"]) == (0.5, 7, ["\n\n"])
    if form == "chat":
        assert (body["reasoning_effort"], body["max_tokens"]) == ("low", 20)
    else:
        assert (body["reasoning"], body["max_output_tokens"]) == ({"effort": "low"}, 20)
    system, shown, answered, user = (message["content"] for message in body.get("messages") or body["input"])
    assert system.startswith("One of yes, maybe, no. Answer with ")
    assert (shown, answered) == ("It rains. => It is wet?", "yes")
    assert user == "A man {text_b} sleeps. => He runs.? As {LABELS}."  # a text that spells a field stays as it is
    form_of = {"chat": "response_format", "responses": "text"}[form]
    assert [name for name in ("response_format", "text") if name in body] == [form_of] * (structured == "schema")


@pytest.mark.parametrize(
    ("task", "item", "written", "output"),
    [
        ("classification/finance,sports", Input.of("The bank."), '{"label": "Finance"}', Output("finance")),
        ("similarity", Input.of("a", "b"), '{"score": 0.75}', Output(score=0.75)),
        ("question-answering", Input.of("Paris.", "When?"), '{"answer": null}', Output(text="unanswerable")),
        ("summarization", Input.of("It rained all day."), '{"summary": "It rained."}', Output(text="It rained.")),
        ("translation", Input.of("It rains.", target="es"), "Llueve {mucho}.", Output(text="Llueve {mucho}.")),
        ("classification/refund+late+rude", BORING, "Rude, late.", Output("late+rude")),
        ("classification/refund+late+rude", BORING, "None.", Output("none")),
    ],
)
def test_every_task_has_a_prompt_and_reads_its_answer(tmp_path, task, item, written, output):
    ran, server = outputs(tmp_path, lambda body, number: reply(written), f'task = "{task}"', [item])
    assert ran == [output]
    said = "\n".join(message["content"] for message in server.bodies[0]["messages"])
    assert all(text in said for text in item.texts)
    assert "{" not in said.replace('{"', "")  # every field is filled


HARMONY = '<|channel|>analysis<|message|>Or {"label": "positive"}?<|end|><|start|>assistant<|channel|>final'


@pytest.mark.parametrize(
    "said",
    [
        reply('<think>Or {"label": "positive"}?</think>\n{"label": "negative"}'),
        reply('[THINK]Or {"label": "positive"}?[/THINK]negative'),
        reply(HARMONY + ' <|constrain|>json<|message|>{"label": "negative"}<|return|>'),
        reply('{"label": "negative"}', reasoning='Or {"label": "positive"}?'),
    ],
)
def test_reasoning_is_kept_and_is_no_answer(tmp_path, said):
    (output,), _ = outputs(tmp_path, lambda body, number: said)
    assert output == Output("negative")
    assert 'Or {"label": "positive"}?' in output.details["reasoning"]


@pytest.mark.parametrize(
    ("said", "error", "raw"),
    [
        (reply("It is not positive."), "the answer is none of positive, neutral, negative", "It is not positive."),
        (reply('{"mood": "positive"}'), "the answer has no 'label'", '{"mood": "positive"}'),
        (reply(None, refusal="I cannot judge that."), "the model refused to answer", "I cannot judge that."),
        (reply('{"label":', finish_reason="length"), "cut off", '{"label":'),
        (reply('{"label": "positive"} {"label": "negative"}'), "differ", '{"label": "positive"} {"label": "negative"}'),
        (responses({"type": "refusal", "refusal": "I cannot."}), "the model refused to answer", "I cannot."),
        (responses(incomplete_details={"reason": "max_output_tokens"}), "only reasoning came, which was cut", "Hm."),
    ],
)
def test_an_answer_that_is_none_is_an_error_with_what_was_written(tmp_path, said, error, raw):
    ran, server = outputs(tmp_path, lambda body, number: said, responses="output" in said)
    assert error in ran[0].error
    assert (ran[0].text, ran[0].label) == (raw, None)
    assert ran[0].details["used"]["in"] == 6
    assert len(server.bodies) == 1  # and is not paid for twice


def test_a_server_that_cuts_prompts_is_told(tmp_path):
    """Ollama reads 4,096 tokens of a prompt unless it is told otherwise, and does not say so."""
    said = {**reply('{"label": "negative"}'), "usage": {"prompt_tokens": 4_096, "completion_tokens": 5}}
    (output,), _ = outputs(tmp_path, lambda body, number: said, inputs=[Input.of("So boring. " * 2_000)])
    assert output.label is None
    assert "the server read 4,096 tokens of a prompt of 22," in output.error
    assert "it cuts prompts; give the model a longer context" in output.error


def test_probabilities_become_scores(tmp_path):
    tokens = [('{"', -0.5), ("label", 0.0), ('": "', 0.0), ("neg", -0.1), ("ative", -0.2), ('"}', -0.7)]
    listed = [{"token": token, "logprob": value} for token, value in tokens]
    said = reply("".join(token for token, _ in tokens), logprobs={"content": listed})
    ran, server = outputs(tmp_path, lambda body, number: said, "logprobs = true")
    assert ran == [Output("negative", 0.740818)]  # e^-0.3: of the label's two tokens alone
    assert server.bodies[0]["logprobs"] is True


LABELS = {"very_good": "very_good", "bad": "bad", "c": "c", "c++": "c++"}


@given(st.sampled_from(sorted(LABELS)), st.sampled_from(["{}", '"{}"', "**{}**", "  {}.\n", "Label: {}", "`{}`"]))
def test_a_label_is_read_back_whatever_stands_around_it(label, around):
    assert choice_in(json.dumps({"label": label}), LABELS) == label
    assert choice_in(around.format(label), LABELS) == label
    assert choice_in(around.format(label.upper()), LABELS) == label


def test_a_batch_is_asked_at_its_price_and_found_again(tmp_path, monkeypatch):
    """The batch form of OpenAI's API: a file of requests, a batch, a file of answers in any order, one of errors."""
    monkeypatch.setattr("audit.systems.chat.POLL", 0.01)
    made, looks = [], []

    def answer(method, path, content):
        if path == "/v1/files":
            lines = re.search(rb"\r\n\r\n(\{.*\})\r\n", content, re.DOTALL)[1].splitlines()
            made.append({"id": "b1", "status": "validating", "rows": [json.loads(line) for line in lines]})
            return {"id": "f1"}
        if path == "/v1/batches?limit=100":
            return {"data": made}
        if path == "/v1/batches":
            assert json.loads(content)["input_file_id"] == "f1"
            made[0]["metadata"] = json.loads(content)["metadata"]
            return made[0]
        if path == "/v1/batches/b1":
            looks.append(path)
            status = "in_progress" if len(looks) < 3 else "completed"
            made[0].update(status=status, output_file_id="out", error_file_id="bad")
            return made[0]
        rows = [{"custom_id": row["custom_id"], "response": {"body": reply("negative")}} for row in made[0]["rows"]]
        if path == "/v1/files/out/content":
            return "\n".join(map(json.dumps, rows[:2:-1])).encode()
        rows = [{"custom_id": "1", "response": {"body": {"error": {"message": "too long"}}}}, rows[0]]
        return "\n".join(map(json.dumps, rows)).encode()

    with serving(answer) as server:
        server.raw = True
        system = get_system(chat_file(server, tmp_path, "batch = 0.5\nprice = { input_tokens = 2, answers = 4 }"))
        asked = [Input.of(f"Film {number}.") for number in range(12)]
        said = system.run(asked)
        assert [output.label for output in said] == ["negative", None, None, *["negative"] * 9]
        assert ["too long" in str(said[1].error), said[2].error] == [True, "the batch b1 ended without it"]
        assert said[0].details["used"]["cost"] == pytest.approx(0.5 * (6 * 2 + 2 * 4) / 1e6)
        assert system.price.input_tokens == 1
        assert [row["body"]["messages"][-1]["content"] for row in made[0]["rows"]] == [item.text for item in asked]
        assert get_system(f"chat:{tmp_path / 'chat.toml'}").run(asked) == said
    assert len(made) == 1  # the second time the same batch was found


# Faults by kind: one sentence, and the input costs itself


def sleep():
    time.sleep(1.2)
    return Reply({})


KINDS = {
    "http": (lambda text: {"outputs": [{"label": label_of(text)}]}, lambda body: body["text"]),
    "chat": (lambda text: reply(json.dumps({"label": label_of(text)})), lambda body: body["messages"][-1]["content"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (sleep, r"Unanswered: no answer within 0\.5 s \(asked 2 times\)"),
        (lambda: Reply(None), r"Unanswered: no connection \(RemoteProtocolError: .* \(asked 2 times\)"),
        (lambda: Reply(b"", 302, {"Location": "http://127.0.0.1:1/"}), "Declined: HTTP 302: it leads to 'http://127"),
        (lambda: Reply(b"<html>\nSorry</html>"), "BadOutput: the answer is not JSON: <html> Sorry</html>"),
        (lambda: Reply(b"x" * (17 * 1024 * 1024)), "BadOutput: the answer is longer than 16,777,216 bytes|no answer"),
        (lambda: Reply({"detail": "no"}, 401), r"Declined: HTTP 401: {\"detail\": \"no\"}"),
        (lambda: Reply({}, 429, {"Retry-After": "0.1"}), r"Unanswered: HTTP 429: {} \(asked 2 times\)"),
        (lambda: Reply(b"", 503), r"Unanswered: HTTP 503 \(asked 2 times\)"),
        (lambda: Reply({"choices": 7, "outputs": [{"label": 3.5}]}), "BadOutput: .* (answer has 3.5|choices)"),
        (lambda: Reply(b"no gzip", headers={"Content-Encoding": "gzip"}), "BadOutput: it cannot be asked or read"),
    ],
)
def test_a_fault_costs_its_own_input(tmp_path, kind, bad, says):
    right, text_of = KINDS[kind]

    def answer(body, number):
        return bad() if "Film 5 " in text_of(body) else right(text_of(body))

    pace = "concurrency = 3\ntries = 2\ntimeout = 0.5\n"
    with serving(answer) as server, Waiting() as executor:
        one = 'request = { text = "{text}" }\n'
        spec = chat_file(server, tmp_path, pace) if kind == "chat" else server.file(tmp_path, pace + one)
        returned = executor.submit(Batch(spec, "sentiment", tuple(INPUTS[:9]))).result().outputs
    assert [output.label for output in returned] == [None if at == 5 else label_of(t) for at, t in enumerate(TEXTS[:9])]
    assert re.search(says, returned[5].error)
    assert "\n" not in returned[5].error


def test_a_hundred_requests_are_under_way_at_once(tmp_path):
    """None waits for another here: the service holds all until the last has come."""
    gate = threading.Barrier(100)

    def answer(body, number):
        gate.wait(30)
        return KINDS["http"][0](body["text"])

    with serving(answer) as server, Waiting() as executor:
        spec = server.file(tmp_path, 'request = { text = "{text}" }\nconcurrency = 100\n')
        for _ in range(2):  # over new connections, and over those that are there
            job = Batch(spec, "sentiment", tuple(Input.of(f"Film {n}.") for n in range(100)))
            assert not any(output.error for output in executor.submit(job).result().outputs)
    assert (server.most_at_once, server.connections) == (100, 100)


# Pace: places, pauses, tries, patience, the rate. No machine is too slow for any time here.


class Machine:
    """Does what it is told for each call: an exception to raise, or an answer; the rest is `right`."""

    def __init__(self, *script):
        self.script = list(script)
        self.calls = self.at_once = self.most = 0
        self.times = []

    async def __call__(self):
        self.calls += 1
        self.times.append(asyncio.get_running_loop().time())
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        told = self.script.pop(0) if self.script else "right"
        try:
            await asyncio.sleep(0)
            if isinstance(told, BaseException):
                raise told
            return told
        finally:
            self.at_once -= 1


def answers_of(machine, times=1, **pace):
    async def all_of_them():
        asking = Asking(**pace)
        return await asyncio.gather(*(asking.ask(machine) for _ in range(times)), return_exceptions=True)

    return asyncio.run(all_of_them())


def test_pauses_and_the_rate_hold_for_all_calls():
    machine = Machine(Unanswered("later", after=0.2))
    assert answers_of(machine, 10, limit=1) == ["right"] * 10
    assert all(later - machine.times[0] >= 0.2 for later in machine.times[1:])
    paced = Machine()
    answers_of(paced, 6, limit=9, rate=50)
    assert paced.times[-1] - paced.times[0] >= 5 / 50 - 0.01  # evenly, and never faster


def test_a_machine_without_answers_is_given_up_and_nothing_more_is_asked():
    machine = Machine(*[Unanswered("away")] * 1000)
    problems = answers_of(machine, 100, limit=1, tries=2, patience=0)
    assert all(isinstance(problem, Unanswered | Declined) for problem in problems)
    assert machine.calls == 1
    given_up = [str(problem) for problem in problems if isinstance(problem, Declined)]
    assert given_up[0] == "away; nothing was answered for 0 s, so this run asks it no more"
    slow = Machine(Unanswered("quota", after=86_400))
    first, second = answers_of(slow, 2, limit=1, patience=300)
    assert str(first) == str(second) == "quota; it asks for 86,400 s, patience is 300 s, so this run asks it no more"
    assert slow.calls == 1


@given(
    script=st.lists(st.sampled_from(["right", "away", "declined", "nonsense"]), max_size=60),
    limit=st.integers(1, 9),
    times=st.integers(1, 40),
)
def test_whatever_happens_every_call_ends_and_no_place_is_lost(script, limit, times):
    problems = {"away": Unanswered("away"), "declined": Declined("no", inputs=True), "nonsense": BadOutput("nonsense")}
    machine = Machine(*(problems.get(kind, kind) for kind in script))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("audit.systems.endpoint.FIRST_WAIT", 0)
        assert len(answers_of(machine, times, limit=limit, tries=3)) == times
    assert (machine.most <= limit, machine.at_once) == (True, 0)
    assert times <= machine.calls <= 3 * times


@pytest.mark.parametrize(
    ("after", "seconds"),
    [("", None), ("1.5", 1.5), ("Fri, 31 Dec 1999 23:59:59 GMT", 0), ("Fri, 99 Dec 1999 23:59:59 GMT", None)],
)
def test_what_retry_after_asks_for(after, seconds):
    """RFC 9110, section 10.2.3: seconds or a date."""
    assert seconds_to_wait(after) == seconds


# Secrets, and the file


def test_a_key_that_is_absent_names_its_variable(tmp_path, monkeypatch):
    monkeypatch.delenv("SMALL_KEY", raising=False)
    system = described(tmp_path, minimal('api_key = "${SMALL_KEY}"'), "chat")
    assert system.needs() == f"set the environment variable SMALL_KEY, which {tmp_path / 'service.toml'} names"
    with pytest.raises(NotInstalled, match="set the environment variable SMALL_KEY"):
        system.run(INPUTS[:1])


@pytest.mark.parametrize(
    ("kind", "text", "says"),
    [
        ("http", minimal("urll = 1"), "urll: there is no such key, did you mean 'url'? allowed are name, version, "),
        (
            "http",
            minimal('request = { a = "{text_b}" }'),
            'request: must have "{texts}" (a list of them), "{text}", or',
        ),
        ("http", minimal('labels = { POS = "good" }'), "labels: 'good' is no label of sentiment; allowed are positive"),
        ("http", minimal('headers = { Authorization = "Bearer 4711" }'), "headers.Authorization: looks like a secret"),
        ("http", minimal(url="http://h/?key=4711"), "url.key: looks like a secret: take it from the environment"),
        ("chat", minimal('api_key = "4711"'), "api_key: looks like a secret: take it from the environment"),
        (
            "chat",
            minimal('[prompt]\nuser = "Is {txt} good?"'),
            "prompt.user: {txt} is no field here; allowed are {text}",
        ),
        ("chat", minimal('labels = { POS = "positive" }'), "labels: misses neutral, negative; it must have a word"),
    ],
)
def test_a_mistake_in_the_file_is_one_sentence(tmp_path, kind, text, says):
    with pytest.raises(BadFile, match=re.escape(says)) as problem:
        described(tmp_path, text, kind)
    assert str(problem.value).startswith(str(tmp_path / "service.toml"))
    assert "\n" not in str(problem.value)
    assert "4711" not in str(problem.value)
