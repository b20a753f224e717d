"""What the API refuses whatever the role: too much, too often, and what is no request; each in one sentence."""

import json
from typing import Any

import pytest
from api_world import World

from audit.api import results
from audit.api.limits import BODY, LARGE_BODY, Allowance


def test_a_token_has_so_many_requests_a_minute(new_world) -> None:
    world = new_world(most=3)
    assert [world.send("ann", "GET", "/me").status_code for _ in range(4)] == [200, 200, 200, 429]
    answer = world.send("ann", "GET", "/me")
    assert answer.json()["error"]["code"] == "api.too_many"
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert world.send("ben", "GET", "/me").status_code == 200  # each token by itself


def test_strangers_are_limited_by_their_address_and_keep_no_token_out(new_world) -> None:
    world = new_world(most=2)
    assert [world.send(None, "GET", "/me").status_code for _ in range(4)] == [401, 401, 429, 429]
    assert world.send("ann", "GET", "/me").status_code == 200


def test_an_allowance_comes_back_with_the_time() -> None:
    now = [0.0]
    allowance = Allowance(2, clock=lambda: now[0])
    waits = []
    for moment in (0, 10, 20, 59.5, 60, 61, 70):
        now[0] = moment
        waits.append(allowance.take("a"))
    # Two at 0 and 10; at 60 the first is a minute ago, at 70 the second.
    assert waits == [0, 0, 40, 1, 0, 9, 0]


@pytest.mark.parametrize("path", ["/undo", "/corpora/mine"])
@pytest.mark.parametrize("declared", [True, False])
def test_a_request_that_is_too_long_is_not_read(world: World, content, path: str, declared: bool) -> None:
    most = LARGE_BODY if "corpora" in path else BODY
    before = content(world.engine)

    def pieces() -> Any:
        for _ in range(most // 65536 + 1):
            yield b"x" * 65536

    body = b"x" * (most + 1) if declared else pieces()
    answer = world.send("mia", "PUT" if "corpora" in path else "POST", path, content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "api.too_large")
    assert content(world.engine) == before


BAD: list[tuple[bytes, str]] = [
    (b"", "body"),
    (b"{", "body"),
    (b"[1]", "body"),
    (b"\xff\xfe", "body"),
    (b'{"answer": 1}', "answer: 1 must be"),
    (b'{"answr": "positive"}', "did you mean 'answer'"),
    (b'{"answer": "positive", "comment": "a\\u0000b"}', "NUL"),
    (b'{"answer": "\\ud800"}', "answer"),
    (b'{"answer": "positive", "shown_at": "yesterday"}', "shown_at"),
    (b'{"answer": "positive", "shown_at": "2026-01-01T00:00:00"}', "shown_at"),
    (b'{"answer": ' + b"[" * 50_000, "body"),
]


@pytest.mark.parametrize(("body", "reason"), BAD, ids=[str(number) for number in range(len(BAD))])
def test_what_is_no_request_is_one_sentence_and_changes_nothing(world: World, content, body, reason) -> None:
    id = world.ask("ann", "POST", "/questions/next")["question"]["id"]
    before = content(world.engine)
    answer = world.send(
        "ann", "POST", f"/questions/{id}/judgement", content=body, headers={"Content-Type": "application/json"}
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "api.bad_request"), answer.text
    assert reason in answer.json()["error"]["sentence"]
    assert content(world.engine) == before


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/questions/0/skip", 400), (f"/questions/{1 << 70}/skip", 400), ("/questions/-1/skip", 404),
        ("/questions/x/skip", 404), ("/training/1e3", 404), ("/disputes/next", 404),
    ],
)  # fmt: skip
def test_what_is_no_number_of_a_question_is_refused(world: World, path: str, status: int) -> None:
    assert world.send("ann", "POST", path, json={"answer": "positive"}).status_code == status


def test_an_address_that_is_none_and_another_method_are_said_so(world: World) -> None:
    for who, method, path, status in (
        ("mia", "GET", "/nothing", 404), (None, "GET", "/", 404), ("mia", "DELETE", "/me", 405),
        (None, "GET", "/docs", 404), ("mia", "GET", "/me/", 404),
    ):  # fmt: skip
        answer = world.send(who, method, path, follow_redirects=False)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, "api.no_route"), path


def test_a_body_is_json_and_is_said_to_be(world: World) -> None:
    text = world.send("ann", "POST", "/questions/1/judgement", content=b'{"answer": "positive"}')
    assert (text.status_code, text.json()["error"]["code"]) == (415, "api.not_json")
    patch = {"Content-Type": "application/merge-patch+json; charset=utf-8"}
    assert world.send("ann", "POST", "/undo", content=b"{}", headers=patch).status_code == 200
    assert world.send("ann", "POST", "/undo").status_code == 200  # whose body may be left out


def test_sentences_are_in_the_language_of_the_request_and_codes_are_not(world: World) -> None:
    answer = world.send("ann", "GET", "/report", headers={"Accept-Language": "zh-CN,en;q=0.5"})
    assert answer.json()["error"] == {
        "code": "api.role_needed",
        "sentence": "此操作需要角色 manager；该令牌的角色是 annotator",
    }
    question = world.ask("ann", "POST", "/questions/next", headers={"Accept-Language": "zh"})["question"]
    assert question["labels"]["positive"] == "正面"


def test_what_breaks_says_no_more_than_that_it_did(world: World, monkeypatch, caplog) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(results, "questions_page", broken)
    answer = world.send("mia", "GET", "/questions")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "api.broken")
    assert "secret" not in answer.text
    assert "secret detail" in caplog.text


def test_answers_are_not_kept_by_caches_and_set_no_cookies(world: World) -> None:
    for answer in (world.send("ann", "GET", "/me"), world.send(None, "GET", "/me"), world.send("ann", "GET", "/x")):
        assert answer.headers["Cache-Control"] == "no-store"
        assert "set-cookie" not in answer.headers


def test_json_of_the_report_is_json(world: World) -> None:
    text = world.send("mia", "GET", "/report").text
    json.loads(text, parse_constant=lambda name: pytest.fail(name))
