"""The services, models and programs of docs/reference/systems.md work as they are shown there."""

import re
import sys
from pathlib import Path

import pytest

from audit.systems import get_system
from audit.systems.chat import ChatFile
from audit.systems.command import CommandFile
from audit.systems.http import HttpFile
from audit.systems.models import PipelineFile
from audit.tasks import Input, Output

pytest.importorskip("httpx", reason="pip install 'audit[http]'")

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "systems.md").read_text(encoding="utf-8")


def block(language, beginning):
    """The code of the page that begins so."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return next(candidate for candidate in blocks if candidate.startswith(beginning))


@pytest.mark.parametrize(
    ("heading", "model"),
    [
        ("## Systems over HTTP", HttpFile),
        ("## Language models", ChatFile),
        ("## Models of transformers", PipelineFile),
        ("## A program in any language", CommandFile),
    ],
)
def test_every_key_is_explained(heading, model):
    table = PAGE.split(heading, 1)[1].split("| key | is | default |")[1].split("\n\n")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    assert {key for row in rows for key in re.findall(r"`([a-z_]+)", row)} == set(model.model_fields)


@pytest.mark.parametrize(
    ("kind", "beginning", "tasks"),
    [
        ("http", "# service.toml", ("sentiment",)),
        ("http", 'name = "acme"', ("sentiment",)),
        ("http", 'name = "pairs"', ("similarity",)),
        ("http", 'name = "translator"', ("translation",)),
        ("chat", "# small.toml", ("sentiment",)),
        ("chat", 'name = "careful"', ("inference",)),
    ],
)
def test_the_shown_descriptions_are_read(tmp_path, monkeypatch, kind, beginning, tasks):
    monkeypatch.setenv("ACME_KEY", "a key")
    monkeypatch.setenv("CAREFUL_KEY", "a key")
    (tmp_path / "shown.toml").write_text(block("toml", beginning), encoding="utf-8")
    system = get_system(f"{kind}:{tmp_path / 'shown.toml'}")
    assert (system.needs(), system.tasks) == (None, tasks)


def test_the_shown_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "liner.py").write_text(block("python", "# liner.py"))
    (tmp_path / "liner.toml").write_text(block("toml", "# liner.toml").replace('"python"', f'"{sys.executable}"'))
    said = get_system("command:liner.toml").run([Input.of("So boring."), Input.of("Fine.")])
    assert said == [Output("negative", 0.8), Output("positive", 0.8)]
