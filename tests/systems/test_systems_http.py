"""Systems over HTTP: the file, what is sent, what is read, and that no secret leaves by another door.

The server is a simulated service on this machine (tests/service.py); its answers are the tests' own.
"""

import html
import json
import logging
import pickle
import re
from urllib.parse import quote, quote_plus

import pytest
from service import Reply, label_of, serving

from audit.errors import AuditError, BadFile, BadOutput, Declined, NotInstalled, Unanswered
from audit.systems import get_system
from audit.systems.http_file import Path
from audit.systems.service import WORDS, seconds_to_wait
from audit.tasks import Input, Output

pytest.importorskip("httpx", reason="pip install 'audit[http]'")

TEXTS = [f"Film {number} was fine." for number in range(40)]
INPUTS = [Input.of(text) for text in TEXTS]
SECRET = "sk-live/4711+äöü"[:13] + "=="


def described(folder, text):
    (folder / "service.toml").write_text(text, encoding="utf-8")
    return f"http:{folder / 'service.toml'}"


def minimal(more="", url="http://127.0.0.1:1/x"):
    return f'name = "acme"\nversion = "7"\nurl = "{url}"\n{more}'


# What is sent and read


def test_name_version_and_url_are_enough(tmp_path):
    with serving() as server:
        system = get_system(server.file(tmp_path))
        assert system.needs() is None
        assert system.run(INPUTS) == [Output(label_of(text), 0.75) for text in TEXTS]
    assert sorted(server.texts) == sorted(TEXTS)
    assert {len(body["texts"]) for body in server.bodies} == {16, 8}  # 40 = 2 x 16 + 8
    assert server.headers[0]["Content-Type"] == "application/json"
    assert (system.name, system.version, system.tasks, system.languages) == ("local", "1", ("sentiment",), ("en",))


def test_a_request_of_ones_own_and_an_answer_of_theirs(tmp_path, monkeypatch):
    monkeypatch.setenv("ACME_KEY", SECRET)

    def answer(body, number):
        return {"results": [{"prediction": {"the class": "POS"}, "p": [0.25, 0.75]} for _ in body["documents"]]}

    more = """
    method = "PUT"
    batch = 3
    request = { documents = "{texts}", model = "large", options = { top = 1 } }
    answer = { label = 'results[*].prediction["the class"]', score = "results[*].p[1]" }
    labels = { POS = "positive", NEG = "negative" }
    headers = { Authorization = "Bearer ${ACME_KEY}", X-Team = "tests" }
    """
    with serving(answer) as server:
        server.RequestHandlerClass.do_PUT = server.RequestHandlerClass.do_POST
        outputs = get_system(server.file(tmp_path, more)).run(INPUTS[:7])
    assert outputs == [Output("positive", 0.75)] * 7
    body = next(body for body in server.bodies if body["documents"][0] == TEXTS[0])
    assert body == {"documents": TEXTS[:3], "model": "large", "options": {"top": 1}}
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"
    assert server.headers[0]["X-Team"] == "tests"


def test_one_text_a_request_and_one_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME_TOWN", "Ghent in Flanders")
    more = """
    request = '{"prompt": "Of ${HOME_TOWN}: {text}", "text": "{text}"}'
    answer = { label = "label" }
    """
    with serving(lambda body, number: {"label": " Positive "}) as server:
        outputs = get_system(server.file(tmp_path, more)).run([Input.of("Costs ${HOME_TOWN} {text}.")])
    assert outputs == [Output("positive")]  # in any case; no score was asked for
    # The input is sent as it is, whatever it looks like.
    assert server.bodies == [
        {"prompt": "Of Ghent in Flanders: Costs ${HOME_TOWN} {text}.", "text": "Costs ${HOME_TOWN} {text}."}
    ]


