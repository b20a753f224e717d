"""Language models behind chat endpoints: the file, what is sent, what is read, and answers that are none.

The endpoint is a simulated one on this machine (tests/service.py) that speaks the wire format of OpenAI's chat
completions and Responses.
"""

import json
import re

import pytest
from chatting import chat_file, reply
from hypothesis import given
from hypothesis import strategies as st
from service import Reply, serving

from audit.errors import BadFile, Declined
from audit.systems import get_system
from audit.systems.chat import choice_in
from audit.tasks import Input, Output

pytest.importorskip("httpx", reason="pip install 'audit[http]'")

SECRET = "sk-live/4711+=="


def minimal(more="", url="http://127.0.0.1:1/v1"):
    return f'name = "small"\nversion = "1"\nurl = "{url}"\nmodel = "m"\n{more}'


def system_of(folder, text):
    (folder / "chat.toml").write_text(text, encoding="utf-8")
    return get_system(f"chat:{folder / 'chat.toml'}")


BORING = Input.of("So boring.")


def outputs(folder, answer, more="", inputs=(BORING,)):
    with serving(answer) as server:
        return get_system(chat_file(server, folder, more)).run(list(inputs)), server


# What is sent


def test_four_lines_are_enough(tmp_path):
    ran, server = outputs(tmp_path, lambda body, number: reply('{"label": "negative"}'))
    assert ran == [Output("negative")]
    assert server.paths == ["/v1/chat/completions"]
    (body,) = server.bodies
    assert (body["model"], body["temperature"]) == ("m", 0.0)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert "positive, neutral, negative" in body["messages"][0]["content"]
    assert body["messages"][1]["content"] == "So boring."
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["label"]["enum"] == ["positive", "neutral", "negative"]


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
user = "{text_a} => {text_b}? As {{labels}}."

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


@pytest.mark.parametrize("structured", ["schema", "text"])
@pytest.mark.parametrize("form", ["chat", "responses"])
def test_every_key_is_sent(tmp_path, monkeypatch, structured, form):
    monkeypatch.setenv("SMALL_KEY", SECRET)
    text = "No." if structured == "text" else '{"label": "no"}'
    said = reply(text) if form == "chat" else responses({"type": "output_text", "text": text})
    with serving(lambda body, number: said) as server:
        spec = chat_file(server, tmp_path, MORE % structured)
        path = tmp_path / "chat.toml"
        path.write_text(path.read_text().replace('/v1"', '/v1/responses"' if form == "responses" else '/v1"'))
        (output,) = get_system(spec).run([Input.of("A man {text_b} sleeps.", "He runs.")])
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
    system, asked, answered, user = (message["content"] for message in body.get("messages") or body["input"])
    assert system.startswith("One of yes, maybe, no. Answer with ")
    assert (asked, answered) == ("It rains. => It is wet?", "yes")
    assert user == "A man {text_b} sleeps. => He runs.? As {labels}."  # a text that spells a field stays as it is
    assert [name in body for name in ("response_format", "text")] == [
        structured == "schema" and form == "chat",
        structured == "schema" and form == "responses",
    ]


@pytest.mark.parametrize(
    ("said", "error", "raw"),
    [
        (responses({"type": "refusal", "refusal": "I cannot."}), "the model refused to answer", "I cannot."),
        (
            responses({"type": "output_text", "text": '{"la'}, incomplete_details={"reason": "max_output_tokens"}),
            "the answer was cut off",
            '{"la',
        ),
        (responses(), "only reasoning came, and no answer", "Hm."),
    ],
)
def test_responses_that_are_no_answer(tmp_path, said, error, raw):
    with serving(lambda body, number: said) as server:
        spec = chat_file(server, tmp_path)
        (tmp_path / "chat.toml").write_text((tmp_path / "chat.toml").read_text().replace("/v1", "/v1/responses"))
        (output,) = get_system(spec).run([BORING])
    assert (output.text, output.details["used"]["reasoning"]) == (raw, 3)
    assert error in output.error


