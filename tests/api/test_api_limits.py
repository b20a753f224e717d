"""What the API refuses whatever the role: what is no request, in one sentence each."""

import pytest
from api_world import World

from audit.api import routes

BAD: list[tuple[bytes, str]] = [
    (b"", "body"),
    (b"{", "JSON"),
    (b"[1]", "body"),
    (b"\xff\xfe", "JSON"),
    (b'{"answer": 1}', "answer: Input should be a valid string"),
    (b'{"answr": "positive"}', "answr: Extra inputs"),
    (b'{"answer": "positive", "comment": "a\\u0000b"}', "NUL"),
    (b'{"answer": "\\ud800"}', "answer"),
    (b'{"answer": "positive", "shown_at": "yesterday"}', "shown_at"),
    (b'{"answer": "positive", "shown_at": "2026-01-01T00:00:00"}', "shown_at"),
    (b'{"answer": ' + b"[" * 50_000, "body"),
]


@pytest.mark.slow
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


def test_an_address_that_is_none_and_another_method_are_said_so(world: World) -> None:
    for who, method, path, status in (
        ("mia", "GET", "/nothing", 404), (None, "GET", "/", 404), ("mia", "DELETE", "/me", 405),
        (None, "GET", "/docs", 404), ("mia", "GET", "/me/", 404),
    ):  # fmt: skip
        answer = world.send(who, method, path, follow_redirects=False)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, "api.no_route"), path


def test_what_breaks_says_no_more_than_that_it_did(world: World, monkeypatch, caplog) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(routes, "questions_page", broken)
    answer = world.send("mia", "GET", "/questions")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "api.broken")
    assert "secret" not in answer.text
    assert "secret detail" in caplog.text
