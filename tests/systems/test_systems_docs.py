"""The service over HTTP that docs/reference/systems.md shows works as it is written there, but for its port."""

import re
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from audit.systems import get_system
from audit.tasks import Input, Output

pytest.importorskip("httpx", reason="pip install 'audit[http]'")

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "systems.md").read_text(encoding="utf-8")


def block(language, beginning):
    """The code of the page that begins so."""
    return next(
        candidate
        for candidate in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
        if candidate.startswith(beginning)
    )


def test_the_shown_service_and_its_description(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "service.py").write_text(block("python", "# service.py").replace("8000", str(port)))
    description = block("toml", "# service.toml").replace("8000", str(port))
    (tmp_path / "service.toml").write_text(description + "tries = 60\n")
    with subprocess.Popen([sys.executable, "service.py"], cwd=tmp_path, stderr=subprocess.DEVNULL) as service:
        try:
            for _ in range(600):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            outputs = get_system(f"http:{tmp_path / 'service.toml'}").run([Input.of("So boring."), Input.of("Fine.")])
        finally:
            service.kill()
    assert outputs == [Output("negative", 0.8), Output("positive", 0.8)]


def test_the_longer_description_is_read_and_every_key_is_explained(tmp_path, monkeypatch):
    monkeypatch.setenv("ACME_KEY", "a key")
    path = tmp_path / "acme.toml"
    path.write_text(block("toml", 'name = "acme"'))
    system = get_system(f"http:{path}")
    assert system.needs() is None
    assert (system.name, system.batch, system.concurrency) == ("acme", 25, 4)
    (tmp_path / "pairs.toml").write_text(block("toml", 'name = "pairs"'))
    assert get_system(f"http:{tmp_path / 'pairs.toml'}").tasks == ("similarity",)
    path.write_text('name = "a"\nversion = "1"\nurl = "http://h"\nother = 1')
    with pytest.raises(Exception, match="allowed are ") as problem:
        get_system(f"http:{path}")
    allowed = re.search("allowed are (.*);", str(problem.value))[1].split(", ")
    table = PAGE.split("| key | is | default |")[1].split("\n\n")[0]
    assert [key for key in allowed if f"`{key}" not in table] == []
    assert set(tomllib.loads(block("toml", 'name = "acme"'))) <= set(allowed)