def test_the_answer_may_be_a_list_and_labels_numbers(tmp_path):
    more = """
    answer = { label = "[*][0].label", score = "[*][0].score" }
    labels = { 0 = "negative", 1 = "positive" }
    """
    with serving(lambda body, number: [[{"label": 1, "score": 1}] for _ in body["texts"]]) as server:
        assert get_system(server.file(tmp_path, more)).run(INPUTS[:2]) == [Output("positive", 1.0)] * 2


def test_outputs_may_be_texts(tmp_path):
    with serving(lambda body, number: {"out": [text.upper() for text in body["texts"]]}) as server:
        system = get_system(server.file(tmp_path, 'answer = { text = "out[*]" }'))
        assert system.run(INPUTS[:2]) == [Output(text=TEXTS[0].upper()), Output(text=TEXTS[1].upper())]


def test_tasks_on_pairs_are_sent_pairs(tmp_path):
    with serving(lambda body, number: {"outputs": [{"label": "neutral"}]}) as server:
        get_system(server.file(tmp_path)).run([Input.of("one", "two")])
    assert server.bodies == [{"texts": [["one", "two"]]}]


PAIRS = [Input.of("我喜欢猫。", "{text_a}", language="zh"), Input.of("他来了。", "她走了。", language="zh")]


def test_a_similarity_is_a_number_for_a_pair(tmp_path):
    def answer(body, number):
        return {"outputs": [{"score": len(first) / (10 * len(second))} for first, second in body["texts"]]}

    with serving(answer) as server:
        system = get_system(server.file(tmp_path, 'tasks = ["similarity"]\nlanguages = ["zh"]'))
        assert system.run(PAIRS) == [Output(score=5 / 80), Output(score=0.1)]
        assert (system.batch, system.languages) == (16, ("zh",))
    with serving(lambda body, number: {"outputs": [{}]}) as server, pytest.raises(BadOutput, match="has no 'score'"):
        get_system(server.file(tmp_path, 'tasks = ["similarity"]')).run(PAIRS[:1])


def test_the_texts_of_a_pair_may_go_to_places_of_their_own(tmp_path):
    more = """
    tasks = ["similarity"]
    request = { inputs = { source_sentence = "{text_a}", sentences = ["{text_b}"] }, prompt = "{text_a} / {text_b}" }
    answer = { score = "[0]" }
    """
    with serving(lambda body, number: [0.25]) as server:
        system = get_system(server.file(tmp_path, more))
        assert system.run(PAIRS) == [Output(score=0.25)] * 2
    assert {body["prompt"] for body in server.bodies} == {"我喜欢猫。 / {text_a}", "他来了。 / 她走了。"}
    assert {"source_sentence": "他来了。", "sentences": ["她走了。"]} in [body["inputs"] for body in server.bodies]


def test_a_summary_is_a_text_and_a_scheme_has_its_labels(tmp_path):
    with serving(lambda body, number: {"outputs": [{"text": text[:2]} for text in body["texts"]]}) as server:
        system = get_system(server.file(tmp_path, 'tasks = ["summarization"]'))
        assert system.run(INPUTS[:1]) == [Output(text="Fi")]
    with serving(lambda body, number: {"outputs": [{"label": "SPORTS"}, {"label": "K1"}]}) as server:
        more = 'tasks = ["classification/Sports,Finance"]\nlabels = { K1 = "Finance" }'
        assert get_system(server.file(tmp_path, more)).run(INPUTS[:2]) == [Output("Sports"), Output("Finance")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<html>Sorry</html>", "the answer is not JSON: <html>Sorry</html>"),
        (b"", "the answer is empty"),
        (b"[" * 100_000, "the answer is not JSON"),
        ({"outputs": [{"label": "positive"}] * 3}, "3 outputs for 1 inputs at 'outputs[*].label'"),
        (
            {"results": []},
            "the answer has no 'outputs', which 'outputs[*].label' leads to, but an object with 'results'",
        ),
        ({"outputs": {}}, "the answer has no list where 'outputs[*].label' has [*], but an object with nothing"),
        ({"outputs": [{"lable": 1}]}, "the answer has no 'label', which 'outputs[*].label' leads to"),
        ({"outputs": [{"label": None}]}, "a label must be a text, the answer has null"),
        (
            {"outputs": [{"label": "positive", "score": "0.9"}]},
            "a score must be a number, the answer has the text '0.9'",
        ),
        ({"outputs": [{"label": "positive", "score": True}]}, "a score must be a number, the answer has true"),
        (None, "no connection (RemoteProtocolError: Server disconnected without sending a response.) (asked 1 once)"),
    ],
)
def test_an_answer_that_cannot_be_used(tmp_path, content, says):
    with serving(lambda body, number: Reply(content)) as server:
        system = get_system(server.file(tmp_path, "tries = 1"))
        with pytest.raises((BadOutput, Unanswered), match=re.escape(says.replace("asked 1", "asked"))):
            system.run(INPUTS[:1])


