"""Judges as they are loaded and asked, and what is an answer; the chat model is a scripted local server."""

import asyncio
import json
import sys

import pytest
from chatting import reply
from service import Reply, serving

from audit.systems.judge import Answered, Asked, Part, load_judge, same_model, variant_of

LABELS = ("positive", "neutral", "negative")
ONE = Asked("sentiment", "input", "How is it?", LABELS, ("Fine.",), (Part("Text", "Fine.", "en"),), guideline="Read.")
TWO = Asked(
    "similarity", "input", "Alike?", LABELS, ("a", "b"), (Part("Text 1", "a", "en"), Part("Text 2", "b", "en"))
)  # fmt: skip
OUTPUT = Asked(
    "summarization", "pair", "Right?", LABELS, ("Long.",), (Part("Text", "Long.", "en"), Part("Summary", "S.", "en")),
    output="S.",
)  # fmt: skip
SECRET = "s3cret-key-of-a-test"


def test_the_same_is_asked_in_other_ways():
    assert variant_of(ONE, 1).labels == LABELS[::-1]
    assert variant_of(ONE, 2).question != ONE.question
    assert variant_of(ONE, 2).parts == ONE.parts
    assert variant_of(ONE, 3) is None  # one text has no order
    swapped = variant_of(TWO, 3)  # alike in their parts: each takes the other's name
    assert [(part.name, part.text) for part in swapped.parts] == [("Text 1", "b"), ("Text 2", "a")]
    moved = variant_of(OUTPUT, 3)  # a text and its summary keep their names
    assert [(part.name, part.text) for part in moved.parts] == [("Summary", "S."), ("Text", "Long.")]
    assert (moved.output, moved.texts, moved.variant) == ("S.", ("Long.",), 3)


@pytest.mark.parametrize(
    ("judge", "system", "same"),
    [
        (("j", {"model": "m"}), ("s", {"model": "M ", "url": "http://b"}), True),
        (("s", {"model": "m"}), ("s", {"model": "n"}), False),
        (("j", {"url": "http://a/"}), ("s", {"url": "http://a"}), True),
        (("j", {"url": "http://a"}), ("s", {}), False),
        (("vader", {}), ("vader", {"x": 1}), True),
        (("j", {}), ("s", {}), False),
    ],
)
def test_a_model_is_the_same_by_its_name_or_its_address(judge, system, same):
    assert same_model((judge[0], "1", judge[1]), (system[0], "2", system[1])) is same


def answers(judge, *questions):
    async def ask():
        try:
            return await asyncio.gather(*map(judge.answer, questions or [ONE]))
        finally:
            await judge.close_async()

    return asyncio.run(ask())


# A function


@pytest.fixture
def module(tmp_path, monkeypatch):
    def make(code):
        (tmp_path / "my_judges.py").write_text(code, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(tmp_path))
        sys.modules.pop("my_judges", None)

    yield make
    sys.modules.pop("my_judges", None)


def test_a_function_of_the_users_own(module):
    module("def judge(asked):\n    return asked.labels[0].upper()\n")
    judge = load_judge("my_judges:judge")
    assert (judge.name, len(judge.version)) == ("my_judges:judge", 12)
    assert answers(judge) == [Answered("positive")]
    assert load_judge("my_judges:judge", "referee").name == "referee"


@pytest.mark.parametrize(("body", "error"), [("raise SystemExit(3)", "SystemExit: 3"), ("return 7", "returned 7")])
def test_what_a_function_says_else_is_an_error(module, body, error):
    module(f"def judge(asked):\n    {body}\n")
    (answered,) = answers(load_judge("my_judges:judge"))
    assert (answered.label, error in answered.error) == (None, True)


# A chat model


@pytest.fixture
def file_of(tmp_path, monkeypatch):
    pytest.importorskip("httpx", reason="pip install 'audit[http]'")
    monkeypatch.setenv("JUDGE_KEY", SECRET)

    def write(server):
        text = f'name = "referee"\nversion = "1"\nurl = "{server.url.removesuffix("/classify")}/v1"\nmodel = "m-7"\n'
        (tmp_path / "referee.toml").write_text(text + 'api_key = "${JUDGE_KEY}"\ntries = 1\n', encoding="utf-8")
        return load_judge(f"chat:{tmp_path / 'referee.toml'}")

    return write


def test_a_model_is_sent_what_people_are_shown_and_a_form(file_of):
    said = reply('{"label": "positive"}', reasoning="It says fine.")
    with serving(lambda body, number: said) as server:
        judge = file_of(server)
        (answered, *_) = answers(judge, *[ONE] * 5)
    assert answered == Answered("positive", None, "It says fine.")
    body = server.bodies[0]
    assert (body["model"], body["temperature"], server.paths[0]) == ("m-7", 0.0, "/v1/chat/completions")
    system, user = body["messages"]
    assert system["role"] == "system"
    assert user["content"].startswith("Read.\n\nHow is it?\n\nText:\nFine.")
    form = body["response_format"]["json_schema"]["schema"]
    assert form["properties"]["label"]["enum"] == [*LABELS, "unsure"]
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"
    assert judge.settings["model"] == "m-7"
    assert judge.settings["prompt"]["system"]
    assert SECRET not in json.dumps(dict(judge.settings), default=str)


@pytest.mark.parametrize(
    ("said", "error", "text"),
    [
        (reply("I would rather not."), "none of positive, neutral, negative, unsure", "I would rather not."),
        (Reply({"error": f"bad key {SECRET}"}, 401), "HTTP 401", None),
        ({"choices": []}, "no answer of a chat endpoint", ""),
    ],
)
def test_what_a_model_says_else_is_an_error_without_secrets(file_of, said, error, text):
    with serving(lambda body, number: said) as server:
        (answered,) = answers(file_of(server))
    assert (answered.label, answered.text) == (None, text)
    assert error in answered.error
    assert SECRET not in answered.error
