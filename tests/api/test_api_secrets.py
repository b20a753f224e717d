"""What a token's secret and people's names are never part of, and what is no address of the API."""

import io
import zipfile

from api_world import World, judge_all
from audit.annotation.tokens import token_key
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from audit.reports.exports.downloads import backup_file
from audit.ui.server import Below


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
            assert token_key(secret).hex().encode() not in everything
        assert any(b"ben" in content for name, content in files.items() if "annotator" in name) == named


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


def test_below_the_address_of_the_api_there_is_nothing_else(world: World) -> None:
    page = Route("/{rest:path}", lambda request: PlainTextResponse("Streamlit's page"))
    api = world.client.app
    client = TestClient(Starlette(routes=[Below("/root/api", api), page]))
    headers = {"Authorization": f"Bearer {world.tokens['mia']}"}
    assert client.get("/root/api/v1/me", headers=headers).json()["name"] == "mia"
    assert client.get("/root/api/v1/openapi.json").is_success
    for path in ("/root/api", "/root/api/", "/root/api/v1", "/root/api/v1/", "/root/api/v2/me", "/root/api/me"):
        answer = client.get(path, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "api.no_route"), path
    answer = client.get("/root/api/v1/plans/a%0Ab", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "name.unknown")
    for path in ("/root/apiary", "/other"):
        assert client.get(path).text == "Streamlit's page"