def test_a_score_that_the_file_names_must_be_there(tmp_path):
    more = 'answer = { label = "outputs[*].label", score = "outputs[*].sorce" }'
    with serving() as server, pytest.raises(BadOutput, match="has no 'sorce', which 'outputs"):
        get_system(server.file(tmp_path, more)).run(INPUTS[:1])


def test_an_answer_without_end_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("audit.systems.service.LARGEST", 1000)
    with (
        serving(lambda body, number: Reply(b"x" * 5000)) as server,
        pytest.raises(BadOutput, match="longer than 1,000 bytes"),
    ):
        get_system(server.file(tmp_path)).run(INPUTS[:1])


@pytest.mark.parametrize("status", [302, 307])
def test_headers_are_sent_nowhere_else(tmp_path, status, monkeypatch):
    monkeypatch.setenv("ACME_KEY", SECRET)
    with serving() as elsewhere:
        reply = Reply({}, status, {"Location": elsewhere.url})
        with (
            serving(lambda body, number: reply) as server,
            pytest.raises(Declined, match=f"HTTP {status}: it leads to '{elsewhere.url}'; name that as the url"),
        ):
            get_system(server.file(tmp_path, 'headers = { X-Key = "${ACME_KEY}" }')).run(INPUTS[:1])
        assert elsewhere.bodies == []


def test_what_a_service_says_beside_an_error_is_cut(tmp_path):
    with (
        serving(lambda body, number: Reply({"error": "no " * 10_000}, 400)) as server,
        pytest.raises(Declined, match=r"HTTP 400: .*no no no") as problem,
    ):
        get_system(server.file(tmp_path)).run(INPUTS[:1])
    assert len(str(problem.value)) == WORDS


# Retry-After (RFC 9110, section 10.2.3): seconds or a date


@pytest.mark.parametrize(
    ("after", "date", "seconds"),
    [
        (None, None, None),
        ("0", None, 0),
        (" 120 ", None, 120),
        ("1.5", None, 1.5),
        ("Fri, 31 Dec 1999 23:59:59 GMT", "Fri, 31 Dec 1999 23:58:59 GMT", 60),
        ("Friday, 31-Dec-99 23:59:59 GMT", "Fri, 31 Dec 1999 23:58:59 GMT", 60),
        ("Fri, 31 Dec 1999 23:59:59 GMT", None, 0),  # long ago
        ("soon", None, None),
        ("-3", None, None),
        ("Fri, 99 Dec 1999 23:59:59 GMT", None, None),
    ],
)
def test_what_retry_after_asks_for(after, date, seconds):
    assert seconds_to_wait(after, date) == seconds


# Secrets