def test_a_server_that_cuts_prompts_is_told(tmp_path):
    """Ollama reads 4,096 tokens of a prompt unless it is told otherwise, and does not say so."""
    said = {**reply('{"label": "negative"}'), "usage": {"prompt_tokens": 4_096, "completion_tokens": 5}}
    (output,), _ = outputs(tmp_path, lambda body, number: said, inputs=[Input.of("So boring. " * 2_000)])
    assert output.label is None
    assert "the server read 4,096 tokens of a prompt of 22," in output.error
    assert "it cuts prompts; give the model a longer context" in output.error


@pytest.mark.parametrize(
    ("task", "item", "written", "output"),
    [
        ("classification/finance,sports", Input.of("The bank."), '{"label": "Finance"}', Output("finance")),
        ("similarity", Input.of("a", "b"), '{"score": 0.75}', Output(score=0.75)),
        ("question-answering", Input.of("Paris is big.", "What?"), '{"answer": "Paris"}', Output(text="Paris")),
        ("question-answering", Input.of("Paris.", "When?"), '{"answer": null}', Output(text="unanswerable")),
        ("summarization", Input.of("It rained all day."), '{"summary": "It rained."}', Output(text="It rained.")),
        ("translation", Input.of("It rains.", target="es"), '{"translation": "Llueve."}', Output(text="Llueve.")),
        ("translation", Input.of("It rains.", target="es"), "Llueve {mucho}.", Output(text="Llueve {mucho}.")),
    ],
)
def test_every_task_has_a_prompt_and_reads_its_answer(tmp_path, task, item, written, output):
    ran, server = outputs(tmp_path, lambda body, number: reply(written), f'task = "{task}"', [item])
    assert ran == [output]
    said = "\n".join(message["content"] for message in server.bodies[0]["messages"])
    assert all(text in said for text in item.texts)
    assert "{" not in said.replace('{"', "")  # every field is filled


# What is read


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
    (output,) = outputs(tmp_path, lambda body, number: said)[0]
    assert output == Output("negative")
    assert 'Or {"label": "positive"}?' in output.details["reasoning"]
    said["choices"][0]["message"]["content"] = said["choices"][0]["message"]["content"].replace(
        '{"label": "negative"}', "Llueve."
    )
    rain = Input.of("It rains.", target="es")
    (translated,) = outputs(tmp_path, lambda body, number: said, 'task = "translation"', [rain])[0]
    assert translated.text in ("Llueve.", "negative", "Negative.")


@pytest.mark.parametrize(
    ("said", "error", "raw"),
    [
        (reply("It is not positive."), "the answer is none of positive, neutral, negative", "It is not positive."),
        (reply('{"label": "angry"}'), "the answer is none of positive", '{"label": "angry"}'),
        (reply('{"mood": "positive"}'), "the answer has no 'label'", '{"mood": "positive"}'),
        (reply('{"label": "posi'), "a part of a JSON object", '{"label": "posi'),
        (reply(None, refusal="I cannot judge that."), "the model refused to answer", "I cannot judge that."),
        (reply("Well", finish_reason="content_filter"), "content filter", "Well"),
        (reply('{"label":', finish_reason="length"), "cut off", '{"label":'),
        (reply(""), "answer is empty", ""),
        (reply('{"label": "positive"} {"label": "negative"}'), "differ", '{"label": "positive"} {"label": "negative"}'),
    ],
)
def test_an_answer_that_is_none_is_an_error_with_what_was_written(tmp_path, said, error, raw):
    ran, server = outputs(tmp_path, lambda body, number: said)
    assert error in ran[0].error
    assert ran[0].text == raw
    assert ran[0].label is None
    assert len(server.bodies) == 1  # and is not paid for twice


def test_probabilities_become_scores(tmp_path):
    tokens = [('{"', -0.5), ("label", 0.0), ('": "', 0.0), ("neg", -0.1), ("ative", -0.2), ('"}', -0.7)]
    listed = [{"token": token, "logprob": value} for token, value in tokens]
    said = reply("".join(token for token, _ in tokens), logprobs={"content": listed})
    ran, server = outputs(tmp_path, lambda body, number: said, "logprobs = true")
    assert ran == [Output("negative", 0.740818)]  # e^-0.3: of the label's two tokens alone
    assert server.bodies[0]["logprobs"] is True
    said["choices"][0]["message"]["content"] = f"<think>Negative?</think>{''.join(token for token, _ in tokens)}"
    listed[:0] = [{"token": token, "logprob": -9} for token in ("<think>", "Negative?", "</think>")]
    listed.append({"token": "<|im_end|>", "logprob": -9})
    assert outputs(tmp_path, lambda body, number: said, "logprobs = true")[0] == ran
    said["choices"][0]["logprobs"] = {"content": [{"token": "?", "logprob": -1}]}
    assert outputs(tmp_path, lambda body, number: said, "logprobs = true")[0] == [Output("negative")]


