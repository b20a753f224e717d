"""The page docs/how-to/api.md: its calls are answered by a real `audit app`."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from api_world import make_database

from audit.judging.accounts import list_accounts
from audit.judging.sign_in import make_token

sys.path.insert(0, str(Path(__file__).parents[1] / "ui"))
from app_server import app_server

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "api.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_the_calls_of_the_page_are_answered(tmp_path: Path) -> None:
    engine = make_database(str(tmp_path / "audit.db"))
    tokens = {account.role: make_token(engine, account.id) for account in list_accounts(engine)}
    with app_server(str(tmp_path / "audit.db"), tmp_path / "log.txt", folder=tmp_path) as address:
        given = {"URL": f"{address}/api/v1", "MANAGER": tokens["manager"], "ANNOTATOR": tokens["annotator"]}
        environment = {**os.environ, **given, "NO_PROXY": "*"}

        def run(*command: str) -> str:
            ran = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert ran.returncode == 0, (command, ran.stdout, ran.stderr)
            return ran.stdout

        send, begin, take, fetch, rates = blocks("sh")
        assert json.loads(run("sh", "-ec", send))["size"] == 2
        run("sh", "-ec", begin)
        end, listed = time.monotonic() + 120, 'curl -s "$URL/runs?plan=films" -H "Authorization: Bearer $MANAGER"'
        while (state := json.loads(run("sh", "-ec", listed))[0])["state"] in ("waiting", "running"):
            assert time.monotonic() < end
        assert (state["state"], state["study"]) == ("done", 2)
        assert json.loads(run("sh", "-ec", take))["question"]["labels"]
        (judge,) = blocks("python")
        run(sys.executable, "-c", judge)
        assert json.loads(run("sh", "-ec", take))["question"] is None
        answered = json.loads(run("sh", "-ec", fetch))["questions"]
        assert {origin for question in answered for origin in question["answers"]} == {"gold", "people"}
        assert json.loads(run("sh", "-ec", rates))["cells"]
        with zipfile.ZipFile(tmp_path / "export.zip") as archive:
            assert "manifest.json" in archive.namelist()
    log = (tmp_path / "log.txt").read_text(encoding="utf-8")
    assert not [word for word in ("Traceback", *tokens.values()) if word in log]