def test_a_variable_that_is_not_set_is_what_the_system_needs(tmp_path, monkeypatch):
    monkeypatch.delenv("ACME_KEY", raising=False)
    system = get_system(described(tmp_path, minimal('headers = { X-Key = "${ACME_KEY}" }')))
    assert system.needs() == f"set the environment variable ACME_KEY, which {tmp_path / 'service.toml'} names"
    with pytest.raises(NotInstalled, match="set the environment variable ACME_KEY"):
        system.run(INPUTS[:1])
    monkeypatch.setenv("ACME_KEY", "two\nlines")
    assert system.needs() == "the environment variable ACME_KEY must be printable ASCII, without line breaks"


@pytest.mark.parametrize("value", ["ftp://example.org/x", "example.org", "http://:80/", "http://a:b:c/"])
def test_an_address_from_the_environment_is_looked_at_too(tmp_path, monkeypatch, value):
    monkeypatch.setenv("BASE", value)
    system = get_system(described(tmp_path, minimal(url="${BASE}")))
    assert "with the environment's values, " in system.needs()
    assert value not in system.needs()


def test_without_httpx_the_line_that_installs_it_is_shown(tmp_path, monkeypatch):
    monkeypatch.setattr("audit.systems.service.missing", lambda module, install: install)
    assert get_system(described(tmp_path, minimal())).needs() == "pip install 'audit[http]'"


@pytest.mark.parametrize("status", [200, 401])
@pytest.mark.parametrize("spelled", [str, quote, quote_plus, json.dumps, html.escape])
@pytest.mark.parametrize("before", [0, WORDS - 30])
def test_secrets_are_taken_out_of_what_a_service_says(tmp_path, monkeypatch, status, spelled, before):
    secret = '4711  "4711"/+&'
    monkeypatch.setenv("ACME_KEY", secret)
    # With long words before it, a cut that came first would leave half of it.
    content = f"{'x' * before} wrong key {spelled(secret)} sent".encode()
    with serving(lambda body, number: Reply(content, status)) as server:
        system = get_system(server.file(tmp_path, 'tries = 1\nheaders = { X-Key = "${ACME_KEY}" }'))
        with pytest.raises(AuditError, match=r"wrong key|xxx") as problem:
            system.run(INPUTS[:1])
    assert "4711" not in str(problem.value)
    assert before or "wrong key ${ACME_KEY} sent" in str(problem.value).replace('"', "")


