"""A judge behind a chat endpoint, on a scripted local server (simulated): requests, refusals, secrets, mistakes."""

import asyncio
import json

import pytest
from service import Reply, serving

from audit.systems.judge import Asked, Part, load_judge

pytest.importorskip("httpx", reason="pip install 'audit[http]'")

QUESTION = Asked(
    "sentiment", "input", "How is it?", ("positive", "negative"), ("Fine.",), (Part("Text", "Fine.", "en"),),
    guideline="Read well.",
)  # fmt: skip
SECRET = "s3cret-key-of-a-test"


def said(text, **more):
    return {"choices": [{"message": {"content": text, **more}, "finish_reason": "stop"}]}


def file_of(server, folder, more=""):
    path = folder / "referee.toml"
    url = server.url.removesuffix("/classify") + "/v1"
    path.write_text(
        f'name = "referee"\nversion = "1"\nurl = "{url}"\nmodel = "m-7"\napi_key = "${{JUDGE_KEY}}"\ntries = 1\n{more}',
        encoding="utf-8",
    )
    return f"chat:{path}"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", SECRET)


def answers(spec, *questions):
    judge = load_judge(spec)

    async def ask():
        try:
            return await asyncio.gather(*map(judge.answer, questions or [QUESTION]))
        finally:
            await judge.close_async()

    return judge, asyncio.run(ask())


def test_it_is_sent_what_people_are_shown_and_a_form(tmp_path):
    with serving(lambda body, number: said('{"label": "positive"}')) as server:
        judge, (answered, *_) = answers(file_of(server, tmp_path), *[QUESTION] * 5)
    assert (answered.label, answered.error) == ("positive", None)
    body = server.bodies[0]
    assert (body["model"], body["temperature"], server.paths[0]) == ("m-7", 0.0, "/v1/chat/completions")
    system, user = body["messages"]
    assert system["role"] == "system"
    assert user["content"].startswith("Read well.\n\nHow is it?\n\nText:\nFine.")
    form = body["response_format"]["json_schema"]["schema"]
    assert form["properties"]["label"]["enum"] == ["positive", "negative", "unsure"]
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"
    assert judge.settings["model"] == "m-7"
    assert judge.settings["prompt"]["system"]
    assert SECRET not in json.dumps(dict(judge.settings), default=str)


@pytest.mark.parametrize(
    ("reply", "error", "text"),
    [
        (said("I would rather not."), "none of positive, negative, unsure", "I would rather not."),
        (said("", refusal="No."), "refused", "No."),
        (Reply({"error": f"bad key {SECRET}"}, 401), "HTTP 401", None),
        (Reply({"error": "busy"}, 500), "HTTP 500", None),
        (Reply(None), "no connection", None),
        ({"choices": []}, "no answer of a chat endpoint", ""),
    ],
)
def test_what_is_no_answer_is_an_error_without_secrets(tmp_path, reply, error, text):
    with serving(lambda body, number: reply) as server:
        _, (answered,) = answers(file_of(server, tmp_path))
    assert answered.label is None
    assert error in answered.error
    assert SECRET not in answered.error
    assert answered.text == text