LABELS = {"very_good": "very_good", "bad": "bad", "c": "c", "c++": "c++"}


@given(st.sampled_from(sorted(LABELS)), st.sampled_from(["{}", '"{}"', "**{}**", "  {}.\n", "Label: {}", "`{}`"]))
def test_a_label_is_read_back_whatever_stands_around_it(label, around):
    assert choice_in(json.dumps({"label": label}), LABELS) == label
    assert choice_in(around.format(label), LABELS) == label
    assert choice_in(around.format(label.upper()), LABELS) == label


# What goes wrong on the way


def test_a_wrong_key_names_the_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("SMALL_KEY", SECRET)
    said = Reply({"error": {"message": f"Incorrect API key provided: {SECRET}"}}, 401)
    with pytest.raises(Declined, match=r"HTTP 401: .*provided: \$\{SMALL_KEY\}") as no:
        outputs(tmp_path, lambda body, number: said, 'api_key = "${SMALL_KEY}"')
    assert SECRET not in str(no.value)
    monkeypatch.delenv("SMALL_KEY")
    needs = system_of(tmp_path, minimal('api_key = "${SMALL_KEY}"')).needs()
    assert needs.startswith("set the environment variable SMALL_KEY, which ")


# Files with mistakes


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (
            '[prompt]\nuser = "Is {txt} good?"',
            r"prompt\.user: \{txt\} is no field here; allowed are \{text\}, \{language\}, \{labels\}",
        ),
        ('labels = { POS = "positive", NEG = "negative" }', "labels: misses neutral; it must have a word for each"),
        ('task = "sentimental"', "unknown task 'sentimental'"),
        ('api_key = "sk-4711"', "api_key: .*take it from the environment"),
        ('structured = "yaml"', "structured"),
        ("modle = 1", "there is no such key, did you mean 'model'"),
    ],
)
def test_a_mistake_in_the_file_is_one_sentence(tmp_path, more, problem):
    with pytest.raises(BadFile, match=problem) as refused:
        system_of(tmp_path, minimal(more))
    assert str(tmp_path / "chat.toml") in str(refused.value)
    assert "sk-4711" not in str(refused.value)
    assert "\n" not in str(refused.value)


# Several labels


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ('{"labels": ["late", "Refund"]}', "refund+late"),
        ('{"labels": []}', "none"),
        ("Rude, late.", "late+rude"),
        ("None.", "none"),
        ('{"labels": ["angry"]}', None),
        ('{"labels": 3}', None),
    ],
)
def test_a_text_may_have_several_labels(tmp_path, written, label):
    more = 'task = "classification/refund+late+rude"'
    ran, server = outputs(tmp_path, lambda body, number: reply(written), more)
    (body,) = server.bodies
    schema = body["response_format"]["json_schema"]["schema"]["properties"]["labels"]
    assert schema == {"type": "array", "items": {"type": "string", "enum": ["refund", "late", "rude"]}}
    assert "any number of them may: refund, late, rude." in body["messages"][0]["content"]
    assert ran[0].label == label
    assert bool(ran[0].error) is (label is None)


# Batches


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
        outputs = system.run(asked)
        assert [output.label for output in outputs] == ["negative", None, None, *["negative"] * 9]
        assert ["too long" in str(outputs[1].error), outputs[2].error] == [True, "the batch b1 ended without it"]
        assert outputs[0].details["used"]["cost"] == pytest.approx(0.5 * (6 * 2 + 2 * 4) / 1e6)
        assert system.price.input_tokens == 1
        assert [row["body"]["messages"][-1]["content"] for row in made[0]["rows"]] == [item.text for item in asked]
        assert get_system(f"chat:{tmp_path / 'chat.toml'}").run(asked) == outputs
    assert len(made) == 1  # the second time the same batch was found