def test_secrets_are_neither_in_settings_nor_outputs_nor_logs_nor_pickles(tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ACME_KEY", "sk-4711-secret")

    def answer(body, number):
        return {"outputs": [{"label": "key sk-4711-secret", "text": f"{body['key']} {number}"}]}

    more = """
    headers = { X-Key = "${ACME_KEY}" }
    request = { texts = "{texts}", key = "${ACME_KEY}" }
    answer = { label = "outputs[*].label", text = "outputs[*].text" }
    """
    with serving(answer) as server:
        spec = server.file(tmp_path, more)
        path = tmp_path / "service.toml"
        path.write_text(path.read_text().replace("/classify", "/classify?key=${ACME_KEY}"))
        system = get_system(spec)
        (output,) = system.run(INPUTS[:1])
    assert output == Output("key ${ACME_KEY}", None, "${ACME_KEY} 0")
    assert server.bodies[0]["key"] == "sk-4711-secret"
    assert "sk-4711-secret" not in repr(system.settings) + system.summary + repr(pickle.dumps(system)) + repr(
        vars(system)
    )
    assert "sk-4711-secret" not in caplog.text


@pytest.mark.parametrize(
    "more",
    [
        'headers = { Authorization = "Bearer sk-4711" }',
        'headers = { X-API-Key = "sk-4711" }',
        'headers = { Cookie = "session=sk-4711" }',
        'request = { texts = "{texts}", auth = { api_key = "sk-4711" } }',
    ],
)
def test_a_secret_that_is_written_out_is_refused_and_not_shown(tmp_path, more):
    with pytest.raises(BadFile, match=r"looks like a secret: take it from the environment") as problem:
        get_system(described(tmp_path, minimal(more)))
    assert "4711" not in str(problem.value)


@pytest.mark.parametrize("url", ["http://me:sk-4711@host/x", "https://host/x?api_key=sk-4711"])
def test_a_secret_in_the_address_is_refused_and_not_shown(tmp_path, url):
    with pytest.raises(BadFile, match=r"service\.toml, url") as problem:
        get_system(described(tmp_path, minimal(url=url)))
    assert "4711" not in str(problem.value)


# What makes it another system


def test_settings_hold_what_may_change_an_output_and_not_the_pace(tmp_path):
    pace = "batch = 2\nconcurrency = 3\ntimeout = 4\ntries = 5\npatience = 6"
    slow, plain = (get_system(described(tmp_path, minimal(more))) for more in (pace, ""))
    assert (slow.batch, slow.concurrency, slow.tries, slow.patience) == (2, 3, 5, 6)
    assert slow.settings == plain.settings == {
        "url": "http://127.0.0.1:1/x",
        "method": "POST",
        "headers": {},
        "request": {"texts": "{texts}"},
        "answer": {"label": "outputs[*].label", "score": "outputs[*].score"},
        "labels": {},
    }  # fmt: skip
    for more in (
        'request = { texts = "{texts}", model = "b" }',
        'headers = { X-Model = "b" }',
        'labels = { P = "positive" }',
        'answer = { label = "[*]" }',
        'method = "PUT"',
    ):
        assert get_system(described(tmp_path, minimal(more))).settings != plain.settings


# The file


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('version = "1"\nurl = "http://h"', "name: is missing; it is what reports call the system"),
        ('name = "a"\nurl = "http://h"', "version: is missing; nobody can see from here when a service changes"),
        ('name = "a"\nversion = "1"', "url: is missing; it is the address"),
        (minimal(url="ftp://h"), "url: 'ftp://h' must begin with http:// or https:// and name a machine"),
        (minimal(url="file:///etc/passwd"), "url: 'file:///etc/passwd' must begin with"),
        (minimal(url="http://h/a b"), "url: 'http://h/a b' has characters that an address cannot have"),
        (
            minimal("urll = 1"),
            "urll: there is no such key, did you mean 'url'? allowed are name, version, ",
        ),
        (minimal('method = "GET"'), "method: 'GET' must be one of POST, PUT"),
        (minimal('tasks = ["mood"]'), "tasks: unknown task 'mood'; known are: classification, inference"),
        (minimal('tasks = ["classification/one"]'), "tasks: 'one' is no label scheme: known are "),
        (minimal('tasks = ["sentiment/a,b"]'), "tasks: task sentiment has labels of its own"),
        (
            minimal('tasks = ["sentiment", "similarity"]'),
            "tasks: outputs of sentiment, similarity are of different kinds",
        ),
        (
            minimal('request = { a = "{text_b}" }'),
            'request: "{text_b}" is for pairs of texts, the task similarity; write',
        ),
        (minimal('tasks = ["similarity"]\nrequest = { a = "{text_a}" }'), "request: an input has two texts: write"),
        (minimal('tasks = ["similarity"]\nrequest = { a = "of {text}" }'), "request: an input has two texts: write"),
        (
            minimal('tasks = ["similarity"]\nanswer = { label = "x" }'),
            "answer.score: is missing; an output of similarity",
        ),
        (
            minimal('tasks = ["summarization"]\nanswer = { label = "x" }'),
            "answer.text: is missing; an output of summar",
        ),
        (
            minimal('tasks = ["classification/a,b"]\nlabels = { P = "c" }'),
            "labels: 'c' is no label of classification/a,b; allowed are a, b",
        ),
        (minimal('languages = "en"'), "languages: 'en' must be a list of names, for example"),
        (minimal("batch = 0"), "batch: 0 must be a whole number from 1 to 10000"),
        (minimal("batch = 1.5"), "batch: 1.5 must be a whole number"),
        (minimal("concurrency = true"), "concurrency: True must be a whole number from 1 to 1000"),
        (minimal("timeout = inf"), "timeout: inf is not a number to compute with"),
        (minimal('headers = { "a b" = "x" }'), "headers.a b: is no name of a header"),
        (minimal('headers = { X = "é" }'), "headers.X: must be printable ASCII"),
        (minimal("headers = { X = 1 }"), "headers: must be a table of texts, for example"),
        (minimal("request = '{'"), "request: this text is not JSON"),
        (minimal("request = { a = 1 }"), 'request: must have either "{text}" (one input a request) or "{texts}"'),
        (minimal('request = { a = "{text}", b = "{texts}" }'), "request: must have either"),
        (minimal('request = { a = "of {texts}" }'), "must stand alone in its quotes"),
        (
            minimal('request = { a = "{texts}", b = 1979-05-27 }'),
            "request: has a date or a number that JSON does not",
        ),
        (minimal('request = { a = "{texts}", b = nan }'), "request.b: nan is not a number to compute with"),
        (minimal('request = { a = "{text}" }\nbatch = 2'), 'batch: 2 must be 1, since the request has "{text}"'),
        (minimal('answer = { label = "label" }\nbatch = 2'), "batch: 2 must be 1, since 'label' has no [*]"),
        (minimal('answer = "label"'), "answer: must be a table"),
        (
            minimal('answer = { lable = "x" }'),
            "answer.lable: there is no such key, did you mean 'label'? allowed are label",
        ),
        (minimal('answer = { score = "x" }'), "answer.label: is missing; an output has at least a label or a text"),
        (minimal('answer = { label = "a[*].b[*]" }'), "answer.label: 'a[*].b[*]' is no path: [*] may stand in it once"),
        (minimal('answer = { label = "a..b" }'), "answer.label: 'a..b' is no path, from '..b' on; allowed are names"),
        (minimal('labels = { POS = "good" }'), "labels: 'good' is no label of sentiment; allowed are positive"),
        (minimal("labels = [1]"), "labels: must be a table of texts"),
        ("name =", "this is not TOML: "),
        ("", "the file is empty"),
    ],
)
def test_mistakes_in_the_file_name_file_key_and_what_is_allowed(tmp_path, text, says):
    with pytest.raises(BadFile, match=re.escape(says)) as problem:
        get_system(described(tmp_path, text))
    assert str(problem.value).startswith(str(tmp_path / "service.toml"))
    assert "\n" not in str(problem.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BadFile, match="there is no such file"):
        get_system(f"http:{tmp_path / 'absent.toml'}")


@pytest.mark.parametrize("spec", ["http:", "http://api.example.org/sentiment"])
def test_an_address_is_no_file(spec):
    with pytest.raises(AuditError, match=r"write http:FILE\.toml, where the file has the address"):
        get_system(spec)


@pytest.mark.parametrize("version", ['"2026-11"', "2026-11-21", "3", "1.5"])
def test_a_version_may_be_a_date_or_a_number(tmp_path, version):
    text = minimal().replace('"7"', version)
    assert get_system(described(tmp_path, text)).version == version.strip('"')


@pytest.mark.parametrize("spelled", ["a b", ".a", "a[", "a[x]", "a.", 'a["', "[*][*]", "a[-1]"])
def test_what_is_no_path(spelled):
    with pytest.raises(AuditError, match="is no path"):
        Path.read(spelled)


def test_a_service_may_name_several_labels_of_a_text(tmp_path):
    def answer(body, number):
        return {"outputs": [{"label": ["Rude", "late"]} if "1" in text else {"label": []} for text in body["texts"]]}

    with serving(answer) as server:
        system = get_system(server.file(tmp_path, 'tasks = ["classification/refund+late+rude"]\n'))
        assert [output.label for output in system.run(INPUTS[:3])] == ["none", "late+rude", "none"]
