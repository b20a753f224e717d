"""Commands are described, and docs/reference/json.md is what they answer.

After simonw/sqlite-utils, tests/test_docs.py.
"""

import importlib.util
import json
import re
import shlex
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def script(name: str) -> ModuleType:
    """A script of the docs as a module."""
    specification = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


COMMANDS = {name: command for _, name, command in script("make_commands").commands()}
WORKING = {name: command for name, command in COMMANDS.items() if not hasattr(command, "commands")}
JSON = script("make_json")


def examples(command):
    return [line.removeprefix("Example: audit ") for line in (command.epilog or "").split("\n\n") if line]


def test_every_command_is_described_and_has_examples_which_parse():
    for name, command in COMMANDS.items():
        assert command.help, name
        assert [param.name for param in command.params if not param.help] == [], name
    for name, command in WORKING.items():
        assert examples(command), name
        for line in examples(command):
            words = shlex.split(line)
            assert words[: len(name.split())] == name.split()
            command.make_context(name, words[len(name.split()) :], help_option_names=["--help", "-h"])


def test_every_command_with_json_shows_it():
    having = {name for name, command in WORKING.items() if any("--json" in param.opts for param in command.params)}
    elsewhere = {name for name in having if name.split()[0] in ("rerank", "report", "values")}
    assert {name for name in JSON.ANSWERS if " --" not in name} == having - elsewhere


def keys(value):
    """Keys of objects, with those of the first object of lists."""
    if isinstance(value, list):
        return [keys(entry) for entry in value[:1]]
    return {name: keys(inner) for name, inner in value.items()} if isinstance(value, dict) else None


@pytest.mark.slow
def test_the_json_shown_has_the_keys_of_the_real_one():
    page = JSON.PAGE.read_text(encoding="utf-8")
    shown = dict(re.findall(r"^## `audit ([^`]*)`\n.*?```json\n(.*?)```", page, re.DOTALL | re.MULTILINE))
    assert list(shown) == list(JSON.ANSWERS)
    for name, answer in JSON.answers():
        assert keys(json.loads(shown[name])) == keys(answer), f"{name}: run `python docs/make_json.py`"
