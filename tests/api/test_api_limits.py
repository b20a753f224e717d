"""What the API refuses whatever the role: what is no request, in one sentence each."""

import io
import zipfile

import pytest
from api_world import World, judge_all

from audit.api import routes
from audit.exchange.export import backup_file

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


# What tokens and people's names are never part of.


@pytest.mark.slow
def test_an_export_is_a_zip_file_without_secrets_and_by_default_without_names(world: World) -> None:
    judge_all(world, "ann")
    for body, named in ((None, False), ({"pseudonymise": False}, True)):
        answer = world.send("mia", "POST", "/exports", json=body)
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/zip")
        assert answer.headers["Content-Disposition"] == 'attachment; filename="audit-export.zip"'
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        assert not [name for name in files if "token" in name]
        everything = b"\n".join(files.values())
        for secret in world.tokens.values():
            assert secret.encode() not in everything
        assert any(b"ben" in content for name, content in files.items() if "annotator" in name) == named


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
