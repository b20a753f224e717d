"""The services, models and programs of docs/reference/systems.md work as they are shown there, but for a port."""

import re
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from audit.systems import get_system
from audit.systems.chat import ChatFile
from audit.systems.command import CommandFile
from audit.systems.models import PipelineFile
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
    (tmp_path / "translator.toml").write_text(block("toml", 'name = "translator"'))
    assert get_system(f"http:{tmp_path / 'translator.toml'}").tasks == ("translation",)
    path.write_text('name = "a"\nversion = "1"\nurl = "http://h"\nother = 1')
    with pytest.raises(Exception, match="allowed are ") as problem:
        get_system(f"http:{path}")
    allowed = re.search("allowed are (.*);", str(problem.value))[1].split(", ")
    table = PAGE.split("| key | is | default |")[1].split("\n\n")[0]
    assert [key for key in allowed if f"`{key}" not in table] == []
    assert set(tomllib.loads(block("toml", 'name = "acme"'))) <= set(allowed)


def keys_of(beginning):
    """The keys that the table of a section explains."""
    section = PAGE.split(beginning, 1)[1].split("\n## ", 1)[0]
    table = section.split("| key | is | default |")[1].split("\n\n")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    return {key for row in rows for key in re.findall(r"`([a-z_]+)", row)}


def test_the_shown_language_models_are_read_and_every_key_is_explained(tmp_path, monkeypatch):
    monkeypatch.setenv("CAREFUL_KEY", "a key")
    (tmp_path / "small.toml").write_text(block("toml", "# small.toml"))
    assert get_system(f"chat:{tmp_path / 'small.toml'}").tasks == ("sentiment",)
    (tmp_path / "careful.toml").write_text(block("toml", 'name = "careful"'))
    system = get_system(f"chat:{tmp_path / 'careful.toml'}")
    assert (system.needs(), system.tasks, system.concurrency) == (None, ("inference",), 16)
    said = [message["content"] for message in system.messages(Input.of("a", "b"))]
    assert said[1:] == [
        "First: A man sleeps on a bench.\nSecond: A man is awake.",
        '{"label": "no"}',
        "First: a\nSecond: b",
    ]
    assert keys_of("## Language models") == set(ChatFile.model_fields)


def test_every_key_of_a_model_of_transformers_is_explained(tmp_path):
    content = tomllib.loads(block("toml", "# stars.toml"))
    assert PipelineFile.model_validate(content).labels["LABEL_0"] == "negative"
    assert keys_of("## Models of transformers") == set(PipelineFile.model_fields)


def test_the_shown_programs_and_their_descriptions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "liner.py").write_text(block("python", "# liner.py"))
    description = block("toml", "# liner.toml").replace('"python"', f'"{sys.executable}"')
    (tmp_path / "liner.toml").write_text(description)
    inputs = [Input.of("So boring."), Input.of("Fine.")]
    expected = [Output("negative", 0.8), Output("positive", 0.8)]
    assert get_system("command:liner.toml").run(inputs) == expected
    assert keys_of("## A program in any language") == set(CommandFile.model_fields)
