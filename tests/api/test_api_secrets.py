"""What tokens and people's names are never part of."""

import io
import zipfile

import pytest
from api_world import World, judge_all

from audit.exchange.export import backup_file


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
