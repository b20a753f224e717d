"""Systems over HTTP: the file, what is sent, what is read, and that no secret leaves by another door.

The server is a simulated service on this machine (tests/service.py); its answers are the tests' own.
"""

import logging
import pickle
import re

import pytest
from service import Reply, label_of, serving

from audit.errors import BadFile, BadOutput, NotInstalled
from audit.systems import get_system
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
    batch = 3
    request = { documents = "{texts}", model = "large", options = { top = 1 } }
    answer = { label = 'results[*].prediction."the class"', score = "results[*].p[1]" }
    labels = { POS = "positive", NEG = "negative" }
    headers = { Authorization = "Bearer ${ACME_KEY}", X-Team = "tests" }
    """
    with serving(answer) as server:
        outputs = get_system(server.file(tmp_path, more)).run(INPUTS[:7])
    assert outputs == [Output("positive", 0.75)] * 7
    body = next(body for body in server.bodies if body["documents"][0] == TEXTS[0])
    assert body == {"documents": TEXTS[:3], "model": "large", "options": {"top": 1}}
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"
    assert server.headers[0]["X-Team"] == "tests"


PAIRS = [Input.of("我喜欢猫。", "{text_a}", language="zh"), Input.of("他来了。", "她走了。", language="zh")]


def test_a_similarity_is_a_number_for_a_pair(tmp_path):
    def answer(body, number):
        return {"outputs": [{"score": len(first) / (10 * len(second))} for first, second in body["texts"]]}

    with serving(answer) as server:
        system = get_system(server.file(tmp_path, 'tasks = ["similarity"]\nlanguages = ["zh"]'))
        assert system.run(PAIRS) == [Output(score=5 / 80), Output(score=0.1)]
        assert (system.batch, system.languages) == (16, ("zh",))
    with (
        serving(lambda body, number: {"outputs": [{}]}) as server,
        pytest.raises(BadOutput, match=r"has nothing at 'outputs\[\*\].score'"),
    ):
        get_system(server.file(tmp_path, 'tasks = ["similarity"]')).run(PAIRS[:1])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"outputs": {}}, "the answer has no list where 'outputs[*].label' has [*], but an object with nothing"),
        (
            {"outputs": [{"label": "positive", "score": "0.9"}]},
            "a score must be a number, the answer has the text '0.9'",
        ),
    ],
)
def test_an_answer_that_cannot_be_used(tmp_path, content, says):
    with serving(lambda body, number: Reply(content)) as server, pytest.raises(BadOutput, match=re.escape(says)):
        get_system(server.file(tmp_path)).run(INPUTS[:1])


# Secrets


def test_a_variable_that_is_not_set_is_what_the_system_needs(tmp_path, monkeypatch):
    monkeypatch.delenv("ACME_KEY", raising=False)
    system = get_system(described(tmp_path, minimal('headers = { X-Key = "${ACME_KEY}" }')))
    assert system.needs() == f"set the environment variable ACME_KEY, which {tmp_path / 'service.toml'} names"
    with pytest.raises(NotInstalled, match="set the environment variable ACME_KEY"):
        system.run(INPUTS[:1])
    monkeypatch.setenv("ACME_KEY", "two\nlines")
    assert system.needs() == "the environment variable ACME_KEY must be printable ASCII, without line breaks"


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
        'request = { texts = "{texts}", auth = { api_key = "sk-4711" } }',
    ],
)
def test_a_secret_that_is_written_out_is_refused_and_not_shown(tmp_path, more):
    with pytest.raises(BadFile, match=r"looks like a secret: take it from the environment") as problem:
        get_system(described(tmp_path, minimal(more)))
    assert "4711" not in str(problem.value)


# The file


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('version = "1"\nurl = "http://h"', "name: is missing; it is what reports call the system"),
        (
            minimal("urll = 1"),
            "urll: there is no such key, did you mean 'url'? allowed are name, version, ",
        ),
        (
            minimal('request = { a = "{text_b}" }'),
            'request: must have "{texts}" (a list of them), "{text}", or of pairs',
        ),
        (minimal('headers = { X = "é" }'), "headers.X: must be printable ASCII"),
        (
            minimal('request = { a = "{texts}", b = 1979-05-27 }'),
            "request: has a date or a number that JSON does not",
        ),
        (minimal('answer = { score = "x" }'), "answer.label: is missing; an output of sentiment has a label"),
        (minimal('answer = { label = "x[" }'), "answer.label: 'x[' must be a JMESPath such as"),
        (minimal('labels = { POS = "good" }'), "labels: 'good' is no label of sentiment; allowed are positive"),
        (minimal('tasks = ["mood"]'), "unknown task 'mood'"),
        ("", "the file is empty"),
    ],
)
def test_mistakes_in_the_file_name_file_key_and_what_is_allowed(tmp_path, text, says):
    with pytest.raises(BadFile, match=re.escape(says)) as problem:
        get_system(described(tmp_path, text))
    assert str(problem.value).startswith(str(tmp_path / "service.toml"))
    assert "\n" not in str(problem.value)


def test_a_service_may_name_several_labels_of_a_text(tmp_path):
    def answer(body, number):
        return {"outputs": [{"label": ["Rude", "late"]} if "1" in text else {"label": []} for text in body["texts"]]}

    with serving(answer) as server:
        system = get_system(server.file(tmp_path, 'tasks = ["classification/refund+late+rude"]\n'))
        assert [output.label for output in system.run(INPUTS[:3])] == ["none", "late+rude", "none"]


# Translation

TASK = 'tasks = ["translation"]\n'
ONE = (
    TASK
    + 'request = { q = "{text}", from = "{source_language}", to = "{target_language}" }\nanswer = { text = "said" }\n'
)


def input_of(text, target="es", language="en"):
    return Input.of(text, language=language, target=target)


def listed(body, number):
    """The answer of a service with the form that is usual here."""
    pair = f"{body['source_language']}>{body['target_language']}"
    return {"outputs": [{"text": f"{pair} {text}"} for text in body["texts"]]}


def test_task_and_address_are_enough(tmp_path):
    with serving(listed) as server:
        system = get_system(server.file(tmp_path, TASK))
        outputs = system.run([input_of("a"), input_of("b", "fr"), input_of("c"), input_of("d", "en", "es")])
    assert outputs == [Output(text=text) for text in ("en>es a", "en>fr b", "en>es c", "es>en d")]
    assert (system.tasks, system.languages, system.batch) == (("translation",), ("*",), 16)
    # A request has one pair of languages, whatever comes together.
    assert [(body["target_language"], body["texts"]) for body in server.bodies] == [
        ("es", ["a", "c"]),
        ("fr", ["b"]),
        ("en", ["d"]),
    ]


def test_languages_may_go_into_the_address(tmp_path):
    more = 'request = ["{text}"]\nanswer = { text = "[0]" }\ncodes = { es = "a b&c" }\n'
    with serving(lambda body, number: ["Llueve."]) as server:
        path = tmp_path / "url.toml"
        url = f"{server.url}?from={{source_language}}&to={{target_language}}"
        path.write_text(f'name = "a"\nversion = "1"\nurl = "{url}"\n{TASK}{more}')
        assert get_system(f"http:{path}").run([input_of("It rains.")]) == [Output(text="Llueve.")]
    assert (server.paths, server.bodies) == (["/classify?from=en&to=a%20b%26c"], [["It rains."]])


@pytest.mark.parametrize(
    ("more", "read", "there"),
    [
        ('languages = ["en", "es"]', ("en", "es"), [True, False, True]),
        ('pairs = ["en-es", "en-fr"]', ("en",), [True, True, False]),
        ("", ("*",), [True, True, True]),
    ],
)
def test_pairs_that_a_service_does_not_have_are_absent_and_not_asked(tmp_path, more, read, there):
    with serving(lambda body, number: {"said": "x"}) as server:
        system = get_system(server.file(tmp_path, ONE + more))
        outputs = system.run([input_of("a"), input_of("b", "fr"), input_of("c", "en", "es")])
    assert [not output.absent for output in outputs] == there
    assert len(server.bodies) == sum(there)
    assert system.languages == read
