"""What the API refuses whatever the role: what is no request, in one sentence each."""

import io
import zipfile
from datetime import UTC, datetime, timedelta

import pytest
from api_world import World, judge_all
from sqlalchemy import select, update

from audit.api import routes
from audit.exchange.export import backup_file
from audit.store.core import judgement, lease

BAD: list[tuple[bytes, str]] = [
    (b"", "body"),
    (b"{", "JSON"),
    (b"[1]", "body"),
    (b"\xff\xfe", "JSON"),
    (b'{"answer": 1}', "answer: Input should be a valid string"),
    (b'{"answr": "positive"}', "answr: Extra inputs"),
    (b'{"answer": "positive", "comment": "a\\u0000b"}', "comment: String should match pattern"),
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


def test_a_query_takes_the_options_of_a_report_and_no_other_names(world: World) -> None:
    judge_all(world, "ann")
    report = world.ask("mia", "GET", "/report", params={"study": 1, "slices": "length", "delta": "0.1", "examples": 1})
    assert (report["signature"]["delta"], bool(report["slices"])) == (0.1, True)
    for query, reason in (({"weights": "/etc/passwd"}, "weights"), ({"delta": "2"}, "delta"), ({"study": 0}, "study")):
        answer = world.send("mia", "GET", "/report", params=query)
        assert answer.status_code == 400
        assert reason in answer.json()["error"]["sentence"]


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


# What tokens and people's names are never part of.


@pytest.mark.slow
def test_an_export_is_a_zip_file_without_secrets_and_names(world: World) -> None:
    judge_all(world, "ann")
    answer = world.send("mia", "POST", "/exports")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/zip")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="audit-export.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    everything = b"\n".join(files.values())
    assert not [secret for secret in world.tokens.values() if secret.encode() in everything]
    assert not any(b"ben" in content for name, content in files.items() if "annotator" in name)


@pytest.mark.slow
def test_nothing_that_is_stored_or_logged_has_a_token_in_it(world: World, caplog) -> None:
    caplog.set_level(0)
    for who, secret in world.tokens.items():
        for path in ("/me", "/report", f"/plans/{secret}", f"/{secret}", "/me?token=" + secret):
            if secret not in path:
                assert secret not in world.send(who, "GET", path).text
    file = backup_file(world.engine, by=world.accounts["mia"].id)
    content = file.read_bytes()
    for secret in world.tokens.values():
        assert secret.encode() not in content
        assert f"Bearer {secret}" not in caplog.text


# Requests that are sent twice, since the answer to the first was lost on its way: nothing happens twice.


def number(world: World, table) -> int:
    with world.engine.connect() as connection:
        return len(connection.execute(select(table.c.id)).all())


def test_an_answer_that_is_sent_twice_is_stored_once(world: World) -> None:
    id = world.ask("ann", "POST", "/questions/next")["question"]["id"]
    body = {"answer": "positive", "comment": "sure"}
    stored, again = (world.send("ann", "POST", f"/questions/{id}/judgement", json=body) for _ in range(2))
    assert (stored.status_code, stored.json()) == (again.status_code, again.json())
    world.ask("ann", "POST", "/questions/next")  # which the client may have asked for before it looked
    assert world.ask("ann", "POST", f"/questions/{id}/judgement", json=body) == stored.json()
    assert number(world, judgement) == 1


def test_whoever_says_which_answer_is_meant_takes_back_one(world: World) -> None:
    stored = []
    for _ in range(2):
        id = world.ask("ann", "POST", "/questions/next")["question"]["id"]
        stored.append(world.ask("ann", "POST", f"/questions/{id}/judgement", json={"answer": "positive"})["id"])
    earlier = world.send("ann", "POST", "/undo", json={"judgement": stored[0]})
    assert (earlier.status_code, earlier.json()["error"]["code"]) == (409, "refused.not_last")
    for _ in range(2):
        assert world.ask("ann", "POST", "/undo", json={"judgement": stored[1]}) == {"question_id": id}
    assert number(world, judgement) == 3  # two answers, and one taken back
    assert world.ask("ann", "POST", "/questions/next")["question"]["id"] == id
    of_another = world.send("ben", "POST", "/undo", json={"judgement": stored[1]})
    assert (of_another.status_code, of_another.json()["error"]["code"]) == (409, "refused.not_last")


def test_an_expired_question_is_refused_and_comes_again(world: World) -> None:
    """Whoever was slow loses the place only if somebody else took it."""
    id = world.ask("ann", "POST", "/questions/next")["question"]["id"]
    with world.engine.begin() as connection:
        connection.execute(update(lease).values(expires_at=datetime.now(UTC) - timedelta(minutes=1)))
    assert world.ask("ann", "POST", "/questions/next")["question"]["id"] == id
    assert world.send("ann", "POST", f"/questions/{id}/judgement", json={"answer": "positive"}).status_code == 201
